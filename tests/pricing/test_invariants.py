"""What no decision may ever do, over many random ones: the hard promises of the pricing core."""

from __future__ import annotations

import random
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricecrawl.pricing.decision import Decision
from pricecrawl.pricing.findings import Verdict
from tests.pricing.random_cases import DECIMALS, Case, make
from tests.shared import examples


def check(case: Case, made: Decision) -> None:
    """Every promise at once, against whole-number arithmetic that shares nothing with the engine."""
    scale = DECIMALS[case.subject.currency]
    computed = made.computed
    snapshot = made.inputs.market

    # From eligible offers alone, all others with a reason.
    assert {item.offer.offer_id for item in snapshot.eligible} == case.good
    assert all(item.reasons for item in snapshot.excluded)
    assert len(snapshot.eligible) + len(snapshot.excluded) == len(case.offers)
    assert snapshot.winner is None or snapshot.winner.offer.offer_id in case.good
    assert _units(snapshot.price, scale) == case.market

    # The right price: never under a floor, never between two steps.
    assert _units(computed.proposed, scale) == case.proposed
    if computed.proposed is not None:
        assert case.floor is not None
        assert computed.floors is not None
        assert _units(computed.floors.allowed, scale) == case.floor
        assert _units(computed.proposed, scale) >= case.floor

    # The right verdict: ALLOW means that nothing at all was found.
    if case.must_block:
        assert made.verdict is Verdict.BLOCK
    elif case.must_review:
        assert made.verdict is Verdict.REVIEW
    assert (made.verdict is Verdict.ALLOW) == (not made.findings)


def _units(amount: Decimal | None, scale: int) -> int | None:
    """`amount` in units of the quantum; fails when it lies between two."""
    if amount is None:
        return None
    units = amount.scaleb(scale)
    assert units == int(units)
    return int(units)


def test_random_decisions_keep_every_promise() -> None:
    count = examples(20_000, 2_000_000)
    seen = dict.fromkeys(Verdict, 0)
    for seed in range(count // 1000):
        rng = random.Random(seed)
        for _ in range(1000):
            case = make(rng)
            made = case.decide()
            check(case, made)
            seen[made.verdict] += 1
    # The generator must reach all three, or it proves little.
    assert min(seen.values()) > count // 50, seen


@given(st.integers(min_value=0, max_value=2**64 - 1))
@settings(max_examples=examples(200, 5_000), deadline=None, suppress_health_check=list(HealthCheck))
def test_hypothesis_decisions_keep_every_promise_and_repeat_byte_for_byte(seed: int) -> None:
    case = make(random.Random(seed))
    made = case.decide()
    check(case, made)
    again = make(random.Random(seed))
    again.offers = tuple(reversed(again.offers))
    assert again.decide().canonical() == made.canonical()


AMOUNTS = st.decimals(min_value="0.0001", max_value="999999", places=4)


@given(
    cogs=AMOUNTS,
    fulfilment=AMOUNTS,
    payment=AMOUNTS,
    margin=st.decimals(min_value=0, max_value="0.9999", places=4),
    step=st.sampled_from(["1", "0.01", "0.001"]),
    map_price=st.none() | AMOUNTS,
    regulatory=st.none() | AMOUNTS,
)
@settings(max_examples=examples(300, 20_000), deadline=None)
def test_the_allowed_floor_is_the_smallest_step_that_no_bound_is_over(
    cogs: Decimal,
    fulfilment: Decimal,
    payment: Decimal,
    margin: Decimal,
    step: str,
    map_price: Decimal | None,
    regulatory: Decimal | None,
) -> None:
    from fractions import Fraction

    from pricecrawl.pricing.floors import compute, violated
    from tests.pricing.factories import cost

    paid = cost(
        cogs=str(cogs),
        fulfilment=fulfilment,
        payment=payment,
        map_price=map_price,
        regulatory_floor=regulatory,
    )
    floors = compute(paid, margin, Decimal(step))
    variable = Fraction(cogs) + Fraction(fulfilment) + Fraction(payment)
    bounds = [variable, variable / (1 - Fraction(margin))]
    bounds += [Fraction(bound) for bound in (map_price, regulatory) if bound is not None]
    unit = Fraction(step)
    smallest = -(-max(bounds) // unit) * unit
    assert Fraction(floors.allowed) == smallest
    assert violated(floors, floors.allowed) == ()
    assert Fraction(floors.margin_floor) >= bounds[1]
    assert floors.binding
    if smallest - unit > 0:
        assert set(violated(floors, floors.allowed - Decimal(step))) == set(floors.binding)
