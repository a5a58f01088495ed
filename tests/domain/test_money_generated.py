"""Whole kinds of texts, generated: whatever CLDR writes is read back, and no text breaks the reader."""

from __future__ import annotations

import re
import time
import unicodedata
from decimal import Decimal
from functools import lru_cache

from babel import Locale, localedata
from babel.core import get_global
from babel.numbers import format_currency, get_currency_precision
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pricecrawl.domain.market import Market
from pricecrawl.domain.money import read_price
from pricecrawl.domain.money_locale import facts, sign_key, strip_marks
from pricecrawl.domain.money_signs import look_up
from tests.shared import examples

MANY = settings(max_examples=examples(400, 10_000), deadline=None)

LOCALES = sorted(
    name for name in localedata.locale_identifiers() if "_" in name and name.rsplit("_", 1)[1].isupper()
)
CURRENCIES = sorted(
    {
        code
        for entries in get_global("territory_currencies").values()
        for code, _, end, tender in entries
        if tender and end is None
    }
)
# Codes that are words of the language as well need the place or cents to count.
WORDS = {"ALL", "SOS", "TOP", "TRY", "CUP", "GEL", "PEN", "MAD", "BOB", "MOP", "BAM"}
MARKETS = [
    None,
    Market("DE", "EUR", "de_DE"),
    Market("US", "USD", "en_US"),
    Market("JP", "JPY", "ja_JP"),
    Market("IN", "INR", "hi_IN"),
    Market("SE", "SEK", "sv_SE"),
]

amounts = st.integers(1, 10**9).map(Decimal) | st.sampled_from([Decimal(99), Decimal(100), Decimal(129900)])


@lru_cache(maxsize=4096)
def written_sign(locale: str, currency: str) -> str:
    return strip_marks(str(Locale.parse(locale).currency_symbols.get(currency, currency))).strip()


def settled(locale: str, currency: str) -> bool:
    """True where the sign that a locale writes for a currency is one, visible, and of that currency alone."""
    sign = written_sign(locale, currency)
    known = facts(locale)
    alone = len(known.signs.get(sign_key(sign), ())) <= 1
    foreign_word = sign in WORDS and known.tender != currency
    letter = len(sign) == 1 and sign.isascii() and sign.isalpha() and known.tender != currency
    # A neighbour's sign that is also the sign of the tender here is read as the tender, as people here would.
    found = look_up(sign, after=True) if sign else None
    shadows = known.tender not in (None, currency) and found is not None and known.tender in found.codes
    return bool(sign) and alone and not foreign_word and not letter and not shadows


@MANY
@given(st.sampled_from(LOCALES), st.sampled_from(CURRENCIES), amounts, st.booleans(), st.booleans())
def test_what_cldr_writes_is_read_back(
    locale: str, other: str, units: Decimal, home: bool, native: bool
) -> None:
    tender = facts(locale).tender
    currency = tender if home and tender else other
    assume(settled(locale, currency))
    amount = units.scaleb(-get_currency_precision(currency))
    text = format_currency(amount, currency, locale=locale, numbering_system="default" if native else "latn")
    reading = read_price(text, locale=locale)
    assert (reading.amount, reading.currency) == (amount, currency), text


@MANY
@given(st.sampled_from(LOCALES), st.sampled_from(CURRENCIES), amounts)
def test_an_iso_code_needs_no_locale(locale: str, currency: str, units: Decimal) -> None:
    assume(currency not in WORDS)
    digits = get_currency_precision(currency)
    amount = units.scaleb(-digits)
    text = format_currency(
        amount,
        currency,
        format="¤¤ #,##0.00" if digits else "¤¤ #,##0",
        locale=locale,
        numbering_system="latn",
        currency_digits=True,
    )
    reading = read_price(text)
    assert reading.currency == currency, text
    assert reading.amount == amount, text


@MANY
@given(st.sampled_from(["$", "kr", "¥", "Rs", "C$"]), st.integers(1, 99999), st.booleans())
def test_a_shared_sign_without_a_place_stays_open(sign: str, units: int, before: bool) -> None:
    number = str(Decimal(units).scaleb(-2))
    reading = read_price(f"{sign}{number}" if before else f"{number} {sign}")
    assert reading.amount == Decimal(number)
    assert reading.currency is None


@MANY
@given(
    st.integers(100, 99999), st.integers(100, 99999), st.sampled_from(["{} {}", "{}{}", "{}\n{}", "{} ({})"])
)
def test_of_two_bare_prices_the_first_counts(one: int, two: int, shape: str) -> None:
    first, second = (f"{Decimal(n).scaleb(-2)}".replace(".", ",") + " €" for n in (one, two))
    reading = read_price(shape.format(first, second), locale="de_DE")
    assert reading.amount == Decimal(one).scaleb(-2)
    assert len(reading.amounts) == 2


