"""A source that is switched off stops within seconds, whatever its pace is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

import pytest
from sqlalchemy import Engine, insert

from pricecrawl.db import tables
from pricecrawl.db.crawl import CrawlStore
from tests.crawl.test_commands import until
from tests.crawl.whole import Done, FeedShop, crawl, everything, products, row


def disable(db: Engine) -> None:
    CrawlStore(db).set_enabled("kettles", False, by="olga", reason="the shop asked", now=datetime.now(UTC))


def hold(db: Engine) -> None:
    values = {"scope": "everything", "reason": "fire", "set_by": "olga", "set_at": datetime.now(UTC)}
    with db.begin() as conn:
        conn.execute(insert(tables.hold).values(values))


@pytest.mark.parametrize("pull", [disable, hold])
@pytest.mark.parametrize("robots_delay", ["0", "60"])
def test_a_running_crawl_stops(db: Engine, pull: Callable[[Engine], None], robots_delay: str) -> None:
    shop = FeedShop(
        products(20_000), robots=f"User-agent: *\nCrawl-delay: {robots_delay}\n", delay=0.05, counts=False
    )

    async def story() -> tuple[Done, float]:
        async with shop:
            crawling = asyncio.create_task(crawl(row(shop)))
            await until(lambda: bool(shop.log))
            await asyncio.sleep(0.5)
            pulled = monotonic()
            pull(db)
            done = await asyncio.wait_for(crawling, 30)
            return done, monotonic() - pulled

    done, seconds = asyncio.run(story())
    # A second for the next heartbeat, and whatever a busy machine adds; the pace would be a minute.
    assert seconds < 8
    assert done.exit_code == 1
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.coverage) == ("held", "partial")
    assert "kill switch" in run.detail


def test_a_source_that_is_off_does_not_start(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(3)) as shop:
            await crawl(row(shop))
            disable(db)
            asked = len(shop.log)
            done = await crawl(row(shop))
            assert (done.exit_code, done.reason) == (3, "refused_to_start")
            assert len(shop.log) == asked

    asyncio.run(story())
    assert len(everything(db, tables.run)) == 1


def test_one_source_is_not_crawled_twice_at_once(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(2000), delay=0.1) as shop:
            first = asyncio.create_task(crawl(row(shop)))
            await asyncio.sleep(0.5)
            second = await crawl(row(shop))
            other = await crawl(row(shop, "same-host"))
            assert (second.exit_code, second.reason) == (1, "refused_to_start")
            assert (other.exit_code, other.reason) == (1, "refused_to_start")
            assert (await first).exit_code == 0

    asyncio.run(story())
    assert [run.outcome for run in everything(db, tables.run)] == ["finished"]
