"""Every answer a robots.txt can give, and what the run does with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiohttp import web
from scrapy import Request, signals
from sqlalchemy import Engine

from pricecrawl.db import tables
from tests.crawl.whole import Done, FeedShop, crawl, crawler_of, everything, moved, products, row, run


def crawl_shop(shop: FeedShop, **more: object) -> Done:
    async def story() -> Done:
        async with shop:
            return await crawl(row(shop, **more))

    return asyncio.run(story())


def last_run(db: Engine) -> object:
    return everything(db, tables.run)[-1]


@pytest.mark.parametrize(
    ("status", "outcome", "code"),
    [
        (404, "finished", 0),
        (410, "finished", 0),
        (400, "finished", 0),
        (401, "blocked", 3),
        (403, "blocked", 3),
        (429, "unavailable", 1),
        (500, "unavailable", 1),
        (503, "unavailable", 1),
    ],
)
def test_the_status_of_robots_decides_the_run(db: Engine, status: int, outcome: str, code: int) -> None:
    shop = FeedShop(products(3), robots="no such thing", robots_status=status)
    done = crawl_shop(shop)
    assert done.exit_code == code
    assert everything(db, tables.run)[-1].outcome == outcome
    if code:
        assert shop.paths == ["/robots.txt"], "not one page after a no, and no second try"
    else:
        assert len(done.items) == 3


def test_a_dead_shop_is_unavailable(db: Engine) -> None:
    async def story() -> Done:
        async with FeedShop(products(3)) as shop:
            dead = row(shop)
        return await crawl(dead)

    done = asyncio.run(story())
    assert done.exit_code == 1
    assert everything(db, tables.run)[-1].outcome == "unavailable"


def test_a_refused_robots_file_is_told_and_kept(db: Engine) -> None:
    crawl_shop(FeedShop(products(3), robots="go away", robots_status=403))
    (finished,) = everything(db, tables.run)
    assert "robots.txt answered 403" in finished.detail
    assert finished.counts["refusals/robots_forbidden"] == 1
    (kept,) = everything(db, tables.evidence)
    assert (kept.kind, kept.status) == ("robots", 403)


def test_any_matching_disallow_binds_whatever_an_allow_says(db: Engine) -> None:
    shop = FeedShop(products(3), robots="User-agent: *\nDisallow: /products\nAllow: /products.json\n")
    done = crawl_shop(shop)
    assert shop.paths == ["/robots.txt", "/meta.json"]
    assert (done.exit_code, done.items) == (0, [])
    (finished,) = everything(db, tables.run)
    assert (finished.outcome, finished.coverage) == ("finished", "partial")
    assert finished.counts["refusals/robots_disallowed"] == 1
    assert {skip.reason: skip.count for skip in everything(db, tables.skip_count)} == {"robots_path": 1}


def test_the_check_runs_again_on_a_redirect(db: Engine) -> None:
    shop = FeedShop(products(3), robots="User-agent: *\nDisallow: /hidden\n")
    shop.special["/products.json"] = lambda request: moved("/hidden/products.json")
    crawl_shop(shop)
    assert not [path for path in shop.paths if path.startswith("/hidden")]
    assert everything(db, tables.run)[-1].coverage == "partial"


def test_a_redirected_robots_file_is_followed_and_a_log_in_is_a_refusal(db: Engine) -> None:
    shop = FeedShop(products(3))
    shop.special["/robots.txt"] = lambda request: moved("/static/robots.txt")
    shop.special["/static/robots.txt"] = lambda request: web.Response(text="User-agent: *\nDisallow: /\n")
    crawl_shop(shop)
    assert shop.paths == ["/robots.txt", "/static/robots.txt"]

    shop = FeedShop(products(3))
    shop.special["/robots.txt"] = lambda request: moved("/account/login")
    assert crawl_shop(shop).exit_code == 3
    assert shop.paths == ["/robots.txt", "/account/login"]


def test_endless_redirects_are_unavailable_after_five(db: Engine) -> None:
    shop = FeedShop(products(3))
    shop.special["/robots.txt"] = lambda request: moved("/robots.txt?again")
    assert crawl_shop(shop).exit_code == 1
    assert len(shop.paths) == 6


def test_robots_is_read_once_per_run_and_before_anything_else(db: Engine) -> None:
    shop = FeedShop(products(600))
    crawl_shop(shop)
    assert shop.paths[0] == "/robots.txt"
    assert shop.paths.count("/robots.txt") == 1


def _meta_of_a_cheat(request: Request) -> None:
    request.meta.update(
        dont_obey_robotstxt=True,
        robots_fetch=True,
        dont_redirect=True,
        handle_httpstatus_all=True,
        download_slot="somewhere else",
        pricecrawl_own=True,
    )


def test_no_meta_key_and_no_setting_lifts_it(db: Engine) -> None:
    shop = FeedShop(products(3), robots="User-agent: PricecrawlBot\nDisallow: /products\n")

    async def story() -> Done:
        async with shop:
            crawler = crawler_of(row(shop), ROBOTSTXT_OBEY=False, DOWNLOAD_DELAY=0)
            cheat: Callable[[Request], None] = _meta_of_a_cheat
            crawler.signals.connect(cheat, signals.request_scheduled)
            return await run(crawler)

    asyncio.run(story())
    assert shop.paths == ["/robots.txt", "/meta.json"]
