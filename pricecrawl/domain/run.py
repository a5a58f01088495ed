"""One crawl of one source: how it ended and how much of the shop it saw."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RunOutcome(StrEnum):
    """How a run ended. RUNNING is the only open state; at most one open run per source."""

    RUNNING = "running"
    FINISHED = "finished"
    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"
    ERROR = "error"
    HELD = "held"
    INTERRUPTED = "interrupted"


class Coverage(StrEnum):
    """Only COMPLETE moves a miss counter."""

    COMPLETE = "complete"
    PARTIAL = "partial"


class CoverageReason(StrEnum):
    """Why a run is COMPLETE (first two) or PARTIAL (the rest)."""

    COUNTED = "counted"
    EXHAUSTED = "exhausted"
    CAPPED = "capped"
    SCOPED = "scoped"
    PARTIAL = "partial"
    REFUSED = "refused"
    SHRUNK = "shrunk"

    @property
    def coverage(self) -> Coverage:
        """COMPLETE for `counted` and `exhausted`, PARTIAL for every other reason."""
        complete = self in (CoverageReason.COUNTED, CoverageReason.EXHAUSTED)
        return Coverage.COMPLETE if complete else Coverage.PARTIAL


MISSES_BEFORE_OUT_OF_STOCK = 3
GONE_BEFORE_NOT_AVAILABLE = 3
SHRINK_LIMIT = 0.5

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_REFUSED, EXIT_PROBLEMS = 0, 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a finished run knows about itself; counts are of this run alone."""

    outcome: RunOutcome
    reason: CoverageReason
    listings: int = 0
    expected_total: int | None = None
    detail: str = ""

    @property
    def coverage(self) -> Coverage:
        """COMPLETE or PARTIAL, from the reason."""
        return self.reason.coverage

    @property
    def may_count_misses(self) -> bool:
        """Only a run that ended well with COMPLETE coverage may count misses."""
        return self.outcome is RunOutcome.FINISHED and self.coverage is Coverage.COMPLETE


def shrunk(listings: int, last_complete: int | None) -> bool:
    """True when a run saw fewer than half of the last COMPLETE run's listings."""
    return last_complete is not None and listings < last_complete * SHRINK_LIMIT


def exit_code(outcome: RunOutcome) -> int:
    """Process exit code of a run: 0 finished, 3 refused or unavailable to us, 1 anything else."""
    if outcome is RunOutcome.FINISHED:
        return EXIT_DONE
    return EXIT_REFUSED if outcome is RunOutcome.BLOCKED else EXIT_FAILED
