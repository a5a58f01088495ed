"""How fast a shop is asked: the slowest of robots, the row and ourselves, and never in a burst."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import pairwise
from statistics import median
from time import monotonic

import pytest
from aiohttp import web
from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response
from sqlalchemy import Engine

from pricecrawl.cli.crawl_process import project_settings
from pricecrawl.db import tables
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.middlewares.pace import PacedDownloader, host_of, pause, set_pace
from pricecrawl.sources.model import Source
from pricecrawl.spiders.base import PlatformSpider
from tests.crawl.whole import IN_PROCESS, Done, FeedShop, crawl, crawler_of, everything, products, row, run
from tests.shared import thorough


def gaps(shop: FeedShop) -> list[float]:
    """Seconds between requests as the shop saw them."""
    return [later.at - earlier.at for earlier, later in pairwise(shop.log)]


def crawl_shop(shop: FeedShop, **more: object) -> Done:
    async def story() -> Done:
        async with shop:
            return await crawl(row(shop, **more))

    return asyncio.run(story())


# Two clocks, one process: the shop's reading may be off by the time that a log entry takes.
SLACK = 0.005


@pytest.mark.parametrize(
    ("robots_delay", "row_delay", "slowest"), [("0.6", 0.3, 0.6), ("0.2", 0.5, 0.5), (None, 0.4, 0.4)]
)
def test_the_slowest_wins_from_the_robots_file_on(
    db: Engine, robots_delay: str | None, row_delay: float, slowest: float
) -> None:
    lines = "User-agent: *\n" + (f"Crawl-delay: {robots_delay}\n" if robots_delay else "Disallow: /x\n")
    shop = FeedShop(products(600), robots=lines, counts=False)
    crawl_shop(shop, delay_seconds=row_delay)
    assert len(shop.log) >= 5
    assert min(gaps(shop)) >= slowest - SLACK
    assert median(gaps(shop)) < 2 * slowest + 0.5
    (finished,) = everything(db, tables.run)
    assert finished.counts["delay_seconds"] == slowest


def test_two_crawls_of_one_host_keep_the_distance(db: Engine) -> None:
    """The next run waits out the pace of the one before, before its very first request."""
    shop = FeedShop(products(3), robots="User-agent: *\nCrawl-delay: 0.8\n")

    async def story() -> None:
        async with shop:
            await crawl(row(shop, "kettles"))
            await crawl(row(shop, "kettles-again"))

    asyncio.run(story())
    assert shop.paths.count("/robots.txt") == 2
    assert min(gaps(shop)) >= 0.8 - SLACK


def test_the_pace_survives_a_slot_that_was_thrown_away(db: Engine) -> None:
    """Scrapy forgets a host that was idle for a minute, and with it a delay set on its slot alone."""
    shop = FeedShop(products(3), robots="User-agent: *\nCrawl-delay: 0.5\n")

    async def story() -> tuple[Slot, Slot]:
        async with shop:
            crawler = crawler_of(row(shop))
            found: list[Slot] = []

            def forget(request: object) -> None:
                downloader = crawler.engine.downloader
                found.append(downloader.slots["127.0.0.1"])
                if len(found) == 2:
                    del downloader.slots["127.0.0.1"]

            from scrapy import signals

            crawler.signals.connect(forget, signals.response_received)
            await run(crawler)
            return found[0], found[-1]

    first, last = asyncio.run(story())
    assert first is not last
    assert (last.delay, last.concurrency, last.jitter) == (0.5, 1, 0.0)


@pytest.mark.parametrize("waits", ["1", None])
def test_a_shop_that_says_too_fast_is_waited_for(db: Engine, waits: str | None) -> None:
    shop = FeedShop(products(3))
    answers = iter([429, 200])

    def meta(request: web.Request) -> web.Response:
        if next(answers) == 429:
            return web.Response(status=429, headers={"Retry-After": waits} if waits else {})
        return web.json_response({"currency": "EUR", "published_products_count": 3})

    shop.special["/meta.json"] = meta
    done = crawl_shop(shop)
    assert done.exit_code == 0
    assert shop.paths == ["/robots.txt", "/meta.json", "/meta.json", "/products.json?limit=250&page=1"]
    assert gaps(shop)[1] >= 1.0 - SLACK
    assert gaps(shop)[2] >= 1.0 - SLACK, "and it stays slower"


def test_a_shop_that_asks_for_an_hour_is_left_alone(db: Engine) -> None:
    shop = FeedShop(products(3))
    shop.special["/meta.json"] = lambda request: web.Response(status=503, headers={"Retry-After": "3600"})
    done = crawl_shop(shop)
    assert done.exit_code == 1
    assert shop.paths == ["/robots.txt", "/meta.json"]
    (finished,) = everything(db, tables.run)
    assert finished.outcome == "unavailable"
    assert "3600" in finished.detail


def test_a_public_host_never_gets_less_than_our_floor(db: Engine) -> None:
    crawler = crawler_of(
        {**row(FeedShop(origin="http://127.0.0.1:1")), "base_url": "https://shop.example.com/"}
    )
    crawler.spider = crawler.spidercls.from_crawler(crawler)
    crawler._apply_settings()
    current: CurrentRun = current_run(crawler)
    assert current.own_delay("shop.example.com") == 1.0
    assert current.own_delay("127.0.0.1") == 0.0
    current.close()


def test_a_pace_only_gets_slower_and_a_pause_holds_what_waits() -> None:
    async def story() -> None:
        crawler = crawler_of(row(FeedShop(origin="http://127.0.0.1:1")))
        crawler.spider = crawler.spidercls.from_crawler(crawler)
        crawler._apply_settings()
        downloader = PacedDownloader(crawler)
        assert set_pace(downloader, "shop", 2.0) == 2.0
        assert set_pace(downloader, "shop", 1.0) == 2.0
        assert set_pace(downloader, "shop", 3.0) == 3.0
        assert downloader.per_slot_settings["shop"] == {"delay": 3.0, "concurrency": 1, "jitter": 0.0}
        slot = downloader.slots["shop"] = Slot(1, 3.0, 0.0)
        pause(downloader, "shop", 10.0)
        assert slot.lastseen + slot.delay == pytest.approx(monotonic() + 10.0, abs=0.1)
        pause(downloader, "shop", 1.0)
        assert slot.lastseen + slot.delay == pytest.approx(monotonic() + 10.0, abs=0.1)
        downloader.close()
        await downloader.handlers._close()
        current_run(crawler).close()

    asyncio.run(story())


def test_hosts_of_one_shop_share_a_pace() -> None:
    assert {host_of(url) for url in ("https://www.Shop.example/x", "http://shop.example:8080/")} == {
        "shop.example"
    }


class Pausing(PlatformSpider[Source]):
    """Asks for a chain of pages, and thinks about the second for a while before it goes on."""

    platform = "pausing"
    idle = 0.0

    def first_requests(self) -> Iterable[Request]:
        yield self.get(self.source.url("1"), self.parse_page)

    async def parse_page(self, response: Response) -> AsyncIterator[Request]:
        number = int(response.url.rpartition("/")[2])
        if number == 2:
            await asyncio.sleep(self.idle)
        if number < 5:
            yield self.get(self.source.url(str(number + 1)), self.parse_page)


def test_robots_two_seconds_and_rows_of_one_make_two_seconds(db: Engine) -> None:
    """Twelve requests by two sources of one host, with an idle gap in each.

    In the thorough run the first gap is 70 s, after which Scrapy has thrown the host's slot away.
    """
    shop = FeedShop(robots="User-agent: *\nCrawl-delay: 2\n")
    text = "<h1>A page</h1><p>" + "With enough words to be one. " * 9 + "</p>"
    shop.special["*"] = lambda request: web.Response(text=text, content_type="text/html")
    idle = 70.0 if thorough() else 4.0

    async def story() -> list[Done]:
        done = []
        async with shop:
            for slug, gap in (("kettles", idle), ("kettles-too", 4.0)):
                Pausing.idle = gap
                kind = Pausing.bound(Source.model_validate(row(shop, slug, delay_seconds=1.0)))
                runner = AsyncCrawlerRunner(project_settings(IN_PROCESS))
                done.append(await run(runner.create_crawler(kind)))
        return done

    assert [done.exit_code for done in asyncio.run(story())] == [0, 0]
    assert shop.paths == ["/robots.txt", "/1", "/2", "/3", "/4", "/5"] * 2
    assert min(gaps(shop)) >= 2.0 - SLACK
    assert max(gaps(shop)) >= idle - SLACK
