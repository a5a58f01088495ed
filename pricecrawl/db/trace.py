"""Rows behind one price, from its publication down to the evidence index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, or_, select

from pricecrawl.db.audit import Broken, verify_chain, verify_observed
from pricecrawl.db.sql import chunks
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    approval,
    audit_event,
    evidence,
    listing,
    mapping,
    market_price_snapshot,
    observation,
    price_decision,
    pricing_policy,
    publication,
    run,
    sku,
)

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Named:
    """What a name turned out to be; each is None where the name is not that."""

    sku: str | None = None
    decision_id: str | None = None
    publication_id: str | None = None


class TraceStore(Store):
    """Reading only; each answer is plain mappings."""

    def resolve(self, conn: Connection, name: str) -> Named:
        """Whether a name is a publication, a decision or a SKU, in that order."""
        found = conn.execute(
            select(publication.c.publication_id, publication.c.decision_id, publication.c.sku).where(
                publication.c.publication_id == name
            )
        ).one_or_none()
        if found is not None:
            return Named(found.sku, found.decision_id, found.publication_id)
        made = conn.execute(
            select(price_decision.c.sku).where(price_decision.c.decision_id == name)
        ).one_or_none()
        if made is not None:
            return Named(made.sku, name)
        ours = conn.execute(select(sku.c.sku).where(sku.c.sku == name)).one_or_none()
        return Named() if ours is None else Named(ours.sku)

    def latest_decision(self, conn: Connection, sku_name: str) -> str | None:
        """The newest decision of a SKU."""
        query = (
            select(price_decision.c.decision_id)
            .where(price_decision.c.sku == sku_name)
            .order_by(price_decision.c.sequence.desc())
            .limit(1)
        )
        of: str | None = conn.execute(query).scalar_one_or_none()
        return of

    def sku(self, conn: Connection, name: str) -> Fields | None:
        """Our SKU."""
        return _one(conn, select(sku).where(sku.c.sku == name))

    def decision(self, conn: Connection, of: str) -> Fields | None:
        """The decision."""
        return _one(conn, select(price_decision).where(price_decision.c.decision_id == of))

    def snapshot(self, conn: Connection, number: int) -> Fields | None:
        """The market price snapshot."""
        return _one(conn, select(market_price_snapshot).where(market_price_snapshot.c.id == number))

    def policy(self, conn: Connection, version: str) -> Fields | None:
        """The policy version."""
        return _one(conn, select(pricing_policy).where(pricing_policy.c.version == version))

    def approvals(self, conn: Connection, of: str) -> list[Fields]:
        """What people decided about the decision."""
        return _all(conn, select(approval).where(approval.c.decision_id == of).order_by(approval.c.id))

    def publications(self, conn: Connection, of: str) -> list[Fields]:
        """Where the decision was published."""
        query = select(publication).where(publication.c.decision_id == of)
        return _all(conn, query.order_by(publication.c.created_at))

    def observations(self, conn: Connection, numbers: Sequence[int]) -> dict[int, Fields]:
        """Observations with their listing, run and evidence record."""
        found: dict[int, Fields] = {}
        for some in chunks(numbers):
            for row in _all(conn, _OBSERVATION.where(observation.c.id.in_(some))):
                found[row["observation_id"]] = row
        return found

    def mappings(self, conn: Connection, numbers: Sequence[int]) -> dict[int, Fields]:
        """Mappings by id."""
        found: dict[int, Fields] = {}
        for some in chunks(numbers):
            for row in _all(conn, select(mapping).where(mapping.c.id.in_(some))):
                found[row["id"]] = row
        return found

    def events(self, conn: Connection, correlation: str, aggregates: Sequence[str]) -> list[Fields]:
        """Events of the chain of causes, and all of these aggregates, as they were written."""
        query = select(audit_event).where(
            or_(audit_event.c.correlation_id == correlation, audit_event.c.aggregate.in_(aggregates))
        )
        return _all(conn, query.order_by(audit_event.c.id))

    def changed(self, conn: Connection, run_id: int, number: int) -> list[Broken]:
        """What is wrong with the batch that an observation was written with."""
        return verify_observed(conn, run_id, number)

    def broken(self, conn: Connection, aggregate: str) -> list[Broken]:
        """Rows of the aggregate's chain of events that do not follow from the one before."""
        return verify_chain(conn, aggregate=aggregate)


_OBSERVATION = (
    select(
        observation.c.id.label("observation_id"),
        *(observation.c.price, observation.c.currency, observation.c.price_kind, observation.c.method),
        *(observation.c.selector, observation.c.availability, observation.c.observed_at),
        *(observation.c.extractor_version, observation.c.needs_review, observation.c.evidence_id),
        *(listing.c.source, listing.c.source_sku, listing.c.name, listing.c.url),
        *(run.c.id.label("run_id"), run.c.outcome, run.c.coverage, run.c.coverage_reason, run.c.started_at),
        *(evidence.c.digest, evidence.c.warc, evidence.c.offset, evidence.c.length),
        *(
            evidence.c.url.label("evidence_url"),
            evidence.c.status,
            evidence.c.fetched_at,
            evidence.c.pruned_at,
        ),
    )
    .join(listing, listing.c.id == observation.c.listing_id)
    .join(run, run.c.id == observation.c.run_id)
    .join(evidence, evidence.c.id == observation.c.evidence_id, isouter=True)
)


def _one(conn: Connection, query: Select[Any]) -> Fields | None:
    row = conn.execute(query).mappings().one_or_none()
    return None if row is None else dict(row)


def _all(conn: Connection, query: Select[Any]) -> list[Fields]:
    return [dict(row) for row in conn.execute(query).mappings()]
