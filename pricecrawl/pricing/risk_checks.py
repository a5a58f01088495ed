"""Guardrails that ask for a person: a large move, a price on a floor, evidence that may mislead."""

from __future__ import annotations

from decimal import Decimal

from pricecrawl.domain.mapping import MappingStatus
from pricecrawl.domain.reasons import ExclusionReason, FindingCode
from pricecrawl.pricing.findings import Computed, Finding, Inputs, review
from pricecrawl.pricing.market_price import Assessed, MarketPrice
from pricecrawl.pricing.rounding import EXACT

_R = ExclusionReason
_ONE = Decimal(1)

_MAPPING = (_R.MAPPING_NOT_ACCEPTED,)
_EVIDENCE = (_R.NEEDS_REVIEW, _R.CURRENCY_UNKNOWN)
_UNCLEAR_PROMOTIONS = (
    _R.PROMOTION_CONDITIONAL,
    _R.PROMOTION_AMBIGUOUS,
    _R.CODE_REQUIRED,
    _R.BUNDLE_AMBIGUOUS,
)


def has_current_price(inputs: Inputs, _: Computed) -> Finding | None:
    """A first price cannot be compared with anything."""
    if inputs.subject.current_price is not None:
        return None
    return review(FindingCode.NO_CURRENT_PRICE, "there is no current price to compare with")


def decrease_limit(inputs: Inputs, computed: Computed) -> Finding | None:
    """Down by more than the policy lets through without a person."""
    change, settings = computed.change, inputs.settings
    # `change` is rounded away from zero: within the limit it surely is, beyond it is worked out exactly.
    if change is None or settings is None or change >= -settings.review_decrease:
        return None
    current, proposed = inputs.subject.current_price, computed.proposed
    assert current is not None
    assert proposed is not None
    if current - proposed <= EXACT.multiply(current, settings.review_decrease):
        return None
    return review(
        FindingCode.DECREASE_OVER_LIMIT,
        f"{current} to {proposed} is down {_percent(computed.change)}, "
        f"over the limit of {_percent(settings.review_decrease)}",
    )


def increase_limit(inputs: Inputs, computed: Computed) -> Finding | None:
    """Up by more than the policy lets through without a person."""
    change, settings = computed.change, inputs.settings
    if change is None or settings is None or change <= settings.review_increase:
        return None
    current, proposed = inputs.subject.current_price, computed.proposed
    assert current is not None
    assert proposed is not None
    if proposed - current <= EXACT.multiply(current, settings.review_increase):
        return None
    return review(
        FindingCode.INCREASE_OVER_LIMIT,
        f"{current} to {proposed} is up {_percent(computed.change)}, "
        f"over the limit of {_percent(settings.review_increase)}",
    )


def off_floor(_: Inputs, computed: Computed) -> Finding | None:
    """A price that sits on a floor is one that we could not lower as far as the market did."""
    floors, proposed = computed.floors, computed.proposed
    if floors is None or proposed is None or proposed != floors.allowed:
        return None
    return review(FindingCode.ON_FLOOR, f"{proposed} sits on the floor of {', '.join(floors.binding)}")


def mapping_proven(inputs: Inputs, _: Computed) -> Finding | None:
    """A mapping that a model found is looked at by a person before it first moves a price."""
    if not inputs.market.by_model:
        return None
    fresh = [item.offer for item in inputs.market.by_model if not item.offer.first_use_reviewed]
    if not fresh:
        return None
    names = ", ".join(f"{offer.source}/{offer.source_sku}" for offer in fresh)
    return review(FindingCode.FIRST_PROBABILISTIC_USE, f"first use of a mapping by the model: {names}")


def mapping_threshold(inputs: Inputs, _: Computed) -> Finding | None:
    """A model's mapping under the policy's threshold, or one still in review that would be lower."""
    settings, market = inputs.settings, inputs.market
    if settings is None or market.price is None or not (market.by_model or market.doubtful):
        return None
    threshold = settings.mapping_threshold
    doubted = [item.offer for item in market.by_model if (item.offer.mapping_confidence or 0) < threshold]
    doubted += [
        item.offer
        for item in _doubtful(market, _MAPPING)
        if item.offer.mapping_status is MappingStatus.REVIEW_REQUIRED and _could_win(item, market.price)
    ]
    if not doubted:
        return None
    names = ", ".join(f"{offer.source}/{offer.source_sku}" for offer in doubted)
    return review(FindingCode.MAPPING_UNDER_THRESHOLD, f"not surely this product: {names}")


def promotion_clear(inputs: Inputs, _: Computed) -> Finding | None:
    """An offer left out for its promotion alone that could have been the market price."""
    price = inputs.market.price
    if price is None or not inputs.market.doubtful:
        return None
    unclear = [
        f"{item.offer.source}/{item.offer.source_sku} ({item.offer.promotion.text})"
        for item in _doubtful(inputs.market, _UNCLEAR_PROMOTIONS)
        if _could_win(item, price)
    ]
    if not unclear:
        return None
    return review(
        FindingCode.PROMOTION_UNCLEAR, f"a promotion may lower the market price: {', '.join(unclear)}"
    )


