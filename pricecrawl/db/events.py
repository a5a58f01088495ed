"""The event log: append-only, each aggregate a chain of hashes, written with the state it tells of."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, and_, func, select, text, true

from pricecrawl.db.sql import insert_rows, listed, storable
from pricecrawl.db.tables import audit_event
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.domain.events import GENESIS, Event, EventType, chain_hash

_LOCK_SPACE = 7241
_IDS_ABOVE = 7241 << 40
"""Added to a row id, the key of the lock of a transaction whose rows get ids above that one."""
_LAST_ID = "coalesce(pg_sequence_last_value(pg_get_serial_sequence('audit_event', 'id')::regclass), 0)"
_CHUNK = 400
_FEW = 8


@dataclass(frozen=True, slots=True)
class Broken:
    """One row of the event log that does not follow from the row before it."""

    row_id: int
    aggregate: str
    aggregate_seq: int
    problem: str


def append_events(conn: Connection, events: Sequence[Event]) -> None:
    """Append events at the end of their aggregates' chains, inside the caller's transaction.

    Events of one aggregate keep the order given. Two transactions that append to one aggregate wait
    for each other: on SQLite by the write lock of `engine.begin()`, on PostgreSQL by a lock per
    aggregate that lasts until the transaction ends.
    """
    if not events:
        return
    aggregates = sorted({event.aggregate for event in events})
    lock_chains(conn, aggregates)
    if conn.dialect.name == "postgresql":
        # Whoever follows the log must not pass by rows of ours that come to light later: see `_known_until`.
        conn.execute(text(f"SELECT pg_advisory_xact_lock_shared(:base + {_LAST_ID})"), {"base": _IDS_ABOVE})
    tips = _tips(conn, aggregates)
    rows = []
    for event in map(_as_stored, events):
        seq, previous = tips.get(event.aggregate, (0, GENESIS))
        seq += 1
        digest = chain_hash(previous, event)
        tips[event.aggregate] = (seq, digest)
        rows.append(
            {
                "event_id": event.event_id,
                "event_type": event.event_type.value,
                "schema_version": event.schema_version,
                "aggregate": event.aggregate,
                "aggregate_seq": seq,
                "correlation_id": event.correlation_id,
                "causation_id": event.causation_id,
                "occurred_at": event.occurred_at,
                "producer": event.producer,
                "payload": event.payload,
                "previous_hash": previous,
                "hash": digest,
            }
        )
    insert_rows(conn, audit_event, rows)


def lock_chains(conn: Connection, aggregates: Sequence[str]) -> None:
    """Keep everybody else from appending to these chains until the transaction ends.

    On SQLite the transaction itself is alone.
    """
    if conn.dialect.name == "postgresql":
        # Sorted, so that two callers with the same aggregates cannot wait for each other in a ring.
        keys = sorted({zlib.crc32(name.encode()) - 2**31 for name in aggregates})
        conn.execute(
            text("SELECT pg_advisory_xact_lock(:space, k) FROM unnest(CAST(:keys AS int[])) AS k"),
            {"space": _LOCK_SPACE, "keys": keys},
        )


def _as_stored(event: Event) -> Event:
    """The event as both databases give it back, for the hash must hold for what is read later."""
    return replace(event, occurred_at=event.occurred_at.astimezone(UTC), payload=_plain(event.payload))


def _plain(value: Any) -> Any:
    """JSON values in the one form that survives: jsonb has no NUL, no -0.0 and no 1e20, only its digits."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return int(value) if abs(value) >= 1e16 else value + 0.0
    if isinstance(value, Mapping):
        return {storable(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _tips(conn: Connection, aggregates: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Last sequence number and hash of each aggregate that has any event."""
    log = audit_event.c
    columns = select(log.aggregate, log.aggregate_seq, log.hash)
    found: dict[str, tuple[int, str]] = {}
    if len(aggregates) <= _FEW:
        # One step down the index each, however long the chain is.
        queries = [
            columns.where(log.aggregate == name).order_by(log.aggregate_seq.desc()).limit(1)
            for name in aggregates
        ]
    elif conn.dialect.name == "postgresql":
        keys = listed(aggregates)
        tip = columns.where(log.aggregate == keys.c.key).order_by(log.aggregate_seq.desc()).limit(1).lateral()
        queries = [select(tip).select_from(keys.join(tip, true()))]
    else:
        queries = []
        for start in range(0, len(aggregates), _CHUNK):
            some = aggregates[start : start + _CHUNK]
            last = (
                select(log.aggregate.label("name"), func.max(log.aggregate_seq).label("seq"))
                .where(log.aggregate.in_(some))
                .group_by(log.aggregate)
                .subquery()
            )
            queries.append(
                columns.join(last, and_(log.aggregate == last.c.name, log.aggregate_seq == last.c.seq))
            )
    for query in queries:
        for aggregate, seq, digest in conn.execute(query):
            found[aggregate] = (seq, digest)
    return found


def verify_chain(conn: Connection, *, aggregate: str | None = None) -> list[Broken]:
    """Every row that was changed, inserted or removed behind our back; empty is good.

    Reads the log in one pass with flat memory. A removed tail of a chain leaves no trace here: the rows that
    it told of show it (`workflows.audit`), and a `fingerprint` that is kept elsewhere.
    """
    query = select(audit_event).order_by(audit_event.c.aggregate, audit_event.c.aggregate_seq)
    if aggregate is not None:
        query = query.where(audit_event.c.aggregate == aggregate)
    broken: list[Broken] = []
    name, seq, previous = None, 0, GENESIS
    for row in _stream(conn, query):
        if row.aggregate != name:
            name, seq, previous = row.aggregate, 0, GENESIS
        problem = _problem(row, seq, previous)
        if problem:
            broken.append(Broken(row.id, row.aggregate, row.aggregate_seq, problem))
        seq, previous = row.aggregate_seq, row.hash
    return broken


def _problem(row: Row[Any], seq: int, previous: str) -> str:
    if row.aggregate_seq != seq + 1:
        return f"follows number {seq}: events between them are missing"
    if row.previous_hash != previous:
        return "does not carry the hash of the event before it"
    try:
        event_of(row)
    except ValueError:
        return f"has an unknown type {row.event_type!r}"
    return "" if is_as_written(row) else "was changed after it was written"


def is_as_written(row: Row[Any]) -> bool:
    """Whether a row of the event log has the hash that its own content and the hash before it give."""
    try:
        return bool(chain_hash(row.previous_hash, event_of(row)) == row.hash)
    except ValueError:
        return False


def event_of(row: Row[Any]) -> Event:
    """The event of a row of `audit_event`."""
    return Event(
        event_id=row.event_id,
        event_type=EventType(row.event_type),
        aggregate=row.aggregate,
        correlation_id=row.correlation_id,
        causation_id=row.causation_id,
        occurred_at=row.occurred_at,
        producer=row.producer,
        payload=row.payload,
        schema_version=row.schema_version,
    )


def _readable(row: Row[Any]) -> Event:
    """The event of a row.

    Raises:
        StorageProblem: nothing of ours wrote it.
    """
    try:
        return event_of(row)
    except ValueError:
        raise StorageProblem(
            f"event {row.id} has a type that this version does not know: `pricecrawl audit` says whether "
            "the log is as it was written."
        ) from None


def _stream(conn: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    with conn.execution_options(yield_per=1000).execute(query) as rows:
        yield from rows


def _known_until(conn: Connection) -> int:
    """The highest row id up to which no row can appear any more, on PostgreSQL.

    A sequence gives ids before the rows that have them are committed. Every writer takes a lock that
    tells the last id given before its own, and keeps it until its transaction has ended. The order matters
    here: an id that was given before the first of these two statements is of a writer whose lock the second
    one sees, unless its rows can be seen already; hence a statement each, with a look of its own.
    """
    given: int = conn.execute(text(f"SELECT {_LAST_ID}")).scalar_one()
    under_way = conn.execute(
        text(
            "SELECT min(((classid::bigint << 32) | objid::bigint) - :base) FROM pg_locks "
            "WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 8 = :base >> 40 "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ),
        {"base": _IDS_ABOVE},
    ).scalar_one()
    return given if under_way is None else min(given, int(under_way))


def fingerprint(conn: Connection, until: int | None = None) -> tuple[int, int, str]:
    """(last row id, events, SHA-256) of the whole log up to a row id, by default up to now.

    Whoever has all rights on the database can cut a chain short or write one anew; what they cannot change
    is a fingerprint that was taken before and is kept elsewhere.
    """
    if until is None:
        last = conn.execute(select(func.coalesce(func.max(audit_event.c.id), 0))).scalar_one()
        until = min(last, _known_until(conn)) if conn.dialect.name == "postgresql" else last
    query = select(audit_event.c.id, audit_event.c.hash).where(audit_event.c.id <= until)
    made, count = hashlib.sha256(), 0
    for row in _stream(conn, query.order_by(audit_event.c.id)):
        made.update(f"{row.id} {row.hash}\n".encode())
        count += 1
    return until, count, made.hexdigest()


class EventLog:
    """Reading the event log, and appending to it where nothing else changes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def append(self, events: Sequence[Event]) -> None:
        """Append in a transaction of its own."""
        with self._engine.begin() as conn:
            append_events(conn, events)

    def of_aggregate(self, aggregate: str) -> list[Event]:
        """Events of one aggregate, oldest first."""
        query = (
            select(audit_event)
            .where(audit_event.c.aggregate == aggregate)
            .order_by(audit_event.c.aggregate_seq)
        )
        with self._engine.connect() as conn:
            return [event_of(row) for row in conn.execute(query)]

    def of_correlation(self, correlation_id: str) -> list[Event]:
        """Events of one chain of causes, in the order they were written."""
        query = (
            select(audit_event)
            .where(audit_event.c.correlation_id == correlation_id)
            .order_by(audit_event.c.id)
        )
        with self._engine.connect() as conn:
            return [event_of(row) for row in conn.execute(query)]

    def after(self, row_id: int, limit: int = 200) -> list[tuple[int, Event]]:
        """Up to `limit` events with a row id greater than `row_id`, for those who follow the log.

        Events of transactions that are under way, and all after them, come when those have ended: whoever
        asks again from the last one that was given misses none.
        """
        query = select(audit_event).where(audit_event.c.id > row_id).order_by(audit_event.c.id).limit(limit)
        with self._engine.connect() as conn:
            if conn.dialect.name == "postgresql":
                query = query.where(audit_event.c.id <= _known_until(conn))
            return [(row.id, _readable(row)) for row in conn.execute(query)]

    def tips(self) -> Mapping[str, str]:
        """The last hash of every aggregate: kept elsewhere, it shows that no tail was cut off."""
        last = audit_event.alias()
        query = select(audit_event.c.aggregate, audit_event.c.hash).where(
            ~select(last.c.id)
            .where(
                last.c.aggregate == audit_event.c.aggregate,
                last.c.aggregate_seq > audit_event.c.aggregate_seq,
            )
            .exists()
        )
        with self._engine.connect() as conn:
            return {row.aggregate: row.hash for row in conn.execute(query)}
