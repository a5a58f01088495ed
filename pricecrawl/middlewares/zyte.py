"""Zyte's proxy through its own library, with everything left out that does not go with our rules.

The library takes the relay for Zyte and the relay holds the key, so the key is in no log line, meta, job
folder or error. It is asked to leave our identity as it is and to try nothing by itself: whether a shop that
refused is asked again is ours to say. Its waits only ever make a host's pace slower.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy_zyte_smartproxy import ZyteSmartProxyMiddleware
from scrapy_zyte_smartproxy.utils import exp_backoff

from pricecrawl.domain.egress import EgressKind
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.middlewares.pace import pause, pin_slot

# Names of headers are Zyte's own: the first two for the Smart Proxy Manager, the last for the Zyte API.
_AS_WE_ARE = {"X-Crawlera-Profile": "pass", "X-Crawlera-Max-Retries": "0", "X-Crawlera-Cookies": "disable"}
_AS_WE_ARE_API = {"Zyte-Override-Headers": "User-Agent,Accept,Accept-Language"}


class ZyteMiddleware(ZyteSmartProxyMiddleware):  # type: ignore[misc]  # the library has no types
    """Downloader middleware of runs whose row says `egress = "zyte"`."""

    def __init__(self, crawler: Crawler, run: CurrentRun) -> None:
        super().__init__(crawler)
        self._run = run
        self._api = urlsplit(run.config.zyte_url).hostname == "api.zyte.com"
        self.enabled = self.preserve_delay = True
        self.exp_backoff = exp_backoff(self.backoff_step, self.backoff_max)
        self._headers = (_AS_WE_ARE_API if self._api else _AS_WE_ARE).items()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ZyteMiddleware:
        """Built by Scrapy. The library's own way in is left out: it logs the begin of the key."""
        run = current_run(crawler)
        if run.source.egress is not EgressKind.ZYTE:
            raise NotConfigured
        return cls(crawler, run)

    def process_request(self, request: Request) -> None:
        """Zyte's headers on a request that leaves through the relay already."""
        self.spider = self._run.spider
        self._auth_url = self._authless_url = request.meta["proxy"]
        super().process_request(request, self.spider)

    def process_response(self, request: Request, response: Response) -> Any:
        """A ban, as Zyte calls it, is the shop's refusal and no outage."""
        found = super().process_response(request, response, self.spider)
        if isinstance(found, Response) and self._is_banned(found):
            return found.replace(status=403)
        return found

    def process_exception(self, request: Request, exception: Exception) -> None:
        """The library's wait for a Zyte that is down."""
        super().process_exception(request, exception, self.spider)

    def _targets_zyte_api(self, request: Request) -> bool:
        """By the real address, which the library never sees."""
        return self._api

    def _set_custom_delay(
        self, request: Request, delay: float, targets_zyte_api: bool, reason: str | None = None
    ) -> None:
        pause(self._run.crawler.engine.downloader, pin_slot(request), delay)

    def _restore_original_delay(self, request: Request) -> None:
        """Nothing to restore: a pace never gets faster within a run."""
