"""Stamps every listing that leaves a spider with the page it was read from.

Spider middleware. Spiders yield bare RawListings and know nothing of evidence. Here the listings of a page
are taken in handfuls. Before the first is passed on, the page is written to evidence; before each, what
earlier runs know of its listings is read from the database, and the pipelines must have room. After that a
listing passes the pipelines without waiting for anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Response

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.extensions.pages import Collected, Page

HANDFUL = 500


class ProvenanceMiddleware:
    """RawListing in, Collected out; requests pass."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        # Callbacks of the spider that gave listings: they will do so again.
        self._giving: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProvenanceMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Listings that a spider yields before any page have none."""
        async for output in start:
            if isinstance(output, RawListing):
                for item in await self._stamped([output], Page(None, now())):
                    yield item
            else:
                yield output

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """The listings of one callback share one page."""
        page = Page(response, now())
        callback = _callback(response)
        if callback in self._giving:
            self._run.expect(page)
        async for listings, others in _handfuls(result):
            if listings:
                self._giving.add(callback)
                for item in await self._stamped(listings, page):
                    yield item
            # The next page waits until the pipelines have had room for the listings of this one.
            for other in others:
                yield other

    async def _stamped(self, listings: list[RawListing], page: Page) -> list[Collected]:
        """The same listings, ready for the pipelines; none if page or database could not be reached."""
        for raw in listings:
            if raw.observed_at is None:
                raw.observed_at = page.fetched_at
        try:
            handful = await self._run.handful(listings, page)
        except PricecrawlError as problem:
            self._run.stop(RunOutcome.ERROR, str(problem))
            return []
        return [Collected(handful, place) for place in range(len(listings))]


async def _handfuls(result: AsyncIterator[Any]) -> AsyncIterator[tuple[list[RawListing], list[Any]]]:
    """What a callback gives, in handfuls of listings, each with what came after the first of them.

    What it gave before it failed counts; then the failure is passed on.
    """
    listings: list[RawListing] = []
    others: list[Any] = []
    failure: Exception | None = None
    try:
        async for output in result:
            if isinstance(output, RawListing):
                listings.append(output)
                if len(listings) >= HANDFUL:
                    yield listings, others
                    listings, others = [], []
            elif listings:
                others.append(output)
            else:
                yield [], [output]
    except Exception as problem:
        failure = problem
    yield listings, others
    if failure is not None:
        raise failure


def _callback(response: Response) -> str:
    """The name of the callback that reads a response."""
    callback = response.request.callback if response.request is not None else None
    return getattr(callback, "__name__", "parse")
