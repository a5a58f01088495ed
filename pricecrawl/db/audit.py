"""Checks of stored facts against what the event log says of them. No network, flat memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from pricecrawl.db.events import Broken, verify_chain
from pricecrawl.db.saving import FACTS, REST, digest, rest_digest
from pricecrawl.db.tables import audit_event, evidence, observation
from pricecrawl.domain.events import EventType

__all__ = ["Broken", "verify_chain", "verify_observations", "verify_observed"]


def verify_observations(conn: Connection) -> list[Broken]:
    """Batches whose observations are not the ones that were written; each names its event's row.

    Every batch left one event with the count and the SHA-256 of its observations, and that event is
    part of a hash chain: a changed, removed or added observation shows here, a changed event there.
    """
    query = select(audit_event).where(_IS_BATCH).order_by(audit_event.c.id)
    return [found for event in _in_pages(conn, query) if (found := _batch(conn, event)) is not None]


def verify_observed(conn: Connection, run_id: int, number: int) -> list[Broken]:
    """The same of the batch that one observation was written with; having no event is a problem too."""
    query = select(audit_event).where(_IS_BATCH, audit_event.c.aggregate == f"run:{run_id}")
    events = conn.execute(query.order_by(audit_event.c.aggregate_seq)).all()
    mine = [event for event in events if _holds(event.payload, number)]
    if not mine:
        return [Broken(0, f"run:{run_id}", 0, "has no event that tells of it")]
    return [found for event in mine if (found := _batch(conn, event)) is not None]


_IS_BATCH = audit_event.c.event_type == EventType.OBSERVATION_CREATED.value


def _holds(told: Mapping[str, Any], number: int) -> bool:
    return "sha256" not in told or told["first_id"] <= number <= told["last_id"]


def _batch(conn: Connection, event: Row[Any]) -> Broken | None:
    told = event.payload
    if "sha256" not in told:
        return None
    run_id = int(event.aggregate.removeprefix("run:"))
    facts = (
        select(*(observation.c[name] for name in (*FACTS, *REST)), evidence.c.digest)
        .join(evidence, evidence.c.id == observation.c.evidence_id, isouter=True)
        .where(
            observation.c.run_id == run_id,
            observation.c.id.between(told["first_id"], told["last_id"]),
        )
        .order_by(observation.c.id)
    )
    rows = [dict(row) for row in conn.execute(facts).mappings()]
    if len(rows) != told["count"]:
        problem = f"tells of {told['count']} observations, and there are {len(rows)}"
    elif digest(rows) != told["sha256"] or told.get("rest_sha256") not in {None, _rest(rows)}:
        problem = "tells of other observations than those that are stored"
    else:
        return None
    return Broken(event.id, event.aggregate, event.aggregate_seq, problem)


def _rest(rows: list[dict[str, Any]]) -> str:
    return rest_digest(tuple(row[name] for name in (*REST, "digest")) for row in rows)


def _in_pages(conn: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    last = 0
    while rows := conn.execute(query.where(audit_event.c.id > last).limit(500)).all():
        yield from rows
        last = rows[-1].id
