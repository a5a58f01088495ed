"""What came of the way out: health of proxies, and, with the shop's permission, another try after a 403.

Inside the challenge middleware: what comes through here as a 403 is a refusal, at once. A robots file is
never asked for again after a 403, whatever the permission says.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, IgnoreRequest
from scrapy.http import Response
from scrapy.utils.request import fingerprint

from pricecrawl.egress.relay import MARK
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.middlewares.verdicts import RenderFailed

_REFUSED = 403


class ProxyFailed(DownloadFailedError):
    """A proxy did not do its work; Scrapy's retry takes it like any failed download."""


class ProxyMiddleware:
    """Downloader middleware; does nothing for a run that leaves directly and was not refused."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProxyMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Count the answer; ask again through another egress where the shop's permission lets us."""
        passage = self._run.passage
        if passage is None:
            return response
        egress = str(request.meta.get("egress", ""))
        if passage.is_proxied and response.headers.get(MARK) == passage.relay.mark.encode():
            # `process_exception` is not called for what is raised here.
            problem = ProxyFailed(passage.relay.problem(egress) or f"the relay answered {response.status}")
            await passage.broke(egress, str(problem), now())
            raise problem
        if response.status != _REFUSED:
            await passage.answered(egress, float(request.meta.get("download_latency", 0.0)), now())
            return response
        permission = passage.permission(now())
        if permission is None or self._run.is_own(request):
            return response
        error = f"HTTP 403 from {self._run.source.host}"
        if not await passage.refused(egress, fingerprint(request), error, permission, now()):
            return response
        self._run.counts.leftovers["retried after 403"] += 1
        self._run.note(f"{request.url} answered 403 through {egress}; asked again as the shop permits")
        return request.replace(dont_filter=True)

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """A broken way out: one failure for the proxy, and the retry takes the next."""
        passage = self._run.passage
        if passage is None or not passage.is_proxied or isinstance(exception, IgnoreRequest):
            return
        egress = str(request.meta.get("egress", ""))
        if isinstance(exception, RenderFailed) and not passage.broke_a_page(egress):
            return
        await passage.broke(egress, type(exception).__name__, now())
