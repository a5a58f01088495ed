"""Progress for whoever started the crawl: one JSON line at a time on a file descriptor they gave.

`PROGRESS_FD` is set by `pricecrawl crawl`, which draws a bar from the lines; without it nothing is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.extensions.run_record import EXIT_STAT

_EVERY_SECONDS = 0.25


class Progress:
    """Scrapy extension."""

    def __init__(self, crawler: Crawler, run: CurrentRun, descriptor: int) -> None:
        self._crawler = crawler
        self._run = run
        self._descriptor = descriptor
        self._ticker: asyncio.Task[None] | None = None
        self._last: dict[str, Any] = {}
        run.at_end.append(self.end)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Progress:
        """Built by Scrapy."""
        descriptor = crawler.settings.getint("PROGRESS_FD", -1)
        if descriptor < 0:
            raise NotConfigured
        extension = cls(crawler, current_run(crawler), descriptor)
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        """Start to tell."""
        self._ticker = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            self._say("progress", self._state())
            await asyncio.sleep(_EVERY_SECONDS)

    def _state(self) -> dict[str, Any]:
        run, counts = self._run, self._run.counts
        return {
            "run": run.run_id,
            "pages": counts.pages,
            "listings": counts.listings,
            "expected": run.spider.expected_total or run.last_complete,
            "rejections": sum(counts.rejections.values()),
            "skips": sum(run.spider.skips.values()),
            "reviews": counts.reviews,
        }

    async def end(self) -> None:
        """The last line has the outcome."""
        if self._ticker is not None:
            self._ticker.cancel()
        state, result = self._state(), self._run.result
        if result is not None:
            state |= {
                "outcome": result.outcome.value,
                "coverage": result.coverage.value,
                "reason": result.reason.value,
                "detail": result.detail,
                "missing": self._run.counts.missing,
                "price_changes": self._run.counts.price_changes,
                "stock_changes": self._run.counts.stock_changes,
            }
        state["exit_code"] = self._crawler.stats.get_value(EXIT_STAT, 1)
        self._say("end", state)

    def _say(self, event: str, state: dict[str, Any]) -> None:
        if event == "progress" and state == self._last:
            return
        self._last = state
        line = json.dumps({"event": event, "source": self._run.slug, **state}) + "\n"
        # Nobody listening any more is no reason to stop a crawl.
        with contextlib.suppress(OSError):
            os.write(self._descriptor, line.encode())
