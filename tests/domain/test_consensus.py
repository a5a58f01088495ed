"""Each known defect of consensus engines is a test that names it."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations

import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method, PriceKind, Tier, weight_of
from pricecrawl.domain.consensus import Agreement, Anchor, Preference, settle
from pricecrawl.domain.consensus_groups import agree, groups, is_visible
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.domain.sanity import trusted_when_out_of_stock
from tests.domain.consensus_cases import read

EUR = Market(currency="EUR")
OUT = Availability.OUT_OF_STOCK
IN = Availability.IN_STOCK


def anchor(price: str, currency: str = "EUR") -> Anchor:
    return Anchor(Decimal(price), currency, IN)


def reasons(result) -> set[str]:
    return {reason.value for reason in result.review_reasons}


# --- Stage A: priority paths ------------------------------------------------------------------------


def test_a_deal_takes_the_price_ahead_of_heavier_standard_prices() -> None:
    result = settle(
        [
            read("49.99", Method.JSON_LD),
            read("49.99", Method.CUSTOM_CSS, ".p"),
            read("39.99", Method.DEAL_PRICE, ".sale", tier=Tier.ROW),
            read("45.00", Method.PRE_ORDER_PRICE, ".pre"),
        ]
    )
    assert (result.price, result.kind, result.method) == (Decimal("39.99"), PriceKind.SALE, "deal-price")
    assert result.pre_order_price == Decimal("45.00")
    assert not result.needs_review


def test_a_pre_order_price_comes_next() -> None:
    result = settle([read("60", Method.JSON_LD), read("55", Method.PRE_ORDER_PRICE, ".pre")])
    assert (result.price, result.kind) == (Decimal(55), PriceKind.PRE_ORDER)


def test_member_and_list_prices_are_kept_beside_and_are_never_the_price() -> None:
    result = settle(
        [
            read("189", Method.BUY_BOX),
            read("155", Method.MEMBER_PRICE, ".club"),
            read("210", Method.ORIGINAL_PRICE, ".was"),
        ]
    )
    assert (result.price, result.member_price, result.original_price) == (189, 155, 210)
    alone = settle(
        [read("155", Method.MEMBER_PRICE, ".club"), read("210", Method.ORIGINAL_PRICE, ".was")],
        availability=IN,
    )
    assert alone.price is None
    assert (alone.member_price, alone.original_price, alone.currency) == (155, 210, "EUR")
    assert reasons(alone) == {"no_consensus"}


def test_nothing_read_of_a_page_without_a_price_is_no_review() -> None:
    result = settle([], availability=OUT, market=EUR)
    assert (result.price, result.currency, result.needs_review, result.agreement) == (
        None,
        None,
        False,
        Agreement.NONE,
    )


@pytest.mark.parametrize(
    ("deal", "tier", "reason"),
    [
        ("59.99", Tier.ROW, "sources_disagree"),
        ("9.99", Tier.ROW, "implausible_move"),
        ("29.99", Tier.ROW, None),
        ("29.99", Tier.LEARNED, None),
        ("29.99", Tier.GLOBAL, "sources_disagree"),
        ("49.99", Tier.GLOBAL, None),
    ],
)
def test_c1_a_lone_deal_is_compared_with_the_standard_prices(
    deal: str, tier: Tier, reason: str | None
) -> None:
    """A shop's own rule is believed against the visible price; one word of anybody else is not."""
    standard = [read("49.99", Method.JSON_LD), read("49.99", Method.BUY_BOX)]
    result = settle([*standard, read(deal, Method.DEAL_PRICE, ".d", tier=tier)])
    assert result.price == Decimal(deal)
    assert reasons(result) == ({reason} if reason else set())


def test_a_deal_beside_markup_that_lags_is_no_doubt() -> None:
    page = [read("49.99", Method.JSON_LD), read("29.99", Method.DEAL_PRICE, ".d", tier=Tier.GLOBAL)]
    assert not settle(page).needs_review
    two = [read("49.99", Method.BUY_BOX), *page, read("29.99", Method.DEAL_PRICE, ".e", tier=Tier.GLOBAL)]
    assert (settle(two).price, settle(two).needs_review) == (Decimal("29.99"), False)


