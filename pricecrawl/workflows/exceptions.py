"""Lifting a block by exception: two people, a policy that allows it, and only some blocks.

Off unless the policy says `allow_exceptions = true`, and only for the newest decision of a SKU, within
the time that the policy gives a review; what was granted holds as long. What stands for arithmetic, for
somebody's kill switch or for a right that is missing is never lifted; a price that was not computed cannot
be.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.domain.said import same_name, says_something
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows.events import event
from pricecrawl.workflows.policies import in_force
from pricecrawl.workflows.review import full_id

LIFTABLE = frozenset(
    {
        FindingCode.COST_STALE,
        FindingCode.MAP_MISSING,
        FindingCode.REGULATORY_MISSING,
        FindingCode.ABOVE_CEILING,
        FindingCode.CURRENT_PRICE_INCONSISTENT,
    }
)


def request(store: ReviewStore, of: str, *, by: str, reason: str, now: datetime) -> None:
    """The first person asks for a block to be lifted.

    Raises:
        UsageProblem: there is no such decision or a newer one, it is too old, no reason, or it is asked for
            already.
        Refused: the policy has no exceptions, or what blocks it is never lifted.
    """
    if not says_something(reason):
        raise UsageProblem('an exception needs a reason: give it with --reason "...".')
    with store.begin() as tx:
        row, _ = _liftable(store, tx, of, now)
        of = row["decision_id"]
        pending = store.override(tx, of)
        if pending is not None:
            raise UsageProblem(
                f"{pending['requested_by']} asked for this exception already; somebody else grants it."
            )
        store.request_override(tx, of, by=by, reason=reason, now=now)
        store.append(tx, [_event(EventType.APPROVAL_REQUESTED, row, by, reason, now)])


def grant(store: ReviewStore, of: str, *, by: str, reason: str, now: datetime, role: str = "owner") -> None:
    """The second person lifts it: the decision is approved.

    Raises:
        UsageProblem: nobody asked for it, it is granted already, or `by` asked for it.
        Refused: the policy has no exceptions any more, or what blocks it is never lifted.
    """
    if not says_something(reason):
        raise UsageProblem('an exception needs a reason: give it with --reason "...".')
    with store.begin() as tx:
        row, holds = _liftable(store, tx, of, now)
        of = row["decision_id"]
        pending = store.override(tx, of)
        if pending is None:
            raise UsageProblem(f"nobody has asked for an exception for decision {of}.")
        if same_name(pending["requested_by"], by):
            raise UsageProblem(f"{by} asked for this exception: somebody else must grant it.")
        status = advance(row["status"], State.APPROVED, what=f"decision {of}", exception=True)
        store.grant_override(tx, pending["id"], by=by, now=now)
        store.settle_decision(tx, of, status.value, expires=now + holds, now=now)
        store.add_approval(tx, of, "exception", by=by, role=role, reason=reason, now=now)
        store.append(tx, [_event(EventType.PRICE_APPROVED, row, by, reason, now)])


def _liftable(store: ReviewStore, tx: Any, of: str, now: datetime) -> tuple[Mapping[str, Any], timedelta]:
    """The decision, and how long an exception for it holds."""
    policy = in_force(PolicyStore(store.engine), tx, now)
    if policy is None or not policy.default.allow_exceptions:
        raise Refused("the policy in force has no exceptions (allow_exceptions): a block stands.")
    row = store.decision(tx, full_id(store, tx, of), lock=True)
    if row is None:
        raise UsageProblem(f"there is no decision {of}.")
    blocks = [FindingCode(item["code"]) for item in row["findings"] if item["verdict"] == "BLOCK"]
    if row["status"] != State.BLOCKED.value or not blocks:
        raise UsageProblem(f"decision {of} is not blocked by a guardrail: there is nothing to lift.")
    never = [code.value for code in blocks if code not in LIFTABLE]
    if never or row["proposed_price"] is None:
        what = ", ".join(never) or "no price could be computed"
        raise Refused(f"decision {of} is blocked for good: {what}.")
    anew = f"run `pricecrawl price run --sku {row['sku']}` for a new one"
    if store.latest(tx, row["sku"]) != row["decision_id"]:
        raise UsageProblem(f"decision {of} was overtaken by a newer one of SKU {row['sku']}; {anew}.")
    holds = timedelta(hours=policy.default.review_hours)
    if row["created_at"] + holds <= now:
        raise UsageProblem(f"decision {of} was made on {row['created_at']:%Y-%m-%d %H:%M} UTC; {anew}.")
    return row, holds


def _event(kind: EventType, row: Mapping[str, Any], by: str, reason: str, now: datetime) -> Any:
    return event(
        kind,
        f"sku:{row['sku']}",
        {"decision_id": row["decision_id"], "by": by, "reason": reason, "exception": True},
        now=now,
        correlation=row["decision_id"],
        producer="review",
        key=f"exception {now.isoformat()}",
    )
