"""What is thrown away with time: the crawl's own log rows. Observations, decisions and events stay."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Delete, Engine, Select, delete, func, select

from pricecrawl.db.sql import pragma
from pricecrawl.db.tables import dead_letter, idempotency_key, rejection, run, skip_count

LOG_DAYS = 14
"""Days that log rows are kept."""


def prune_logs(engine: Engine, before: datetime, *, write: bool = True) -> dict[str, int]:
    """Delete log rows older than `before`; how many rows of which table.

    Rejections and skips leave their counts in the row of their run. Dead letters go once replayed.
    """
    ended = select(run.c.id).where(run.c.finished_at < before)
    chosen = {
        rejection: rejection.c.rejected_at < before,
        skip_count: skip_count.c.run_id.in_(ended),
        idempotency_key: idempotency_key.c.created_at < before,
        dead_letter: dead_letter.c.replayed_at < before,
    }
    with engine.begin() as conn:
        return {
            table.name: _run(conn, delete(table).where(rows), select(func.count()).where(rows), write=write)
            for table, rows in chosen.items()
        }


def tidy(engine: Engine) -> None:
    """Give freed space back and refresh what the query planner knows."""
    with engine.begin() as conn:
        conn.exec_driver_sql("PRAGMA optimize" if engine.dialect.name == "sqlite" else "ANALYZE")
    if engine.dialect.name == "sqlite":
        with engine.connect() as conn:
            pragma(conn, "wal_checkpoint(TRUNCATE)")


def _run(conn: Connection, change: Delete, count: Select[Any], *, write: bool) -> int:
    return conn.execute(change).rowcount if write else int(conn.execute(count).scalar_one())
