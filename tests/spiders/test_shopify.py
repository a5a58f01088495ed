"""Shopify shops that misbehave: paging, caps, totals and currencies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web

from pricecrawl.domain.candidate import PriceKind, PriceUnit
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.extraction.platforms.shopify import WALK_LIMIT, is_feed_url, read_feed, read_meta
from tests.spiders.harness import Answer, Crawl, Page, crawl

ROW = {
    "slug": "tern",
    "retailer": "Tern",
    "base_url": "http://shop.test/",
    "country": "IE",
    "currency": "EUR",
}
JSON = {"Content-Type": "application/json"}


def answer(data: object, status: int = 200) -> Page:
    return Page(json.dumps(data).encode(), status, JSON)


def products(start: int, count: int) -> list[dict[str, Any]]:
    return [
        {"id": n, "title": f"Thing {n}", "handle": f"thing-{n}", "vendor": "Tern",
         "variants": [{"id": n * 10, "title": "Default Title", "price": "1.00", "available": True}]}
        for n in range(start, start + count)
    ]  # fmt: skip


def shop(
    size: int, *, total: int | None, most: int = 250, repeats: str = "", drop: int = 0, cap: int = 25_000
) -> dict[str, Answer]:
    """A feed of `size` products that may clamp its pages, repeat them, or lose products between them."""
    shelf = products(1, size)

    def feed(request: web.Request) -> Page:
        number, limit = int(request.query.get("page", 1)), int(request.query.get("limit", 30))
        if number * limit > cap:
            return answer({"errors": f"Page * Limit exceeds the {cap} limit."}, 400)
        step = min(limit, most)
        last = (size + step - 1) // step
        if number > last and repeats:
            number = last if repeats == "last" else 1
        start = (number - 1) * step + (drop if number > 1 else 0)
        return answer({"products": shelf[start : (number - 1) * step + step]})

    meta = {"currency": "EUR", **({} if total is None else {"published_products_count": total})}
    return {"/meta.json": answer(meta), "/products.json": feed}


def run(answers: Mapping[str, Answer], **row: Any) -> Crawl:
    return crawl("shopify", {**ROW, **row}, answers)


@pytest.mark.parametrize(
    ("given", "listings", "coverage"),
    [
        (shop(600, total=600), 600, CoverageReason.COUNTED),
        (shop(600, total=None), 600, CoverageReason.EXHAUSTED),
        (shop(500, total=500), 500, CoverageReason.COUNTED),
        (shop(500, total=None), 500, CoverageReason.EXHAUSTED),
        # a clamped limit makes every page short, and the walk must not stop there
        (shop(70, total=None, most=30), 70, CoverageReason.EXHAUSTED),
        (shop(70, total=70, most=30), 70, CoverageReason.COUNTED),
        (shop(600, total=None, repeats="last"), 600, CoverageReason.EXHAUSTED),
        (shop(600, total=None, repeats="first"), 600, CoverageReason.EXHAUSTED),
        # the shop counts more than it shows
        (shop(600, total=601), 600, CoverageReason.PARTIAL),
        (shop(600, total=600, drop=1), 598, CoverageReason.PARTIAL),
        # a total that is too low must not end the walk in the middle of full pages
        (shop(600, total=250), 600, CoverageReason.EXHAUSTED),
        (shop(0, total=0), 0, CoverageReason.COUNTED),
    ],
)  # fmt: skip
def test_how_a_walk_ends(given: Mapping[str, Answer], listings: int, coverage: CoverageReason) -> None:
    result = run(given)
    assert len(result.listings) == listings == len({listing.source_sku for listing in result.listings})
    assert result.spider.coverage_reason is coverage
    assert len(result.log) < 10


@pytest.fixture
def low_cap(monkeypatch: pytest.MonkeyPatch) -> int:
    """The feed's cap, lowered so that reaching it takes no time."""
    assert WALK_LIMIT == 25_000
    monkeypatch.setattr("pricecrawl.spiders.shopify.WALK_LIMIT", 1000)
    return 1000


def test_the_cap_of_the_feed_is_capped_and_not_tried(low_cap: int) -> None:
    result = run(shop(1400, total=1400, cap=low_cap))
    assert len(result.listings) == low_cap
    assert result.spider.coverage_reason is CoverageReason.CAPPED
    assert result.spider.expected_total == 1400
    assert "/products.json?limit=250&page=5" not in result.log


@pytest.mark.parametrize(("total", "reason"), [(1000, CoverageReason.COUNTED), (None, CoverageReason.CAPPED)])
def test_a_shop_that_just_fits(low_cap: int, total: int | None, reason: CoverageReason) -> None:
    result = run(shop(1000, total=total, cap=low_cap))
    assert len(result.listings) == 1000
    assert result.spider.coverage_reason is reason


def test_a_cap_that_comes_early_is_capped() -> None:
    result = run(shop(600, total=None, cap=500))
    assert len(result.listings) == 500
    assert result.spider.coverage_reason is CoverageReason.CAPPED


