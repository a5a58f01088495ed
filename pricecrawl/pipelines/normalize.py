"""200: text becomes types, or a recorded rejection."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.extensions.pages import NOTHING_KNOWN, Collected, Handful
from pricecrawl.spiders.seen import SeenIds

MAX_LEFTOVERS = 50


class NormalizePipeline:
    """Lets through what was understood, each product once."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._seen = SeenIds()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NormalizePipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Collected) -> Collected:
        """Reject what must not enter the data; a product that stands on two pages counts once."""
        raw = item.raw
        if raw.source_sku and not self._seen.add(raw.source_sku):
            self._run.spider.skip(SkipReason.DUPLICATE, raw.source_sku)
            raise DropItem(f"{raw.source_sku} was already seen in this run")
        if item.handful.understood is None:
            item.handful.understood = self._understand(item.handful)
        if raw.leftovers:
            self._count_leftovers(raw)
        result = item.handful.understood[item.place]
        if isinstance(result, Exception):
            raise result
        if isinstance(result, Rejected):
            self._run.reject(raw, result)
            raise DropItem(f"{result.reason.value}: {result.detail}")
        return item

    def _understand(self, handful: Handful) -> list[Listing | Rejected | Exception]:
        """Each on its own: a listing that trips our code takes none of its neighbours along."""
        source, market, known = self._run.slug, self._run.spider.market, handful.known
        names = self._run.spider.source.sold_by
        understood: list[Listing | Rejected | Exception] = []
        for raw in handful.raws:
            sizes = known.get(raw.source_sku, NOTHING_KNOWN).sizes
            try:
                moment = raw.observed_at or now()
                result = normalize(
                    raw, source=source, market=market, now=moment, known_sizes=sizes, sold_by=names
                )
            except Exception as bug:
                understood.append(bug)
            else:
                understood.append(result)
        return understood

    def _count_leftovers(self, raw: RawListing) -> None:
        leftovers = self._run.counts.leftovers
        for key in raw.leftovers:
            # A feed that makes up keys must not make the run's record grow with it.
            if key in leftovers or len(leftovers) < MAX_LEFTOVERS:
                leftovers[key] += 1
