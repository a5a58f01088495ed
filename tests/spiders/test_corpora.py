"""Other people's feeds and pages, served on loopback, through the real spiders: every expected item."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import pricecrawl
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from tests.shared import available, needs_shared, rows, shared
from tests.spiders.harness import Answer, Page, crawl, serve

pytestmark = needs_shared
ROOT = Path(pricecrawl.__file__).parents[1]
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


def decided(case: dict[str, Any], found: dict[str, Any] | None) -> bool:
    """Is this what a person read off the page? No item at all is right where the page offers nothing."""
    expected = case["expected"]
    if found is None:
        return expected["price"] is None and "availability" not in expected
    prices = [Decimal(text) for text in (expected["price"], *expected.get("accept", ())) if text]
    price = Decimal(found["price"]) if found["price"] else None
    told = all(found[key] == expected[key] for key in ("currency", "availability") if key in expected)
    return told and (price in prices if prices else price is None)


def test_real_pages_in_one_crawl(tmp_path: Path) -> None:
    cases = [case for case in rows("corpora/pages/cases.jsonl") if case["area"] == "page"]
    pages: dict[str, Answer] = {}
    for case in cases:
        file = shared(f"corpora/pages/{case['input']['file']}")
        body = file.read_bytes()
        pages[f"/p/{case['id']}"] = Page(gzip.decompress(body) if file.suffix == ".gz" else body)
    with serve(pages) as server:
        (tmp_path / "retailer.toml").write_text(
            f"""\
[[source]]
slug = "corpus"
retailer = "Corpus"
base_url = "{server.origin}/"
country = "US"
sku_pattern = "/p/(pg-[0-9]+)"
product_urls = {json.dumps([path[1:] for path in pages])}
"""
        )
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "corpus", "-O", str(tmp_path / "out.json")],
            cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, "PRICECRAWL_SOURCES": str(tmp_path), "PRICECRAWL_HOME": str(tmp_path / "var")},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {item["source_sku"]: item for item in json.loads((tmp_path / "out.json").read_text())}
    wrong = [case["id"] for case in cases if not decided(case, found.get(case["id"]))]
    silent = [key for key in wrong if not found.get(key, {}).get("needs_review")]
    print(
        f"right {len(cases) - len(wrong)} of {len(cases)}, wrong {wrong}, wrong and not for review {silent}"
    )
    # A page on which markup, meta and buy box disagree goes to a person; none is wrong without a word.
    assert silent == []
    assert len(wrong) <= 1
