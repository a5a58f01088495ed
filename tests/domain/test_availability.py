"""Deciding between stock readings."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.availability import Availability, StockReading, decide
from tests.shared import examples

IN, OUT, PRE, UNKNOWN = (
    Availability.IN_STOCK,
    Availability.OUT_OF_STOCK,
    Availability.PRE_ORDER,
    Availability.UNKNOWN,
)


def says(value: Availability, method: str, confidence: float, text: str = "") -> StockReading:
    return StockReading(value, method, confidence, text=text)


def test_nothing_read_is_an_answer_of_its_own() -> None:
    assert decide([]).value is UNKNOWN
    assert decide([says(UNKNOWN, "phrase", 0.5)]).value is UNKNOWN
    assert not decide([]).conflict


def test_s3_unknown_readings_say_nothing() -> None:
    assert decide([says(UNKNOWN, "rule", 0.95), says(IN, "phrase", 0.5)]).value is IN


@pytest.mark.parametrize(
    ("readings", "value"),
    [
        ([says(PRE, "pre-order-price", 0.96), says(IN, "json-ld", 0.90)], PRE),
        ([says(OUT, "custom-css", 0.95), says(IN, "json-ld", 0.90)], OUT),
        ([says(IN, "custom-css", 0.95), says(OUT, "json-ld", 0.90)], IN),
        ([says(OUT, "json-ld", 0.90), says(IN, "generic-css", 0.85)], OUT),
        ([says(OUT, "generic-css", 0.85), says(IN, "phrase", 0.50)], OUT),
    ],
)
def test_the_order_of_stock_readings(readings: list[StockReading], value: Availability) -> None:
    for order in permutations(readings):
        assert decide(order).value is value


def test_s1_a_contradiction_is_told_and_flagged() -> None:
    decision = decide([says(OUT, "json-ld", 0.90), says(IN, "generic-css", 0.85, "Add to cart")])
    assert decision.conflict
    assert "generic-css" in decision.reason
    assert "in_stock" in decision.reason


def test_what_the_page_shows_overrules_its_markup_with_a_reason() -> None:
    decision = decide([says(IN, "json-ld", 0.90), says(OUT, "generic-css", 0.85, "Sold out")])
    assert decision.value is OUT
    assert decision.conflict
    assert "overrules in_stock by json-ld" in decision.reason
    assert "Sold out" in decision.reason


def test_a_mere_phrase_does_not_overrule_markup() -> None:
    decision = decide([says(IN, "json-ld", 0.90), says(OUT, "phrase", 0.50, "sold out")])
    assert (decision.value, decision.conflict) == (IN, False)
    assert "although phrase" in decision.reason


@pytest.mark.parametrize(
    ("readings", "value", "conflict"),
    [
        ([says(OUT, "custom-stock", 0.95), says(IN, "json-ld", 0.90)], OUT, False),
        ([says(OUT, "custom-stock", 0.95), says(IN, "json-ld", 0.90), says(IN, "control", 0.85)], OUT, False),
        ([says(IN, "custom-stock", 0.95), says(OUT, "json-ld", 0.90)], IN, False),
        ([says(PRE, "custom-stock", 0.95), says(IN, "control", 0.85)], PRE, False),
        ([says(IN, "custom-stock", 0.95), says(OUT, "control", 0.85)], IN, True),
        ([says(PRE, "custom-stock", 0.95), says(OUT, "stock-text", 0.85)], PRE, True),
        ([says(IN, "custom-stock", 0.95), says(OUT, "custom-stock", 0.95)], OUT, True),
        ([says(OUT, "pre-order-price", 0.96), says(IN, "json-ld", 0.90)], OUT, True),
    ],
)
def test_a_rule_written_for_the_shop_is_no_question_for_a_person(
    readings: list[StockReading], value: Availability, conflict: bool
) -> None:
    """Whoever wrote it knew what the markup says; only a claim that the page visibly denies is doubted."""
    for order in permutations(readings):
        decision = decide(order)
        assert (decision.value, decision.conflict) == (value, conflict)
        assert "although" in decision.reason


def test_equally_sure_readings_never_claim_that_it_can_be_bought() -> None:
    decision = decide([says(IN, "custom-css", 0.95), says(OUT, "custom-regex", 0.95)])
    assert (decision.value, decision.conflict) == (OUT, True)


readings = st.lists(
    st.builds(
        StockReading,
        st.sampled_from(list(Availability)),
        st.sampled_from(["json-ld", "microdata", "custom-css", "generic-css", "phrase"]),
        st.sampled_from([0.5, 0.85, 0.9, 0.95]),
        st.sampled_from(["", ".a"]),
    ),
    max_size=6,
)


@settings(max_examples=examples(500, 100_000), deadline=None)
@given(readings, st.randoms(use_true_random=False))
def test_the_order_of_readings_never_matters(found, random) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    assert decide(shuffled) == decide(found)


@settings(max_examples=examples(500, 100_000), deadline=None)
@given(readings)
def test_an_agreeing_reading_never_changes_the_answer(found) -> None:
    before = decide(found)
    if before.value is not UNKNOWN:
        assert decide([*found, StockReading(before.value, "custom-css", 0.95)]).value is before.value
