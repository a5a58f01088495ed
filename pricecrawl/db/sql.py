"""Small pieces of SQL that SQLite and PostgreSQL spell differently."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    String,
    Table,
    TableValuedAlias,
    Text,
    TypeDecorator,
    any_,
    bindparam,
    cast,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

from pricecrawl.db.types import Amount, UtcDateTime
from pricecrawl.domain.events import Event, EventType

T = TypeVar("T")

# Below the 999 variables that an old SQLite allows in one statement.
CHUNK = 500
# Rows in one INSERT of SQLite, which since 3.32 allows 32,766 variables: no table of ours has 600 columns.
_ROWS = 125


def upsert(conn: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT of this database that knows ON CONFLICT."""
    return sqlite.insert(table) if conn.dialect.name == "sqlite" else postgresql.insert(table)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """`items` in pieces that fit one statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def unindexed(column: ColumnElement[str]) -> ColumnElement[str]:
    """A text column as a condition that no index is searched for.

    Of "this id is one of these" and "the status is this one" SQLite takes the second for the rarer, and
    walks through all rows of that status.
    """
    return column.concat("")


def insert_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same keys; see `insert_columns`."""
    if rows:
        insert_columns(conn, table, {name: [row[name] for row in rows] for name in rows[0]})


def insert_columns(conn: Connection, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert rows that are given as columns of equal length, in a few statements however many there are.

    PostgreSQL takes all rows as one JSON text, which is several times faster than a statement per row
    and than arrays. SQLite is in our own process, where a prepared statement for many rows is the fast way.
    Values are converted here, because doing that a parameter at a time costs as much as the writing.
    """
    names = tuple(columns)
    if not names or not columns[names[0]]:
        return
    if conn.dialect.name == "sqlite":
        _insert_many(conn, table, names, _for_sqlite(table, columns, conn.dialect))
    else:
        rows = _as_rows(columns)
        conn.exec_driver_sql(_json_insert(table, names, conn.dialect), (_as_json(conn, table, names, rows),))


def update_rows(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update rows by their `id`, their last key; all have the same keys, each of which but `id` is set."""
    if rows:
        update_columns(conn, table, {name: [row[name] for row in rows] for name in rows[0]})


def update_columns(conn: Connection, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    """The same of rows that are given as columns of equal length."""
    names = tuple(columns)
    assert names[-1] == "id"
    if not columns["id"]:
        return
    if conn.dialect.name == "sqlite":
        values = list(zip(*_for_sqlite(table, columns, conn.dialect), strict=True))
        conn.exec_driver_sql(_sqlite_update(table, names), values)
    else:
        rows = _as_rows(columns)
        conn.exec_driver_sql(_json_update(table, names, conn.dialect), (_as_json(conn, table, names, rows),))


def _as_rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


# The statements are made of names from tables.py alone; every value is a parameter.


@lru_cache(maxsize=64)
def _sqlite_insert(table: Table, names: tuple[str, ...], rows: int) -> str:
    places = ", ".join("?" * len(names))
    values = ", ".join([f"({places})"] * rows)
    return f"INSERT INTO {table.name} ({_quoted(names)}) VALUES {values}"  # noqa: S608


@lru_cache(maxsize=64)
def _sqlite_update(table: Table, names: tuple[str, ...]) -> str:
    change = ", ".join(f'"{name}" = ?' for name in names[:-1])
    return f"UPDATE {table.name} SET {change} WHERE id = ?"  # noqa: S608


@lru_cache(maxsize=64)
def _json_insert(table: Table, names: tuple[str, ...], dialect: Dialect) -> str:
    columns, rows = _quoted(names), _recordset(table, names, dialect)
    return f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {rows}"  # noqa: S608


@lru_cache(maxsize=64)
def _json_update(table: Table, names: tuple[str, ...], dialect: Dialect) -> str:
    change = ", ".join(f'"{name}" = new."{name}"' for name in names[:-1])
    rows = _recordset(table, names, dialect)
    return f"UPDATE {table.name} SET {change} FROM {rows} WHERE {table.name}.id = new.id"  # noqa: S608


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _recordset(table: Table, names: Sequence[str], dialect: Dialect) -> str:
    """The JSON parameter as rows. Text has no length here: the column refuses, a cast would cut."""
    kinds = []
    for name in names:
        kind = table.c[name].type
        kinds.append(f'"{name}" ' + ("TEXT" if isinstance(kind, String) else kind.compile(dialect)))
    return f"json_to_recordset(%s::json) AS new ({', '.join(kinds)})"


def _as_json(conn: Connection, table: Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """All rows as one JSON text; the column types still refuse what they do not hold."""
    checks = [(name, _checked(table, name, conn.dialect)) for name in names]
    plain = [
        {name: row[name] if check is None else check(row[name]) for name, check in checks} for row in rows
    ]
    return json.dumps(plain, default=str)


def _checked(table: Table, name: str, dialect: Dialect) -> Callable[[Any], Any] | None:
    """Our own types refuse floats and naive times; what they let through, JSON writes as text."""
    kind = table.c[name].type
    if isinstance(kind, TypeDecorator):
        return lambda value: kind.process_bind_param(value, dialect)
    return None


def _insert_many(
    conn: Connection, table: Table, names: tuple[str, ...], columns: Sequence[Sequence[Any]]
) -> None:
    """Many rows to a statement, for each statement lets other threads in; the last few one by one."""
    rows = list(zip(*columns, strict=True))
    whole = len(rows) - len(rows) % _ROWS
    for some in chunks(rows[:whole], _ROWS):
        conn.exec_driver_sql(_sqlite_insert(table, names, _ROWS), tuple(chain.from_iterable(some)))
    if rows[whole:]:
        conn.exec_driver_sql(_sqlite_insert(table, names, 1), rows[whole:])


def _for_sqlite(table: Table, columns: Mapping[str, Sequence[Any]], dialect: Dialect) -> list[Sequence[Any]]:
    """The columns' values as SQLite takes them, by the column types' own conversions."""
    return [_column(table, name, values, dialect) for name, values in columns.items()]


def _column(table: Table, name: str, values: Sequence[Any], dialect: Dialect) -> Sequence[Any]:
    kind = table.c[name].type
    if not isinstance(kind, UtcDateTime | Amount) and _converter(table, name, dialect) is None:
        return values
    first, length = values[0], len(values)
    if first is None and values.count(None) == length:
        return values
    if isinstance(kind, Amount):
        return [None if amount is None else kind.sqlite_text(amount) for amount in values]
    if isinstance(kind, UtcDateTime):
        # The times of a batch are a few, each in many rows.
        known = {moment: kind.sqlite_text(moment) for moment in set(values)}
        return [known[moment] for moment in values]
    convert = _converter(table, name, dialect)
    assert convert is not None
    if (first is False or first == []) and values.count(first) == length:
        return [convert(first)] * length
    return [convert(value) for value in values]


@lru_cache(maxsize=512)
def _converter(table: Table, name: str, dialect: Dialect) -> Callable[[Any], Any] | None:
    return table.c[name].type.dialect_impl(dialect).bind_processor(dialect)


def among(conn: Connection, column: Column[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """`column` is one of `values`, however many: one parameter, and so one statement for the cache."""
    if conn.dialect.name == "sqlite":
        listed = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(listed.c.value))
    kind: Any = postgresql.ARRAY(Text() if isinstance(column.type, String) else column.type)
    return column == any_(cast(literal(list(values), kind), kind))


def any_of(dialect: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """The same of values that come later, under a name, as `many` gives them: for a query built once."""
    if dialect == "sqlite":
        return column.in_(
            select(func.json_each(bindparam(name, type_=String())).table_valued("value").c.value)
        )
    kind: Any = postgresql.ARRAY(Text() if isinstance(column.type, String) else column.type)
    return column == any_(cast(bindparam(name, type_=kind), kind))


def listed(values: Sequence[str]) -> TableValuedAlias:
    """Values as a table of PostgreSQL with the one column `key`, to join LATERAL subqueries to.

    Asked key by key, the index is used whatever the statistics say; of a list in a condition PostgreSQL
    may believe, on a table that has grown since it was last analysed, that a walk is cheaper.
    """
    keys = cast(literal(list(values), postgresql.ARRAY(Text())), postgresql.ARRAY(Text()))
    return func.unnest(keys).table_valued("key").render_derived()


def many(conn: Connection, values: Sequence[Any]) -> Any:
    """Values as the parameter of `any_of`."""
    return json.dumps(list(values)) if conn.dialect.name == "sqlite" else list(values)


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


def run_event(
    kind: EventType,
    run_id: int,
    now: datetime,
    payload: Mapping[str, object],
    *,
    cause: Event | None = None,
) -> Event:
    """An event of a run, led to by `cause`."""
    return Event(
        event_id=str(uuid4()),
        event_type=kind,
        aggregate=f"run:{run_id}",
        correlation_id=f"run:{run_id}",
        causation_id=None if cause is None else cause.event_id,
        occurred_at=now,
        producer="crawl",
        payload=payload,
    )
