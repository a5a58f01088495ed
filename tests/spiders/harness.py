"""A small shop on loopback, and a crawl of it with the real spider and the real Scrapy engine.

Crawls run without Twisted's reactor, so that many fit into one process; the project's middlewares and
pipelines have tests of their own and are left out here.
"""

from __future__ import annotations

import asyncio
import gzip
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner

from pricecrawl.cli.output import plain
from pricecrawl.domain.listing import RawListing
from pricecrawl.sources.model import Source
from pricecrawl.spiders.base import PlatformSpider
from pricecrawl.spiders.loader import platforms

# Cases are written for this address; it is swapped for the server's own on the way in and out.
SHOP = "http://shop.test"
GZIP = b"\x1f\x8b"
TYPES = {
    ".json": "application/json",
    ".js": "application/json",
    ".xml": "application/xml",
    ".gz": "application/gzip",
}
SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
    "LOG_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    # One at a time: what is asked comes in one order, which a case can hold.
    "CONCURRENT_REQUESTS": 1,
}


@dataclass
class Page:
    """One answer of the shop."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})


Answer = Page | Callable[[web.Request], Page]


@dataclass
class Shop:
    """Answers by path with query, else by path, else 404; `log` holds what was asked, in order."""

    answers: dict[str, Answer] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    origin: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.origin = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        self.log.append(request.path_qs)
        answer = self.answers.get(request.path_qs) or self.answers.get(request.path)
        page = answer(request) if callable(answer) else answer
        if page is None:
            return web.Response(status=404, text="not here")
        packed = page.body.startswith(GZIP)
        body = (gzip.decompress(page.body) if packed else page.body).replace(
            SHOP.encode(), self.origin.encode()
        )
        body = gzip.compress(body) if packed else body
        return web.Response(body=body, status=page.status, headers=page.headers)


@contextmanager
def serve(answers: Mapping[str, Answer]) -> Iterator[Shop]:
    """The shop in a thread of its own, for crawls in another process."""
    shop, ready, loop = Shop(dict(answers)), threading.Event(), asyncio.new_event_loop()

    def run() -> None:
        loop.run_until_complete(shop.__aenter__())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(shop.__aexit__())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield shop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


@dataclass
class Crawl:
    """What one crawl gave."""

    listings: list[RawListing]
    spider: PlatformSpider[Any]
    log: list[str]
    reason: str
    stats: dict[str, Any]
    origin: str

    def summary(self) -> dict[str, Any]:
        """The crawl as a golden case holds it: only what is set, with the case's own address."""
        spider = self.spider
        out: dict[str, Any] = {
            "coverage": spider.coverage_reason.value,
            "why": [*spider.notes, *([spider.coverage_detail] if spider.coverage_detail else [])],
            "total": spider.expected_total,
            "currency": spider.market.currency,
            "requests": self.log,
            "skips": {reason.value: count for reason, count in sorted(spider.skips.items())},
            "listings": [brief(listing) for listing in self.listings],
        }
        if self.reason != "finished":
            out["reason"] = self.reason
        swapped: dict[str, Any] = _swap(out, self.origin, SHOP)
        return swapped


def brief(listing: RawListing) -> dict[str, Any]:
    """Fields that are set; a price as `kind text currency unit method`, stock as `value method`."""
    out = {f.name: plain(getattr(listing, f.name)) for f in fields(listing) if getattr(listing, f.name)}
    out.pop("tax_basis", None)
    if listing.prices:
        out["prices"] = [
            f"{p.kind.value} {p.text!r} {p.currency} {p.unit.value} {p.method.value}" for p in listing.prices
        ]
    if listing.stock:
        out["stock"] = sorted(f"{s.value.value} {s.method}" for s in listing.stock)
    return out


def _swap(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_swap(item, old, new) for item in value]
    if isinstance(value, dict):
        return {key: _swap(item, old, new) for key, item in value.items()}
    return value


def crawl(
    platform: str,
    row: Mapping[str, Any],
    answers: Mapping[str, Answer],
    *,
    settings: Mapping[str, Any] | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Crawl:
    """Serve `answers`, crawl the row's whole shop, and say what came of it."""
    return asyncio.run(_crawl(platform, row, answers, settings or {}, arguments or {}))


async def _crawl(
    platform: str,
    row: Mapping[str, Any],
    answers: Mapping[str, Answer],
    settings: Mapping[str, Any],
    arguments: Mapping[str, str],
) -> Crawl:
    async with Shop(dict(answers)) as shop:
        spider_type = platforms()[platform]
        source: Source = spider_type.source_model.model_validate(_swap(dict(row), SHOP, shop.origin))
        runner = AsyncCrawlerRunner({**SETTINGS, **settings})
        crawler = runner.create_crawler(spider_type.bound(source))
        listings: list[RawListing] = []
        reasons: list[str] = []

        def keep_listing(item: RawListing) -> None:
            listings.append(item)

        def keep_reason(reason: str) -> None:
            reasons.append(reason)

        crawler.signals.connect(keep_listing, signals.item_scraped)
        crawler.signals.connect(keep_reason, signals.spider_closed)
        await runner.crawl(crawler, **{k: _swap(v, SHOP, shop.origin) for k, v in arguments.items()})
        assert isinstance(crawler.spider, PlatformSpider)
        assert crawler.stats is not None
        return Crawl(listings, crawler.spider, shop.log, reasons[0], crawler.stats.get_stats(), shop.origin)


def read_case(folder: Path) -> tuple[dict[str, Any], dict[str, Answer], dict[str, str]]:
    """Row, answers and spider arguments of a golden case; `case.toml` names them, bodies are beside it."""
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    answers: dict[str, Answer] = {}
    for page in case.get("page", []):
        file = folder / page["file"] if "file" in page else None
        body = file.read_bytes() if file else page.get("body", "").encode()
        suffix = file.suffix if file else Path(page["path"].partition("?")[0]).suffix
        headers = {"Content-Type": TYPES.get(suffix, "text/html; charset=utf-8"), **page.get("headers", {})}
        answers[page["path"]] = Page(body, page.get("status", 200), headers)
    return case["source"], answers, case.get("arguments", {})
