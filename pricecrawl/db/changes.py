"""What moved on the shelves since a moment: prices, stock, and listings that a whole crawl did not see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection, Engine, select

from pricecrawl.db.tables import listing, price_history, stock_history


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one listing. For a price `before` and `after` are amounts, for stock its states."""

    source: str
    name: str
    what: str
    before: str
    after: str


def changes_since(engine: Engine, moment: datetime) -> list[Change]:
    """Changes after `moment` of listings that were known before it, then listings that went missing."""
    with engine.connect() as conn:
        return [*_prices(conn, moment), *_stock(conn, moment), *_missing(conn)]


def _prices(conn: Connection, moment: datetime) -> list[Change]:
    query = (
        select(listing.c.source, listing.c.name, price_history)
        .join(listing, listing.c.id == price_history.c.listing_id)
        .where(price_history.c.listing_id.in_(
            select(price_history.c.listing_id).where(price_history.c.changed_at > moment)
        ))
        .order_by(listing.c.source, listing.c.id, price_history.c.id)
    )  # fmt: skip
    found: list[Change] = []
    last: dict[int, tuple[Decimal | None, Decimal | None]] = {}
    for row in conn.execute(query):
        before = last.get(row.listing_id)
        last[row.listing_id] = (row.price, row.member_price)
        if row.changed_at <= moment or before is None:
            continue
        for what, old, new in (
            ("price", before[0], row.price),
            ("member price", before[1], row.member_price),
        ):
            if old != new:
                found.append(
                    Change(row.source, row.name, what, _amount(old, row.currency), _amount(new, row.currency))
                )
    return found


def _stock(conn: Connection, moment: datetime) -> list[Change]:
    query = (
        select(listing.c.source, listing.c.name, stock_history.c.previous, stock_history.c.availability)
        .join(listing, listing.c.id == stock_history.c.listing_id)
        .where(stock_history.c.changed_at > moment, stock_history.c.previous.is_not(None))
        .order_by(listing.c.source, listing.c.id, stock_history.c.id)
    )
    return [
        Change(row.source, row.name, "stock", row.previous, row.availability) for row in conn.execute(query)
    ]


def _missing(conn: Connection) -> list[Change]:
    query = (
        select(listing.c.source, listing.c.name, listing.c.consecutive_misses)
        .where(listing.c.consecutive_misses > 0)
        .order_by(listing.c.source, listing.c.id)
    )
    return [
        Change(row.source, row.name, "missing", "seen", f"missed {row.consecutive_misses} of 3")
        for row in conn.execute(query)
    ]


def _amount(value: Decimal | None, currency: str | None) -> str:
    return "none" if value is None else f"{value:f} {currency or ''}".strip()
