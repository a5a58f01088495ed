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
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select, update

from pricecrawl.db import doubts
from pricecrawl.db.crawl_types import BatchResult, EvidenceRow
from pricecrawl.db.events import append_events
from pricecrawl.db.evidence_rows import Place, index_evidence
from pricecrawl.db.observed_rates import BASE, Kept, rates_of
from pricecrawl.db.sql import (
    among,
    insert_columns,
    insert_rows,
    next_ids,
    run_event,
    storable,
    update_columns,
)
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
    # By identity: all listings of a page share one reference.
    refs = {id(item.evidence): item.evidence for item in observations if item.evidence is not None}
    ids = index_evidence(conn, run_id, stored=stored, refs=refs.values(), known=known)
    pages: dict[int, int | None] = {key: ids[ref.warc, ref.offset] for key, ref in refs.items()}
    states = _load(conn, observations)
    seen_now = {state.id for state in states.values() if state.last_seen_run != run_id}
    numbers = next_ids(conn, observation, len(observations))
    rows = _Rows()
    of = [states[item.source_sku] for item in observations]
    for number, item, state in zip(numbers, observations, of, strict=True):
        _fold(rows, state, item, number, run_id)
    days = [(item.currency, item.observed_at.date()) for item in observations]
    of_day = rates_of(conn, days)
    rates = [of_day.get(day) for day in days]
    facts = {
        "id": numbers,
        "run_id": [run_id] * len(numbers),
        "listing_id": [state.id for state in of],
        **_observed(observations),
        "fx_rate": [None if rate is None else rate.rate for rate in rates],
        "fx_currency": [None if rate is None else BASE for rate in rates],
        "evidence_id": [pages.get(id(item.evidence)) for item in observations],
    }
    _write_listings(conn, run_id, states.values())
    insert_columns(conn, observation, facts)
    opened = _write_history(conn, rows)
    result = BatchResult(
        inserted=len(observations),
        listings=len(seen_now),
        new_listings=sum(state.is_new for state in states.values()),
        price_changes=len(rows.prices),
        stock_changes=len(rows.stock),
        reviews=opened,
    )
    _count(conn, run_id, result, of_day.values())
    if observations:
        digests = [None if item.evidence is None else item.evidence.digest for item in observations]
        vouched = {
            "sha256": _digest(zip(*(facts[name] for name in FACTS), strict=True)),
            "rest_sha256": rest_digest(zip(*(facts[name] for name in REST), digests, strict=True)),
        }
        _tell(conn, run_id, observations, numbers, vouched)
    return result, ids


def _tell(
    conn: Connection,
    run_id: int,
    items: Sequence[Observation],
    numbers: Sequence[int],
    vouched: Mapping[str, str],
) -> None:
    """The events of one batch, each caused by the one before: read, made comparable, stored."""
    now = max(item.observed_at for item in items)
    of = {"source": items[0].source, "count": len(items)}
    extracted = run_event(
        EventType.OFFER_EXTRACTED,
        run_id,
        now,
        {
            **of,
            "methods": Counter(str(item.method) for item in items if item.method is not None),
            "without_price": sum(item.price is None for item in items),
            "extractor_versions": sorted({item.extractor_version for item in items}),
        },
    )
    normalized = run_event(
        EventType.OFFER_NORMALIZED,
        run_id,
        now,
        {
            **of,
            "currencies": Counter(item.currency for item in items if item.currency is not None),
            "needs_review": sum(item.needs_review for item in items),
        },
        cause=extracted,
    )
    payload = {**of, "first_id": numbers[0], "last_id": numbers[-1], **vouched}
    created = run_event(EventType.OBSERVATION_CREATED, run_id, now, payload, cause=normalized)
    append_events(conn, [extracted, normalized, created])


FACTS = (
    "id", "run_id", "listing_id", "price", "currency", "original_price", "member_price",
    "pre_order_price", "shipping", "availability", "needs_review", "observed_at", "evidence_id",
)  # fmt: skip


def digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 over the FACTS of observations in order of id: what the batch's event vouches for."""
    return _digest(map(itemgetter(*FACTS), rows))


def _digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """The same of tuples in the order of FACTS."""
    moments: dict[datetime, str] = {}
    lines = []
    for id_, run_id, listing_id, price, currency, was, member, pre, shipping, stock, doubt, at, page in rows:
        moment = moments.get(at)
        if moment is None:
            moment = moments[at] = f"{at.timestamp():.6f}"
        lines.append(
            f"{id_}|{run_id}|{listing_id}|{_digits(price)}|{currency}|{_digits(was)}|{_digits(member)}"
            f"|{_digits(pre)}|{_digits(shipping)}|{stock}|{doubt}|{moment}|{page}\n"
        )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


