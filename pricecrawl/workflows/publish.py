"""From an approved decision to a price in the shop, in steps that may each be the last of this process.

Every step is one call of `step`: it looks at the rows, does the one thing that is due, and writes what
came of it, with its event, in one transaction. A publisher that dies anywhere is followed by one that
calls `step` again. The order around a write is fixed: lease, gates, state before, intent stored, write,
outcome stored; what happens when the last is missing is `workflows.reconcile`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.said import says_something
from pricecrawl.pricing.ports import (
    Ambiguous,
    NotFound,
    NotSent,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    Unknown,
    WriteOutcome,
    WritePrice,
)
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows import mass, reconcile, verify
from pricecrawl.workflows.events import stable_id
from pricecrawl.workflows.gates import Closed, gates
from pricecrawl.workflows.incidents import foreign_write, left
from pricecrawl.workflows.publisher import (
    Boundary,
    Fields,
    Next,
    Publisher,
    move,
    need_publisher,
    state_json,
    told,
)
from pricecrawl.workflows.recording import (
    Answer,
    bury,
    close,
    close_letters,
    lease_until,
    published,
    record,
    rollback_started,
    shut,
    unreadable,
    with_attempt,
)

__all__ = ["DONE", "only_for", "publication_id", "request", "run", "run_all", "step", "withdraw"]

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
_NEVER = (State.REVIEW_REQUIRED, State.BLOCKED, State.STALE)
DONE = frozenset(
    {
        State.VERIFIED,
        State.VERIFICATION_FAILED,
        State.PUBLISH_FAILED,
        State.QUARANTINED,
        State.BLOCKED,
        State.STALE,
        State.ROLLBACK_PENDING,
        State.ROLLED_BACK,
    }
)


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
        rows = pub.store.of_price(tx, target, made["sku"], scope.key)
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


def step(pub: Publisher, of: str, *, now: datetime) -> Next:
    """Do the one thing that is due for a publication.

    Raises:
        UsageProblem: there is no such publication, or its target is not configured.
    """
    need_publisher(pub.by)
    with pub.alone(of) as alone:
        if not alone:
            return Next(State.PUBLISHING, at=now + timedelta(seconds=1), why="another thread is at it")
        with pub.store.engine.connect() as conn:
            row = pub.store.get(conn, of)
        if row is None:
            raise UsageProblem(f"there is no publication {of}.")
        status = State(row["status"])
        if status in DONE:
            return Next(status, done=True, why=row["verdict_detail"])
        pub.placement(row["target"])
        if row["next_check_at"] is not None and row["next_check_at"] > now:
            return Next(status, at=row["next_check_at"], why=row["verdict_detail"])
        if status is not State.PUBLISH_PENDING:
            after = _step(pub, row, now=now)
        else:
            with pub.writer(row["target"]) as free:
                if not free:
                    return Next(status, at=now + timedelta(seconds=1), why="other prices are being written")
                after = _step(pub, row, now=now)
        if not after.done and after.at is not None and after.at > now:
            # What is to come is in the rows: whoever comes by first when it is due may do it.
            _release(pub, of, now=now)
        return after


def _step(pub: Publisher, row: Fields, *, now: datetime) -> Next:
    if (waiting := _claim(pub, row, now=now)) is not None:
        return waiting
    pub.passed(Boundary.CLAIMED, row["publication_id"])
    if row["status"] == State.PUBLISH_PENDING.value:
        return _write(pub, row, now=now)
    if row["status"] == State.PUBLISHING.value:
        return reconcile.step(pub, row, now=now)
    return verify.step(pub, row, now=now)


def run(
    pub: Publisher,
    of: str,
    *,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None] = time.sleep,
    patience: timedelta | None = None,
) -> Next:
    """Step until it is done, sleeping where a step says so; `patience` bounds the whole wait."""
    until = None if patience is None else clock() + patience
    while True:
        now = clock()
        after = step(pub, of, now=now)
        if after.done:
            return after
        if after.at is not None:
            if until is not None and after.at > until:
                _release(pub, of, now=clock())
                return after
            sleep(max(0.0, min((after.at - clock()).total_seconds(), 3600.0)))


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
        if row["status"] not in {State.PUBLISH_PENDING.value, State.PUBLISH_FAILED.value}:
            raise UsageProblem(
                f"publication {of} is {row['status']}: what was written is taken back with "
                f"`pricecrawl rollback {row['sku']}`."
            )
        close(pub, tx, row, Closed(State.STALE, f"withdrawn by {by}: {reason.strip()}"), now=now)
        close_letters(pub, tx, row, now=now)


def run_all(
    pub: Publisher, names: Iterable[str], *, clock: Callable[[], datetime], **options: Any
) -> dict[str, Next]:
    """`run` for each in turn."""
    return {of: run(pub, of, clock=clock, **options) for of in names}


@dataclass(frozen=True, slots=True)
class _Before:
    """What was read before the write."""

    ref: TargetRef
    state: PriceState


def _write(pub: Publisher, row: Fields, *, now: datetime) -> Next:
    before = _read(pub, row, now=now)
    if isinstance(before, Next):
        return before
    pub.passed(Boundary.READ, row["publication_id"])
    # A write has to leave within half of the lease: the other half is for its answer.
    until = time.monotonic() + pub.timings.lease.total_seconds() / 2
    intended = _intend(pub, row, before, now=now)
    if isinstance(intended, Next):
        return intended
    pub.passed(Boundary.INTENDED, row["publication_id"])
    scope = PriceScope.from_key(row["scope"])
    command = WritePrice(
        publication_id=row["publication_id"],
        decision_id=row["decision_id"],
        sequence=row["sequence"],
        ref=before.ref,
        scope=scope,
        amount=row["amount"],
        expected_revision=before.state.revision,
        expected_amount=before.state.amount,
        timeout_s=pub.timings.write_timeout,
        within_s=until - time.monotonic(),
    )
    target = pub.placement(row["target"]).target
    outcome: WriteOutcome
    if command.within_s <= 0:
        # This process slept: somebody else may hold the lease by the time the bytes would leave.
        outcome = NotSent("the publisher was held up between intent and write")
    else:
        try:
            outcome = target.write(command)
        except Exception as problem:  # an adapter's mistake must not lose a write that may have happened
            outcome = Unknown(f"{type(problem).__name__} in the adapter")
    pub.passed(Boundary.WRITTEN, row["publication_id"])
    return record(pub, intended, Answer(outcome, target.exchanges()), now=now)


def _claim(pub: Publisher, row: Fields, *, now: datetime) -> Next | None:
    """Take the lease; a wait where somebody else's stands."""
    with pub.store.begin() as tx:
        against = pub.store.take_lease(tx, row, pub.owner, now=now, until=lease_until(pub, now))
        if against is None:
            return None
    why = f"publication {against['publication_id']} has the lease until {against['until']:%H:%M:%S}"
    # Most leases end long before they run out: look again soon.
    return Next(State(row["status"]), at=min(against["until"], now + pub.timings.wait(1)), why=why)


