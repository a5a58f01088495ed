"""The exchange rate that each observation keeps: the reference rate of its day, as it was known then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from sqlalchemy import Connection, select

from pricecrawl.db.tables import fx_rate

BASE = "EUR"
"""The currency that reference rates are against: 1 BASE = rate x currency."""

OLDEST = timedelta(days=5)
"""The central bank publishes nothing from Maundy Thursday to Easter Tuesday; older ones are not the day's."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A rate, where it came from (live or fallback) and when it was fetched; both None for BASE itself."""

    rate: Decimal
    source: str | None = None
    fetched_at: datetime | None = None


Seen = tuple[str | None, date]
"""A currency and the day on which an amount in it was read."""


def rates_of(conn: Connection, seen: Iterable[Seen]) -> dict[Seen, Kept]:
    """The latest rate on or before each (currency, day); those without one are left out."""
    asked = {(currency, day) for currency, day in seen if currency is not None}
    found: dict[Seen, Kept] = {
        (currency, day): Kept(Decimal(1)) for currency, day in asked if currency == BASE
    }
    asked -= found.keys()
    if not asked:
        return found
    days = [day for _, day in asked]
    query = (
        select(
            fx_rate.c.quote, fx_rate.c.rate_date, fx_rate.c.rate, fx_rate.c.rate_source, fx_rate.c.fetched_at
        )
        .where(
            fx_rate.c.base == BASE,
            fx_rate.c.quote.in_({currency for currency, _ in asked}),
            fx_rate.c.rate_date >= (min(days) - OLDEST).isoformat(),
            fx_rate.c.rate_date <= max(days).isoformat(),
        )
        .order_by(fx_rate.c.rate_date)
    )
    for quote, text, rate, source, fetched_at in conn.execute(query):
        published = date.fromisoformat(text)
        for currency, day in asked:
            if currency == quote and published <= day <= published + OLDEST:
                found[currency, day] = Kept(rate, source, fetched_at)
    return found
