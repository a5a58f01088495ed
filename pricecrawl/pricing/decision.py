"""From a market price to a proposed price, in one fixed order, with every step kept.

target -> caps -> rounding -> floors last -> re-check. The floors come last because anything after
them could undo them; the re-check compares the result with the unrounded bounds again, so a mistake
in any step before it blocks the price instead of publishing it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from pricecrawl.pricing import floors as floor_rules
from pricecrawl.pricing.findings import Computed, Finding, Inputs, Verdict
from pricecrawl.pricing.floors import Floors
from pricecrawl.pricing.guardrails import evaluate, strictest
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.rounding import CEILING, EXACT, KEPT, quantum, round_up, to_ending
from pricecrawl.pricing.states import State
from pricecrawl.pricing.strategy import STRATEGIES
from pricecrawl.pricing.subject import Cost, Subject

_ONE, _ZERO = Decimal(1), Decimal(0)


class DecisionReason(StrEnum):
    """What the proposed price comes from."""

    MATCH_MARKET = "match_market"
    RAISED_TO_FLOOR = "raised_to_floor"
    CAPPED = "capped"
    UNCHANGED = "unchanged"
    ROLLBACK = "rollback"
    NO_MARKET_PRICE = "no_market_price"
    MISSING_INPUT = "missing_input"


STATES = {
    Verdict.ALLOW: State.APPROVED,
    Verdict.REVIEW: State.REVIEW_REQUIRED,
    Verdict.BLOCK: State.BLOCKED,
}


class Decision(NamedTuple):
    """A proposed price, what it was made of, and what the guardrails say of it."""

    inputs: Inputs
    computed: Computed
    reason: DecisionReason
    findings: tuple[Finding, ...]
    verdict: Verdict

    @property
    def state(self) -> State:
        """Where the verdict leaves the decision: APPROVED, REVIEW_REQUIRED or BLOCKED."""
        return STATES[self.verdict]

    def canonical(self) -> bytes:
        """The decision as one JSON text with sorted keys: equal inputs give equal bytes."""
        return json.dumps(record(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def decide(inputs: Inputs) -> Decision:
    """The decision for one SKU. Pure: the same inputs give the same decision, byte for byte."""
    computed = compute(inputs)
    findings = evaluate(inputs, computed)
    return Decision(inputs, computed, _reason(inputs, computed), findings, strictest(findings))


def compute(inputs: Inputs) -> Computed:
    """Every figure on the way to the proposed price; None where an input is missing.

    The proposed price is None unless a market price, a usable cost and a policy are all there.
    """
    subject, settings, market_price = inputs.subject, inputs.settings, inputs.market.price
    try:
        step = quantum(subject.currency)
    except ValueError:
        step = None
    if settings is None or step is None:
        return Computed(step)
    floors = _floors(inputs.cost, subject, settings, step)
    if market_price is None:
        return Computed(step, floors=floors)
    target = STRATEGIES[settings.strategy](market_price)
    capped = _capped(target, subject.current_price, settings)
    rounded = round_up(capped, step)
    if settings.price_endings:
        rounded = to_ending(rounded, settings.price_endings)
    if floors is None:
        return Computed(step, target, capped, rounded)
    proposed = max(rounded, floors.allowed)
    return Computed(
        step, target, capped, rounded, floors, proposed, change_of(proposed, subject.current_price)
    )


def with_findings(decision: Decision, more: tuple[Finding, ...]) -> Decision:
    """The same decision with further findings (a batch's), its verdict at least as strict."""
    findings = decision.findings + more
    return Decision(decision.inputs, decision.computed, decision.reason, findings, strictest(findings))


def steps(decision: Decision) -> Iterator[tuple[str, Decimal | None, str]]:
    """Every intermediate value in the order it was computed: name, amount, a few words."""
    computed, inputs = decision.computed, decision.inputs
    settings, floors = inputs.settings, computed.floors
    yield "market_price", inputs.market.price, inputs.market.note or "lowest eligible landed price"
    if settings is None:
        return
    yield "target", computed.target, f"strategy {settings.strategy}"
    yield "capped", computed.capped, "unchanged" if computed.capped == computed.target else "limited by a cap"
    yield (
        "rounded",
        computed.rounded,
        f"up to {computed.step}" + (" and a price ending" if settings.price_endings else ""),
    )
    if floors is not None:
        margin = format(settings.required_margin, "f")
        yield "variable_cost", floors.variable_cost, "COGS + fulfilment + payment"
        yield "margin_floor", floors.margin_floor, f"variable cost / (1 - {margin})"
        yield "map_price", floors.map_price, "" if floors.map_price is not None else "none"
        yield "regulatory_floor", floors.regulatory, "" if floors.regulatory is not None else "none"
        yield "allowed_floor", floors.allowed, f"set by {', '.join(floors.binding)}"
    yield "proposed_price", computed.proposed, decision.reason.value


def record(decision: Decision) -> dict[str, Any]:
    """The decision as a flat JSON-ready mapping; amounts are decimal strings."""
    inputs, computed = decision.inputs, decision.computed
    settings, floors = inputs.settings, computed.floors
    return {
        "sku": inputs.subject.sku,
        "currency": inputs.subject.currency,
        "tax_basis": inputs.subject.tax_basis.value,
        "current_price": _text(inputs.subject.current_price),
        "market_price": _text(inputs.market.price),
        "competitive_target": _text(computed.target),
        "capped": _text(computed.capped),
        "rounded": _text(computed.rounded),
        "variable_cost": _text(floors.variable_cost if floors else None),
        "required_margin": _text(settings.required_margin if settings else None),
        "margin_floor": _text(floors.margin_floor if floors else None),
        "map_price": _text(floors.map_price if floors else None),
        "regulatory_floor": _text(floors.regulatory if floors else None),
        "allowed_floor": _text(floors.allowed if floors else None),
        "binding": list(floors.binding) if floors else [],
        "proposed_price": _text(computed.proposed),
        "change_pct": _text(computed.change),
        "decision_reason": decision.reason.value,
        "verdict": decision.verdict.value,
        "findings": [finding.plain() for finding in decision.findings],
        "policy_version": inputs.policy_version,
        "winning_offer_id": inputs.market.winner.offer.offer_id if inputs.market.winner else None,
        "eligible_offer_ids": [item.offer.offer_id for item in inputs.market.eligible],
        "excluded_offers": [
            {"offer_id": item.offer.offer_id, "reasons": [reason.value for reason in item.reasons]}
            for item in inputs.market.excluded
        ],
        "computed_at": _moment(inputs.now),
    }


def _floors(cost: Cost | None, subject: Subject, settings: Settings, step: Decimal) -> Floors | None:
    """The floors, or None where the cost cannot be relied on at all (the guardrails then say why)."""
    if cost is None or not cost.consistent_with(subject.currency) or settings.required_margin >= _ONE:
        return None
    return floor_rules.compute(cost, settings.required_margin, step)


def _capped(target: Decimal, current: Decimal | None, settings: Settings) -> Decimal:
    if current is not None and current > 0:
        if settings.cap_decrease is not None:
            target = max(target, EXACT.multiply(current, _ONE - settings.cap_decrease))
        if settings.cap_increase is not None:
            target = min(target, EXACT.multiply(current, _ONE + settings.cap_increase))
    if settings.max_price is not None:
        target = min(target, settings.max_price)
    return target


def change_of(proposed: Decimal, current: Decimal | None) -> Decimal | None:
    """Relative change, to a millionth and away from zero: a limit is compared exactly elsewhere."""
    if current is None or current <= _ZERO:
        return None
    difference = proposed - current
    if difference < _ZERO:
        return -CEILING.quantize(CEILING.divide(-difference, current), KEPT)
    return CEILING.quantize(CEILING.divide(difference, current), KEPT)


def _reason(inputs: Inputs, computed: Computed) -> DecisionReason:
    if inputs.market.price is None:
        return DecisionReason.NO_MARKET_PRICE
    if computed.proposed is None:
        return DecisionReason.MISSING_INPUT
    if computed.proposed == inputs.subject.current_price:
        return DecisionReason.UNCHANGED
    if computed.proposed != computed.rounded:
        return DecisionReason.RAISED_TO_FLOOR
    if computed.capped != computed.target:
        return DecisionReason.CAPPED
    return DecisionReason.MATCH_MARKET


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")


def _moment(moment: datetime) -> str:
    return moment.isoformat()
