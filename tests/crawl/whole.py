"""A whole crawl: the project's own settings, a real spider, a shop on loopback, a real database.

In process and without Twisted's reactor, so that many fit into one test run; `tests/crawl/test_commands.py`
runs the same through the command line and the real download handler.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Self

from aiohttp import web
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from sqlalchemy import Engine, Table, select

from pricecrawl.cli.crawl_process import project_settings
from pricecrawl.domain.observation import Observation
from pricecrawl.extensions.run_record import EXIT_STAT
from pricecrawl.spiders.loader import platforms

IN_PROCESS = {"TWISTED_REACTOR_ENABLED": False, "LOG_ENABLED": False}


@dataclass
class Asked:
    """One request as the shop saw it; `at` is monotonic."""

    path: str
    agent: str
    headers: Mapping[str, str]
    at: float


Answer = Callable[[web.Request], Awaitable[web.StreamResponse] | web.StreamResponse]


@dataclass
class FeedShop:
    """A Shopify-like shop of `products`, `page` to a feed page, that keeps a log of who asked for what.

    `special` answers a path (or `*`) before anything else does; `robots` is the text of robots.txt.
    """

    products: list[dict[str, Any]] = field(default_factory=list)
    robots: str | None = "User-agent: *\nDisallow: /cart\n"
    robots_status: int = 200
    special: dict[str, Answer] = field(default_factory=dict)
    currency: str = "EUR"
    counts: bool = True
    delay: float = 0.0
    log: list[Asked] = field(default_factory=list)
    origin: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._runner.cleanup()

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.log]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.log.append(
            Asked(request.path_qs, request.headers.get("User-Agent", ""), dict(request.headers), monotonic())
        )
        special = self.special.get(request.path_qs) or self.special.get(request.path) or self.special.get("*")
        if special is not None and not (special is self.special.get("*") and request.path == "/robots.txt"):
            answer = special(request)
            return await answer if isinstance(answer, Awaitable) else answer
        if self.delay:
            await asyncio.sleep(self.delay)
        if request.path == "/robots.txt":
            if self.robots is None:
                return web.Response(status=404)
            return web.Response(text=self.robots, status=self.robots_status)
        if request.path == "/meta.json":
            meta: dict[str, Any] = {"currency": self.currency}
            if self.counts:
                meta["published_products_count"] = len(self.products)
            return web.json_response(meta)
        if request.path == "/products.json":
            limit, page = int(request.query.get("limit", 30)), int(request.query.get("page", 1))
            return web.json_response({"products": self.products[(page - 1) * limit : page * limit]})
        return web.Response(status=404, text="not here")


def moved(to: str) -> web.Response:
    """A redirect."""
    return web.Response(status=302, headers={"Location": to})


def product(number: int, price: str = "10.00", *, available: bool = True, **more: Any) -> dict[str, Any]:
    """One product of one variant, as a feed has it."""
    return {
        "id": number,
        "title": f"Kettle {number}",
        "handle": f"kettle-{number}",
        "vendor": "Kettleworks",
        "product_type": "Kitchen",
        "tags": [],
        "variants": [
            {
                "id": 1_000_000 + number,
                "title": "Default Title",
                "sku": f"K-{number}",
                "price": price,
                "compare_at_price": None,
                "available": available,
                "barcode": "",
                **more,
            }
        ],
        "images": [],
        "options": [{"name": "Title", "values": ["Default Title"]}],
    }


def products(count: int, **more: Any) -> list[dict[str, Any]]:
    """So many products."""
    return [product(number, f"{10 + number}.00", **more) for number in range(1, count + 1)]


def row(shop: FeedShop, slug: str = "kettles", **more: Any) -> dict[str, Any]:
    """The row of a shop."""
    return {
        "slug": slug,
        "retailer": "Kettles",
        "country": "DE",
        "currency": "EUR",
        "base_url": f"{shop.origin}/",
        **more,
    }


@dataclass
class Done:
    """What one crawl gave."""

    items: list[Observation]
    dropped: list[str]
    reason: str
    exit_code: int
    stats: dict[str, Any]
    crawler: Crawler


def crawler_of(row: Mapping[str, Any], platform: str = "shopify", **settings: Any) -> Crawler:
    """A crawler of one row with the project's settings."""
    spider_type = platforms()[platform]
    source = spider_type.source_model.model_validate(dict(row))
    runner = AsyncCrawlerRunner(project_settings({**IN_PROCESS, **settings}))
    return runner.create_crawler(spider_type.bound(source))


async def crawl(row: Mapping[str, Any], platform: str = "shopify", **settings: Any) -> Done:
    """Crawl one row to its end."""
    return await run(crawler_of(row, platform, **settings))


async def run(crawler: Crawler, **arguments: str) -> Done:
    """Run a crawler to its end and say what came of it."""
    items: list[Observation] = []
    dropped: list[str] = []
    reasons: list[str] = []

    def keep_item(item: Observation) -> None:
        items.append(item)

    def keep_dropped(exception: Exception) -> None:
        dropped.append(str(exception))

    def keep_reason(reason: str) -> None:
        reasons.append(reason)

    crawler.signals.connect(keep_item, signals.item_scraped)
    crawler.signals.connect(keep_dropped, signals.item_dropped)
    crawler.signals.connect(keep_reason, signals.spider_closed)
    await crawler.crawl_async(**arguments)
    stats = crawler.stats.get_stats()
    return Done(items, dropped, reasons[0], stats[EXIT_STAT], stats, crawler)


def everything(engine: Engine, table: Table) -> list[Any]:
    """All rows of a table in order of their first column."""
    with engine.connect() as conn:
        return list(conn.execute(select(table).order_by(table.c[table.columns.keys()[0]])))


@asynccontextmanager
async def background(work: Awaitable[None]) -> Any:
    """Something that goes on while a crawl runs."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def lines(path: Path) -> list[dict[str, Any]]:
    """Objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
