"""Is this the page, or a gate in front of it? A gate ends the run as `blocked`; it is never worked around.

The rule is `domain.challenge`. Inside retry, so that a gate behind a 503 is not knocked at three times.
Success first: a page that yields a credible price is not a challenge, so a page that looks like one is read
before it is believed.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse

from pricecrawl.domain.challenge import Classification, PageKind, ResponseFacts, classify
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.reasons import RefusalReason
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, classified, current_run
from pricecrawl.extensions.pages import headers_of
from pricecrawl.middlewares.verdicts import RunEnded

_BY_RULE = {
    "http-401": RefusalReason.HTTP_401,
    "http-403": RefusalReason.HTTP_403,
    "empty-body": RefusalReason.EMPTY_BODY,
    "login-wall": RefusalReason.LOGIN_REQUIRED,
    "login-redirect": RefusalReason.LOGIN_REQUIRED,
}


class ChallengeMiddleware:
    """Downloader middleware; leaves its classification for the ones outside of it."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ChallengeMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_response(self, request: Request, response: Response) -> Response:
        """Let a page through; keep a gate's bytes, record the refusal and end the run."""
        if self._run.is_own(request):
            return response
        found = self._classify(request, response)
        classified(request, found)
        if found.page is not PageKind.CHALLENGE:
            return response
        detail = (
            f"{found.rule}" + (f" by {found.vendor}" if found.vendor else "") + f", status {response.status}"
        )
        self._run.refuse(_BY_RULE.get(found.rule, RefusalReason.CHALLENGE), response.url, detail)
        try:
            await self._run.keep(response, kind="refusal")
        except (PricecrawlError, OSError) as problem:
            self._run.note(f"the refusal could not be kept as evidence: {problem}")
        self._run.stop(RunOutcome.BLOCKED, f"{response.url}: {detail}")
        raise RunEnded(f"{response.url} refused us: {detail}")

    def _classify(self, request: Request, response: Response) -> Classification:
        asked = (request.meta.get("redirect_urls") or [request.url])[0]
        facts = ResponseFacts(
            response.status,
            headers_of(response),
            response.body,
            asked,
            response.url,
            # An error page may be as short as it likes; a shell is what hides behind a success.
            rendered="rendered" in response.flags and response.status < 400,
        )
        found = classify(facts)
        if found.page is PageKind.CHALLENGE and response.status < 300 and self._has_price(response):
            return classify(facts, credible_price=True)
        return found

    def _has_price(self, response: Response) -> bool:
        """Whether extraction finds a price on the page; asked only of pages that look like a gate."""
        if not isinstance(response, TextResponse):
            return False
        from pricecrawl.extraction.document import Document
        from pricecrawl.extraction.reader import read_page
        from pricecrawl.extraction.rules import Rules

        document = Document.from_bytes(
            response.body, url=response.url, status=response.status, headers=headers_of(response)
        )
        reading = read_page(document, rules=Rules(), market=self._run.spider.market)
        return reading.is_product and bool(reading.listing.prices)
