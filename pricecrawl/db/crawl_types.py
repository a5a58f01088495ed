"""What goes into and comes out of the crawl store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pricecrawl.domain.observation import EvidenceRef


@dataclass(frozen=True, slots=True)
class SourceState:
    """Operational state of a source. `held_reason` is set while a hold stops it."""

    slug: str
    enabled: bool
    identity_mode: str
    disabled_reason: str | None
    next_due: datetime | None
    changed_by: str | None = None
    changed_at: datetime | None = None
    held_reason: str | None = None

    @property
    def may_run(self) -> bool:
        """True unless the source is switched off or held."""
        return self.enabled and self.held_reason is None


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One stored response. `kind` is `page`, `robots`, `feed`, … as the writer was told."""

    ref: EvidenceRef
    status: int
    kind: str = "page"


@dataclass(frozen=True, slots=True)
class RejectionRow:
    """One listing that normalization did not let in. `reason` is a value of RejectionReason."""

    source_sku: str
    url: str
    reason: str
    detail: str
    rejected_at: datetime
    evidence: EvidenceRef | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What one batch changed. `listings` counts those seen for the first time in this run."""

    inserted: int = 0
    listings: int = 0
    new_listings: int = 0
    price_changes: int = 0
    stock_changes: int = 0
    reviews: int = 0


@dataclass(frozen=True, slots=True)
class MissedListing:
    """A listing that a third COMPLETE run in a row did not see and that is now out of stock."""

    listing_id: int
    source_sku: str
    previous: str


@dataclass(frozen=True, slots=True)
class GoneResult:
    """Where a listing stands after its page said that it is gone.

    `paused` is true from the third result in a row; `newly_paused` only for the result that made it
    so, which is the one to tell people about.
    """

    streak: int
    paused: bool
    newly_paused: bool


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the table has it, for status pages and the next run's judgement."""

    run_id: int
    source: str
    outcome: str
    coverage: str | None
    coverage_reason: str | None
    listings: int
    started_at: datetime
    heartbeat_at: datetime | None
    finished_at: datetime | None
    detail: str
