"""Shops of any software that misbehave: paging, sitemaps, windows and ids."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError
from scrapy import Request
from scrapy.http import TextResponse
from twisted.python.failure import Failure

from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.middlewares.verdicts import Forbidden, OffLimits, RunEnded
from pricecrawl.spiders.retailer import WINDOW, RetailerSource, RetailerSpider
from tests.spiders.harness import Answer, Crawl, Page, crawl

ROW: dict[str, Any] = {"slug": "deli", "retailer": "Deli", "base_url": "http://shop.test/", "country": "GB"}
CARDS = {"product_link": "a.card"}


def product(name: str, price: str = "1.00", sku: str = "") -> Page:
    data = {"@type": "Product", "name": name, "offers": {"price": price, "priceCurrency": "GBP"}}
    data |= {"sku": sku} if sku else {}
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return Page(f"<html><head>{script}</head><body><h1>{name}</h1></body></html>".encode())


def shelf(*slugs: str, more: str = "") -> Page:
    cards = "".join(f"<a class=card href=/{s}>{s}</a>" for s in slugs)
    return Page(f"<html><body>{cards}{more}</body></html>".encode())


def goods(*slugs: str) -> dict[str, Answer]:
    return {f"/{slug}": product(slug) for slug in slugs}


def run(answers: Mapping[str, Answer], **row: Any) -> Crawl:
    return crawl("retailer", {**ROW, **row}, answers)


def test_a_next_that_points_at_itself_ends_the_walk() -> None:
    answers = {
        "/all?p=1": shelf("a", more="<a rel=next href='?p=2'>"),
        "/all?p=2": shelf("b", more="<a rel=next href='?p=2'>"),
        **goods("a", "b"),
    }  # fmt: skip
    result = run(answers, listings=["all?p=1"], next_page="a[rel=next]", **CARDS)
    assert {listing.name for listing in result.listings} == {"a", "b"}
    assert result.spider.coverage_reason is CoverageReason.EXHAUSTED
    assert result.log.count("/all?p=2") == 1


def test_pages_that_go_round_end_the_walk() -> None:
    answers = {
        "/all": shelf("a", more="<a rel=next href='/all?p=2'>"),
        "/all?p=2": shelf("b", more="<a rel=next href='/all'>"),
        **goods("a", "b"),
    }  # fmt: skip
    result = run(answers, listings=["all"], next_page="a[rel=next]", **CARDS)
    assert {listing.name for listing in result.listings} == {"a", "b"}
    assert result.spider.coverage_reason is CoverageReason.EXHAUSTED
    assert result.log.count("/all") == 1


def paged(request: web.Request) -> Page:
    """Three pages of two, counted in products; beyond the last the last page is served again."""
    start = min(int(request.query.get("start", 0)), 4)
    return shelf(*(f"p{n}" for n in range(start, start + 2)))


def test_pages_counted_in_products_and_repeated_at_the_end() -> None:
    answers = {"/all": paged, **goods(*(f"p{n}" for n in range(6)))}
    result = run(answers, listings=["all"], page_param="start", first_page=0, page_step=2, **CARDS)
    assert len(result.listings) == 6
    assert result.spider.coverage_reason is CoverageReason.EXHAUSTED
    assert [line for line in result.log if line.startswith("/all")] == [
        "/all", "/all?start=2", "/all?start=4", "/all?start=6",
    ]  # fmt: skip


def test_a_limit_on_pages_is_capped() -> None:
    answers = {"/all": paged, **goods(*(f"p{n}" for n in range(6)))}
    result = run(
        answers, listings=["all"], page_param="start", first_page=0, page_step=2, max_pages=2, **CARDS
    )
    assert len(result.listings) == 4
    assert result.spider.coverage_reason is CoverageReason.CAPPED


@pytest.mark.parametrize(
    ("total", "reason"),
    [
        ("2 products", CoverageReason.COUNTED),
        ("1,002 products", CoverageReason.PARTIAL),
        ("none", CoverageReason.EXHAUSTED),
    ],
)
def test_the_shops_own_count(total: str, reason: CoverageReason) -> None:
    answers = {"/all": shelf("a", "b", more=f"<p class=n>{total}</p>"), **goods("a", "b")}
    result = run(answers, listings=["all"], total=".n", **CARDS)
    assert result.spider.coverage_reason is reason


def test_a_product_in_two_listings_is_read_once() -> None:
    answers = {"/red": shelf("a", "b"), "/white": shelf("b", "c"), **goods("a", "b", "c")}
    result = run(answers, listings=["red", "white"], **CARDS)
    assert sorted(listing.name for listing in result.listings) == ["a", "b", "c"]
    assert result.log.count("/b") == 1
    assert result.spider.coverage_reason is CoverageReason.EXHAUSTED


def test_a_failed_product_makes_the_run_partial_and_a_gone_one_does_not() -> None:
    answers = {"/all": shelf("a", "b"), "/a": product("a"), "/b": Page(b"", 410)}
    assert run(answers, listings=["all"], **CARDS).spider.coverage_reason is CoverageReason.EXHAUSTED
    broken = run({**answers, "/b": Page(b"", 500)}, listings=["all"], **CARDS)
    assert broken.spider.coverage_reason is CoverageReason.PARTIAL
    assert len(broken.listings) == 1


def sitemap(*paths: str) -> bytes:
    rows = "".join(f"<url><loc>http://shop.test/{path}</loc></url>" for path in paths)
    return f"<urlset>{rows}</urlset>".encode()


def test_a_large_sitemap_is_read_through_a_small_window() -> None:
    slugs = [f"p{n}" for n in range(5 * WINDOW + 7)]
    answers = {"/sitemap.xml": Page(sitemap(*slugs)), **goods(*slugs)}
    result = run(answers, sitemaps=["sitemap.xml"])
    assert len(result.listings) == len(slugs)
    assert (result.spider.coverage_reason, result.spider.expected_total) == (
        CoverageReason.COUNTED,
        len(slugs),
    )
    # Never more than a window of requests waits: nothing far beyond what was answered is asked for.
    asked = [int(line.removeprefix("/p")) for line in result.log[1:]]
    assert all(number <= place + WINDOW for place, number in enumerate(asked))


def test_gzip_nesting_and_foreign_addresses_of_sitemaps() -> None:
    index = "<sitemapindex>{}</sitemapindex>"
    one = index.format(
        "".join(f"<sitemap><loc>http://shop.test/{n}</loc></sitemap>" for n in ("a.xml.gz", "two.xml"))
    )
    loop = index.format(
        "<sitemap><loc>http://shop.test/sitemap.xml</loc></sitemap><sitemap><loc>http://x.test/</loc></sitemap>"
    )
    result = run(
        {"/sitemap.xml": Page(one.encode()), "/a.xml.gz": Page(gzip.compress(sitemap("a", "b"))),
         "/two.xml": Page(loop.encode()), **goods("a", "b")},
        sitemaps=["sitemap.xml"],
    )  # fmt: skip
    assert len(result.listings) == 2
    assert len(result.log) <= 6


@pytest.mark.parametrize("body", [b"<html>nothing here</html>", sitemap("a")[:-3], b""])
def test_a_sitemap_that_is_none_is_partial(body: bytes) -> None:
    assert (
        run({"/sitemap.xml": Page(body)}, sitemaps=["sitemap.xml"]).spider.coverage_reason
        is CoverageReason.PARTIAL
    )


def test_a_missing_sitemap_is_partial_and_a_limit_is_capped() -> None:
    assert run({}, sitemaps=["sitemap.xml"]).spider.coverage_reason is CoverageReason.PARTIAL
    many = run(
        {"/sitemap.xml": Page(sitemap("a", "b", "c")), **goods("a", "b", "c")},
        sitemaps=["sitemap.xml"],
        max_products=2,
    )
    assert len(many.listings) == 2
    assert many.spider.coverage_reason is CoverageReason.CAPPED


def test_the_id_of_a_product() -> None:
    answers = {
        "/all": shelf("x/1", "x/2", "y/1"),
        "/x/1": product("one"),
        "/x/2": product("two", sku="S-2"),
        "/y/1": product("three"),
    }
    found = {listing.name: listing.source_sku for listing in run(answers, listings=["all"], **CARDS).listings}
    assert found == {"one": "/x/1", "two": "S-2", "three": "/y/1"}
    by_pattern = run(answers, listings=["all"], sku_pattern=r"([xy])/\d", **CARDS)
    assert sorted(listing.source_sku for listing in by_pattern.listings) == ["x", "y"]
    assert by_pattern.spider.skips[SkipReason.DUPLICATE] == 1


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({}, "product_urls"),
        ({"listings": ["all"]}, "tile"),
        ({"listings": ["all"], "product_link": "a["}, "product_link"),
        ({"sitemaps": ["s.xml"], "sitemap_include": "(?=x)"}, "sitemap_include"),
        ({"sitemaps": ["s.xml"], "sku_pattern": "["}, "sku_pattern"),
        ({"listings": ["a"], "tile": ".t", "page_param": "p&x"}, "page_param"),
    ],
)  # fmt: skip
def test_rows_that_cannot_work(row: dict[str, Any], key: str) -> None:
    with pytest.raises(ValidationError) as problem:
        RetailerSource.model_validate({**ROW, **row})
    assert key in [error["loc"][0] for error in problem.value.errors()]


def failure(error: Exception, **meta: Any) -> Failure:
    result = Failure(error)  # type: ignore[no-untyped-call]  # Twisted's
    result.request = Request("http://shop.test/p", meta=meta)  # type: ignore[attr-defined]  # as Scrapy does
    return result


def spider() -> RetailerSpider:
    row = RetailerSource.model_validate({**ROW, "sitemaps": ["s.xml"]})
    return RetailerSpider.bound(row)()


def test_a_plan_that_others_empty_meanwhile_ends_without_an_error() -> None:
    """Pages that arrive while the first requests are still going out take from the same plan."""
    first, urls = spider(), [f"http://shop.test/{n}" for n in range(5)]
    first.plan(urls)
    going_out = first.next_planned(WINDOW)
    asked = [next(going_out)]
    while one := list(first.next_planned()):
        asked += one
    assert list(going_out) == []
    assert [request.url for request in asked] == urls
    # The end of a run empties the plan while the first requests wait for room.
    second = spider()
    second.plan(urls)
    going_out = second.next_planned(WINDOW)
    next(going_out)
    list(second.failed(failure(RunEnded("disabled"))))
    assert list(going_out) == []


@pytest.mark.parametrize("count", [0, 1, 2, 7, WINDOW])
def test_a_plan_gives_what_it_is_asked_for_and_no_more(count: int) -> None:
    one = spider()
    one.plan(f"http://shop.test/{n}" for n in range(7))
    assert len(list(one.next_planned(count))) == min(count, 7)
    assert len(one.planned) == 7 - min(count, 7)


def test_a_window_of_named_products_under_way_at_once() -> None:
    slugs = [f"p{n}" for n in range(WINDOW - 1)]
    for concurrency in (1, 4, 16):
        result = crawl("retailer", {**ROW, "product_urls": slugs}, goods(*slugs),
                       settings={"CONCURRENT_REQUESTS": concurrency})  # fmt: skip
        assert result.reason == "finished"
        assert sorted(listing.name for listing in result.listings) == sorted(slugs)
        assert result.spider.coverage_reason is CoverageReason.SCOPED


def test_an_error_in_the_first_requests_makes_the_run_partial() -> None:
    one = spider()
    one.coverage(CoverageReason.COUNTED, 2)
    one.callback_failed(failure(ZeroDivisionError("oops")), None)
    assert one.coverage_reason is CoverageReason.PARTIAL
    assert "ZeroDivisionError making the first requests" in one.coverage_detail


def test_what_our_own_middlewares_say() -> None:
    forbidden, offlimits, ended = spider(), spider(), spider()
    for each in (forbidden, offlimits, ended):
        each.coverage(CoverageReason.COUNTED, 2)
        each.plan(["http://shop.test/q", "http://shop.test/r"])
    # robots.txt hides a page: it is not missing, and the plan goes on
    assert len(list(forbidden.failed(failure(Forbidden("no"))))) == 1
    assert forbidden.coverage_reason is CoverageReason.SCOPED
    assert forbidden.skips == {SkipReason.ROBOTS_PATH: 1}
    list(offlimits.failed(failure(OffLimits("no"))))
    assert offlimits.coverage_reason is CoverageReason.SCOPED
    # the run is over: nothing more is asked for
    assert list(ended.failed(failure(RunEnded("disabled")))) == []
    assert not ended.planned
    assert ended.coverage_reason is CoverageReason.PARTIAL


def test_a_redirected_product_keeps_the_address_that_was_asked_for() -> None:
    one = spider()
    page = product("Old Cheddar")
    request = Request("http://shop.test/new", meta={"redirect_urls": ["http://shop.test/old"]})
    response = TextResponse(
        "http://shop.test/new", body=page.body, headers=dict(page.headers), request=request
    )
    (listing,) = one.parse_product(response)
    assert getattr(listing, "url", "") == "http://shop.test/old"
