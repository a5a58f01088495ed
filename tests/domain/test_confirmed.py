"""What a person confirmed stays answered while the page says the same, and not a moment longer."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.confirmed import Confirmed, answered
from pricecrawl.domain.observation import Observation
from tests.factories import an_observation

SAID = Confirmed(
    price=Decimal("29.90"),
    currency="EUR",
    original_price=Decimal("39.90"),
    member_price=None,
    availability=Availability.IN_STOCK,
    reasons=frozenset({"stock_conflict", "original_tie"}),
    confirmed_at=datetime(2026, 3, 13, tzinfo=UTC),
)


def doubted(price: str | None = "29.90", **changes: Any) -> Observation:
    values = {
        "needs_review": True,
        "review_reasons": ("stock_conflict", "original_tie"),
        "original_price": Decimal("39.90"),
    }
    return an_observation(price=price, **(values | changes))


def test_the_same_doubts_about_the_confirmed_price_are_answered_and_it_is_said() -> None:
    seen = answered(doubted(), SAID)
    assert (seen.needs_review, seen.review_reasons, seen.price) == (False, (), Decimal("29.90"))
    assert seen.trace[-1] == (
        "A person confirmed 29.90 EUR on 2026-03-13 in sight of the same doubts "
        "(stock_conflict, original_tie): nothing is new."
    )
    assert not answered(doubted(review_reasons=("original_tie",)), SAID).needs_review


@pytest.mark.parametrize(
    "news",
    [
        {"price": "29.80"},
        {"price": None},
        {"currency": "USD"},
        {"review_reasons": ("stock_conflict", "member_tie")},
        {"availability": Availability.OUT_OF_STOCK},
        {"original_price": Decimal("49.90")},
    ],
)
def test_anything_new_is_asked(news: dict[str, Any]) -> None:
    seen = doubted(**news)
    assert answered(seen, SAID) is seen


def test_only_what_a_doubt_is_about_has_to_be_the_same() -> None:
    tie = doubted(review_reasons=("original_tie",), availability=Availability.OUT_OF_STOCK)
    assert not answered(tie, SAID).needs_review
    stock = doubted(review_reasons=("stock_conflict",), original_price=None)
    assert not answered(stock, SAID).needs_review


def test_without_a_word_or_a_doubt_nothing_changes() -> None:
    calm = an_observation(price="29.90")
    assert answered(calm, SAID) is calm
    assert answered(doubted(), None).needs_review
