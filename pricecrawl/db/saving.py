"""Saving a batch of observations: listings, the observation itself, and what changed.

One transaction, some ten statements however many rows. What a batch decides:

* A doubtful observation (`needs_review`) is stored and opens a review, but does not touch the listing's
  accepted price. One without a price leaves it too: an honest "no price shown" is no new price.
* UNKNOWN availability never overwrites a known one, except where the known one was only inferred from
  the listing's absence: being seen ends that.
* Price history has a row when price, currency, original or member price differs from the accepted one,
  stock history when availability does; the first accepted value of a listing is its first row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, select, update

from pricecrawl.db import doubts
from pricecrawl.db.crawl_types import BatchResult, EvidenceRow
from pricecrawl.db.events import append_events
from pricecrawl.db.evidence_rows import Place, index_evidence
from pricecrawl.db.sql import among, insert_rows, next_ids, run_event, storable, update_rows
from pricecrawl.db.tables import listing, observation, price_history, run, stock_history
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.errors import SourceBusy
from pricecrawl.domain.events import EventType
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.run import GONE_BEFORE_NOT_AVAILABLE, MISSES_BEFORE_OUT_OF_STOCK, RunOutcome

# In the order of _State's fields.
_STATE = (
    listing.c.source_sku,
    listing.c.id,
    listing.c.price,
    listing.c.currency,
    listing.c.original_price,
    listing.c.member_price,
    listing.c.pre_order_price,
    listing.c.method,
    listing.c.availability,
    listing.c.consecutive_misses,
    listing.c.gone_streak,
    listing.c.first_seen_at,
    listing.c.last_seen_run,
)


@dataclass(slots=True)
class _State:
    """A listing's accepted state while the batch is folded over it."""

    id: int
    price: Decimal | None = None
    currency: str | None = None
    original_price: Decimal | None = None
    member_price: Decimal | None = None
    pre_order_price: Decimal | None = None
    method: str | None = None
    availability: str = Availability.UNKNOWN.value
    consecutive_misses: int = 0
    gone_streak: int = 0
    first_seen_at: datetime | None = None
    last_seen_run: int | None = None
    is_new: bool = False
    last: Observation | None = None
    last_id: int = 0

    @property
    def money(self) -> tuple[object, ...]:
        return (self.price, self.currency, self.original_price, self.member_price)

    @property
    def only_inferred(self) -> bool:
        """True where the stock state was concluded from absence, not read from a page."""
        missing = (
            self.availability == Availability.OUT_OF_STOCK
            and self.consecutive_misses >= MISSES_BEFORE_OUT_OF_STOCK
        )
        gone = (
            self.availability == Availability.NOT_AVAILABLE and self.gone_streak >= GONE_BEFORE_NOT_AVAILABLE
        )
        return missing or gone


@dataclass(slots=True)
class _Rows:
    """Rows to write, per table."""

    observations: list[dict[str, Any]] = field(default_factory=list)
    prices: list[dict[str, Any]] = field(default_factory=list)
    stock: list[dict[str, Any]] = field(default_factory=list)
    doubts: dict[int, dict[str, Any]] = field(default_factory=dict)
    settled: dict[int, datetime] = field(default_factory=dict)