def test_c1_a_lone_deal_is_compared_with_the_last_price() -> None:
    assert reasons(settle([read("10", Method.DEAL_PRICE, ".d")], anchor=anchor("100"))) == {
        "implausible_move"
    }
    assert reasons(settle([read("70", Method.DEAL_PRICE, ".d")], anchor=anchor("100"))) == set()


# --- groups: currency, tolerance, order -------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "currency", "same"),
    [
        ("5.00", "5.24", "EUR", False), ("2500", "2501", "EUR", True), ("7.49", "7.5", "EUR", True),
        ("19.99", "20", "EUR", True), ("0.99", "1.00", "EUR", True), ("0.05", "0.06", "EUR", False),
        ("100", "101", "JPY", True), ("50", "51", "JPY", False), ("1299", "1298.50", "EUR", True),
        ("100", "104", "EUR", False), ("1.500", "1.501", "KWD", True), ("1.500", "1.510", "KWD", False),
        ("12.345", "12.345", None, True), ("49.99", "49.89", "EUR", False),
    ],
)  # fmt: skip
def test_c2_tolerance_is_scaled(a: str, b: str, currency: str | None, same: bool) -> None:
    assert agree(Decimal(a), Decimal(b), currency) is same
    assert agree(Decimal(b), Decimal(a), currency) is same


def test_c2_a_group_agrees_pairwise_whatever_the_order() -> None:
    chain = [read(amount, Method.JSON_LD, amount) for amount in ("1000", "1000.9", "1001.8", "1002.7")]
    found = {frozenset(c.amount for c in group.members) for group in groups(chain, "EUR")}
    for order in permutations(chain):
        again = groups(list(order), "EUR")
        assert {frozenset(c.amount for c in group.members) for group in again} == found
        for group in again:
            assert all(agree(a.amount, b.amount, "EUR") for a in group.members for b in group.members)


@pytest.mark.parametrize("market", [EUR, Market()])
def test_e10_equal_numbers_of_two_currencies_are_two_prices(market: Market) -> None:
    result = settle(
        [
            read("100", Method.JSON_LD),
            read("100", Method.BUY_BOX),
            read("100", Method.OPENGRAPH, currency="USD"),
        ],
        market=market,
    )
    assert (result.currency, result.sources, result.needs_review) == ("EUR", 2, False)


def test_a_market_decides_the_currency_even_against_the_weight() -> None:
    candidates = [read("40", Method.BUY_BOX), read("45", Method.JSON_LD, currency="USD")]
    result = settle(candidates, market=EUR)
    assert (result.price, result.currency) == (40, "EUR")
    assert reasons(result) == {"currency_conflict"}
    assert settle(candidates, anchor=anchor("40")).currency == "EUR"
    assert settle(candidates).currency == "USD"


def test_a_page_wholly_in_a_foreign_currency_is_a_review() -> None:
    result = settle([read("45", Method.JSON_LD, currency="USD")], market=EUR)
    assert (result.price, result.currency, reasons(result)) == (45, "USD", {"currency_conflict"})


def test_e17_a_missing_currency_is_the_markets_or_stays_unknown() -> None:
    bare = [read("45", Method.EMBEDDED, currency=None)]
    assert settle(bare, market=EUR).currency == "EUR"
    unknown = settle(bare)
    assert (unknown.price, unknown.currency, reasons(unknown)) == (45, None, {"currency_unknown"})


def test_amounts_without_a_currency_join_the_one_that_is_known() -> None:
    result = settle([read("45", Method.JSON_LD), read("45.00", Method.EMBEDDED, currency=None)])
    assert (result.currency, result.sources, result.agreement) == ("EUR", 2, Agreement.CORROBORATED)


def test_the_anchors_currency_is_compared_before_its_amount() -> None:
    result = settle([read("45", Method.JSON_LD, currency="USD")], anchor=anchor("45", "EUR"))
    assert reasons(result) == {"currency_conflict"}


# --- Stage B: the vote ------------------------------------------------------------------------------


