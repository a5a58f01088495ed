"""The store of what is learned: selectors with their record, and reviews of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, or_, select, update

from pricecrawl.db.sql import insert_rows, storable, unindexed
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    candidate_review,
    learned_selector,
    listing,
    observation,
    price_history,
    source,
)
from pricecrawl.domain.candidate import Candidate, Method, PriceKind, Tier
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.observation import Observation
from pricecrawl.learning.statistics import LearnedSelector, learn_from

READ_WITHOUT_A_RULE = (Method.BUY_BOX, Method.GENERIC_CSS)
"""Methods whose readings a shop's own rule for the price replaces."""

Transaction = Connection
"""What `begin()` gives and the methods with `tx` take, for callers that know no SQL."""


@dataclass(frozen=True, slots=True)
class CandidateReview:
    """A doubtful price that waits for a person, with every candidate in the order shown."""

    id: int
    listing_id: int
    observation_id: int
    source: str
    source_sku: str
    name: str
    url: str
    status: str
    reasons: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    trace: tuple[str, ...]
    created_at: datetime
    price: Decimal | None
    currency: str | None


_REVIEW = (
    candidate_review.c.id,
    candidate_review.c.listing_id,
    candidate_review.c.observation_id,
    candidate_review.c.status,
    candidate_review.c.reasons,
    candidate_review.c.candidates,
    candidate_review.c.trace,
    candidate_review.c.created_at,
    listing.c.source,
    listing.c.source_sku,
    listing.c.name,
    listing.c.url,
    observation.c.price,
    observation.c.currency,
)