def _release(pub: Publisher, of: str, *, now: datetime) -> None:
    """Give the lease back, if it is ours, to whoever goes on."""
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of)
        lease = None if row is None else pub.store.lease(tx, row)
        if (
            row is not None
            and lease is not None
            and (lease["owner"], lease["publication_id"]) == (pub.owner, of)
        ):
            pub.store.drop_lease(tx, row, now=now)


def _read(pub: Publisher, row: Fields, *, now: datetime) -> _Before | Next:
    """Address and state of the price in the shop."""
    target, scope = pub.placement(row["target"]).target, PriceScope.from_key(row["scope"])
    try:
        ref = target.resolve(row["sku"], scope)
        if isinstance(ref, TargetRef):
            return _Before(ref, target.read(ref, scope))
    except TargetUnavailable as problem:
        return unreadable(pub, row, problem, now=now)
    finally:
        target.exchanges()
    if isinstance(ref, NotFound):
        why = f"{row['target']} has no SKU {row['sku']}"
    else:
        assert isinstance(ref, Ambiguous)
        why = f"{row['target']} has SKU {row['sku']} {len(ref.ids)} times: {', '.join(ref.ids)}"
    with pub.store.begin() as tx:
        return bury(pub, tx, row, why, now=now)


def _intend(pub: Publisher, row: Fields, before: _Before, *, now: datetime) -> Fields | Next:
    """Look at every gate again, with the shop's state in hand, and store what is about to be done."""
    of, state = row["publication_id"], before.state
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True) or row
        if row["status"] != State.PUBLISH_PENDING.value:
            return Next(State(row["status"]), at=now, why="another publisher was faster")
        if pub.store.take_lease(tx, row, pub.owner, now=now, until=lease_until(pub, now)) is not None:
            return Next(State(row["status"]), at=now, why="the lease was lost")
        made = pub.store.decision(tx, row["decision_id"], lock=True)
        assert made is not None
        closed = gates(pub.store, tx, made, row["target"], now=now) or _out_of_order(pub, tx, row)
        if closed is not None:
            return close(pub, tx, row, closed, now=now)
        if (busy := _in_flight(pub, tx, row)) is not None:
            at = now + pub.timings.wait(1)
            pub.store.drop_lease(tx, row, now=now)
            return Next(State.PUBLISH_PENDING, at=at, why=f"publication {busy} is not settled yet")
        scope = PriceScope.from_key(row["scope"])
        if state.currency != scope.currency or state.tax_basis is not scope.tax_basis:
            why = f"{row['target']} has {row['sku']} in {state.currency}, {state.tax_basis.value}"
            return bury(pub, tx, row, why, now=now, pre_state=state_json(state))
        if state.amount != made["current_price"]:
            if state.amount == row["amount"] and _may_have_arrived(row):
                return _arrived(pub, tx, row, now=now)
            return _stale(pub, tx, row, made, state, now=now)
        attempts = row["attempts"] + 1
        values = {
            "pre_state": state_json(state),
            "attempts": attempts,
            "intent_at": now,
            "sent_at": None,
            "next_check_at": None,
            "lease_owner": pub.owner,
            "lease_until": lease_until(pub, now),
            "outcome": with_attempt(row, {"attempt": attempts, "at": now.isoformat(), "outcome": "intended"}),
            "verdict_detail": "",
        }
        row = move(pub.store, tx, row, State.PUBLISHING, now=now, **values)
        rollback_started(pub, tx, row, now=now)
        started = told(
            EventType.PUBLISH_STARTED,
            row,
            now=now,
            by=pub.by.name,
            attempt=attempts,
            before=values["pre_state"],
        )
        pub.store.append(tx, [started])
        if state.amount == row["amount"]:
            return published(pub, tx, row, "the shop has this price already: nothing was sent", now=now)
        return row


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
    if row["status"] in {State.PUBLISH_PENDING.value, State.PUBLISH_FAILED.value}:
        row = pub.store.get(tx, row["publication_id"], lock=True) or row
        close(pub, tx, row, Closed(State.STALE, "a later decision is being published"), now=now)
        close_letters(pub, tx, row, now=now)


