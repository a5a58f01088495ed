"""What CLDR says about a locale and a currency: marks, signs, decimals, tender. Loaded when first asked.

Babel holds the data. Everything here is a pure look-up; an unknown locale or currency answers with what
is known of its parts (`en_CN` is English as written anywhere, with China's tender), never with an
error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pricecrawl.domain.market import Market

_BIDI = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u061c\u2066\u2067\u2068\u2069\ufeff\u00ad"))
_BIDI |= dict.fromkeys(range(0x202A, 0x202F))

# ISO 4217 minor units that are not two. CLDR's own digits differ on purpose: they say what people write.
_ISO_MINOR = (
    dict.fromkeys(
        [
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "ISK",
            "JPY",
            "KMF",
            "KRW",
            "PYG",
            "RWF",
            "UGX",
            "UYI",
            "VND",
            "VUV",
            "XAF",
            "XOF",
            "XPF",
        ],
        0,
    )
    | dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3)
    | {"CLF": 4, "UYW": 4}
)


@dataclass(frozen=True, slots=True)
class LocaleFacts:
    """How one locale writes prices. `decimal` and `group` are one character each or empty."""

    decimal: str = ""
    group: str = ""
    country: str | None = None
    tender: str | None = None
    signs: MappingProxyType[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    names: MappingProxyType[str, str] = field(default_factory=lambda: MappingProxyType({}))
    months: frozenset[str] = frozenset()


NOWHERE = LocaleFacts()


def strip_marks(text: str) -> str:
    """Text without direction marks, zero-width characters and soft hyphens."""
    return text.translate(_BIDI)


def sign_key(sign: str) -> str:
    """What two spellings of one sign have in common: no dots, blanks or direction marks, one apostrophe."""
    bare = strip_marks(sign).replace(".", "")
    return re.sub(r"\s", "", re.sub("[\u02bb\u02bc\u2018\u2019`\u00b4\u05f3]", "'", bare)).replace("״", '"')


@lru_cache(maxsize=1)
def currency_codes() -> frozenset[str]:
    """Every ISO 4217 code that CLDR knows, historic ones included."""
    from babel.core import get_global

    return frozenset(get_global("all_currencies")) - {"XXX", "XTS"}


@lru_cache(maxsize=1)
def country_codes() -> frozenset[str]:
    """Every ISO 3166-1 alpha-2 code of a territory that CLDR knows a currency of."""
    from babel.core import get_global

    return frozenset(code for code in get_global("territory_currencies") if len(code) == 2)


def minor_unit(currency: str | None) -> int:
    """Decimals of a currency's minor unit as ISO 4217 states them (2 where it is unknown).

    This is what machines count in; what people write is `written_decimals`.
    """
    return _ISO_MINOR.get(currency or "", 2)


@lru_cache(maxsize=512)
def written_decimals(currency: str | None) -> int:
    """Decimals that people write.

    0 where CLDR has none for the currency, or none for cash, else its digits.
    """
    if not currency:
        return 2
    from babel.core import get_global

    fractions = get_global("currency_fractions")
    digits, _, cash, _ = fractions.get(currency, fractions["DEFAULT"])
    return 0 if cash == 0 else int(digits)


@lru_cache(maxsize=512)
def tender_of(country: str | None) -> str | None:
    """The legal tender of a country that has not ended; None where CLDR lists none or two."""
    if not country:
        return None
    from babel.core import get_global

    entries = get_global("territory_currencies").get(country.upper(), ())
    current = [code for code, _start, end, tender in entries if tender and end is None]
    return current[0] if len(current) == 1 else None


# Where shops write "R1,299.00" although the official marks, which CLDR gives, are a comma and a blank.
_OTHERWISE_WRITTEN = frozenset(("ZA",))


@lru_cache(maxsize=256)
def facts(locale: str | None) -> LocaleFacts:
    """What is known of a locale name such as `de_CH`, `pt-BR` or `zh_Hant_TW`."""
    if not locale:
        return NOWHERE
    parts = [part for part in re.split(r"[-_.@]", locale) if part]
    if not parts or not parts[0].isalpha():
        return NOWHERE
    country = next((p.upper() for p in parts[1:] if re.fullmatch(r"[A-Za-z]{2}|\d{3}", p)), None)
    script = next((p.title() for p in parts[1:] if re.fullmatch(r"[A-Za-z]{4}", p)), None)
    data = _load(parts[0].lower(), script, country)
    if data is None:
        return LocaleFacts(country=country, tender=tender_of(country))
    decimal, group = _marks(data) if country not in _OTHERWISE_WRITTEN else ("", "")
    home = country or _home(parts[0].lower())
    signs: dict[str, list[str]] = {}
    for code, sign in data["currency_symbols"].items():
        key = sign_key(str(sign))
        if key and code not in (key, "XXX"):
            signs.setdefault(key, []).append(code)
    names: dict[str, str] = {}
    for code, plurals in data["currency_names_plural"].items():
        for name in plurals.values():
            names.setdefault(strip_marks(str(name)).casefold(), code)
    for code, name in data["currency_names"].items():
        names.setdefault(strip_marks(str(name)).casefold(), code)
    months = {
        str(name).casefold()
        for width in ("wide", "abbreviated")
        for name in data["months"]["format"].get(width, {}).values()
        if len(str(name)) > 2 and not any(c.isdigit() for c in str(name))
    }
    return LocaleFacts(
        decimal=decimal,
        group=group,
        country=home,
        tender=tender_of(home),
        signs=MappingProxyType({key: tuple(codes) for key, codes in signs.items()}),
        names=MappingProxyType(names),
        months=frozenset(months),
    )


@lru_cache(maxsize=256)
def home_facts(country: str | None) -> LocaleFacts:
    """Facts of the language most spoken in a country."""
    if not country:
        return NOWHERE
    from babel.core import get_global

    # CLDR leaves the United States out: they are what an unknown language falls back to.
    likely = (
        "en_US" if country.upper() == "US" else get_global("likely_subtags").get(f"und_{country.upper()}")
    )
    if not likely:
        return LocaleFacts(country=country.upper(), tender=tender_of(country))
    return facts(likely)


@lru_cache(maxsize=512)
def currency_marks(currency: str) -> tuple[str, str]:
    """Decimal and group mark where a currency is at home; the euro's are those of most of its countries."""
    home = home_facts("DE" if currency == "EUR" else currency[:2])
    return home.decimal, home.group


