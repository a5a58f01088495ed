"""Streams over decisions and snapshots beside what their events say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, and_, func, select

from pricecrawl.db.audit import Broken, verify_chain, verify_observations
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    approval,
    audit_event,
    evidence,
    listing,
    market_price_snapshot,
    observation,
    price_decision,
)
from pricecrawl.domain.events import EventType

Fields = Mapping[str, Any]
_STREAM = {"yield_per": 1000}


class AuditStore(Store):
    """Reading only, with flat memory."""

    def counts(self, conn: Connection) -> dict[str, int]:
        """Rows of the tables that an audit looks at."""
        tables = (audit_event, observation, market_price_snapshot, price_decision)
        return {
            table.name: conn.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        }

    def broken_events(self, conn: Connection) -> list[Broken]:
        """Rows of the event log that do not follow from the one before."""
        return verify_chain(conn)

    def broken_observations(self, conn: Connection) -> list[Broken]:
        """Events of batches whose observations are not the ones that were written."""
        return verify_observations(conn)

    def decisions(self, conn: Connection) -> Iterator[Fields]:
        """Each decision with `told`, the payload of its event, and `approvals`, the actions of people."""
        query = (
            select(price_decision, audit_event.c.payload.label("told"))
            .join(
                audit_event,
                and_(
                    audit_event.c.correlation_id == price_decision.c.decision_id,
                    audit_event.c.event_type == EventType.PRICE_COMPUTED.value,
                ),
                isouter=True,
            )
            .order_by(price_decision.c.decision_id)
        )
        actions: dict[str, list[str]] = {}
        for row in conn.execute(select(approval.c.decision_id, approval.c.action)):
            actions.setdefault(row.decision_id, []).append(row.action)
        for fields in conn.execute(query, execution_options=_STREAM).mappings():
            yield {**fields, "approvals": actions.get(fields["decision_id"], [])}

    def snapshots(self, conn: Connection) -> Iterator[Fields]:
        """Each snapshot with `told`, the payload of the event of the decision that it was taken for.

        A rollback stands on the snapshot of the decision that it repeats: it is not that one.
        """
        taken_for = and_(
            price_decision.c.snapshot_id == market_price_snapshot.c.id,
            price_decision.c.decision_reason != "rollback",
        )
        query = (
            select(market_price_snapshot, audit_event.c.payload.label("told"))
            .join(price_decision, taken_for, isouter=True)
            .join(
                audit_event,
                and_(
                    audit_event.c.correlation_id == price_decision.c.decision_id,
                    audit_event.c.event_type == EventType.MARKET_PRICE_COMPUTED.value,
                ),
                isouter=True,
            )
            .order_by(market_price_snapshot.c.id)
        )
        for fields in conn.execute(query, execution_options=_STREAM).mappings():
            yield dict(fields)

    def dangling(self, conn: Connection) -> Iterator[tuple[str, int, str]]:
        """(table, id, problem) of rows that name what is not there."""
        checks = (
            (listing, listing.c.last_observation_id, observation, "its last observation"),
            (
                market_price_snapshot,
                market_price_snapshot.c.winning_observation_id,
                observation,
                "its winning observation",
            ),
            (observation, observation.c.evidence_id, evidence, "its evidence"),
        )
        for table, column, other, what in checks:
            query = (
                select(table.c.id, column.label("names"))
                .join(other, other.c.id == column, isouter=True)
                .where(column.is_not(None), other.c.id.is_(None))
            )
            for row in conn.execute(query):
                yield table.name, row.id, f"names {what} {row.names}, which is not there"
