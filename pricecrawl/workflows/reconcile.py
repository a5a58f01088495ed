"""After a write without an answer: find out what the shop has, and only then go on.

The price that was wanted is there: published, though who set it is not proven. Nothing has changed
since before the write, and the shop has been answering for its settle time: the same write again,
under the same key. Anything else: somebody else wrote, which is an incident.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pricecrawl.pricing.ports import (
    Accepted,
    OperationRef,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    WriteOutcome,
)
from pricecrawl.pricing.states import State
from pricecrawl.pricing.verification import Judgement, Wanted, judge
from pricecrawl.workflows.incidents import foreign_write
from pricecrawl.workflows.publisher import Fields, Next, Publisher, move, state_json, state_of
from pricecrawl.workflows.recording import (
    Answer,
    published,
    record,
    retry,
    rollback_failed,
    uncertain,
    unreadable,
)

UNPROVEN = "effect present, authorship unproven"
STOPPED = "the publisher stopped between intent and answer"


def step(pub: Publisher, row: Fields, *, now: datetime) -> Next:
    """One look at a publication that is PUBLISHING: ask about it, or read the shop."""
    kept = row["outcome"] or {}
    if kept.get("operation") and not kept.get("unknown"):
        return _poll(pub, row, kept["operation"], now=now)
    if not kept.get("unknown"):
        with pub.store.begin() as tx:
            row = pub.store.get(tx, row["publication_id"], lock=True) or row
            if row["status"] != State.PUBLISHING.value or (row["outcome"] or {}).get("unknown"):
                return Next(State(row["status"]), at=now)
            return uncertain(pub, tx, row, STOPPED, now=now, outcome=row["outcome"] or {})
    target, scope = pub.placement(row["target"]).target, PriceScope.from_key(row["scope"])
    before = state_of(row["pre_state"])
    try:
        state = target.read(before.ref, scope)
    except TargetUnavailable as problem:
        return unreadable(pub, row, problem, now=now)
    finally:
        target.exchanges()
    with pub.store.begin() as tx:
        row = pub.store.get(tx, row["publication_id"], lock=True) or row
        if row["status"] != State.PUBLISHING.value:
            return Next(State(row["status"]), at=now, why="another publisher was faster")
        return _settle(pub, tx, row, before, state, now=now)


def _poll(pub: Publisher, row: Fields, operation: Fields, *, now: datetime) -> Next:
    target = pub.placement(row["target"]).target
    asked = OperationRef(operation["id"], TargetRef(**operation["ref"]))
    outcome: WriteOutcome
    try:
        outcome = target.poll(asked)
    except Exception:  # an adapter's mistake in asking says nothing about the write
        outcome = Accepted(asked)
    return record(pub, row, Answer(outcome, target.exchanges()), now=now)


def _settle(
    pub: Publisher, tx: Any, row: Fields, before: PriceState, state: PriceState, *, now: datetime
) -> Next:
    kept = {**row["outcome"], "silent": None}
    wanted = Wanted(row["sku"], PriceScope.from_key(row["scope"]), row["amount"])
    judgement = judge(wanted, before, state)
    if judgement is Judgement.APPLIED:
        return published(pub, tx, row, UNPROVEN, now=now, outcome=kept)
    readable = kept["unknown"]["readable_since"]
    since = now if readable is None else datetime.fromisoformat(readable)
    settled = since + pub.settle_time(row["target"])
    if readable is None or now < settled:
        kept["unknown"] = {**kept["unknown"], "readable_since": since.isoformat()}
        why = f"waiting for a late write until {settled:%H:%M:%S}: {kept['unknown']['cause']}"
        pub.store.change(
            tx,
            row["publication_id"],
            row["status"],
            now=now,
            outcome=kept,
            next_check_at=settled,
            verdict_detail=why,
        )
        return Next(State.PUBLISHING, at=settled, why=why)
    if judgement is Judgement.UNTOUCHED:
        why = "nothing changed in the shop: the write never arrived"
        return retry(pub, tx, row, why, now=now, at=now, outcome=kept)
    if state.amount == before.amount:
        why = (
            f"the shop has {state.amount} as before, but something was changed there since we sent "
            f"{row['amount']}: whether ours came and was taken back cannot be told"
        )
    else:
        why = (
            f"the shop has {state.amount} instead of {before.amount} or {row['amount']}: somebody else wrote"
        )
    row = move(
        pub.store,
        tx,
        row,
        State.QUARANTINED,
        now=now,
        outcome=kept,
        post_state=state_json(state),
        verdict="foreign_write",
        verdict_detail=why,
        next_check_at=None,
    )
    foreign_write(pub, tx, row, state, now=now)
    rollback_failed(pub, tx, row, now=now)
    pub.store.drop_lease(tx, row, now=now)
    return Next(State.QUARANTINED, done=True, why=why)
