"""What must hold for any candidates: order, agreement and foreign currencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Candidate, Method, PriceKind, confidence_of, weight_of
from pricecrawl.domain.consensus import PRIMARY_KINDS, Anchor, Consensus, Preference, settle, settle_all
from pricecrawl.domain.consensus_groups import agree, groups, score
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.reasons import ReviewReason
from tests.shared import examples

COUNT = examples(300, 100_000)
SETTINGS = settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck))

# Few distinct amounts, so that groups, ties, VAT rates, discounts and slips of a factor 100 all happen.
AMOUNTS = [
    *(Decimal(n) for n in (1, 10, 20, 80, 100, 119, 121, 125, 2500, 2501, 10000)),
    *(Decimal(cents) / 100 for cents in (500, 524, 749, 750, 999, 1210, 2420, 4999, 10005, 10010, 10015)),
]
SELECTORS = ["", ".a", ".b"]
CURRENCIES = ["EUR", "USD", "GBP", "JPY"]
KINDS = [*[PriceKind.STANDARD] * 4, *PriceKind]
TAXES = [*[TaxBasis.UNKNOWN] * 4, TaxBasis.INCLUSIVE, TaxBasis.EXCLUSIVE]
METHODS = list(Method)
PARTS = (KINDS, AMOUNTS, METHODS, SELECTORS, TAXES)
SIZE = math.prod(len(part) for part in PARTS)
amounts = st.sampled_from(AMOUNTS) | st.decimals("0.01", "20000", places=2)


def candidates(currencies: Sequence[str | None]) -> st.SearchStrategy[Candidate]:
    """One integer decides a whole candidate: a hundred thousand examples stay affordable."""

    def decode(number: int) -> Candidate:
        picked = []
        for part in (currencies, *PARTS):
            number, place = divmod(number, len(part))
            picked.append(part[place])
        currency, kind, amount, method, selector, tax = picked
        return Candidate(
            kind=kind,
            amount=amount,
            currency=currency,
            method=method,
            selector=selector,
            confidence=confidence_of(method),
            weight=weight_of(method),
            tax_basis=tax,
        )

    return st.integers(0, SIZE * len(currencies) - 1).map(decode)


mixed = st.lists(candidates(["EUR", "EUR", "EUR", None, "USD", "GBP"]), max_size=9)
anchors = st.none() | st.builds(
    Anchor, st.none() | amounts, st.sampled_from(["EUR", "EUR", "USD", None]), st.just(Availability.IN_STOCK)
)
preferences = st.none() | st.builds(
    Preference, st.sampled_from(list(Method)), st.none() | st.sampled_from(SELECTORS)
)
markets = st.builds(
    Market,
    st.sampled_from([None, "NL", "SE", "US"]),
    st.sampled_from(["EUR", "EUR", "USD", None]),
    st.none(),
    st.sampled_from([TaxBasis.UNKNOWN] * 3 + [TaxBasis.EXCLUSIVE]),
)
situation = st.fixed_dictionaries(
    {
        "availability": st.sampled_from(list(Availability)),
        "anchor": anchors,
        "preference": preferences,
        "market": markets,
    }
)


def winner(result: Consensus) -> tuple[object, ...]:
    return (result.price, result.currency, result.kind, result.method, result.selector, result.by_preference)


@SETTINGS
@given(mixed, situation, st.randoms(use_true_random=False))
def test_permuting_candidates_never_changes_the_result(found, around, random) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    assert settle(shuffled, **around) == settle(found, **around)


@SETTINGS
@given(st.lists(candidates(["EUR"] * 9 + [None]), min_size=1, max_size=2), situation)
def test_a_lone_price_is_settled_as_any_number_of_them(found, around) -> None:
    """The short way of a feed's entries says the same words as the long one."""
    around |= {"market": Market("NL", "EUR"), "preference": None}
    assert repr(settle(found, **around)) == repr(settle_all(found, **around))


@SETTINGS
@given(
    mixed,
    situation,
    st.sampled_from(list(Method)),
    st.sampled_from(SELECTORS),
    st.sampled_from(PRIMARY_KINDS),
)
def test_an_agreeing_candidate_never_lowers_a_result_to_review(found, around, method, selector, kind) -> None:
    before = settle(found, **around)
    assume(before.price is not None and not before.needs_review)
    assert before.kind is not None
    more = Candidate(
        kind=before.kind if method in (Method.MEMBER_PRICE, Method.ORIGINAL_PRICE) else kind,
        amount=before.price,
        currency=before.currency,
        method=method,
        selector=selector,
        confidence=confidence_of(method),
        weight=weight_of(method),
    )
    after = settle([*found, more], **around)
    assert not after.needs_review, (before.trace, after.trace)
    assert agree(after.price, before.price, before.currency)
    assert after.sources >= before.sources


