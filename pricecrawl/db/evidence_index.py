"""Finding evidence by source and time, rebuilding the index from files, and what may be pruned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import CompoundSelect, Engine, func, select, union, update

from pricecrawl.db.sql import chunks, insert_rows, next_ids, storable
from pricecrawl.db.tables import (
    candidate_review,
    evidence,
    listing,
    market_price_snapshot,
    observation,
    price_history,
    rejection,
    run,
)
from pricecrawl.domain.observation import EvidenceRef

_PAGE = 500


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """One evidence record as the database knows it. `run_id` is None if its run is not known here."""

    evidence_id: int
    ref: EvidenceRef
    status: int
    kind: str
    source: str
    run_id: int | None


class FoundPage(Protocol):
    """One record as it was found in a file (`evidence.index.IndexEntry`)."""

    @property
    def ref(self) -> EvidenceRef:
        """Where it stands."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def source(self) -> str:
        """Whose page it is."""

    @property
    def run_id(self) -> int:
        """The run that wrote it."""


class EvidenceIndex:
    """The table `evidence`, which can always be made again from the files."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def pages(
        self, *, source: str | None = None, since: datetime | None = None, kind: str | None = None
    ) -> Iterator[IndexedPage]:
        """Records that are still kept, oldest first; memory is flat and no transaction stays open."""
        query = select(evidence).where(evidence.c.pruned_at.is_(None)).order_by(evidence.c.id).limit(_PAGE)
        if source is not None:
            query = query.where(evidence.c.source == source)
        if since is not None:
            query = query.where(evidence.c.fetched_at >= since)
        if kind is not None:
            query = query.where(evidence.c.kind == kind)
        last = 0
        while True:
            with self.engine.connect() as conn:
                rows = conn.execute(query.where(evidence.c.id > last)).all()
            for row in rows:
                yield _page(row)
            if len(rows) < _PAGE:
                return
            last = rows[-1].id

    def page(self, evidence_id: int) -> IndexedPage | None:
        """One record by its id."""
        with self.engine.connect() as conn:
            row = conn.execute(select(evidence).where(evidence.c.id == evidence_id)).one_or_none()
        return None if row is None else _page(row)

    def add_missing(self, found: Iterable[FoundPage], *, write: bool = True) -> int:
        """Index records that stand in files and not in the table; returns how many there were."""
        added = 0
        batch: list[FoundPage] = []
        for entry in found:
            batch.append(entry)
            if len(batch) >= _PAGE:
                added += self._add(batch, write=write)
                batch = []
        return added + self._add(batch, write=write)

    def _add(self, batch: list[FoundPage], *, write: bool) -> int:
        with self.engine.begin() as conn:
            names = sorted({entry.ref.warc for entry in batch})
            known: set[tuple[str, int]] = set()
            offsets = [entry.ref.offset for entry in batch]
            for name in names:
                query = select(evidence.c.warc, evidence.c.offset).where(
                    evidence.c.warc == name, evidence.c.offset.between(min(offsets), max(offsets))
                )
                known.update((row.warc, row.offset) for row in conn.execute(query))
            new = [entry for entry in batch if (entry.ref.warc, entry.ref.offset) not in known]
            if not new or not write:
                return len(new)
            runs = dict(
                conn.execute(
                    select(run.c.id, run.c.source).where(run.c.id.in_({entry.run_id for entry in new}))
                ).all()
            )
            rows = [
                {
                    "id": number,
                    # Another database may have had a run of that number.
                    "run_id": entry.run_id if runs.get(entry.run_id) == entry.source else None,
                    "source": entry.source,
                    "digest": entry.ref.digest,
                    "warc": entry.ref.warc,
                    "offset": entry.ref.offset,
                    "length": entry.ref.length,
                    "url": storable(entry.ref.url),
                    "status": entry.status,
                    "kind": entry.kind,
                    "fetched_at": entry.ref.fetched_at,
                }
                for number, entry in zip(next_ids(conn, evidence, len(new)), new, strict=True)
            ]
            insert_rows(conn, evidence, rows)
            return len(rows)

    # --- retention -----------------------------------------------------------------------------

    def unneeded_files(self, before: datetime) -> list[str]:
        """Files all of whose records are older than `before` and stand behind nothing that must be shown.

        Kept for good is the evidence of every price change, of every observation that won a market
        price, of each listing's latest observation, and of every review and rejection still stored.
        """
        # Sets, each read once: asking row by row would walk the observations once for every page.
        # Without NULLs, for "in a set with NULL" is never false.
        page = observation.c.evidence_id
        needed = select(page).where(page.is_not(None), observation.c.id.in_(_shown()))
        rejected = select(rejection.c.evidence_id).where(rejection.c.evidence_id.is_not(None))
        keeps = (
            select(evidence.c.warc)
            .where(
                (evidence.c.fetched_at >= before) | evidence.c.id.in_(needed) | evidence.c.id.in_(rejected)
            )
            .distinct()
        )
        query = (
            select(evidence.c.warc)
            .where(evidence.c.pruned_at.is_(None), evidence.c.warc.not_in(keeps))
            .distinct()
            .order_by(evidence.c.warc)
        )
        with self.engine.connect() as conn:
            return list(conn.execute(query).scalars())

    def mark_pruned(self, names: Iterable[str], now: datetime) -> int:
        """Note that the records of these files are gone; their digests and addresses stay."""
        count = 0
        with self.engine.begin() as conn:
            for some in chunks(list(names)):
                change = (
                    update(evidence)
                    .where(evidence.c.warc.in_(some), evidence.c.pruned_at.is_(None))
                    .values(pruned_at=now)
                )
                count += conn.execute(change).rowcount
        return count

    def counts(self) -> dict[str, int]:
        """Records and files that are kept."""
        query = select(
            func.count().label("records"), func.count(evidence.c.warc.distinct()).label("files")
        ).where(evidence.c.pruned_at.is_(None))
        with self.engine.connect() as conn:
            row = conn.execute(query).one()
        return {"records": row.records, "files": row.files}


def _shown() -> CompoundSelect[Any]:
    """Ids of the observations whose page somebody may ask to see."""
    columns = (
        price_history.c.observation_id,
        market_price_snapshot.c.winning_observation_id,
        candidate_review.c.observation_id,
        listing.c.last_observation_id,
    )
    return union(*(select(column).where(column.is_not(None)) for column in columns))


def _page(row: Any) -> IndexedPage:
    ref = EvidenceRef(
        digest=row.digest,
        warc=row.warc,
        offset=row.offset,
        length=row.length,
        url=row.url,
        fetched_at=row.fetched_at,
    )
    return IndexedPage(row.id, ref, row.status, row.kind, row.source, row.run_id)
