"""Raw listings become listings, or rejections with a reason; nothing becomes an exception."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.reasons import RejectionReason
from tests.shared import examples

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GERMANY = Market("DE", "EUR", "de_DE", TaxBasis.INCLUSIVE)


def price(text: str, kind: PriceKind = PriceKind.STANDARD, **facts: Any) -> RawPrice:
    return RawPrice(kind, text, facts.pop("method", Method.BUY_BOX), **facts)


def listing(**facts: Any) -> RawListing:
    given_: dict[str, Any] = {
        "source_sku": "A-17",
        "url": "https://shop.example/p/17",
        "name": "Plum gin 70 cl",
        "prices": (price("24,50 €"),),
        "stock": (StockReading(Availability.IN_STOCK, "json-ld", 0.9),),
    }
    return RawListing(**(given_ | facts))


def run(raw: RawListing, market: Market = GERMANY, **facts: Any) -> Listing | Rejected:
    return normalize(raw, source="high-street", market=market, now=NOW, **facts)


def good(raw: RawListing, market: Market = GERMANY, **facts: Any) -> Listing:
    result = run(raw, market, **facts)
    assert isinstance(result, Listing), result
    return result


def refused(raw: RawListing, market: Market = GERMANY, **facts: Any) -> RejectionReason:
    result = run(raw, market, **facts)
    assert isinstance(result, Rejected), result
    assert result.detail
    return result.reason


def test_a_listing_becomes_typed() -> None:
    result = good(
        listing(
            name="  Plum\n gin \x00 70 cl ",
            brand="Copse",
            gtin_text="EAN 5901234123457",
            mpn_text="PG-70",
            shipping_text="zzgl. 4,90 € Versand",
            prices=(
                price("24,50 €"),
                price("31,00 €", PriceKind.LIST),
                price("24.5", unit=PriceUnit.MAJOR, currency="EUR"),
            ),
        )
    )
    assert (result.name, result.brand, result.gtin, result.mpn) == (
        "Plum gin 70 cl",
        "Copse",
        "05901234123457",
        "PG-70",
    )
    assert (result.base_quantity, result.base_unit, result.pack) == (Decimal(700), "ml", 1)
    assert [(c.kind, c.amount, c.currency) for c in result.candidates] == [
        (PriceKind.STANDARD, Decimal("24.50"), "EUR"),
        (PriceKind.LIST, Decimal("31.00"), "EUR"),
        (PriceKind.STANDARD, Decimal("24.5"), "EUR"),
    ]
    assert (result.shipping.amount, result.condition, result.availability) == (
        Decimal("4.90"),
        "new",
        Availability.IN_STOCK,
    )
    assert (result.tax_basis, result.observed_at) == (TaxBasis.INCLUSIVE, NOW)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"source_sku": " "}, RejectionReason.NO_SOURCE_SKU),
        ({"source_sku": "x" * 300}, RejectionReason.FIELD_TOO_LONG),
        ({"name": "\n"}, RejectionReason.NO_NAME),
        ({"name": "x" * 2000}, RejectionReason.FIELD_TOO_LONG),
        ({"url": ""}, RejectionReason.BAD_URL),
        ({"url": "javascript:alert(1)"}, RejectionReason.BAD_URL),
        ({"url": "https://[bad"}, RejectionReason.BAD_URL),
        ({"url": "https://shop.example/" + "x" * 3000}, RejectionReason.FIELD_TOO_LONG),
        ({"prices": (), "stock": ()}, RejectionReason.NO_CANDIDATE),
        ({"prices": (price("ask us"),)}, RejectionReason.UNREADABLE_PRICE),
        ({"prices": (price("0,00 €"),)}, RejectionReason.NON_POSITIVE_PRICE),
        ({"prices": (price("99999999,00 €"),)}, RejectionReason.PRICE_TOO_LARGE),
        ({"prices": (price("5901234123457", unit=PriceUnit.MAJOR),)}, RejectionReason.UNREADABLE_PRICE),
        ({"prices": (price("250.000 تومان"),)}, RejectionReason.CURRENCY_UNKNOWN),
        ({"prices": (price("US$ 24.50"),)}, RejectionReason.CURRENCY_MISMATCH),
    ],
)
def test_each_reason(facts: dict[str, Any], reason: RejectionReason) -> None:
    assert refused(listing(**facts)) is reason


def test_the_digits_of_its_own_identifiers_are_never_a_price() -> None:
    raw = listing(source_sku="48213377", prices=(price("48213377", unit=PriceUnit.MINOR),))
    assert refused(raw) is RejectionReason.UNREADABLE_PRICE
    assert good(listing(prices=(price("48213377", unit=PriceUnit.MINOR),))).candidates[0].amount == Decimal(
        "482133.77"
    )


def test_large_prices_of_small_currencies_stand() -> None:
    raw = listing(prices=(price("64.990.000 ₫"),))
    assert good(raw, Market("VN", "VND", "vi_VN")).candidates[0].amount == 64_990_000


def test_one_bad_reading_does_not_cost_the_good_ones() -> None:
    result = good(listing(prices=(price("0"), price("24,50 €"), price("call"))))
    assert [c.amount for c in result.candidates] == [Decimal("24.50")]


def test_a_sold_out_page_without_a_price_still_says_so() -> None:
    gone = (StockReading(Availability.OUT_OF_STOCK, "json-ld", 0.9),)
    assert good(listing(prices=(), stock=gone)).candidates == ()
    assert good(listing(prices=(price("0"),), stock=gone)).availability is Availability.OUT_OF_STOCK
    assert refused(listing(prices=(price("call"),), stock=gone)) is RejectionReason.UNREADABLE_PRICE


def test_a_range_is_told() -> None:
    result = good(listing(prices=(price("24,50 € – 31,00 €"),)))
    assert result.candidates[0].amount == Decimal("24.50")
    assert result.review_hints == ("price_range:24.50-31.00",)


def test_without_a_market_currency_the_currency_may_stay_open() -> None:
    assert good(listing(prices=(price("$24.50"),)), Market()).candidates[0].currency is None


def test_a_gtin_that_belongs_to_another_size_is_refused() -> None:
    raw = listing(gtin_text="5901234123457")
    known = {"05901234123457": (Decimal(1000), "ml")}
    assert refused(raw, known_sizes=known) is RejectionReason.GTIN_SIZE_VETO
    for same in (Decimal(700), Decimal(750)):
        assert good(raw, known_sizes={"05901234123457": (same, "ml")}).gtin == "05901234123457"


def test_a_shop_internal_number_is_no_gtin() -> None:
    assert good(listing(gtin_text="2001234000008")).gtin is None


@pytest.mark.parametrize(
    ("facts", "quantity", "pack", "hint"),
    [
        ({"name": "Gin", "size_text": "0,7 l"}, 700, 1, None),
        ({"name": "Gin 70 cl", "size_text": "700 ml"}, 700, 1, None),
        ({"name": "Gin 70 cl", "size_text": "1 l"}, None, 1, "size_contradiction"),
        ({"name": "Mist", "size_text": "7,624 ml"}, None, 1, "size_implausible"),
        ({"name": "Beer 6 x 330 ml", "size_text": "330 ml"}, 1980, 6, None),
        ({"name": "2x Beer", "size_text": "330 ml"}, 660, 2, None),
        ({"name": "Beer 6-pack", "variant_text": "33 cl"}, 1980, 6, None),
        ({"name": "Beer", "size_text": "large"}, None, 1, None),
        ({"name": "Pens 12-pack"}, None, 12, None),
    ],
)
def test_size_and_pack_come_from_the_size_the_variant_and_the_name(
    facts: dict[str, Any], quantity: int | None, pack: int, hint: str | None
) -> None:
    result = good(listing(**facts))
    assert (result.base_quantity, result.pack) == (quantity, pack)
    assert result.review_hints == (() if hint is None else (hint,))


@pytest.mark.parametrize(
    ("text", "name", "condition"),
    [
        ("", "Camera", "new"),
        ("https://schema.org/NewCondition", "Camera", "new"),
        ("https://schema.org/UsedCondition", "Camera", "used"),
        ("http://schema.org/RefurbishedCondition", "Camera", "refurbished"),
        ("generalüberholt", "Camera", "refurbished"),
        ("Reconditionné – très bon état", "Camera", "refurbished"),
        ("Gebraucht", "Camera", "used"),
        ("б/у", "Camera", "used"),
        ("中古", "Camera", "used"),
        ("B-Ware", "Camera", "open_box"),
        ("Neu", "Camera", "new"),
        ("mysterious", "Camera", "other"),
        ("", "Camera (refurbished)", "refurbished"),
        ("", "Camera open box", "open_box"),
        ("", "Used books: a history", "new"),
        ("", "Like New brush set", "new"),
    ],
)
def test_conditions(text: str, name: str, condition: str) -> None:
    assert good(listing(condition_text=text, name=name)).condition == condition


@pytest.mark.parametrize(
    ("text", "shipping"),
    [
        ("", None),
        ("Versandkostenfrei", Decimal(0)),
        ("Versand 3,95 €", Decimal("3.95")),
        ("Versandkostenfrei ab 50 €", None),
        ("soon", None),
    ],
)
def test_shipping(text: str, shipping: Decimal | None) -> None:
    assert good(listing(shipping_text=text)).shipping.of(Decimal(20), "EUR") == shipping


@pytest.mark.parametrize(
    ("shown", "charge"),
    [("24,50 €", "4.95"), ("49,99 €", "4.95"), ("50,00 €", "0"), ("60,00 €", "0")],
)
def test_delivery_that_is_free_from_a_sum_on_depends_on_the_price_that_was_chosen(
    shown: str, charge: str
) -> None:
    read = good(listing(prices=(price(shown),), shipping_text="4,95 €, ab 50 € frei"))
    observed = observe(read, settle(read.candidates), extractor_version="1")
    assert observed.shipping == Decimal(charge)


def test_a_time_without_a_zone_is_utc() -> None:
    assert good(listing(observed_at=datetime(2026, 2, 1))).observed_at == datetime(2026, 2, 1, tzinfo=UTC)  # noqa: DTZ001


TEXT_FIELDS = [f.name for f in fields(RawListing) if f.type in ("str", str)]


@settings(max_examples=examples(500, 50_000), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(TEXT_FIELDS), st.text(max_size=60) | st.none() | st.integers(), max_size=8
    ),
    st.text(max_size=30),
    st.sampled_from(list(PriceUnit)),
    st.sampled_from([GERMANY, Market(), Market("JP", "JPY", "ja_JP")]),
)
def test_bad_data_is_an_answer(facts: dict[str, Any], text: str, unit: PriceUnit, market: Market) -> None:
    raw = replace(listing(), **facts, prices=(price(text, unit=unit), price("12")))
    result = run(raw, market)
    assert isinstance(result, Listing | Rejected)
    if isinstance(result, Listing):
        assert all(c.amount > 0 for c in result.candidates)
