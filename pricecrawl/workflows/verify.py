"""Reading a written price back: the interface that takes writes, then what a shopper is shown.

Verified is what has the right SKU, currency, tax basis, amount, dates and kind, whose siblings were
left alone and whose revision moved, where the platform moves it. The storefront is a second verdict:
a sale or list price may mask ours, which is said and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pricecrawl.db.publications import IN_FLIGHT
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.pricing.ports import (
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    View,
)
from pricecrawl.pricing.states import State
from pricecrawl.pricing.verification import Mismatch, Wanted, compare
from pricecrawl.workflows import incidents
from pricecrawl.workflows.incidents import foreign_write, incident, left, open_since
from pricecrawl.workflows.publisher import (
    Boundary,
    Fields,
    Next,
    Publisher,
    move,
    need_publisher,
    state_json,
    state_of,
    told,
)
from pricecrawl.workflows.recording import close_letters, rollback_done, rollback_failed, unreadable

VERDICT = 40
"""Characters of a verdict."""

_SILENT = 3
"""Prices in a row that a shop does not tell: it is away."""

VERIFIED, MASKED, UNSEEN = "verified", "verified, storefront differs", "verified, storefront not seen"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a second look at a publication found. `ok` is False where the shop has something else.

    `read` is False where the shop did not say what it has.
    """

    publication_id: str
    status: State
    ok: bool
    detail: str
    mismatches: tuple[Mismatch, ...] = ()
    state: PriceState | None = None
    storefront: PriceState | None = None
    read: bool = True


def step(pub: Publisher, row: Fields, *, now: datetime) -> Next:
    """Read back a publication that is PUBLISHED or VERIFYING."""
    of = row["publication_id"]
    if row["status"] == State.PUBLISHED.value:
        with pub.store.begin() as tx:
            row = pub.store.get(tx, of, lock=True) or row
            if row["status"] != State.PUBLISHED.value:
                return Next(State(row["status"]), at=now, why="another publisher was faster")
            row = move(pub.store, tx, row, State.VERIFYING, now=now)
        pub.passed(Boundary.VERIFYING, of)
    try:
        state, shown = _look(pub, row)
    except TargetUnavailable as problem:
        return unreadable(pub, row, problem, now=now)
    pub.passed(Boundary.CHECKED, of)
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True) or row
        if row["status"] != State.VERIFYING.value:
            return Next(State(row["status"]), at=now, why="another publisher was faster")
        after = _judge(pub, tx, row, state, shown, now=now)
    pub.passed(Boundary.SETTLED, of)
    return after


def again(pub: Publisher, of: str, *, now: datetime) -> Verification:
    """Look at a publication once more, whatever came of it before.

    What is VERIFIED stays so, for it was; that the shop has something else by now is an incident.
    What failed verification is verified anew, unless another price has taken its place.

    Raises:
        UsageProblem: there is no such publication, or it was never written.
        TargetUnavailable: the shop cannot be read.
    """
    need_publisher(pub.by)
    with pub.store.begin() as tx:
        row = pub.store.get(tx, of, lock=True)
        if row is None:
            raise UsageProblem(f"there is no publication {of}.")
        if row["status"] == State.VERIFICATION_FAILED.value:
            if (later := _overtaken(pub, tx, row)) is not None:
                return Verification(of, State.VERIFICATION_FAILED, ok=True, detail=later)
            row = move(pub.store, tx, row, State.VERIFYING, now=now, next_check_at=None)
    status = State(row["status"])
    if status in {State.PUBLISHED, State.VERIFYING}:
        with pub.alone(of):
            after = step(pub, row, now=now)
        with pub.store.engine.connect() as conn:
            row = pub.store.get(conn, of) or row
        post = None if row["post_state"] is None else state_of(row["post_state"])
        return Verification(of, after.status, after.status is State.VERIFIED, after.why, state=post)
    if status is not State.VERIFIED:
        detail = row["verdict_detail"] or "it was not written"
        raise UsageProblem(f"publication {of} is {status.value} ({detail}): there is nothing to verify.")
    return _still(pub, row, now=now)


def settled(pub: Publisher, row: Fields) -> Verification:
    """Whether the shop and the catalogue agree again about the price of a publication that came to nothing.

    `ok` where a later price was verified, or the shop has what decisions go out from.

    Raises:
        TargetUnavailable: the shop cannot be read.
    """
    of, status = row["publication_id"], State(row["status"])
    with pub.store.engine.connect() as conn:
        later, ours = _overtaken(pub, conn, row), pub.store.subject(conn, row["sku"])
    if later is not None:
        return Verification(of, status, ok=True, detail=later)
    state, shown = _look(pub, row)
    current = None if ours is None else ours.current_price
    if current is not None and state.amount == current:
        detail = f"the shop has {current}, as the catalogue says"
        return Verification(of, status, ok=True, detail=detail, state=state, storefront=shown)
    detail = (
        f"the shop has {state.amount} and the catalogue says {current}: set it right there, or take it over "
        f"with `pricecrawl targets adopt {row['target']} {row['sku']} --reason ...`"
    )
    return Verification(of, status, ok=False, detail=detail, state=state, storefront=shown)