def test_an_error_in_the_middle_is_partial() -> None:
    pages = shop(600, total=600)
    result = run({**pages, "/products.json?limit=250&page=2": Page(b"", 500)})
    assert len(result.listings) == 250
    assert result.spider.coverage_reason is CoverageReason.PARTIAL
    assert "HTTP 500" in result.spider.coverage_detail


def test_a_lying_total_with_one_page_is_walked_to_its_end() -> None:
    result = run(shop(10, total=8))
    assert len(result.listings) == 10
    assert result.spider.coverage_reason is CoverageReason.EXHAUSTED


def test_the_currency_of_a_product_settles_a_contradiction() -> None:
    answers = {
        **shop(3, total=3),
        "/meta.json": answer({"currency": "EUR", "published_products_count": 3}),
        "/products/thing-1.json": answer(
            {"product": {"id": 1, "variants": [{"id": 10, "price": "1.00", "price_currency": "GBP"}]}}
        ),
    }  # fmt: skip
    result = run(answers, currency="GBP")
    assert result.spider.market.currency == "GBP"
    assert len(result.listings) == 3


def test_without_any_currency_the_walk_goes_on_and_says_so() -> None:
    answers = {**shop(3, total=3), "/meta.json": Page(b"no", 404)}
    result = crawl("shopify", {k: v for k, v in ROW.items() if k != "currency"}, answers)
    assert len(result.listings) == 3
    assert result.spider.market.currency is None
    assert any("held back" in note for note in result.spider.notes)


def test_a_locale_folder_is_kept() -> None:
    answers = {path.replace("/", "/en-gb/", 1): page for path, page in shop(2, total=2).items()}
    result = run(answers, base_url="http://shop.test/en-gb")
    assert result.listings[0].url.endswith("/en-gb/products/thing-1")


# --- the reader alone ---------------------------------------------------------------------------


def test_js_amounts_are_times_one_hundred_for_every_currency() -> None:
    data = {"id": 7, "title": "Print", "handle": "print", "price": 4995, "available": True,
            "variants": [{"id": 71, "price": 4995, "compare_at_price": 6000, "available": True}]}  # fmt: skip
    (listing,) = read_feed(data, url="https://shop.test/products/print.js").listings
    assert [(p.kind, p.text, p.unit) for p in listing.prices] == [
        (PriceKind.SALE, "4995", PriceUnit.X100),
        (PriceKind.LIST, "6000", PriceUnit.X100),
    ]


def test_the_variant_asked_for_is_named() -> None:
    data = {
        "product": {
            "id": 3,
            "title": "Tee",
            "variants": [{"id": 31, "price": "20.00"}, {"id": 32, "price": "24.00"}],
        }
    }
    feed = read_feed(data, url="https://shop.test/products/tee.json?variant=32")
    assert feed.asked_for == "32"
    assert [listing.source_sku for listing in feed.listings] == ["31", "32"]


@pytest.mark.parametrize("before", [None, "", "0.00", "20.00", "19.99", "n/a"])
def test_what_is_no_discount(before: str | None) -> None:
    data = {"product": {"id": 3, "variants": [{"id": 31, "price": "20.00", "compare_at_price": before}]}}
    (listing,) = read_feed(data, url="https://shop.test/products/tee.json").listings
    assert [price.kind for price in listing.prices] == [PriceKind.STANDARD]


@pytest.mark.parametrize(
    "data", [None, [], "text", 7, {}, {"errors": "x"}, {"products": None}, {"product": []}]
)
def test_what_is_no_feed_is_an_error_and_incomplete(data: object) -> None:
    feed = read_feed(data, url="https://shop.test/products.json")
    assert feed.error
    assert not feed.complete
    assert not feed.listings


@pytest.mark.parametrize(
    "product",
    [{"id": 1, "variants": None}, {"id": 1, "variants": "x"}, {"id": 1, "variants": [None, 3]},
     {"id": 1, "options": "x", "tags": 4, "images": ["x"], "variants": [{"id": 2, "price": "NaN"}]}],
)  # fmt: skip
def test_odd_products_are_skips_and_never_exceptions(product: dict[str, Any]) -> None:
    feed = read_feed({"products": [product, "x", {}]}, url="https://shop.test/products.json")
    assert not feed.listings
    assert {entry.reason for entry in feed.skipped} <= {
        SkipReason.NO_OFFER, SkipReason.NO_PRICE, SkipReason.NO_IDENTITY,
    }  # fmt: skip
    assert len(feed.skipped) == 3


def test_meta_and_addresses() -> None:
    assert read_meta({"currency": "EUR", "published_products_count": True}).published_products is None
    assert read_meta("x").currency is None
    assert is_feed_url("https://shop.test/en/collections/a/products.json?page=2")
    assert is_feed_url("https://shop.test/products/tee.js")
    assert not is_feed_url("https://shop.test/wp-json/wc/store/v1/products")
