"""What a guardrail is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.floors import Floors
from pricecrawl.pricing.market_price import MarketPrice
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.subject import ActiveHold, Cost, Subject


class Verdict(StrEnum):
    """What may happen to a proposed price, mildest first."""

    ALLOW = "ALLOW"
    REVIEW = "REVIEW"
    BLOCK = "BLOCK"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check that has something to say. `detail` is a sentence for people."""

    code: FindingCode
    verdict: Verdict
    detail: str

    def plain(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"code": self.code.value, "verdict": self.verdict.value, "detail": self.detail}


class Inputs(NamedTuple):
    """Everything a decision depends on, and nothing else.

    `settings` is None when the policy could not be read. `previous_market` is the market price of
    the last snapshot. `authorized` is False when the caller may not ask for prices. `taken_back` says
    how the SKU's price was rolled back or is about to be; empty where no rollback waits or came last.
    """

    subject: Subject
    cost: Cost | None
    settings: Settings | None
    policy_version: str
    market: MarketPrice
    now: datetime
    holds: tuple[ActiveHold, ...] = ()
    previous_market: Decimal | None = None
    authorized: bool = True
    taken_back: str = ""


class Computed(NamedTuple):
    """The figures on the way to the proposed price; None where an input was missing."""

    step: Decimal | None
    target: Decimal | None = None
    capped: Decimal | None = None
    rounded: Decimal | None = None
    floors: Floors | None = None
    proposed: Decimal | None = None
    change: Decimal | None = None


Guardrail = Callable[[Inputs, Computed], Finding | None]


def block(code: FindingCode, detail: str) -> Finding:
    """A finding that nobody but the two-person exception can lift."""
    return Finding(code, Verdict.BLOCK, detail)


def review(code: FindingCode, detail: str) -> Finding:
    """A finding that a reviewer can settle."""
    return Finding(code, Verdict.REVIEW, detail)
