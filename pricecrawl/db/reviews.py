"""What waits for a person: prices, mappings, doubtful readings and policies, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, case, insert, literal, select, update

from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    approval,
    candidate_review,
    listing,
    manual_override,
    mapping,
    market_price_snapshot,
    observation,
    price_decision,
    pricing_policy,
    sku,
)


class ReviewStore(Store):
    """Reading and settling of reviews. Rows are given as plain mappings."""

    def open_prices(
        self, conn: Connection, limit: int, *, now: datetime | None = None
    ) -> list[Mapping[str, Any]]:
        """Decisions that wait for a reviewer, oldest first; those whose time is over at `now` last."""
        over = case((price_decision.c.expires_at <= now, 1), else_=0) if now is not None else literal(0)
        query = (
            select(price_decision, sku.c.name.label("sku_name"))
            .join(sku, sku.c.sku == price_decision.c.sku)
            .where(price_decision.c.status == "REVIEW_REQUIRED")
            .order_by(over, price_decision.c.created_at, price_decision.c.sku)
            .limit(limit)
        )
        return _all(conn, query)

    def open_mappings(self, conn: Connection, limit: int) -> list[Mapping[str, Any]]:
        """Pairs that wait for a reviewer, oldest first."""
        query = _MAPPING.where(mapping.c.status == "REVIEW_REQUIRED").order_by(mapping.c.id).limit(limit)
        return _all(conn, query)

    def open_candidates(self, conn: Connection, limit: int) -> list[Mapping[str, Any]]:
        """Doubtful readings that wait for a person, oldest first."""
        query = _CANDIDATE.where(candidate_review.c.status == "open")
        return _all(conn, query.order_by(candidate_review.c.created_at, candidate_review.c.id).limit(limit))

    def open_policies(self, conn: Connection, limit: int) -> list[Mapping[str, Any]]:
        """Policies that nobody has approved or rejected, oldest first."""
        query = select(pricing_policy).where(
            pricing_policy.c.approved_at.is_(None), pricing_policy.c.rejected_at.is_(None)
        )
        return _all(conn, query.order_by(pricing_policy.c.id).limit(limit))

    def decision(self, conn: Connection, of: str, *, lock: bool = False) -> Mapping[str, Any] | None:
        """One decision; with `lock` nobody else can settle it until the transaction ends."""
        query = select(price_decision).where(price_decision.c.decision_id == of)
        # SQLite has no row locks: there the writing transaction is the lock.
        return _one(conn, query.with_for_update() if lock and conn.dialect.name != "sqlite" else query)

    def starting_with(self, conn: Connection, start: str) -> list[str]:
        """Ids of up to two decisions that start so: one is a name, two are a question."""
        query = select(price_decision.c.decision_id).where(
            price_decision.c.decision_id.startswith(start, autoescape=True)
        )
        return list(conn.execute(query.limit(2)).scalars())

    def waiting_for(self, conn: Connection, sku_name: str) -> str | None:
        """The decision of a SKU that waits for a reviewer."""
        query = (
            select(price_decision.c.decision_id)
            .where(price_decision.c.sku == sku_name, price_decision.c.status == "REVIEW_REQUIRED")
            .order_by(price_decision.c.sequence.desc())
            .limit(1)
        )
        of: str | None = conn.execute(query).scalar_one_or_none()
        return of

    def latest(self, conn: Connection, sku_name: str) -> str | None:
        """The newest decision of a SKU, whatever became of it."""
        query = (
            select(price_decision.c.decision_id)
            .where(price_decision.c.sku == sku_name)
            .order_by(price_decision.c.created_at.desc(), price_decision.c.sequence.desc())
            .limit(1)
        )
        of: str | None = conn.execute(query).scalar_one_or_none()
        return of

    def snapshot(self, conn: Connection, number: int | None) -> Mapping[str, Any] | None:
        """One market price snapshot."""
        return _one(conn, select(market_price_snapshot).where(market_price_snapshot.c.id == number))

    def approvals(self, conn: Connection, of: str) -> list[Mapping[str, Any]]:
        """What people decided about a decision, oldest first."""
        return _all(conn, select(approval).where(approval.c.decision_id == of).order_by(approval.c.id))

    def settle_decision(
        self, tx: Connection, of: str, status: str, *, expires: datetime | None, now: datetime
    ) -> None:
        """Write what became of a decision."""
        tx.execute(
            update(price_decision)
            .where(price_decision.c.decision_id == of)
            .values(status=status, expires_at=expires, updated_at=now)
        )

    def add_approval(
        self, tx: Connection, of: str, action: str, *, by: str, role: str, reason: str, now: datetime
    ) -> None:
        """Write who decided what, and why."""
        tx.execute(
            insert(approval).values(
                decision_id=of, action=action, actor=by, role=role, reason=reason, decided_at=now
            )
        )

    def mapping(self, conn: Connection, number: int) -> Mapping[str, Any] | None:
        """One pair with both sides."""
        return _one(conn, _MAPPING.where(mapping.c.id == number))

    def settle_mapping(
        self, tx: Connection, number: int, status: str, *, by: str, reason: str, now: datetime
    ) -> None:
        """Write what a person decided about a pair."""
        values = {"status": status, "reviewed_by": by, "reviewed_at": now, "review_reason": reason}
        tx.execute(update(mapping).where(mapping.c.id == number).values(first_use_reviewed=True, **values))

    def candidate(self, conn: Connection, number: int) -> Mapping[str, Any] | None:
        """One doubtful reading with its listing."""
        return _one(conn, _CANDIDATE.where(candidate_review.c.id == number))

    def override(self, conn: Connection, of: str) -> Mapping[str, Any] | None:
        """The latest request to lift a block by exception."""
        query = select(manual_override).where(manual_override.c.decision_id == of)
        return _one(conn, query.order_by(manual_override.c.id.desc()).limit(1))

    def request_override(self, tx: Connection, of: str, *, by: str, reason: str, now: datetime) -> None:
        """Write the first person's half of an exception."""
        tx.execute(
            insert(manual_override).values(
                decision_id=of, requested_by=by, requested_at=now, reason=reason, status="requested"
            )
        )

    def grant_override(self, tx: Connection, number: int, *, by: str, now: datetime) -> None:
        """Write the second person's half."""
        tx.execute(
            update(manual_override)
            .where(manual_override.c.id == number)
            .values(approved_by=by, approved_at=now, status="granted")
        )


