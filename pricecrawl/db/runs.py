"""Runs: at most one open per source and per host, and what happens to one whose process died."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, update

from pricecrawl.db.crawl_types import RunRow
from pricecrawl.db.events import append_events
from pricecrawl.db.sql import run_event
from pricecrawl.db.tables import hold, run, source
from pricecrawl.domain.errors import SourceBusy
from pricecrawl.domain.events import EventType
from pricecrawl.domain.run import Coverage, RunOutcome, RunResult

HEARTBEAT_STALE = timedelta(minutes=2)
"""A run that gave no sign of life for this long is taken for dead; it must beat far more often."""

_RUNNING = RunOutcome.RUNNING.value
_COLUMNS = frozenset(
    {"pages", "rejections", "skips", "expectations_met", "robots_digest", "robots_read_at", "identity_mode"}
    | {"fx_source", "fx_fetched_at"}
)


def this_machine() -> str:
    """Name of the machine on which our process ids mean something."""
    return platform.node()


def open_run(
    conn: Connection,
    *,
    slug: str,
    shop_platform: str,
    host: str,
    job: str | None,
    pid: int,
    now: datetime,
) -> int:
    """Open a run; see `CrawlStore.open_run`."""
    clash = or_(run.c.source == slug, (run.c.host == host) & (run.c.host != ""))
    for row in conn.execute(select(run).where(run.c.outcome == _RUNNING, clash)):
        if is_alive(row, now):
            raise busy(row, slug)
        interrupt(conn, row.id, now)
    values = {
        "source": slug,
        "platform": shop_platform,
        "host": host,
        "job": job,
        "pid": pid,
        "machine": this_machine(),
        "outcome": _RUNNING,
        "started_at": now,
        "heartbeat_at": now,
    }
    run_id = int(conn.execute(insert(run).values(values).returning(run.c.id)).scalar_one())
    payload: dict[str, object] = {"source": slug, "platform": shop_platform, "host": host, "job": job}
    append_events(conn, [run_event(EventType.COLLECTION_REQUESTED, run_id, now, payload)])
    return run_id


def busy(row: Row[Any], slug: str) -> SourceBusy:
    """The sentence for a run that is in the way."""
    where = f"process {row.pid} on {row.machine or 'another machine'}"
    if row.source == slug:
        return SourceBusy(f"{slug} is being crawled already (run {row.id}, {where}): wait for it to end.")
    return SourceBusy(
        f"{slug} has to wait: {row.source} is being crawled on the same host {row.host} "
        f"(run {row.id}, {where})."
    )


def is_alive(row: Row[Any], now: datetime) -> bool:
    """Whether an open run still has a process behind it.

    On this machine a dead process decides at once. A live one is not enough, since its number may
    have been given to another program: only a fresh heartbeat says that the run goes on.
    """
    last = row.heartbeat_at or row.started_at
    if now - last > HEARTBEAT_STALE:
        return False
    return row.machine != this_machine() or row.pid is None or process_alive(row.pid)


def process_alive(pid: int) -> bool:
    """True if a process of this number runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # Linux: the state follows the command's name, which may itself hold spaces and brackets.
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state not in {"Z", "X"}


def interrupt(conn: Connection, run_id: int, now: datetime) -> None:
    """Close a run whose process is gone. What it committed stays; it counts no miss."""
    change = (
        update(run)
        .where(run.c.id == run_id, run.c.outcome == _RUNNING)
        .values(
            outcome=RunOutcome.INTERRUPTED.value,
            coverage=Coverage.PARTIAL.value,
            coverage_reason="partial",
            finished_at=now,
            detail="its process ended without closing it; found by the next run",
        )
    )
    if conn.execute(change).rowcount:
        payload: dict[str, object] = {"outcome": RunOutcome.INTERRUPTED.value}
        append_events(conn, [run_event(EventType.COLLECTION_FINISHED, run_id, now, payload)])


def heartbeat(conn: Connection, run_id: int, now: datetime) -> bool:
    """Note a sign of life; False when the run has to stop."""
    beat = update(run).where(run.c.id == run_id, run.c.outcome == _RUNNING).values(heartbeat_at=now)
    if conn.execute(beat).rowcount != 1:
        return False
    slug, enabled = conn.execute(
        select(source.c.slug, source.c.enabled)
        .join(run, run.c.source == source.c.slug)
        .where(run.c.id == run_id)
    ).one()
    return bool(enabled) and held_reason(conn, slug) is None


def held_reason(conn: Connection, slug: str) -> str | None:
    """Why a hold stops this source, or None."""
    query = (
        select(hold.c.reason)
        .where(
            hold.c.cleared_at.is_(None),
            or_(hold.c.scope == "everything", (hold.c.scope == "source") & (hold.c.value == slug)),
        )
        .order_by(hold.c.id)
        .limit(1)
    )
    found = conn.execute(query).scalar_one_or_none()
    return None if found is None else str(found)


def finish(
    conn: Connection, run_id: int, result: RunResult, counts: Mapping[str, Any], now: datetime
) -> bool:
    """Close an open run; False if somebody else closed it before."""
    values: dict[str, Any] = {name: counts[name] for name in _COLUMNS & counts.keys()}
    values |= {
        "outcome": result.outcome.value,
        "coverage": result.coverage.value,
        "coverage_reason": result.reason.value,
        "detail": result.detail,
        "expected_total": result.expected_total,
        "finished_at": now,
        "heartbeat_at": now,
        "counts": {name: value for name, value in counts.items() if name not in _COLUMNS} or None,
    }
    change = update(run).where(run.c.id == run_id, run.c.outcome == _RUNNING).values(values)
    if conn.execute(change).rowcount != 1:
        return False
    payload: dict[str, object] = {
        "outcome": result.outcome.value,
        "coverage": result.coverage.value,
        "coverage_reason": result.reason.value,
        "listings": result.listings,
        "detail": result.detail,
    }
    append_events(conn, [run_event(EventType.COLLECTION_FINISHED, run_id, now, payload)])
    return True


def last_complete_listings(conn: Connection, slug: str) -> int | None:
    """Listings of the last run that finished with COMPLETE coverage, or None if there is none."""
    query = (
        select(run.c.listings)
        .where(
            run.c.source == slug,
            run.c.outcome == RunOutcome.FINISHED.value,
            run.c.coverage == Coverage.COMPLETE.value,
        )
        .order_by(run.c.started_at.desc(), run.c.id.desc())
        .limit(1)
    )
    found = conn.execute(query).scalar_one_or_none()
    return None if found is None else int(found)


def recent(conn: Connection, slug: str, limit: int) -> list[RunRow]:
    """The latest runs of a source, newest first."""
    query = (
        select(run)
        .where(run.c.source == slug)
        .order_by(run.c.started_at.desc(), run.c.id.desc())
        .limit(limit)
    )
    return [
        RunRow(
            run_id=row.id,
            source=row.source,
            outcome=row.outcome,
            coverage=row.coverage,
            coverage_reason=row.coverage_reason,
            listings=row.listings,
            started_at=row.started_at,
            heartbeat_at=row.heartbeat_at,
            finished_at=row.finished_at,
            detail=row.detail,
        )
        for row in conn.execute(query)
    ]
