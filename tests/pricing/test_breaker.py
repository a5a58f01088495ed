from __future__ import annotations

from decimal import Decimal

from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.breaker import Moved, canaries, move, tripped
from pricecrawl.pricing.policy import Settings
from tests.pricing.factories import cost, decision, offer, subject

SETTINGS = Settings(breaker_min_moves=10)


def test_only_allowed_moves_count() -> None:
    assert move(decision(offer("20.00"), subject=subject("20.50"))) == Decimal("0.50")
    assert move(decision(offer("20.00"), subject=subject("20.00"))) == 0
    assert move(decision(offer("20.00"), subject=subject("30.00"))) == 0  # in review
    assert move(decision(offer("20.00"), cost=None)) == 0  # blocked


def test_the_share_of_skus_trips_the_breaker() -> None:
    at_limit = Moved(skus=30, amount=Decimal(1), total_skus=100, total_amount=Decimal(10000))
    assert tripped(at_limit, SETTINGS) is None
    found = tripped(Moved(31, Decimal(1), 100, Decimal(10000)), SETTINGS)
    assert found is not None
    assert found.code is FindingCode.MASS_CHANGE
    assert "31 of 100" in found.detail


def test_the_moved_value_trips_the_breaker() -> None:
    assert tripped(Moved(10, Decimal(1000), 1000, Decimal(10000)), SETTINGS) is None
    assert tripped(Moved(10, Decimal("1000.01"), 1000, Decimal(10000)), SETTINGS) is not None


def test_a_small_catalogue_may_move_all_at_once() -> None:
    assert tripped(Moved(9, Decimal(9), 9, Decimal(9)), SETTINGS) is None


def test_moves_add_up() -> None:
    moves = [decision(offer("20.00"), subject=subject("20.50")), decision(offer("20.00"), cost=cost("1"))]
    assert Moved(1, Decimal(2), 5, Decimal(100)).plus(moves) == Moved(3, Decimal(3), 5, Decimal(100))


def test_canaries_are_a_few_of_a_large_batch_and_always_the_same() -> None:
    keys = [f"decision-{n}" for n in range(200)]
    chosen = canaries(keys, Settings())
    assert len(chosen) == 10
    assert chosen < set(keys)
    assert canaries(list(reversed(keys)), Settings()) == chosen
    assert canaries(keys[:49], Settings()) == frozenset(keys[:49])
