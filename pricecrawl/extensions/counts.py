"""What a run did, in numbers and reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pricecrawl.domain.reasons import RefusalReason, RejectionReason


@dataclass(frozen=True, slots=True)
class Refusal:
    """A shop said no to us, once; `detail` names the rule or the status."""

    reason: RefusalReason
    url: str
    detail: str


@dataclass(slots=True)
class Counts:
    """Counts of one run.

    `pages` are good responses; `lost_pages` those no retry could fetch and no errback heard of,
    `forbidden` those that robots refused in the same way;
    `missing` listings that this run found out of stock by their third absence.
    """

    pages: int = 0
    lost_pages: int = 0
    forbidden: int = 0
    listings: int = 0
    observations: int = 0
    new_listings: int = 0
    price_changes: int = 0
    stock_changes: int = 0
    reviews: int = 0
    gone: int = 0
    missing: int = 0
    callback_errors: int = 0
    evidence_records: int = 0
    evidence_bytes: int = 0
    rejections: Counter[RejectionReason] = field(default_factory=Counter)
    refusals: Counter[RefusalReason] = field(default_factory=Counter)
    outages: Counter[str] = field(default_factory=Counter)
    leftovers: Counter[str] = field(default_factory=Counter)

    def numbers(self) -> dict[str, int]:
        """Every count under a stable name, `what` or `what/reason`; zeros of reasons are left out."""
        found: dict[str, int] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, Counter):
                found |= {f"{name}/{getattr(key, 'value', key)}": count for key, count in value.items()}
            else:
                found[name] = value
        return found
