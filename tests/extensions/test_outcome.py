"""The one rule of how a run ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pricecrawl.domain.run import Coverage, CoverageReason, RunOutcome
from pricecrawl.extensions.outcome import Facts, conclude

GOOD = Facts("finished", claimed=CoverageReason.EXHAUSTED, pages=10, listings=100, last_complete=100)


def test_a_good_run_may_count_misses() -> None:
    result = conclude(GOOD)
    assert (result.outcome, result.reason) == (RunOutcome.FINISHED, CoverageReason.EXHAUSTED)
    assert result.may_count_misses
    assert result.detail == ""


@pytest.mark.parametrize(
    ("change", "outcome", "reason"),
    [
        ({"claimed": CoverageReason.PARTIAL}, RunOutcome.FINISHED, CoverageReason.PARTIAL),
        ({"claimed": CoverageReason.CAPPED}, RunOutcome.FINISHED, CoverageReason.CAPPED),
        ({"lost_pages": 1, "outages": 1}, RunOutcome.FINISHED, CoverageReason.PARTIAL),
        ({"callback_errors": 1}, RunOutcome.FINISHED, CoverageReason.PARTIAL),
        ({"callback_errors": 3, "listings": 0}, RunOutcome.ERROR, CoverageReason.PARTIAL),
        ({"forbidden": 1}, RunOutcome.FINISHED, CoverageReason.SCOPED),
        ({"listings": 49}, RunOutcome.FINISHED, CoverageReason.SHRUNK),
        ({"listings": 50}, RunOutcome.FINISHED, CoverageReason.EXHAUSTED),
        ({"listings": 99, "min_listings": 100}, RunOutcome.FINISHED, CoverageReason.SHRUNK),
        ({"listings": 100, "min_listings": 100}, RunOutcome.FINISHED, CoverageReason.EXHAUSTED),
        ({"listings": 0, "last_complete": None}, RunOutcome.FINISHED, CoverageReason.EXHAUSTED),
        ({"pages": 0, "outages": 4, "listings": 0}, RunOutcome.UNAVAILABLE, CoverageReason.PARTIAL),
        ({"close_reason": "closespider_itemcount"}, RunOutcome.FINISHED, CoverageReason.CAPPED),
        ({"close_reason": "closespider_timeout"}, RunOutcome.FINISHED, CoverageReason.CAPPED),
        ({"close_reason": "shutdown"}, RunOutcome.INTERRUPTED, CoverageReason.PARTIAL),
        ({"close_reason": "start_error"}, RunOutcome.ERROR, CoverageReason.PARTIAL),
        ({"close_reason": "memusage_exceeded"}, RunOutcome.ERROR, CoverageReason.PARTIAL),
        ({"close_reason": "closespider_errorcount"}, RunOutcome.ERROR, CoverageReason.PARTIAL),
        ({"close_reason": "currency_mismatch"}, RunOutcome.ERROR, CoverageReason.PARTIAL),
    ],
)
def test_everything_else_counts_none_or_says_so(
    change: dict[str, object], outcome: RunOutcome, reason: CoverageReason
) -> None:
    result = conclude(replace(GOOD, **change))  # type: ignore[arg-type]
    assert (result.outcome, result.reason) == (outcome, reason)
    assert result.may_count_misses == (
        outcome is RunOutcome.FINISHED and reason.coverage is Coverage.COMPLETE
    )


@pytest.mark.parametrize(
    "outcome", [RunOutcome.BLOCKED, RunOutcome.UNAVAILABLE, RunOutcome.HELD, RunOutcome.ERROR]
)
def test_a_run_that_was_stopped_is_what_stopped_it_and_never_complete(outcome: RunOutcome) -> None:
    result = conclude(replace(GOOD, close_reason="finished", stopped=outcome, stop_detail="because"))
    assert result.outcome is outcome
    assert result.coverage is Coverage.PARTIAL
    assert result.reason is (
        CoverageReason.REFUSED if outcome is RunOutcome.BLOCKED else CoverageReason.PARTIAL
    )
    assert result.detail == "because"
    assert not result.may_count_misses


def test_a_spider_that_closes_itself_says_why_in_its_own_words() -> None:
    facts = replace(GOOD, close_reason="currency_mismatch", notes="the row says EUR, the shop says USD")
    assert conclude(facts).detail == "the spider closed itself: the row says EUR, the shop says USD"


def test_a_partial_run_says_what_it_did_not_see() -> None:
    facts = replace(GOOD, claimed=CoverageReason.CAPPED, claimed_detail="the feed ends at 25000 products")
    assert conclude(facts).detail == "the feed ends at 25000 products"
