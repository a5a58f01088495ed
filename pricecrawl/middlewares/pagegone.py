"""A product's page that says it is gone is neither an outage nor a listing.

Only requests for a product's own page are judged (`meta["product"]`): a category may well be empty. The
streak of gone answers is kept per listing in the database; three in a row make it NOT_AVAILABLE.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from pricecrawl.domain.challenge import PageKind
from pricecrawl.extensions.current import CurrentRun, classification_of, current_run
from pricecrawl.middlewares.verdicts import PageGone


class PageGoneMiddleware:
    """Downloader middleware, outside of redirects: it sees where a product's address led."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PageGoneMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Remember which product's page is gone; its response is not read."""
        if not request.meta.get("product"):
            return response
        found = classification_of(request)
        if found is None or found.page is not PageKind.GONE:
            return response
        asked = (request.meta.get("redirect_urls") or [request.url])[0]
        self._run.gone(asked, found.rule)
        raise PageGone(f"{asked} is gone: {found.rule}")
