"""What a page tells of its market where the caller does not know: country, language, currency.

Nothing here overrules the caller. A currency is taken from what the page states in machine-readable
form; a country from the language tag, the regional top-level domain or the OpenGraph locale.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlsplit

from pricecrawl.domain.candidate import RawPrice
from pricecrawl.domain.market import Market
from pricecrawl.domain.money import amount_of
from pricecrawl.domain.money_locale import currency_codes
from pricecrawl.domain.money_signs import sign_in
from pricecrawl.extraction.document import Document

_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?![A-Za-z])")
# Regional domains that shops anywhere use for their sound.
_SOUND = frozenset(
    (
        "io",
        "co",
        "me",
        "tv",
        "ai",
        "fm",
        "ly",
        "to",
        "cc",
        "ws",
        "la",
        "gg",
        "sh",
        "im",
        "am",
        "so",
        "st",
        "ac",
        "vc",
        "id",
    )
)
_TLDS = {"uk": "GB", "eu": None, "su": "RU"}
_STATED = re.compile(
    r"urrency(?:Code|_code|ISO|IsoCode|_iso_code|Iso)?\\?[\"']?\s*[:=,]\s*\\?[\"']([A-Z]{3})\\?[\"']"
)


def page_market(document: Document, market: Market, stated: Iterable[str]) -> Market:
    """The market completed from the page. `stated` are ISO codes that structured data gives, with repeats."""
    locale = market.locale or document.locale or _locale_of(document)
    country = market.country or _country_of(locale) or _country_of_host(document.final_url or document.url)
    if country is None:
        country = _country_of(document.metas.get("og:locale", "").replace("-", "_"))
    currency = market.currency or _currency_of(stated)
    return replace(market, country=country, locale=locale, currency=currency)


def _locale_of(document: Document) -> str | None:
    match = _TAG.match(document.lang.strip())
    if match is None:
        return None
    language, script, territory = match[1].lower(), match[2], match[3]
    parts = [language]
    if script:
        parts.append(script.title())
    if territory:
        parts.append(territory.upper())
    elif (host := _country_of_host(document.final_url or document.url)) is not None:
        parts.append(host)
    return "_".join(parts)


def _country_of(locale: str | None) -> str | None:
    for part in (locale or "").replace("-", "_").split("_")[1:]:
        if len(part) == 2 and part.isalpha():
            return part.upper()
    return None


def _country_of_host(url: str) -> str | None:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    last = host.rpartition(".")[2]
    if len(last) != 2 or last in _SOUND:
        return None
    return _TLDS[last] if last in _TLDS else last.upper()


def _currency_of(stated: Iterable[str]) -> str | None:
    codes = currency_codes()
    counted = Counter(code for code in stated if code in codes).most_common(2)
    if not counted:
        return None
    # Two currencies stated equally often decide nothing: the amounts' own signs must.
    return counted[0][0] if len(counted) == 1 or counted[0][1] > counted[1][1] else None


_FORMER = {"HRK": Decimal("7.53450"), "BGN": Decimal("1.95583")}
"""Units of a former currency in a euro, by the Council's regulations for Croatia and Bulgaria."""


def without_former(prices: Sequence[RawPrice], market: Market) -> list[RawPrice]:
    """Prices without those that repeat a euro price in a currency that the euro has replaced.

    Shops must show both for a time. A market that still counts in the old currency keeps both.
    """
    read = [(price, amount_of(price, market)) for price in prices]
    euros = {got[0] for _, got in read if got is not None and got[1] == "EUR"}

    def repeats(amount: Decimal, currency: str | None) -> bool:
        rate = _FORMER.get(currency or "")
        return rate is not None and any(abs(amount / rate - euro) <= Decimal("0.011") for euro in euros)

    if market.currency in _FORMER or not euros:
        return list(prices)
    return [price for price, got in read if got is None or not repeats(*got)]


_OFFERED = re.compile(
    r"(?:value|name|id|href|data-[a-z-]*)=[\"'](?:[^\"'<>]{0,80}currency=)?([A-Z]{3})[\"'&]"
)


def offered_currency(document: Document, texts: Iterable[str]) -> str | None:
    """The currency that an ambiguous sign stands for in a shop whose visitors choose between currencies.

    Of the currencies in the shop's own list, exactly one may have to be written with that sign.
    """
    codes = currency_codes()
    for menu in document.tagged("select"):
        if "urrency" in f"{menu.get('name')} {menu.get('id')} {menu.get('class')}":
            chosen = [option for option in menu.iter("option") if option.get("selected") is not None]
            value = (chosen[0].get("value") or "").upper()[:3] if len(chosen) == 1 else ""
            if value in codes:
                return value
    listed = {code for code in _OFFERED.findall(document.text[:1_500_000]) if code in codes}
    if not listed or len(listed) > 60 or "urrency" not in document.text:
        return None
    meant = {
        code
        for text in texts
        if (sign := sign_in(text)) is not None and not sign.code
        for code in listed.intersection(sign.codes)
    }
    return meant.pop() if len(meant) == 1 else None


def scripted_currency(document: Document) -> str | None:
    """The only currency that the page's scripts name, if they name one and no other."""
    codes = currency_codes()
    found = {code for code in _STATED.findall(document.text[:1_500_000]) if code in codes}
    return found.pop() if len(found) == 1 else None
