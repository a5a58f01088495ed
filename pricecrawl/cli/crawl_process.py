"""One crawl in this process; what `pricecrawl crawl` starts once per source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pricecrawl.domain.run import EXIT_FAILED

if TYPE_CHECKING:
    from scrapy.settings import Settings


def project_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of this project, wherever the process was started; `overrides` win."""
    from scrapy.settings import Settings

    settings = Settings()
    settings.setmodule("pricecrawl.settings", priority="project")
    settings.setdict(dict(overrides or {}), priority="cmdline")
    return settings


def crawl_here(slug: str, progress_fd: int, overrides: Mapping[str, Any] | None = None) -> int:
    """Crawl one source until it ends; gives the exit code of its outcome.

    Raises:
        UsageProblem: there is no such source, or its row has a mistake.
    """
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.exceptions import UsageError

    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.extensions.run_record import EXIT_STAT

    settings = project_settings({"PROGRESS_FD": progress_fd, **(overrides or {})})
    process = AsyncCrawlerProcess(settings)
    try:
        crawler = process.create_crawler(slug)
    except UsageError as problem:
        raise UsageProblem(str(problem)) from None
    process.crawl(crawler)
    process.start()
    return EXIT_FAILED if process.bootstrap_failed else int(crawler.stats.get_value(EXIT_STAT, EXIT_FAILED))
