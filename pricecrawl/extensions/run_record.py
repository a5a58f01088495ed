"""The record of a run: opened before the first request, kept alive while it goes, closed with the truth.

Also the kill switch's ear: the heartbeat that keeps the record alive asks, every second, whether the source
is still allowed to run.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider

from pricecrawl.config import Config
from pricecrawl.domain.egress import EgressKind
from pricecrawl.domain.errors import PricecrawlError, Refused, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.identity import IdentityMode
from pricecrawl.domain.run import EXIT_FAILED, EXIT_PROBLEMS, CoverageReason, RunOutcome, RunResult, exit_code
from pricecrawl.domain.urls import is_loopback
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.extensions.outcome import Facts, conclude

if TYPE_CHECKING:
    from pricecrawl.egress.passage import Passage

logger = logging.getLogger("pricecrawl.run")

# New objects between two looks of the garbage collector; Python's own figure is 700.
_LOOK_AFTER = 10_000
# After how long a thread has to let others in that ask; Python's own figure is 0.005.
_TURN_SECONDS = 0.001
HEARTBEAT_SECONDS = 1.0
# A kill switch that cannot be read counts as pulled.
SILENCE_SECONDS = 20.0
EXIT_STAT = "pricecrawl/exit_code"


class RunRecord:
    """Scrapy extension; opens and closes the run's row."""

    def __init__(self, crawler: Crawler, run: CurrentRun) -> None:
        self._crawler = crawler
        self._run = run
        self._watch: asyncio.Task[None] | None = None
        self._robots_before: str | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RunRecord:
        """Built by Scrapy."""
        extension = cls(crawler, current_run(crawler))
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(extension.lost, signal=signals.spider_error)
        crawler.signals.connect(extension.lost, signal=signals.item_error)
        return extension

    # --- the beginning -------------------------------------------------------------------------

    async def spider_opened(self, spider: Spider) -> None:
        """Open the record, or refuse to start with one sentence."""
        run = self._run
        try:
            require_contact(run.config, run.source.host)
            await run.in_database(self._open)
            assert run.passage is not None
            await run.passage.start()
        except PricecrawlError as problem:
            logger.error("%s", problem)  # noqa: TRY400  (one sentence for a person, not a traceback)
            outcome = RunOutcome.HELD if isinstance(problem, Refused) else RunOutcome.ERROR
            run.result = RunResult(outcome, CoverageReason.PARTIAL, detail=str(problem))
            self._crawler.stats.set_value(EXIT_STAT, problem.exit_code)
            raise CloseSpider("refused_to_start") from None
        run.spider.run_id = run.run_id
        # What is loaded by now stays as long as the crawl: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        # A feed's entries make no cycles, and looking for some every 700 objects costs 4 % of the time.
        gc.set_threshold(_LOOK_AFTER, 10, 10)
        # The threads that write need the interpreter for moments; the crawl waits for them at times.
        sys.setswitchinterval(_TURN_SECONDS)
        self._watch = asyncio.create_task(self._heartbeat())

    def _open(self) -> None:
        """In the database's thread: everything that has to be true before a run begins."""
        from pricecrawl.db.before import last_on_host, last_robots_digest

        run = self._run
        store = run.store
        store.sync_sources([(run.slug, run.spider.platform)])
        state = store.source_state(run.slug)
        if not state.may_run:
            raise Refused(_why_not(run.slug, state.held_reason, state.disabled_reason))
        run.passage = _passage(run, state.identity_mode)
        run.last_complete = store.last_complete_listings(run.slug)
        self._robots_before = last_robots_digest(store.engine, run.slug)
        before = last_on_host(store.engine, run.host_key)
        if before is not None:
            since = (now() - before.ended_at).total_seconds()
            run.turn_at = monotonic() + max(0.0, before.delay - since)
        run.teach()
        run.run_id = store.open_run(
            source=run.slug,
            platform=run.spider.platform,
            host=run.host_key,
            job=run.spider.job,
            pid=os.getpid(),
            now=run.started_at,
        )

    # --- while it goes -------------------------------------------------------------------------

    async def _heartbeat(self) -> None:
        """Say that the run lives, hear whether it may go on, hurry a close that waits for a delay."""
        run = self._run
        heard = monotonic()
        assert run.run_id is not None
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            if run.closing:
                run.drop_waiting()
            try:
                # Not in the database's own thread: a long batch must not delay the kill switch.
                allowed = await asyncio.to_thread(run.store.heartbeat, run.run_id, now())
            except PricecrawlError as problem:
                if monotonic() - heard > SILENCE_SECONDS:
                    run.stop(RunOutcome.ERROR, str(problem))
                continue
            heard = monotonic()
            if not allowed:
                run.stop(RunOutcome.HELD, f"{run.slug} was stopped by its kill switch")
            elif not await asyncio.to_thread(_still_permitted, run):
                run.stop(RunOutcome.HELD, f"the permission of {run.slug} was revoked")

    def lost(self) -> None:
        """An exception in a callback or a pipeline lost a page or a listing: not the whole shop was seen."""
        self._run.counts.callback_errors += 1

    # --- the end -------------------------------------------------------------------------------

    async def spider_closed(self, reason: str) -> None:
        """After the last batch: conclude, write the record, then what follows from it, in order."""
        run = self._run
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        if run.run_id is not None:
            await self._conclude(reason)
        if run.passage is not None:
            await run.passage.close(now())
        for step in run.at_end:
            try:
                await step()
            except Exception:
                logger.exception("a step after run %s failed", run.run_id)
                self._crawler.stats.set_value(EXIT_STAT, EXIT_FAILED)
        gc.unfreeze()
        run.close()

    async def _conclude(self, reason: str) -> None:
        run = self._run
        facts = self._facts(reason)
        result = conclude(facts)
        met = run.source.expect.met(facts.listings) if result.outcome is RunOutcome.FINISHED else None
        code = EXIT_PROBLEMS if met is False else exit_code(result.outcome)
        try:
            await run.in_database(self._finish, result, met)
        except Exception as problem:
            if not isinstance(problem, PricecrawlError):
                logger.exception("the record of run %s could not be written", run.run_id)
            result = RunResult(RunOutcome.ERROR, CoverageReason.PARTIAL, facts.listings, detail=str(problem))
            code = EXIT_FAILED
        run.result = result
        self._crawler.stats.set_value(EXIT_STAT, code)
        logger.log(
            logging.INFO if code == 0 else logging.ERROR,
            "%s: %s, coverage %s (%s), %d listings%s",
            run.slug,
            result.outcome.value,
            result.coverage.value,
            result.reason.value,
            result.listings,
            f": {result.detail}" if result.detail else "",
        )

    def _facts(self, reason: str) -> Facts:
        run, counts, spider = self._run, self._run.counts, self._run.spider
        return Facts(
            close_reason=reason,
            stopped=run.stopped.outcome if run.stopped else None,
            stop_detail=run.stopped.detail if run.stopped else "",
            claimed=spider.coverage_reason,
            claimed_detail=spider.coverage_detail,
            notes="; ".join(spider.notes),
            total=spider.expected_total,
            pages=counts.pages,
            listings=counts.listings,
            lost_pages=counts.lost_pages,
            outages=sum(counts.outages.values()),
            callback_errors=counts.callback_errors,
            forbidden=counts.forbidden,
            last_complete=run.last_complete,
            min_listings=run.source.expect.min_listings,
        )

    def _finish(self, result: RunResult, met: bool | None) -> None:
        """In the database's thread: all that the run leaves behind besides its batches."""
        run = self._run
        store, run_id, spider = run.store, run.run_id, run.spider
        assert run_id is not None
        examples = {key: (found or [""])[0] for key, found in spider.skip_examples.items()}
        store.save_skips(
            run_id, {key.value: (count, examples.get(key, "")) for key, count in spider.skips.items()}
        )
        self._count_gone()
        record: dict[str, Any] = {
            "pages": run.counts.pages,
            "expectations_met": met,
            "robots_digest": run.robots_digest,
            "robots_read_at": run.robots_read_at,
            "delay_seconds": run.delay,
            "identity_mode": run.passage.mode.value if run.passage else IdentityMode.DECLARED.value,
            "notes": spider.notes,
            "coverage_detail": spider.coverage_detail,
            **run.counts.numbers(),
        }
        store.finish_run(run_id, result, record, now())
        store.set_next_due(run.slug, run.started_at + run.source.every)
        self._tell()

    def _count_gone(self) -> None:
        from pricecrawl.db.before import skus_at

        run = self._run
        assert run.run_id is not None
        for skus in skus_at(run.store.engine, run.slug, run.gone_urls).values():
            for sku in skus:
                run.store.gone(run.slug, sku, run.run_id, now())

    def _tell(self) -> None:
        """Events: what the shop refused, and a robots file that changed since the run before."""
        from pricecrawl.db.events import EventLog

        run = self._run
        events = [
            self._event(
                EventType.SOURCE_REFUSED,
                {"reason": refusal.reason.value, "url": refusal.url, "detail": refusal.detail},
            )
            for refusal in run.refusals
            if run.stopped is not None and run.stopped.outcome is RunOutcome.BLOCKED
        ]
        if run.robots_digest and self._robots_before not in (None, run.robots_digest):
            payload = {"before": self._robots_before, "after": run.robots_digest}
            events.append(self._event(EventType.ROBOTS_CHANGED, payload))
        EventLog(run.store.engine).append(events)

    def _event(self, kind: EventType, payload: dict[str, Any]) -> Event:
        run = self._run
        return Event(
            event_id=str(uuid4()),
            event_type=kind,
            aggregate=f"source:{run.slug}",
            correlation_id=f"run:{run.run_id}",
            causation_id=None,
            occurred_at=now(),
            producer="crawl",
            payload={"source": run.slug, "run": run.run_id, **payload},
        )


