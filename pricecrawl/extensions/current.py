"""The run in progress: the one object that middlewares, pipelines and extensions of a crawler share.

Scrapy opens pipelines and extensions in parallel, so none may rely on another having been opened; each
asks `current_run(crawler)` instead, and what must exist first is made on demand here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from pricecrawl.config import Config
from pricecrawl.domain.challenge import Classification
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.observation import EvidenceRef, Observation
from pricecrawl.domain.reasons import RefusalReason
from pricecrawl.domain.run import RunOutcome, RunResult
from pricecrawl.domain.urls import host_key, is_loopback
from pricecrawl.extensions.counts import Counts, Refusal
from pricecrawl.extensions.pages import NOTHING_KNOWN, Handful, Known, Packing, Page, fetched_from
from pricecrawl.middlewares.pace import PacedDownloader

if TYPE_CHECKING:
    from pricecrawl.db.crawl import CrawlStore, EvidenceRow, RejectionRow
    from pricecrawl.domain.normalize import Rejected
    from pricecrawl.egress.passage import Passage
    from pricecrawl.evidence.store import EvidenceStore, WarcWriter
    from pricecrawl.spiders.base import PlatformSpider

logger = logging.getLogger("pricecrawl.run")

T = TypeVar("T")

# The least time between two requests to a public host; robots and rows may only ask for more.
PACE_FLOOR_SECONDS = 1.0
# A page that a browser draws costs the shop a hundred requests: they come no faster than this.
RENDER_FLOOR_SECONDS = 10.0
_KEPT_REFUSALS = 100


def now() -> datetime:
    """The time, aware and in UTC; the only clock of the crawl side."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ends before its spider has nothing left to do; `detail` is one sentence for a person."""

    outcome: RunOutcome
    detail: str


