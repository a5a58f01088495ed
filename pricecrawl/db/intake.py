"""What an observation that came in through the interface became."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, and_, select

from pricecrawl.db.tables import candidate_review, listing


@dataclass(frozen=True, slots=True)
class Stored:
    """Ids of a listing, its last observation, and the review that the observation opened, if any."""

    listing_id: int
    observation_id: int
    review_id: int | None


def stored(engine: Engine, source: str, source_sku: str) -> Stored:
    """The ids of a listing that was just saved."""
    query = (
        select(listing.c.id, listing.c.last_observation_id, candidate_review.c.id)
        .join(
            candidate_review,
            and_(
                candidate_review.c.listing_id == listing.c.id,
                candidate_review.c.observation_id == listing.c.last_observation_id,
                candidate_review.c.status == "open",
            ),
            isouter=True,
        )
        .where(listing.c.source == source, listing.c.source_sku == source_sku)
    )
    with engine.connect() as conn:
        return Stored(*conn.execute(query).one())


def last_seen(engine: Engine, source: str, source_sku: str) -> datetime | None:
    """When a listing was last seen; None where it never was."""
    query = select(listing.c.last_seen_at).where(
        listing.c.source == source, listing.c.source_sku == source_sku
    )
    with engine.connect() as conn:
        return conn.execute(query).scalar_one_or_none()
