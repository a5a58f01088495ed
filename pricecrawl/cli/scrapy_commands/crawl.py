"""`scrapy crawl <source>`: Scrapy's own command, with the exit code of the run's outcome."""

from __future__ import annotations

import argparse

from scrapy.commands import crawl
from scrapy.exceptions import UsageError

from pricecrawl.extensions.run_record import EXIT_STAT


class Command(crawl.Command):
    """Exits 0 for a finished run, 3 for a refused one, 1 for anything else, 2 if it could not start."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider in this process."""
        if len(args) != 1:
            raise UsageError("name one source (see `scrapy list`)")
        assert self.crawler_process is not None
        crawler = self.crawler_process.create_crawler(args[0])
        crawler.spidercls.check_arguments(opts.spargs)  # type: ignore[attr-defined]  # our loader's
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        bootstrap_failed = self.crawler_process.bootstrap_failed
        self.exitcode = 1 if bootstrap_failed else int(crawler.stats.get_value(EXIT_STAT, 1))
