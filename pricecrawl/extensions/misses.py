"""Counts misses, at the one moment when that is right.

On `spider_closed`, after the record of the run is written, and only for a run that ended well with COMPLETE
coverage. A pipeline could not do it: its `close_spider` is not told why the run ended.
"""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler

from pricecrawl.extensions.current import CurrentRun, current_run, now

logger = logging.getLogger("pricecrawl.run")


class Misses:
    """Scrapy extension."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        run.at_end.append(self.count)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Misses:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def count(self) -> None:
        """Count one miss for every listing that a complete run did not see."""
        run = self._run
        if run.run_id is None or run.result is None or not run.result.may_count_misses:
            return
        out = await run.in_database(run.store.count_misses, run.run_id, now())
        run.counts.missing = len(out)
        if out:
            logger.info("%s: %d listings are out of stock, missing three times", run.slug, len(out))
