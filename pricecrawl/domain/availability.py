"""What a shop says about stock, in six words.

"Cannot tell" (UNKNOWN) is an answer of its own: it never overwrites a known state and it is never
taken for IN_STOCK. The mapping from a shop's own words happens once, in the stock reader; an
unrecognised word is UNKNOWN and is counted, never a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Availability(StrEnum):
    """State of one listing; values are what the database, the API and the feeds carry."""

    IN_STOCK = "in_stock"
    OUT_OF_STOCK = "out_of_stock"
    PRE_ORDER = "pre_order"
    MEMBER_ONLY = "member_only"
    NOT_AVAILABLE = "not_available"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StockReading:
    """One reading of stock from a page or feed.

    `confidence` is 0..1: configured rule 0.95, schema.org 0.90, global rule 0.85, phrase 0.50.
    `text` is what the shop wrote; `method` and `selector` say where.
    """

    value: Availability
    method: str
    confidence: float
    selector: str = ""
    text: str = ""


CREDIBLE_STOCK = 0.85
"""Readings from here up may contradict each other; a phrase (0.50) is only a hint."""

MARKUP_METHODS = frozenset({"json-ld", "microdata", "rdfa", "opengraph", "schema-org", "embedded"})
"""Methods that read what the shop tells machines, not what it shows a visitor."""

OWN_RULES = frozenset({"custom-stock"})
"""Methods that a person wrote for this very shop, mostly because its markup or its buttons are wrong."""

# The more cautious state first: of equally sure readings, never claim that a thing can be bought.
_CAUTION = (
    Availability.NOT_AVAILABLE,
    Availability.OUT_OF_STOCK,
    Availability.MEMBER_ONLY,
    Availability.PRE_ORDER,
    Availability.IN_STOCK,
)


@dataclass(frozen=True, slots=True)
class StockDecision:
    """The state that was decided, a sentence saying why, and whether a person should look."""

    value: Availability
    reason: str
    conflict: bool = False


def decide(readings: Sequence[StockReading]) -> StockDecision:
    """Choose among stock readings: the surest that says something; UNKNOWN says nothing.

    A reading of the visible page (any method outside MARKUP_METHODS) of credible confidence that says
    the item cannot be bought, or only ordered ahead, overrules markup that says it can, unless the page
    also shows that it can be bought: markup is evidence, not truth. The order of the readings does not
    matter. `conflict` is set when credible readings contradict; the shop's own rule is contradicted by
    another such rule alone, or where it claims what the page visibly denies.
    """
    known = sorted(
        (r for r in readings if r.value is not Availability.UNKNOWN),
        key=lambda r: (-r.confidence, _CAUTION.index(r.value), r.method, r.selector, r.text),
    )
    if not known:
        return StockDecision(Availability.UNKNOWN, "Nothing on the page tells whether it can be bought.")
    best = known[0]
    credible = [r for r in known if r.confidence >= CREDIBLE_STOCK]
    overruled: StockReading | None = None
    if best.value is Availability.IN_STOCK and best.method in MARKUP_METHODS:
        shown = [r for r in credible if r.method not in MARKUP_METHODS]
        refusals = [r for r in shown if r.value in (*_CAUTION[:2], Availability.PRE_ORDER)]
        # A label that a style sheet may hide does not outweigh markup and an open order button together.
        if refusals and not any(r.value is Availability.IN_STOCK for r in shown):
            best, overruled = refusals[0], best
    others = [r for r in known if r.value is not best.value]
    against = [r for r in others if r.confidence >= CREDIBLE_STOCK]
    if best.method in OWN_RULES:
        claims = best.value not in _CAUTION[:2]
        against = [
            r
            for r in against
            if r.method in OWN_RULES
            or (claims and r.value in _CAUTION[:2] and r.method not in MARKUP_METHODS)
        ]
    conflict = bool(against)
    reason = f"{best.value.value} by {_where(best)} (confidence {best.confidence:.2f})"
    if overruled is not None:
        reason += f"; what the page shows overrules {overruled.value.value} by {_where(overruled)}"
    elif others:
        reason += f", although {_where(others[0])} says {others[0].value.value} ({others[0].confidence:.2f})"
    return StockDecision(best.value, reason + ".", conflict)


def _where(reading: StockReading) -> str:
    text = f" “{reading.text[:60]}”" if reading.text else ""
    return f"{reading.method} {reading.selector}".strip() + text