def test_p4_a_rule_that_hits_a_hundred_times_votes_once() -> None:
    many = [read("12", Method.CUSTOM_CSS, ".p", text=str(n)) for n in range(100)]
    result = settle([*many, read("15", Method.JSON_LD)])
    assert result.price == 15
    assert "weighs 1.5" in result.trace[0]


def test_one_vote_per_method_and_selector() -> None:
    result = settle(
        [read("12", Method.CUSTOM_CSS, ".a"), read("12", Method.CUSTOM_CSS, ".b"), read("15", Method.JSON_LD)]
    )
    assert result.price == 12


def test_e9_a_single_source_is_called_one() -> None:
    result = settle([read("12", Method.JSON_LD)])
    assert (result.agreement, result.sources) == (Agreement.SINGLE_SOURCE, 1)
    assert any("single source" in sentence for sentence in result.trace)
    assert not result.needs_review


def test_c3_a_tie_is_a_review_and_never_simply_the_lowest() -> None:
    tied = [read(a, Method.CUSTOM_CSS, s) for a, s in (("10", ".a"), ("20", ".b"), ("30", ".c"))]
    result = settle(tied)
    assert result.price == 20
    assert "tie" in reasons(result)


def test_c3_a_tie_is_settled_when_exactly_one_group_agrees_with_the_anchor() -> None:
    tied = [read("10", Method.CUSTOM_CSS, ".a"), read("20", Method.CUSTOM_CSS, ".b")]
    assert (settle(tied, anchor=anchor("20")).price, reasons(settle(tied, anchor=anchor("20")))) == (
        20,
        set(),
    )
    near = settle(tied, anchor=anchor("18"))
    assert (near.price, "tie" in reasons(near)) == (20, True)


def test_a_tie_in_the_deal_path_is_a_review_too() -> None:
    result = settle([read("10", Method.DEAL_PRICE, ".a"), read("12", Method.DEAL_PRICE, ".b")])
    assert "tie" in reasons(result)


@pytest.mark.parametrize(
    "others",
    [
        [Method.BUY_BOX, Method.OPENGRAPH],
        [Method.BUY_BOX, Method.GENERIC_CSS],
        [Method.OPENGRAPH, Method.MICRODATA],
        [Method.GENERIC_CSS, Method.GENERIC_CSS],
        [Method.CUSTOM_CSS, Method.GENERIC_CSS],
        [Method.EMBEDDED, Method.GENERIC_CSS],
    ],
)
def test_one_lying_json_ld_never_wins_with_confidence_against_two_that_agree(others: list[Method]) -> None:
    truth = [read("80", method, f".s{n}") for n, method in enumerate(others)]
    result = settle([read("100", Method.JSON_LD), *truth])
    assert result.price == 80 or result.needs_review


def test_the_visible_price_against_the_markup_alone_is_a_review() -> None:
    markup = [read("150", method) for method in (Method.JSON_LD, Method.OPENGRAPH, Method.EMBEDDED)]
    result = settle([*markup, read("120", Method.BUY_BOX)])
    assert reasons(result) == {"sources_disagree"}


def test_a_stray_vague_reading_does_not_disturb_a_price() -> None:
    result = settle([read("100", Method.JSON_LD), read("9", Method.GENERIC_CSS, ".ship")])
    assert (result.price, result.needs_review) == (100, False)


def test_vague_readings_alone_are_a_review() -> None:
    result = settle([read("9", Method.GENERIC_CSS, ".a"), read("9", Method.GENERIC_CSS, ".b")])
    assert (result.price, reasons(result)) == (9, {"low_confidence"})
    assert not settle([read("9", Method.GENERIC_CSS, ".a")], anchor=anchor("9")).needs_review


def test_markup_that_repeats_the_struck_price_gives_way() -> None:
    result = settle(
        [
            read("49.99", Method.JSON_LD),
            read("49.99", Method.OPENGRAPH),
            read("49.99", Method.ORIGINAL_PRICE, "del"),
            read("29.99", Method.BUY_BOX, "ins"),
        ]
    )
    assert (result.price, result.original_price, result.needs_review) == (
        Decimal("29.99"),
        Decimal("49.99"),
        False,
    )


