"""Taking up again what was put aside: a dead letter of a publication."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.pricing.states import State
from pricecrawl.workflows import incidents, recording, verify
from pricecrawl.workflows.publisher import Publisher, move, need_publisher, told


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a letter: `publication_id` goes on if `again`, and `detail` says more."""

    letter: int
    publication_id: str
    again: bool
    detail: str


def replay(pub: Publisher, number: int, *, now: datetime) -> Replayed:
    """Give a letter another chance; every gate is asked anew.

    A publication that failed starts over under the same key. One that waits for a shop is looked at
    at once. An incident is closed if the shop has our price by now, and stays open if it has not.

    Raises:
        UsageProblem: there is no such letter, it was replayed already, or its publication cannot start over.
        TargetUnavailable: the shop cannot be read, for an incident.
    """
    need_publisher(pub.by)
    with pub.store.engine.connect() as conn:
        letter = pub.letters.get(conn, number)
    if letter is None:
        raise UsageProblem(f"there is no dead letter {number}; `pricecrawl jobs list` shows them.")
    if letter["replayed_at"] is not None:
        raise UsageProblem(f"letter {number} was replayed on {letter['replayed_at']:%Y-%m-%d %H:%M} already.")
    of = str(letter["payload"]["publication_id"])
    if letter["kind"] == incidents.LETTER:
        found = _look(pub, of, now=now)
        if found.ok:
            with pub.store.begin() as tx:
                pub.letters.close(tx, number, now=now)
        return Replayed(number, of, again=False, detail=found.detail)
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True)
        if row is None:
            raise UsageProblem(f"publication {of} of letter {number} is gone.")
        pub.letters.close(tx, number, now=now)
        if letter["kind"] == recording.WAITING:
            pub.store.change(tx, of, row["status"], now=now, next_check_at=None)
            return Replayed(number, of, again=True, detail="looked at again now")
        if row["status"] != State.PUBLISH_FAILED.value:
            return Replayed(number, of, again=False, detail=f"it is {row['status']} by now")
        row = move(
            pub.store,
            tx,
            row,
            State.PUBLISH_PENDING,
            now=now,
            attempts=0,
            next_check_at=None,
            verdict_detail="",
        )
        asked = told(EventType.PUBLISH_REQUESTED, row, now=now, by=pub.by.name, letter=number)
        pub.store.append(tx, [asked])
    return Replayed(number, of, again=True, detail="starts over")


_NOTHING_STANDS = {State.QUARANTINED.value, State.ROLLED_BACK.value, State.ROLLBACK_PENDING.value}


def _look(pub: Publisher, of: str, *, now: datetime) -> verify.Verification:
    """What the shop has by now for the publication of an incident."""
    with pub.store.engine.connect() as conn:
        row = pub.store.get(conn, of)
    if row is not None and row["status"] in _NOTHING_STANDS:
        return verify.settled(pub, row)
    return verify.again(pub, of, now=now)
