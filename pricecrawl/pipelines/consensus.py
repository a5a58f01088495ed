"""300: candidates become one price, or a review.

The rule is `domain.consensus`; this asks it, with the last accepted prices.
"""

from __future__ import annotations

import asyncio

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricecrawl import __version__
from pricecrawl.domain.consensus import Anchor, Preference, observe, settle
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run

Known = dict[str, tuple[Anchor, Preference | None]]


class ConsensusPipeline:
    """Listing in, Observation out.

    Anchors are read for all listings that arrive together (the listings of a page), in one query.
    """

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._waiting: list[str] = []
        self._reading: asyncio.Task[Known] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConsensusPipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Listing) -> Observation:
        """Settle one listing against its last accepted price and its saved preference."""
        try:
            known = await self._known(item.source_sku)
        except PricecrawlError as problem:
            self._run.stop(RunOutcome.ERROR, str(problem))
            raise DropItem("the database does not answer") from None
        anchor, preference = known.get(item.source_sku, (None, None))
        consensus = settle(
            item.candidates,
            availability=item.availability,
            anchor=anchor,
            preference=preference,
            market=self._run.spider.market,
        )
        return observe(item, consensus, extractor_version=__version__)

    async def _known(self, source_sku: str) -> Known:
        self._waiting.append(source_sku)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        return await asyncio.shield(self._reading)

    async def _read(self) -> Known:
        # One turn of the loop: whatever the page's other listings still add comes along.
        await asyncio.sleep(0)
        skus, self._waiting, self._reading = self._waiting, [], None
        return await self._run.in_database(self._run.store.anchors, self._run.slug, skus)
