"""JSON-LD, microdata, RDFa and metas: each kind of markup fault as a whole kind, not as one row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.market import Market
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page
from pricecrawl.extraction.stock_words import schema_availability
from tests.extraction.pages import answered, html, ld, product
from tests.shared import examples

CENTS = st.integers(1, 999_999)
CURRENCIES = st.sampled_from(["EUR", "USD", "GBP", "PLN", "SEK", "AUD"])


def amount(cents: int) -> str:
    return f"{cents / 100:.2f}"


def offer(price: Any, currency: str = "EUR", **more: Any) -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, **more}


def item(name: str = "Thing", **more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Product", "name": name, **more}


def read(*blocks: Any, url: str = "https://shop.example/p/1", **more: Any) -> dict[str, Any]:
    return answered(product("", head="".join(ld(json.dumps(block)) for block in blocks)), url=url, **more)


WRAPPERS = {
    "alone": lambda node: node,
    "list": lambda node: [node],
    "nested lists": lambda node: [[node]],
    "graph": lambda node: {"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, node]},
    "main entity": lambda node: {"@type": "ItemPage", "mainEntity": node},
    "types as addresses": lambda node: {**node, "@type": ["http://schema.org/Product", "Thing"]},
    "prefixed": lambda node: {
        f"schema:{key}" if key[0] != "@" else key: value for key, value in node.items()
    },
    "behind a breadcrumb": lambda node: [{"@type": "BreadcrumbList", "itemListElement": []}, node],
    "offers in a list": lambda node: {**node, "offers": [node["offers"]]},
}


@pytest.mark.parametrize("name", WRAPPERS)
@given(cents=CENTS, currency=CURRENCIES)
@settings(max_examples=examples(8, 300), deadline=None)
def test_the_product_is_found_wherever_it_hangs(name: str, cents: int, currency: str) -> None:
    node = item(offers=offer(amount(cents), currency, availability="https://schema.org/InStock"))
    found = read(WRAPPERS[name](node))
    assert (found["price"], found["currency"], found["availability"]) == (amount(cents), currency, "in_stock")
    assert not found["needs_review"]


def test_references_within_a_graph_are_followed() -> None:
    graph = [item(offers={"@id": "#o"}), {"@id": "#o", **offer("12.50")}]
    assert read({"@graph": graph})["price"] == "12.50"


@pytest.mark.parametrize(
    "price",
    ["12.50", 12.5, ["12.50"], {"@value": "12.50"}, "12,50", "EUR 12.50", "12.50 €", " 12.50 ", "€12.50"],
    ids=str,
)
def test_an_amount_is_read_however_it_is_written(price: Any) -> None:
    found = read(item(offers=offer(price)))
    assert (float(found["price"]), found["currency"]) == (12.5, "EUR")


@pytest.mark.parametrize("price", [{}, "", None, [], "0", "0.00", 0, "call us", "-1"], ids=str)
@pytest.mark.parametrize("state", ["InStock", "OutOfStock"])
def test_no_amount_is_no_price_and_never_a_bargain(price: Any, state: str) -> None:
    found = read(item(offers=offer(price, availability=f"https://schema.org/{state}")))
    assert found["price"] is None
    assert found["availability"] == {"InStock": "in_stock", "OutOfStock": "out_of_stock"}[state]


def specification(price: str, kind: str = "", **more: Any) -> dict[str, Any]:
    node = {"@type": "UnitPriceSpecification", "price": price, "priceCurrency": "EUR", **more}
    return {**node, "priceType": f"https://schema.org/{kind}"} if kind else node


@pytest.mark.parametrize("kind", ["ListPrice", "StrikethroughPrice", "SRP", "MSRP", "RegularPrice"])
@pytest.mark.parametrize("order", [0, 1])
def test_a_list_price_is_the_price_before(kind: str, order: int) -> None:
    specs = [specification("36.00"), specification("45.00", kind)]
    found = read(item(offers={"@type": "Offer", "priceSpecification": specs[::-1] if order else specs}))
    assert (found["price"], found["original_price"]) == ("36.00", "45.00")


def test_a_price_for_members_is_not_the_price() -> None:
    specs = [
        specification("36.00"),
        specification("30.00", validForMemberTier={"@type": "MemberProgramTier"}),
    ]
    found = read(item(offers={"@type": "Offer", "priceSpecification": specs}))
    assert (found["price"], found["member_price"]) == ("36.00", "30.00")


@pytest.mark.parametrize(
    "other",
    [
        specification(
            "3.60", referenceQuantity={"@type": "QuantitativeValue", "value": "1", "unitCode": "KGM"}
        ),
        specification("3.60", unitCode="LTR"),
        specification("3.60", billingDuration="P1M"),
        specification("3.60", billingIncrement=1),
        specification("30.00", eligibleQuantity={"@type": "QuantitativeValue", "minValue": "10"}),
        {"@type": "DeliveryChargeSpecification", "price": "4.95", "priceCurrency": "EUR"},
        specification("20.00", "InvoicePrice"),
        specification("20.00", "MinimumAdvertisedPrice"),
    ],
    ids=["per kilo", "per litre", "per month", "per step", "from ten", "delivery", "invoice", "advertised"],
)
def test_amounts_of_other_kinds_are_told_and_do_not_vote(other: dict[str, Any]) -> None:
    found = read(item(offers={"@type": "Offer", "priceSpecification": [other, specification("36.00")]}))
    assert found["price"] == "36.00"
    assert not found["needs_review"]
    told = [candidate for candidate in found["candidates"] if candidate.get("excluded")]
    assert [candidate["amount"] for candidate in told] == [other["price"]]


def test_an_offer_and_its_specification_that_repeat_each_other_vote_once() -> None:
    found = read(item(offers=offer("36.00", priceSpecification=specification("36.0"))))
    assert [c["amount"] for c in found["candidates"] if c["method"] == "json-ld"] == ["36.00"]


def test_the_tax_basis_is_what_the_specification_says() -> None:
    specs = [
        specification("30.25", valueAddedTaxIncluded=False),
        specification("36.00", valueAddedTaxIncluded="true"),
    ]
    found = read(item(offers={"@type": "Offer", "priceSpecification": specs}))
    assert (found["price"], found["tax_basis"]) == ("36.00", "incl")


@pytest.mark.parametrize(
    ("word", "state"),
    [
        *(
            (w, "in_stock")
            for w in ("InStock", "LimitedAvailability", "OnlineOnly", "InStoreOnly", "MadeToOrder")
        ),
        *((w, "out_of_stock") for w in ("OutOfStock", "SoldOut", "BackOrder", "Reserved")),
        *((w, "pre_order") for w in ("PreOrder", "PreSale")),
        ("Discontinued", "not_available"),
        ("Whatever", "unknown"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "http://schema.org/{}", "https://schema.org/{}", "schema:{}", " {} "])
def test_every_word_for_stock_in_every_form(word: str, state: str, form: str) -> None:
    assert schema_availability(form.format(word)) is Availability(state)


@given(st.lists(CENTS, min_size=2, max_size=5, unique=True), st.data())
@settings(max_examples=examples(30, 1000), deadline=None)
def test_the_variant_in_the_address_is_the_variant_that_is_read(
    cents: list[int], data: st.DataObject
) -> None:
    wanted = data.draw(st.integers(0, len(cents) - 1))
    offers = [
        offer(amount(value), url=f"https://shop.example/p/thing?variant={100 + n}", sku=f"V{n}")
        for n, value in enumerate(cents)
    ]
    found = read(
        item(offers=offers), url=f"https://shop.example/p/thing?variant={100 + wanted}&utm_source=mail"
    )
    assert found["price"] == amount(cents[wanted])
    assert not found["needs_review"]


@given(st.lists(CENTS, min_size=2, max_size=5, unique=True))
@settings(max_examples=examples(20, 500), deadline=None)
def test_without_a_wanted_variant_the_lowest_is_given_with_a_doubt(cents: list[int]) -> None:
    found = read(item(offers=[offer(amount(value), sku=f"V{n}") for n, value in enumerate(cents)]))
    assert found["price"] == amount(min(cents))
    assert "variant_ambiguous" in found["review_reasons"]


@given(st.lists(CENTS, min_size=2, max_size=5, unique=True), st.data())
@settings(max_examples=examples(20, 500), deadline=None)
def test_the_shown_price_picks_the_variant(cents: list[int], data: st.DataObject) -> None:
    shown = data.draw(st.sampled_from(cents))
    group = {
        "@type": "ProductGroup",
        "name": "Thing",
        "hasVariant": [
            item(f"Thing {n}", sku=f"V{n}", offers=offer(amount(value))) for n, value in enumerate(cents)
        ],
    }
    body = f'<span class="price">€{amount(shown)}</span><button>Add to cart</button>'
    found = answered(product(body, head=ld(json.dumps(group))))
    assert found["price"] == amount(shown)
    assert not found["needs_review"]


def test_an_aggregate_gives_its_low_end_and_tells_the_range() -> None:
    found = read(
        item(offers={"@type": "AggregateOffer", "lowPrice": 10, "highPrice": 30, "priceCurrency": "EUR"})
    )
    assert (found["price"], found["needs_review"]) == ("10", True)
    assert {c["amount"] for c in found["candidates"]} == {"10", "30"}


def test_an_aggregate_without_a_span_is_a_plain_price() -> None:
    found = read(
        item(offers={"@type": "AggregateOffer", "lowPrice": 10, "highPrice": 10, "priceCurrency": "EUR"})
    )
    assert (found["price"], found["needs_review"]) == ("10", False)


RELATED = ["isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "addOn"]


@pytest.mark.parametrize("relation", RELATED)
def test_related_products_are_not_the_product(relation: str) -> None:
    other = item("Other", offers=offer("5.00"))
    assert read(item(offers=offer("50.00"), **{relation: [other]}))["price"] == "50.00"


def test_a_related_product_alone_is_not_the_product_either() -> None:
    found = read({"@type": "ItemList", "itemListElement": [item("Other", offers=offer("5.00"))]})
    assert found["price"] is None


def test_offers_that_do_not_hold_at_the_time_are_set_aside() -> None:
    offers = [offer("80.00", priceValidUntil="2026-03-31"), offer("100.00", validFrom="2026-04-01")]
    for moment, price in (("2026-04-01T02:30:00Z", "80.00"), ("2026-04-01T12:00:00Z", "100.00")):
        found = read(item(offers=offers), observed_at=moment, zone="America/New_York")
        assert found["price"] == price


def test_identity_is_taken_from_the_variant_then_its_group() -> None:
    node = item(
        brand={"@type": "Brand", "name": "Acme &amp; Co"},
        sku="A-1",
        mpn="M-9",
        gtin13="4006381333931",
        offers=offer("9.00", seller={"name": "Somebody"}, itemCondition="https://schema.org/UsedCondition"),
    )
    found = read(node)
    assert (found["brand"], found["mpn"], found["gtin"], found["source_sku"]) == (
        "Acme & Co",
        "M-9",
        "4006381333931",
        "A-1",
    )
    assert found["seller"] == "Somebody"


MICRODATA = (
    '<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Thing</h1>'
    '<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">{price}{currency}{stock}</div></div>'
)


@pytest.mark.parametrize(
    "price",
    [
        '<span itemprop="price" content="1249.00">1.249,00</span>',
        '<meta itemprop="price" content="1249.00">',
        '<span itemprop="price">1.249,00 €</span>',
        '<data itemprop="price" value="1249.00">1.249,00</data>',
        '<meta itemprop="price" content="1.249,00 €">',
        '<input type="hidden" itemprop="price" value="1249.00">',
    ],
)
def test_microdata_in_its_forms(price: str) -> None:
    currency = '<meta itemprop="priceCurrency" content="EUR">'
    stock = '<link itemprop="availability" href="http://schema.org/OutOfStock">'
    found = answered(html(MICRODATA.format(price=price, currency=currency, stock=stock), lang="nl-NL"))
    assert (float(found["price"]), found["currency"], found["availability"]) == (
        1249.0,
        "EUR",
        "out_of_stock",
    )


def test_properties_outside_of_any_item_still_speak() -> None:
    found = answered(
        product('<meta itemprop="price" content="19.00"><meta itemprop="priceCurrency" content="EUR">')
    )
    assert (found["price"], found["currency"]) == ("19.00", "EUR")


def test_items_that_refer_to_properties_elsewhere() -> None:
    body = (
        '<div itemscope itemtype="http://schema.org/Product" itemref="o"><h1 itemprop="name">Thing</h1></div>'
        '<div id="o" itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        '<meta itemprop="price" content="7.00"><meta itemprop="priceCurrency" content="EUR"></div>'
    )
    assert answered(html(body))["price"] == "7.00"


def test_microdata_of_a_shelf_is_not_the_page_s() -> None:
    tile = (
        '<li class="tile" itemscope itemtype="http://schema.org/Product">'
        '<a href="/p/{0}" itemprop="name">Other {0}</a>'
        '<span itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        '<span itemprop="price">€{0}.00</span></span></li>'
    )
    body = '<ul class="related-products">' + "".join(tile.format(n) for n in (3, 4, 5)) + "</ul>"
    assert answered(product(body))["price"] is None


@pytest.mark.parametrize("prefix", ["", "schema:", "https://schema.org/"])
def test_rdfa_in_its_forms(prefix: str) -> None:
    vocabulary = 'vocab="https://schema.org/"' if not prefix else 'prefix="schema: https://schema.org/"'
    body = (
        f'<div {vocabulary} typeof="{prefix}Product"><h1 property="{prefix}name">Thing</h1>'
        f'<div property="{prefix}offers" typeof="{prefix}Offer">'
        f'<span property="{prefix}price" content="899">899:-</span>'
        f'<span property="{prefix}priceCurrency" content="SEK">kr</span></div></div>'
    )
    found = answered(html(body))
    assert (found["price"], found["currency"]) == ("899", "SEK")


@pytest.mark.parametrize("name", ["product:price:amount", "og:price:amount", "product:price", "og:price"])
def test_metas_in_their_forms(name: str) -> None:
    currency = f"{name.replace(':amount', '')}:currency"
    head = f'<meta property="{name}" content="22.95"><meta property="{currency}" content="EUR">'
    assert answered(product("", head=head))["price"] == "22.95"


def test_a_sale_price_in_the_metas_makes_the_plain_one_the_price_before() -> None:
    head = (
        '<meta property="product:price:amount" content="30">'
        '<meta property="product:sale_price:amount" content="24">'
        '<meta property="product:price:currency" content="EUR">'
    )
    found = answered(product("", head=head))
    assert (found["price"], found["original_price"]) == ("24", "30")


def test_a_price_before_tax_in_the_metas_is_not_the_price() -> None:
    head = (
        '<meta property="product:price:amount" content="129">'
        '<meta property="product:pretax_price:amount" content="112.17">'
        '<meta property="product:price:currency" content="SAR">'
    )
    assert answered(product("", head=head))["price"] == "129"


def test_a_whole_body_through_an_escaper() -> None:
    body = json.dumps(item("Salt &amp; Pepper", offers=offer("18.00"))).replace('"', "&quot;")
    found = answered(html("<main></main>", head=ld(body)))
    assert (found["price"], found["name"]) == ("18.00", "Salt & Pepper")


def delivery(rate: str, *countries: str, currency: str = "EUR") -> dict[str, Any]:
    detail: dict[str, Any] = {
        "@type": "OfferShippingDetails",
        "shippingRate": {"@type": "MonetaryAmount", "value": rate, "currency": currency},
    }
    if countries:
        places = [{"@type": "DefinedRegion", "addressCountry": country} for country in countries]
        detail["shippingDestination"] = places if len(places) > 1 else places[0]
    return detail


DELIVERIES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "the own country behind another": ([delivery("2.95", "NL"), delivery("6.95", "DE")], "DE", "6.95 EUR"),
    "one of several countries": ([delivery("2.95", "NL"), delivery("9.95", "BE", "DE")], "DE", "9.95 EUR"),
    "only other countries": ([delivery("2.95", "NL"), delivery("9.95", "BE")], "DE", ""),
    "everywhere": ([delivery("4.95")], "DE", "4.95 EUR"),
    "everywhere else": ([delivery("2.95", "NL"), delivery("19.95")], "DE", "19.95 EUR"),
    "two services": ([delivery("9.95", "DE"), delivery("4.95", "DE")], "DE", "4.95 EUR"),
    "free to us alone": ([delivery("0", "DE"), delivery("4.95", "NL")], "DE", "0 EUR"),
    "no country known, one rate": ([delivery("4.95", "NL"), delivery("4.95", "BE")], "", "4.95 EUR"),
    "no country known, two rates": ([delivery("4.95", "NL"), delivery("6.95", "BE")], "", ""),
}


@pytest.mark.parametrize("case", DELIVERIES)
def test_delivery_is_what_it_costs_to_the_own_country(case: str) -> None:
    details, country, told = DELIVERIES[case]
    body = ld(json.dumps(item(offers=offer("20.00", shippingDetails=details))))
    document = Document(product("", head=body), url="https://shop.example/p/1")
    assert read_page(document, market=Market(country=country or None)).listing.shipping_text == told
