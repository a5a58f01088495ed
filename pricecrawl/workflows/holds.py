"""Kill switches: what is held, by whom and why. They are read when a price is decided and written."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from pricecrawl.db.holds import HoldRow, HoldStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.said import says_something
from pricecrawl.workflows.events import event

SCOPES = ("everything", "target", "source", "sku")


def place(
    store: HoldStore,
    scope: str,
    value: str,
    *,
    reason: str,
    by: str,
    now: datetime,
    targets: Collection[str] | None = None,
) -> int:
    """Switch on; returns the hold's id. What is held already under that name stays held, once.

    `targets` are those that are configured here; None takes any name for one.

    Raises:
        UsageProblem: an unknown scope, a name missing or too many, no reason, or a source, SKU or target
            that does not exist: a switch under a misspelt name would stop nothing.
    """
    _check(store, scope, value, targets)
    if not says_something(reason):
        raise UsageProblem("a hold needs a reason: whoever finds it must know whether it may be cleared.")
    with store.begin() as tx:
        for row in store.active(tx):
            if (row.scope, row.value) == (scope, value):
                return row.id
        number = store.add(tx, scope, value, reason=reason.strip(), by=by, now=now)
        store.append(tx, [_event(number, "set", (scope, value), reason=reason.strip(), by=by, now=now)])
    return number


def clear(store: HoldStore, scope: str, value: str, *, reason: str, by: str, now: datetime) -> int:
    """Switch off every hold of that scope and name; returns how many there were.

    Raises:
        UsageProblem: nothing of that name is held, or no reason is given.
    """
    if scope not in SCOPES:
        raise UsageProblem(f"{scope!r} cannot be held; holds are on {', '.join(SCOPES)}.")
    if not says_something(reason):
        raise UsageProblem("clearing a hold needs a reason.")
    with store.begin() as tx:
        held = [row for row in store.active(tx) if (row.scope, row.value) == (scope, value)]
        if not held:
            raise UsageProblem(
                f"{f'{scope} {value}'.strip()} is not held; `pricecrawl hold list` shows what is."
            )
        store.clear(tx, [row.id for row in held], by=by, now=now)
        store.append(
            tx,
            [
                _event(row.id, "cleared", (scope, value), reason=reason.strip(), by=by, now=now)
                for row in held
            ],
        )
    return len(held)


def active(store: HoldStore) -> list[HoldRow]:
    """Every switch that is on, oldest first."""
    with store.engine.connect() as conn:
        return store.active(conn)


def _check(store: HoldStore, scope: str, value: str, targets: Collection[str] | None) -> None:
    if scope not in SCOPES:
        raise UsageProblem(f"{scope!r} cannot be held; holds are on {', '.join(SCOPES)}.")
    if scope == "everything" and value:
        raise UsageProblem("a hold on everything takes no name.")
    if scope != "everything" and not value:
        raise UsageProblem(f"name the {scope} to hold.")
    if scope == "target":
        if targets is not None and value not in targets and not store.exists(scope, value):
            known = ", ".join(sorted(targets)) or "none"
            raise UsageProblem(
                f"there is no target {value!r} to hold: it is not configured here (known: {known}) and "
                "nothing was published to it; `pricecrawl hold set everything` stops all."
            )
    elif not store.exists(scope, value):
        raise UsageProblem(f"there is no {scope} {value!r} to hold.")


def _event(number: int, change: str, of: tuple[str, str], *, reason: str, by: str, now: datetime) -> Any:
    scope, value = of
    return event(
        EventType.HOLD_CHANGED,
        f"hold:{number}",
        {"hold_id": number, "change": change, "scope": scope, "value": value, "reason": reason, "by": by},
        now=now,
        correlation=f"hold:{number}",
        producer="operations",
        key=change,
    )