def patrol(
    pub: Publisher, target: str, *, now: datetime, stop: Callable[[], bool] = lambda: False
) -> list[Verification]:
    """Look at every price that we left in a shop, and raise an incident for each that is another.

    What is being written at the moment is passed over; a price that cannot be read is not judged, and a shop
    that does not answer several times in a row is not asked any more. `stop` ends it early.
    """
    need_publisher(pub.by)
    pub.placement(target)
    with pub.store.engine.connect() as conn:
        rows = pub.store.standing(conn, target)
        busy = {(row["sku"], row["scope"]) for row in pub.store.open(conn, target)}
    found, silent, why = [], 0, ""
    for row in rows:
        if row["status"] != State.VERIFIED.value or (row["sku"], row["scope"]) in busy:
            continue
        if stop():
            break
        try:
            if silent < _SILENT:
                found.append(_still(pub, row, now=now))
                silent = 0
                continue
        except TargetUnavailable as problem:
            silent, why = silent + 1, str(problem)
        of = row["publication_id"]
        found.append(Verification(of, State.VERIFIED, ok=True, detail=f"not read: {why}", read=False))
    return found


def _still(pub: Publisher, row: Fields, *, now: datetime) -> Verification:
    of = row["publication_id"]
    with pub.store.engine.connect() as conn:
        later = _overtaken(pub, conn, row)
    if later is not None:
        return Verification(of, State.VERIFIED, ok=True, detail=later)
    state, shown = _look(pub, row)
    if not _differs(pub, row, state):
        return _as_left(pub, row, state, shown)
    with pub.store.begin() as tx:
        # Taken over, or overtaken, while we looked: then it is nobody else's.
        row = pub.store.get(tx, of, lock=True) or row
        if not (wrong := _differs(pub, row, state)):
            return _as_left(pub, row, state, shown)
        if (later := _overtaken(pub, tx, row)) is not None:
            return Verification(of, State.VERIFIED, ok=True, detail=later)
        detail = f"the shop has {state.amount} {state.currency}, ours is {left(row)} {row['currency']}"
        if (known := open_since(pub, tx, row)) is not None:
            detail = f"{detail}; publication {known} was written since, and its incident is open"
        elif Mismatch.AMOUNT in wrong:
            foreign_write(pub, tx, row, state, now=now)
        else:
            differs = f"it differs in {', '.join(wrong)}"
            incident(pub, tx, row, "changed", detail=differs, state=state, now=now)
    return Verification(of, State.VERIFIED, False, detail, wrong, state, shown)


def _differs(pub: Publisher, row: Fields, state: PriceState) -> tuple[Mismatch, ...]:
    """In what the shop's price is another than the one that we left there."""
    wanted = replace(_wanted(row), amount=left(row), kind=_kind(row))
    return compare(wanted, None, state, pub.placement(row["target"]).target.capabilities, written=False)


def _as_left(pub: Publisher, row: Fields, state: PriceState, shown: PriceState | None) -> Verification:
    taken = (row["outcome"] or {}).get("adopted")
    verdict = _verdict(pub, row, shown) if taken is None else f"taken over by {taken['by']}"
    return Verification(row["publication_id"], State.VERIFIED, True, verdict, (), state, shown)


def _overtaken(pub: Publisher, conn: Any, row: Fields) -> str | None:
    """Which other price was verified in the place of a publication's, or is being written, as a sentence."""
    place = (row["target"], row["sku"], row["scope"])
    for other in pub.store.of_price(conn, *place, after=row["sequence"], among=IN_FLIGHT):
        if other["publication_id"] == row["publication_id"]:
            continue
        if other["sequence"] > row["sequence"] and other["verified_at"] is not None:
            return f"publication {other['publication_id']} took its place"
        if other["status"] in IN_FLIGHT:
            return f"publication {other['publication_id']} is being written in its place"
    return None


def _kind(row: Fields) -> PriceKindAtTarget | None:
    """Which kind of price it was when it was verified."""
    return None if row["post_state"] is None else state_of(row["post_state"]).kind


def _look(pub: Publisher, row: Fields) -> tuple[PriceState, PriceState | None]:
    """Both views of a price; the storefront's is None where there is none or it cannot be read."""
    target, scope = pub.placement(row["target"]).target, PriceScope.from_key(row["scope"])
    try:
        ref: Any
        if row["pre_state"] is not None:
            ref = state_of(row["pre_state"]).ref
        else:
            ref = target.resolve(row["sku"], scope)
            if not isinstance(ref, TargetRef):
                what = "is gone" if isinstance(ref, NotFound) else "is there more than once"
                raise TargetUnavailable(f"{row['sku']} {what}")
        state = target.read(ref, scope)
        shown = None
        if target.capabilities.storefront_view:
            try:
                shown = target.read(ref, scope, View.STOREFRONT)
            except TargetUnavailable:
                shown = None
        return state, shown
    finally:
        target.exchanges()


