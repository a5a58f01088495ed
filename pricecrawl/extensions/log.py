"""What a crawl logs about requests and items: enough to find a problem, no item text, no secrets."""

from __future__ import annotations

import logging
from typing import Any

from scrapy import Spider, logformatter
from scrapy.http import Response
from scrapy.logformatter import LogFormatterResult
from twisted.python.failure import Failure


class LogFormatter(logformatter.LogFormatter):
    """Stored items and recorded rejections are rows in the database, not lines in the log."""

    def scraped(  # type: ignore[override]  # None means "no line", as Scrapy's manual says
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> None:
        """No line for a good item."""

    def dropped(  # type: ignore[override]
        self, item: Any, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> None:
        """No line for a rejection: it is a row with its reason."""

    def item_error(
        self, item: Any, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """The error and which listing it hit; the traceback follows."""
        raw = getattr(item, "raw", item)
        return {
            "level": logging.ERROR,
            "msg": "Error processing listing %(sku)s of %(source)s: %(error)s",
            "args": {
                "sku": getattr(raw, "source_sku", "?"),
                "source": spider.name,
                "error": f"{type(exception).__name__}: {exception}",
            },
        }
