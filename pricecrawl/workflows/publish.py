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

from pricecrawl.db.publications import IN_FLIGHT, OPEN
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
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
from pricecrawl.pricing.states import State
from pricecrawl.workflows import reconcile, verify
from pricecrawl.workflows.asking import only_for, publication_id, request, withdraw
from pricecrawl.workflows.gates import Closed, gates
from pricecrawl.workflows.incidents import foreign_write, left, open_since
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
    lease_until,
    published,
    record,
    rollback_started,
    unreadable,
    with_attempt,
)

__all__ = ["DONE", "only_for", "publication_id", "request", "run", "run_all", "step", "withdraw"]

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
    # The lease runs from `now`. A write has to leave within half of it: the other half is for its answer.
    until = time.monotonic() + pub.timings.lease.total_seconds() / 2
    before = _read(pub, row, now=now)
    if isinstance(before, Next):
        return before
    pub.passed(Boundary.READ, row["publication_id"])
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
        # This process slept, or the shop took long to say what it has: somebody else may hold the lease by
        # the time the bytes would leave.
        outcome = NotSent("the publisher was held up before the write")
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
        busy = _in_flight(pub, tx, row)
        if busy is None and state.amount != made["current_price"] and _may_have_arrived(row, state):
            # What is there is there, whatever the gates say by now: it is looked at, and nothing is written.
            return _arrived(pub, tx, row, now=now)
        closed = gates(pub.store, tx, made, row["target"], now=now) or _out_of_order(pub, tx, row)
        if closed is not None:
            return close(pub, tx, row, closed, now=now)
        if busy is not None:
            at = now + pub.timings.wait(1)
            pub.store.drop_lease(tx, row, now=now)
            return Next(State.PUBLISH_PENDING, at=at, why=f"publication {busy} is not settled yet")
        scope = PriceScope.from_key(row["scope"])
        if state.currency != scope.currency or state.tax_basis is not scope.tax_basis:
            why = f"{row['target']} has {row['sku']} in {state.currency}, {state.tax_basis.value}"
            return bury(pub, tx, row, why, now=now, pre_state=state_json(state))
        if state.amount != made["current_price"]:
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


def _stale(pub: Publisher, tx: Any, row: Fields, made: Fields, state: PriceState, *, now: datetime) -> Next:
    """The shop has another price than the one that was decided upon."""
    start = "no price" if made["current_price"] is None else made["current_price"]
    why = (
        f"the shop has {state.amount} and the decision goes out from {start}: take the shop's price over "
        f"with `pricecrawl targets adopt {row['target']} {row['sku']} --reason ...` and price it again"
    )
    row = {**row, "pre_state": state_json(state)}
    pub.store.change(tx, row["publication_id"], row["status"], now=now, pre_state=row["pre_state"])
    stands = pub.store.last_verified(tx, row["target"], row["sku"], row["scope"], but=row["publication_id"])
    if stands is not None and left(stands) != state.amount and open_since(pub, tx, stands) is None:
        foreign_write(pub, tx, stands, state, now=now)
    return close(pub, tx, row, Closed(State.STALE, why), now=now)


def _may_have_arrived(row: Fields, state: PriceState) -> bool:
    """Whether the shop has what an earlier attempt may have brought there."""
    came = {"applied", "accepted", "unknown", "intended"}
    sent = any(attempt["outcome"] in came for attempt in (row["outcome"] or {}).get("attempts", ()))
    return sent and (state.amount, state.currency) == (row["amount"], row["currency"])


def _arrived(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> Next:
    """A write that was given up landed after all; the state before it stays what was read then."""
    row = move(pub.store, tx, row, State.PUBLISHING, now=now)
    rollback_started(pub, tx, row, now=now)
    return published(pub, tx, row, reconcile.UNPROVEN, now=now, sent_at=row["sent_at"] or row["intent_at"])


def _out_of_order(pub: Publisher, tx: Any, row: Fields) -> Closed | None:
    lease = pub.store.lease(tx, row)
    if lease is not None and row["sequence"] < lease["last_sequence"]:
        return Closed(State.STALE, "a later decision was verified already")
    for other in pub.store.of_price(tx, row["target"], row["sku"], row["scope"], after=row["sequence"]):
        if other["status"] in OPEN:
            return Closed(State.STALE, "a later decision is being published")
    return None


def _in_flight(pub: Publisher, tx: Any, row: Fields) -> str | None:
    """Another publication of the same price whose write may still be on its way."""
    for other in pub.store.of_price(tx, row["target"], row["sku"], row["scope"], among=IN_FLIGHT):
        if other["publication_id"] != row["publication_id"]:
            return str(other["publication_id"])
    return None
