"""What follows from not seeing a listing: the miss counter and the gone streak, two separate things."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, and_, insert, literal, or_, select, update

from pricecrawl.db.crawl_types import GoneResult, MissedListing
from pricecrawl.db.events import append_events
from pricecrawl.db.tables import listing, run, stock_history
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.run import (
    GONE_BEFORE_NOT_AVAILABLE,
    MISSES_BEFORE_OUT_OF_STOCK,
    Coverage,
    RunOutcome,
)

_OUT = Availability.OUT_OF_STOCK.value
_NOT_AVAILABLE = Availability.NOT_AVAILABLE.value


def count_misses(conn: Connection, run_id: int, now: datetime) -> list[MissedListing]:
    """Count one miss for every listing of the run's source that the run did not see; once per run.

    A listing that reaches the third miss is OUT_OF_STOCK from then on, unless its own page said that
    it is gone. Returns those. Works in whole sets: memory does not grow with the source.

    Raises:
        ValueError: the run is not one that may count misses.
    """
    row = conn.execute(select(run).where(run.c.id == run_id)).one()
    if row.outcome != RunOutcome.FINISHED or row.coverage != Coverage.COMPLETE:
        raise ValueError(
            f"run {run_id} may not count misses: it is {row.outcome} with {row.coverage or 'no'} coverage"
        )
    first = (
        update(run).where(run.c.id == run_id, run.c.misses_counted_at.is_(None)).values(misses_counted_at=now)
    )
    if conn.execute(first).rowcount != 1:
        return []
    unseen = and_(
        listing.c.source == row.source,
        or_(listing.c.last_seen_run.is_(None), listing.c.last_seen_run != run_id),
    )
    missed = conn.execute(
        update(listing).where(unseen).values(consecutive_misses=listing.c.consecutive_misses + 1)
    ).rowcount
    conn.execute(update(run).where(run.c.id == run_id).values(misses=missed))
    now_out = and_(
        unseen,
        listing.c.consecutive_misses >= MISSES_BEFORE_OUT_OF_STOCK,
        listing.c.availability.not_in([_OUT, _NOT_AVAILABLE]),
    )
    found = [
        MissedListing(item.id, item.source_sku, item.availability)
        for item in conn.execute(
            select(listing.c.id, listing.c.source_sku, listing.c.availability)
            .where(now_out)
            .order_by(listing.c.id)
        )
    ]
    if found:
        history = select(
            listing.c.id,
            literal(run_id),
            literal(_OUT),
            listing.c.availability,
            literal("missing"),
            literal(now, stock_history.c.changed_at.type),
        ).where(now_out)
        columns = ["listing_id", "run_id", "availability", "previous", "cause", "changed_at"]
        conn.execute(insert(stock_history).from_select(columns, history))
        conn.execute(update(listing).where(now_out).values(availability=_OUT))
    return found


def gone(conn: Connection, slug: str, source_sku: str, run_id: int, now: datetime) -> GoneResult | None:
    """Count that a listing's own page said it is gone; at most once per run.

    At the third result in a row the listing is NOT_AVAILABLE and its checks pause; before that its
    state stays. Returns None for a listing that we do not have.
    """
    item = _one(conn, slug, source_sku)
    if item is None:
        return None
    if item.last_gone_run == run_id:
        return GoneResult(item.gone_streak, item.checking_paused, newly_paused=False)
    streak = item.gone_streak + 1
    pause = streak >= GONE_BEFORE_NOT_AVAILABLE
    newly = pause and not item.checking_paused
    values: dict[str, Any] = {"gone_streak": streak, "last_gone_run": run_id, "checking_paused": pause}
    if pause and item.availability != _NOT_AVAILABLE:
        values["availability"] = _NOT_AVAILABLE
        conn.execute(
            insert(stock_history).values(
                listing_id=item.id,
                run_id=run_id,
                availability=_NOT_AVAILABLE,
                previous=item.availability,
                cause="gone",
                changed_at=now,
            )
        )
    conn.execute(update(listing).where(listing.c.id == item.id).values(values))
    if newly:
        append_events(
            conn,
            [
                Event(
                    event_id=str(uuid4()),
                    event_type=EventType.LISTING_GONE,
                    aggregate=f"listing:{item.id}",
                    correlation_id=f"run:{run_id}",
                    causation_id=None,
                    occurred_at=now,
                    producer="crawl",
                    payload={"source": slug, "source_sku": source_sku, "streak": streak},
                )
            ],
        )
    return GoneResult(streak, pause, newly)


def not_gone(conn: Connection, slug: str, source_sku: str) -> None:
    """The page is there again, even if nothing could be read from it: the streak ends, checks resume."""
    conn.execute(
        update(listing)
        .where(listing.c.source == slug, listing.c.source_sku == source_sku)
        .values(gone_streak=0, checking_paused=False)
    )


def _one(conn: Connection, slug: str, source_sku: str) -> Any:
    query = select(listing).where(listing.c.source == slug, listing.c.source_sku == source_sku)
    return conn.execute(query.with_for_update()).one_or_none()
