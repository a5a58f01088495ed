"""Stored rows made into the inputs of a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import ONE_UNIT, Content, Offer
from pricecrawl.domain.promotion import NO_PROMOTION, Promotion, PromotionKind, read_promotion
from pricecrawl.pricing.fx import DatedRate, Rates
from pricecrawl.pricing.subject import ActiveHold, Cost, Subject

# By value, because an enum's own lookup costs a call for each of some ten million offers.
_KINDS = {kind.value: kind for kind in PriceKind}
_AVAILABILITIES = {state.value: state for state in Availability}
_BASES = {basis.value: basis for basis in TaxBasis}
_STATUSES = {status.value: status for status in MappingStatus}
_METHODS = {method.value: method for method in MappingMethod}

_PRIMARY = {PriceKind.STANDARD.value, PriceKind.SALE.value, PriceKind.PRE_ORDER.value}

# What the listing's own state overrules: seen missing or gone after the last good reading.
_ABSENT = {Availability.OUT_OF_STOCK.value, Availability.NOT_AVAILABLE.value}

_read_promotion = lru_cache(maxsize=4096)(read_promotion)


def subject_of(row: Any) -> Subject:
    """Our SKU as the decision sees it."""
    return Subject(
        sku=row.sku,
        currency=row.currency,
        country=row.country,
        tax_basis=_BASES[row.tax_basis],
        content=_content(row.pack, row.base_quantity, row.base_unit),
        current_price=row.current_price,
        protected=row.protected,
        tier=row.tier,
        active=row.active,
    )


def cost_of(rows: Sequence[Any], now: datetime) -> Cost | None:
    """The cost in force at `now`; else the last that was, or the first that will be (both stale)."""
    started = [row for row in rows if row.valid_from <= now]
    in_force = [row for row in started if row.valid_to is None or row.valid_to > now]
    if started:
        row = max(in_force or started, key=lambda item: item.valid_from)
    elif rows:
        row = min(rows, key=lambda item: item.valid_from)
    else:
        return None
    return Cost(
        currency=row.currency,
        cogs=row.cogs,
        fulfilment=row.fulfilment,
        payment=row.payment,
        map_price=row.map_price,
        regulatory_floor=row.regulatory_floor,
        map_required=row.map_required,
        regulatory_required=row.regulatory_required,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        confirmed_at=row.imported_at,
    )


def offer_of(
    row: Any,
    *,
    countries: Mapping[str, str],
    held: frozenset[str],
    chosen: Mapping[int, Mapping[str, Any]] | None = None,
) -> Offer:
    """A mapped observation as an offer.

    `countries` is the country by source, `held` the sources under a kill switch, `chosen` what a
    person chose for a doubtful reading, by observation.
    """
    price, currency, needs_review = row.price, row.currency, row.needs_review
    kind, basis = row.price_kind or "", row.tax_basis
    if needs_review and chosen and (choice := chosen.get(row.observation_id)) and choice["kind"] in _PRIMARY:
        price, currency = Decimal(choice["amount"]), choice.get("currency") or currency
        kind, needs_review = choice["kind"], False
        # What the reading's own label says of tax goes before what was said of another reading.
        if choice.get("tax_basis", TaxBasis.UNKNOWN.value) != TaxBasis.UNKNOWN.value:
            basis = choice["tax_basis"]
    availability = row.listing_availability if row.listing_availability in _ABSENT else row.availability
    return Offer(
        offer_id=row.observation_id,
        source=row.source,
        source_sku=row.source_sku,
        item_price=price,
        currency=currency,
        shipping=row.shipping,
        price_kind=_KINDS.get(kind, PriceKind.STANDARD),
        availability=_AVAILABILITIES[availability],
        observed_at=row.observed_at,
        mapping_id=row.mapping_id,
        mapping_status=_STATUSES[row.status],
        mapping_method=_METHODS[row.method],
        mapping_confidence=row.confidence,
        first_use_reviewed=row.first_use_reviewed,
        promotion=_promotion(row.promotion_text, currency, row.member_price)
        if row.promotion_text
        else NO_PROMOTION,
        content=_content(row.pack, row.base_quantity, row.base_unit),
        condition=row.condition,
        seller=row.seller,
        tax_basis=_BASES[basis],
        country=countries.get(row.source),
        needs_review=needs_review,
        review_reasons=tuple(row.review_reasons or ()),
        source_held=row.source in held or not row.enabled,
        competitor_approved=row.approved is not False,
        evidence=row.digest,
        extractor_version=row.extractor_version,
    )


def rates_of(rows: Iterable[Any]) -> Rates:
    """The rate book of stored rates."""
    return Rates(
        DatedRate(row.base, row.quote, date.fromisoformat(row.rate_date), row.rate, row.rate_source)
        for row in rows
    )


def holds_on(sku: str, holds: Iterable[Any]) -> tuple[ActiveHold, ...]:
    """Kill switches that stop a price of this SKU; one on a target is read when it is published."""
    return tuple(
        ActiveHold(hold.scope, hold.value, hold.reason)
        for hold in holds
        if hold.scope == "everything" or (hold.scope == "sku" and hold.value == sku)
    )


def held_sources(holds: Iterable[Any]) -> frozenset[str]:
    """Sources whose offers may not count."""
    return frozenset(hold.value for hold in holds if hold.scope == "source")


def _content(pack: int, quantity: Decimal | None, unit: str | None) -> Content:
    return ONE_UNIT if pack == 1 and quantity is None else Content(pack, quantity, unit)


def _promotion(text: str, currency: str | None, member_price: Decimal | None) -> Promotion:
    found = _read_promotion(text, currency)
    # The shop tells members about a price of their own, which was read apart: the price that was
    # read as everybody's stays everybody's.
    if found.kind is PromotionKind.MEMBER and member_price is not None:
        return NO_PROMOTION
    return found
