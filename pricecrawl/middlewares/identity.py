"""As whom and through what: every request carries the run's identity and leaves by the run's egress.

Whatever a spider wrote into it. The two are set together: an identity stays until the egress changes.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler

from pricecrawl.domain.identity import PAGE_ACCEPTS, Identity, IdentityMode
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.middlewares.verdicts import RunEnded

# Who we are is not for a spider to say; what it accepts and in which language, may depend on the page.
_OURS = frozenset({"User-Agent", "From"})
_NEVER = ("Authorization", "Proxy-Authorization", "Cookie")
_BROWSERS_ONLY = ("sec-", "upgrade-insecure-requests", "from", "x-crawlera-", "zyte-")
# Meta keys that would lead a request past the egress, the renderer or the wall around it.
_NOT_A_SPIDERS = ("proxy", "_auth_proxy", "dont_proxy", "bindaddress", "pricecrawl_render", "rendered")


class IdentityMiddleware:
    """Downloader middleware; the one place where a request gets a name and a way out."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> IdentityMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    def process_request(self, request: Request) -> None:
        """Put the run's name on the request and send it its way; take off what would be another."""
        passage = self._run.passage
        if passage is None:
            raise RunEnded("the run is not open")
        for key in [key for key in request.meta if key in _NOT_A_SPIDERS or key.startswith("playwright")]:
            del request.meta[key]
        for name in _NEVER:
            request.headers.pop(name, None)
        for name in [name.decode("latin-1") for name in request.headers]:
            if name.lower().startswith(_BROWSERS_ONLY):
                request.headers.pop(name)
        self._name(request, passage.identity(now()))
        request.meta["egress"] = passage.egress
        route = passage.route()
        if route is not None:
            request.meta["proxy"], request.headers["Proxy-Authorization"] = route

    def _name(self, request: Request, identity: Identity) -> None:
        whole = identity.mode is IdentityMode.BROWSER_LIKE
        accept = request.headers.get("Accept")
        if accept is not None and accept.decode("latin-1") in PAGE_ACCEPTS:
            request.headers.pop("Accept")  # an identity's own, perhaps of the one before
        for name, value in identity.headers:
            if name in _OURS or (whole and name != "Accept"):
                request.headers[name] = value
            else:
                request.headers.setdefault(name, value)
