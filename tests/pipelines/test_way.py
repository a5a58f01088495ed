"""What the pipelines do when something goes wrong, and what they hold while they go."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from sqlalchemy import Engine

from pricecrawl.db import tables
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.evidence.store import WarcWriter
from pricecrawl.extensions.current import current_run
from pricecrawl.pipelines.persist import BATCH
from tests.crawl.whole import FeedShop, crawl, crawler_of, everything, product, products, row, run


def failing_from(call: int, original: Callable[..., Any], problem: Exception) -> Callable[..., Any]:
    """`original` until so many calls, then the problem."""
    calls = 0

    def wrapped(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= call:
            raise problem
        return original(*arguments)

    return wrapped


@pytest.mark.parametrize(
    "problem", [StorageProblem("the database x cannot grow: the disk is full."), ValueError("a bug of ours")]
)
def test_a_database_that_fails_in_mid_crawl_ends_the_run_as_an_error(
    db: Engine, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    monkeypatch.setattr(CrawlStore, "save_batch", failing_from(3, CrawlStore.save_batch, problem))

    async def story() -> None:
        async with FeedShop(products(5000)) as shop:
            done = await crawl(row(shop))
            assert done.exit_code == 1
            assert len(shop.log) < 15, "it does not go on reading what it cannot keep"

    asyncio.run(story())
    (finished,) = everything(db, tables.run)
    assert (finished.outcome, finished.coverage) == ("error", "partial")
    assert finished.detail.startswith(str(problem)[:12]) or "ValueError" in finished.detail
    # Whole batches or nothing: what is there is complete.
    stored = len(everything(db, tables.observation))
    assert stored == 2 * BATCH
    assert len(everything(db, tables.listing)) == len(everything(db, tables.price_history)) == stored
    assert finished.listings == stored


def test_a_locked_database_is_said_in_one_sentence(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from pricecrawl.db import engine as engine_module

    monkeypatch.setattr(engine_module.open_engine, "__kwdefaults__", {"busy_timeout": 0.2})
    holder = sqlite3.connect(tmp_path / "pricecrawl.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    async def story() -> None:
        async with FeedShop(products(5)) as shop:
            done = await crawl(row(shop))
            assert (done.exit_code, done.reason) == (1, "refused_to_start")
            assert shop.log == []

    asyncio.run(story())
    holder.close()
    said = [record.message for record in caplog.records if record.name == "pricecrawl.run"]
    assert len(said) == 1
    assert "locked" in said[0]


def test_evidence_that_cannot_be_written_ends_the_run_and_no_listing_passes(
    db: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = StorageProblem("/evidence cannot grow: the disk is full.")
    # The robots file is the first record, the feed's first page the second.
    monkeypatch.setattr(WarcWriter, "write", failing_from(3, WarcWriter.write, full))

    async def story() -> None:
        async with FeedShop(products(600)) as shop:
            assert (await crawl(row(shop))).exit_code == 1

    asyncio.run(story())
    (finished,) = everything(db, tables.run)
    assert (finished.outcome, finished.detail) == ("error", str(full))
    assert len(everything(db, tables.listing)) == 250
    assert all(item.evidence_id for item in everything(db, tables.observation))


def test_a_robots_file_that_cannot_be_kept_is_not_gone_by(
    db: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = StorageProblem("/evidence cannot grow: the disk is full.")
    monkeypatch.setattr(WarcWriter, "write", failing_from(1, WarcWriter.write, full))

    async def story() -> None:
        async with FeedShop(products(600)) as shop:
            assert (await crawl(row(shop))).exit_code == 1
            assert shop.paths == ["/robots.txt"]

    asyncio.run(story())
    (finished,) = everything(db, tables.run)
    assert (finished.outcome, finished.detail) == ("error", str(full))


@pytest.mark.parametrize("stage", ["normalize.normalize", "consensus.settle"])
def test_a_listing_that_trips_our_code_takes_no_neighbour_along(
    db: Engine, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    from pricecrawl.pipelines import consensus, normalize

    module = {"normalize": normalize, "consensus": consensus}[stage.partition(".")[0]]
    original = getattr(module, stage.partition(".")[2])
    calls = 0

    def tripping(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise ZeroDivisionError("a bug of ours")
        return original(*arguments, **named)

    monkeypatch.setattr(module, stage.partition(".")[2], tripping)

    async def story() -> None:
        async with FeedShop(products(100)) as shop:
            done = await crawl(row(shop))
            assert (done.exit_code, len(done.items)) == (0, 99)

    asyncio.run(story())
    assert calls == 100
    (finished,) = everything(db, tables.run)
    assert (finished.listings, finished.coverage_reason) == (99, "partial")


def test_a_slow_database_holds_the_crawl_back(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in memory does not grow with the feed."""
    from time import sleep

    original = CrawlStore.save_batch

    def slow(*arguments: Any) -> Any:
        sleep(0.15)
        return original(*arguments)

    monkeypatch.setattr(CrawlStore, "save_batch", slow)
    held: list[int] = []

    async def story() -> None:
        async with FeedShop(products(16 * BATCH)) as shop:
            crawler = crawler_of(row(shop))

            def look() -> None:
                current = current_run(crawler)
                held.append(started[0] - current.counts.observations)

            started = [0]

            def count() -> None:
                started[0] += 1
                look()

            crawler.signals.connect(count, signals.item_scraped)
            assert (await run(crawler)).exit_code == 0

    asyncio.run(story())
    assert len(held) == 16 * BATCH
    # Two batches that wait, one that is being written, and the handful that was let in before.
    assert max(held) <= 4 * BATCH


def test_a_gtin_that_elsewhere_has_another_size_is_refused(db: Engine) -> None:
    async def story() -> None:
        big = product(1, barcode="4006381333931")
        big["title"] = "Whisky 700 ml"
        async with FeedShop([big]) as shop:
            await crawl(row(shop, "first"))
        odd = product(2, barcode="4006381333931")
        odd["title"] = "Whisky miniature 50 ml"
        same = product(3, barcode="4006381333931")
        same["title"] = "Whisky 70 cl"
        async with FeedShop([odd, same]) as shop:
            await crawl(row(shop, "second"))
        async with FeedShop([big | {"title": "Whisky 1 l"}]) as shop:
            await crawl(row(shop, "third"))

    asyncio.run(story())
    assert [(item.source_sku, item.reason) for item in everything(db, tables.rejection)] == [
        ("1000002", "gtin_size_veto"),
        ("1000001", "gtin_size_veto"),
    ]
    assert {(item.source, item.source_sku) for item in everything(db, tables.listing)} == {
        ("first", "1000001"),
        ("second", "1000003"),
    }
