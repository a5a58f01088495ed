"""Stored versions of the pricing policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from pricecrawl.db.sql import upsert
from pricecrawl.db.store import Store
from pricecrawl.db.tables import pricing_policy, sku_policy


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One version: its body is what `pricing.policy.read_policy` reads."""

    version: str
    body: Mapping[str, Any]
    author: str
    created_at: datetime
    valid_from: datetime
    approved_by: str | None
    approved_at: datetime | None
    rejected_by: str | None = None
    rejected_at: datetime | None = None


_COLUMNS = (
    *(pricing_policy.c.version, pricing_policy.c.body, pricing_policy.c.author),
    *(pricing_policy.c.created_at, pricing_policy.c.valid_from),
    *(pricing_policy.c.approved_by, pricing_policy.c.approved_at),
    *(pricing_policy.c.rejected_by, pricing_policy.c.rejected_at),
)


class PolicyStore(Store):
    """Reading and writing of `pricing_policy` and `sku_policy`."""

    def in_force(self, conn: Connection, now: datetime) -> PolicyRow | None:
        """The approved version with the latest start that is not after `now`."""
        query = (
            select(*_COLUMNS)
            .where(pricing_policy.c.approved_at.is_not(None), pricing_policy.c.valid_from <= now)
            .order_by(pricing_policy.c.valid_from.desc(), pricing_policy.c.id.desc())
            .limit(1)
        )
        row = conn.execute(query).one_or_none()
        return PolicyRow(*row) if row is not None else None

    def get(self, conn: Connection, version: str, *, lock: bool = False) -> PolicyRow | None:
        """One version; with `lock` nobody else can settle it until the transaction ends."""
        query = select(*_COLUMNS).where(pricing_policy.c.version == version)
        if lock and conn.dialect.name != "sqlite":  # there the writing transaction is the lock
            query = query.with_for_update()
        row = conn.execute(query).one_or_none()
        return PolicyRow(*row) if row is not None else None

    def all(self) -> list[PolicyRow]:
        """Every version, oldest first."""
        with self.engine.connect() as conn:
            return [PolicyRow(*row) for row in conn.execute(select(*_COLUMNS).order_by(pricing_policy.c.id))]

    def add(self, tx: Connection, row: PolicyRow) -> bool:
        """Store a version; False if it is there already."""
        statement = (
            upsert(tx, pricing_policy)
            .values(
                version=row.version,
                body=dict(row.body),
                author=row.author,
                created_at=row.created_at,
                valid_from=row.valid_from,
                approved_by=row.approved_by,
                approved_at=row.approved_at,
            )
            .on_conflict_do_nothing(index_elements=[pricing_policy.c.version])
            .returning(pricing_policy.c.id)
        )
        return tx.execute(statement).one_or_none() is not None

    def approve(self, tx: Connection, version: str, *, by: str, now: datetime) -> None:
        """Put a version in force from its start on."""
        tx.execute(
            update(pricing_policy)
            .where(pricing_policy.c.version == version)
            .values(approved_by=by, approved_at=now)
        )

    def reject(self, tx: Connection, version: str, *, by: str, now: datetime) -> None:
        """Never to be in force."""
        tx.execute(
            update(pricing_policy)
            .where(pricing_policy.c.version == version)
            .values(rejected_by=by, rejected_at=now)
        )

    def override(
        self, tx: Connection, sku: str, overrides: Mapping[str, Any], *, by: str, now: datetime
    ) -> None:
        """Set what holds for one SKU alone."""
        statement = upsert(tx, sku_policy)
        values = {"overrides": dict(overrides), "changed_by": by, "changed_at": now}
        tx.execute(
            statement.values(sku=sku, **values).on_conflict_do_update(
                index_elements=[sku_policy.c.sku], set_=values
            )
        )
