"""A person looks at a doubtful price: confirming a candidate teaches, rejecting all of them does not.

Confirming does two things that complement each other. The preference decides which of this listing's
candidates wins from now on; the promotion decides what the shop's rules read first. Both happen in
one transaction with the review's end, the listing's accepted price and the event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from pricecrawl.db.learning import CandidateReview, LearningStore, Transaction
from pricecrawl.domain.candidate import Candidate, PriceKind
from pricecrawl.domain.errors import Settled, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.said import says_something
from pricecrawl.learning.statistics import LearnedSelector, promote, winning_candidate
from pricecrawl.workflows.events import event

PRODUCER = "review"


@dataclass(frozen=True, slots=True)
class KnownRules:
    """Rules per kind of price that exist beside the learned ones.

    The row's own (`shop`) come along when the first selector of a kind is learned; the defaults
    (`general`) are never kept as a shop's own.
    """

    shop: Mapping[PriceKind, Sequence[str]] = field(default_factory=dict)
    general: Mapping[PriceKind, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What a confirmation did: the candidate, and the selector that leads now (None: none to learn)."""

    review: CandidateReview
    candidate: Candidate
    promoted: str | None


def confirm(
    store: LearningStore,
    number: int,
    choice: int,
    *,
    by: str,
    reason: str,
    now: datetime,
    amount: Decimal | None = None,
    rules: KnownRules | None = None,
) -> Confirmed:
    """Confirm candidate `choice` (counted from 1 as shown) of review `number`, if it reads `amount`.

    Raises:
        UsageProblem: no such review or candidate, the candidate reads another amount, the review is closed,
            or no reason was given.
    """
    if not says_something(reason):
        raise UsageProblem("Say why with --reason: it stands in the review and in the event log.")
    with store.begin() as tx:
        review = _open(store, number, tx)
        if not 1 <= choice <= len(review.candidates):
            raise UsageProblem(f"Review {number} has candidates 1 to {len(review.candidates)}, not {choice}.")
        candidate = review.candidates[choice - 1]
        if amount is not None and amount != candidate.amount:
            raise UsageProblem(
                f"Candidate {choice} of review {number} reads {candidate.amount:f}, not {amount:f}: the page "
                f"may have been read again; `pricecrawl review show candidate:{number}` shows it as it is."
            )
        if candidate.currency is None:
            # It was settled in the currency of the market or of the last price, and so it is kept.
            candidate = replace(candidate, currency=review.currency)
        kept = {
            "kind": candidate.kind.value,
            "amount": format(candidate.amount, "f"),
            "currency": candidate.currency,
            "method": candidate.method.value,
            "selector": candidate.selector,
            "tax_basis": candidate.tax_basis.value,
        }
        store.decide(tx, review, status="approved", chosen=kept, by=by, reason=reason, now=now)
        store.accept(tx, review, candidate, now)
        promoted = _promote(store, tx, review, candidate, rules or KnownRules(), by=by, now=now)
        payload = {"review": number, "chosen": kept, "by": by, "reason": reason, "promoted": promoted}
        store.append(
            tx,
            [
                event(
                    EventType.CANDIDATE_CONFIRMED,
                    f"listing:{review.listing_id}",
                    payload,
                    now=now,
                    correlation=f"observation:{review.observation_id}",
                    producer=PRODUCER,
                    key=number,
                )
            ],
        )
    return Confirmed(review, candidate, promoted)


def reject(store: LearningStore, number: int, *, by: str, reason: str, now: datetime) -> CandidateReview:
    """Say that none of the candidates is right: the listing keeps its last accepted price.

    Raises:
        UsageProblem: no such review, it is closed, or no reason was given.
    """
    if not says_something(reason):
        raise UsageProblem("Say why with --reason: it stands in the review and in the event log.")
    with store.begin() as tx:
        review = _open(store, number, tx)
        store.decide(tx, review, status="rejected", chosen=None, by=by, reason=reason, now=now)
        store.settle_listing(tx, review)
        store.append(
            tx,
            [
                event(
                    EventType.CANDIDATE_REJECTED,
                    f"listing:{review.listing_id}",
                    {"review": number, "by": by, "reason": reason},
                    now=now,
                    correlation=f"observation:{review.observation_id}",
                    producer=PRODUCER,
                    key=number,
                )
            ],
        )
    return review


def _open(store: LearningStore, number: int, tx: Transaction) -> CandidateReview:
    review = store.review(number, tx)
    if review.status != "open":
        raise Settled(f"Candidate review {number} is {review.status} already.")
    return review


def _promote(
    store: LearningStore,
    tx: Transaction,
    review: CandidateReview,
    candidate: Candidate,
    rules: KnownRules,
    *,
    by: str,
    now: datetime,
) -> str | None:
    """Put the confirmed candidate's rule at the top of the source's learned ones, if it has a rule."""
    winner = winning_candidate(
        [candidate],
        price=candidate.amount,
        currency=candidate.currency,
        method=candidate.method,
        selector=candidate.selector,
    )
    if winner is None:
        return None
    store.lock(tx, review.source)
    before = store.selectors(review.source, tx).get(winner.kind, ())
    after = promote(
        before,
        LearnedSelector(winner.kind, winner.selector, created_by=by),
        shop_rules=rules.shop.get(winner.kind, ()),
        global_rules=rules.general.get(winner.kind, ()),
        now=now,
    )
    store.save_selectors(tx, review.source, winner.kind, after, now)
    leads = bool(after) and after[0].selector == winner.selector
    if leads and winner.kind is PriceKind.STANDARD:
        store.prefer(tx, review.source, winner.method, winner.selector)
    return winner.selector if leads else None
