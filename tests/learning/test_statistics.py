"""Statistics, promotion, eviction and cleaning of learned selectors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.candidate import Method, PriceKind, Tier
from pricecrawl.learning.statistics import (
    MAX_SELECTORS,
    PROMOTABLE,
    LearnedSelector,
    clean,
    evaluated_rules,
    evict,
    promote,
    record,
    winning_candidate,
)
from tests.domain.consensus_cases import read
from tests.shared import examples

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STANDARD = PriceKind.STANDARD


def entry(selector: str, matches: int = 0, failures: int = 0, days_ago: int | None = None) -> LearnedSelector:
    matched = None if days_ago is None else NOW - timedelta(days=days_ago)
    return LearnedSelector(STANDARD, selector, matches, failures, matched)


def names(selectors) -> list[str]:
    return [item.selector for item in selectors]


def test_the_winner_moves_to_the_top_and_its_failures_end() -> None:
    before = [entry(".a", 3), entry(".b", 5, 2), entry(".c", 1, 1)]
    after = record(before, winner=".b", evaluated=[".a", ".b", ".c"], now=NOW)
    assert names(after) == [".b", ".a", ".c"]
    assert [(e.match_count, e.consecutive_failures) for e in after] == [(6, 0), (3, 1), (1, 2)]
    assert (after[0].last_matched_at, after[1].last_matched_at) == (NOW, None)


def test_v3_a_rule_that_was_not_evaluated_is_not_penalised() -> None:
    after = record([entry(".a", 3), entry(".b", 5)], winner=".b", evaluated=[".b"], now=NOW)
    assert [(e.selector, e.consecutive_failures) for e in after] == [(".b", 0), (".a", 0)]


@pytest.mark.parametrize("winner", [None, ".unknown"])
def test_v2_without_a_known_winner_nothing_moves(winner: str | None) -> None:
    before = (entry(".a", 3), entry(".b", 5))
    after = record(before, winner=winner, evaluated=[], now=NOW)
    assert after == before


def test_two_spellings_of_a_rule_are_one() -> None:
    after = record([entry(".a"), entry("~x~")], winner="regex:/x/", evaluated=[".a", "~x~"], now=NOW)
    assert names(after) == ["~x~", ".a"]
    assert names(clean([entry("a|href"), entry("a::attr(href)")], [])) == ["a|href"]


def test_score_is_matches_less_twice_the_failures() -> None:
    assert entry(".a", 7, 3).score == 1


def test_v2_a_null_method_promotes_nothing() -> None:
    candidates = [read("20", Method.CUSTOM_CSS, ".now"), read("20", Method.JSON_LD)]
    assert winning_candidate(candidates, price=Decimal(20), currency="EUR", method=None) is None
    assert winning_candidate(candidates, price=None, currency="EUR", method=Method.CUSTOM_CSS) is None


@pytest.mark.parametrize("method", list(Method))
def test_only_rules_of_the_shop_are_promoted(method: Method) -> None:
    found = winning_candidate([read("20", method, ".x")], price=Decimal(20), currency="EUR", method=method)
    assert (found is not None) is (method in PROMOTABLE)
    no_rule = winning_candidate([read("20", method, "")], price=Decimal(20), currency="EUR", method=method)
    assert no_rule is None


def test_the_winning_candidate_is_the_one_that_read_the_price() -> None:
    candidates = [
        read("25", Method.CUSTOM_CSS, ".was"),
        read("20", Method.CUSTOM_CSS, ".now"),
        read("20", Method.CUSTOM_CSS, ".also"),
        read("20", Method.CUSTOM_CSS, ".usd", currency="USD"),
    ]

    def winner(selector: str) -> str | None:
        found = winning_candidate(
            candidates, price=Decimal(20), currency="EUR", method=Method.CUSTOM_CSS, selector=selector
        )
        return found.selector if found else None

    assert (winner(".now"), winner(".also"), winner(".was")) == (".now", ".also", ".also")


def test_a_confirmed_rule_leads_and_the_rows_rules_come_along() -> None:
    first = promote([], entry(".new"), shop_rules=[".row1", ".row2"], now=NOW)
    assert names(first) == [".new", ".row1", ".row2"]
    assert (first[0].match_count, first[1].created_by, first[0].created_at) == (1, "row", NOW)
    again = promote(first, entry(".row2"), shop_rules=[".row3"], now=NOW)
    assert names(again) == [".row2", ".new", ".row1"]
    assert [e.consecutive_failures for e in again] == [0, 0, 0]


def test_global_selectors_are_cleaned_out_of_a_sources_own() -> None:
    kept = promote([entry(".mine"), entry(".price")], entry(".new"), global_rules=[".price"], now=NOW)
    assert names(kept) == [".new", ".mine"]
    assert names(promote([entry(".mine")], entry(".price"), global_rules=[".price"], now=NOW)) == [".mine"]
    assert promote([], entry(".price"), shop_rules=[".row"], global_rules=[".price"], now=NOW) == ()


def test_v3_the_lowest_score_goes_and_not_the_oldest() -> None:
    full = [entry(f".s{n}", matches=n + 1) for n in range(MAX_SELECTORS)]
    full[4] = entry(".weak", 9, 8)
    kept = promote(full, entry(".new"), now=NOW)
    assert len(kept) == MAX_SELECTORS
    assert ".weak" not in names(kept)
    assert kept[0].selector == ".new"


def test_among_equal_scores_the_longest_unmatched_goes() -> None:
    full = [entry(f".s{n}", 2, days_ago=n) for n in range(MAX_SELECTORS + 1)]
    assert names(evict(full)) == [f".s{n}" for n in range(MAX_SELECTORS)]


def test_rules_count_as_evaluated_only_where_one_of_them_spoke() -> None:
    spoke = [read("20", Method.CUSTOM_CSS, ".a", tier=Tier.LEARNED)]
    assert evaluated_rules(spoke, [".a", ".b"], STANDARD) == (".a", ".b")
    assert evaluated_rules([read("20", Method.JSON_LD)], [".a", ".b"], STANDARD) == ()
    assert evaluated_rules(spoke, [".a"], PriceKind.SALE) == ()


@settings(max_examples=examples(200, 10_000), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdefghijklmn"), st.booleans(), st.booleans()), max_size=40))
def test_any_history_keeps_the_list_sound(steps) -> None:
    selectors: tuple[LearnedSelector, ...] = ()
    for letter, confirmed, all_evaluated in steps:
        rule = f".{letter}"
        if confirmed:
            selectors = promote(selectors, entry(rule), now=NOW)
            assert selectors[0].selector == rule
        else:
            known = rule in names(selectors)
            tried = names(selectors) if all_evaluated else [rule]
            selectors = record(selectors, winner=rule, evaluated=tried, now=NOW)
            assert not known or selectors[0].selector == rule
        assert len(selectors) <= MAX_SELECTORS
        assert len(set(names(selectors))) == len(selectors)
        assert not selectors or selectors[0].consecutive_failures >= 0
