"""What is asked of many decisions at once: has too much moved, and who goes first.

A wrong feed or a wrong policy moves everything in the same direction within minutes. The breaker
counts what moved in a window and sends the rest to review; the canary lets a few prices be published
and verified before the others follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.decision import Decision
from pricecrawl.pricing.findings import Finding, Verdict, review
from pricecrawl.pricing.policy import Settings

_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Moved:
    """What a window has seen: SKUs that may change price on their own, and by how much.

    `skus` counts allowed moves, `amount` adds their absolute differences, `total_skus` and
    `total_amount` are the catalogue's active SKUs and the sum of their current prices, in one
    currency.
    """

    skus: int = 0
    amount: Decimal = _ZERO
    total_skus: int = 0
    total_amount: Decimal = _ZERO

    def plus(self, decisions: Iterable[Decision]) -> Moved:
        """With the moves of further decisions added."""
        moves = [difference for decision in decisions if (difference := move(decision))]
        return replace(self, skus=self.skus + len(moves), amount=self.amount + sum(moves, _ZERO))


def move(decision: Decision) -> Decimal:
    """How far an allowed decision moves the price, as an absolute amount; 0 if it does not."""
    current, proposed = decision.inputs.subject.current_price, decision.computed.proposed
    if decision.verdict is not Verdict.ALLOW or current is None or proposed is None:
        return _ZERO
    return abs(proposed - current)


def tripped(moved: Moved, settings: Settings) -> Finding | None:
    """The finding that every further move gets, once more moved than the policy lets through.

    Small catalogues move all at once quite rightly: nothing trips before `breaker_min_moves`.
    """
    if moved.skus < max(settings.breaker_min_moves, 1):
        return None
    reasons = []
    if moved.total_skus and Decimal(moved.skus) > settings.breaker_sku_share * moved.total_skus:
        reasons.append(f"{moved.skus} of {moved.total_skus} SKUs")
    if moved.total_amount and moved.amount > settings.breaker_value_share * moved.total_amount:
        reasons.append(f"prices by {moved.amount} of {moved.total_amount} in all")
    if not reasons:
        return None
    window = f"within {settings.breaker_window_minutes} minutes"
    return review(FindingCode.MASS_CHANGE, f"too much moved {window}: {' and '.join(reasons)}")


def canaries(keys: Sequence[str], settings: Settings) -> frozenset[str]:
    """Those of a batch that are published and verified before the rest; all of a small batch.

    Chosen by the digest of their keys (decision ids): the same batch always has the same canaries
    and they are no particular corner of the catalogue.
    """
    if len(keys) < settings.canary_min_batch:
        return frozenset(keys)
    wanted = max(1, int(len(keys) * settings.canary_share))
    ranked = sorted(keys, key=lambda key: hashlib.sha256(key.encode()).digest())
    return frozenset(ranked[:wanted])
