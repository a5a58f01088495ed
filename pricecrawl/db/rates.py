"""Exchange rates by day: what pricing converts with, kept for good."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects import postgresql, sqlite

from pricecrawl.db.store import Store
from pricecrawl.db.tables import fx_rate


class RateStore(Store):
    """The table `fx_rate`; a rate of a live source replaces one of the bundled history, never the reverse."""

    def save(
        self, base: str, day: date, rates: Iterable[tuple[str, Decimal]], *, source: str, now: datetime
    ) -> int:
        """Keep 1 `base` = rate × quote for one day; returns how many rates are new or better founded."""
        rows = [
            {
                "base": base,
                "quote": quote,
                "rate_date": day.isoformat(),
                "rate": rate,
                "rate_source": source,
                "fetched_at": now,
            }
            for quote, rate in rates
        ]
        if not rows:
            return 0
        dialect = postgresql if self.engine.dialect.name == "postgresql" else sqlite
        insert = dialect.insert(fx_rate)
        statement = insert.on_conflict_do_update(
            index_elements=[fx_rate.c.base, fx_rate.c.quote, fx_rate.c.rate_date],
            set_={name: insert.excluded[name] for name in ("rate", "rate_source", "fetched_at")},
            where=(fx_rate.c.rate_source == "fallback") & (insert.excluded.rate_source == "live"),
        )
        with self.begin() as tx:
            before = self._count(tx, source)
            tx.execute(statement, rows)
            return self._count(tx, source) - before

    @staticmethod
    def _count(tx: Connection, source: str) -> int:
        query = select(func.count()).select_from(fx_rate).where(fx_rate.c.rate_source == source)
        return int(tx.execute(query).scalar_one())

    def latest(self) -> tuple[str, str, datetime] | None:
        """Day, source and fetch time of the newest rates, or None."""
        query = (
            select(fx_rate.c.rate_date, fx_rate.c.rate_source, fx_rate.c.fetched_at)
            .order_by(fx_rate.c.rate_date.desc(), fx_rate.c.rate_source.desc())
            .limit(1)
        )
        with self.engine.connect() as conn:
            row = conn.execute(query).first()
        return None if row is None else (row.rate_date, row.rate_source, row.fetched_at)
