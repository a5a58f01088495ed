"""From a shop's answer to the database: listings, evidence, history, rejections, misses."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.store import EvidenceStore
from tests.crawl.whole import FeedShop, crawl, everything, product, products, row


def test_listings_prices_and_evidence_arrive(both: Engine, home: Path) -> None:
    async def story() -> None:
        async with FeedShop(products(300)) as shop:
            done = await crawl(row(shop))
        assert (done.reason, done.exit_code) == ("finished", 0)
        assert len(done.items) == 300

    asyncio.run(story())
    (run,) = everything(both, tables.run)
    assert (run.outcome, run.coverage, run.coverage_reason) == ("finished", "complete", "counted")
    assert (run.listings, run.pages, run.expected_total) == (300, 3, 300)
    listings = everything(both, tables.listing)
    assert {item.source_sku: item.price for item in listings} == {
        str(1_000_000 + number): Decimal(10 + number) for number in range(1, 301)
    }
    assert {item.currency for item in listings} == {"EUR"}
    assert {item.availability for item in listings} == {"in_stock"}
    assert len(everything(both, tables.observation)) == 300
    assert len(everything(both, tables.price_history)) == 300

    # Two feed pages and the robots file: each response once, whatever it gave.
    stored = everything(both, tables.evidence)
    assert sorted(record.kind for record in stored) == ["page", "page", "robots"]
    keeper = EvidenceStore(str(home / "evidence"))
    for record in stored:
        assert keeper.verify(
            EvidenceRef(
                record.digest, record.warc, record.offset, record.length, record.url, record.fetched_at
            )
        )
    robots = next(record for record in stored if record.kind == "robots")
    assert (run.robots_digest, run.robots_read_at is not None) == (robots.digest, True)
    by_id = {record.id: record for record in stored}
    assert {by_id[item.evidence_id].kind for item in everything(both, tables.observation)} == {"page"}


def test_only_changes_make_history(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(40)) as shop:
            await crawl(row(shop))
            await crawl(row(shop))
            for number in (0, 3, 5, 7, 11, 19, 23):
                shop.products[number] = product(number + 1, f"{9 + number}.00")
            shop.products[30] = product(31, "41.00", available=False)
            done = await crawl(row(shop))
        assert done.stats["pricecrawl/price_changes"] == 7
        assert done.stats["pricecrawl/stock_changes"] == 1

    asyncio.run(story())
    assert len(everything(db, tables.observation)) == 120
    assert len(everything(db, tables.price_history)) == 47
    assert len(everything(db, tables.stock_history)) == 41


def test_what_cannot_be_understood_is_a_rejection_with_its_evidence(db: Engine) -> None:
    odd = product(2)
    odd["title"] = ""

    async def story() -> None:
        async with FeedShop([product(1), odd, product(3, "free")]) as shop:
            done = await crawl(row(shop))
        assert len(done.items) == 1
        assert done.exit_code == 0

    asyncio.run(story())
    rejected = everything(db, tables.rejection)
    skipped = everything(db, tables.skip_count)
    assert len(rejected) + sum(item.count for item in skipped) == 2
    assert all(item.reason and item.evidence_id for item in rejected)
    (run,) = everything(db, tables.run)
    assert (run.listings, run.rejections) == (1, len(rejected))


def test_three_complete_runs_without_it_and_no_other_run_make_a_listing_out_of_stock(both: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(20)) as shop:
            await crawl(row(shop))
            gone, shop.products = shop.products[:5], shop.products[5:]
            assert misses() == {0}
            await crawl(row(shop))
            await crawl(row(shop))
            assert misses() == {0, 2}
            await no_counter_moves(shop)
            assert set(stock()) == {"in_stock"}
            done = await crawl(row(shop))
            assert done.stats["pricecrawl/missing"] == 5
            assert sorted(stock()) == ["in_stock"] * 15 + ["out_of_stock"] * 5
            shop.products = gone + shop.products
            await crawl(row(shop))
            assert misses() == {0}
            assert set(stock()) == {"in_stock"}

    async def no_counter_moves(shop: FeedShop) -> None:
        """Refused, unavailable, capped and shrunken runs, one after the other."""
        shop.robots_status = 403
        assert (await crawl(row(shop))).exit_code == 3
        shop.robots_status = 503
        assert (await crawl(row(shop))).exit_code == 1
        shop.robots_status = 200
        assert (await crawl(row(shop), CLOSESPIDER_ITEMCOUNT=3)).exit_code == 0
        kept, shop.products = shop.products, shop.products[:3]
        assert (await crawl(row(shop))).exit_code == 0
        shop.products = kept
        shop.special["/products.json"] = lambda request: web.Response(text="{not json")
        await crawl(row(shop))
        shop.special.clear()
        assert misses() == {0, 2}

    def misses() -> set[int]:
        return {item.consecutive_misses for item in everything(both, tables.listing)}

    def stock() -> list[str]:
        return [item.availability for item in everything(both, tables.listing)]

    asyncio.run(story())
    assert [(run.outcome, run.coverage_reason) for run in everything(both, tables.run)] == [
        ("finished", "counted"),
        ("finished", "counted"),
        ("finished", "counted"),
        ("blocked", "refused"),
        ("unavailable", "partial"),
        ("finished", "capped"),
        ("finished", "shrunk"),
        ("finished", "partial"),
        ("finished", "counted"),
        ("finished", "counted"),
    ]


def test_the_rows_expectation_is_recorded_and_told(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(5)) as shop:
            done = await crawl(row(shop, expect={"min_listings": 6}))
            assert done.exit_code == 4
            done = await crawl(row(shop, expect={"min_listings": 5}))
            assert done.exit_code == 0

    asyncio.run(story())
    runs = everything(db, tables.run)
    assert [run.expectations_met for run in runs] == [False, True]
    assert [run.coverage_reason for run in runs] == ["shrunk", "counted"]


def test_a_run_leaves_its_events_and_when_it_is_due_again(db: Engine) -> None:
    async def story() -> None:
        async with FeedShop(products(2)) as shop:
            await crawl(row(shop))
            shop.robots = "User-agent: *\nDisallow: /checkout\n"
            await crawl(row(shop))
            shop.special["/products.json"] = lambda request: web.Response(status=403, text="no")
            await crawl(row(shop))

    asyncio.run(story())
    told = [event.event_type for event in everything(db, tables.audit_event)]
    good = ["collection.requested", "offer.extracted", "offer.normalized", "observation.created"]
    assert told == [
        *good, "collection.finished",
        *good, "collection.finished", "robots.changed",
        "collection.requested", "collection.finished", "source.refused",
    ]  # fmt: skip
    (source,) = everything(db, tables.source)
    last = everything(db, tables.run)[-1]
    assert (source.next_due - last.started_at).total_seconds() == 3600
