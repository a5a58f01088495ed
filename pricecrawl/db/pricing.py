"""What a pricing run reads and writes: a batch of SKUs with all they depend on, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, or_, select, text, true, tuple_, update

from pricecrawl.db.sql import chunks, insert_rows, listed, next_ids, unindexed
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    candidate_review,
    competitor,
    evidence,
    fx_rate,
    hold,
    listing,
    mapping,
    market_price_snapshot,
    observation,
    price_decision,
    publication,
    sku,
    sku_cost,
    sku_policy,
    source,
)
from pricecrawl.domain.errors import StorageBusy
from pricecrawl.domain.mapping import MappingStatus

_LOCK_SPACE = 7242
OPEN_STATUSES = ("REVIEW_REQUIRED", "APPROVED")

# What is mapped and still waits to be priced counts as an offer; a rejected pair is none.
RELEVANT = [status.value for status in MappingStatus if status is not MappingStatus.REJECTED]

OFFER_COLUMNS = (
    mapping.c.sku,
    mapping.c.id.label("mapping_id"),
    mapping.c.status,
    mapping.c.method,
    mapping.c.confidence,
    mapping.c.first_use_reviewed,
    listing.c.source,
    listing.c.source_sku,
    listing.c.pack,
    listing.c.base_quantity,
    listing.c.base_unit,
    listing.c.condition,
    listing.c.seller,
    listing.c.availability.label("listing_availability"),
    observation.c.id.label("observation_id"),
    observation.c.price,
    observation.c.currency,
    observation.c.price_kind,
    observation.c.member_price,
    observation.c.shipping,
    observation.c.promotion_text,
    observation.c.tax_basis,
    observation.c.availability,
    observation.c.needs_review,
    observation.c.review_reasons,
    observation.c.observed_at,
    observation.c.extractor_version,
    evidence.c.digest,
    source.c.enabled,
    competitor.c.approved,
)


@dataclass(slots=True)
class Loaded:
    """A batch of SKUs and everything that their decisions depend on, as rows."""

    skus: list[Any]
    costs: dict[str, list[Any]] = field(default_factory=dict)
    offers: dict[str, list[Any]] = field(default_factory=dict)
    previous: dict[str, Decimal] = field(default_factory=dict)
    open: dict[str, list[Any]] = field(default_factory=dict)
    overrides: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    chosen: dict[int, Mapping[str, Any]] = field(default_factory=dict)


class PricingStore(Store):
    """Snapshots and decisions."""

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """One writing transaction; nobody else prices meanwhile, so each SKU has one open decision."""
        with self.engine.begin() as tx:
            if tx.dialect.name == "postgresql":  # on SQLite the transaction itself is alone
                tx.execute(text("SELECT pg_advisory_xact_lock(:space, 0)"), {"space": _LOCK_SPACE})
            yield tx

    def batch(self, tx: Connection, *, after: str, limit: int) -> Loaded:
        """The next active SKUs over `after`, in order of SKU, with what they depend on."""
        query = select(sku).where(sku.c.active, sku.c.sku > after).order_by(sku.c.sku).limit(limit)
        return self._complete(tx, list(tx.execute(query)))

    def named(self, tx: Connection, skus: Sequence[str]) -> Loaded:
        """These SKUs, active or not."""
        rows = [row for some in chunks(skus) for row in tx.execute(select(sku).where(sku.c.sku.in_(some)))]
        return self._complete(tx, sorted(rows, key=lambda row: row.sku))

    def holds(self, conn: Connection) -> list[Any]:
        """Kill switches that are on."""
        return list(conn.execute(select(hold).where(hold.c.cleared_at.is_(None)).order_by(hold.c.id)))

    def rates(self, conn: Connection, since: date) -> list[Any]:
        """Exchange rates of days from `since` on, and of each pair the last before it.

        That one may be too old to convert with: then it is told that it is, and not that there is none.
        """
        rate, day = fx_rate.c, since.isoformat()
        last = (
            select(rate.base, rate.quote, func.max(rate.rate_date))
            .where(rate.rate_date < day)
            .group_by(rate.base, rate.quote)
        )
        query = select(fx_rate).where(
            or_(rate.rate_date >= day, tuple_(rate.base, rate.quote, rate.rate_date).in_(last))
        )
        return list(conn.execute(query))

    def decided(self, conn: Connection, ids: Sequence[str]) -> set[str]:
        """Those of these decisions that are stored already."""
        found: set[str] = set()
        for some in chunks(ids):
            query = select(price_decision.c.decision_id).where(price_decision.c.decision_id.in_(some))
            found.update(conn.execute(query).scalars())
        return found

    def moves_since(self, conn: Connection, moment: datetime) -> list[Any]:
        """Allowed decisions that change a price, made from `moment` on: what the breaker counts."""
        query = select(
            price_decision.c.sku,
            price_decision.c.currency,
            price_decision.c.current_price,
            price_decision.c.proposed_price,
            price_decision.c.status,
        ).where(
            price_decision.c.created_at >= moment,
            price_decision.c.verdict == "ALLOW",
            price_decision.c.decision_reason != "unchanged",
            price_decision.c.status.not_in(["STALE", "BLOCKED"]),
        )
        return list(conn.execute(query))

    def totals(self, conn: Connection) -> dict[str, tuple[int, Decimal]]:
        """Number of active SKUs and sum of their current prices, by currency."""
        found: dict[str, tuple[int, Decimal]] = {}
        query = select(sku.c.currency, sku.c.current_price).where(sku.c.active)
        # Summed here: SQLite keeps amounts as text and would add floats.
        for currency, price in conn.execute(query, execution_options={"yield_per": 5000}):
            count, total = found.get(currency, (0, Decimal(0)))
            found[currency] = (count + 1, total + (price or Decimal(0)))
        return found

    def taken_back(self, conn: Connection, names: Sequence[str] | None = None) -> dict[str, str]:
        """Why, by SKU (of `names`, or all): those whose last verified publication is a rollback."""
        back = publication.alias()
        query = (
            select(back.c.sku, back.c.sequence, price_decision.c.steps)
            .join(price_decision, price_decision.c.decision_id == back.c.decision_id)
            .where(back.c.rollback_of.is_not(None), back.c.verified_at.is_not(None))
            .order_by(back.c.sequence)
        )
        found: dict[str, tuple[int, str]] = {}
        for some in [None] if names is None else chunks(names):
            for row in conn.execute(query if some is None else query.where(back.c.sku.in_(some))):
                why = (row.steps.get("rollback") or {}).get("reason", "no reason is on file")
                told = f"was taken back ({why}) and no other has been published since"
                found[row.sku] = (row.sequence, told)
        for some in chunks(sorted(found)):
            latest = (
                select(publication.c.sku, func.max(publication.c.sequence).label("last"))
                .where(publication.c.sku.in_(some), publication.c.verified_at.is_not(None))
                .group_by(publication.c.sku)
            )
            for name, last in conn.execute(latest):
                if last > found[name][0]:
                    del found[name]
        return {name: why for name, (_, why) in found.items()}

    def snapshot_ids(self, tx: Connection, count: int) -> list[int]:
        """Ids for snapshots that decisions will name."""
        return next_ids(tx, market_price_snapshot, count)

    def save(
        self, tx: Connection, snapshots: Sequence[Mapping[str, Any]], decisions: Sequence[Mapping[str, Any]]
    ) -> None:
        """Write snapshots and the decisions that name them."""
        insert_rows(tx, market_price_snapshot, snapshots)
        insert_rows(tx, price_decision, decisions)

    def set_status(
        self, tx: Connection, decisions: Sequence[str], *, was: str, becomes: str, now: datetime
    ) -> None:
        """Move decisions from one status to another.

        Raises:
            StorageBusy: one of them has another status by now.
        """
        for some in chunks(decisions):
            statement = (
                update(price_decision)
                .where(price_decision.c.decision_id.in_(some), unindexed(price_decision.c.status) == was)
                .values(status=becomes, updated_at=now)
            )
            if tx.execute(statement).rowcount != len(some):
                raise StorageBusy(
                    f"a decision that was {was} was settled by somebody else meanwhile; run it again."
                )

    def recall(
        self, tx: Connection, decisions: Sequence[str], finding: Mapping[str, Any], **new: Any
    ) -> None:
        """Add a finding to stored decisions and set columns of theirs."""
        statement = (
            update(price_decision)
            .where(price_decision.c.decision_id == bindparam("of"))
            .values(findings=bindparam("found"), **new)
        )
        for some in chunks(decisions):
            query = select(price_decision.c.decision_id, price_decision.c.findings)
            before = tx.execute(query.where(price_decision.c.decision_id.in_(some)))
            tx.execute(
                statement,
                [{"of": row.decision_id, "found": [*row.findings, dict(finding)]} for row in before],
            )

    def statuses(self, conn: Connection, decisions: Sequence[str]) -> dict[str, str]:
        """Status by decision id."""
        found: dict[str, str] = {}
        for some in chunks(decisions):
            query = select(price_decision.c.decision_id, price_decision.c.status)
            for row in conn.execute(query.where(price_decision.c.decision_id.in_(some))):
                found[row.decision_id] = row.status
        return found

    def _complete(self, tx: Connection, skus: list[Any]) -> Loaded:
        loaded = Loaded(skus)
        for names in chunks([row.sku for row in skus]):
            self._costs_and_overrides(tx, names, loaded)
            self._offers(tx, names, loaded)
            self._past(tx, names, loaded)
        return loaded

    def _costs_and_overrides(self, tx: Connection, names: Sequence[str], loaded: Loaded) -> None:
        for row in tx.execute(select(sku_cost).where(sku_cost.c.sku.in_(names))):
            loaded.costs.setdefault(row.sku, []).append(row)
        for row in tx.execute(select(sku_policy).where(sku_policy.c.sku.in_(names))):
            loaded.overrides[row.sku] = row.overrides

    def _offers(self, tx: Connection, names: Sequence[str], loaded: Loaded) -> None:
        query = (
            select(*OFFER_COLUMNS)
            .select_from(mapping)
            .join(listing, listing.c.id == mapping.c.listing_id)
            .join(observation, observation.c.id == listing.c.last_observation_id)
            .join(evidence, evidence.c.id == observation.c.evidence_id, isouter=True)
            .join(source, source.c.slug == listing.c.source)
            .join(competitor, competitor.c.source == listing.c.source, isouter=True)
            .where(mapping.c.sku.in_(names), mapping.c.status.in_(RELEVANT))
        )
        doubtful: list[int] = []
        for row in tx.execute(query):
            loaded.offers.setdefault(row.sku, []).append(row)
            if row.needs_review:
                doubtful.append(row.observation_id)
        for some in chunks(doubtful):
            settled = select(candidate_review.c.observation_id, candidate_review.c.chosen).where(
                candidate_review.c.observation_id.in_(some), candidate_review.c.status == "approved"
            )
            loaded.chosen.update({row.observation_id: row.chosen for row in tx.execute(settled)})

    def _past(self, tx: Connection, names: Sequence[str], loaded: Loaded) -> None:
        # The newest one by the index of each SKU: their past grows with every run.
        snapshot = market_price_snapshot.c
        last = (
            select(snapshot.market_price)
            .where(
                snapshot.sku == sku.c.sku,
                snapshot.market_price.is_not(None),
                snapshot.currency == sku.c.currency,  # a SKU may be sold in another one by now
            )
            .order_by(snapshot.computed_at.desc(), snapshot.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        for name, price in tx.execute(select(sku.c.sku, last).where(sku.c.sku.in_(names))):
            if price is not None:
                loaded.previous[name] = price
        for row in tx.execute(_standing(tx, names)):
            loaded.open.setdefault(row.sku, []).append(row)


def _standing(tx: Connection, names: Sequence[str]) -> Select[Any]:
    """Decisions that may still become a price; a reviewer who settles one goes first or waits."""
    columns = (
        *(price_decision.c.decision_id, price_decision.c.sku, price_decision.c.status),
        *(price_decision.c.decision_reason, price_decision.c.expires_at),
    )
    open_ones = select(*columns).where(price_decision.c.status.in_(OPEN_STATUSES))
    if tx.dialect.name == "sqlite":
        return open_ones.where(price_decision.c.sku.in_(names))
    keys = listed(sorted(names))
    of_one = open_ones.where(price_decision.c.sku == keys.c.key).with_for_update().lateral()
    return select(of_one).select_from(keys.join(of_one, true()))
