"""What every platform's spider shares: its row, what it skipped, and how much of the shop it saw."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from pricecrawl.config import Config
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.extraction.document import Document
from pricecrawl.middlewares.verdicts import BudgetSpent, Forbidden, OffLimits, PageGone
from pricecrawl.sources.model import Source
from pricecrawl.spiders.seen import SeenIds

S = TypeVar("S", bound=Source)
MAX_EXAMPLES = 5
_GONE = (404, 410)

# Weakest last: a run is as complete as its weakest part.
_STRENGTH = (
    CoverageReason.COUNTED,
    CoverageReason.EXHAUSTED,
    CoverageReason.SCOPED,
    CoverageReason.CAPPED,
    CoverageReason.SHRUNK,
    CoverageReason.PARTIAL,
    CoverageReason.REFUSED,
)


class PlatformSpider(Spider, Generic[S]):
    """Base of one spider per shop software. This text is the manual for adding one.

    A module in `spiders/` has three parts in this order: the row type (a `Source` subclass with the
    keys that only this platform needs), the navigation, and the reading. It sets `platform` (the
    name of its row file) and `source_model`. The loader makes one spider per row; nothing is registered.

    Navigation: yield the first requests from `first_requests()`. Build each with `self.get(url,
    callback)`, which also sends failures to `failed()`. A shop that pages: end the walk when a page brings
    nothing new (a `Walk` tells), never only because it is short, and put a cap on the pages.

    Reading: yield a `RawListing` per variant, text as seen, through `self.fresh(...)`. An entry that is
    not a listing is `self.skip(reason, example)`, so that it is counted. Prefer a pure function in
    `extraction/platforms/` that takes the parsed feed, because `pricecrawl extract` can use it too.

    Coverage: a run is PARTIAL until the spider says otherwise with `self.coverage(reason, total)`, once
    for each part of the shop that it walked; the weakest word stands. Say COUNTED only when the shop's own
    total equals the distinct ids seen, EXHAUSTED when it gives no total and the last page was empty. Any
    failed request, and any exception in a callback, makes the run PARTIAL by itself.

    If a shop needs a header, a session or an address of its own: that is a permission, not a setting.
    """

    platform: ClassVar[str] = ""
    source_model: ClassVar[type[Source]] = Source
    source: S
    allowed_domains: Sequence[str] = ()

    # Set by the run record when the run is opened.
    run_id: int | None = None

    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        if getattr(self, "source", None) is None:
            raise UsageError(
                f"{type(self).__name__} reads a platform; crawl one of its sources (see `scrapy list`)."
            )
        self.check_arguments(kwargs)
        self.job: str | None = kwargs.get("_job")
        self.only_sku: str = kwargs.get("only_sku", "")
        self.only_url: str = kwargs.get("only_url", "")
        super().__init__(name)
        self.market: Market = self.source.market
        self.seen = SeenIds()
        self.skips: Counter[SkipReason] = Counter()
        self.skip_examples: dict[SkipReason, list[str]] = {}
        self.notes: list[str] = []
        self.expected_total: int | None = None
        self._coverage: CoverageReason | None = None
        self._coverage_details: list[str] = []
        self._open_walks = 0

    def teach(self, learned: Mapping[PriceKind, Sequence[str]]) -> None:
        """Hear which selectors the shop's earlier pages taught, before the first request.

        A platform that reads feeds has no use for them; one that reads pages puts them before its row's.
        """

    @classmethod
    def bound(cls, source: Source) -> type[Self]:
        """The spider of one row: a subclass that carries the row and has its slug as name."""
        host = source.host.removeprefix("www.")
        return type(
            f"{cls.__name__}_{source.slug.replace('-', '_')}",
            (cls,),
            {
                "__module__": cls.__module__,
                "__doc__": cls.__doc__,
                "name": source.slug,
                "source": source,
                "allowed_domains": [host, *source.extra_hosts],
            },
        )

    @classmethod
    def check_arguments(cls, arguments: Iterable[str]) -> None:
        """Refuse an argument that no spider knows; `_job` is what Scrapyd passes."""
        unknown = sorted(set(arguments) - {"_job", "only_sku", "only_url"})
        if unknown:
            raise UsageError(
                f"A source takes no argument {', '.join(unknown)}; there are: only_sku, only_url."
            )

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """A row may ask for a slower pace than ours, never for a faster one."""
        super().update_settings(settings)
        source = getattr(cls, "source", None)
        if source is not None and source.delay_seconds > settings.getfloat("DOWNLOAD_DELAY"):
            settings.set("DOWNLOAD_DELAY", source.delay_seconds, priority="spider")
        if source is not None and source.render:
            handler = "ServerHandler" if Config.load().render_url else "InProcessHandler"
            drawn = dict.fromkeys(("http", "https"), f"pricecrawl.rendering.handler.{handler}")
            handlers = {**settings.getdict("DOWNLOAD_HANDLERS"), **drawn}
            settings.set("DOWNLOAD_HANDLERS", handlers, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider and listen for exceptions in its callbacks."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.callback_failed, signal=signals.spider_error)
        return spider

    # --- navigation -------------------------------------------------------------------------

    async def start(self) -> AsyncIterator[Any]:
        """The first requests of the whole shop, or of the one listing asked for."""
        if self.only_sku or self.only_url:
            self.coverage(CoverageReason.SCOPED, detail="one listing read again")
            request = self.read_one(self.only_sku, self.only_url)
            if request is not None:
                yield request
            return
        for request in self.first_requests():
            yield request

    def first_requests(self) -> Iterable[Request]:
        """Where the walk of the whole shop begins."""
        raise NotImplementedError

    def read_one(self, source_sku: str, url: str) -> Request | None:
        """The request that reads one published listing again; None if this platform has no such page.

        Its callback yields the listing with that `source_sku` and nothing else.
        """
        return None

    def reread(self, response: Response) -> Iterable[Request | RawListing]:
        """The listings of one stored page, read by today's rules; requests among them are not sent.

        `response` is any page that listings were read from before, as the shop once answered it.
        """
        raise UsageProblem(f"Pages of the platform {self.platform} cannot be read again from evidence.")

    def get(self, url: str, callback: Callable[..., Any], **options: Any) -> Request:
        """A request of this shop; failures go to `failed` unless `errback` says otherwise."""
        options.setdefault("errback", self.failed)
        return Request(url, callback=callback, dont_filter=True, **options)

    def failed(self, failure: Failure) -> Iterable[Request] | None:
        """A request that gave no page: what it means for the coverage of the run.

        An override may give requests to go on with.
        """
        self.lost(failure)
        return None

    def lost(self, failure: Failure) -> None:
        """Judge a request that gave no page."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        error = failure.value
        reason, detail = CoverageReason.PARTIAL, f"{type(error).__name__} at {request.url}"
        if isinstance(error, HttpError):
            status = error.response.status
            detail = f"HTTP {status} at {request.url}"
            if status in _GONE and request.meta.get("product"):
                self.skip(SkipReason.PAGE_GONE, request.url)
                return
        elif isinstance(error, PageGone):
            self.skip(SkipReason.PAGE_GONE, request.url)
            return
        elif isinstance(error, OffLimits):
            self.skip(SkipReason.OUT_OF_SCOPE, request.url)
            reason, detail = CoverageReason.SCOPED, f"{request.url} is on another host"
        elif isinstance(error, Forbidden):
            # A robots rule limits the walk, it does not break it: what it hides is not missing.
            self.skip(SkipReason.ROBOTS_PATH, request.url)
            reason, detail = CoverageReason.SCOPED, f"robots.txt does not allow {request.url}"
        elif isinstance(error, BudgetSpent):
            reason, detail = CoverageReason.CAPPED, str(error)
        walk = request.cb_kwargs.get("walk")
        if isinstance(walk, Walk):
            walk.end(reason, detail=detail)
        else:
            self.coverage(reason, detail=detail)

    def callback_failed(self, failure: Failure, response: Response | None) -> None:
        """An exception in a callback loses a part of the page; Scrapy logs it.

        An exception in the first requests comes without a response: whatever they had left is lost.
        """
        where = f"reading {response.url}" if response is not None else "making the first requests"
        self.coverage(CoverageReason.PARTIAL, detail=f"{type(failure.value).__name__} {where}")

    def json(self, response: Response) -> Any:
        """The parsed body, or None (and a PARTIAL run) when it is not JSON whatever its status says."""
        try:
            return json.loads(response.body)
        except ValueError:
            self.coverage(CoverageReason.PARTIAL, detail=f"not JSON: {response.url}")
            return None

    def document(self, response: Response) -> Document:
        """The page, decoded and parsed once, with what is known of its market."""
        headers = {
            k.decode("latin-1").lower(): b", ".join(v).decode("latin-1") for k, v in response.headers.items()
        }
        return Document.from_bytes(
            response.body,
            url=response.url,
            status=response.status,
            headers=headers,
            locale=self.source.locale,
        )

    # --- what was seen ----------------------------------------------------------------------

    def fresh(self, listings: Iterable[RawListing]) -> Iterator[RawListing]:
        """Each listing once in a run, by its `source_sku`; a second sight is a counted skip."""
        for listing in listings:
            if self.seen.add(listing.source_sku):
                yield listing
            else:
                self.skip(SkipReason.DUPLICATE, listing.url)

    def skip(self, reason: SkipReason, example: str = "") -> None:
        """Count an entry that was seen and is not a listing; keep a few examples."""
        self.skips[reason] += 1
        examples = self.skip_examples.setdefault(reason, [])
        if example and len(examples) < MAX_EXAMPLES:
            examples.append(example[:500])

    def note(self, text: str) -> None:
        """One sentence for the run record about something found out on the way."""
        self.logger.info(text)
        if text not in self.notes:
            self.notes.append(text)

    # --- coverage ---------------------------------------------------------------------------

    def coverage(self, reason: CoverageReason, total: int | None = None, detail: str = "") -> None:
        """Say how much of the shop, or of a part of it, was seen.

        `total` is the shop's own count; those of parts add up. The weakest reason stands.
        """
        if total is not None:
            self.expected_total = (self.expected_total or 0) + total
        if self._coverage is None or _STRENGTH.index(reason) > _STRENGTH.index(self._coverage):
            self._coverage = reason
        if detail and len(self._coverage_details) < MAX_EXAMPLES:
            self._coverage_details.append(detail)

    @property
    def coverage_reason(self) -> CoverageReason:
        """The run's coverage as of now; PARTIAL while a walk is open or nothing was said."""
        if self._coverage is None:
            return CoverageReason.PARTIAL
        open_walks = [CoverageReason.PARTIAL] if self._open_walks else []
        return max([self._coverage, *open_walks], key=_STRENGTH.index)

    @property
    def coverage_detail(self) -> str:
        """Why the coverage is what it is, in a few words."""
        return "; ".join(self._coverage_details)

    def walk(self, name: str) -> Walk:
        """Begin to page through one part of the shop; the run stays PARTIAL until it is ended."""
        self._open_walks += 1
        return Walk(self, name)

    def walk_ended(self) -> None:
        """Called by a walk when it ends."""
        self._open_walks -= 1

    # --- reading ----------------------------------------------------------------------------

    def set_currency(self, code: str, where: str) -> None:
        """The shop states its currency: use it where the row leaves it open, and say where it was found."""
        self.market = replace(self.market, currency=code)
        self.note(f"currency {code} from {where}")

    def wanted(self, listing: RawListing) -> bool:
        """False for a listing that is not the one asked for with `only_sku`."""
        return not self.only_sku or listing.source_sku == self.only_sku


class Walk:
    """Paging through one part of a shop (the whole feed, a category): what it has seen, and its end."""

    def __init__(self, spider: PlatformSpider[Any], name: str) -> None:
        self.name = name
        self.pages = 0
        self.seen = SeenIds()
        self._spider = spider
        self._urls = SeenIds()
        self._ended = False

    def page(self, ids: Iterable[str], url: str = "") -> int:
        """Count a page with these platform ids; returns how many of them this walk had not seen.

        Zero ends the walk: many shops answer a page beyond the last with the first or last again.
        """
        self.pages += 1
        if url:
            self._urls.add(url)
        return sum(self.seen.add(key) for key in ids)

    def visited(self, url: str) -> bool:
        """True if this walk was at `url`: a "next" that points at itself or back is no next."""
        return url in self._urls

    def end(self, reason: CoverageReason, total: int | None = None, detail: str = "") -> None:
        """This part was walked as far as it will be; said once."""
        if not self._ended:
            self._ended = True
            self._spider.walk_ended()
            self._spider.coverage(reason, total, f"{self.name}: {detail}" if detail else "")
