"""100: the bytes first. Writes the page a listing was read from, once, before any of its listings passes."""

from __future__ import annotations

import asyncio

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.extensions.pages import Collected


class EvidencePipeline:
    """Collected in, RawListing with its evidence out."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> EvidencePipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Collected) -> RawListing:
        """All listings of a page wait for its one write; a failed write ends the run."""
        page = item.page
        if page.ref is None and page.response is not None:
            if page.kept is None:
                page.kept = asyncio.create_task(self._run.keep(page.response, kind="page"))
            try:
                page.ref = await asyncio.shield(page.kept)
            except (PricecrawlError, OSError) as problem:
                self._run.stop(RunOutcome.ERROR, f"evidence could not be written: {problem}")
                raise DropItem("no evidence, no listing") from None
            # The bytes are on disk; what waits in the pipelines need not hold them in memory.
            page.response = None
        item.raw.evidence = page.ref
        return item.raw