class CurrentRun:
    """One crawl of one source while it happens.

    `stopped` is set once, by whatever ends the run early; every later request is ignored. `result` is set
    when the run's record is written, after the last batch; then `at_end` is called, in order. `turn_at` is
    the monotonic time before which the host must not be asked, for the sake of the run before. `room` is
    clear while the pipelines hold as much as they should. `passage` is the way out, opened with the run.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.config: Config = Config.load()
        self.counts = Counts()
        self.refusals: list[Refusal] = []
        self.run_id: int | None = None
        self.started_at = now()
        self.last_complete: int | None = None
        self.turn_at = 0.0
        self.delay = 0.0
        self.learns = False
        self.robots_digest: str | None = None
        self.robots_read_at: datetime | None = None
        self.stopped: Stop | None = None
        self.result: RunResult | None = None
        self.passage: Passage | None = None
        self.at_end: list[Callable[[], Awaitable[None]]] = []
        self._ended = asyncio.Event()
        self._own: dict[int, Request] = {}
        self._gone: dict[str, str] = {}
        self._evidence_rows: list[EvidenceRow] = []
        self._rejection_rows: list[RejectionRow] = []
        self.room = asyncio.Event()
        self.room.set()
        self._store: CrawlStore | None = None
        self._evidence: EvidenceStore | None = None
        self._writer: WarcWriter | None = None
        # One thread each: batches keep their order, a WARC file has one writer, and a page that asks what is
        # known of its listings does not queue behind a batch.
        self._threads = {
            name: ThreadPoolExecutor(1, thread_name_prefix=f"pricecrawl-{name}")
            for name in ("database", "reads", "files")
        }
        self._tasks: set[asyncio.Task[None]] = set()

    # --- what the run is of --------------------------------------------------------------------

    @property
    def spider(self) -> PlatformSpider[Any]:
        """The spider; its class knows the source (a row) that it was made for."""
        return self.crawler.spider  # type: ignore[return-value]  # only platform spiders run in this project

    @property
    def source(self) -> Any:
        """The row of the source that this run crawls."""
        return self.spider.source

    @property
    def slug(self) -> str:
        """The source's name in every table."""
        return str(self.source.slug)

    @property
    def host_key(self) -> str:
        """What this run shares with every run that must not go on at the same time."""
        return host_key(self.source.base_url)

    def is_home(self, origin: str) -> bool:
        """True for the origin of the source's own address."""
        home = urlsplit(self.source.base_url)
        return origin == f"{home.scheme}://{home.netloc}"

    # --- where things are kept -----------------------------------------------------------------

    @property
    def store(self) -> CrawlStore:
        """The database, opened at first use; raises a one-sentence error if it cannot be."""
        if self._store is None:
            from pricecrawl.db.crawl import CrawlStore
            from pricecrawl.db.engine import open_engine

            self._store = CrawlStore(open_engine(self.config.database_url))
        return self._store

    async def in_database(self, call: Callable[..., T], *args: Any) -> T:
        """Run a database call in the database's own thread."""
        return await self._in("database", call, *args)

    async def _in(self, thread: str, call: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads[thread], call, *args)

    async def handful(self, listings: list[RawListing], page: Page) -> Handful:
        """Write a page to evidence, once, and learn what earlier runs know of these listings.

        Raises:
            StorageProblem: the page cannot be kept or the database does not answer.
        """
        await self.room.wait()
        known: dict[str, Known] | PricecrawlError
        if page.ref is None and page.response is not None:
            packing = page.packing or self._packing(page.response, "page")
            page.packing = None
            ref, known = await self._in("files", self._write_and_ask, packing, listings)
            self._count_evidence(packing, ref)
            page.ref = ref
        else:
            known = await self._in("reads", self._ask, listings)
        if isinstance(known, PricecrawlError):
            raise known
        return Handful(page, listings, known)

    def _write_and_ask(
        self, packing: Packing, listings: Sequence[RawListing]
    ) -> tuple[EvidenceRef, dict[str, Known] | PricecrawlError]:
        """Both in one go: to hand work to a thread and take it back costs more than most pages' question.

        A record that was written counts whether or not the database then answers.
        """
        ref = self._write(packing)
        try:
            return ref, self._ask(listings)
        except PricecrawlError as problem:
            return ref, problem

    def expect(self, page: Page) -> None:
        """Listings of this page are likely: make its evidence ready while its spider reads it."""
        if page.response is not None:
            page.packing = self._packing(page.response, "page")
            self._threads["files"].submit(self._pack, page.packing)

    def _ask(self, listings: Sequence[RawListing]) -> dict[str, Known]:
        """In a thread: the last accepted price, the preference, and what else carries the same GTIN."""
        from pricecrawl.db.before import sizes_of

        anchors = self.store.anchors(self.slug, [raw.source_sku for raw in listings])
        # Who confirmed a price left a preference, so the others need not be asked about.
        confirmed = self.store.confirmed(self.slug, [sku for sku, (_, said) in anchors.items() if said])
        found = {
            sku: Known(anchor, preference, confirmed=confirmed.get(sku))
            for sku, (anchor, preference) in anchors.items()
        }
        gtins = {
            raw.source_sku: gtin
            for raw in listings
            if raw.gtin_text and (gtin := read_gtin(raw.gtin_text).gtin14)
        }
        sizes = sizes_of(self.store.engine, sorted(set(gtins.values()))) if gtins else {}
        for sku, gtin in gtins.items():
            others = {
                (size.quantity, size.unit)
                for size in sizes.get(gtin, ())
                if (size.source, size.source_sku) != (self.slug, sku)
            }
            if len(others) == 1:
                known = found.get(sku, NOTHING_KNOWN)
                found[sku] = replace(known, sizes={gtin: others.pop()})
        return found

    async def keep(self, response: Response, *, kind: str) -> EvidenceRef:
        """Write a response to the evidence store, once, in the file thread.

        Raises:
            StorageProblem: the store cannot be written.
        """
        packing = self._packing(response, kind)
        ref = await self._in("files", self._write, packing)
        self._count_evidence(packing, ref)
        return ref

    def _packing(self, response: Response, kind: str) -> Packing:
        return Packing(fetched_from(response, kind=kind, fetched_at=now()))

    def _count_evidence(self, packing: Packing, ref: EvidenceRef) -> None:
        from pricecrawl.db.crawl import EvidenceRow

        fetched = packing.fetched
        self._evidence_rows.append(EvidenceRow(ref=ref, status=fetched.status, kind=fetched.kind))
        self.counts.evidence_records += 1
        self.counts.evidence_bytes += ref.length

    def _pack(self, packing: Packing) -> None:
        """In the file thread, before the same page's `_write`, which repeats what fails here and says so."""
        with contextlib.suppress(PricecrawlError, OSError):
            packing.parcel = self._file_writer().pack(packing.fetched)

    def _write(self, packing: Packing) -> EvidenceRef:
        return self._file_writer().write(packing.fetched, packing.parcel)

    def _file_writer(self) -> WarcWriter:
        if self._writer is None:
            from pricecrawl.evidence.store import EvidenceStore

            self._evidence = EvidenceStore(self.config.evidence_url)
            self._writer = self._evidence.writer(self.slug, self.run_id or 0)
        return self._writer

    def reject(self, item: RawListing, rejected: Rejected) -> None:
        """A rejection becomes a row with the next batch."""
        from pricecrawl.db.crawl import RejectionRow

        self.counts.rejections[rejected.reason] += 1
        self._rejection_rows.append(
            RejectionRow(
                source_sku=item.source_sku,
                url=item.url,
                reason=rejected.reason.value,
                detail=rejected.detail,
                rejected_at=now(),
                evidence=item.evidence,
            )
        )

    async def save(self, batch: Sequence[Observation]) -> None:
        """Store a batch with the evidence and the rejections that gathered since the last one.

        Raises:
            PricecrawlError: the database does not take it; nothing of the batch is stored.
        """
        evidence, self._evidence_rows = self._evidence_rows, []
        rejections, self._rejection_rows = self._rejection_rows, []
        if self.run_id is None or not (batch or evidence or rejections):
            return
        if self._writer is not None:
            # On an object store this is what writes the records; no reference may point at what is not there.
            await self._in("files", self._writer.publish)
        result = await self.in_database(self.store.save_batch, self.run_id, batch, evidence)
        if rejections:
            await self.in_database(self.store.save_rejections, self.run_id, rejections)
        if self.learns and batch:
            await self.in_database(self._learn, batch)
        counts = self.counts
        counts.observations += result.inserted
        counts.listings += result.listings
        counts.new_listings += result.new_listings
        counts.price_changes += result.price_changes
        counts.stock_changes += result.stock_changes
        counts.reviews += result.reviews

    def teach(self) -> None:
        """In the database's thread: give the spider the selectors that earlier runs learned for its shop."""
        from pricecrawl.db.learning import LearningStore

        learned = LearningStore(self.store.engine).selectors(self.slug)
        teach = getattr(self.spider, "teach", None)
        if learned and teach is not None:
            teach({kind: [entry.selector for entry in entries] for kind, entries in learned.items()})
            self.learns = True

    def _learn(self, batch: Sequence[Observation]) -> None:
        from pricecrawl.db.learning import LearningStore

        LearningStore(self.store.engine).learn(self.slug, batch, now())

    def close(self) -> None:
        """Let go of threads and connections; the run is over."""
        _runs.pop(self.crawler, None)
        if self._writer is not None:
            self._threads["files"].submit(self._writer.close)
        for thread in self._threads.values():
            thread.shutdown(wait=True)
        if self._store is not None:
            self._store.engine.dispose()

    # --- what it fetches -----------------------------------------------------------------------

    @contextmanager
    def own(self, request: Request) -> Iterator[None]:
        """Mark a request as ours (a robots file) while it is under way.

        By identity, not by a meta key: nothing a spider writes into a request can make it look like this.
        """
        self._own[id(request)] = request
        try:
            yield
        finally:
            del self._own[id(request)]

    def is_own(self, request: Request) -> bool:
        """True for a robots fetch of this run."""
        return self._own.get(id(request)) is request

    def gone(self, url: str, rule: str) -> None:
        """A product's page said that it is gone; counted in the database when the run ends."""
        self.counts.gone += 1
        self._gone[url] = rule

    @property
    def gone_urls(self) -> Sequence[str]:
        """Addresses of product pages that are gone."""
        return list(self._gone)

    # --- how fast ------------------------------------------------------------------------------

    def own_delay(self, host: str) -> float:
        """Seconds between two requests that the row and we ask for, before any robots file.

        Our own floor holds for every public host; a shop on this very machine only has the row's.
        """
        asked = float(self.source.delay_seconds)
        if is_loopback(host):
            return asked
        if self.source.render:
            asked = max(asked, RENDER_FLOOR_SECONDS)
        return max(asked, PACE_FLOOR_SECONDS, self.crawler.settings.getfloat("DOWNLOAD_DELAY"))

    async def wait_for_turn(self) -> None:
        """Wait until the pace of the run before this one on the same host allows a request."""
        remaining = self.turn_at - monotonic()
        if remaining > 0:
            logger.info("waiting %.1f s for the pace of the run before on %s", remaining, self.host_key)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), remaining)

    # --- how it ends ---------------------------------------------------------------------------

    def stop(self, outcome: RunOutcome, detail: str) -> None:
        """End the run early; the first caller decides the outcome.

        Safe to call from a middleware or a pipeline: the engine closes in a task of its own, because it
        waits for the very request or item that is asking.
        """
        if self.stopped is not None:
            return
        self.stopped = Stop(outcome, detail)
        self._ended.set()
        log = logger.error if outcome is RunOutcome.ERROR else logger.warning
        log("%s: %s", outcome.value, detail)
        self.drop_waiting()
        if self.closing:
            return
        task = asyncio.get_running_loop().create_task(
            self.crawler.engine.close_spider_async(reason=outcome.value)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def closing(self) -> bool:
        """True once the engine has begun to close, whoever asked it to."""
        slot = self.crawler.engine._slot  # noqa: SLF001  (Scrapy has no signal for the begin of a close)
        return slot is None or slot.closing is not None

    def drop_waiting(self) -> None:
        """Drop the requests that wait for their turn, so that ending takes no delay."""
        downloader = self.crawler.engine.downloader
        if isinstance(downloader, PacedDownloader):
            downloader.drop_waiting()

    def refuse(self, reason: RefusalReason, url: str, detail: str) -> None:
        """Record that the shop said no; whether the run goes on is the caller's decision."""
        self.counts.refusals[reason] += 1
        if len(self.refusals) < _KEPT_REFUSALS:
            self.refusals.append(Refusal(reason, url, detail))

    def note(self, text: str) -> None:
        """A line in the log, at a level that a person who looks for trouble reads."""
        logger.warning("%s", text)


def classified(request: Request, found: Classification) -> None:
    """Leave a response's classification for the middlewares outside of the one that made it."""
    request.meta["pricecrawl_classification"] = found


def classification_of(request: Request) -> Classification | None:
    """What the challenge middleware made of the response to this request."""
    found = request.meta.get("pricecrawl_classification")
    return found if isinstance(found, Classification) else None


_runs: WeakKeyDictionary[Crawler, CurrentRun] = WeakKeyDictionary()


def current_run(crawler: Crawler) -> CurrentRun:
    """The run of a crawler; made when first asked for."""
    run = _runs.get(crawler)
    if run is None:
        run = _runs[crawler] = CurrentRun(crawler)
    return run
