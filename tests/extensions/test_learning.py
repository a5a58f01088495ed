"""The whole way round: a doubtful page, a person's word, and a next crawl that knows better."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal

from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from pricecrawl.db.learning import LearningStore
from pricecrawl.domain.candidate import Method, PriceKind, Tier
from pricecrawl.learning.statistics import LearnedSelector
from pricecrawl.workflows.candidates import confirm
from tests.crawl.fixtures import db, home
from tests.crawl.whole import FeedShop, crawl, everything, row

__all__ = ["db", "home"]

NOW = datetime.now(UTC)
LD = (
    '<script type="application/ld+json">{{"@type":"Product","name":"Kettle","sku":"K-1",'
    '"offers":{{"@type":"Offer","price":"{ld}","priceCurrency":"EUR","availability":"InStock"}}}}</script>'
)


def page(ld: str, now: str, hint: str = "") -> str:
    return (
        f"<html lang=de><head><title>Kettle</title>{LD.format(ld=ld)}</head><body><main><h1>Kettle</h1>"
        f"<div class=offer><p class=today>{now} €</p>{hint}<button name=add>In den Warenkorb</button></div>"
        "</main></body></html>"
    )


def shop_of(html: str) -> FeedShop:
    shop = FeedShop()
    shop.special["/kettle"] = lambda _: web.Response(text=html, content_type="text/html")
    return shop


def retailer(shop: FeedShop, **more: object) -> dict[str, object]:
    return row(shop, product_urls=["kettle"], rules={"price": [".today"]}, **more)


def test_a_confirmed_rule_is_learned_used_and_counted(db: Engine) -> None:
    store = LearningStore(db)

    async def story() -> None:
        async with shop_of(page("49.90", "29,90")) as shop:
            first = await crawl(retailer(shop), "retailer")
            assert first.items[0].needs_review
            (review,) = store.open_reviews()
            right = [c.selector for c in review.candidates].index(".today") + 1
            done = confirm(store, review.id, right, by="ann", reason="as shown", now=NOW)
            assert done.promoted == ".today"
            again = await crawl(retailer(shop), "retailer")
        (item,) = again.items
        assert (item.price, item.needs_review, item.method) == (Decimal("29.90"), False, "custom-css")
        by_rule = [c for c in item.candidates if c.method is Method.CUSTOM_CSS]
        assert [(c.selector, c.tier) for c in by_rule] == [(".today", Tier.LEARNED)]

    asyncio.run(story())
    (entry,) = store.selectors("kettles")[PriceKind.STANDARD]
    assert (entry.selector, entry.match_count, entry.consecutive_failures) == (".today", 2, 0)
    assert len(everything(db, tables.candidate_review)) == 1


def test_a_rule_that_stops_matching_falls_behind_one_that_matches(db: Engine) -> None:
    store = LearningStore(db)

    async def story() -> None:
        async with shop_of(page("29.90", "29,90")) as shop:
            await crawl(retailer(shop), "retailer")
            with store.begin() as tx:
                rules = [
                    LearnedSelector(PriceKind.STANDARD, rule, match_count=3) for rule in (".old", ".today")
                ]
                store.save_selectors(tx, "kettles", PriceKind.STANDARD, rules, NOW)
            await crawl(retailer(shop), "retailer")

    asyncio.run(story())
    after = store.selectors("kettles")[PriceKind.STANDARD]
    assert [(e.selector, e.match_count, e.consecutive_failures) for e in after] == [
        (".today", 4, 0),
        (".old", 3, 1),
    ]


def test_a_run_without_learned_rules_writes_nothing(db: Engine) -> None:
    async def story() -> None:
        async with shop_of(page("29.90", "29,90")) as shop:
            await crawl(retailer(shop), "retailer")

    asyncio.run(story())
    assert everything(db, tables.learned_selector) == []