@lru_cache(maxsize=256)
def context_of(locale: str | None, market: Market | None) -> LocaleFacts:
    """The locale that counts: the one asked for, else the market's, else the market country's own."""
    name = locale or (market.locale if market else None)
    if name:
        return facts(name)
    return home_facts(market.country) if market else NOWHERE


def _home(language: str) -> str | None:
    """The country a bare language stands for; English stands for none, it is written everywhere."""
    if language == "en":
        return None
    from babel.core import get_global

    likely = get_global("likely_subtags").get(language)
    return likely.rsplit("_", 1)[-1] if likely else None


def _load(language: str, script: str | None, country: str | None) -> Any:
    from babel import localedata
    from babel.core import get_global

    # `zh_HK` is written in traditional characters, `sr_BA` in Cyrillic: the likely script picks the data.
    likely = get_global("likely_subtags").get(f"{language}_{country}") if country and not script else None
    names = [
        *([likely] if likely else []),
        "_".join(filter(None, (language, script, country))),
        "_".join(filter(None, (language, country))),
        "_".join(filter(None, (language, script))),
        language,
    ]
    found = next((name for name in names if localedata.exists(name)), None)
    data: Any = localedata.load(found) if found else None
    return None if data is None else localedata.LocaleDataDict(data)


def _marks(data: Any) -> tuple[str, str]:
    """Marks of the locale's Latin digits where it has them, else of its own digits."""
    systems = data["number_symbols"]
    for system in ("latn", data["default_numbering_system"]):
        marks = systems.get(system)
        if marks and "decimal" in marks:
            return _mark(str(marks["decimal"])), _mark(str(marks.get("group", "")))
    return "", ""


def _mark(mark: str) -> str:
    if mark in ("\xa0", "\u202f", "\u2009"):
        return " "
    if mark in ("\u2019", "\u02bc"):
        return "'"
    return {"،": ",", "⹁": ","}.get(mark, mark)[:1]