REST = (
    *("price_kind", "method", "selector", "promotion_text", "tax_basis", "review_reasons"),
    *("fx_rate", "fx_currency", "extractor_version"),
)
"""What else an observation says, vouched for together with the digest of its page."""


def rest_digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """SHA-256 over the REST of observations, each with the digest of its page, in order of id."""
    text = json.dumps(list(rows), separators=(",", ":"), default=_digits)
    return hashlib.sha256(text.encode()).hexdigest()


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


def _observed(items: Sequence[Observation]) -> dict[str, list[Any]]:
    """What the observations themselves say, as columns."""
    return {
        "price": [item.price for item in items],
        "currency": [item.currency for item in items],
        "price_kind": [item.price_kind for item in items],
        "method": [item.method for item in items],
        "selector": [storable(item.selector) for item in items],
        "original_price": [item.original_price for item in items],
        "member_price": [item.member_price for item in items],
        "pre_order_price": [item.pre_order_price for item in items],
        "shipping": [item.shipping for item in items],
        "promotion_text": [storable(item.promotion_text) for item in items],
        "tax_basis": [item.tax_basis.value for item in items],
        "availability": [item.availability.value for item in items],
        "needs_review": [item.needs_review for item in items],
        "review_reasons": [[str(reason) for reason in item.review_reasons] for item in items],
        "observed_at": [item.observed_at for item in items],
        "extractor_version": [item.extractor_version for item in items],
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
    new: list[_State] = []
    old: list[_State] = []
    for state in states:
        (new if state.is_new else old).append(state)
    if new:
        items = [state.last for state in new if state.last is not None]
        place = {"source": [item.source for item in items], "source_sku": [item.source_sku for item in items]}
        first = {"first_seen_at": [state.first_seen_at for state in new]}
        insert_columns(conn, listing, place | first | _columns(new, run_id))
    if old:
        update_columns(conn, listing, _columns(old, run_id))


def _columns(states: Sequence[_State], run_id: int) -> dict[str, list[Any]]:
    """What a listing's latest observation and its accepted state say, as columns; `id` is the last."""
    items = [state.last for state in states if state.last is not None]
    count = len(states)
    assert len(items) == count
    return {
        "url": [storable(item.url) for item in items],
        "name": [storable(item.name) for item in items],
        "brand": [storable(item.brand) for item in items],
        "gtin": [item.gtin for item in items],
        "mpn": [storable(item.mpn) if item.mpn else None for item in items],
        "variant": [storable(item.variant) for item in items],
        "category": [storable(item.category) for item in items],
        "pack": [item.pack for item in items],
        "base_quantity": [item.base_quantity for item in items],
        "base_unit": [item.base_unit for item in items],
        "condition": [storable(item.condition) for item in items],
        "seller": [storable(item.seller) for item in items],
        "image_url": [storable(item.image_url) for item in items],
        "price": [state.price for state in states],
        "currency": [state.currency for state in states],
        "original_price": [state.original_price for state in states],
        "member_price": [state.member_price for state in states],
        "pre_order_price": [state.pre_order_price for state in states],
        "method": [state.method for state in states],
        "availability": [state.availability for state in states],
        "needs_review": [item.needs_review for item in items],
        "consecutive_misses": [0] * count,
        "gone_streak": [0] * count,
        "checking_paused": [False] * count,
        "last_seen_at": [item.observed_at for item in items],
        "last_seen_run": [run_id] * count,
        "last_observation_id": [state.last_id for state in states],
        "id": [state.id for state in states],
    }


def _write_history(conn: Connection, rows: _Rows) -> int:
    """What changed and what is doubtful; returns the number of reviews that were opened."""
    insert_rows(conn, price_history, rows.prices)
    insert_rows(conn, stock_history, rows.stock)
    doubts.settle(conn, rows.settled)
    return doubts.raise_all(conn, list(rows.doubts.values()))


def _count(conn: Connection, run_id: int, result: BatchResult, rates: Iterable[Kept]) -> None:
    """Add to the run's counts, and stop a writer whose run was taken from it.

    The run keeps where its rates came from: the fallback, if any did, and when the oldest was fetched.
    """
    values: dict[str, Any] = {
        "listings": run.c.listings + result.listings,
        "reviews": run.c.reviews + result.reviews,
    }
    published = [(rate.source, rate.fetched_at) for rate in rates if rate.source and rate.fetched_at]
    if published:
        values["fx_source"] = min(source for source, _ in published)  # "fallback" before "live"
        values["fx_fetched_at"] = min(fetched for _, fetched in published)
    change = update(run).where(run.c.id == run_id, run.c.outcome == RunOutcome.RUNNING.value).values(**values)
    if conn.execute(change).rowcount != 1:
        raise SourceBusy(
            f"run {run_id} is no longer open (it was ended, or a newer run took its place): "
            "this batch was not stored."
        )