_MAPPING = (
    select(
        mapping,
        *(listing.c.source, listing.c.source_sku, listing.c.name.label("listing_name"), listing.c.url),
        *(listing.c.brand.label("listing_brand"), listing.c.gtin, listing.c.pack.label("listing_pack")),
        *(sku.c.name.label("sku_name"), sku.c.brand.label("sku_brand"), sku.c.pack.label("sku_pack")),
    )
    .join(listing, listing.c.id == mapping.c.listing_id)
    .join(sku, sku.c.sku == mapping.c.sku)
)

_CANDIDATE = (
    select(
        candidate_review,
        *(listing.c.source, listing.c.source_sku, listing.c.name.label("listing_name"), listing.c.url),
        *(listing.c.price.label("accepted_price"), listing.c.currency.label("accepted_currency")),
        *(observation.c.observed_at, observation.c.availability),
        *(observation.c.price.label("suggested_price"), observation.c.currency.label("suggested_currency")),
    )
    .join(listing, listing.c.id == candidate_review.c.listing_id)
    .join(observation, observation.c.id == candidate_review.c.observation_id)
)


def _one(conn: Connection, query: Select[Any]) -> Mapping[str, Any] | None:
    row = conn.execute(query).mappings().one_or_none()
    return None if row is None else dict(row)


def _all(conn: Connection, query: Select[Any]) -> list[Mapping[str, Any]]:
    return [dict(row) for row in conn.execute(query).mappings()]
