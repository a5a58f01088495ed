"""500: observations go to the database in batches, in a thread, off the event loop.

Batches are written one after the other. While two wait, `CurrentRun.room` holds back the next handful of
listings, and with it the downloader, so that memory does not grow with the feed; no single item ever waits
here. The last batch is written before the spider closes, and so before misses are counted.
"""

from __future__ import annotations

import asyncio
import logging

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run

logger = logging.getLogger("pricecrawl.run")

BATCH = 500
_WAITING = 2 * BATCH


class PersistPipeline:
    """Observation in, the same Observation out, stored or about to be."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._waiting: list[Observation] = []
        self._writer: asyncio.Task[None] | None = None
        self._failed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PersistPipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Observation) -> Observation:
        """Add to what waits; a full batch is written while the crawl goes on."""
        if self._failed:
            raise DropItem("the database does not take any more")
        self._waiting.append(item)
        if len(self._waiting) >= BATCH:
            if self._writer is None:
                self._writer = asyncio.create_task(self._write_full_batches())
            if len(self._waiting) >= _WAITING:
                self._run.room.clear()
        return item

    async def close_spider(self) -> None:
        """Write what is left, before anybody hears that the spider has closed."""
        if self._writer is not None:
            await self._writer
        while self._waiting and not self._failed:
            await self._write_one()
        if not self._failed:
            # Evidence and rejections that came without a listing.
            await self._write([])

    async def _write_full_batches(self) -> None:
        while len(self._waiting) >= BATCH and not self._failed:
            await self._write_one()
        self._writer = None

    async def _write_one(self) -> None:
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        await self._write(batch)
        if self._failed:
            self._waiting = []
        if len(self._waiting) < _WAITING:
            self._run.room.set()

    async def _write(self, batch: list[Observation]) -> None:
        """One batch in one transaction: all of it, with its evidence and rejections, or nothing."""
        try:
            await self._run.save(batch)
        except PricecrawlError as problem:
            self._fail(str(problem))
        except Exception as problem:
            # Scrapy logs what a closing pipeline raises and calls the run finished; it is not.
            logger.exception("a batch of %s could not be stored", self._run.slug)
            self._fail(f"a batch could not be stored ({type(problem).__name__}); the log has the traceback")

    def _fail(self, detail: str) -> None:
        self._failed = True
        self._run.room.set()
        self._run.stop(RunOutcome.ERROR, detail)
