"""Every legal move of a price on its way, in one table; anything else raises.

The chain is that of the contracts; recovery states are reached from the step that failed. A block
is lifted by the two-person exception alone, which is why its moves stand in a table of their own.
"""

from __future__ import annotations

from enum import StrEnum

from pricecrawl.domain.errors import PricecrawlError


class State(StrEnum):
    """Where an observation, and the price that comes of it, stands."""

    COLLECTION_PENDING = "COLLECTION_PENDING"
    COLLECTED = "COLLECTED"
    EXTRACTED = "EXTRACTED"
    NORMALIZED = "NORMALIZED"
    MAPPING_PENDING = "MAPPING_PENDING"
    MAPPED = "MAPPED"
    MAPPING_REVIEW = "MAPPING_REVIEW"
    MAPPING_REJECTED = "MAPPING_REJECTED"
    MARKET_PRICE_READY = "MARKET_PRICE_READY"
    PRICE_COMPUTED = "PRICE_COMPUTED"
    POLICY_EVALUATED = "POLICY_EVALUATED"
    BLOCKED = "BLOCKED"
    REVIEW_REQUIRED = "REVIEW_REQUIRED"
    APPROVED = "APPROVED"
    PUBLISH_PENDING = "PUBLISH_PENDING"
    PUBLISHING = "PUBLISHING"
    PUBLISHED = "PUBLISHED"
    VERIFYING = "VERIFYING"
    VERIFIED = "VERIFIED"
    VERIFICATION_FAILED = "VERIFICATION_FAILED"
    COLLECTION_FAILED = "COLLECTION_FAILED"
    EXTRACTION_FAILED = "EXTRACTION_FAILED"
    STALE = "STALE"
    PUBLISH_FAILED = "PUBLISH_FAILED"
    ROLLBACK_PENDING = "ROLLBACK_PENDING"
    ROLLED_BACK = "ROLLED_BACK"
    QUARANTINED = "QUARANTINED"


_S = State

TRANSITIONS: dict[State, frozenset[State]] = {
    _S.COLLECTION_PENDING: frozenset({_S.COLLECTED, _S.COLLECTION_FAILED}),
    _S.COLLECTION_FAILED: frozenset({_S.COLLECTION_PENDING}),
    _S.COLLECTED: frozenset({_S.EXTRACTED, _S.EXTRACTION_FAILED}),
    # A failed reading is put aside for a person, or read again after the reader was mended.
    _S.EXTRACTION_FAILED: frozenset({_S.QUARANTINED, _S.COLLECTED}),
    _S.EXTRACTED: frozenset({_S.NORMALIZED, _S.QUARANTINED}),
    _S.NORMALIZED: frozenset({_S.MAPPING_PENDING}),
    _S.MAPPING_PENDING: frozenset({_S.MAPPED, _S.MAPPING_REVIEW, _S.MAPPING_REJECTED}),
    _S.MAPPING_REVIEW: frozenset({_S.MAPPED, _S.MAPPING_REJECTED}),
    # A person may reopen a mapping, and a changed product does.
    _S.MAPPED: frozenset({_S.MARKET_PRICE_READY, _S.MAPPING_REVIEW, _S.MAPPING_REJECTED, _S.STALE}),
    _S.MAPPING_REJECTED: frozenset({_S.MAPPING_PENDING}),
    _S.MARKET_PRICE_READY: frozenset({_S.PRICE_COMPUTED, _S.STALE}),
    _S.PRICE_COMPUTED: frozenset({_S.POLICY_EVALUATED, _S.STALE}),
    _S.POLICY_EVALUATED: frozenset({_S.BLOCKED, _S.REVIEW_REQUIRED, _S.APPROVED}),
    # A reviewer approves or says no; a review that nobody took, or that a newer decision
    # overtook, is stale.
    _S.REVIEW_REQUIRED: frozenset({_S.APPROVED, _S.BLOCKED, _S.STALE}),
    # The mass-change breaker takes an approval back to review; a hold blocks it.
    _S.APPROVED: frozenset({_S.PUBLISH_PENDING, _S.REVIEW_REQUIRED, _S.BLOCKED, _S.STALE}),
    _S.PUBLISH_PENDING: frozenset({_S.PUBLISHING, _S.PUBLISH_FAILED, _S.BLOCKED, _S.STALE}),
    _S.PUBLISHING: frozenset({_S.PUBLISHED, _S.PUBLISH_FAILED, _S.QUARANTINED}),
    _S.PUBLISH_FAILED: frozenset({_S.PUBLISH_PENDING, _S.QUARANTINED, _S.STALE}),
    _S.PUBLISHED: frozenset({_S.VERIFYING}),
    _S.VERIFYING: frozenset({_S.VERIFIED, _S.VERIFICATION_FAILED}),
    _S.VERIFICATION_FAILED: frozenset({_S.VERIFYING, _S.ROLLBACK_PENDING, _S.QUARANTINED}),
    _S.VERIFIED: frozenset({_S.ROLLBACK_PENDING}),
    _S.ROLLBACK_PENDING: frozenset({_S.ROLLED_BACK, _S.QUARANTINED}),
    _S.ROLLED_BACK: frozenset(),
    _S.BLOCKED: frozenset(),
    _S.STALE: frozenset(),
    # A reading is put back before extraction; a publication can only be rolled back.
    _S.QUARANTINED: frozenset({_S.COLLECTED, _S.ROLLBACK_PENDING}),
}

EXCEPTION_TRANSITIONS: dict[State, frozenset[State]] = {_S.BLOCKED: frozenset({_S.APPROVED})}

# A decision in one of these may still become a published price.
OPEN = frozenset({_S.REVIEW_REQUIRED, _S.APPROVED})


class IllegalTransition(PricecrawlError):
    """A move that the table does not have: the caller holds an outdated view of the state."""


def advance(
    current: State | str, target: State, *, what: str = "a decision", exception: bool = False
) -> State:
    """`target`, if the table allows the move; `exception` adds the moves of the two-person path.

    Raises:
        IllegalTransition: if it does not, naming both states and `what` was to move.
    """
    current = State(current)
    allowed = TRANSITIONS[current]
    if exception:
        allowed = allowed | EXCEPTION_TRANSITIONS.get(current, frozenset())
    if target not in allowed:
        options = ", ".join(sorted(allowed)) or "nothing: it is final"
        raise IllegalTransition(
            f"{what} is {current.value} and cannot become {target.value}; it can become {options}."
        )
    return target