def test_markup_that_repeats_the_members_price_gives_way() -> None:
    result = settle(
        [read("155", Method.JSON_LD), read("155", Method.MEMBER_PRICE, ".club"), read("189", Method.BUY_BOX)]
    )
    assert (result.price, result.member_price, result.needs_review) == (189, 155, False)


def test_a_member_price_does_not_make_a_list_price_an_impostor() -> None:
    result = settle(
        [
            read("155", Method.JSON_LD),
            read("250", Method.OPENGRAPH),
            read("155", Method.MEMBER_PRICE, ".club"),
            read("250", Method.ORIGINAL_PRICE, ".was"),
        ]
    )
    assert (result.price, result.member_price, result.original_price) == (250, 155, None)


def test_the_exact_amount_speaks_for_a_rounded_one() -> None:
    assert settle(
        [read("20", Method.JSON_LD), read("19.99", Method.BUY_BOX), read("19.99", Method.CUSTOM_CSS)]
    ).price == Decimal("19.99")


# --- member and list ------------------------------------------------------------------------------------


def test_e8_the_member_price_is_the_surest_of_the_largest_group() -> None:
    base = read("20", Method.JSON_LD)
    large = [
        read("15", Method.MEMBER_PRICE, ".a"),
        read("15", Method.MEMBER_PRICE, ".b"),
        read("12", Method.MEMBER_PRICE, ".c"),
    ]
    for order in permutations(large):
        assert settle([*order, base]).member_price == 15
    sure = [
        read("12", Method.MEMBER_PRICE, ".a", confidence=0.9),
        read("15", Method.MEMBER_PRICE, ".b", confidence=0.95),
    ]
    assert settle([*sure, base]).member_price == 15


@pytest.mark.parametrize(
    ("method", "reason", "amounts", "kept"),
    [
        (Method.MEMBER_PRICE, "member_tie", ("15", "12"), 15),
        (Method.ORIGINAL_PRICE, "original_tie", ("30", "40"), 30),
    ],
)
def test_e8_ties_of_secondary_prices_are_flagged(
    method: Method, reason: str, amounts: tuple[str, str], kept: int
) -> None:
    base = read("20", Method.JSON_LD)
    result = settle([base, read(amounts[0], method, ".a"), read(amounts[1], method, ".b")])
    assert reasons(result) == {reason}
    assert (result.member_price or result.original_price) == kept


def test_a_list_price_below_the_price_says_nothing() -> None:
    assert (
        settle([read("20", Method.JSON_LD), read("18", Method.ORIGINAL_PRICE, ".was")]).original_price is None
    )
    assert settle([read("20", Method.JSON_LD), read("25", Method.MEMBER_PRICE, ".club")]).member_price is None


def test_e3_member_and_list_prices_take_no_part_in_the_vote() -> None:
    secondary = [read("15", Method.MEMBER_PRICE, f".m{n}") for n in range(9)] + [
        read("30", Method.ORIGINAL_PRICE, f".o{n}") for n in range(9)
    ]
    result = settle([read("20", Method.OPENGRAPH), *secondary])
    assert (result.price, result.sources) == (20, 1)


# --- tax ---------------------------------------------------------------------------------------------


def test_the_price_with_vat_is_the_price() -> None:
    result = settle(
        [
            read("100", Method.JSON_LD, tax_basis=TaxBasis.EXCLUSIVE),
            read("100", Method.MICRODATA, tax_basis=TaxBasis.EXCLUSIVE),
            read("121", Method.BUY_BOX, tax_basis=TaxBasis.INCLUSIVE),
        ]
    )
    assert (result.price, result.tax_basis, result.needs_review) == (121, TaxBasis.INCLUSIVE, False)


