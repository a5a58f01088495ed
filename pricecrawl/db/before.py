"""What a run wants to know of the runs before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from sqlalchemy import Engine, select, update

from pricecrawl.db import runs
from pricecrawl.db.sql import among, chunks
from pricecrawl.db.tables import listing, run, source
from pricecrawl.domain.errors import PricecrawlError, Refused
from pricecrawl.domain.run import RunOutcome

_BETWEEN_HEARTBEATS = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class LastOnHost:
    """When the last run on a host last gave a sign of life, and the pace in seconds that it kept."""

    ended_at: datetime
    delay: float


def remember_pace(engine: Engine, run_id: int, delay: float) -> None:
    """Note the pace of a run as soon as it is known: a killed run leaves it to the next one."""
    change = (
        update(run)
        .where(run.c.id == run_id, run.c.outcome == RunOutcome.RUNNING.value)
        .values(counts={"delay_seconds": delay})
    )
    with engine.begin() as conn:
        conn.execute(change)


def last_on_host(engine: Engine, host: str) -> LastOnHost | None:
    """The end and the pace of the latest runs on a host, so that the next one keeps its distance.

    The pace is the slowest of the last five runs. A run that was killed may have asked for a page after its
    last heartbeat, so it counts as a little longer alive.
    """
    query = (
        select(run.c.heartbeat_at, run.c.started_at, run.c.counts, run.c.outcome)
        .where(run.c.host == host)
        .order_by(run.c.id.desc())
        .limit(5)
    )
    with engine.connect() as conn:
        rows = conn.execute(query).all()
    if not rows or not host:
        return None
    delays = [
        float(row.counts["delay_seconds"]) for row in rows if row.counts and "delay_seconds" in row.counts
    ]
    ended_at = rows[0].heartbeat_at or rows[0].started_at
    if rows[0].outcome in (RunOutcome.RUNNING, RunOutcome.INTERRUPTED):
        ended_at += _BETWEEN_HEARTBEATS
    return LastOnHost(ended_at, max(delays, default=0.0))


def in_the_way(engine: Engine, *, slug: str, host: str, now: datetime) -> PricecrawlError | None:
    """What stops a single request to a host: a hold, the source's kill switch, or a run that is going on.

    `slug` is the source whose shop it is, empty where no row names the host.
    """
    with engine.connect() as conn:
        held = runs.held_reason(conn, slug)
        if held is not None:
            return Refused(f"A hold stops requests to {host}: {held}")
        row = conn.execute(select(source).where(source.c.slug == slug)).one_or_none()
        if row is not None and not row.enabled:
            return Refused(f"{slug} is switched off: {row.disabled_reason or 'no reason is given'}")
        query = select(run).where(run.c.outcome == RunOutcome.RUNNING.value, run.c.host == host)
        found = next((item for item in conn.execute(query) if runs.is_alive(item, now)), None)
        return None if found is None else runs.busy(found, slug or host)


def last_robots_digest(engine: Engine, slug: str) -> str | None:
    """The digest of the robots file that the last run of a source obeyed, if any run read one."""
    query = (
        select(run.c.robots_digest)
        .where(run.c.source == slug, run.c.robots_digest.is_not(None))
        .order_by(run.c.id.desc())
        .limit(1)
    )
    with engine.connect() as conn:
        return conn.execute(query).scalar_one_or_none()


@dataclass(frozen=True, slots=True)
class KnownSize:
    """The content of one listing that carries a GTIN: `quantity` in `unit` (g or ml)."""

    source: str
    source_sku: str
    quantity: Decimal
    unit: str


def sizes_of(engine: Engine, gtins: Sequence[str]) -> dict[str, list[KnownSize]]:
    """What each GTIN-14 is known to contain, by the listings of all sources that carry it."""
    found: dict[str, list[KnownSize]] = {}
    columns = (
        listing.c.gtin,
        listing.c.source,
        listing.c.source_sku,
        listing.c.base_quantity,
        listing.c.base_unit,
    )
    with engine.connect() as conn:
        for some in chunks(list(gtins)):
            query = select(*columns).where(listing.c.gtin.in_(some), listing.c.base_quantity.is_not(None))
            for gtin, *size in conn.execute(query):
                found.setdefault(gtin, []).append(KnownSize(*size))
    return found


def skus_at(engine: Engine, slug: str, urls: Sequence[str]) -> dict[str, list[str]]:
    """The listings of a source that stand at these addresses: URL to the retailer's ids."""
    found: dict[str, list[str]] = {}
    with engine.connect() as conn:
        # All at once: addresses have no index, so each question walks through the source.
        query = select(listing.c.url, listing.c.source_sku).where(
            listing.c.source == slug, among(conn, listing.c.url, urls)
        )
        for row in conn.execute(query):
            found.setdefault(row.url, []).append(row.source_sku)
    return found
