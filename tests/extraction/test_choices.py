"""Variants and offers: which of them the address, the form or the time has chosen."""

from __future__ import annotations

import html as entities
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.extraction.pages import answered, ld, product

BUY = '<button type="submit">Add to cart</button>'
SIZES = (("s", "S 100 g", "6.90", True), ("m", "M 500 g", "17.50", True), ("l", "L 1 kg", "31.00", False))


def variant(style: str, number: int, key: str, price: str, in_stock: bool) -> dict[str, Any]:
    """One variant as a framework writes it into a page."""
    if style == "attributes":
        return {
            "attributes": {"attribute_pa_size": key},
            "display_price": float(price),
            "is_in_stock": in_stock,
        }
    if style == "options":
        return {"id": 100 + number, "options": [key], "price": price, "available": in_stock}
    if style == "named options":
        chosen = [{"name": "Size", "value": key}]
        return {"selectedOptions": chosen, "price": {"amount": price}, "availableForSale": in_stock}
    if style == "first option":
        return {"id": 100 + number, "option1": key, "price": price, "available": in_stock}
    return {"sku": f"T-{key}", "size": key, "price": price, "inStock": in_stock}


STYLES = ["attributes", "options", "named options", "first option", "field"]


def page(style: str, form: str = "", *, attribute: bool) -> str:
    variants = [variant(style, i, key, price, stock) for i, (key, _, price, stock) in enumerate(SIZES)]
    shown = '<p class="from"><b>€6.90</b> – <b>€31.00</b></p>'
    if attribute:
        data = entities.escape(json.dumps(variants))
        return product(f'{shown}<form data-variations="{data}">{form}{BUY}</form>')
    state = json.dumps({"product": {"name": "Thing", "currency": "EUR", "variants": variants}})
    return product(f"{shown}<script>window.shop = {state};</script><form>{form}{BUY}</form>")


ASKED = {
    "attribute_pa_size": "?attribute_pa_size={}",
    "size": "?size={}",
    "options": "?options[Size]={}",
    "fragment": "#/27-size-{}",
}


@pytest.mark.parametrize("attribute", [True, False], ids=["in an attribute", "in a script"])
@pytest.mark.parametrize("way", ASKED)
@pytest.mark.parametrize("style", STYLES)
def test_the_address_names_an_option(style: str, way: str, attribute: bool) -> None:
    address = "https://shop.example/p/thing" + ASKED[way].format("m")
    found = answered(page(style, attribute=attribute), url=address)
    assert (Decimal(found["price"]), found["availability"]) == (Decimal("17.5"), "in_stock")
    sold_out = answered(page(style, attribute=attribute), url=address[:-1] + "l")
    assert (Decimal(sold_out["price"]), sold_out["availability"]) == (Decimal(31), "out_of_stock")


PRESET = {
    "select": '<select name="attribute_pa_size"><option value="">-</option>{}</select>',
    "radio": "{}",
}
OPTION = {
    "select": '<option value="{0}"{1}>{0}</option>',
    "radio": '<label><input type="radio" name="attribute_pa_size" value="{0}"{1}>{0}</label>',
}
MARKED = {"select": " selected", "radio": " checked"}


@pytest.mark.parametrize("control", PRESET)
@pytest.mark.parametrize("style", STYLES)
def test_the_form_has_chosen_an_option(style: str, control: str) -> None:
    options = "".join(OPTION[control].format(key, MARKED[control] if key == "m" else "") for key, *_ in SIZES)
    found = answered(page(style, PRESET[control].format(options), attribute=True))
    assert (Decimal(found["price"]), found["availability"]) == (Decimal("17.5"), "in_stock")


@pytest.mark.parametrize("name", ["id", "variant_id", "variation_id", "item[variant_id]"])
def test_the_form_holds_the_number_of_a_variant(name: str) -> None:
    form = f'<input type="hidden" name="{name}" value="101">'
    assert answered(page("options", form, attribute=True))["price"] == "17.50"


@pytest.mark.parametrize("name", ["quantity", "country", "currency"])
def test_a_choice_of_something_else_chooses_no_variant(name: str) -> None:
    form = f'<select name="{name}"><option>s</option><option selected>m</option></select>'
    found = answered(page("first option", form, attribute=False))
    assert (found["price"], found["needs_review"]) == ("6.90", True)


@pytest.mark.parametrize("url", ["https://shop.example/p/thing?size=xl", "https://shop.example/p/thing?m=1"])
def test_an_address_that_names_no_variant_chooses_none(url: str) -> None:
    found = answered(page("options", attribute=False), url=url)
    assert (found["price"], found["needs_review"]) == ("6.90", True)


