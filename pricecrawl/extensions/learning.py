"""What a shop's pages taught goes into the run at its begin, and what this run saw comes back at its end.

Learned selectors are read before the first request. Observations that they gave are kept, without what
learning has no use for, and counted once the run's record is written: a page that could not be stored
teaches nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scrapy import signals
from scrapy.crawler import Crawler

from pricecrawl.domain.candidate import PriceKind, Tier
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.observation import Observation
from pricecrawl.extensions.current import CurrentRun, current_run, now

logger = logging.getLogger("pricecrawl.run")

_CHUNK = 1000


class Learning:
    """Scrapy extension."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._seen: list[Observation] = []
        run.at_end.append(self.learn)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Learning:
        """Built by Scrapy."""
        made = cls(current_run(crawler))
        crawler.signals.connect(made.teach, signal=signals.spider_opened)
        crawler.signals.connect(made.keep, signal=signals.item_scraped)
        return made

    async def teach(self) -> None:
        """Tell the spider what was learned; a database that does not answer is the run record's to report."""
        try:
            learned = await self._run.in_database(self._load)
        except PricecrawlError:
            return
        self._run.spider.teach(learned)

    def _load(self) -> Mapping[PriceKind, Sequence[str]]:
        from pricecrawl.db.learning import LearningStore

        lists = LearningStore(self._run.store.engine).selectors(self._run.slug)
        return {kind: tuple(entry.selector for entry in found) for kind, found in lists.items()}

    def keep(self, item: object) -> None:
        """Remember an observation that a learned selector had a part in."""
        if isinstance(item, Observation) and not item.needs_review:
            learned = tuple(c for c in item.candidates if c.tier is Tier.LEARNED)
            if learned:
                self._seen.append(replace(item, candidates=learned, trace=()))

    async def learn(self) -> None:
        """Count matches and failures."""
        if self._run.run_id is None or not self._seen:
            return
        taught = await self._run.in_database(self._learn)
        logger.debug("%s: %d observations counted for learned selectors", self._run.slug, taught)

    def _learn(self) -> int:
        from pricecrawl.db.learning import LearningStore

        store = LearningStore(self._run.store.engine)
        chunks = (self._seen[start : start + _CHUNK] for start in range(0, len(self._seen), _CHUNK))
        return sum(store.learn(self._run.slug, chunk, now()) for chunk in chunks)
