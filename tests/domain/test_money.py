"""Golden texts for the price reader: each line is one way in which shops write a price."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.market import Market
from pricecrawl.domain.money import Role, amount_of, minor_unit, read_price, written_decimals
from tests.domain.generate_money_signs import tables

GERMANY = Market("DE", "EUR", "de_DE")
TEXTS = """
# marks, groups, native digits
CHF 7’450.20 | de_CH | 7450.20 | CHF
3 781,40 € | fr_FR | 3781.40 | EUR
3 781,40 € | fr_FR | 3781.40 | EUR
2.318 € | de_DE | 2318 | EUR
£3.145 | en_GB | 3.145 | GBP
₹4,56,789.50 | en_IN | 456789.50 | INR
٧٬٢٥٠٫٧٥ ر.س | ar_SA | 7250.75 | SAR
۲۵۰٬۰۰۰ ریال | fa_IR | 250000 | IRR
৳ ৭,৮৯০.৫০ | bn_BD | 7890.50 | BDT
6'95 € | es_ES | 6.95 | EUR
8.450.00 |  | 8450.00 | -
,85 € | de_DE | 0.85 | EUR
1 749 . 00 € | fr_FR | 1749.00 | EUR
$24⁹⁵ | en_US | 24.95 | USD
# decimals of the currency
KWD 7.250 |  | 7.250 | KWD
¥7,800 | ja_JP | 7800 | JPY
8.990 Ft | hu_HU | 8990 | HUF
$ 17.490 | es_CL | 17490 | CLP
12.450.000 ₫ | vi_VN | 12450000 | VND
1.749.- CHF | de_CH | 1749 | CHF
2 795:- | sv_SE | 2795 | SEK
# signs and codes
$47.10 |  | 47.10 | -
$47.10 | en | 47.10 | -
$47.10 | en_AU | 47.10 | AUD
$47 | zh_HK | 47 | HKD
¥480 |  | 480 | -
480 kr |  | 480 | -
480 kr | nb_NO | 480 | NOK
Fr. 48.50 |  | 48.50 | CHF
£48.50 |  | 48.50 | GBP
£48.50 | ar_EG | 48.50 | EGP
EUR 48,50 € | it_IT | 48.50 | EUR
48.50 $ CAD |  | 48.50 | CAD
19,40 $ US | fr_CA | 19.40 | USD
AUD$48.50 |  | 48.50 | AUD
48.50usd |  | 48.50 | USD
85 dollars jamaïcains | fr_CA | 85 | JMD
250,000 تومان | fa_IR | 250000 | -
# cents and multiples
85¢ | en_US | 0.85 | USD
85p | en_GB | 0.85 | GBP
27€95 | fr_FR | 27.95 | EUR
$27 95 | en_US | 27.95 | USD
7 zł 45 gr | pl_PL | 7.45 | PLN
2.5万円 | ja_JP | 25000 | JPY
4万3000円 | ja_JP | 43000 | JPY
7,5 тыс. руб. | ru_RU | 7500 | RUB
# several amounts
was £31.00, now £24.50 | en_GB | 24.50 | GBP
statt 31,00 € nur 24,50 € | de_DE | 24.50 | EUR
De R$ 310,00 por R$ 245,00 | pt_BR | 245.00 | BRL
MRP ₹899 ₹649 | en_IN | 649 | INR
24,50 €31,00 € | de_DE | 24.50 | EUR
3 150 C$4 200 C$ | fr_CA | 3150 | CAD
Was £31.00 Now £0.00 | en_GB | 31.00 | GBP
R$ 240,00 em até 10x de R$ 24,00 | pt_BR | 240.00 | BRL
$60.00 or 4 interest-free payments of $15.00 | en_US | 60.00 | USD
7,49 € (14,98 €/kg) | de_DE | 7.49 | EUR
7,49 € 1 l = 9,99 € | de_DE | 7.49 | EUR
7,49 € zzgl. 0,25 € Pfand | de_DE | 7.49 | EUR
7,49 € zzgl. 4,90 € Versand | de_DE | 7.49 | EUR
Member price £6.00 £7.50 | en_GB | 7.50 | GBP
£50.00 ex VAT £60.00 inc VAT | en_GB | 60.00 | GBP
£50.00 (£60.00 inc VAT) | en_GB | 60.00 | GBP
2 Litre bottle £3.20 | en_GB | 3.20 | GBP
4K television 55" 499,00 € | de_DE | 499.00 | EUR
# no price
-30 % | de_DE | - | -
Save £4.00 | en_GB | - | -
-4,00 € | de_DE | - | -
Free delivery over £40 | en_GB | - | -
500 ml | en_GB | - | -
1.5 L | en_GB | - | -
4,6 von 5 Sternen | de_DE | - | -
4.6/5 |  | - | -
4,6 (214) | de_DE | - | -
7 items left | en_GB | - | -
SKU 48213 | en_GB | - | -
8712345678906 |  | - | -
03.11.2025 | de_DE | - | -
2025-11-03 |  | - | -
August, 2025 | en_GB | - | -
11/2025 |  | - | -
Call for price |  | - | -
12,34,56 EUR |  | - | -
gluten free |  | - | -
# given away
Free |  | 0 | -
Gratis | de_DE | 0 | -
Free shipping |  | - | -
"""


def texts() -> list[tuple[str, str | None, Decimal | None, str | None]]:
    rows = []
    for line in TEXTS.strip().split("\n"):
        if not line.startswith("# "):
            text, locale, amount, currency = line.rsplit(" | ", 3)
            rows.append(
                (
                    text,
                    locale.strip() or None,
                    None if amount == "-" else Decimal(amount),
                    None if currency == "-" else currency,
                )
            )
    return rows


@pytest.mark.parametrize(("text", "locale", "amount", "currency"), texts(), ids=str)
def test_one_text(text: str, locale: str | None, amount: Decimal | None, currency: str | None) -> None:
    reading = read_price(text, locale=locale)
    assert (reading.amount, reading.currency) == (amount, currency)


def test_a_range_is_its_low_end_and_the_range_is_told() -> None:
    reading = read_price("14,50 € – 31,00 €", locale="de_DE")
    assert (reading.amount, reading.low, reading.high) == (
        Decimal("14.50"),
        Decimal("14.50"),
        Decimal("31.00"),
    )


def test_a_range_of_nothing_known_is_told_and_no_amount_is_chosen() -> None:
    reading = read_price("$14.50 - $31.00")
    assert reading.amount is None
    assert (reading.low, reading.high) == (Decimal("14.50"), Decimal("31.00"))
    assert read_price("$14.50 - $31.00", locale="en_US").amount == Decimal("14.50")


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("ab 14,50 €", Role.FROM),
        ("14,50 €/Monat", Role.INSTALMENT),
        ("14,50 € / kg", Role.UNIT),
        ("statt 14,50 €", Role.BEFORE),
        ("Normalpreis 14,50 €", Role.PRICE),
        ("14,50 €", Role.PRICE),
    ],
)
def test_an_amount_that_stands_alone_is_given_with_its_role(text: str, role: Role) -> None:
    reading = read_price(text, market=GERMANY)
    assert (reading.amount, reading.role) == (Decimal("14.50"), role)


def test_a_price_for_several_units_says_so() -> None:
    reading = read_price("3 for £10", locale="en_GB")
    assert (reading.amount, reading.quantity) == (Decimal(10), 3)
    assert read_price("£4.00 each, 3 for £10", locale="en_GB").amount == Decimal("4.00")


def test_every_amount_is_listed_in_order() -> None:
    reading = read_price("UVP 31,00 € 24,50 € Sie sparen 6,50 €", market=GERMANY)
    assert [(str(a.amount), a.role) for a in reading.amounts] == [
        ("31.00", Role.BEFORE),
        ("24.50", Role.PRICE),
        ("6.50", Role.SAVING),
    ]


def test_what_the_caller_knows_settles_a_sign_but_never_overrules_a_clear_one() -> None:
    assert read_price("$48.50", currency="NZD").currency == "NZD"
    assert read_price("$48.50", market=Market(currency="SGD")).currency == "SGD"
    assert read_price("£48.50", currency="USD").currency == "GBP"
    assert read_price("48.50", currency="Price: £ 48.50").currency == "GBP"
    assert read_price("48,50 €", market=Market(currency="USD")).currency == "EUR"


def test_the_told_currency_picks_among_two_currencies() -> None:
    text = "129,00 kn (17,12 €)"
    assert read_price(text, market=Market("HR", "EUR", "hr_HR")).amount == Decimal("17.12")
    assert read_price(text).currency == "HRK"


def test_a_told_decimal_mark_overrules_all_others() -> None:
    assert read_price("1.250", decimal_separator=",").amount == 1250
    assert read_price("1.250", decimal_separator=".").amount == Decimal("1.250")
    assert read_price("14€50", decimal_separator="€").amount == Decimal("14.50")


def test_a_bare_number_of_a_told_currency_is_read_as_written_at_its_home() -> None:
    assert read_price("7,891", currency="USD").amount == 7891
    assert read_price("7.891", currency="EUR").amount == 7891
    assert read_price("7.891", currency="USD").amount == Decimal("7.89")


@pytest.mark.parametrize("junk", [None, "", " ", 12, b"12", "\x00", "₿"])
def test_anything_else_is_nothing(junk: object) -> None:
    assert not read_price(junk)  # type: ignore[arg-type]


def raw(text: str, unit: PriceUnit, currency: str | None = None, minor: int | None = None) -> RawPrice:
    return RawPrice(PriceKind.STANDARD, text, Method.API, currency=currency, unit=unit, minor_unit=minor)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (raw("1.299,00 €", PriceUnit.TEXT), (Decimal("1299.00"), "EUR")),
        (raw("12,00 £", PriceUnit.TEXT), (Decimal("12.00"), "GBP")),
        (raw("1299.5", PriceUnit.MAJOR), (Decimal("1299.5"), "EUR")),
        (raw("1e3", PriceUnit.MAJOR, "USD"), (Decimal(1000), "USD")),
        (raw("4995", PriceUnit.MINOR), (Decimal("49.95"), "EUR")),
        (raw("4995", PriceUnit.MINOR, "JPY"), (Decimal(4995), "JPY")),
        (raw("4995", PriceUnit.MINOR, "KWD"), (Decimal("4.995"), "KWD")),
        (raw("4995", PriceUnit.MINOR, "JPY", 2), (Decimal("49.95"), "JPY")),
        (raw("4995", PriceUnit.X100, "JPY"), (Decimal("49.95"), "JPY")),
        (raw("1.299,00", PriceUnit.MAJOR), None),
        (raw("NaN", PriceUnit.MAJOR), None),
        (raw("Infinity", PriceUnit.MAJOR), None),
        (raw("", PriceUnit.MINOR), None),
        (raw("ask us", PriceUnit.TEXT), None),
    ],
)
def test_raw_prices_of_every_unit(price: RawPrice, expected: tuple[Decimal, str] | None) -> None:
    assert amount_of(price, GERMANY) == expected


def test_a_stated_code_that_is_none_is_ignored() -> None:
    assert amount_of(raw("5", PriceUnit.MAJOR, "EURO"), GERMANY) == (Decimal(5), "EUR")


def test_minor_units_are_those_of_iso_4217_and_written_decimals_those_of_people() -> None:
    assert [minor_unit(code) for code in ("EUR", "JPY", "KWD", "HUF", "CLF", None)] == [2, 0, 3, 2, 4, 2]
    assert [written_decimals(code) for code in ("EUR", "JPY", "KWD", "HUF", "IDR", None)] == [
        2,
        0,
        3,
        0,
        0,
        2,
    ]


def test_the_sign_table_is_what_babel_holds_today() -> None:
    from pricecrawl.domain.money_cldr import ROOT_SIGNS, SIGNS

    assert tables() == (SIGNS, ROOT_SIGNS), "run `python -m tests.domain.generate_money_signs --write`"


def test_importing_the_reader_loads_no_locale_data() -> None:
    code = "import sys, pricecrawl.domain.money; sys.exit('babel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
