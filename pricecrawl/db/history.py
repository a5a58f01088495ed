"""Everything that a replay of the past needs, per SKU: what was seen, when, and what we asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, select

from pricecrawl.db.pricing import OFFER_COLUMNS, RELEVANT
from pricecrawl.db.sql import chunks
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    candidate_review,
    competitor,
    evidence,
    fx_rate,
    listing,
    mapping,
    observation,
    price_decision,
    sku,
    sku_cost,
    sku_policy,
    source,
)

_BATCH = 200

# What a listing is today (gone, say) was not so when it was read: there the reading stands for itself.
_THEN = (
    *(column for column in OFFER_COLUMNS if column.name != "listing_availability"),
    observation.c.availability.label("listing_availability"),
)


@dataclass(slots=True)
class Past:
    """One SKU's history: its row, costs, settings of its own, and every reading of its listings by time.

    `before` are readings from shortly before the replayed time, which still counted when it began.
    `chosen` is by observation what a person chose of a reading in doubt, and when.
    """

    sku: Any
    costs: list[Any] = field(default_factory=list)
    overrides: Any = None
    before: list[Any] = field(default_factory=list)
    seen: list[Any] = field(default_factory=list)
    chosen: dict[int, tuple[datetime, Mapping[str, Any]]] = field(default_factory=dict)
    price_at_start: Decimal | None = None


class HistoryStore(Store):
    """Reading only."""

    def pasts(self, since: datetime, *, back: timedelta = timedelta(0)) -> Iterator[Past]:
        """Every active SKU with the readings from `since` on and those of `back` before, SKU by SKU."""
        after = ""
        while True:
            with self.engine.connect() as conn:
                query = select(sku).where(sku.c.active, sku.c.sku > after).order_by(sku.c.sku).limit(_BATCH)
                rows = list(conn.execute(query))
                if not rows:
                    return
                after = rows[-1].sku
                pasts = {row.sku: Past(row, price_at_start=row.current_price) for row in rows}
                for names in chunks(list(pasts)):
                    self._fill(conn, names, pasts, since, back)
            yield from pasts.values()

    def rates(self) -> list[Any]:
        """Every exchange rate."""
        with self.engine.connect() as conn:
            return list(conn.execute(select(fx_rate)))

    def _fill(
        self, conn: Connection, names: Sequence[str], pasts: dict[str, Past], since: datetime, back: timedelta
    ) -> None:
        for row in conn.execute(select(sku_cost).where(sku_cost.c.sku.in_(names))):
            pasts[row.sku].costs.append(row)
        for own in conn.execute(select(sku_policy).where(sku_policy.c.sku.in_(names))):
            pasts[own.sku].overrides = own.overrides
        readings = (
            select(*_THEN, listing.c.id.label("listing_id"), observation.c.run_id)
            .select_from(mapping)
            .join(listing, listing.c.id == mapping.c.listing_id)
            .join(observation, observation.c.listing_id == listing.c.id)
            .join(evidence, evidence.c.id == observation.c.evidence_id, isouter=True)
            .join(source, source.c.slug == listing.c.source)
            .join(competitor, competitor.c.source == listing.c.source, isouter=True)
            .where(
                mapping.c.sku.in_(names),
                mapping.c.status.in_(RELEVANT),
                observation.c.observed_at >= since - back,
            )
            .order_by(observation.c.observed_at, observation.c.id)
        )
        doubtful: dict[int, str] = {}
        for reading in conn.execute(readings):
            past = pasts[reading.sku]
            (past.seen if reading.observed_at >= since else past.before).append(reading)
            if reading.needs_review:
                doubtful[reading.observation_id] = reading.sku
        for some in chunks(list(doubtful)):
            answers = select(
                candidate_review.c.observation_id, candidate_review.c.decided_at, candidate_review.c.chosen
            ).where(candidate_review.c.observation_id.in_(some), candidate_review.c.status == "approved")
            for answer in conn.execute(answers):
                of = answer.observation_id
                pasts[doubtful[of]].chosen[of] = (answer.decided_at, answer.chosen)
        decided = (
            select(price_decision.c.sku, price_decision.c.currency, price_decision.c.current_price)
            .where(price_decision.c.sku.in_(names), price_decision.c.created_at >= since)
            .order_by(price_decision.c.sequence.desc())
        )
        # The last one assigned is the oldest: what we asked for when the replayed time began.
        for made in conn.execute(decided):
            if made.current_price is not None and made.currency == pasts[made.sku].sku.currency:
                pasts[made.sku].price_at_start = made.current_price