def offer(price: str, **more: Any) -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", **more}


def data(*offers: dict[str, Any], name: str = "Thing", **more: Any) -> str:
    whole = {"@type": "Product", "name": name, "offers": list(offers), **more}
    return ld(json.dumps({"@context": "https://schema.org", **whole}))


CONDITIONS = ["UsedCondition", "RefurbishedCondition", "DamagedCondition"]


@pytest.mark.parametrize("new", ["first", "last"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_new_one_comes_before_one_that_was_used(condition: str, new: str) -> None:
    offers = [
        offer("549.00", itemCondition="https://schema.org/NewCondition"),
        offer("419.00", itemCondition=f"https://schema.org/{condition}"),
    ]
    found = answered(product("", head=data(*(offers if new == "first" else reversed(offers)))))
    assert (found["price"], found["needs_review"]) == ("549.00", False)


def test_where_all_are_used_the_used_one_counts() -> None:
    head = data(offer("419.00", itemCondition="https://schema.org/UsedCondition"))
    assert answered(product("", head=head))["price"] == "419.00"


@pytest.mark.parametrize("own", ["first", "last"])
@pytest.mark.parametrize("key", ["sku", "mpn", "gtin13"])
def test_the_number_of_an_offer_tells_it_from_its_sisters(key: str, own: str) -> None:
    offers = [offer("24.00", **{key: "4006381333931"}), offer("15.00", **{key: "4006381333948"})]
    head = data(*(offers if own == "first" else reversed(offers)), sku="4006381333931")
    url = "https://shop.example/p/thing?sku=4006381333931"
    found = answered(product("", head=head), url=url)
    assert (found["price"], found["needs_review"]) == ("24.00", False), found["trace"]


@pytest.mark.parametrize("states", ["oi", "ooi", "oio"])
def test_sizes_at_one_price_can_be_bought_while_one_is_left(states: str) -> None:
    word = {"o": "https://schema.org/OutOfStock", "i": "https://schema.org/InStock"}
    offers = [offer("64.00", sku=str(number), availability=word[s]) for number, s in enumerate(states)]
    found = answered(product('<p class="price">€64.00</p>', head=data(*offers)))
    assert (found["price"], found["availability"]) == ("64.00", "in_stock")


@pytest.mark.parametrize("name", ["Garden hose reel", "Oak shelf", "Übertopf grau"])
def test_data_that_names_something_else_gives_way_to_the_price_tag(name: str) -> None:
    body = f'<p class="price">€119.00</p>{BUY}'
    found = answered(product(body, head=data(offer("39.90"), name=name), name="Brass lamp"))
    assert (found["price"], found["currency"]) == ("119.00", "EUR")


@pytest.mark.parametrize("name", ["Brass lamp", "Brass lamp, 40 cm", "BRASS LAMP"])
def test_data_that_names_this_one_stays_a_witness(name: str) -> None:
    """It may be stale or the tag may be another's: a person is asked."""
    body = f'<p class="price">€119.00</p>{BUY}'
    found = answered(product(body, head=data(offer("39.90"), name=name), name="Brass lamp"))
    assert found["needs_review"]


NOW = "2026-11-30T12:00:00+00:00"


@pytest.mark.parametrize("until", ["2025-01-06", "2026-11-29", "2026-11-30T11:59:59Z"])
def test_a_price_that_held_until_a_day_gone_by_gives_way(until: str) -> None:
    head = data(offer("699.00", priceValidUntil=until))
    found = answered(product(f'<p class="price">€899.00</p>{BUY}', head=head), now=NOW)
    assert (found["price"], found["needs_review"]) == ("899.00", False)


@pytest.mark.parametrize("until", ["2026-12-31", "2026-11-30T12:00:01Z"])
def test_a_price_that_still_holds_is_a_witness(until: str) -> None:
    head = data(offer("699.00", priceValidUntil=until))
    found = answered(product(f'<p class="price">€899.00</p>{BUY}', head=head), now=NOW)
    assert found["needs_review"]


def test_a_price_of_a_day_gone_by_that_is_still_shown_stays() -> None:
    head = data(offer("899.00", priceValidUntil="2025-01-06"))
    found = answered(product(f'<p class="price">€899.00</p>{BUY}', head=head), now=NOW)
    assert (found["price"], found["needs_review"]) == ("899.00", False)
