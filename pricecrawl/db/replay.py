"""Stored pages with what was once read from them: what a replay compares with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any

from sqlalchemy import Row, Select, func, select

from pricecrawl.db import doubts
from pricecrawl.db.store import Store
from pricecrawl.db.tables import evidence, listing, observation, rejection
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method
from pricecrawl.domain.confirmed import Confirmed
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.domain.preference import Preference
from pricecrawl.domain.reasons import RejectionReason
from pricecrawl.domain.sanity import Anchor


@dataclass(frozen=True, slots=True)
class Before:
    """One stored observation. `anchor` is the listing's accepted price before it.

    `confirmed` is what a person said of the listing's price, if that still is the accepted one.
    `is_latest` tells that nothing newer is stored of the listing, `is_missed` that later runs did not
    see the listing or its page is gone.
    """

    observation_id: int
    source_sku: str
    price: Decimal | None
    currency: str | None
    original_price: Decimal | None
    member_price: Decimal | None
    availability: Availability
    needs_review: bool
    observed_at: datetime
    anchor: Anchor | None
    preference: Preference | None
    is_latest: bool
    is_missed: bool
    confirmed: Confirmed | None = None


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A stored response with the observations that came from it."""

    source: str
    ref: EvidenceRef
    observations: tuple[Before, ...]


_PRICELESS = (RejectionReason.NO_CANDIDATE, RejectionReason.UNREADABLE_PRICE)

_COLUMNS = (
    evidence.c.id.label("evidence_id"),
    evidence.c.source,
    evidence.c.digest,
    evidence.c.warc,
    evidence.c.offset,
    evidence.c.length,
    evidence.c.url,
    evidence.c.fetched_at,
    observation.c.id,
    observation.c.listing_id,
    observation.c.price,
    observation.c.currency,
    observation.c.original_price,
    observation.c.member_price,
    observation.c.availability,
    observation.c.needs_review,
    observation.c.observed_at,
    listing.c.source_sku,
    listing.c.preferred_method,
    listing.c.preferred_selector,
    listing.c.last_observation_id,
    listing.c.consecutive_misses,
    listing.c.gone_streak,
)


class ReplayStore(Store):
    """Reads only."""

    def count(self, source: str | None = None, since: datetime | None = None) -> int:
        """How many pages `pages` will give."""
        query = _chosen(select(func.count(evidence.c.id.distinct())), source, since)
        with self.engine.connect() as conn:
            return int(conn.execute(query).scalar_one())

    def pages(
        self, source: str | None = None, since: datetime | None = None, *, latest: bool = False
    ) -> Iterator[StoredPage]:
        """Every page that is still stored, in the order in which its observations were made.

        `latest`: only each listing's last observation.
        """
        query = _chosen(select(*_COLUMNS), source, since).order_by(evidence.c.id, observation.c.id)
        if latest:
            query = query.where(listing.c.last_observation_id == observation.c.id)
        accepted: dict[int, Anchor | None] = {}
        with self.engine.connect() as conn:
            rows = conn.execution_options(yield_per=1000).execute(query)
            for _, found in groupby(rows, key=lambda row: row.evidence_id):
                members = list(found)
                yield StoredPage(
                    members[0].source, _ref(members[0]), tuple(self._before(row, accepted) for row in members)
                )

    def priceless(
        self,
        source: str | None,
        sku: str | None = None,
        limit: int | None = None,
        since: datetime | None = None,
    ) -> dict[tuple[str, str], StoredPage]:
        """The last pages of listings that were rejected because no price was read, by source and its id.

        They have no observations. At most `limit` listings, the latest first; `since` is when they were
        fetched.
        """
        columns = (
            evidence.c.source,
            evidence.c.digest,
            evidence.c.warc,
            evidence.c.offset,
            evidence.c.length,
        )
        last = select(func.max(rejection.c.id)).join(evidence, evidence.c.id == rejection.c.evidence_id)
        last = last.where(
            evidence.c.pruned_at.is_(None), rejection.c.reason.in_([reason.value for reason in _PRICELESS])
        ).group_by(evidence.c.source, rejection.c.source_sku)
        if source is not None:
            last = last.where(evidence.c.source == source)
        if sku is not None:
            last = last.where(rejection.c.source_sku == sku)
        if since is not None:
            last = last.where(evidence.c.fetched_at >= since)
        query = (
            select(rejection.c.source_sku, *columns, evidence.c.url, evidence.c.fetched_at)
            .select_from(rejection)
            .join(evidence, evidence.c.id == rejection.c.evidence_id)
            .where(rejection.c.id.in_(last))
            .order_by(rejection.c.id.desc())
            .limit(limit)
        )
        with self.engine.connect() as conn:
            return {
                (row.source, row.source_sku): StoredPage(row.source, _ref(row), ())
                for row in conn.execute(query)
            }

    def _before(self, row: Row[Any], accepted: dict[int, Anchor | None]) -> Before:
        if row.listing_id not in accepted:
            accepted[row.listing_id] = self._accepted_before(row.listing_id, row.id)
        anchor = accepted[row.listing_id]
        if row.price is not None and not row.needs_review:
            accepted[row.listing_id] = Anchor(row.price, row.currency, Availability(row.availability))
        preference = (
            Preference(Method(row.preferred_method), row.preferred_selector) if row.preferred_method else None
        )
        return Before(
            observation_id=row.id,
            source_sku=row.source_sku,
            price=row.price,
            currency=row.currency,
            original_price=row.original_price,
            member_price=row.member_price,
            availability=Availability(row.availability),
            needs_review=row.needs_review,
            observed_at=row.observed_at,
            anchor=anchor,
            preference=preference,
            is_latest=row.last_observation_id == row.id,
            is_missed=bool(row.consecutive_misses or row.gone_streak),
            confirmed=self._confirmed(row.source, row.source_sku) if preference is not None else None,
        )

    def _confirmed(self, source: str, source_sku: str) -> Confirmed | None:
        with self.engine.connect() as conn:
            return doubts.confirmed(conn, source, [source_sku]).get(source_sku)

    def _accepted_before(self, listing_id: int, observation_id: int) -> Anchor | None:
        last = (
            select(func.max(observation.c.id))
            .where(
                observation.c.listing_id == listing_id,
                observation.c.id < observation_id,
                observation.c.price.is_not(None),
                observation.c.needs_review.is_(False),
            )
            .scalar_subquery()
        )
        columns = (observation.c.price, observation.c.currency, observation.c.availability)
        with self.engine.connect() as conn:
            row = conn.execute(select(*columns).where(observation.c.id == last)).one_or_none()
        return None if row is None else Anchor(row.price, row.currency, Availability(row.availability))


def _chosen(query: Select[Any], source: str | None, since: datetime | None) -> Select[Any]:
    query = (
        query.select_from(observation)
        .join(evidence, evidence.c.id == observation.c.evidence_id)
        .join(listing, listing.c.id == observation.c.listing_id)
        .where(evidence.c.pruned_at.is_(None))
    )
    if source is not None:
        query = query.where(listing.c.source == source)
    return query if since is None else query.where(observation.c.observed_at >= since)


def _ref(row: Any) -> EvidenceRef:
    return EvidenceRef(row.digest, row.warc, row.offset, row.length, row.url, row.fetched_at)
