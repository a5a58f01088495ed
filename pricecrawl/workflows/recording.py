"""What came of one step of a publication, written with its event in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.domain.events import EventType
from pricecrawl.pricing.ports import (
    Accepted,
    Applied,
    Conflict,
    Exchange,
    NotSent,
    Rejected,
    TargetUnavailable,
    Throttled,
    Unknown,
    WriteOutcome,
)
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows.gates import Closed
from pricecrawl.workflows.publisher import Boundary, Fields, Next, Publisher, move, told

PUBLICATION, WAITING = "publication", "waiting"
"""Kinds of dead letters: a publication that failed for good, and one that waits for a shop too long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a target said to a write or a poll, and the calls that were made for it."""

    outcome: WriteOutcome
    exchanges: Sequence[Exchange] = ()


def lease_until(pub: Publisher, now: datetime) -> datetime:
    """When a lease taken at `now` runs out."""
    return now + pub.timings.lease


def record(pub: Publisher, row: Fields, answer: Answer, *, now: datetime) -> Next:
    """Store what came of a write, or of asking about an accepted one."""
    of = row["publication_id"]
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True) or row
        if row["status"] != State.PUBLISHING.value or not _mine(pub, tx, row):
            # Another publisher took over while the answer was on its way; what it finds out counts.
            return Next(State(row["status"]), at=now, why="another publisher took over")
        pub.store.take_lease(tx, row, pub.owner, now=now, until=lease_until(pub, now))
        kept = _with_answer(row, answer, now=now)
        outcome = answer.outcome
        if isinstance(outcome, Applied):
            after = published(
                pub, tx, row, outcome.detail, now=now, outcome=kept, sent_at=row["sent_at"] or now
            )
        elif isinstance(outcome, Accepted):
            after = _accepted(pub, tx, row, kept, now=now)
        elif isinstance(outcome, Unknown):
            after = uncertain(pub, tx, row, outcome.cause, now=now, outcome=kept)
        elif isinstance(outcome, Rejected):
            why = f"{row['target']} refuses it ({outcome.code}): {outcome.detail}"
            after = bury(pub, tx, row, why, now=now, outcome=kept)
        elif isinstance(outcome, Conflict) and kept.get("operation"):
            cause = f"the shop lost what it had accepted: {outcome.detail}"
            after = uncertain(pub, tx, row, cause, now=now, outcome=kept)
        else:
            after = _again(pub, tx, row, outcome, kept, now=now)
    pub.passed(Boundary.RECORDED, of)
    return after


def published(pub: Publisher, tx: Any, row: Fields, note: str, *, now: datetime, **values: Any) -> Next:
    """The price is said to be there: it is verified next."""
    row = move(
        pub.store, tx, row, State.PUBLISHED, now=now, verdict_detail=note, next_check_at=None, **values
    )
    pub.store.append(tx, [told(EventType.PRICE_PUBLISHED, row, now=now, by=pub.by.name, note=note)])
    return Next(State.PUBLISHED, at=now, why=note)


def uncertain(pub: Publisher, tx: Any, row: Fields, cause: str, *, now: datetime, outcome: Fields) -> Next:
    """Bytes may have left and no answer was stored: from here on only reading tells."""
    kept = {**outcome, "unknown": {"since": now.isoformat(), "cause": cause, "readable_since": None}}
    why = f"no trustworthy answer: {cause}"
    pub.store.change(
        tx,
        row["publication_id"],
        row["status"],
        now=now,
        outcome=kept,
        sent_at=row["sent_at"] or row["intent_at"],
        next_check_at=now,
        verdict_detail=why,
    )
    pub.store.append(tx, [told(EventType.PUBLISH_UNCERTAIN, row, now=now, by=pub.by.name, cause=cause)])
    return Next(State.PUBLISHING, at=now, why=why)


def retry(
    pub: Publisher, tx: Any, row: Fields, why: str, *, now: datetime, at: datetime, **values: Any
) -> Next:
    """Back to PUBLISH_PENDING under the same key, or to a dead letter after too many attempts."""
    if row["attempts"] >= pub.timings.max_attempts:
        return bury(pub, tx, row, f"{row['attempts']} attempts came to nothing; {why}", now=now, **values)
    row = move(pub.store, tx, row, State.PUBLISH_FAILED, now=now, **values)
    failed = told(EventType.PUBLISH_FAILED, row, now=now, by=pub.by.name, reason=why, again_at=at.isoformat())
    pub.store.append(tx, [failed])
    move(pub.store, tx, row, State.PUBLISH_PENDING, now=now, next_check_at=at, verdict_detail=why)
    return Next(State.PUBLISH_PENDING, at=at, why=why)


def bury(pub: Publisher, tx: Any, row: Fields, why: str, *, now: datetime, **values: Any) -> Next:
    """PUBLISH_FAILED for good: a dead letter, until somebody replays it."""
    row = move(
        pub.store, tx, row, State.PUBLISH_FAILED, now=now, verdict_detail=why, next_check_at=None, **values
    )
    pub.store.drop_lease(tx, row, now=now)
    _letter(pub, tx, row, PUBLICATION, why, now=now)
    rollback_failed(pub, tx, row, now=now)
    pub.store.append(
        tx,
        [
            told(EventType.PUBLISH_FAILED, row, now=now, by=pub.by.name, reason=why),
            told(EventType.WORKFLOW_FAILED, row, now=now, by=pub.by.name, reason=why),
        ],
    )
    return Next(State.PUBLISH_FAILED, done=True, why=why)


def close(pub: Publisher, tx: Any, row: Fields, closed: Closed, *, now: datetime) -> Next:
    """A gate is closed: the publication, and the decision with it, comes to its end unwritten."""
    row = move(pub.store, tx, row, closed.becomes, now=now, verdict_detail=closed.detail, next_check_at=None)
    if closed.finding is not None:
        pub.store.add_finding(tx, row["decision_id"], closed.finding.plain())
    pub.store.drop_lease(tx, row, now=now)
    rollback_failed(pub, tx, row, now=now)
    failed = told(
        EventType.PUBLISH_FAILED, row, now=now, by=pub.by.name, reason=closed.detail, becomes=row["status"]
    )
    pub.store.append(tx, [failed])
    return Next(closed.becomes, done=True, why=closed.detail)


def shut(
    pub: Publisher,
    tx: Any,
    made: Fields,
    closed: Closed,
    *,
    target: str,
    publication: str,
    now: datetime,
) -> None:
    """A gate is closed before there is a publication: the decision alone moves."""
    of = made["decision_id"]
    became = advance(made["status"], closed.becomes, what=f"decision {of}")
    pub.store.move_decision(tx, of, made["status"], became.value, now=now)
    if closed.finding is not None:
        pub.store.add_finding(tx, of, closed.finding.plain())
    row = {
        **{name: made[name] for name in ("decision_id", "sku", "currency")},
        "publication_id": publication,
        "target": target,
        "amount": made["proposed_price"] or Decimal(0),
        "attempts": 0,
    }
    failed = told(
        EventType.PUBLISH_FAILED, row, now=now, by=pub.by.name, reason=closed.detail, becomes=became.value
    )
    pub.store.append(tx, [failed])


def unreadable(pub: Publisher, row: Fields, problem: TargetUnavailable, *, now: datetime) -> Next:
    """The shop cannot be read: later again, and after `patience` a person is told.

    Before the write that is the end of it; after it somebody must find out, however long it takes.
    """
    with pub.store.begin() as tx:
        row = pub.store.get(tx, row["publication_id"], lock=True) or row
        kept = dict(row["outcome"] or {})
        silent = dict(kept.get("silent") or {"since": now.isoformat(), "times": 0})
        silent["times"] += 1
        kept["silent"] = silent
        if kept.get("unknown"):
            # While the shop does not answer, a write may wait in it: settling starts over.
            kept["unknown"] = {**kept["unknown"], "readable_since": None}
        wait = pub.timings.asked(problem.retry_after_s, silent["times"])
        why = f"{row['target']} cannot be read: {problem}"
        if now - datetime.fromisoformat(silent["since"]) >= pub.timings.patience:
            if row["status"] == State.PUBLISH_PENDING.value:
                return bury(pub, tx, row, why, now=now, outcome=kept)
            _letter(pub, tx, row, WAITING, why, now=now)
        pub.store.change(
            tx,
            row["publication_id"],
            row["status"],
            now=now,
            outcome=kept,
            next_check_at=now + wait,
            verdict_detail=why,
        )
    return Next(State(row["status"]), at=now + wait, why=why)


def with_attempt(row: Fields, attempt: Fields) -> dict[str, Any]:
    """The stored outcome with one more attempt, and without what was known about the one before."""
    kept = dict(row["outcome"] or {})
    return {"attempts": [*kept.get("attempts", []), dict(attempt)], "polls": 0}


def rollback_started(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> None:
    """The publication that this one takes back is on its way out."""
    out = (State.VERIFIED, State.VERIFICATION_FAILED, State.QUARANTINED)
    _other(pub, tx, row, out, State.ROLLBACK_PENDING, now=now)


def rollback_done(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> None:
    """The publication that this one takes back is gone from the shop."""
    _other(pub, tx, row, (State.ROLLBACK_PENDING,), State.ROLLED_BACK, now=now)


def rollback_failed(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> None:
    """The publication that this one was to take back is still there, or something else is."""
    _other(pub, tx, row, (State.ROLLBACK_PENDING,), State.QUARANTINED, now=now)


def close_letters(pub: Publisher, tx: Any, row: Fields, *, now: datetime) -> None:
    """Whatever somebody was asked about this publication has been settled."""
    for kind in (PUBLICATION, WAITING):
        for letter in pub.letters.of(tx, kind, row["decision_id"]):
            if letter["payload"].get("publication_id") == row["publication_id"]:
                pub.letters.close(tx, letter["id"], now=now)


def _mine(pub: Publisher, tx: Any, row: Fields) -> bool:
    lease = pub.store.lease(tx, row)
    return (
        lease is not None and lease["owner"] == pub.owner and lease["publication_id"] == row["publication_id"]
    )


def _other(
    pub: Publisher, tx: Any, row: Fields, states: tuple[State, ...], to: State, *, now: datetime
) -> None:
    if row["rollback_of"] is None:
        return
    other = pub.store.get(tx, row["rollback_of"], lock=True)
    if other is not None and State(other["status"]) in states:
        move(pub.store, tx, other, to, now=now)


def _letter(pub: Publisher, tx: Any, row: Fields, kind: str, why: str, *, now: datetime) -> None:
    payload = {"publication_id": row["publication_id"]}
    pub.letters.add(
        tx, kind, row["decision_id"], payload, f"{row['sku']}: {why}", attempts=row["attempts"], now=now
    )


def _accepted(pub: Publisher, tx: Any, row: Fields, kept: dict[str, Any], *, now: datetime) -> Next:
    sent = row["sent_at"] or now
    at, why = now + pub.timings.wait(kept["polls"]), "the shop took it for later"
    if now - sent >= pub.timings.patience:
        why = f"the shop took it on {sent:%Y-%m-%d %H:%M} UTC and has not done it"
        _letter(pub, tx, row, WAITING, why, now=now)
    pub.store.change(
        tx,
        row["publication_id"],
        row["status"],
        now=now,
        outcome=kept,
        sent_at=sent,
        next_check_at=at,
        verdict_detail=why,
    )
    return Next(State.PUBLISHING, at=at, why=why)


def _again(
    pub: Publisher,
    tx: Any,
    row: Fields,
    outcome: Conflict | Throttled | NotSent,
    kept: Fields,
    *,
    now: datetime,
) -> Next:
    """Nothing was written: try the same publication once more, with the state read anew."""
    wait = pub.timings.wait(row["attempts"])
    if isinstance(outcome, Throttled):
        why, wait = "the shop asks us to wait", pub.timings.asked(outcome.retry_after_s, row["attempts"])
    elif isinstance(outcome, Conflict):
        why, wait = f"the price changed before the write: {outcome.detail}", timedelta(0)
    else:
        why = f"nothing was sent: {outcome.cause}"
    return retry(pub, tx, row, why, now=now, at=now + wait, outcome=kept)


def _with_answer(row: Fields, answer: Answer, *, now: datetime) -> dict[str, Any]:
    """The stored outcome with what was answered, and the calls as evidence."""
    kept = dict(row["outcome"] or {})
    outcome = answer.outcome
    told_of = {
        "at": now.isoformat(),
        "outcome": type(outcome).__name__.lower(),
        **{name: value for name, value in asdict(outcome).items() if isinstance(value, str | float | int)},
    }
    calls = [{**asdict(call), "at": call.at.isoformat()} for call in answer.exchanges]
    if kept.get("operation"):
        kept["polls"] = kept.get("polls", 0) + 1
        kept["last_poll"] = {**told_of, "exchanges": calls}
    else:
        attempts = list(kept.get("attempts", []))
        attempts[-1] = {**attempts[-1], **told_of, "exchanges": calls}
        kept["attempts"] = attempts
    if isinstance(outcome, Accepted):
        kept["operation"] = {"id": outcome.operation.id, "ref": asdict(outcome.operation.ref)}
        kept.setdefault("polls", 0)
    return kept
