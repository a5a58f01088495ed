"""A shop that asks us to slow down is slowed down for, as long as it says.

429 and 503 are asked again after Retry-After, or after a growing wait where there is none; the whole host
waits, not only the one request, and its pace stays slower for the rest of the run. A shop that wants more
patience than a run has ends the run as `unavailable`.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import Response

from pricecrawl.domain.backoff import PATIENCE_SECONDS, retry_after
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.middlewares.pace import pause, pin_slot, set_pace
from pricecrawl.middlewares.verdicts import RunEnded

_STATUSES = frozenset({429, 503})
# After a shop said "too fast" once, never faster than this again in the run.
_SLOWER_SECONDS = 1.0


class BackoffMiddleware:
    """Inside retry, so that what comes through has waited already."""

    def __init__(self, run: CurrentRun, tries: int) -> None:
        self._run = run
        self._tries = tries

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BackoffMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler), crawler.settings.getint("RETRY_TIMES"))

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Pause the host and ask again, or end the run."""
        if response.status not in _STATUSES or self._run.is_own(request):
            return response
        tried = int(request.meta.get("retry_times", 0))
        header = response.headers.get("Retry-After")
        asked = retry_after(header.decode("latin-1"), now()) if header else None
        host = pin_slot(request)
        downloader = self._run.crawler.engine.downloader
        delay = set_pace(downloader, host, max(_SLOWER_SECONDS, self._run.own_delay(host)))
        wait = asked if asked is not None else delay * 2 ** (tried + 1)
        if wait > PATIENCE_SECONDS:
            self._run.counts.outages[f"http_{response.status}"] += 1
            self._run.stop(
                RunOutcome.UNAVAILABLE,
                f"{request.url} answered {response.status} and asks to wait {wait:.0f} s",
            )
            raise RunEnded("the shop asks for more patience than this run has")
        pause(downloader, host, wait)
        again = get_retry_request(
            request, spider=self._run.spider, reason=f"http_{response.status}", max_retry_times=self._tries
        )
        return again or response
