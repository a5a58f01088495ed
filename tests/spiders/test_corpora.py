"""Other people's feeds and pages, served on loopback, through the real spiders: every expected item."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from tests.shared import available, needs_shared, rows, shared
from tests.spiders.harness import Answer, Page, crawl

pytestmark = needs_shared
ROW = {"slug": "corpus", "retailer": "Corpus", "base_url": "http://shop.test/", "country": "EG"}
STOCK = {Availability.IN_STOCK: True, Availability.OUT_OF_STOCK: False}


def entries(kind: str) -> list[dict[str, Any]]:
    index = rows("corpora/pages/index.jsonl") if available() else ()
    return [row for row in index if row["kind"] == kind]


FEEDS = [row for row in entries("feed") if row["expected"]["platform"].startswith("shopify")]


@pytest.mark.parametrize("entry", FEEDS, ids=lambda entry: entry["file"])
def test_every_item_of_a_real_feed(entry: dict[str, Any]) -> None:
    items = entry["expected"]["items"]
    answers: dict[str, Answer] = {
        "/products.json?limit=250&page=1": Page(shared(f"corpora/pages/{entry['file']}").read_bytes()),
        "/products.json": Page(b'{"products":[]}'),
    }
    currency = items[0]["currency"]
    if currency:
        answers["/meta.json"] = Page(f'{{"currency":"{currency}"}}'.encode())
    result = crawl("shopify", ROW, answers)
    assert result.spider.market.currency == currency
    found = {listing.source_sku: listing for listing in result.listings}
    assert set(found) == {item["id"] for item in items}
    for item in items:
        listing = found[item["id"]]
        amounts = {price.kind: Decimal(price.text) for price in listing.prices}
        before = amounts.pop(PriceKind.LIST, None)
        assert list(amounts.values()) == [Decimal(item["price"])]
        # The index has the feed's own text, and 0.00 there is how this shop writes "no discount".
        discounted = Decimal(item["original_price"] or 0) > Decimal(item["price"])
        assert before == (Decimal(item["original_price"]) if discounted else None)
        assert listing.name == item["product"]
        assert listing.variant_text == ("" if item["title"] == "Default Title" else item["title"])
        assert listing.extra.get("shop_sku") == item["sku"]
        assert (STOCK[listing.stock[0].value] if listing.stock else None) == item["available"]
