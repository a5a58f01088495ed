"""Monthly partitions of the history tables on PostgreSQL; SQLite has one table and needs none.

Each table has a default partition, so that a row of any month has a place even before its month's
partition was made. Months are made ahead of the rows that need them, in a transaction of their own,
by attaching a prepared table: that lets readers and writers of other months go on. It needs the default
partition to itself for a moment; while somebody reads history that may not be had, and then the rows of
that month live in the default partition. Each run asks for the month after its own, too, so there are
weeks in which to get it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy import table as table_clause

from pricecrawl.domain.errors import StorageBusy

PARTITIONED = {"observation": "observed_at", "price_history": "changed_at"}
_LOCK = 7241_5502
_PATIENCE = "2s"


def month_of(moment: datetime) -> tuple[int, int]:
    """Year and month of a time, in UTC."""
    moment = moment.astimezone(UTC)
    return moment.year, moment.month


def prepare(conn: Connection) -> None:
    """The default partitions, part of the schema itself."""
    if conn.dialect.name == "sqlite":
        return
    for table in PARTITIONED:
        conn.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {table}_other PARTITION OF {table} DEFAULT")


def month_after(month: tuple[int, int]) -> tuple[int, int]:
    """The next month."""
    return month[0] + month[1] // 12, month[1] % 12 + 1


def ensure(engine: Engine, months: Iterable[tuple[int, int]]) -> None:
    """Make the partitions of these months unless they exist or the default already holds such rows."""
    if engine.dialect.name == "sqlite":
        return
    for year, month in sorted(set(months)):
        with contextlib.suppress(StorageBusy), engine.begin() as conn:
            if _exists(conn, f"price_history_{year:04d}_{month:02d}"):
                continue
            conn.exec_driver_sql(f"SET LOCAL lock_timeout = '{_PATIENCE}'")
            conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            for table, column in PARTITIONED.items():
                _make(conn, table, column, year, month)


def strays(conn: Connection) -> dict[str, int]:
    """Rows that live in a default partition, per table; they are complete, only not by month."""
    if conn.dialect.name == "sqlite":
        return {}
    return {
        table: int(
            conn.execute(select(func.count()).select_from(table_clause(f"{table}_other"))).scalar_one()
        )
        for table in PARTITIONED
    }


def _make(conn: Connection, table: str, column: str, year: int, month: int) -> None:
    name = f"{table}_{year:04d}_{month:02d}"
    if _exists(conn, name):
        return
    first = f"{year:04d}-{month:02d}-01 00:00:00+00"
    after = "{:04d}-{:02d}-01 00:00:00+00".format(*month_after((year, month)))
    inside = f"{column} >= '{first}' AND {column} < '{after}'"
    there = select(text("1")).select_from(table_clause(f"{table}_other")).where(text(inside)).limit(1)
    if conn.execute(there).first():
        return
    conn.exec_driver_sql(f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    conn.exec_driver_sql(
        f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{first}') TO ('{after}')"
    )


def _exists(conn: Connection, name: str) -> bool:
    return conn.execute(text("SELECT to_regclass(:name)"), {"name": name}).scalar_one() is not None
