"""How a run ended: the one rule, without Scrapy and without a clock."""

from __future__ import annotations

from dataclasses import dataclass

from pricecrawl.domain.run import Coverage, CoverageReason, RunOutcome, RunResult, shrunk

# Reasons that Scrapy's own extensions close with, when a person set the limit: they saw a part of the shop.
_LIMITS = frozenset(
    {
        "closespider_itemcount",
        "closespider_pagecount",
        "closespider_timeout",
        "closespider_pagecount_no_item",
        "closespider_timeout_no_item",
    }
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when the spider has closed.

    `close_reason` is Scrapy's; `stopped` and `stop_detail` are set if we ended the run ourselves.
    `claimed` is what the spider says it covered, with its words for it and its notes. `pages`, `listings`
    count good pages and distinct listings stored; `outages` pages that no retry could fetch, `lost_pages`
    those among them that the spider does not know of; `callback_errors` exceptions in callbacks and
    pipelines; `forbidden` requests that robots refused and the spider does not know of; `last_complete` the
    listings of the last COMPLETE run, `min_listings` the row's expectation.
    """

    close_reason: str
    stopped: RunOutcome | None = None
    stop_detail: str = ""
    claimed: CoverageReason = CoverageReason.PARTIAL
    claimed_detail: str = ""
    notes: str = ""
    total: int | None = None
    pages: int = 0
    listings: int = 0
    outages: int = 0
    lost_pages: int = 0
    callback_errors: int = 0
    forbidden: int = 0
    last_complete: int | None = None
    min_listings: int | None = None


def conclude(facts: Facts) -> RunResult:
    """The run's outcome and coverage; COMPLETE only if nothing speaks against it."""
    outcome, detail = _outcome(facts)
    return RunResult(
        outcome=outcome,
        reason=_coverage(facts, outcome),
        listings=facts.listings,
        expected_total=facts.total,
        detail=detail,
    )


def _outcome(facts: Facts) -> tuple[RunOutcome, str]:
    if facts.stopped is not None:
        return facts.stopped, facts.stop_detail
    reason = facts.close_reason
    if reason in _LIMITS:
        return RunOutcome.FINISHED, f"ended at a limit set for this run ({reason})"
    if reason == "shutdown":
        return RunOutcome.INTERRUPTED, "ended early by a signal"
    if reason == "start_error":
        return RunOutcome.ERROR, "the spider failed while it was starting; the log has the traceback"
    if reason != "finished":
        return RunOutcome.ERROR, f"the spider closed itself: {facts.notes or reason}"
    if facts.pages == 0 and facts.outages:
        return RunOutcome.UNAVAILABLE, f"no page could be fetched ({facts.outages} failed)"
    if facts.callback_errors and not facts.listings:
        return RunOutcome.ERROR, f"the spider could not read any page ({facts.callback_errors} failed)"
    if facts.callback_errors:
        return (
            RunOutcome.FINISHED,
            f"{facts.callback_errors} pages or listings could not be read; the log has the tracebacks",
        )
    return RunOutcome.FINISHED, facts.claimed_detail


def _coverage(facts: Facts, outcome: RunOutcome) -> CoverageReason:
    if outcome is RunOutcome.BLOCKED:
        return CoverageReason.REFUSED
    if outcome is not RunOutcome.FINISHED:
        return CoverageReason.PARTIAL
    if facts.close_reason in _LIMITS:
        return CoverageReason.CAPPED
    if facts.claimed.coverage is Coverage.PARTIAL:
        return facts.claimed
    if facts.callback_errors or facts.lost_pages:
        return CoverageReason.PARTIAL
    if facts.forbidden:
        return CoverageReason.SCOPED
    too_few = facts.min_listings is not None and facts.listings < facts.min_listings
    if too_few or shrunk(facts.listings, facts.last_complete):
        return CoverageReason.SHRUNK
    return facts.claimed