def test_a_clear_vote_for_the_gross_price_needs_no_guess_at_the_net_one() -> None:
    """The page showing what two kinds of markup agree on may not turn a sure price into a doubt."""
    market = Market("SE", "EUR")
    found = [
        read("125", Method.JSON_LD, ".a"),
        read("125", Method.RDFA),
        read("100", Method.JSON_LD, ".b"),
    ]
    assert (settle(found, market=market).price, settle(found, market=market).needs_review) == (125, False)
    for shown in (Method.BUY_BOX, Method.CUSTOM_CSS, Method.CUSTOM_REGEX):
        result = settle([*found, read("125", shown)], market=market)
        assert (result.price, reasons(result)) == (125, set())


def test_an_amount_that_may_be_net_is_a_doubt_where_it_would_win_or_contradict() -> None:
    market = Market("SE", "EUR")
    for markup in ([Method.JSON_LD], [Method.JSON_LD, Method.MICRODATA, Method.RDFA]):
        found = [*(read("100", method) for method in markup), read("125", Method.BUY_BOX)]
        result = settle(found, market=market)
        assert (result.price, reasons(result)) == (125, {"tax_basis_conflict"})


def test_a_trade_market_takes_the_price_without_vat() -> None:
    result = settle(
        [
            read("100", Method.BUY_BOX, tax_basis=TaxBasis.EXCLUSIVE),
            read("121", Method.JSON_LD, tax_basis=TaxBasis.INCLUSIVE),
        ],
        market=Market("NL", "EUR", tax_basis=TaxBasis.EXCLUSIVE),
    )
    assert (result.price, result.tax_basis, result.needs_review) == (100, TaxBasis.EXCLUSIVE, False)


@pytest.mark.parametrize("country", ["NL", None])
def test_unlabelled_markup_is_known_as_net_by_the_rate(country: str | None) -> None:
    shown = read("5.95", Method.BUY_BOX, tax_basis=TaxBasis.INCLUSIVE)
    result = settle(
        [read("4.92", Method.MICRODATA), read("4.92", Method.JSON_LD), shown], market=Market(country)
    )
    assert (result.price, result.needs_review) == (Decimal("5.95"), False)
    assert any("without 21 % VAT" in sentence for sentence in result.trace)


def test_a_rate_without_a_label_is_also_a_review() -> None:
    result = settle([read("80", Method.JSON_LD), read("100", Method.BUY_BOX)], market=Market("SE", "EUR"))
    assert (result.price, reasons(result)) == (100, {"tax_basis_conflict"})


def test_a_difference_that_is_no_rate_is_a_plain_disagreement() -> None:
    shown = read("130", Method.BUY_BOX, tax_basis=TaxBasis.INCLUSIVE)
    assert "sources_disagree" in reasons(
        settle([read("100", Method.JSON_LD), shown], market=Market("NL", "EUR"))
    )


def test_one_amount_labelled_both_ways_is_a_review() -> None:
    both = [
        read("100", Method.BUY_BOX, tax_basis=TaxBasis.INCLUSIVE),
        read("100", Method.JSON_LD, tax_basis=TaxBasis.EXCLUSIVE),
    ]
    assert reasons(settle(both)) == {"tax_basis_conflict"}


# --- preference -----------------------------------------------------------------------------------------


def test_fe15_a_saved_choice_is_honoured_over_a_deal() -> None:
    result = settle(
        [
            read("762.50", Method.DEAL_PRICE, ".deal"),
            read("812.32", Method.CUSTOM_CSS, ".now"),
            read("700", Method.JSON_LD),
        ],
        preference=Preference(Method.CUSTOM_CSS, ".now"),
    )
    assert (result.price, result.by_preference, result.needs_review) == (Decimal("812.32"), True, False)
    assert any("honoured" in s for s in result.trace)
    assert any("overrides 762.50 EUR by deal-price .deal" in s for s in result.trace)


def test_fe15_a_stale_choice_falls_through() -> None:
    plain = [read("20", Method.JSON_LD)]
    result = settle(plain, preference=Preference(Method.CUSTOM_CSS, ".gone"))
    assert (result.price, result.by_preference) == (20, False)
    assert any("matched no candidate" in s for s in result.trace)


