"""A product's own page that is gone: counted per listing, three in a row, and back when it comes back."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from tests.crawl.whole import FeedShop, crawl, everything, moved, row


def page(number: int) -> web.Response:
    """A small product page."""
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": f"Kettle {number}",
        "sku": f"K-{number}",
        "offers": {
            "@type": "Offer",
            "price": f"{20 + number}.00",
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }
    return web.Response(
        content_type="text/html",
        text=f"<!DOCTYPE html><html><head><title>Kettle {number}</title>"
        f'<script type="application/ld+json">{json.dumps(data)}</script></head><body><main>'
        f"<h1>Kettle {number}</h1><p>{20 + number},00 €</p><button>In den Warenkorb</button></main>"
        "</body></html>",
    )


@pytest.mark.parametrize("how", ["404", "410", "soft", "home"])
def test_three_answers_in_a_row_make_it_not_available(db: Engine, how: str) -> None:
    def gone(request: web.Request) -> web.Response:
        if how == "home":
            return moved("/")
        if how == "soft":
            text = "<html><head><title>Seite nicht gefunden</title></head><body><h1>Hoppla</h1></body></html>"
            return web.Response(text=text, content_type="text/html")
        return web.Response(status=int(how), text="gone")

    def standing() -> tuple[int, str]:
        items = {item.source_sku: item for item in everything(db, tables.listing)}
        assert items["K-1"].availability == "in_stock"
        return items["K-2"].gone_streak, items["K-2"].availability

    async def story() -> None:
        async with FeedShop() as shop:
            shop.special["/p/1"] = lambda request: page(1)
            shop.special["/p/2"] = lambda request: page(2)
            shop.special["/"] = lambda request: web.Response(
                text="<html><head><title>Kettles</title></head><body>Welcome</body></html>",
                content_type="text/html",
            )
            here = row(shop, product_urls=["/p/1", "/p/2"])
            assert (await crawl(here, "retailer")).stats["pricecrawl/listings"] == 2
            shop.special["/p/2"] = gone
            seen = []
            for _ in range(3):
                done = await crawl(here, "retailer")
                assert (done.exit_code, done.stats["pricecrawl/gone"]) == (0, 1)
                seen.append(standing())
            assert seen == [(1, "in_stock"), (2, "in_stock"), (3, "not_available")]
            shop.special["/p/2"] = lambda request: page(2)
            await crawl(here, "retailer")
            assert standing() == (0, "in_stock")

    asyncio.run(story())
    skips = {skip.reason for skip in everything(db, tables.skip_count)}
    assert skips == {"page_gone"}
    assert [event.event_type for event in everything(db, tables.audit_event)].count("listing.gone") == 1


def test_an_outage_is_no_answer(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop() as shop:
            for number in (1, 2):
                shop.special[f"/p/{number}"] = lambda request, number=number: page(number)
            here = row(shop, product_urls=["/p/1", "/p/2"])
            await crawl(here, "retailer")
            shop.special["/p/2"] = lambda request: web.Response(status=500)
            done = await crawl(here, "retailer")
            assert done.stats["pricecrawl/outages/http_500"] == 1
            assert shop.paths.count("/p/2") == 4, "asked three times in all"

    asyncio.run(story())
    assert {item.gone_streak for item in everything(db, tables.listing)} == {0}


def test_a_shop_that_is_down_is_left_alone(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop() as shop:
            shop.special["*"] = lambda request: web.Response(status=500)
            here = row(shop, product_urls=[f"/p/{number}" for number in range(200)])
            done = await crawl(here, "retailer", RETRY_TIMES=0)
            assert done.exit_code == 1
            assert len(shop.log) < 30

    asyncio.run(story())
    (run,) = everything(db, tables.run)
    assert run.outcome == "unavailable"
    assert "10 pages in a row" in run.detail
