"""Kill switches as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, insert, or_, select, update

from pricecrawl.db.store import Store
from pricecrawl.db.tables import hold, publication, sku, source


@dataclass(frozen=True, slots=True)
class HoldRow:
    """One kill switch that is on."""

    id: int
    scope: str
    value: str
    reason: str
    set_by: str
    set_at: datetime


_COLUMNS = (hold.c.id, hold.c.scope, hold.c.value, hold.c.reason, hold.c.set_by, hold.c.set_at)


class HoldStore(Store):
    """Reading and writing of `hold`."""

    def active(self, conn: Connection) -> list[HoldRow]:
        """Switches that are on, oldest first."""
        query = select(*_COLUMNS).where(hold.c.cleared_at.is_(None)).order_by(hold.c.id)
        return [HoldRow(*row) for row in conn.execute(query)]

    def covering(
        self, conn: Connection, sku_name: str, target: str, source: str | None = None
    ) -> list[HoldRow]:
        """Switches that forbid writing the price of a SKU to a target at this moment.

        `source` is the one whose offer set the price, where one did.
        """
        covers = or_(
            hold.c.scope == "everything",
            and_(hold.c.scope == "sku", hold.c.value == sku_name),
            and_(hold.c.scope == "target", hold.c.value == target),
            and_(hold.c.scope == "source", hold.c.value == source),
        )
        query = select(*_COLUMNS).where(hold.c.cleared_at.is_(None), covers).order_by(hold.c.id)
        return [HoldRow(*row) for row in conn.execute(query)]

    def add(self, tx: Connection, scope: str, value: str, *, reason: str, by: str, now: datetime) -> int:
        """Switch on; returns the id."""
        done = tx.execute(
            insert(hold)
            .values(scope=scope, value=value, reason=reason, set_by=by, set_at=now)
            .returning(hold.c.id)
        )
        number: int = done.scalar_one()
        return number

    def clear(self, tx: Connection, numbers: Sequence[int], *, by: str, now: datetime) -> None:
        """Switch off."""
        tx.execute(update(hold).where(hold.c.id.in_(numbers)).values(cleared_by=by, cleared_at=now))

    def exists(self, scope: str, value: str) -> bool:
        """Whether there is a source or SKU of that name, or a target that something was published to."""
        columns = {"source": source.c.slug, "sku": sku.c.sku, "target": publication.c.target}
        column = columns.get(scope)
        if column is None:
            return True
        with self.engine.connect() as conn:
            return conn.execute(select(column).where(column == value).limit(1)).first() is not None
