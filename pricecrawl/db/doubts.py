"""Doubtful prices that wait for a person: one open review per listing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text, update

from pricecrawl.db.sql import among, storable, upsert
from pricecrawl.db.tables import candidate_review, listing, observation
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Candidate, PriceKind
from pricecrawl.domain.confirmed import Confirmed
from pricecrawl.domain.observation import Observation


def row(listing_id: int, item: Observation, number: int) -> dict[str, Any]:
    """The row of `candidate_review` for a doubtful observation with this id."""
    return {
        "listing_id": listing_id,
        "observation_id": number,
        "status": "open",
        "reasons": [str(reason) for reason in item.review_reasons],
        "candidates": [_candidate(candidate) for candidate in item.candidates],
        "trace": [storable(line) for line in item.trace],
        "created_at": item.observed_at,
    }


def _candidate(item: Candidate) -> dict[str, Any]:
    return {
        "kind": item.kind.value,
        "amount": format(item.amount, "f"),
        "currency": item.currency,
        "method": item.method.value,
        "selector": storable(item.selector),
        "confidence": item.confidence,
        "weight": format(item.weight, "f"),
        "tier": item.tier.value,
        "tax_basis": item.tax_basis.value,
        "text": storable(item.text),
        "context": storable(item.context),
    }


def settle(conn: Connection, times: Mapping[int, datetime]) -> None:
    """A later read that leaves no doubt answers the open question; `times` is by listing id."""
    if not times:
        return
    query = select(candidate_review.c.id, candidate_review.c.listing_id).where(
        candidate_review.c.status == "open", among(conn, candidate_review.c.listing_id, list(times))
    )
    open_ids = [(row.id, row.listing_id) for row in conn.execute(query)]
    if open_ids:
        change = (
            update(candidate_review)
            .where(candidate_review.c.id == bindparam("of_id"), candidate_review.c.status == "open")
            .values(
                status="superseded",
                decided_at=bindparam("at"),
                decided_by="crawl",
                decision_reason="a later read left no doubt",
            )
        )
        conn.execute(change, [{"of_id": number, "at": times[of]} for number, of in open_ids])


def raise_all(conn: Connection, reviews: Sequence[dict[str, Any]]) -> int:
    """Open a review per listing; one that is open already is refreshed and keeps its age.

    None is opened where a person last said of the very same readings and doubts that none is right: the
    listing stays in doubt without asking that again. Returns how many were opened.
    """
    rejected = _rejected(conn, [row["listing_id"] for row in reviews])
    reviews = [row for row in reviews if rejected.get(row["listing_id"]) != _readings(row)]
    if not reviews:
        return 0
    listings = [row["listing_id"] for row in reviews]
    query = select(candidate_review.c.listing_id).where(
        candidate_review.c.status == "open", among(conn, candidate_review.c.listing_id, listings)
    )
    already = set(conn.execute(query).scalars())
    statement = upsert(conn, candidate_review)
    excluded = statement.excluded
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=[candidate_review.c.listing_id],
            # In words: a bound parameter in the conflict target cannot be sent with many rows.
            index_where=text("status = 'open'"),
            set_={name: excluded[name] for name in ("observation_id", "reasons", "candidates", "trace")},
        ),
        reviews,
    )
    return sum(row["listing_id"] not in already for row in reviews)


_Readings = tuple[frozenset[str], frozenset[tuple[str, str, str | None]]]


def _readings(row: Mapping[str, Any]) -> _Readings:
    """What a review asks about: its doubts and the amounts to choose from."""
    amounts = ((item["kind"], item["amount"], item["currency"]) for item in row["candidates"])
    return frozenset(row["reasons"]), frozenset(amounts)


def _rejected(conn: Connection, listings: Sequence[int]) -> dict[int, _Readings]:
    """What was asked where a listing's last review was decided by saying that nothing is right."""
    if not listings:
        return {}
    review = candidate_review.c
    last = (
        select(func.max(review.id).label("id"))
        .where(among(conn, review.listing_id, listings))
        .group_by(review.listing_id)
        .subquery()
    )
    query = (
        select(review.listing_id, review.reasons, review.candidates)
        .join(last, last.c.id == review.id)
        .where(review.status == "rejected")
    )
    return {
        row.listing_id: _readings({"reasons": row.reasons, "candidates": row.candidates})
        for row in conn.execute(query)
    }


def confirmed(conn: Connection, source: str, skus: Sequence[str]) -> dict[str, Confirmed]:
    """What a person last confirmed of listings, where it still is the accepted price."""
    if not skus:
        return {}
    review = candidate_review.c
    last = (
        select(func.max(review.id).label("id"))
        .join(listing, listing.c.id == review.listing_id)
        .where(listing.c.source == source, review.status == "approved")
        .where(among(conn, listing.c.source_sku, skus))
        .group_by(review.listing_id)
        .subquery()
    )
    query = (
        select(
            *(listing.c.source_sku, listing.c.price, listing.c.currency),
            *(review.chosen, review.reasons, review.decided_at),
            *(observation.c.original_price, observation.c.member_price, observation.c.availability),
        )
        .select_from(candidate_review)
        .join(last, last.c.id == review.id)
        .join(listing, listing.c.id == review.listing_id)
        .join(observation, observation.c.id == review.observation_id)
    )
    found: dict[str, Confirmed] = {}
    for row in conn.execute(query):
        chosen = row.chosen or {}
        is_price = chosen.get("kind") not in (None, PriceKind.MEMBER.value, PriceKind.LIST.value)
        if is_price and row.price is not None and Decimal(chosen["amount"]) == row.price:
            found[row.source_sku] = Confirmed(
                price=row.price,
                currency=row.currency,
                original_price=row.original_price,
                member_price=row.member_price,
                availability=Availability(row.availability),
                reasons=frozenset(row.reasons),
                confirmed_at=row.decided_at,
            )
    return found
