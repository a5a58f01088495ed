"""Small pieces of SQL that SQLite and PostgreSQL spell differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from pricecrawl.domain.events import Event, EventType

T = TypeVar("T")

# Below the 999 variables that an old SQLite allows in one statement.
CHUNK = 500


def upsert(conn: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT of this database that knows ON CONFLICT."""
    return sqlite.insert(table) if conn.dialect.name == "sqlite" else postgresql.insert(table)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """`items` in pieces that fit one statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def next_ids(conn: Connection, table: Table, count: int) -> list[int]:
    """`count` fresh ids of a table, ascending, so that rows can name each other before they are written.

    On SQLite the caller must be in a writing transaction, which nobody else can be in at the same time.
    """
    if count == 0:
        return []
    if conn.dialect.name == "sqlite":
        last = conn.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
        return list(range(last + 1, last + 1 + count))
    query = text("SELECT nextval(CAST(:name AS regclass)) FROM generate_series(1, :count)")
    return sorted(conn.execute(query, {"name": f"{table.name}_id_seq", "count": count}).scalars())


def storable(value: str) -> str:
    """Text that both databases take: no NUL, no lone surrogate (feeds carry both)."""
    if value.isascii():
        return value.replace("\x00", "") if "\x00" in value else value
    return value.replace("\x00", "").encode("utf-8", "replace").decode()


def run_event(kind: EventType, run_id: int, now: datetime, payload: dict[str, object]) -> Event:
    """An event of a run."""
    return Event(
        event_id=str(uuid4()),
        event_type=kind,
        aggregate=f"run:{run_id}",
        correlation_id=f"run:{run_id}",
        causation_id=None,
        occurred_at=now,
        producer="crawl",
        payload=payload,
    )
