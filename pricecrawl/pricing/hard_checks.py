"""Guardrails that block: a missing, stale or contradictory input, a hold, a broken hard constraint."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal

from pricecrawl.domain.mapping import ACCEPTED
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.findings import Computed, Finding, Inputs, block
from pricecrawl.pricing.floors import violated
from pricecrawl.pricing.rounding import on_quantum

_ONE, _ZERO = Decimal(1), Decimal(0)


def policy_available(inputs: Inputs, _: Computed) -> Finding | None:
    """No policy, no price: the thresholds are unknown."""
    if inputs.settings is None:
        return block(FindingCode.POLICY_UNAVAILABLE, "no policy in force could be read")
    return None


def no_hold(inputs: Inputs, _: Computed) -> Finding | None:
    """A kill switch on everything or on this SKU."""
    if not inputs.holds:
        return None
    words = "; ".join(f"{hold.scope} {hold.value}".strip() + f": {hold.reason}" for hold in inputs.holds)
    return block(FindingCode.HOLD_ACTIVE, f"held ({words})")


def authorized(inputs: Inputs, _: Computed) -> Finding | None:
    """The caller has no right to ask for prices."""
    return None if inputs.authorized else block(FindingCode.NOT_AUTHORIZED, "the caller may not price")


def sku_active(inputs: Inputs, _: Computed) -> Finding | None:
    """A SKU that we no longer sell gets no price."""
    if inputs.subject.active:
        return None
    return block(FindingCode.SKU_INACTIVE, "the SKU is not active in the catalogue")


def currency_known(inputs: Inputs, computed: Computed) -> Finding | None:
    """Without the currency's quantum nothing can be rounded."""
    if computed.step is not None:
        return None
    return block(
        FindingCode.CURRENCY_UNKNOWN, f"{inputs.subject.currency!r} is no currency that has a quantum"
    )


def mapping_accepted(inputs: Inputs, _: Computed) -> Finding | None:
    """At least one offer must be known to be this SKU."""
    market = inputs.market
    if market.eligible or any(item.offer.mapping_status in ACCEPTED for item in market.excluded):
        return None
    return block(FindingCode.NO_ACCEPTED_MAPPING, "no listing has an accepted mapping to this SKU")


def market_price_there(inputs: Inputs, _: Computed) -> Finding | None:
    """No eligible offer: nothing to compete with, and no number is made up."""
    if inputs.market.price is not None:
        return None
    excluded = inputs.market.excluded
    if not excluded:
        return block(FindingCode.NO_FRESH_COMPARABLE_MARKET_PRICE, "there is no offer to compare with")
    counts = Counter(reason.value for item in excluded for reason in item.reasons)
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
    return block(
        FindingCode.NO_FRESH_COMPARABLE_MARKET_PRICE,
        f"none of {len(excluded)} offers is fresh and comparable ({why})",
    )


def cost_there(inputs: Inputs, _: Computed) -> Finding | None:
    """Without a cost there is no floor."""
    return block(FindingCode.COST_MISSING, "no cost is on file") if inputs.cost is None else None


def cost_fresh(inputs: Inputs, _: Computed) -> Finding | None:
    """A cost outside its dates, or confirmed too long ago, is no floor either; nor is its MAP."""
    cost, settings = inputs.cost, inputs.settings
    if cost is None or settings is None:
        return None
    if cost.valid_to is not None and cost.valid_to <= inputs.now:
        return block(FindingCode.COST_STALE, f"the cost ended on {cost.valid_to:%Y-%m-%d}")
    if cost.valid_from > inputs.now:
        return block(FindingCode.COST_STALE, f"the cost starts on {cost.valid_from:%Y-%m-%d}")
    if inputs.now - cost.confirmed_at > timedelta(days=settings.cost_max_age_days):
        return block(
            FindingCode.COST_STALE,
            f"the cost was last confirmed on {cost.confirmed_at:%Y-%m-%d}, "
            f"more than {settings.cost_max_age_days} days ago",
        )
    return None


def cost_consistent(inputs: Inputs, computed: Computed) -> Finding | None:
    """Costs are 0 or more, bounds above 0, all in the SKU's currency."""
    cost = inputs.cost
    if computed.floors is not None or cost is None or cost.consistent_with(inputs.subject.currency):
        return None
    return block(
        FindingCode.COST_INCONSISTENT,
        f"the cost in {cost.currency} does not fit a SKU in {inputs.subject.currency}, "
        "or one of its amounts is negative",
    )


def margin_possible(inputs: Inputs, _: Computed) -> Finding | None:
    """Variable cost / (1 - margin) needs a margin under 1."""
    if inputs.settings is None or _ZERO <= inputs.settings.required_margin < _ONE:
        return None
    return block(FindingCode.MARGIN_IMPOSSIBLE, f"a margin of {inputs.settings.required_margin} has no price")


def map_there(inputs: Inputs, _: Computed) -> Finding | None:
    """A SKU that needs a minimum advertised price must have one."""
    cost, settings = inputs.cost, inputs.settings
    if cost is None or settings is None or cost.map_price is not None:
        return None
    if cost.map_required or settings.map_required:
        return block(FindingCode.MAP_MISSING, "a minimum advertised price is required and none is on file")
    return None


def regulatory_there(inputs: Inputs, _: Computed) -> Finding | None:
    """A SKU that needs a regulatory floor must have one."""
    cost, settings = inputs.cost, inputs.settings
    if cost is None or settings is None or cost.regulatory_floor is not None:
        return None
    if cost.regulatory_required or settings.regulatory_required:
        return block(FindingCode.REGULATORY_MISSING, "a regulatory floor is required and none is on file")
    return None


def current_price_consistent(inputs: Inputs, computed: Computed) -> Finding | None:
    """A current price of zero, or between two steps of the currency, is a mistake somewhere."""
    current = inputs.subject.current_price
    if current is None or computed.step is None:
        return None
    if current > _ZERO and on_quantum(current, computed.step):
        return None
    return block(FindingCode.CURRENT_PRICE_INCONSISTENT, f"the current price {current} cannot be right")


def over_floors(_: Inputs, computed: Computed) -> Finding | None:
    """The re-check: the result against every unrounded bound, whatever the steps before did."""
    floors, proposed = computed.floors, computed.proposed
    if floors is None or proposed is None:
        return None
    under = violated(floors, proposed)
    if not under:
        return None
    return block(FindingCode.UNDER_FLOOR, f"{proposed} is under the floor of {', '.join(under)}")


def on_the_quantum(_: Inputs, computed: Computed) -> Finding | None:
    """The re-check: a whole number of the currency's smallest steps."""
    proposed, step = computed.proposed, computed.step
    if proposed is None or step is None or on_quantum(proposed, step):
        return None
    return block(FindingCode.OFF_QUANTUM, f"{proposed} is no multiple of {step}")


def positive(_: Inputs, computed: Computed) -> Finding | None:
    """The re-check: a price above zero."""
    if computed.proposed is None or computed.proposed > _ZERO:
        return None
    return block(FindingCode.NOT_POSITIVE, f"{computed.proposed} is no price")


def under_ceiling(inputs: Inputs, computed: Computed) -> Finding | None:
    """The re-check: floors or rounding that lift a price over its ceiling contradict the ceiling."""
    settings, proposed = inputs.settings, computed.proposed
    if settings is None or proposed is None or settings.max_price is None or proposed <= settings.max_price:
        return None
    return block(FindingCode.ABOVE_CEILING, f"{proposed} is over the ceiling of {settings.max_price}")
