"""What a person confirmed of a listing stays answered while its page says the same.

A saved preference settles which reading wins, but some doubts are about the page and not about the choice:
two list prices that stand equal, markup and button that disagree about stock, a shop that shows a foreign
currency. The person saw them, and asking again at every crawl would keep a known price out of use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.consensus_groups import money
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.reasons import ReviewReason


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The price that a person confirmed, what the page said beside it, and the doubts that they saw."""

    price: Decimal
    currency: str | None
    original_price: Decimal | None
    member_price: Decimal | None
    availability: Availability
    reasons: frozenset[str]
    confirmed_at: datetime


def answered(seen: Observation, confirmed: Confirmed | None) -> Observation:
    """The observation without its doubts if a person confirmed its price in sight of the same doubts.

    Another price or another doubt is news, and so is another value of what a doubt is about; then nothing
    is answered.
    """
    if confirmed is None or not seen.needs_review or seen.price is None:
        return seen
    doubts = frozenset(seen.review_reasons)
    if (seen.price, seen.currency) != (confirmed.price, confirmed.currency) or doubts - confirmed.reasons:
        return seen
    about = {
        ReviewReason.STOCK_CONFLICT: seen.availability is confirmed.availability,
        ReviewReason.ORIGINAL_TIE: seen.original_price == confirmed.original_price,
        ReviewReason.MEMBER_TIE: seen.member_price == confirmed.member_price,
    }
    if not all(same for reason, same in about.items() if reason in doubts):
        return seen
    day = f"{confirmed.confirmed_at:%Y-%m-%d}"
    sentence = (
        f"A person confirmed {money(seen.price, seen.currency)} on {day} in sight "
        f"of the same doubts ({', '.join(seen.review_reasons)}): nothing is new."
    )
    return replace(seen, needs_review=False, review_reasons=(), trace=(*seen.trace, sentence))
