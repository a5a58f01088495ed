"""200: text becomes types, or a recorded rejection."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.extensions.current import NOTHING_KNOWN, CurrentRun, current_run, now
from pricecrawl.spiders.seen import SeenIds

MAX_LEFTOVERS = 50


class NormalizePipeline:
    """RawListing in, Listing out."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._seen = SeenIds()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NormalizePipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_item(self, item: RawListing) -> Listing:
        """Reject what must not enter the data; a product that stands on two pages counts once."""
        if item.source_sku and not self._seen.add(item.source_sku):
            self._run.spider.skip(SkipReason.DUPLICATE, item.source_sku)
            raise DropItem(f"{item.source_sku} was already seen in this run")
        known = self._run.known.get(item.source_sku, NOTHING_KNOWN)
        result = normalize(
            item,
            source=self._run.slug,
            market=self._run.spider.market,
            now=item.observed_at or now(),
            known_sizes=known.sizes,
        )
        leftovers = self._run.counts.leftovers
        for key in item.leftovers:
            # A feed that makes up keys must not make the run's record grow with it.
            if key in leftovers or len(leftovers) < MAX_LEFTOVERS:
                leftovers[key] += 1
        if isinstance(result, Rejected):
            self._run.reject(item, result)
            raise DropItem(f"{result.reason.value}: {result.detail}")
        return result