@MANY
@given(
    st.integers(100, 99999),
    st.integers(100, 99999),
    st.sampled_from(
        [
            "was £{old} now £{new}",
            "RRP £{old} £{new}",
            "£{new} RRP £{old}",
            "Now £{new} (was £{old})",
            "Before £{old} – today £{new}",
            "£{new} £{old} list price",
        ]
    ),
)
def test_of_old_and_new_the_new_one_counts(old: int, new: int, shape: str) -> None:
    text = shape.format(old=Decimal(old).scaleb(-2), new=Decimal(new).scaleb(-2))
    assert read_price(text, locale="en_GB").amount == Decimal(new).scaleb(-2)


@MANY
@given(
    st.integers(100, 99999),
    st.integers(1, 999),
    st.sampled_from(
        [
            "{p} € (entspricht {n} %)",
            "{n} % Rabatt {p} €",
            "{n} ml {p} €",
            "{n} Stück {p} €",
            "{p} € inkl. {n} % MwSt.",
            "Nur noch {n} auf Lager: {p} €",
            "Packung mit {n} für {p} €",
            "Zuletzt 03.11.2025: {p} €",
            "Artikelnummer {n}: {p} €",
            "{p} € ({n} Bewertungen)",
        ]
    ),
)
def test_numbers_without_a_sign_never_beat_one_with(price: int, number: int, shape: str) -> None:
    amount = Decimal(price).scaleb(-2)
    text = shape.format(p=str(amount).replace(".", ","), n=number)
    reading = read_price(text, locale="de_DE")
    assert (reading.amount, reading.currency) == (amount, "EUR")


@MANY
@given(
    st.integers(1, 9999),
    st.sampled_from(
        [
            "{} %",
            "-{}%",
            "{} ml",
            "{} g",
            "{}kg",
            "{} pcs",
            "{} reviews",
            "save {}%",
            "SKU {}",
            "size {}",
            "{} GB",
        ]
    ),
)
def test_shares_counts_and_sizes_are_no_prices(number: int, shape: str) -> None:
    assert read_price(shape.format(number), locale="en_GB").amount is None


@MANY
@given(
    st.integers(1, 99999),
    st.integers(1, 99999),
    st.sampled_from([" - ", "-", " – ", "–", " to "]),
    st.booleans(),
)
def test_a_range_gives_its_low_end(one: int, two: int, dash: str, both: bool) -> None:
    assume(one != two)
    low, high = (Decimal(n).scaleb(-2) for n in sorted((one, two)))
    text = f"£{low}{dash}£{high}" if both else f"£{low}{dash}{high}"
    reading = read_price(text, locale="en_GB")
    assert (reading.amount, reading.low, reading.high, reading.currency) == (low, low, high, "GBP")


@MANY
@given(
    st.integers(1, 9999999),
    st.sampled_from(["'", "’", "\u02bc", " ", "\xa0", "\u202f", "\u2009"]),
    st.sampled_from([".", ","]),
)
def test_any_group_mark_with_any_decimal_mark(cents: int, group: str, decimal: str) -> None:
    amount = Decimal(cents).scaleb(-2)
    text = f"{amount:,.2f}".replace(",", group).replace(".", decimal) + " €"
    assert read_price(text).amount == amount


def digits(text: str) -> str:
    """Digits other than zero: groups of zeros come and go with marks, cents and multiples."""
    found = (unicodedata.decimal(c, None) for c in text)
    return "".join(str(d) for d in found if d)


ANYTHING = st.text(max_size=80) | st.text(
    alphabet="0123456789.,'’ \u00a0\u202f-–%/()€$£¥₹krKčzłx×~+*:;=&\n٣٤۵۶万円원fromabwsonvge/kgpml LGB",
    max_size=80,
)


@settings(max_examples=examples(1500, 100_000), deadline=None)
@given(ANYTHING, st.sampled_from(MARKETS))
def test_no_text_breaks_the_reader_and_no_amount_is_made_up(text: str, market: Market | None) -> None:
    read_price("1", market=market)  # a locale is loaded once, and not on the clock
    began = time.process_time()
    reading = read_price(text, market=market)
    assert time.process_time() - began < 0.1
    if reading.amount:
        assert digits(format(reading.amount, "f")) in digits(text)
        assert reading.amount > 0
    for item in reading.amounts:
        assert item.amount >= 0


def test_hostile_lengths_are_read_in_time() -> None:
    patterns = [
        "9",
        "9.",
        "9,9 ",
        "1 234 ",
        "$1 ",
        "£1-",
        "(1",
        "1%",
        "kr ",
        "1x",
        "1/2 ",
        "was £1 ",
        "'1",
        " 1 000",
    ]
    read_price("1", locale="en_GB")
    for pattern in patterns:
        began = time.process_time()
        read_price(pattern * 100_000, locale="en_GB")
        assert time.process_time() - began < 0.2, pattern


def test_direction_marks_change_nothing() -> None:
    for mark in re.findall(".", "\u200e\u200f\u061c\u202a\u202c\u2066\u2069\ufeff\u200b"):
        assert read_price(f"{mark}1{mark}.299,00{mark} €{mark}", locale="de_DE").amount == Decimal("1299.00")
