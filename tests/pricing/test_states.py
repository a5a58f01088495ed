from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricecrawl.pricing.states import EXCEPTION_TRANSITIONS, TRANSITIONS, IllegalTransition, State, advance

# The chain of the contracts, written down a second time.
_CHAIN = """
    COLLECTION_PENDING COLLECTED EXTRACTED NORMALIZED MAPPING_PENDING MAPPED MARKET_PRICE_READY
    PRICE_COMPUTED POLICY_EVALUATED APPROVED PUBLISH_PENDING PUBLISHING PUBLISHED VERIFYING VERIFIED
    ROLLBACK_PENDING ROLLED_BACK
"""
CHAIN = _CHAIN.split()


def test_every_state_has_a_row_and_every_move_leads_to_a_state() -> None:
    assert set(TRANSITIONS) == set(State)
    assert all(target in State for targets in TRANSITIONS.values() for target in targets)


def test_the_chain_is_legal_from_end_to_end() -> None:
    state = State(CHAIN[0])
    for name in CHAIN[1:]:
        state = advance(state, State(name))
    assert state is State.ROLLED_BACK


def test_every_pair_that_is_not_in_the_table_raises_and_says_so() -> None:
    for current, target in itertools.product(State, State):
        if target in TRANSITIONS[current]:
            assert advance(current, target) is target
        else:
            with pytest.raises(IllegalTransition, match=f"{current.value} and cannot become {target.value}"):
                advance(current, target)


def test_a_block_is_lifted_by_the_exception_path_alone() -> None:
    with pytest.raises(IllegalTransition):
        advance(State.BLOCKED, State.APPROVED)
    assert advance(State.BLOCKED, State.APPROVED, exception=True) is State.APPROVED
    assert set(EXCEPTION_TRANSITIONS) == {State.BLOCKED}


@given(st.lists(st.sampled_from(list(State)), max_size=40))
def test_no_walk_reaches_the_shop_without_an_approval(walk: list[State]) -> None:
    state, approved = State.COLLECTION_PENDING, False
    for target in walk:
        try:
            state = advance(state, target)
        except IllegalTransition:
            continue
        approved |= state is State.APPROVED
        if state in {State.PUBLISH_PENDING, State.PUBLISHING, State.PUBLISHED, State.VERIFIED}:
            assert approved


def test_no_path_of_the_table_reaches_publishing_around_approved() -> None:
    """The walk above samples; this looks at every path."""
    reached, todo = {State.COLLECTION_PENDING}, [State.COLLECTION_PENDING]
    while todo:
        for target in TRANSITIONS[todo.pop()] - reached - {State.APPROVED}:
            reached.add(target)
            todo.append(target)
    assert not reached & {State.PUBLISH_PENDING, State.PUBLISHING, State.PUBLISHED, State.VERIFIED}
