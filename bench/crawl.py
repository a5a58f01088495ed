"""One measured crawl in this process: `python -m bench.crawl <platform> <mode> <origin> <home>`.

Prints one JSON object: seconds from the shop's first answer to the closing of the spider, items, the peak of
resident memory, and the seconds that evidence took.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner

from pricecrawl import settings as project
from pricecrawl.cli.crawl_process import project_settings
from pricecrawl.evidence.store import WarcWriter
from pricecrawl.spiders.loader import platforms

ROWS: dict[str, dict[str, Any]] = {"shopify": {}, "retailer": {"sitemaps": ["sitemap.xml"]}}


def bare() -> dict[str, Any]:
    """Settings of the same spider without the way of an item."""
    return {
        "ITEM_PIPELINES": dict.fromkeys(project.ITEM_PIPELINES),
        "SPIDER_MIDDLEWARES": dict.fromkeys(project.SPIDER_MIDDLEWARES),
    }


async def crawl(platform: str, mode: str, origin: str) -> dict[str, Any]:
    """Crawl and measure."""
    spent = {"evidence": 0.0}
    _measure(spent)
    row = {
        "slug": "bench",
        "retailer": "Kettles",
        "country": "DE",
        "currency": "EUR",
        "base_url": f"{origin}/",
    }
    spider = platforms()[platform]
    source = spider.source_model.model_validate(row | ROWS[platform])
    runner = AsyncCrawlerRunner(
        project_settings(
            {"TWISTED_REACTOR_ENABLED": False, "LOG_ENABLED": False, **(bare() if mode == "bare" else {})}
        )
    )
    crawler = runner.create_crawler(spider.bound(source))
    times: dict[str, float] = {}
    items = 0

    def answered() -> None:
        # From the shop's first answer on: making a database and importing modules is not the way of an item.
        times.setdefault("opened", time.perf_counter())
        times.setdefault("cpu_opened", time.process_time())

    def scraped() -> None:
        nonlocal items
        items += 1

    def closed() -> None:
        times["closed"], times["cpu_closed"] = time.perf_counter(), time.process_time()

    crawler.signals.connect(answered, signals.response_received)
    crawler.signals.connect(scraped, signals.item_scraped)
    crawler.signals.connect(closed, signals.spider_closed)
    await runner.crawl(crawler)
    return {
        "platform": platform,
        "mode": mode,
        "items": items,
        "seconds": times["closed"] - times["opened"],
        "cpu_seconds": times["cpu_closed"] - times["cpu_opened"],
        "evidence_seconds": spent["evidence"],
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1 if sys.platform == "darwin" else 1024),
    }


def _measure(spent: dict[str, float]) -> None:
    """Count the time in the evidence writer, waiting for the disk when it syncs included.

    Not its waiting for the interpreter: that is the spider's time, who has it meanwhile.
    """

    def timed(name: str, clock: Callable[[], float]) -> None:
        original = getattr(WarcWriter, name)

        def call(self: WarcWriter, *arguments: Any) -> Any:
            started = clock()
            try:
                return original(self, *arguments)
            finally:
                spent["evidence"] += clock() - started

        setattr(WarcWriter, name, call)

    for name, clock in (
        ("pack", time.thread_time),
        ("write", time.thread_time),
        ("sync", time.perf_counter),
        ("close", time.perf_counter),
    ):
        timed(name, clock)


if __name__ == "__main__":
    os.environ["PRICECRAWL_HOME"] = sys.argv[4]
    print(json.dumps(asyncio.run(crawl(*sys.argv[1:4]))))
