"""Random decisions and what each must come to, worked out in whole numbers and nothing of the engine.

The generator decides first what is wrong with each offer and each input, and then builds them, so the
expectation never asks the code under test.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import ONE_UNIT, Content, Offer
from pricecrawl.domain.promotion import NO_PROMOTION, Promotion, PromotionKind
from pricecrawl.pricing.decision import Decision, decide
from pricecrawl.pricing.findings import Inputs
from pricecrawl.pricing.fx import Rates
from pricecrawl.pricing.market_price import market_price
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.subject import ActiveHold, Cost, Subject
from tests.pricing.factories import NOW

DECIMALS = {"EUR": 2, "JPY": 0, "KWD": 3}
RATES = Rates()
MARGINS = (0, 500, 1000, 1234, 3333, 9000)  # hundredths of a percent
SETTINGS = {m: Settings(required_margin=Decimal(m) / 10000) for m in MARGINS}

_OUT: tuple[tuple[str, object], ...] = (
    ("mapping_status", MappingStatus.REJECTED),
    ("source_held", True),
    ("observed_at", NOW - timedelta(minutes=121)),
    ("condition", "refurbished"),
    ("content", Content(pack=6)),
    ("availability", Availability.OUT_OF_STOCK),
    ("availability", Availability.UNKNOWN),
    ("price_kind", PriceKind.MEMBER),
    ("promotion", Promotion(PromotionKind.SUBSCRIPTION)),
    ("promotion", Promotion(PromotionKind.PERSONALIZED)),
    ("promotion", Promotion(PromotionKind.PAYMENT_METHOD)),
    ("currency", "USD"),
    ("country", "US"),
    ("seller", "Someone"),
    ("competitor_approved", False),
    ("tax_basis", TaxBasis.DUTY_FREE),
    ("item_price", None),
    ("item_price", Decimal(0)),
)


@dataclass(slots=True)
class Case:
    """What goes in, and in units of the currency's quantum what must come out."""

    subject: Subject
    offers: tuple[Offer, ...]
    cost: Cost | None
    settings: Settings
    holds: tuple[ActiveHold, ...]
    good: frozenset[int]
    market: int | None
    floor: int | None
    proposed: int | None
    must_block: bool
    must_review: bool

    def decide(self) -> Decision:
        snapshot = market_price(self.subject, self.offers, settings=self.settings, rates=RATES, now=NOW)
        return decide(Inputs(self.subject, self.cost, self.settings, "v", snapshot, NOW, self.holds))


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def make(rng: random.Random) -> Case:
    """One random case; about half have nothing wrong with them, the rest one thing or several."""
    pick = rng.random
    currency = rng.choice(("EUR", "EUR", "JPY", "KWD"))
    step = Decimal(1).scaleb(-DECIMALS[currency])
    margin = rng.choice(MARGINS)
    base = rng.choice((rng.randint(2, 50), rng.randint(50, 5000), rng.randint(5000, 10**7)))
    offers, good, landed = _offers(rng, base, currency, step)

    parts = [
        max(1, int(base * rng.uniform(0.3, 1.1))),
        rng.randint(0, base // 10),
        rng.randint(0, base // 20),
    ]
    map_tenths = int(base * rng.uniform(5, 12)) if pick() < 0.2 else None
    regulatory_tenths = int(base * rng.uniform(5, 12)) if pick() < 0.1 else None
    missing_map = map_tenths is None and pick() < 0.03
    stale = pick() < 0.03
    cost: Cost | None = Cost(
        currency=currency,
        cogs=parts[0] * step,
        fulfilment=parts[1] * step,
        payment=parts[2] * step,
        map_price=None if map_tenths is None else map_tenths * step / 10,
        regulatory_floor=None if regulatory_tenths is None else regulatory_tenths * step / 10,
        map_required=missing_map,
        regulatory_required=False,
        valid_from=NOW - timedelta(days=9),
        valid_to=NOW - timedelta(days=1) if stale else None,
        confirmed_at=NOW - timedelta(days=9),
    )
    bounds = [sum(parts), _ceil(sum(parts) * 10000, 10000 - margin)]
    bounds += [_ceil(tenths, 10) for tenths in (map_tenths, regulatory_tenths) if tenths is not None]
    floor: int | None = max(bounds)
    if pick() < 0.03:
        cost, floor = None, None

    current = None if pick() < 0.03 else max(1, int(base * rng.uniform(0.85, 1.2)))
    protected = pick() < 0.05
    held = pick() < 0.03
    market = min(landed) if landed else None
    proposed = None if market is None or floor is None else max(market, floor)
    return Case(
        subject=Subject(
            "S",
            currency,
            "DE",
            current_price=None if current is None else current * step,
            protected=protected,
        ),
        offers=tuple(offers),
        cost=cost,
        settings=SETTINGS[margin],
        holds=(ActiveHold("everything", "", "stop"),) if held else (),
        good=frozenset(good),
        market=market,
        floor=floor,
        proposed=proposed,
        must_block=held or cost is None or stale or missing_map or market is None,
        must_review=protected
        or current is None
        or _moved(proposed, current)
        or proposed == floor is not None,
    )


def _moved(proposed: int | None, current: int | None) -> bool:
    if proposed is None or current is None:
        return False
    return (current - proposed) * 20 > current or (proposed - current) * 10 > current


def _offers(
    rng: random.Random, base: int, currency: str, step: Decimal
) -> tuple[list[Offer], list[int], list[int]]:
    offers: list[Offer] = []
    good: list[int] = []
    landed: list[int] = []
    for number in range(rng.randint(0, 5)):
        item = max(1, int(base * rng.uniform(0.8, 1.4)))
        shipping = rng.choice((None, 0, rng.randint(0, base // 4)))
        off = rng.randint(0, item - 1) // 8 if rng.random() < 0.2 else 0
        fields: dict[str, object] = {
            "item_price": item * step,
            "currency": currency,
            "observed_at": NOW - timedelta(minutes=rng.randint(0, 120)),
            "price_kind": rng.choice((PriceKind.STANDARD, PriceKind.SALE)),
            "availability": Availability.IN_STOCK,
            "mapping_status": rng.choice((MappingStatus.AUTO_ACCEPTED, MappingStatus.HUMAN_ACCEPTED)),
            "promotion": Promotion(PromotionKind.UNCONDITIONAL, off * step) if off else NO_PROMOTION,
            "content": ONE_UNIT,
            "tax_basis": rng.choice((TaxBasis.INCLUSIVE, TaxBasis.UNKNOWN)),
            "country": "DE",
        }
        broken = rng.sample(_OUT, rng.choice((0, 0, 0, 1, 1, 2)))
        fields.update(broken)
        offers.append(
            Offer(
                offer_id=number,
                source=f"shop-{number}",
                source_sku=f"x{number}",
                shipping=None if shipping is None else shipping * step,
                mapping_id=number,
                mapping_method=MappingMethod.GTIN_EXACT,
                **fields,  # type: ignore[arg-type]
            )
        )
        if not broken:
            good.append(number)
            landed.append(item + (shipping or 0) - off)
    return offers, good, landed
