"""Feeds of platforms answered whole: items, completeness, the asked-for item, and what is no list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.extraction.pages import answered

JSON = {"content-type": "application/json"}


def feed(data: Any, url: str = "https://shop.example/api", **more: Any) -> dict[str, Any]:
    body = data if isinstance(data, str) else json.dumps(data)
    return answered(body, url=url, headers=JSON, kind="feed_json", **more)


def store_item(**more: Any) -> dict[str, Any]:
    prices = {"price": "12500", "regular_price": "15000", "currency_code": "KWD", "currency_minor_unit": 3}
    return {"id": 11, "name": "Kettle &amp; lid", "sku": "K1", "is_in_stock": True, "prices": prices, **more}


def test_store_api_scales_by_the_stated_minor_unit() -> None:
    found = feed([store_item()], url="https://w.example/wp-json/wc/store/v1/products")
    assert (found["price"], found["original_price"], found["currency"]) == ("12.500", "15.000", "KWD")
    assert (found["name"], found["availability"], found["platform"]) == (
        "Kettle & lid",
        "in_stock",
        "woocommerce",
    )


@pytest.mark.parametrize(("exponent", "price"), [(0, "12500"), (2, "125.00"), (3, "12.500")])
def test_store_api_with_other_exponents(exponent: int, price: str) -> None:
    item = store_item(
        prices={
            "price": "12500",
            "regular_price": "12500",
            "currency_code": "EUR",
            "currency_minor_unit": exponent,
        }
    )
    found = feed([item], url="https://w.example/wp-json/wc/store/v1/products")
    assert (found["price"], found["original_price"]) == (price, None)


def test_store_api_on_backorder_is_not_in_stock() -> None:
    found = feed([store_item(is_on_backorder=True)], platform="woocommerce")
    assert found["availability"] == "out_of_stock"


@pytest.mark.parametrize("price", ["", "0", None, "12.50"])
def test_store_api_without_a_usable_price_is_a_skip(price: Any) -> None:
    item = store_item(
        prices={"price": price, "regular_price": "", "currency_code": "EUR", "currency_minor_unit": 2}
    )
    found = feed([item], platform="woocommerce")
    assert found["items"] == []
    assert any("no_price" in sentence for sentence in found["trace"])


def test_store_api_range_of_a_parent_is_told() -> None:
    prices = {"price": "900", "regular_price": "900", "currency_code": "JPY", "currency_minor_unit": 0}
    item = store_item(prices={**prices, "price_range": {"min_amount": "900", "max_amount": "1100"}})
    found = feed([item], platform="woocommerce")
    assert (found["price"], found["review_reasons"]) == ("900", ["variant_ambiguous"])


def test_a_full_page_is_not_all_there_is() -> None:
    url = "https://w.example/wp-json/wc/store/v1/products?per_page=2"
    assert not feed([store_item(), store_item(id=12)], url=url)["complete"]
    assert feed([store_item()], url=url)["complete"]


MAGENTO = {
    "sku": "M1",
    "name": "Lamp",
    "stock_status": "IN_STOCK",
    "price_range": {
        "minimum_price": {
            "regular_price": {"value": 40, "currency": "GBP"},
            "final_price": {"value": 34.5, "currency": "GBP"},
        }
    },
}
HYBRIS = {
    "code": "H1",
    "name": "Paste",
    "price": {"value": 17.894, "currencyIso": "SAR"},
    "stock": {"stockLevelStatus": "outOfStock"},
}
VTEX_OFFER = {"Price": 200.64, "ListPrice": 297.7, "AvailableQuantity": 4}
VTEX = {
    "productName": "Iron",
    "items": [
        {
            "itemId": "V1",
            "name": "Iron",
            "ean": "4006381333931",
            "sellers": [{"sellerName": "Us", "commertialOffer": VTEX_OFFER}],
        }
    ],
}
SFCC = {
    "productId": "S1",
    "productName": "Case",
    "price": 63.99,
    "currency": "GBP",
    "orderable": True,
    "tieredPrices": [{"pricebook": "gbp-m-list-prices", "price": 67.99}],
}
SHAPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "magento-graphql": (
        {"data": {"products": {"total_count": 1, "items": [MAGENTO]}}},
        ("M1", "34.5", "40", "GBP", "in_stock"),
    ),
    "sap-hybris-occ": (
        {"products": [HYBRIS], "pagination": {"totalResults": 1}},
        ("H1", "17.894", None, "SAR", "out_of_stock"),
    ),
    "vtex": ([VTEX], ("V1", "200.64", "297.7", None, "in_stock")),
    "sfcc": ({"hits": [SFCC], "total": 1}, ("S1", "63.99", "67.99", "GBP", "in_stock")),
}


@pytest.mark.parametrize("platform", SHAPES)
def test_other_platforms_are_told_by_their_shape(platform: str) -> None:
    data, expected = SHAPES[platform]
    found = feed(data)
    assert found["platform"] == platform
    keys = ("source_sku", "price", "original_price", "currency", "availability")
    assert tuple(found[key] for key in keys) == expected


@pytest.mark.parametrize(
    "body",
    [
        "<html>blocked</html>",
        "",
        "null",
        "[]",
        "{}",
        '{"errors":"Page * Limit exceeds"}',
        '{"message":"no"}',
        "[1, 2]",
        '"text"',
    ],
)
def test_what_is_no_list_gives_no_items_and_is_never_complete_by_accident(body: str) -> None:
    found = feed(body, url="https://shop.example/products.json")
    assert found["price"] is None
    assert not found["items"]
    if body.startswith(("<", '{"errors', '{"message', '"')) or not body:
        assert found["complete"] is False


def test_a_refused_feed_is_no_empty_feed() -> None:
    found = feed({"products": []}, url="https://shop.example/products.json", status=403)
    assert (found["items"], found["complete"]) == (None, False)


def test_a_walk_ends_where_nothing_new_comes() -> None:
    pages = [{"products": [{"id": n} for n in ids]} for ids in ((1, 2), (2, 3), (3,), (9,))]
    found = feed({"pages": pages})
    assert ([item["source_sku"] for item in found["items"]], found["complete"]) == (["1", "2", "3"], True)


def test_a_walk_that_does_not_end_is_not_complete() -> None:
    found = feed({"pages": [{"url": "/1", "next": "/2", "products": [{"id": 1}]}]})
    assert (len(found["items"]), found["complete"]) == (1, False)


def test_an_instant_and_the_shop_s_own_day() -> None:
    found = feed({"observed_at": "2026-07-01T00:30:00+02:00", "shop_tz": "Europe/Paris"})
    assert (found["observed_at_utc"], found["local_day"]) == ("2026-06-30T22:30:00Z", "2026-07-01")
