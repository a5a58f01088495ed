"""What waits for a person, and policies, which somebody else than their author approves."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import StringConstraints
from starlette.responses import Response

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.plain import plain
from pricecrawl.extraction.rules import CATEGORY, GLOBAL
from pricecrawl.pricing.policy import read_policy
from pricecrawl.web.call import Call, endpoint, reading, writing
from pricecrawl.web.permissions import REVIEWERS, Endpoint
from pricecrawl.web.problems import Problem
from pricecrawl.web.schemas import (
    ApproveIn,
    PolicyIn,
    PolicyOut,
    RejectIn,
    ReviewOut,
    ReviewShownOut,
    ReviewsOut,
    SettledOut,
)
from pricecrawl.workflows import policies, review, trace
from pricecrawl.workflows.candidates import KnownRules

router = APIRouter(tags=["reviews"])

ReviewId = Annotated[
    str,
    StringConstraints(pattern=r"^(?:(?:price|mapping|candidate|policy):)?[!-~]{1,120}$"),
    Path(description="As the queue has it: price:…, mapping:…, candidate:…, policy:…; bare, a decision."),
]


@endpoint(router, Endpoint.LIST_REVIEWS, gives=ReviewsOut)
def list_reviews(
    kind: review.Kind | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    call: Call = reading(Endpoint.LIST_REVIEWS, "kind", "limit"),
) -> Any:
    """The queue, with every reason."""
    items = review.queue(ReviewStore(call.services.engine), kind=kind, limit=limit, now=call.now)
    return ReviewsOut(
        reviews=tuple(
            ReviewOut(
                review_id=item.id,
                kind=item.kind.value,
                subject=item.subject,
                summary=item.summary,
                reasons=item.reasons,
                created_at=item.created_at,
                expires_at=item.expires_at,
            )
            for item in items
        )
    )


@endpoint(router, Endpoint.SHOW_REVIEW, gives=ReviewShownOut)
def show_review(review_id: ReviewId, call: Call = reading(Endpoint.SHOW_REVIEW)) -> Any:
    """One review with its evidence: of a price every offer, its mapping, and the stored page, verified."""
    engine = call.services.engine
    found = _shown(ReviewStore(engine), review_id)
    offers: tuple[Any, ...] = ()
    if found["kind"] is review.Kind.PRICE:
        chain = trace.trace(TraceStore(engine), call.services.evidence, found["decision_id"])
        offers = tuple(plain(chain.offers))
    detail = {name: value for name, value in found.items() if name != "kind"}
    return ReviewShownOut(review_id=review_id, kind=found["kind"].value, detail=plain(detail), offers=offers)


@endpoint(router, Endpoint.APPROVE, gives=SettledOut)
def approve(review_id: ReviewId, said: ApproveIn, call: Call = writing(Endpoint.APPROVE)) -> Response:
    """Say yes. A block cannot be approved, nor a policy by its author."""

    def work() -> SettledOut:
        store, kind = _open(call, review_id, own=False)
        rules = _rules(call) if kind is review.Kind.CANDIDATE else None
        review.approve(
            store,
            review_id,
            by=call.caller.name,
            role=call.caller.role.value,
            reason=said.reason,
            now=call.now,
            choice=said.choice,
            amount=None if said.amount is None else Decimal(said.amount),
            rules=rules,
        )
        return SettledOut(review_id=review_id, result="approved", by=call.caller.name)

    return call.once(said, work)


@endpoint(router, Endpoint.REJECT, gives=SettledOut)
def reject(review_id: ReviewId, said: RejectIn, call: Call = writing(Endpoint.REJECT)) -> Response:
    """Say no, with the reason."""

    def work() -> SettledOut:
        store, _ = _open(call, review_id, own=True)
        review.reject(
            store,
            review_id,
            by=call.caller.name,
            role=call.caller.role.value,
            reason=said.reason,
            now=call.now,
        )
        return SettledOut(review_id=review_id, result="rejected", by=call.caller.name)

    return call.once(said, work)


@endpoint(router, Endpoint.PROPOSE_POLICY, gives=PolicyOut, status=201)
def propose_policy(asked: PolicyIn, call: Call = writing(Endpoint.PROPOSE_POLICY)) -> Response:
    """Store a version of the policy; it holds once somebody else has approved it."""

    def work() -> PolicyOut:
        policy = read_policy(asked.policy)
        policies.propose(PolicyStore(call.services.engine), policy, by=call.caller.name, now=call.now)
        return PolicyOut(version=policy.version, review_id=f"policy:{policy.version}")

    return call.once(asked, work, status=201)


def _open(call: Call, review_id: str, *, own: bool) -> tuple[ReviewStore, review.Kind]:
    """The store and the kind, once the caller may settle that kind and there is such a review.

    `own` lets through what the caller wrote: that may be taken back, and not approved.
    """
    kind = _kind(review_id)
    role = call.caller.role
    if role not in REVIEWERS[kind.value]:
        raise Problem(
            403, "role_not_allowed", f"The role {role.value} of this token may not settle a {kind.value}."
        )
    store = ReviewStore(call.services.engine)
    found = _shown(store, review_id)
    if not own and review.wrote(found, call.caller.name):
        what = "wrote this policy" if kind is review.Kind.POLICY else "asked for this rollback"
        raise Problem(403, "own_work", f"You {what}: somebody else must approve it.")
    return store, kind


def _kind(review_id: str) -> review.Kind:
    try:
        return review.parse(review_id)[0]
    except UsageProblem as problem:
        raise Problem(404, "no_such_review", str(problem)) from None


def _shown(store: ReviewStore, review_id: str) -> Mapping[str, Any]:
    try:
        return review.show(store, review_id)
    except UsageProblem as problem:
        raise Problem(404, "no_such_review", str(problem)) from None


def _rules(call: Call) -> dict[str, KnownRules]:
    """What each source's row says of where its prices stand, which a confirmed reading joins."""
    general = {kind: GLOBAL.get(name, ()) for kind, name in CATEGORY.items()}
    return {
        entry.source.slug: KnownRules(
            shop={kind: getattr(entry.source.rules, name) for kind, name in CATEGORY.items()}, general=general
        )
        for entry in call.services.catalog
    }