def save(
    conn: Connection,
    run_id: int,
    observations: Sequence[Observation],
    stored: Sequence[EvidenceRow],
    known: Mapping[Place, int],
) -> tuple[BatchResult, dict[Place, int]]:
    """Write one batch in the caller's transaction; returns what changed and the ids of its evidence.

    `known` are ids of evidence written by earlier batches of the run.

    Raises:
        SourceBusy: the run was ended by somebody else; nothing may be written for it any more.
    """
    if len({item.source for item in observations}) > 1:
        raise ValueError("a batch holds observations of one source")
    refs = (item.evidence for item in observations if item.evidence is not None)
    ids = index_evidence(conn, run_id, stored=stored, refs=refs, known=known)
    states = _load(conn, observations)
    seen_now = {state.id for state in states.values() if state.last_seen_run != run_id}
    numbers = next_ids(conn, observation, len(observations))
    rows = _Rows()
    for number, item in zip(numbers, observations, strict=True):
        state = states[item.source_sku]
        place = (item.evidence.warc, item.evidence.offset) if item.evidence else None
        rows.observations.append(
            _observation(item, number, run_id, state.id) | {"evidence_id": ids[place] if place else None}
        )
        _fold(rows, state, item, number, run_id)
    _write_listings(conn, run_id, states.values())
    opened = _write_history(conn, rows)
    result = BatchResult(
        inserted=len(observations),
        listings=len(seen_now),
        new_listings=sum(state.is_new for state in states.values()),
        price_changes=len(rows.prices),
        stock_changes=len(rows.stock),
        reviews=opened,
    )
    _count(conn, run_id, result)
    if observations:
        payload = {
            "source": observations[0].source,
            "count": len(numbers),
            "first_id": numbers[0],
            "last_id": numbers[-1],
            "sha256": digest(rows.observations),
        }
        now = max(item.observed_at for item in observations)
        append_events(conn, [run_event(EventType.OBSERVATION_CREATED, run_id, now, payload)])
    return result, ids


FACTS = (
    "id", "run_id", "listing_id", "price", "currency", "original_price", "member_price",
    "pre_order_price", "shipping", "availability", "needs_review", "observed_at", "evidence_id",
)  # fmt: skip


def digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 over the FACTS of observations in order of id: what the batch's event vouches for."""
    lines = [
        f"{row['id']}|{row['run_id']}|{row['listing_id']}|{_digits(row['price'])}|{row['currency']}"
        f"|{_digits(row['original_price'])}|{_digits(row['member_price'])}|{_digits(row['pre_order_price'])}"
        f"|{_digits(row['shipping'])}|{row['availability']}|{row['needs_review']}"
        f"|{row['observed_at'].timestamp():.6f}|{row['evidence_id']}\n"
        for row in rows
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digits(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount:f}"


def _load(conn: Connection, observations: Sequence[Observation]) -> dict[str, _State]:
    """State by source_sku; listings that are new get their id here."""
    first = {item.source_sku: item for item in reversed(observations)}
    states: dict[str, _State] = {}
    if not observations:
        return states
    query = select(*_STATE).where(
        listing.c.source == observations[0].source, among(conn, listing.c.source_sku, list(first))
    )
    for row in conn.execute(query):
        states[row[0]] = _State(*row[1:])
    new = [sku for sku in dict.fromkeys(item.source_sku for item in observations) if sku not in states]
    for number, sku in zip(next_ids(conn, listing, len(new)), new, strict=True):
        states[sku] = _State(id=number, first_seen_at=first[sku].observed_at, is_new=True)
    return states


def _observation(item: Observation, number: int, run_id: int, listing_id: int) -> dict[str, Any]:
    return {
        "id": number,
        "run_id": run_id,
        "listing_id": listing_id,
        "price": item.price,
        "currency": item.currency,
        "price_kind": item.price_kind,
        "method": item.method,
        "selector": storable(item.selector),
        "original_price": item.original_price,
        "member_price": item.member_price,
        "pre_order_price": item.pre_order_price,
        "shipping": item.shipping,
        "promotion_text": storable(item.promotion_text),
        "tax_basis": item.tax_basis.value,
        "availability": item.availability.value,
        "needs_review": item.needs_review,
        "review_reasons": [str(reason) for reason in item.review_reasons],
        "observed_at": item.observed_at,
        "extractor_version": item.extractor_version,
    }


def _fold(rows: _Rows, state: _State, item: Observation, number: int, run_id: int) -> None:
    """What one observation changes in its listing."""
    _fold_stock(rows, state, item, run_id)
    if item.needs_review:
        rows.doubts[state.id] = doubts.row(state.id, item, number)
        rows.settled.pop(state.id, None)
    elif item.price is not None:
        before = state.money
        state.price, state.currency = item.price, item.currency
        state.original_price, state.member_price = item.original_price, item.member_price
        state.pre_order_price, state.method = item.pre_order_price, item.method
        if state.money != before:
            rows.prices.append(
                {
                    "listing_id": state.id,
                    "observation_id": number,
                    "price": item.price,
                    "currency": item.currency,
                    "original_price": item.original_price,
                    "member_price": item.member_price,
                    "changed_at": item.observed_at,
                }
            )
        rows.doubts.pop(state.id, None)
        if not state.is_new:
            rows.settled[state.id] = item.observed_at
    state.last, state.last_id = item, number
    state.consecutive_misses = state.gone_streak = 0


def _fold_stock(rows: _Rows, state: _State, item: Observation, run_id: int) -> None:
    seen = item.availability.value
    cause = "observed"
    if item.availability is Availability.UNKNOWN:
        if not state.only_inferred:
            return
        cause = "seen_again"
    if seen == state.availability:
        return
    rows.stock.append(
        {
            "listing_id": state.id,
            "run_id": run_id,
            "availability": seen,
            "previous": None if state.is_new and state.last is None else state.availability,
            "cause": cause,
            "changed_at": item.observed_at,
        }
    )
    state.availability = seen


def _write_listings(conn: Connection, run_id: int, states: Iterable[_State]) -> None:
    new, old = [], []
    for state in states:
        row = _listing(state, run_id)
        if state.is_new:
            new.append(row | {"first_seen_at": state.first_seen_at})
        else:
            del row["source"], row["source_sku"]
            old.append(row)
    insert_rows(conn, listing, new)
    update_rows(conn, listing, old)


def _listing(state: _State, run_id: int) -> dict[str, Any]:
    item = state.last
    assert item is not None
    return {
        "source": item.source,
        "source_sku": item.source_sku,
        "url": storable(item.url),
        "name": storable(item.name),
        "brand": storable(item.brand),
        "gtin": item.gtin,
        "mpn": storable(item.mpn) if item.mpn else None,
        "variant": storable(item.variant),
        "category": storable(item.category),
        "pack": item.pack,
        "base_quantity": item.base_quantity,
        "base_unit": item.base_unit,
        "condition": storable(item.condition),
        "seller": storable(item.seller),
        "image_url": storable(item.image_url),
        "price": state.price,
        "currency": state.currency,
        "original_price": state.original_price,
        "member_price": state.member_price,
        "pre_order_price": state.pre_order_price,
        "method": state.method,
        "availability": state.availability,
        "needs_review": item.needs_review,
        "consecutive_misses": 0,
        "gone_streak": 0,
        "checking_paused": False,
        "last_seen_at": item.observed_at,
        "last_seen_run": run_id,
        "last_observation_id": state.last_id,
        "id": state.id,
    }


def _write_history(conn: Connection, rows: _Rows) -> int:
    """Everything that hangs on the listings; returns the number of reviews that were opened."""
    insert_rows(conn, observation, rows.observations)
    insert_rows(conn, price_history, rows.prices)
    insert_rows(conn, stock_history, rows.stock)
    doubts.settle(conn, rows.settled)
    return doubts.raise_all(conn, list(rows.doubts.values()))


def _count(conn: Connection, run_id: int, result: BatchResult) -> None:
    """Add to the run's counts, and stop a writer whose run was taken from it."""
    change = (
        update(run)
        .where(run.c.id == run_id, run.c.outcome == RunOutcome.RUNNING.value)
        .values(listings=run.c.listings + result.listings, reviews=run.c.reviews + result.reviews)
    )
    if conn.execute(change).rowcount != 1:
        raise SourceBusy(
            f"run {run_id} is no longer open (it was ended, or a newer run took its place): "
            "this batch was not stored."
        )