def test_a_choice_whose_selector_moved_still_names_its_method() -> None:
    result = settle(
        [read("20", Method.CUSTOM_CSS, ".new"), read("25", Method.JSON_LD)],
        preference=Preference(Method.CUSTOM_CSS, ".old"),
    )
    assert (result.price, result.by_preference) == (20, True)


def test_a_choice_whose_selector_moved_to_another_price_is_doubted_unless_it_was_accepted() -> None:
    """The chosen `.now` is gone and the shop's rule for the old price is of the same method."""
    page = [
        read("49.99", Method.CUSTOM_CSS, ".was"),
        read("29.99", Method.JSON_LD),
        read("29.99", Method.BUY_BOX),
    ]
    saved = Preference(Method.CUSTOM_CSS, ".now")
    result = settle(page, preference=saved, anchor=anchor("29.99"))
    assert (result.price, reasons(result)) == (Decimal("49.99"), {"sources_disagree"})
    assert any("Nobody has confirmed" in s for s in result.trace)
    assert reasons(settle(page, preference=saved)) == {"sources_disagree"}
    assert not settle(page, preference=saved, anchor=anchor("49.99")).needs_review
    exact = Preference(Method.CUSTOM_CSS, ".was")
    assert not settle(page, preference=exact, anchor=anchor("29.99")).needs_review
    moved = [read("31.00", Method.CUSTOM_CSS, ".new"), read("31.00", Method.JSON_LD)]
    assert not settle(moved, preference=saved, anchor=anchor("29.99")).needs_review


@pytest.mark.parametrize("method", [Method.MEMBER_PRICE, Method.ORIGINAL_PRICE])
def test_a_secondary_price_is_refused_as_a_choice(method: Method) -> None:
    result = settle(
        [read("20", Method.JSON_LD), read("15", method, ".x")], preference=Preference(method, ".x")
    )
    assert (result.price, result.by_preference) == (20, False)
    assert any("refused" in s for s in result.trace)


def test_a_choice_does_not_pick_a_secondary_price_of_another_method() -> None:
    club = read("15", Method.CUSTOM_CSS, ".club", kind=PriceKind.MEMBER)
    result = settle([read("20", Method.JSON_LD), club], preference=Preference(Method.CUSTOM_CSS))
    assert (result.price, result.by_preference) == (20, False)


def test_a_choice_with_several_prices_takes_the_one_near_the_anchor_or_falls_through() -> None:
    two = [
        read("20", Method.CUSTOM_CSS, ".p"),
        read("30", Method.CUSTOM_CSS, ".p"),
        read("25", Method.JSON_LD),
    ]
    chosen = settle(two, preference=Preference(Method.CUSTOM_CSS, ".p"), anchor=anchor("30"))
    assert (chosen.price, chosen.by_preference) == (30, True)
    open_ = settle(two, preference=Preference(Method.CUSTOM_CSS, ".p"))
    assert (open_.price, open_.by_preference) == (25, False)


def test_a_preference_selects_and_never_vouches() -> None:
    generic = [read("20", Method.GENERIC_CSS, ".p"), read("25", Method.JSON_LD)]
    result = settle(generic, preference=Preference(Method.GENERIC_CSS, ".p"), availability=OUT)
    assert (result.price, reasons(result)) == (None, {"low_confidence_out_of_stock"})
    wild = settle(
        generic, preference=Preference(Method.GENERIC_CSS, ".p"), availability=IN, anchor=anchor("2000")
    )
    assert reasons(wild) == {"factor_100"}


def test_o8_corroboration_is_counted_anew_after_a_preference() -> None:
    page = [
        read("20", Method.JSON_LD),
        read("30", Method.CUSTOM_CSS, ".a"),
        read("30", Method.CUSTOM_CSS, ".b"),
    ]
    alone = settle(page, availability=OUT, preference=Preference(Method.JSON_LD))
    assert (alone.price, reasons(alone)) == (None, {"single_source_out_of_stock"})
    kept = settle(
        [*page, read("20", Method.OPENGRAPH)], availability=OUT, preference=Preference(Method.JSON_LD)
    )
    assert (kept.price, kept.sources, kept.needs_review) == (20, 2, False)