def _judge(
    pub: Publisher, tx: Any, row: Fields, state: PriceState, shown: PriceState | None, *, now: datetime
) -> Next:
    target = pub.placement(row["target"]).target
    before = None if row["pre_state"] is None else state_of(row["pre_state"])
    written = row["sent_at"] is not None
    wrong = compare(_wanted(row), before, state, target.capabilities, written=written)
    lag = (row["sent_at"] or row["intent_at"] or now) + target.capabilities.read_lag
    old = before is not None and state.amount == before.amount
    if wrong and old and now < lag:
        at = min(now + pub.timings.wait(1), lag)
        why = f"the shop may show the old price until {lag:%H:%M:%S}"
        pub.store.change(
            tx, row["publication_id"], row["status"], now=now, next_check_at=at, verdict_detail=why
        )
        return Next(State.VERIFYING, at=at, why=why)
    values = {
        "post_state": state_json(state),
        "storefront_state": None if shown is None else state_json(shown),
        "next_check_at": None,
    }
    if wrong:
        return _failed(pub, tx, row, wrong, state=state, values=values, now=now)
    verdict = _verdict(pub, row, shown)
    note = row["verdict_detail"]
    if verdict == MASKED and shown is not None:
        note = f"{note}; shoppers see {shown.amount} {shown.currency}".lstrip("; ")
    row = move(
        pub.store,
        tx,
        row,
        State.VERIFIED,
        now=now,
        verified_at=now,
        verdict=verdict,
        verdict_detail=note,
        **values,
    )
    if not pub.store.verified_after(tx, row["sku"], row["sequence"]):
        # A second target that takes an earlier decision late does not turn the clock back.
        pub.store.set_current(tx, row["sku"], row["amount"])
    pub.store.drop_lease(tx, row, now=now, verified=True)
    rollback_done(pub, tx, row, now=now)
    close_letters(pub, tx, row, now=now)
    if row["rollback_of"] is not None:  # somebody saw what was there and took it back
        incidents.close(pub, tx, row["target"], row["sku"], scope=row["scope"], now=now)
    done = told(
        EventType.PUBLISH_VERIFIED,
        row,
        now=now,
        by=pub.by.name,
        verdict=verdict,
        note=note,
        revision=state.revision,
        rollback_of=row["rollback_of"],
    )
    pub.store.append(tx, [done])
    return Next(State.VERIFIED, done=True, why=note or verdict)


def _failed(
    pub: Publisher,
    tx: Any,
    row: Fields,
    wrong: tuple[Mismatch, ...],
    *,
    state: PriceState,
    values: Fields,
    now: datetime,
) -> Next:
    why = f"the shop has {state.amount} {state.currency} where {row['amount']} {row['currency']} was written"
    if Mismatch.AMOUNT not in wrong:
        why = f"the price is right and differs in {', '.join(wrong)}"
    row = move(
        pub.store,
        tx,
        row,
        State.VERIFICATION_FAILED,
        now=now,
        verdict=_in_short(wrong),
        verdict_detail=why,
        **values,
    )
    before = None if row["pre_state"] is None else state_of(row["pre_state"])
    if Mismatch.AMOUNT in wrong and before is not None and state.amount == before.amount:
        incident(pub, tx, row, "not_applied", detail=why, state=state, now=now)
    elif Mismatch.AMOUNT in wrong:
        foreign_write(pub, tx, row, state, now=now)
    else:
        incident(pub, tx, row, "changed", detail=why, state=state, now=now)
    rollback_failed(pub, tx, row, now=now)
    pub.store.drop_lease(tx, row, now=now)
    failed = told(
        EventType.VERIFICATION_FAILED, row, now=now, by=pub.by.name, mismatches=list(wrong), reason=why
    )
    pub.store.append(tx, [failed])
    return Next(State.VERIFICATION_FAILED, done=True, why=why)


def _in_short(wrong: tuple[Mismatch, ...]) -> str:
    """The mismatches as the column takes them; the event of the failure has them all."""
    words = ", ".join(wrong)
    return words if len(words) <= VERDICT else f"{words[: VERDICT - 5].rpartition(', ')[0]}, ..."


def _wanted(row: Fields) -> Wanted:
    return Wanted(row["sku"], PriceScope.from_key(row["scope"]), row["amount"])


def _verdict(pub: Publisher, row: Fields, shown: PriceState | None) -> str:
    if shown is None:
        views = pub.placement(row["target"]).target.capabilities.storefront_view
        return UNSEEN if views else VERIFIED
    same = shown.amount == row["amount"] and shown.currency == row["currency"]
    return VERIFIED if same else MASKED
