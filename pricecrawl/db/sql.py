"""Small pieces of SQL that SQLite and PostgreSQL spell differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    String,
    Table,
    Text,
    Update,
    bindparam,
    cast,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

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


def insert_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same keys, in one statement.

    PostgreSQL takes each column as one array, which is several times faster than a statement per row;
    SQLite is in our own process, where a prepared statement per row is the fast way.
    """
    if not rows:
        return
    if conn.dialect.name == "sqlite":
        conn.execute(insert(table), rows)
        return
    names = tuple(rows[0])
    conn.execute(_insert_arrays(table, names), _arrays(names, rows))


def update_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update rows by their `id`; all have the same keys, each of which but `id` is set."""
    if not rows:
        return
    names = tuple(rows[0])
    if conn.dialect.name == "sqlite":
        change: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names if name != "id"}
        statement = update(table).where(table.c.id == bindparam("new_id")).values(change)
        conn.execute(statement, [{f"new_{name}": row[name] for name in names} for row in rows])
        return
    conn.execute(_update_arrays(table, names), _arrays(names, rows))


def _arrays(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {f"new_{name}": [row[name] for row in rows] for name in names}


def _columns(table: Table, names: Sequence[str]) -> list[ColumnElement[Any]]:
    """Each named column as a set of rows from its array; equally long arrays go in step."""
    found: list[ColumnElement[Any]] = []
    for name in names:
        kind: TypeEngine[Any] = table.c[name].type
        if isinstance(kind, String):
            # A cast to VARCHAR(n) would cut what is too long; the column refuses it instead.
            kind = Text()
        array: Any = postgresql.ARRAY(kind, dimensions=1)
        found.append(func.unnest(cast(bindparam(f"new_{name}", type_=array), array), type_=kind).label(name))
    return found


@lru_cache(maxsize=64)
def _insert_arrays(table: Table, names: tuple[str, ...]) -> Insert:
    return insert(table).from_select(list(names), select(*_columns(table, names)), include_defaults=False)


@lru_cache(maxsize=64)
def _update_arrays(table: Table, names: tuple[str, ...]) -> Update:
    new = select(*_columns(table, names)).subquery("new")
    change = {name: new.c[name] for name in names if name != "id"}
    return update(table).where(table.c.id == new.c.id).values(change)


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


def pragma(conn: Connection, setting: str) -> None:
    """A pragma of SQLite outside any transaction, where alone it obeys some of them."""
    raw = conn.connection.driver_connection
    if raw is not None:
        raw.execute(f"PRAGMA {setting}").fetchall()


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
