"""300: candidates become one price, or a review.

The rule is `domain.consensus`; this asks it, with the last accepted price and a person's saved preference.
"""

from __future__ import annotations

from scrapy.crawler import Crawler

from pricecrawl import __version__
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.observation import Observation
from pricecrawl.extensions.current import NOTHING_KNOWN, CurrentRun, current_run


class ConsensusPipeline:
    """Listing in, Observation out."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConsensusPipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_item(self, item: Listing) -> Observation:
        """Settle one listing."""
        known = self._run.known.pop(item.source_sku, NOTHING_KNOWN)
        consensus = settle(
            item.candidates,
            availability=item.availability,
            anchor=known.anchor,
            preference=known.preference,
            market=self._run.spider.market,
        )
        return observe(item, consensus, extractor_version=__version__)
