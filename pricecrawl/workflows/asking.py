"""Asking for an approved decision to be published, and taking that back before it is written."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.said import says_something
from pricecrawl.pricing.ports import PriceScope
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows import mass
from pricecrawl.workflows.events import stable_id
from pricecrawl.workflows.gates import Closed, gates
from pricecrawl.workflows.publisher import Fields, Publisher, need_publisher, told
from pricecrawl.workflows.recording import close, close_letters, shut

_GOING_OUT = frozenset(
    state.value
    for state in (
        State.PUBLISH_PENDING,
        State.PUBLISHING,
        State.PUBLISHED,
        State.VERIFYING,
        State.VERIFIED,
    )
)
_NOT_WRITTEN = (State.PUBLISH_PENDING.value, State.PUBLISH_FAILED.value)
_NEVER = (State.REVIEW_REQUIRED, State.BLOCKED, State.STALE)


def request(pub: Publisher, decision: str, target: str, *, now: datetime, counted: bool = False) -> str:
    """Ask for a decision to be published; returns the publication's id. Asked twice, it is one publication.

    `counted` says that the mass-change breaker has counted it already, with the batch that it belongs to.

    Raises:
        UsageProblem: there is no such decision or target.
        Refused: the decision is not approved, a gate is closed to it, a later decision was published, or
            too much moves at once, and then it waits for review.
    """
    need_publisher(pub.by)
    placement = pub.placement(target)
    of = publication_id(target, decision)
    with pub.store.begin() as tx:
        made = pub.store.decision(tx, decision, lock=True)
        if made is None:
            raise UsageProblem(f"there is no decision {decision}; `pricecrawl export decisions` lists them.")
        if pub.store.get(tx, of) is not None:
            return of
        if (only := only_for(pub, tx, made)) not in {None, target}:
            raise Refused(
                f"decision {decision} takes back a price of {only}; on {target} it is "
                f"`pricecrawl rollback {made['sku']} --target {target}`."
            )
        elsewhere = pub.store.of_decision(tx, decision)
        if not (made["status"] == State.APPROVED.value or (elsewhere and made["status"] in _GOING_OUT)):
            raise Refused(_not_approved(made))
        scope = placement.scope(made["currency"], TaxBasis(made["tax_basis"]))
        closed = gates(pub.store, tx, made, target, now=now)
        rows = pub.store.of_price(
            tx, target, made["sku"], scope.key, after=made["sequence"], among=_NOT_WRITTEN
        )
        later = [row for row in rows if row["sequence"] > made["sequence"] and _counts(row)]
        if closed is None and later:
            closed = Closed(State.STALE, f"decision {later[0]['decision_id']} is later and was published")
        why = "" if closed is None else f"is not published: {closed.detail}"
        if closed is None and not counted and not elsewhere:
            why = _moved_too_much(pub, tx, made, now=now)
        if not why:
            for row in rows:
                _supersede(pub, tx, row, now=now)
            _add(pub, tx, of, made, target=target, scope=scope, first=not elsewhere, now=now)
            return of
        if closed is not None and not closed.held and not elsewhere:
            shut(pub, tx, made, closed, target=target, publication=of, now=now)
    raise Refused(f"decision {decision} {why}.")


def _moved_too_much(pub: Publisher, tx: Any, made: Fields, *, now: datetime) -> str:
    """Send a decision to review, and say why, if it would be one move too many."""
    if mass.spoken_for(pub.store, tx, made):
        return ""
    finding = mass.too_much(pub.store, tx, [made], mass.default_settings(pub.store, tx, now), now=now)
    if finding is None:
        return ""
    mass.recall(pub.store, tx, made, finding, now=now)
    return f"waits for review: {finding.detail}"


def only_for(pub: Publisher, conn: Any, made: Fields) -> str | None:
    """The target whose price a rollback takes back, and no other's; None where a decision is for all."""
    taken = (made["steps"].get("rollback") or {}).get("publication_id")
    row = None if taken is None else pub.store.get(conn, taken)
    return None if row is None else str(row["target"])


def publication_id(target: str, decision: str) -> str:
    """The id of a decision's publication to a target, whether there is one or not."""
    return stable_id("publication", target, decision)


def withdraw(pub: Publisher, of: str, *, by: str, reason: str, now: datetime) -> None:
    """Take back a publication that has not been written yet; its decision is stale then.

    Raises:
        UsageProblem: there is no such publication, no reason, or it is written or on its way.
    """
    need_publisher(pub.by)
    if not says_something(reason):
        raise UsageProblem('withdrawing a price needs a reason: give it with --reason "...".')
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True)
        if row is None:
            raise UsageProblem(f"there is no publication {of}; `pricecrawl jobs list` shows those under way.")
        if row["status"] not in _NOT_WRITTEN:
            raise UsageProblem(
                f"publication {of} is {row['status']}: what was written is taken back with "
                f"`pricecrawl rollback {row['sku']}`."
            )
        close(pub, tx, row, Closed(State.STALE, f"withdrawn by {by}: {reason.strip()}"), now=now)
        close_letters(pub, tx, row, now=now)


def _add(
    pub: Publisher,
    tx: Any,
    of: str,
    made: Fields,
    *,
    target: str,
    scope: PriceScope,
    first: bool,
    now: datetime,
) -> None:
    rolled_back = (made["steps"].get("rollback") or {}).get("publication_id")
    row = {
        "publication_id": of,
        "decision_id": made["decision_id"],
        "target": target,
        "sku": made["sku"],
        "scope": scope.key,
        "amount": made["proposed_price"],
        "currency": made["currency"],
        "tax_basis": made["tax_basis"],
        "sequence": made["sequence"],
        "status": State.PUBLISH_PENDING.value,
        "attempts": 0,
        "rollback_of": rolled_back,
        "created_at": now,
        "updated_at": now,
    }
    pub.store.add(tx, row)
    if first:
        advance(made["status"], State.PUBLISH_PENDING, what=f"decision {made['decision_id']}")
        pub.store.move_decision(tx, made["decision_id"], made["status"], State.PUBLISH_PENDING.value, now=now)
    asked = told(EventType.PUBLISH_REQUESTED, row, now=now, by=pub.by.name, scope=scope.key)
    pub.store.append(tx, [asked])


def _counts(row: Fields) -> bool:
    """Whether a publication was, or may still be, in the shop."""
    return State(row["status"]) not in {*_NEVER, State.PUBLISH_FAILED, State.ROLLED_BACK}


def _supersede(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> None:
    """An earlier decision that has not been written yet never will be."""
    if row["status"] in _NOT_WRITTEN:
        row = pub.store.get(tx, row["publication_id"], lock=True) or row
        close(pub, tx, row, Closed(State.STALE, "a later decision is being published"), now=now)
        close_letters(pub, tx, row, now=now)


def _not_approved(made: Fields) -> str:
    of, status = made["decision_id"], made["status"]
    ways = {
        State.REVIEW_REQUIRED.value: f"waits for review: `pricecrawl review approve price:{of} --reason ...`",
        State.BLOCKED.value: "is blocked",
        State.STALE.value: "is stale: `pricecrawl price run` makes a new one",
    }
    return f"decision {of} {ways.get(status, f'is {status}')}; only an approved decision is published."
