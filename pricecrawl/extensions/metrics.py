"""Counts of a run under stable names in Scrapy's stats, where monitors and exporters read them."""

from __future__ import annotations

from scrapy.crawler import Crawler

from pricecrawl.extensions.current import CurrentRun, current_run

PREFIX = "pricecrawl"


class Metrics:
    """Scrapy extension; writes `pricecrawl/<what>[/<reason>]`."""

    def __init__(self, crawler: Crawler, run: CurrentRun) -> None:
        self._crawler = crawler
        self._run = run
        run.at_end.append(self.write)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Metrics:
        """Built by Scrapy."""
        return cls(crawler, current_run(crawler))

    async def write(self) -> None:
        """After the record is written, so that both say the same."""
        for name, value in self._run.counts.numbers().items():
            self._crawler.stats.set_value(f"{PREFIX}/{name}", value)
