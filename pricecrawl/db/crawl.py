"""The crawl side's store: sources, runs, listings and observations. Every call is one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import uuid4

from sqlalchemy import Engine, Select, bindparam, func, select, update
from sqlalchemy.exc import IntegrityError

from pricecrawl.db import absence, doubts, partitions, runs, saving
from pricecrawl.db.crawl_types import (
    BatchResult,
    EvidenceRow,
    GoneResult,
    MissedListing,
    RejectionRow,
    RunRow,
    SourceState,
)
from pricecrawl.db.events import append_events
from pricecrawl.db.evidence_rows import Place, index_evidence
from pricecrawl.db.sql import among, any_of, insert_rows, many, run_event, storable, upsert
from pricecrawl.db.tables import listing, rejection, run, skip_count, source
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method
from pricecrawl.domain.confirmed import Confirmed
from pricecrawl.domain.errors import SourceBusy, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.preference import Preference
from pricecrawl.domain.run import RunResult
from pricecrawl.domain.sanity import Anchor

__all__ = [
    "BatchResult",
    "CrawlStore",
    "EvidenceRow",
    "GoneResult",
    "MissedListing",
    "RejectionRow",
    "RunRow",
    "SourceState",
]

_KNOWN_PAGES = 2000


class CrawlStore:
    """What a crawl reads and writes. Blocking: call it from a thread of its own, one at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._months: set[tuple[int, int]] = set()
        self._pages: dict[Place, int] = {}

    # --- sources -------------------------------------------------------------------------------

    def sync_sources(self, sources: Iterable[tuple[str, str]]) -> None:
        """Make sure that each (slug, platform) has a row; its switches are left as they are."""
        rows = [{"slug": slug, "platform": platform} for slug, platform in sources]
        if not rows:
            return
        with self.engine.begin() as conn:
            statement = upsert(conn, source)
            conn.execute(
                statement.on_conflict_do_update(
                    index_elements=[source.c.slug],
                    set_={"platform": statement.excluded.platform},
                    where=source.c.platform != statement.excluded.platform,
                ),
                rows,
            )

    def source_state(self, slug: str) -> SourceState:
        """Whether a source may run.

        Raises:
            UsageProblem: there is no such source.
        """
        with self.engine.connect() as conn:
            row = conn.execute(select(source).where(source.c.slug == slug)).one_or_none()
            if row is None:
                raise UsageProblem(f"there is no source {slug}: `pricecrawl sources list` names them.")
            return SourceState(
                slug=row.slug,
                enabled=row.enabled,
                identity_mode=row.identity_mode,
                disabled_reason=row.disabled_reason,
                next_due=row.next_due,
                changed_by=row.changed_by,
                changed_at=row.changed_at,
                held_reason=runs.held_reason(conn, slug),
            )

    def set_enabled(self, slug: str, enabled: bool, *, by: str, reason: str, now: datetime) -> None:
        """The kill switch of one source; a running crawl sees it at its next heartbeat.

        Raises:
            UsageProblem: there is no such source.
        """
        with self.engine.begin() as conn:
            change = (
                update(source)
                .where(source.c.slug == slug)
                .values(
                    enabled=enabled,
                    disabled_reason=None if enabled else reason,
                    changed_by=by,
                    changed_at=now,
                )
            )
            if conn.execute(change).rowcount != 1:
                raise UsageProblem(f"there is no source {slug}: `pricecrawl sources list` names them.")
            event = Event(
                event_id=str(uuid4()),
                event_type=EventType.SOURCE_CHANGED,
                aggregate=f"source:{slug}",
                correlation_id=f"source:{slug}",
                causation_id=None,
                occurred_at=now,
                producer="operator",
                payload={"enabled": enabled, "by": by, "reason": reason},
            )
            append_events(conn, [event])

    def set_next_due(self, slug: str, due: datetime) -> None:
        """When the source should be crawled next."""
        with self.engine.begin() as conn:
            conn.execute(update(source).where(source.c.slug == slug).values(next_due=due))

    # --- runs ----------------------------------------------------------------------------------

    def open_run(
        self, *, source: str, platform: str, host: str, job: str | None, pid: int, now: datetime
    ) -> int:
        """Open a run and return its id.

        `host` is the shop's host and port; runs with an empty one never wait for each other. A run of
        the source or host that was left open is closed as `interrupted` if its process is dead or its
        heartbeat stale.

        Raises:
            SourceBusy: such a run is still going on.
        """
        month = partitions.month_of(now)
        partitions.ensure(self.engine, {month, partitions.month_after(month)})
        try:
            with self.engine.begin() as conn:
                return runs.open_run(
                    conn, slug=source, shop_platform=platform, host=host, job=job, pid=pid, now=now
                )
        except IntegrityError as error:
            if "foreign key" in str(error.orig).lower():
                raise UsageProblem(
                    f"there is no source {source}: `pricecrawl sources list` names them."
                ) from None
            raise SourceBusy(
                f"{source} has to wait: another run of it or of its host {host} began at this moment."
            ) from None

    def heartbeat(self, run_id: int, now: datetime) -> bool:
        """A sign of life every few seconds; False means stop: disabled, held, or no longer our run."""
        with self.engine.begin() as conn:
            return runs.heartbeat(conn, run_id, now)

    def finish_run(self, run_id: int, result: RunResult, counts: Mapping[str, Any], now: datetime) -> bool:
        """Close a run. Keys of `counts` that are columns of `run` go there, the rest into its JSON.

        Returns False, and changes nothing, if the run was closed before.
        """
        with self.engine.begin() as conn:
            return runs.finish(conn, run_id, result, counts, now)

    def last_complete_listings(self, source: str) -> int | None:
        """How many listings the last COMPLETE run saw, or None if there was none."""
        with self.engine.connect() as conn:
            return runs.last_complete_listings(conn, source)

    def recent_runs(self, source: str, limit: int = 10) -> list[RunRow]:
        """The latest runs of a source, newest first."""
        with self.engine.connect() as conn:
            return runs.recent(conn, source, limit)

    def listings_seen(self, run_id: int) -> int:
        """How many distinct listings a run has stored so far."""
        with self.engine.connect() as conn:
            query = select(func.coalesce(func.max(run.c.listings), 0)).where(run.c.id == run_id)
            return int(conn.execute(query).scalar_one())

    # --- what a run finds ----------------------------------------------------------------------

    def anchors(self, source: str, skus: Sequence[str]) -> dict[str, tuple[Anchor, Preference | None]]:
        """Last accepted price and saved preference of each listing that we have."""
        found: dict[str, tuple[Anchor, Preference | None]] = {}
        with self.engine.connect() as conn:
            query = _anchors_query(conn.dialect.name)
            for row in conn.execute(query, {"source": source, "skus": many(conn, skus)}):
                preference = (
                    Preference(Method(row.preferred_method), row.preferred_selector)
                    if row.preferred_method
                    else None
                )
                anchor = Anchor(row.price, row.currency, Availability(row.availability))
                found[row.source_sku] = (anchor, preference)
        return found

    def confirmed(self, source: str, skus: Sequence[str]) -> dict[str, Confirmed]:
        """What a person last confirmed of listings, where it still is the accepted price."""
        if not skus:
            return {}
        with self.engine.connect() as conn:
            return doubts.confirmed(conn, source, skus)

    def save_batch(
        self, run_id: int, observations: Sequence[Observation], evidence: Sequence[EvidenceRow]
    ) -> BatchResult:
        """Store a batch, all of it or nothing; see `saving` for what it decides.

        Raises:
            SourceBusy: the run is no longer open.
        """
        if not observations and not evidence:
            return BatchResult()
        months = {partitions.month_of(item.observed_at) for item in observations} - self._months
        if months:
            partitions.ensure(self.engine, months)
            self._months |= months
        try:
            with self.engine.begin() as conn:
                result, pages = saving.save(conn, run_id, observations, evidence, self._pages)
        except IntegrityError:
            # Somebody else wrote one of the same new rows between our reading and our writing.
            with self.engine.begin() as conn:
                result, pages = saving.save(conn, run_id, observations, evidence, {})
        self._remember(pages)
        return result

    def save_rejections(self, run_id: int, rejections: Sequence[RejectionRow]) -> None:
        """Store rejections. A listing that we have was seen, though not understood: it is not missing."""
        if not rejections:
            return
        refs = [item.evidence for item in rejections if item.evidence is not None]
        with self.engine.begin() as conn:
            slug = str(conn.execute(select(run.c.source).where(run.c.id == run_id)).scalar_one())
            pages = index_evidence(conn, run_id, stored=(), refs=refs, known=self._pages)
            rows = [
                {
                    "run_id": run_id,
                    "source_sku": storable(item.source_sku)[:300],
                    "url": storable(item.url),
                    "reason": str(item.reason),
                    "detail": storable(item.detail),
                    "evidence_id": pages[item.evidence.warc, item.evidence.offset] if item.evidence else None,
                    "rejected_at": item.rejected_at,
                }
                for item in rejections
            ]
            insert_rows(conn, rejection, rows)
            conn.execute(
                update(run).where(run.c.id == run_id).values(rejections=run.c.rejections + len(rows))
            )
            self._touch(conn, run_id, slug, [item.source_sku for item in rejections if item.source_sku])
            # Read, and not made comparable.
            told = {
                "source": slug,
                "count": len(rows),
                "rejected": Counter(str(item.reason) for item in rejections),
            }
            now = max(item.rejected_at for item in rejections)
            append_events(conn, [run_event(EventType.OFFER_EXTRACTED, run_id, now, told)])
        self._remember(pages)

    def mark_seen(self, run_id: int, skus: Sequence[str]) -> None:
        """Listings that the shop still lists though nothing new was read: they are not missing."""
        with self.engine.begin() as conn:
            slug = str(conn.execute(select(run.c.source).where(run.c.id == run_id)).scalar_one())
            self._touch(conn, run_id, slug, skus)

    def save_skips(self, run_id: int, skips: Mapping[str, tuple[int, str]]) -> None:
        """Set the run's skips so far: reason to (count, one example). The last call stands."""
        if not skips:
            return
        rows = [
            {"run_id": run_id, "reason": str(reason), "count": count, "example": storable(example)}
            for reason, (count, example) in skips.items()
        ]
        with self.engine.begin() as conn:
            statement = upsert(conn, skip_count)
            conn.execute(
                statement.on_conflict_do_update(
                    index_elements=[skip_count.c.run_id, skip_count.c.reason],
                    set_={"count": statement.excluded.count, "example": statement.excluded.example},
                ),
                rows,
            )
            total = (
                select(func.coalesce(func.sum(skip_count.c.count), 0))
                .where(skip_count.c.run_id == run_id)
                .scalar_subquery()
            )
            conn.execute(update(run).where(run.c.id == run_id).values(skips=total))

    # --- what it did not find ------------------------------------------------------------------

    def count_misses(self, run_id: int, now: datetime) -> list[MissedListing]:
        """Count one miss for each listing the run did not see; returns those now out of stock.

        Call it after `finish_run`. A second call for the same run changes nothing.

        Raises:
            ValueError: the run did not finish well with COMPLETE coverage.
        """
        with self.engine.begin() as conn:
            return absence.count_misses(conn, run_id, now)

    def gone(self, source: str, source_sku: str, run_id: int, now: datetime) -> GoneResult | None:
        """Count that a listing's own page said it is gone; None if we do not have the listing."""
        with self.engine.begin() as conn:
            return absence.gone(conn, source, source_sku, run_id, now)

    def not_gone(self, source: str, source_sku: str) -> None:
        """The listing's page is there again: the streak ends and checks resume."""
        with self.engine.begin() as conn:
            absence.not_gone(conn, source, source_sku)

    def paused(self, source: str, skus: Sequence[str]) -> set[str]:
        """Those of the listings whose checking is paused because their pages were gone."""
        with self.engine.connect() as conn:
            query = select(listing.c.source_sku).where(
                listing.c.source == source, among(conn, listing.c.source_sku, skus), listing.c.checking_paused
            )
            return set(conn.execute(query).scalars())

    # --- inside --------------------------------------------------------------------------------

    def _touch(self, conn: Any, run_id: int, slug: str, skus: Sequence[str]) -> None:
        conn.execute(
            update(listing)
            .where(listing.c.source == slug, among(conn, listing.c.source_sku, skus))
            .values(last_seen_run=run_id, consecutive_misses=0)
        )

    def _remember(self, pages: Mapping[Place, int]) -> None:
        """Keep the ids of the latest pages only: one page gives many listings, over several batches."""
        self._pages.update(pages)
        for place in list(self._pages)[: max(0, len(self._pages) - _KNOWN_PAGES)]:
            del self._pages[place]


@lru_cache(maxsize=4)
def _anchors_query(dialect: str) -> Select[Any]:
    """Built once: it is asked for every page."""
    columns = (
        listing.c.source_sku,
        listing.c.price,
        listing.c.currency,
        listing.c.availability,
        listing.c.preferred_method,
        listing.c.preferred_selector,
    )
    return select(*columns).where(
        listing.c.source == bindparam("source"), any_of(dialect, listing.c.source_sku, "skus")
    )
