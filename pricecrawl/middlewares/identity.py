"""As whom: every request carries our declared name, version and contact, whatever a spider wrote into it.

Also where to: a shop's link or redirect never leads a crawl to this machine's own network, and nothing that
would be a log-in leaves here.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler

from pricecrawl import __version__
from pricecrawl.domain.identity import declared
from pricecrawl.domain.urls import is_loopback, is_public_host
from pricecrawl.extensions.current import CurrentRun, current_run
from pricecrawl.middlewares.pace import host_of
from pricecrawl.middlewares.verdicts import Forbidden

# Who we are is not for a spider to say; what it accepts and in which language, may depend on the page.
_OURS = frozenset({"User-Agent", "From"})
_NEVER = ("Authorization", "Cookie")


class IdentityMiddleware:
    """Downloader middleware; the identity is built once a run."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        config = run.config
        self._identity = declared(config.bot_name, __version__, config.contact, run.spider.market)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> IdentityMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_request(self, request: Request) -> None:
        """Put our name on the request, or refuse an address that no shop may send us to."""
        host = host_of(request.url)
        if not self._may_go_to(host):
            raise Forbidden(f"{request.url} is not an address that {self._run.slug} may send us to")
        for name in _NEVER:
            request.headers.pop(name, None)
        for name, value in self._identity.headers:
            if name in _OURS:
                request.headers[name] = value
            else:
                request.headers.setdefault(name, value)

    def _may_go_to(self, host: str) -> bool:
        home = host_of(self._run.source.base_url)
        if host == home:
            return True
        if is_loopback(host):
            return is_loopback(home)
        return is_public_host(host) and self._run.config.contact is not None
