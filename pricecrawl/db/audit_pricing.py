"""Walks over what is stored beside what the event log says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Integer, Select, and_, func, select

from pricecrawl.db import cost_books
from pricecrawl.db.audit import Broken, verify_chain, verify_observations
from pricecrawl.db.events import fingerprint
from pricecrawl.db.sql import among, unindexed
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    api_token,
    approval,
    audit_event,
    candidate_review,
    hold,
    listing,
    manual_override,
    mapping,
    market_price_snapshot,
    metadata,
    observation,
    price_decision,
    pricing_policy,
    publication,
    run,
    sku_cost,
    source,
)
from pricecrawl.domain.events import EventType

Fields = Mapping[str, Any]
_STREAM = {"yield_per": 1000}
_PAGE = 500

_EVENT = (
    *(audit_event.c.event_id, audit_event.c.event_type, audit_event.c.aggregate, audit_event.c.producer),
    *(audit_event.c.correlation_id, audit_event.c.occurred_at, audit_event.c.payload),
)


@dataclass(frozen=True, slots=True)
class ToldDecision:
    """A decision with everything that hangs on it, and the events of its chain of causes, oldest first."""

    row: Fields
    events: Sequence[Fields]
    approvals: Sequence[Fields]
    publications: Sequence[Fields]
    overrides: Sequence[Fields]
    costs: Sequence[Fields]


@dataclass(frozen=True, slots=True)
class _Own:
    """A table whose rows are aggregates `prefix:key`, and the event that each began with."""

    prefix: str
    key: Column[Any]
    begins: EventType
    types: tuple[EventType, ...] = ()

    @property
    def of(self) -> Column[Any]:
        """What the aggregate is called by."""
        return candidate_review.c.listing_id if self.prefix == "listing" else self.key


_OWN = {
    "hold": _Own("hold", hold.c.id, EventType.HOLD_CHANGED),
    "api_token": _Own("token", api_token.c.name, EventType.ACCESS_CHANGED),
    "pricing_policy": _Own("policy", pricing_policy.c.version, EventType.POLICY_CHANGED),
    "source": _Own("source", source.c.slug, EventType.SOURCE_CHANGED, (EventType.SOURCE_CHANGED,)),
    "mapping": _Own("mapping", mapping.c.id, EventType.MAPPING_EVALUATED),
    "run": _Own(
        "run",
        run.c.id,
        EventType.COLLECTION_REQUESTED,
        (EventType.COLLECTION_REQUESTED, EventType.COLLECTION_FINISHED),
    ),
    "candidate_review": _Own(
        "listing",
        candidate_review.c.id,
        EventType.CANDIDATE_CONFIRMED,
        (EventType.CANDIDATE_CONFIRMED, EventType.CANDIDATE_REJECTED),
    ),
}


class AuditStore(Store):
    """Reading only, with flat memory."""

    def counts(self, conn: Connection) -> dict[str, int]:
        """Rows of the tables that an audit looks at."""
        tables = (
            *(audit_event, observation, market_price_snapshot, price_decision, approval, publication),
            *(mapping, pricing_policy, hold, api_token),
        )
        return {
            table.name: conn.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        }

    def fingerprint(self, conn: Connection, until: int | None = None) -> tuple[int, int, str]:
        """(last row id, events, SHA-256) of the whole event log up to a row id, by default up to now."""
        return fingerprint(conn, until)

    def broken_events(self, conn: Connection) -> list[Broken]:
        """Rows of the event log that do not follow from the one before."""
        return verify_chain(conn)

    def broken_observations(self, conn: Connection) -> list[Broken]:
        """Events of batches whose observations are not the ones that were written."""
        return verify_observations(conn)

    def decisions(self, conn: Connection) -> Iterator[ToldDecision]:
        """Each decision with all that hangs on it; costs are those of its SKU."""
        for page in _pages(conn, select(price_decision), price_decision.c.decision_id):
            names = [row["decision_id"] for row in page]
            log = audit_event.c
            told = _by(
                conn,
                select(*_EVENT).where(among(conn, log.correlation_id, names)).order_by(log.id),
                "correlation_id",
            )
            approved, lifted, out = (
                _by(conn, select(table).where(among(conn, table.c.decision_id, names)), "decision_id")
                for table in (approval, manual_override, publication)
            )
            costs = _by(
                conn,
                select(sku_cost).where(among(conn, sku_cost.c.sku, sorted({row["sku"] for row in page}))),
                "sku",
            )
            for row in page:
                of = row["decision_id"]
                yield ToldDecision(
                    row,
                    told.get(of, ()),
                    approved.get(of, ()),
                    out.get(of, ()),
                    lifted.get(of, ()),
                    costs.get(row["sku"], ()),
                )

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

    def aggregates(self, conn: Connection, table: str) -> Iterator[tuple[Any, Fields, Sequence[Fields]]]:
        """(key, row, events oldest first) of each row of a table whose rows are aggregates of their own."""
        own = _OWN[table]
        for page in _pages(conn, select(own.key.table), own.key):
            names = sorted({f"{own.prefix}:{row[own.of.name]}" for row in page})
            query = select(*_EVENT).where(among(conn, audit_event.c.aggregate, names))
            if own.types:
                query = query.where(
                    unindexed(audit_event.c.event_type).in_([kind.value for kind in own.types])
                )
            told = _by(
                conn, query.order_by(audit_event.c.aggregate, audit_event.c.aggregate_seq), "aggregate"
            )
            for row in page:
                yield row[own.key.name], row, told.get(f"{own.prefix}:{row[own.of.name]}", ())

    def costs_changed_at(self, conn: Connection) -> datetime | None:
        """When costs or SKUs were last brought in, as the event log has it."""
        kinds = (EventType.COSTS_IMPORTED.value, EventType.CATALOGUE_IMPORTED.value)
        query = select(func.max(audit_event.c.occurred_at)).where(audit_event.c.event_type.in_(kinds))
        found: datetime | None = conn.execute(query).scalar_one()
        return found

    def costs_stand(self, conn: Connection) -> bool:
        """Whether the costs are those that the newest event of the catalogue tells of.

        Events of earlier versions do not tell of them; costs without any event are none that came in by us.
        """
        told = cost_books.last(conn)
        if told is not None:
            return int(told, 16) == cost_books.total(conn)
        first = select(audit_event.c.id).where(audit_event.c.aggregate == cost_books.AGGREGATE).limit(1)
        known = conn.execute(first).first() is not None
        return known or conn.execute(select(sku_cost.c.id).limit(1)).first() is None

    def lost(self, conn: Connection) -> Iterator[tuple[str, str]]:
        """(table, key) of rows that an event tells of, and that are not there."""
        places = [
            ("price_decision", EventType.PRICE_COMPUTED, "sku", price_decision.c.decision_id),
            ("publication", EventType.PUBLISH_REQUESTED, "publication", publication.c.publication_id),
            *(
                (name, own.begins, own.prefix, own.key)
                for name, own in _OWN.items()
                if own.prefix != "listing"
            ),
        ]
        for table, kind, prefix, key in places:
            missed: set[str] = set()
            for page in self._begun(conn, kind):
                names = {
                    row["correlation_id"] if prefix == "sku" else row["aggregate"].removeprefix(f"{prefix}:")
                    for row in page
                }
                missed |= names - self._there(conn, key, names)
            for name in sorted(missed):
                yield table, name

    def _begun(self, conn: Connection, kind: EventType) -> Iterator[list[Fields]]:
        """Events of one type, a page at a time."""
        log = audit_event.c
        query = select(log.id, log.aggregate, log.correlation_id).where(log.event_type == kind.value)
        last = 0
        while page := _all(conn, query.where(log.id > last).order_by(log.id).limit(_PAGE)):
            yield page
            last = page[-1]["id"]

    def _there(self, conn: Connection, key: Column[Any], names: set[str]) -> set[str]:
        """Those of the names that are keys."""
        counted = isinstance(key.type, Integer)
        wanted = [int(name) if counted else name for name in names if not counted or name.isdecimal()]
        return {str(value) for value in conn.execute(select(key).where(among(conn, key, wanted))).scalars()}

    def uncaused(self, conn: Connection) -> Iterator[tuple[int, str, int, str]]:
        """(id, aggregate, number, cause) of events whose cause is not in the log."""
        cause = audit_event.alias()
        query = (
            select(
                *(audit_event.c.id, audit_event.c.aggregate, audit_event.c.aggregate_seq),
                audit_event.c.causation_id,
            )
            .join(cause, cause.c.event_id == audit_event.c.causation_id, isouter=True)
            .where(audit_event.c.causation_id.is_not(None), cause.c.id.is_(None))
            .order_by(audit_event.c.id)
        )
        for row in conn.execute(query, execution_options=_STREAM):
            yield row.id, row.aggregate, row.aggregate_seq, row.causation_id

    def dangling(self, conn: Connection) -> Iterator[tuple[str, Any, str]]:
        """(table, id, problem) of rows that name what is not there."""
        checks = [
            (table, key.parent, key.column, f"{key.column.table.name} ")
            for table in metadata.sorted_tables
            for key in sorted(table.foreign_keys, key=lambda key: key.parent.name)
        ]
        checks += [
            (listing, listing.c.last_observation_id, observation.c.id, "its last observation "),
            (
                market_price_snapshot,
                market_price_snapshot.c.winning_observation_id,
                observation.c.id,
                "its winning observation ",
            ),
        ]
        for table, column, target, what in checks:
            key = next(iter(table.primary_key))
            # A table may name its own rows.
            other = target.table.alias().c[target.name]
            query = (
                select(key.label("id"), column.label("names"))
                .join(other.table, other == column, isouter=True)
                .where(column.is_not(None), other.is_(None))
            )
            for row in conn.execute(query):
                yield table.name, row.id, f"names {what}{row.names}, which is not there"


def _pages(conn: Connection, query: Select[Any], key: Column[Any]) -> Iterator[list[Fields]]:
    """The rows of a table in order of its key, a page at a time."""
    query = query.order_by(key).limit(_PAGE)
    page = _all(conn, query)
    while page:
        yield page
        page = _all(conn, query.where(key > page[-1][key.name]))


def _by(conn: Connection, query: Select[Any], name: str) -> dict[Any, list[Fields]]:
    found: dict[Any, list[Fields]] = {}
    for row in _all(conn, query):
        found.setdefault(row[name], []).append(row)
    return found


def _all(conn: Connection, query: Select[Any]) -> list[Fields]:
    return [dict(row) for row in conn.execute(query).mappings()]
