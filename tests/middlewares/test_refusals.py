"""A shop that says no is left alone: one request, one identity, no second try."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from tests.crawl.whole import Done, FeedShop, crawl, everything, moved, products, row

GATE = """<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>
<div id="challenge-stage"></div>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>
<noscript>Enable JavaScript and cookies to continue</noscript></body></html>"""


def crawl_shop(shop: FeedShop, **more: object) -> Done:
    async def story() -> Done:
        async with shop:
            return await crawl(row(shop, **more))

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("status", "headers", "body", "reason"),
    [
        (403, {}, "Forbidden", "http_403"),
        (401, {}, "Unauthorized", "http_401"),
        (403, {"cf-mitigated": "challenge", "server": "cloudflare"}, GATE, "challenge"),
        (503, {"server": "cloudflare"}, GATE, "challenge"),
        (200, {"Content-Type": "text/html"}, GATE, "challenge"),
        (200, {}, "", "empty_body"),
    ],
)
def test_a_gate_ends_the_run_as_blocked(
    db: Engine, status: int, headers: dict[str, str], body: str, reason: str
) -> None:
    shop = FeedShop(products(3))
    shop.special["*"] = lambda request: web.Response(status=status, body=body.encode(), headers=headers)
    done = crawl_shop(shop)
    assert done.exit_code == 3
    # The server's log is the proof: robots, one page, nothing more, and one name throughout.
    assert shop.paths == ["/robots.txt", "/meta.json"]
    assert {asked.agent for asked in shop.log} == {"PricecrawlBot/0.1.0"}
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.coverage_reason, run.listings) == ("blocked", "refused", 0)
    assert run.counts[f"refusals/{reason}"] == 1
    assert sorted(record.kind for record in everything(db, tables.evidence)) == ["refusal", "robots"]


def test_a_no_in_mid_crawl_ends_it_and_keeps_what_was_read(db: Engine) -> None:
    shop = FeedShop(products(600))
    shop.special["/products.json?limit=250&page=2"] = lambda request: web.Response(status=403, text="no")
    done = crawl_shop(shop)
    assert done.exit_code == 3
    assert shop.paths[-1] == "/products.json?limit=250&page=2"
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.listings) == ("blocked", 250)
    assert len(everything(db, tables.listing)) == 250


def test_the_name_and_nothing_personal_goes_out(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICECRAWL_CONTACT", "crawler@prices.example.org")
    shop = FeedShop(products(3))
    crawl_shop(shop)
    for asked in shop.log:
        assert asked.agent == "PricecrawlBot/0.1.0 (+crawler@prices.example.org)"
        assert asked.headers["From"] == "crawler@prices.example.org"
        assert asked.headers["Accept-Language"].startswith("de-DE")
        assert not {"Cookie", "Authorization", "Referer"} & asked.headers.keys()


def test_cookies_are_not_kept(db: Engine) -> None:
    shop = FeedShop(products(300))

    def with_cookie(request: web.Request) -> web.Response:
        response = web.json_response({"currency": "EUR", "published_products_count": 300})
        response.set_cookie("session", "abc")
        return response

    shop.special["/meta.json"] = with_cookie
    crawl_shop(shop)
    assert all("Cookie" not in asked.headers for asked in shop.log)


def test_a_public_shop_needs_a_contact(db: Engine) -> None:
    async def story() -> Done:
        async with FeedShop() as shop:
            return await crawl({**row(shop), "base_url": "https://shop.example.org/"})

    done = asyncio.run(story())
    assert (done.exit_code, done.reason) == (2, "refused_to_start")
    assert everything(db, tables.run) == []


def test_a_shop_cannot_send_us_elsewhere(db: Engine) -> None:
    """No request of ours for another host's page, and none to an address inside of a network."""
    shop = FeedShop(products(3))
    other = FeedShop(products(3))
    for target in ("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/products.json", "{other}/x"):

        async def story(target: str = target) -> None:
            async with shop, other:
                shop.special["/products.json"] = lambda request: moved(
                    target.format(other=other.origin.replace("127.0.0.1", "localhost"))
                )
                done = await crawl(row(shop))
                assert done.items == []

        asyncio.run(story())
    assert other.log == []
