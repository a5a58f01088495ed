"""Stamps every listing that leaves a spider with the response it was read from.

Spider middleware. Spiders yield bare RawListings and know nothing of evidence; from here on each carries
its page, and the evidence pipeline writes that page once for all of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy import Spider
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from pricecrawl.domain.listing import RawListing
from pricecrawl.extensions.current import now
from pricecrawl.extensions.pages import Collected, Page


class ProvenanceMiddleware(BaseSpiderMiddleware):
    """RawListing in, Collected out; requests pass. Both forms, so that a plain generator stays one."""

    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """The listings of one callback share one page."""
        page = Page(response, now())
        for output in result:
            yield _stamped(output, page)

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """The same for a callback that is an async generator."""
        page = Page(response, now())
        async for output in result:
            yield _stamped(output, page)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Listings that a spider yields from its start have no page."""
        return _stamped(item, Page(response, now()))


def _stamped(output: Any, page: Page) -> Any:
    if not isinstance(output, RawListing):
        return output
    if output.observed_at is None:
        output.observed_at = page.fetched_at
    return Collected(output, page)
