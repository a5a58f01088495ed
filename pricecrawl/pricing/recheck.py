"""What is asked once more of a price that was decided earlier: right before it is written, or rolled back to.

The market may have moved since; that is the next decision's business. Holds, costs, floors and the
policy are today's.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing import hard_checks as hard
from pricecrawl.pricing import risk_checks as risk
from pricecrawl.pricing.decision import Decision, DecisionReason, change_of, compute
from pricecrawl.pricing.findings import Computed, Finding, Guardrail, Inputs, Verdict
from pricecrawl.pricing.guardrails import strictest
from pricecrawl.pricing.market_price import Freshness, MarketPrice
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.subject import ActiveHold, Cost, Subject

HARD: tuple[Guardrail, ...] = (
    hard.policy_available,
    hard.no_hold,
    hard.sku_active,
    hard.currency_known,
    hard.cost_there,
    hard.cost_fresh,
    hard.cost_consistent,
    hard.margin_possible,
    hard.map_there,
    hard.regulatory_there,
    hard.over_floors,
    hard.on_the_quantum,
    hard.positive,
    hard.under_ceiling,
)

# Of a rollback too: it moves a price like any other, and back is no smaller a step than forth.
RISKS: tuple[Guardrail, ...] = (
    risk.has_current_price,
    risk.decrease_limit,
    risk.increase_limit,
    risk.off_floor,
    risk.unprotected,
)


def without_market(now: datetime) -> MarketPrice:
    """The place of a market price that nothing depends on."""
    return MarketPrice(
        None, None, (), (), (), (), two_of_a_source=False, freshness=Freshness.NONE, computed_at=now
    )


def inputs_of(
    subject: Subject,
    cost: Cost | None,
    settings: Settings | None,
    version: str,
    *,
    holds: tuple[ActiveHold, ...],
    now: datetime,
) -> Inputs:
    """What today's checks depend on."""
    return Inputs(subject, cost, settings, version, without_market(now), now, holds)


def recheck(inputs: Inputs, price: Decimal) -> tuple[Finding, ...]:
    """What would block `price` today, in the order of `HARD`; empty is good."""
    computed = _computed(inputs, price)
    return tuple(finding for check in HARD if (finding := check(inputs, computed)) is not None)


def rollback(inputs: Inputs, price: Decimal) -> Decision:
    """The decision to go back to a price that was right once.

    Under today's floor it is for a person to say: a review, never silent and never a block, for the
    price that is out there may be worse.
    """
    computed = _computed(inputs, price)
    found = [finding for check in (*HARD, *RISKS) if (finding := check(inputs, computed)) is not None]
    findings = tuple(
        replace(finding, verdict=Verdict.REVIEW) if finding.code is FindingCode.UNDER_FLOOR else finding
        for finding in found
    )
    return Decision(inputs, computed, DecisionReason.ROLLBACK, findings, strictest(findings))


def _computed(inputs: Inputs, price: Decimal) -> Computed:
    today = compute(inputs)
    return Computed(
        step=today.step,
        floors=today.floors,
        proposed=price,
        change=change_of(price, inputs.subject.current_price),
    )
