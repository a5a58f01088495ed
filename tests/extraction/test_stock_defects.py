"""Known defects of stock readers, each by its name, on whole pages."""

from __future__ import annotations

import json

import pytest

from pricecrawl.domain.availability import Availability, StockDecision, decide
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page
from pricecrawl.extraction.rules import Rules

IN, OUT, UNKNOWN = Availability.IN_STOCK, Availability.OUT_OF_STOCK, Availability.UNKNOWN


def stock(body: str, *, offers: object = None, rules: Rules | None = None, url: str = "") -> StockDecision:
    data = ""
    if offers is not None:
        product = {"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "offers": offers}
        data = f'<script type="application/ld+json">{json.dumps(product)}</script>'
    page = f"<html lang=en><head><title>Kettle</title>{data}</head><body>{body}</body></html>"
    reading = read_page(Document(page, url=url or "https://shop.example/p/kettle"), rules=rules)
    return decide(reading.listing.stock)


def offer(availability: str, price: str = "20", url: str | None = None) -> dict[str, str]:
    made = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    made["availability"] = f"https://schema.org/{availability}"
    return made | ({"url": url} if url else {})


BUY = "<button name=add>Add to cart</button>"


def test_s2_one_offer_in_stock_among_many_does_not_mean_in_stock() -> None:
    mixed = [offer("OutOfStock", "20"), offer("InStock", "25")]
    assert stock("<main><h1>Kettle</h1></main>", offers=mixed).value is not IN
    assert stock("<main><h1>Kettle</h1></main>", offers=[offer("InStock"), offer("InStock")]).value is IN
    assert (
        stock("<main><h1>Kettle</h1></main>", offers=[offer("OutOfStock"), offer("OutOfStock")]).value is OUT
    )


def test_s2_the_offer_of_the_address_decides() -> None:
    base = "https://shop.example/p/kettle"
    both = [offer("OutOfStock", "20", f"{base}?variant=1"), offer("InStock", "25", f"{base}?variant=2")]
    assert stock("<main><h1>Kettle</h1></main>", offers=both, url=f"{base}?variant=1").value is OUT
    assert stock("<main><h1>Kettle</h1></main>", offers=both, url=f"{base}?variant=2").value is IN


def test_s4_what_related_items_say_is_not_the_products() -> None:
    related = (
        "<section class=related><h2>You may also like</h2><p class=tile>Whisk <b>Sold out</b></p></section>"
    )
    assert stock(f"<main><h1>Kettle</h1><p class=price>€20.00</p>{BUY}{related}</main>").value is IN
    assert stock(f"<main><h1>Kettle</h1><p class=price>€20.00</p></main>{related}").value is not OUT


def test_e12_a_shops_own_phrase_is_a_rule_of_its_row() -> None:
    body = "<main><h1>Kettle</h1><p class=state>Gone fishing</p></main>"
    assert stock(body).value is UNKNOWN
    rules = Rules(row={"stock": (".state::contains(fishing)->out_of_stock",)})
    assert stock(body, rules=rules).value is OUT


@pytest.mark.parametrize(
    "body",
    [
        "<nav><a href=/gift>Buy a gift card</a></nav><main><h1>Kettle</h1></main>",
        "<header><a href=/buy>Where to buy</a></header><main><h1>Kettle</h1></main>",
        "<main><h1>Kettle</h1></main><footer><a href=/add>Add your shop</a></footer>",
    ],
)
def test_e13_links_of_the_furniture_are_no_buy_control(body: str) -> None:
    assert stock(body).value is UNKNOWN


def test_e13_only_an_enabled_control_means_in_stock() -> None:
    assert stock(f"<main><h1>Kettle</h1><p class=price>€20.00</p>{BUY}</main>").value is IN
    off = "<button name=add disabled>Add to cart</button>"
    assert stock(f"<main><h1>Kettle</h1><p class=price>€20.00</p>{off}</main>").value is not IN


def test_s1_a_rule_that_contradicts_schema_org_is_told() -> None:
    """A default one is a question for a person too; one that was written for this shop has answered it."""
    body = "<main><h1>Kettle</h1><p class=state>none left</p></main>"
    rules = Rules(row={"stock": (".state::contains(none left)->out_of_stock",)})
    decision = stock(body, offers=offer("InStock"), rules=rules)
    assert (decision.value, decision.conflict) == (OUT, False)
    assert "although json-ld" in decision.reason
    assert "in_stock" in decision.reason
    general = stock("<main><h1>Kettle</h1><p class=stock>Sold out</p></main>", offers=offer("InStock"))
    assert (general.value, general.conflict) == (OUT, True)
    assert "in_stock" in general.reason
