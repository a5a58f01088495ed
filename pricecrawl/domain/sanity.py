"""Whether a chosen price can be believed, judged on its own merits after the choice.

Out of stock, a page often shows a leftover or another product's price, so the price must be more
than a lone or vague reading and stay near the last accepted one, else there is no price. In stock a
wild move keeps the price but asks a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method
from pricecrawl.domain.consensus_groups import money
from pricecrawl.domain.reasons import ReviewReason

GENERIC_CONFIDENCE_FLOOR = 0.85
DRIFT_LOW, DRIFT_HIGH = Decimal("0.5"), Decimal(2)
FALL_LIMIT, RISE_LIMIT = Decimal("0.3"), Decimal(3)
FACTOR_LOW, FACTOR_HIGH = Decimal(80), Decimal(125)
"""A move by about one hundred either way is a misplaced decimal separator or a minor unit."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last accepted price of a listing, and the availability it had then."""

    price: Decimal | None
    currency: str | None = None
    availability: Availability = Availability.UNKNOWN


@dataclass(frozen=True, slots=True)
class Finding:
    """One doubt about a price: the reason, a sentence, and whether the price may not stand at all."""

    reason: ReviewReason
    sentence: str
    withhold: bool = False


def trusted_when_out_of_stock(method: Method) -> bool:
    """Whether one method's price may stand while the item is out of stock. Exhaustive on purpose."""
    match method:
        case (
            Method.JSON_LD
            | Method.MICRODATA
            | Method.RDFA
            | Method.OPENGRAPH
            | Method.EMBEDDED
            | Method.API
            | Method.BUY_BOX
            | Method.CUSTOM_CSS
            | Method.CUSTOM_REGEX
            | Method.DEAL_PRICE
            | Method.MEMBER_PRICE
            | Method.PRE_ORDER_PRICE
            | Method.ORIGINAL_PRICE
            | Method.EXPERT_AI
            | Method.EXPERT_MANUAL
        ):
            return True
        case Method.GENERIC_CSS:
            return False
        case _:
            assert_never(method)


def is_out_of_stock(availability: Availability) -> bool:
    """Nothing can be bought: the stricter guardrails apply."""
    return availability in (Availability.OUT_OF_STOCK, Availability.NOT_AVAILABLE)


def judge(
    *,
    price: Decimal,
    currency: str | None,
    method: Method,
    confidence: float,
    sources: frozenset[tuple[Method, str]],
    availability: Availability,
    anchor: Anchor | None,
) -> list[Finding]:
    """Every doubt about a chosen price; empty when there is none.

    `method` and `confidence` are those of the chosen candidate; `sources` are the distinct
    (method, selector) pairs that agree with it, counted anew after any preference: an empty set
    means that nothing corroborates.
    """
    findings: list[Finding] = []
    out = is_out_of_stock(availability)
    if out:
        findings += _out_of_stock(method, confidence, sources)
    if anchor is not None and anchor.price is not None and anchor.price > 0:
        findings += _against_anchor(price, currency, anchor.price, anchor.currency, out=out)
    return findings


def _out_of_stock(method: Method, confidence: float, sources: frozenset[tuple[Method, str]]) -> list[Finding]:
    if method is Method.JSON_LD and len(sources) <= 1:
        return [
            Finding(
                ReviewReason.SINGLE_SOURCE_OUT_OF_STOCK,
                "Out of stock, and only one JSON-LD reading gives the price: no price is taken.",
                withhold=True,
            )
        ]
    if not trusted_when_out_of_stock(method) and confidence < GENERIC_CONFIDENCE_FLOOR:
        return [
            Finding(
                ReviewReason.LOW_CONFIDENCE_OUT_OF_STOCK,
                f"Out of stock, and a vague selector ({confidence:.2f}) gives the price: no price is taken.",
                withhold=True,
            )
        ]
    return []


def _against_anchor(
    price: Decimal, currency: str | None, last: Decimal, last_currency: str | None, *, out: bool
) -> list[Finding]:
    if currency and last_currency and currency != last_currency:
        return [
            Finding(
                ReviewReason.CURRENCY_CONFLICT,
                f"The last accepted price was in {last_currency}, this one is in {currency}.",
            )
        ]
    ratio = price / last
    move = f"{money(price, currency)} against the last accepted {money(last, last_currency)}"
    if FACTOR_LOW <= ratio <= FACTOR_HIGH or 1 / FACTOR_HIGH <= ratio <= 1 / FACTOR_LOW:
        way = "times" if ratio > 1 else "a part in"
        return [
            Finding(
                ReviewReason.FACTOR_100,
                f"{move}: about {way} one hundred, as a lost decimal separator gives.",
                withhold=out,
            )
        ]
    if out and not DRIFT_LOW <= ratio <= DRIFT_HIGH:
        return [
            Finding(
                ReviewReason.ANCHOR_DRIFT,
                f"Out of stock, and {move} is outside 50 % to 200 %: no price is taken.",
                withhold=True,
            )
        ]
    if not out and (ratio < FALL_LIMIT or ratio > RISE_LIMIT):
        return [
            Finding(
                ReviewReason.IMPLAUSIBLE_MOVE,
                f"{move} is a move beyond -70 % or +200 %: a person must look.",
            )
        ]
    return []