def _why_not(slug: str, held: str | None, disabled: str | None) -> str:
    if held is not None:
        return (
            f"{slug} is held ({held}); `pricecrawl hold list` shows by whom, `pricecrawl hold clear` ends it."
        )
    why = f" ({disabled})" if disabled else ""
    return f"{slug} is disabled{why}; `pricecrawl sources enable {slug}` lets it run again."


def _passage(run: CurrentRun, mode: str) -> Passage:
    """As whom and through what this run leaves; browser-like only with a permission in force."""
    from pricecrawl.db.permissions import PermissionStore
    from pricecrawl.db.proxies import ProxyStore
    from pricecrawl.egress.passage import Passage

    if run.source.render:
        _require_browser(run)
    engine, moment = run.store.engine, now()
    return Passage(
        run.source,
        run.config,
        ProxyStore(engine),
        mode=IdentityMode(mode),
        permission=PermissionStore(engine).live(run.slug, moment),
        now=moment,
    )


def _require_browser(run: CurrentRun) -> None:
    """A row that wants pages drawn needs something that draws them, before the first request.

    Raises:
        PricecrawlError: with what to install or change.
    """
    from pricecrawl.rendering.chromium import find_chromium

    if not run.config.render_url:
        find_chromium(run.config)
    elif run.source.egress is not EgressKind.DIRECT:
        raise UsageProblem(
            f"{run.slug} leaves through a proxy, which a render server cannot reach: unset "
            'PRICECRAWL_RENDER_URL for it, or give it `egress = "direct"`.'
        )


def _still_permitted(run: CurrentRun) -> bool:
    """False once the permission that a run goes by was revoked."""
    from pricecrawl.db.permissions import PermissionStore

    if run.passage is None or run.passage.permission(now()) is None:
        return True
    return PermissionStore(run.store.engine).live(run.slug, now()) is not None


def require_contact(config: Config, host: str) -> None:
    """A shop must be able to reach us: no contact, no crawl of anything but this very machine.

    Raises:
        UsageProblem: with the variable to set.
    """
    if config.contact is None and not is_loopback(host):
        raise UsageProblem(
            f"Set PRICECRAWL_CONTACT to an e-mail address or URL before crawling {host}: "
            "the shop must be able to reach you."
        )
