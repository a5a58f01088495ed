"""As whom: every request carries our declared name, version and contact, whatever a spider wrote into it."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler

from pricecrawl import __version__
from pricecrawl.domain.identity import declared
from pricecrawl.extensions.current import CurrentRun, current_run

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
        """Put our name on the request; take off what would be a log-in or another way out."""
        request.meta.pop("proxy", None)
        for name in _NEVER:
            request.headers.pop(name, None)
        for name, value in self._identity.headers:
            if name in _OURS:
                request.headers[name] = value
            else:
                request.headers.setdefault(name, value)
