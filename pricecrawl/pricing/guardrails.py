"""What must hold before a price may move: one small check each, all of them in `GUARDRAILS`.

A check returns a finding or nothing. Every check is asked every time and every finding is kept; the
strictest one is the verdict. A BLOCK is never lifted by a reviewer.
"""

from __future__ import annotations

from pricecrawl.pricing import hard_checks as hard
from pricecrawl.pricing import risk_checks as risk
from pricecrawl.pricing.findings import Computed, Finding, Guardrail, Inputs, Verdict

GUARDRAILS: tuple[Guardrail, ...] = (
    hard.policy_available,
    hard.no_hold,
    hard.authorized,
    hard.sku_active,
    hard.currency_known,
    hard.mapping_accepted,
    hard.market_price_there,
    hard.cost_there,
    hard.cost_fresh,
    hard.cost_consistent,
    hard.margin_possible,
    hard.map_there,
    hard.regulatory_there,
    hard.current_price_consistent,
    hard.over_floors,
    hard.on_the_quantum,
    hard.positive,
    hard.under_ceiling,
    risk.has_current_price,
    risk.decrease_limit,
    risk.increase_limit,
    risk.off_floor,
    risk.mapping_proven,
    risk.mapping_threshold,
    risk.promotion_clear,
    risk.evidence_agrees,
    risk.shipping_known,
    risk.unprotected,
    risk.uncapped,
    risk.market_over_cost,
    risk.winner_in_line,
    risk.market_steady,
    risk.not_taken_back,
)


def evaluate(inputs: Inputs, computed: Computed) -> tuple[Finding, ...]:
    """Every finding, in the order of `GUARDRAILS`."""
    findings: list[Finding] = []
    for guardrail in GUARDRAILS:
        finding = guardrail(inputs, computed)
        if finding is not None:
            findings.append(finding)
    return tuple(findings)


def strictest(findings: tuple[Finding, ...]) -> Verdict:
    """ALLOW when there is nothing to say; otherwise the strictest of the findings."""
    if not findings:
        return Verdict.ALLOW
    return Verdict.BLOCK if any(f.verdict is Verdict.BLOCK for f in findings) else Verdict.REVIEW
