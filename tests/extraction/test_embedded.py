"""State that pages carry for their own scripts, in the ways that frameworks write it."""

from __future__ import annotations

import html as escaping
import json
from typing import Any

import pytest

from tests.extraction.pages import answered, ld, product

STATE = {
    "product": {
        "name": "Thing",
        "sku": "T-1",
        "price": "79.95",
        "compareAtPrice": "99.95",
        "currency": "EUR",
        "available": False,
    },
    "recommendations": [{"name": "Other", "price": "5.00", "currency": "EUR"}],
}
WRITTEN = json.dumps(STATE)

CARRIERS = {
    "json script": f'<script type="application/json" id="__NEXT_DATA__">{WRITTEN}</script>',
    "assignment": f"<script>window.__INITIAL_STATE__ = {WRITTEN};</script>",
    "assignment after code": f"<script>(function(){{var a={{}};a.b=1}})();window.__NUXT__={WRITTEN}</script>",
    "call": f"<script>hydrate('app', {WRITTEN});</script>",
    "text in JavaScript": f"<script>window.state = JSON.parse({json.dumps(WRITTEN)});</script>",
    "single quotes": "<script>var s = JSON.parse('" + WRITTEN.replace("'", "\\'") + "')</script>",
    "attribute": f'<div data-product="{escaping.escape(WRITTEN)}"></div>',
    "attribute in single quotes": f"<div data-page='{WRITTEN}'></div>",
    "property": f"<script>Shop.data = {{ state: {WRITTEN}, init: function() {{ return 1; }} }};</script>",
    "bare keys": '<script>var product = {name: "Thing", price: "79.95", compareAtPrice: "99.95", '
    'currency: "EUR", available: false};</script>',
    "cache of a query client": "<script>window.__APOLLO_STATE__="
    + json.dumps({"ROOT_QUERY": {}, "Product:1": STATE["product"], "Product:2": STATE["recommendations"]})
    + "</script>",
}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_state_is_read_wherever_it_is_written(name: str) -> None:
    found = answered(product(CARRIERS[name]))
    assert (found["price"], found["original_price"], found["currency"]) == ("79.95", "99.95", "EUR")
    assert found["method"] == "embedded"
    assert found["availability"] == "out_of_stock"


def test_a_flat_list_with_places() -> None:
    flat: list[Any] = [
        {"data": 1},
        {"product": 2},
        {"name": 3, "price": 4, "available": 6},
        "Thing",
        {"amount": 5, "currency": 7},
        79.95,
        True,
        "EUR",
    ]
    body = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(flat)}</script>'
    found = answered(product(body))
    assert (found["price"], found["currency"]) == ("79.95", "EUR")


@pytest.mark.parametrize(
    "price",
    [
        {"price": {"amount": "12.50", "currencyCode": "EUR"}},
        {"price": {"value": 12.5, "currency": "EUR"}},
        {"price": {"current": {"value": 12.5, "currency": "EUR"}}},
        {"pricing": {"salePrice": 12.5, "listPrice": 20, "currency": "EUR"}},
        {"prices": {"sale": "12.50", "original": "20.00", "currency": "EUR"}},
        {"finalPrice": 12.5, "currency": "EUR"},
        {"priceInCents": 1250, "currency": "EUR"},
    ],
    ids=str,
)
def test_prices_in_the_shapes_of_many_platforms(price: dict[str, Any]) -> None:
    body = f"<script>var pdp = {json.dumps({'name': 'Thing', **price})};</script>"
    found = answered(product(body))
    assert (float(found["price"] or 0), found["currency"]) == (12.5, "EUR")


def test_whole_numbers_are_minor_units_only_if_another_source_says_so() -> None:
    state = '<script>var product = {"name":"Thing","price":4995,"currency":"EUR"};</script>'
    alone = answered(product(state))
    assert alone["price"] is None
    assert any(c["excluded"] == "a whole number that may be in minor units" for c in alone["candidates"])
    for price in ("49.95", "4995.00"):
        head = ld(
            f'{{"@type":"Product","name":"Thing","offers":{{"price":"{price}","priceCurrency":"EUR"}}}}'
        )
        assert answered(product(state, head=head))["price"] == price


def test_the_state_of_other_products_is_not_the_page_s() -> None:
    body = '<script>var shelf = {"items":[{"name":"Other","price":"5.00"},{"name":"More"}]};</script>'
    assert answered(product(body))["price"] is None


def test_two_states_of_one_product_that_disagree_give_nothing() -> None:
    body = (
        '<script>var a = {"name":"Thing","price":"5.00","currency":"EUR"};'
        'var b = {"name":"Thing","price":"6.00","currency":"EUR"};</script>'
    )
    assert answered(product(body))["price"] is None


def test_the_variant_in_the_address_is_read() -> None:
    body = (
        '<script>var p = {"name":"Thing","price":"5.00","currency":"EUR","variants":[{"id":1,"price":"5.00"},'
        '{"id":2,"price":"7.00"}]};</script>'
    )
    assert answered(product(body), url="https://shop.example/thing?variant=2")["price"] == "7.00"


def test_the_state_settles_markup_that_keeps_the_old_price() -> None:
    head = ld('{"@type":"Product","name":"Thing","offers":{"price":"150.00","priceCurrency":"USD"}}')
    head += '<meta property="product:price:amount" content="120">'
    head += '<meta property="product:price:currency" content="USD">'
    price = '{"original":"150.00","sale":"120.00"}'
    state = f'<script>var d = {{"name":"Thing","price":{price},"currency":"USD"}};</script>'
    found = answered(product(state, head=head))
    assert (found["price"], found["original_price"], found["needs_review"]) == ("120.00", "150.00", False)