def evidence_agrees(inputs: Inputs, _: Computed) -> Finding | None:
    """One shop with two prices for the SKU, or a reading in review that would be the lowest."""
    market = inputs.market
    if market.price is None or not (market.doubtful or market.two_of_a_source):
        return None
    torn = [
        f"{item.offer.source}/{item.offer.source_sku} was read as {item.landed or 'no price'} and is in doubt"
        for item in _doubtful(market, _EVIDENCE)
        if _could_win(item, market.price)
    ]
    if market.two_of_a_source:
        torn += _two_prices(market)
    return review(FindingCode.CONFLICTING_EVIDENCE, "; ".join(torn)) if torn else None


def _two_prices(market: MarketPrice) -> list[str]:
    landed: dict[str, Decimal | None] = {}
    return [
        f"{item.offer.source} sells it at {landed[item.offer.source]} and at {item.landed}"
        for item in market.eligible
        if landed.setdefault(item.offer.source, item.landed) != item.landed
    ]


def shipping_known(inputs: Inputs, _: Computed) -> Finding | None:
    """The winner states no delivery charge while another shop of this market does charge one."""
    winner = inputs.market.winner
    if winner is None or winner.offer.shipping is not None:
        return None
    if not any(item.offer.shipping for item in inputs.market.eligible):
        return None
    return review(
        FindingCode.SHIPPING_ASSUMED,
        f"{winner.offer.source} states no delivery charge where others charge one",
    )


def unprotected(inputs: Inputs, _: Computed) -> Finding | None:
    """SKUs that a person always wants to see."""
    if not inputs.subject.protected and not (inputs.settings and inputs.settings.protected):
        return None
    return review(FindingCode.PROTECTED_SKU, "the SKU is protected")


def uncapped(_: Inputs, computed: Computed) -> Finding | None:
    """A cap kept the price from following the market: the market moved further than we allow."""
    if computed.capped == computed.target:
        return None
    return review(FindingCode.TARGET_CAPPED, f"the target {computed.target} was limited to {computed.capped}")


def market_over_cost(inputs: Inputs, computed: Computed) -> Finding | None:
    """A market far under our own cost is more often a wrong match than a bargain."""
    price, floors, settings = inputs.market.price, computed.floors, inputs.settings
    if price is None or floors is None or settings is None:
        return None
    if price >= EXACT.multiply(floors.variable_cost, settings.anomaly_cost_share):
        return None
    return review(
        FindingCode.ANOMALY_BELOW_COST,
        f"the market price {price} is under {_percent(settings.anomaly_cost_share)} "
        f"of our cost {floors.variable_cost}",
    )


def winner_in_line(inputs: Inputs, _: Computed) -> Finding | None:
    """With three offers or more, a winner far under the middle one stands alone."""
    eligible, settings = inputs.market.eligible, inputs.settings
    if len(eligible) < 3 or settings is None:
        return None
    winner, middle = eligible[0].landed, eligible[len(eligible) // 2].landed
    if winner is None or middle is None:
        return None
    if winner >= EXACT.multiply(middle, _ONE - settings.anomaly_outlier_share):
        return None
    return review(
        FindingCode.ANOMALY_OUTLIER, f"the lowest offer {winner} is far under the middle one {middle}"
    )


def market_steady(inputs: Inputs, _: Computed) -> Finding | None:
    """A market price that jumped since the last snapshot."""
    price, previous, settings = inputs.market.price, inputs.previous_market, inputs.settings
    if price is None or previous is None or settings is None:
        return None
    if abs(price - previous) <= EXACT.multiply(previous, settings.anomaly_market_move):
        return None
    return review(FindingCode.ANOMALY_MARKET_MOVE, f"the market moved from {previous} to {price}")


def not_taken_back(inputs: Inputs, computed: Computed) -> Finding | None:
    """After a rollback the same evidence brings the same price again: a person lets it out."""
    if not inputs.taken_back or computed.proposed in {None, inputs.subject.current_price}:
        return None
    return review(FindingCode.TAKEN_BACK, f"the price {inputs.taken_back}")


def _doubtful(market: MarketPrice, reasons: tuple[ExclusionReason, ...]) -> tuple[Assessed, ...]:
    """Offers left out for one of `reasons` that would count if the doubt about them were settled."""
    asked = reasons.__contains__
    return tuple(item for item in market.doubtful if any(map(asked, item.reasons)))


def _could_win(item: Assessed, price: Decimal) -> bool:
    """Whether the offer, with the most its promotion could take off, would be lower than `price`.

    A promotion that does not say by how much could take off anything.
    """
    if item.landed is None:  # no number at all: only a reading in doubt can hide a low one
        return any(reason in _EVIDENCE for reason in item.reasons)
    promotion = item.offer.promotion
    if item.landed <= price:
        return True
    if not any(reason in _UNCLEAR_PROMOTIONS for reason in item.reasons):
        return False
    return promotion.share is None or EXACT.multiply(item.landed, _ONE - promotion.share) <= price


def _percent(share: Decimal | None) -> str:
    return "?" if share is None else f"{abs(share) * 100:.1f} %"