@SETTINGS
@given(mixed, situation, candidates(CURRENCIES))
def test_a_candidate_in_another_currency_never_changes_the_winner(found, around, more) -> None:
    """The market or the last accepted price says which currency counts, so nothing else may."""
    market, last = around["market"], around["anchor"]
    before = settle(found, **around)
    decided = market.currency or (last.currency if last else None)
    assume(before.price is not None and before.currency == decided is not None)
    assume(more.currency != before.currency)
    assert winner(settle([*found, more], **around)) == winner(before)


@SETTINGS
@given(mixed, candidates(CURRENCIES))
def test_without_a_market_a_foreign_candidate_is_outweighed_or_a_review(found, more) -> None:
    assume(all(c.currency for c in found))
    before = settle(found)
    assume(before.price is not None and before.currency is not None and more.currency != before.currency)
    after = settle([*found, more])
    primary = [c for c in [*found, more] if c.kind in PRIMARY_KINDS]
    weight = {name: score(c for c in primary if c.currency == name) for name in CURRENCIES}
    heavier = weight[more.currency] > 2 * weight[before.currency]
    conflict = ReviewReason.CURRENCY_CONFLICT in after.review_reasons
    assert winner(after) == winner(before) or conflict or heavier


@SETTINGS
@given(mixed, situation)
def test_a_result_is_consistent(found, around) -> None:
    result = settle(found, **around)
    assert result.needs_review is bool(result.review_reasons)
    assert (result.price is None) == (result.kind is None) == (result.method is None)
    if result.price is not None:
        assert result.kind in PRIMARY_KINDS
        shown = [c for c in found if c.amount == result.price and c.currency in (result.currency, None)]
        assert any(c.method.value == result.method and c.kind is result.kind for c in shown)
        assert result.sources >= 1
    assert sorted(map(repr, result.candidates)) == sorted(map(repr, found))


@SETTINGS
@given(st.lists(amounts, max_size=12), st.sampled_from(CURRENCIES))
def test_groups_are_maximal_and_agree_pairwise(values, currency) -> None:
    template = Candidate(PriceKind.STANDARD, Decimal(1), currency, Method.JSON_LD)
    found = [replace(template, amount=value, selector=str(n)) for n, value in enumerate(values)]
    made = groups(found, currency)
    covered = {c for group in made for c in group.members}
    assert covered == set(found)
    for group in made:
        inside = [c.amount for c in group.members]
        assert all(agree(a, b, currency) for a in inside for b in inside)
        assert not any(
            all(agree(c.amount, a, currency) for a in inside) for c in covered - set(group.members)
        )


TRUTH, LIE = Decimal("49.99"), Decimal("37.50")
TELLERS = [method for method in METHODS if method not in (Method.MEMBER_PRICE, Method.ORIGINAL_PRICE)]
ORDINARY = [method for method in TELLERS if method not in (Method.DEAL_PRICE, Method.PRE_ORDER_PRICE)]
# A deal by a shop's own rule takes the price by design; every other single voice may lie.
sources = st.tuples(st.sampled_from(ORDINARY), st.sampled_from(SELECTORS))


@SETTINGS
@given(
    st.lists(sources, min_size=2, max_size=5, unique=True),
    sources,
    st.sampled_from([PriceKind.STANDARD, PriceKind.STANDARD, PriceKind.SALE]),
    situation,
)
def test_one_lying_source_never_wins_with_confidence_against_two_that_agree(
    honest, liar, kind, around
) -> None:
    """Right or a review, whatever the methods and weights, unless a person or the last price says so."""
    assume(liar not in honest and around["preference"] is None and around["anchor"] is None)

    def says(amount: Decimal, source: tuple[Method, str], of: PriceKind = PriceKind.STANDARD) -> Candidate:
        method, selector = source
        return Candidate(of, amount, "EUR", method, selector, confidence_of(method), weight_of(method))

    # A deal is doubted by what the page shows, so one of the honest sources has to be the page itself.
    if kind is PriceKind.SALE:
        assume(
            any(method in (Method.BUY_BOX, Method.CUSTOM_CSS, Method.CUSTOM_REGEX) for method, _ in honest)
        )
    result = settle([*(says(TRUTH, source) for source in honest), says(LIE, liar, kind)], **around)
    assert result.price == TRUTH or result.needs_review, result.trace
