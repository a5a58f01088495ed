"""500: observations go to the database in batches, in a thread, off the event loop.

At most one batch is being written while the next one fills; a third makes the items wait, which makes the
downloader wait, so that memory does not grow with the feed. The last batch is written before the spider
closes, and so before misses are counted.
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

BATCH = 200


class PersistPipeline:
    """Observation in, the same Observation out, stored or about to be."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._batch: list[Observation] = []
        self._writing: asyncio.Task[None] | None = None
        self._failed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PersistPipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Observation) -> Observation:
        """Add to the batch; a full one is written while the crawl goes on."""
        if self._failed:
            raise DropItem("the database does not answer")
        self._batch.append(item)
        if len(self._batch) >= BATCH:
            while self._writing is not None and len(self._batch) >= BATCH:
                await asyncio.wait([self._writing])
                if self._writing is not None and self._writing.done():
                    self._writing = None
            if len(self._batch) >= BATCH and not self._failed:
                batch, self._batch = self._batch, []
                self._writing = asyncio.create_task(self._write(batch))
        return item

    async def close_spider(self) -> None:
        """Write what is left, before anybody hears that the spider has closed."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if not self._failed:
            await self._write(self._batch)
        self._batch = []

    async def _write(self, batch: list[Observation]) -> None:
        """One batch in one transaction: all of it, with its evidence and rejections, or nothing."""
        try:
            await self._run.save(batch)
        except PricecrawlError as problem:
            self._failed = True
            self._run.stop(RunOutcome.ERROR, str(problem))
        except Exception as problem:
            # Scrapy logs what a closing pipeline raises and calls the run finished; it is not.
            logger.exception("a batch of %s could not be stored", self._run.slug)
            self._failed = True
            self._run.stop(
                RunOutcome.ERROR, f"a batch could not be stored ({type(problem).__name__}); see the log"
            )
