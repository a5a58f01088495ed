"""Work that nothing more is tried for until a person has looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from pricecrawl.db.store import Store
from pricecrawl.db.tables import dead_letter, publication

Fields = Mapping[str, Any]


class DeadLetterStore(Store):
    """Reading and writing of `dead_letter`."""

    def add(
        self,
        tx: Connection,
        kind: str,
        correlation: str,
        payload: Fields,
        error: str,
        *,
        attempts: int,
        now: datetime,
    ) -> int:
        """Put work aside; returns the letter's number. What lies there unreplayed is written once."""
        for letter in self.of(tx, kind, correlation):
            if letter["payload"] == dict(payload):
                tx.execute(
                    update(dead_letter)
                    .where(dead_letter.c.id == letter["id"])
                    .values(error=error, attempts=attempts, failed_at=now)
                )
                return int(letter["id"])
        done = tx.execute(
            insert(dead_letter)
            .values(
                kind=kind,
                correlation_id=correlation,
                payload=dict(payload),
                error=error,
                attempts=attempts,
                failed_at=now,
            )
            .returning(dead_letter.c.id)
        )
        return int(done.scalar_one())

    def of(self, conn: Connection, kind: str, correlation: str) -> list[Fields]:
        """Letters of one kind about one chain of causes that wait."""
        query = select(dead_letter).where(
            dead_letter.c.kind == kind,
            dead_letter.c.correlation_id == correlation,
            dead_letter.c.replayed_at.is_(None),
        )
        return [dict(row) for row in conn.execute(query.order_by(dead_letter.c.id)).mappings()]

    def of_price(
        self, conn: Connection, kind: str, target: str, sku: str, scope: str | None = None
    ) -> list[Fields]:
        """Letters of one kind that wait, about the publications of one price, or of a SKU in all scopes."""
        query = (
            select(dead_letter, publication.c.publication_id)
            .join(publication, publication.c.decision_id == dead_letter.c.correlation_id)
            .where(
                publication.c.target == target,
                publication.c.sku == sku,
                dead_letter.c.kind == kind,
                dead_letter.c.replayed_at.is_(None),
            )
            .order_by(dead_letter.c.id)
        )
        if scope is not None:
            query = query.where(publication.c.scope == scope)
        rows = [dict(row) for row in conn.execute(query).mappings()]
        return [row for row in rows if row["payload"].get("publication_id") == row["publication_id"]]

    def all(self, conn: Connection, *, replayed: bool = False, limit: int = 200) -> list[Fields]:
        """Letters that wait, or with `replayed` all of them, latest first."""
        query = select(dead_letter)
        if not replayed:
            query = query.where(dead_letter.c.replayed_at.is_(None))
        return [
            dict(row) for row in conn.execute(query.order_by(dead_letter.c.id.desc()).limit(limit)).mappings()
        ]

    def get(self, conn: Connection, number: int) -> Fields | None:
        """One letter."""
        row = conn.execute(select(dead_letter).where(dead_letter.c.id == number)).mappings().one_or_none()
        return None if row is None else dict(row)

    def close(self, tx: Connection, number: int, *, now: datetime) -> None:
        """It was taken up again."""
        tx.execute(update(dead_letter).where(dead_letter.c.id == number).values(replayed_at=now))