# --- guardrails -----------------------------------------------------------------------------------------


def test_out_of_stock_a_lone_json_ld_price_is_withheld() -> None:
    result = settle([read("20", Method.JSON_LD)], availability=OUT)
    assert (result.price, result.method, result.kind, result.currency) == (None, None, None, None)
    assert reasons(result) == {"single_source_out_of_stock"}
    assert result.candidates[0].amount == 20
    assert settle([read("20", Method.JSON_LD)], availability=IN).price == 20


def test_o2_no_known_source_is_no_corroboration() -> None:
    from pricecrawl.domain.sanity import judge

    found = judge(
        price=Decimal(20),
        currency="EUR",
        method=Method.JSON_LD,
        confidence=0.95,
        sources=frozenset(),
        availability=OUT,
        anchor=None,
    )
    assert [finding.reason for finding in found] == [ReviewReason.SINGLE_SOURCE_OUT_OF_STOCK]


def test_out_of_stock_a_vague_price_is_withheld_below_its_floor() -> None:
    low = settle([read("20", Method.GENERIC_CSS, ".p")], availability=OUT, anchor=anchor("20"))
    assert (low.price, reasons(low)) == (None, {"low_confidence_out_of_stock"})
    sure = settle(
        [read("20", Method.GENERIC_CSS, ".p", confidence=0.85)], availability=OUT, anchor=anchor("20")
    )
    assert (sure.price, reasons(sure)) == (20, set())


@pytest.mark.parametrize(
    ("price", "kept"), [("49", False), ("50", True), ("100", True), ("200", True), ("201", False)]
)
def test_o3_out_of_stock_drift_is_guarded_both_ways(price: str, kept: bool) -> None:
    result = settle([read(price, Method.BUY_BOX)], availability=OUT, anchor=anchor("100"))
    assert (result.price is not None) is kept
    assert reasons(result) == (set() if kept else {"anchor_drift"})


@pytest.mark.parametrize(
    ("price", "reason"),
    [
        ("29", "implausible_move"), ("30", None), ("300", None), ("301", "implausible_move"), ("100", None),
        ("1", "factor_100"), ("10050", "factor_100"), ("1000", "implausible_move"), ("10000", "factor_100"),
    ],
)  # fmt: skip
def test_in_stock_a_wild_move_keeps_the_price_and_asks(price: str, reason: str | None) -> None:
    result = settle([read(price, Method.BUY_BOX)], availability=IN, anchor=anchor("100"))
    assert result.price == Decimal(price)
    assert reasons(result) == ({reason} if reason else set())


def test_an_anchor_without_a_price_judges_nothing() -> None:
    assert not settle([read("20", Method.BUY_BOX)], availability=IN, anchor=Anchor(None, None)).needs_review


def test_c4_every_method_is_placed() -> None:
    for method in Method:
        assert trusted_when_out_of_stock(method) is (method is not Method.GENERIC_CSS)
        assert is_visible(method) in (True, False)
        assert weight_of(method) > 0


def test_every_choice_is_explained() -> None:
    result = settle(
        [
            read("20", Method.JSON_LD),
            read("20", Method.BUY_BOX, ".now", tier=Tier.ROW),
            read("25", Method.ORIGINAL_PRICE, ".was"),
        ]
    )
    assert result.trace == (
        "The vote of standard prices: 20 EUR (buy-box .now, json-ld) weighs 3.0.",
        "20 EUR by json-ld: 2 distinct sources agree.",
        "The list price is 25 EUR (original-price .was).",
    )


def test_a_model_only_suggests() -> None:
    alone = settle([read("20", Method.EXPERT_AI, ".p")])
    assert (alone.price, reasons(alone)) == (20, {"low_confidence"})
    against = settle(
        [read("20", Method.EXPERT_AI, ".p"), read("25", Method.JSON_LD), read("25", Method.BUY_BOX)]
    )
    assert against.needs_review
    agreeing = settle([read("25", Method.EXPERT_AI, ".p"), read("25", Method.JSON_LD)])
    assert (agreeing.price, agreeing.needs_review) == (25, False)