class LearningStore(Store):
    """Learned selectors and candidate reviews; methods that take `tx` write inside `begin()`."""

    # --- selectors -----------------------------------------------------------------------------

    def selectors(
        self, slug: str, tx: Connection | None = None
    ) -> dict[PriceKind, tuple[LearnedSelector, ...]]:
        """Learned selectors of one source per kind, the first tried first."""
        if tx is None:
            with self.engine.connect() as conn:
                return self.selectors(slug, conn)
        found: dict[PriceKind, list[LearnedSelector]] = {}
        query = (
            select(learned_selector)
            .where(learned_selector.c.source == slug)
            .order_by(learned_selector.c.kind, learned_selector.c.position, learned_selector.c.id)
        )
        for row in tx.execute(query):
            found.setdefault(PriceKind(row.kind), []).append(_entry(row))
        return {kind: tuple(entries) for kind, entries in found.items()}

    def sources_with_selectors(self) -> list[str]:
        """Slugs of sources that have learned something."""
        with self.engine.connect() as conn:
            query = select(learned_selector.c.source).distinct().order_by(learned_selector.c.source)
            return list(conn.execute(query).scalars())

    def lock(self, tx: Connection, slug: str) -> None:
        """Let nobody else change this source's selectors until the transaction ends.

        Raises:
            UsageProblem: there is no such source in the database.
        """
        query = select(source.c.slug).where(source.c.slug == slug).with_for_update()
        if tx.execute(query).scalar_one_or_none() is None:
            raise UsageProblem(f"No source “{slug}” in the database; crawl it once or check the name.")

    def save_selectors(
        self, tx: Connection, slug: str, kind: PriceKind, selectors: Sequence[LearnedSelector], now: datetime
    ) -> None:
        """Replace the list of one kind. Call `lock` before reading what the list is made from."""
        tx.execute(
            delete(learned_selector).where(
                learned_selector.c.source == slug, learned_selector.c.kind == kind.value
            )
        )
        rows = [
            {
                "source": slug,
                "kind": kind.value,
                "selector": storable(entry.selector),
                "position": place,
                "match_count": entry.match_count,
                "consecutive_failures": entry.consecutive_failures,
                "last_matched_at": entry.last_matched_at,
                "created_at": entry.created_at or now,
                "created_by": entry.created_by,
            }
            for place, entry in enumerate(selectors)
        ]
        insert_rows(tx, learned_selector, rows)

    def prefer(
        self, tx: Connection, slug: str, method: Method, selector: str, sku: str | None = None
    ) -> None:
        """Save a rule as the preference of one listing, and of those whose choice it takes over.

        A shop with a price rule of its own is no longer read by what merely looks like its price, so a
        preference for that reading would match nothing any more; the rule reads what the page shows, too.
        """
        replaced = listing.c.preferred_method.in_([name.value for name in READ_WITHOUT_A_RULE])
        chosen = replaced if sku is None else or_(replaced, listing.c.source_sku == sku)
        tx.execute(
            update(listing)
            .where(listing.c.source == slug, chosen)
            .values(preferred_method=method.value, preferred_selector=storable(selector))
        )

    def unprefer(self, tx: Connection, slug: str, selector: str) -> None:
        """Take a rule that was forgotten out of the saved preferences of the source's listings."""
        tx.execute(
            update(listing)
            .where(listing.c.source == slug, listing.c.preferred_selector == storable(selector))
            .values(preferred_method=None, preferred_selector=None)
        )

    def learn(self, slug: str, observations: Sequence[Observation], now: datetime) -> int:
        """Let settled observations of one source count for and against its learned selectors.

        Only observations without a doubt teach anything. Returns how many of them did; nothing is
        written when none did.
        """
        teachers = [item for item in observations if not item.needs_review and item.price is not None]
        if not any(c.tier is Tier.LEARNED for item in teachers for c in item.candidates):
            return 0
        with self.begin() as tx:
            self.lock(tx, slug)
            lists = self.selectors(slug, tx)
            taught = 0
            for kind, selectors in lists.items():
                after, count = learn_from(selectors, kind, teachers, now)
                taught += count
                if after != selectors:
                    self.save_selectors(tx, slug, kind, after, now)
        return taught

    # --- reviews of candidates -----------------------------------------------------------------

    def open_reviews(self, slug: str | None = None) -> list[CandidateReview]:
        """Reviews that wait, oldest first."""
        query = _reviews().where(candidate_review.c.status == "open")
        if slug is not None:
            query = query.where(unindexed(listing.c.source) == slug)
        with self.engine.connect() as conn:
            return [_review(row) for row in conn.execute(query.order_by(candidate_review.c.created_at))]

    def review(self, number: int, tx: Connection | None = None) -> CandidateReview:
        """One review; inside a transaction it is locked for deciding.

        Raises:
            UsageProblem: there is no such review.
        """
        query = _reviews().where(candidate_review.c.id == number)
        if tx is None:
            with self.engine.connect() as conn:
                row = conn.execute(query).one_or_none()
        else:
            row = tx.execute(query.with_for_update(of=candidate_review)).one_or_none()
        if row is None:
            raise UsageProblem(
                f"No candidate review {number}; `pricecrawl review list` shows those that wait."
            )
        return _review(row)

    def decide(
        self,
        tx: Connection,
        review: CandidateReview,
        *,
        status: str,
        chosen: Mapping[str, Any] | None,
        by: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Close an open review."""
        tx.execute(
            update(candidate_review)
            .where(candidate_review.c.id == review.id)
            .values(
                status=status,
                chosen=dict(chosen) if chosen is not None else None,
                decided_at=now,
                decided_by=by,
                decision_reason=reason,
            )
        )

    def accept(self, tx: Connection, review: CandidateReview, candidate: Candidate, now: datetime) -> None:
        """Make a confirmed candidate the listing's accepted price and its saved preference.

        A member or list price becomes that field of the listing and no preference. A changed price
        has a row of history, as one that a crawl accepts.
        """
        column = {PriceKind.MEMBER: "member_price", PriceKind.LIST: "original_price"}.get(
            candidate.kind, "price"
        )
        before = tx.execute(
            select(
                listing.c.price, listing.c.currency, listing.c.original_price, listing.c.member_price
            ).where(listing.c.id == review.listing_id)
        ).one()
        values: dict[str, Any] = {column: candidate.amount, "needs_review": False}
        if column == "price":
            values |= {
                "currency": candidate.currency or before.currency,
                "method": candidate.method.value,
                "preferred_method": candidate.method.value,
                "preferred_selector": candidate.selector or None,
            }
        tx.execute(update(listing).where(listing.c.id == review.listing_id).values(values))
        money = ("price", "currency", "original_price", "member_price")
        old = {name: getattr(before, name) for name in money}
        new = old | {name: value for name, value in values.items() if name in old}
        if new != old:
            place = {"listing_id": review.listing_id, "observation_id": review.observation_id}
            insert_rows(tx, price_history, [place | new | {"changed_at": now}])

    def settle_listing(self, tx: Connection, review: CandidateReview) -> None:
        """No candidate was right: the listing keeps its last accepted price and waits no longer."""
        tx.execute(update(listing).where(listing.c.id == review.listing_id).values(needs_review=False))


def _reviews() -> Select[Any]:
    return (
        select(*_REVIEW)
        .select_from(candidate_review)
        .join(listing, listing.c.id == candidate_review.c.listing_id)
        .join(observation, observation.c.id == candidate_review.c.observation_id)
    )


def _entry(row: Row[Any]) -> LearnedSelector:
    return LearnedSelector(
        PriceKind(row.kind),
        row.selector,
        row.match_count,
        row.consecutive_failures,
        row.last_matched_at,
        row.created_at,
        row.created_by,
    )


def _review(row: Row[Any]) -> CandidateReview:
    return CandidateReview(
        id=row.id,
        listing_id=row.listing_id,
        observation_id=row.observation_id,
        source=row.source,
        source_sku=row.source_sku,
        name=row.name,
        url=row.url,
        status=row.status,
        reasons=tuple(row.reasons),
        candidates=tuple(candidate_from(item) for item in row.candidates),
        trace=tuple(row.trace),
        created_at=row.created_at,
        price=row.price,
        currency=row.currency,
    )


def candidate_from(item: Mapping[str, Any]) -> Candidate:
    """A candidate as `candidate_review` keeps it."""
    return Candidate(
        kind=PriceKind(item["kind"]),
        amount=Decimal(item["amount"]),
        currency=item["currency"],
        method=Method(item["method"]),
        selector=item["selector"],
        confidence=item["confidence"],
        weight=Decimal(item["weight"]),
        tier=Tier(item["tier"]),
        tax_basis=TaxBasis(item["tax_basis"]),
        text=item["text"],
        context=item["context"],
    )