def _stale(pub: Publisher, tx: Any, row: Fields, made: Fields, state: PriceState, *, now: datetime) -> Next:
    """The shop has another price than the one that was decided upon."""
    start = "no price" if made["current_price"] is None else made["current_price"]
    why = (
        f"the shop has {state.amount} and the decision goes out from {start}: take the shop's price over "
        f"with `pricecrawl targets adopt {row['target']} {row['sku']} --reason ...` and price it again"
    )
    row = {**row, "pre_state": state_json(state)}
    pub.store.change(tx, row["publication_id"], row["status"], now=now, pre_state=row["pre_state"])
    standing = [
        other
        for other in pub.store.of_price(tx, row["target"], row["sku"], row["scope"])
        if other["verified_at"] is not None and other["publication_id"] != row["publication_id"]
    ]
    if standing and left(standing[0]) != state.amount:
        foreign_write(pub, tx, standing[0], state, now=now)
    return close(pub, tx, row, Closed(State.STALE, why), now=now)


def _may_have_arrived(row: Fields) -> bool:
    """Whether bytes of an earlier attempt may have reached the shop."""
    came = {"applied", "accepted", "unknown", "intended"}
    return any(attempt["outcome"] in came for attempt in (row["outcome"] or {}).get("attempts", ()))


def _arrived(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> Next:
    """A write that was given up landed after all; the state before it stays what was read then."""
    row = move(pub.store, tx, row, State.PUBLISHING, now=now)
    rollback_started(pub, tx, row, now=now)
    return published(pub, tx, row, reconcile.UNPROVEN, now=now, sent_at=row["sent_at"] or row["intent_at"])


def _out_of_order(pub: Publisher, tx: Any, row: Fields) -> Closed | None:
    lease = pub.store.lease(tx, row)
    if lease is not None and row["sequence"] < lease["last_sequence"]:
        return Closed(State.STALE, "a later decision was verified already")
    return None


def _in_flight(pub: Publisher, tx: Any, row: Fields) -> str | None:
    """Another publication of the same price whose write may still be on its way."""
    for other in pub.store.of_price(tx, row["target"], row["sku"], row["scope"]):
        if other["publication_id"] != row["publication_id"] and other["status"] in {
            State.PUBLISHING.value,
            State.PUBLISHED.value,
            State.VERIFYING.value,
        }:
            return str(other["publication_id"])
    return None


def _not_approved(made: Fields) -> str:
    of, status = made["decision_id"], made["status"]
    ways = {
        State.REVIEW_REQUIRED.value: f"waits for review: `pricecrawl review approve price:{of} --reason ...`",
        State.BLOCKED.value: "is blocked",
        State.STALE.value: "is stale: `pricecrawl price run` makes a new one",
    }
    return f"decision {of} {ways.get(status, f'is {status}')}; only an approved decision is published."
