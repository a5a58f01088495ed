"""The first word on a request and the last on its answer.

A run that was held, refused or ended sends nothing more, and a shop's link or redirect leads nowhere but to
the hosts of its row: not to another shop, and not into this machine's own network.

What no retry could mend is counted here as an outage, because an unfetched page means that the run did not
see the whole shop; ten in a row end the run, so that a struggling shop is left alone.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from pricecrawl.domain.run import RunOutcome
from pricecrawl.domain.urls import is_loopback, is_public_host
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.middlewares.pace import host_of
from pricecrawl.middlewares.verdicts import OffLimits, RunEnded

# Pages in a row that failed after all retries; one is bad luck, ten are a shop that is down.
OUTAGES_IN_A_ROW = 10
# The statuses of a server that cannot answer now; any other 4xx is an answer.
_OUTAGES = frozenset({408, 425, 429})


class EnabledMiddleware:
    """Outermost downloader middleware."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._hosts: tuple[str, ...] = tuple(getattr(run.spider, "allowed_domains", ()))
        self._in_a_row = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> EnabledMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_request(self, request: Request) -> None:
        """Nothing leaves a run that is ending, and nothing goes where this source may not send us."""
        if self._run.stopped is not None:
            raise RunEnded(f"the run has ended: {self._run.stopped.detail}")
        if not self._may_go_to(host_of(request.url), robots=self._run.is_own(request)):
            raise OffLimits(f"{request.url} is not an address that {self._run.slug} may send us to")

    def _may_go_to(self, host: str, *, robots: bool) -> bool:
        """The shop's own hosts; for a robots file, as the standard asks, any public host a redirect names.

        Scrapy's own off-site check passes every request that has `dont_filter`, and lets meta lift it.
        """
        home = host_of(self._run.source.base_url)
        if is_loopback(host):
            return is_loopback(home) and (robots or host == home)
        if host != home and not is_public_host(host):
            return False
        return robots or any(host == name or host.endswith(f".{name}") for name in self._hosts)

    def process_response(self, request: Request, response: Response) -> Response:
        """Count good pages and outages; a page that is not there is neither."""
        if self._run.is_own(request):
            return response
        if response.status < 400:
            self._run.counts.pages += 1
            self._in_a_row = 0
        elif response.status >= 500 or response.status in _OUTAGES:
            self._outage(f"http_{response.status}", request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count what could not be fetched at all; what we ourselves ignored is no outage."""
        if not isinstance(exception, IgnoreRequest) and not self._run.is_own(request):
            self._outage(type(exception).__name__, request)

    def _outage(self, what: str, request: Request) -> None:
        self._run.counts.outages[what] += 1
        if request.errback is None:
            self._run.counts.lost_pages += 1
        self._in_a_row += 1
        if self._in_a_row >= OUTAGES_IN_A_ROW:
            self._run.stop(
                RunOutcome.UNAVAILABLE,
                f"{self._in_a_row} pages in a row could not be fetched, the last was {request.url} ({what})",
            )
