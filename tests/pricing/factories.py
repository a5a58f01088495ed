"""Offers, SKUs, costs and policies with believable defaults, for the pricing tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import Offer
from pricecrawl.pricing.decision import Decision, decide
from pricecrawl.pricing.findings import Inputs
from pricecrawl.pricing.fx import Rates
from pricecrawl.pricing.market_price import MarketPrice, market_price
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.subject import Cost, Subject

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NO_RATES = Rates()


def offer(price: str | None = "20.00", **changes: Any) -> Offer:
    base = Offer(
        offer_id=1,
        source="corner-shop",
        source_sku="c-1",
        item_price=None if price is None else Decimal(price),
        currency="EUR",
        shipping=Decimal(0),
        price_kind=PriceKind.STANDARD,
        availability=Availability.IN_STOCK,
        observed_at=NOW - timedelta(minutes=10),
        mapping_id=1,
        mapping_status=MappingStatus.AUTO_ACCEPTED,
        mapping_method=MappingMethod.GTIN_EXACT,
        tax_basis=TaxBasis.INCLUSIVE,
        country="DE",
    )
    return replace(base, **changes)


def subject(current: str | None = "20.50", **changes: Any) -> Subject:
    base = Subject(
        sku="W-1",
        currency="EUR",
        country="DE",
        current_price=None if current is None else Decimal(current),
    )
    return replace(base, **changes)


def cost(cogs: str = "10.00", **changes: Any) -> Cost:
    base = Cost(
        currency="EUR",
        cogs=Decimal(cogs),
        fulfilment=Decimal("1.00"),
        payment=Decimal("0.50"),
        map_price=None,
        regulatory_floor=None,
        map_required=False,
        regulatory_required=False,
        valid_from=NOW - timedelta(days=30),
        valid_to=None,
        confirmed_at=NOW - timedelta(days=3),
    )
    return replace(base, **changes)


def market(*offers: Offer, rates: Rates = NO_RATES, **changes: Any) -> MarketPrice:
    settings = changes.pop("settings", Settings())
    return market_price(subject(**changes), offers, settings=settings, rates=rates, now=NOW)


def decision(*offers: Offer, **changes: Any) -> Decision:
    """A decision for one SKU from offers; everything else has a default that lets it pass."""
    settings: Settings = changes.pop("settings", Settings())
    rates: Rates = changes.pop("rates", NO_RATES)
    who: Subject = changes.pop("subject", subject())
    paid: Cost | None = changes.pop("cost", cost())
    snapshot = market_price(who, offers, settings=settings, rates=rates, now=NOW)
    inputs = Inputs(who, paid, settings, "test-1", snapshot, NOW, **changes)
    return decide(inputs)


def codes(made: Decision) -> set[str]:
    return {finding.code.value for finding in made.findings}
