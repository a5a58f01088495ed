"""300: candidates become one price, or a review.

The rule is `domain.consensus`; this asks it, with the last accepted price and a person's saved preference.
What a person confirmed in sight of the same doubts is not asked again (`domain.confirmed`).
"""

from __future__ import annotations

from scrapy.crawler import Crawler

from pricecrawl import __version__
from pricecrawl.domain.confirmed import answered
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.observation import Observation
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.extensions.pages import NOTHING_KNOWN, Collected, Handful


class ConsensusPipeline:
    """Collected in, Observation out."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConsensusPipeline:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_item(self, item: Collected) -> Observation:
        """The settled observation of one listing."""
        if item.handful.observed is None:
            item.handful.observed = self._observe(item.handful)
        result = item.handful.observed[item.place]
        if isinstance(result, Exception):
            raise result
        assert result is not None
        return result

    def _observe(self, handful: Handful) -> list[Observation | Exception | None]:
        """Settle the whole handful, each listing on its own; None in the place of what was not understood."""
        market, known = self._run.spider.market, handful.known
        observed: list[Observation | Exception | None] = []
        for listing in handful.understood or ():
            if not isinstance(listing, Listing):
                observed.append(None)
                continue
            before = known.get(listing.source_sku, NOTHING_KNOWN)
            try:
                consensus = settle(
                    listing.candidates,
                    availability=listing.availability,
                    anchor=before.anchor,
                    preference=before.preference,
                    market=market,
                )
                seen = observe(listing, consensus, extractor_version=__version__)
                observed.append(answered(seen, before.confirmed))
            except Exception as bug:
                observed.append(bug)
        return observed
