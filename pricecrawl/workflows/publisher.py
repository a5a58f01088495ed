"""What a publisher is made of: whose name it writes in, where to, how patiently; and how it records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import uuid4

from pricecrawl.db.dead_letters import DeadLetterStore
from pricecrawl.db.publications import PublicationStore
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.pricing.ports import Effective, Placement, PriceKindAtTarget, PriceState, TargetRef
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows.events import event

PRODUCER = "publisher"

Fields = Mapping[str, Any]


class Boundary(StrEnum):
    """Between two of these a publisher may die; what the rows then say is enough to go on."""

    CLAIMED = "claimed"
    READ = "read"
    INTENDED = "intended"
    WRITTEN = "written"
    RECORDED = "recorded"
    VERIFYING = "verifying"
    CHECKED = "checked"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Timings:
    """How patient a publisher is.

    `lease` must outlast a write and its reads; `write_timeout` is the most seconds for one write, whatever
    a target's own patience; after `max_attempts` writes or readings that came to nothing a person is asked.
    `backoff` doubles from the first figure up to the second. `settle` overrides a target's own settle time.
    """

    lease: timedelta = timedelta(minutes=2)
    write_timeout: float = 60.0
    max_attempts: int = 5
    backoff: tuple[timedelta, timedelta] = (timedelta(seconds=2), timedelta(minutes=5))
    settle: timedelta | None = None
    patience: timedelta = timedelta(hours=1)
    """How long an accepted write or an unreadable shop is waited for before a person is asked."""

    def wait(self, attempts: int) -> timedelta:
        """The pause after so many attempts."""
        first, longest = self.backoff
        doubled: timedelta = first * int(2 ** min(max(attempts - 1, 0), 20))
        return min(longest, doubled)

    def asked(self, seconds: float | None, attempts: int) -> timedelta:
        """The pause that a shop asks for after so many attempts; None where it does not say.

        Never shorter than our own, for "0 seconds" five times would be no pause, nor longer than `patience`.
        """
        own = self.wait(attempts)
        if seconds is None:
            return own
        return max(own, timedelta(seconds=min(max(seconds, 0.0), self.patience.total_seconds())))


@dataclass(frozen=True, slots=True)
class Next:
    """What is to be done after a step: go on at once, or not before `at`, or nothing (`done`)."""

    status: State
    done: bool = False
    at: datetime | None = None
    why: str = ""


@dataclass(slots=True)
class Publisher:
    """The one that writes prices. `owner` names this process in leases: no two may share it.

    Raises:
        Refused: `by` is not in the role of the publisher, which alone may write a price.
    """

    store: PublicationStore
    placements: Mapping[str, Placement]
    by: Principal
    owner: str
    timings: Timings = field(default_factory=Timings)
    on: Callable[[Boundary, str], None] | None = None
    _active: set[str] = field(default_factory=set, init=False)
    _writing: dict[str, threading.BoundedSemaphore] = field(default_factory=dict, init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        need_publisher(self.by)

    @property
    def letters(self) -> DeadLetterStore:
        """Where work is put that nothing more is tried for."""
        return DeadLetterStore(self.store.engine)

    def placement(self, target: str) -> Placement:
        """Where a target's prices go.

        Raises:
            UsageProblem: this publisher knows no such target.
        """
        found = self.placements.get(target)
        if found is None:
            known = ", ".join(sorted(self.placements)) or "none"
            raise UsageProblem(
                f"there is no target {target!r} (known: {known}); set PRICECRAWL_TARGET_"
                f"{target.upper()}_KIND and its other settings."
            )
        return found

    def settle_time(self, target: str) -> timedelta:
        """How long after a lost answer a late write may still land."""
        own = self.timings.settle
        return self.placement(target).target.capabilities.settle_time if own is None else own

    def passed(self, boundary: Boundary, of: str) -> None:
        """Tell whoever listens that a boundary lies behind."""
        if self.on is not None:
            self.on(boundary, of)

    @contextmanager
    def alone(self, of: str) -> Iterator[bool]:
        """True for the only thread of this process that works on a publication."""
        with self._guard:
            mine = of not in self._active
            self._active.add(of)
        try:
            yield mine
        finally:
            if mine:
                with self._guard:
                    self._active.discard(of)

    @contextmanager
    def writer(self, target: str, *, wait: float = 5.0) -> Iterator[bool]:
        """True for as many threads of this process at a time as the target takes; `wait` is in seconds."""
        most = max(self.placement(target).target.capabilities.max_parallel_writers, 1)
        with self._guard:
            slots = self._writing.setdefault(target, threading.BoundedSemaphore(most))
        free = slots.acquire(timeout=wait)
        try:
            yield free
        finally:
            if free:
                slots.release()


def need_publisher(by: Principal) -> None:
    """The only gate to writing prices that goes by who asks.

    Raises:
        Refused: it is not the publisher.
    """
    if by.role is not Role.PUBLISHER:
        raise Refused(f"{by.name} is {by.role.value}: only the publisher writes prices.")


def move(
    store: PublicationStore, tx: Any, row: Fields, to: State, *, now: datetime, **values: Any
) -> dict[str, Any]:
    """Move a publication, and the decision with it where this is its first publication.

    Returns the row as it is then.
    """
    of, decision = row["publication_id"], row["decision_id"]
    became = advance(row["status"], to, what=f"publication {of}")
    store.change(tx, of, row["status"], now=now, status=became.value, **values)
    first = store.of_decision(tx, decision)[0]["publication_id"]
    made = store.decision(tx, decision, lock=True)
    if first == of and made is not None and made["status"] == row["status"]:
        advance(made["status"], to, what=f"decision {decision}")
        store.move_decision(tx, decision, made["status"], became.value, now=now)
    return {**row, **values, "status": became.value, "updated_at": now}


def told(kind: EventType, row: Fields, *, now: datetime, by: str, **payload: Any) -> Event:
    """An event of a publication, in the chain of causes of its decision."""
    body = {
        "publication_id": row["publication_id"],
        "decision_id": row["decision_id"],
        "target": row["target"],
        "sku": row["sku"],
        "amount": format(row["amount"], "f"),
        "currency": row["currency"],
        "by": by,
        **payload,
    }
    return event(
        kind,
        f"publication:{row['publication_id']}",
        body,
        now=now,
        correlation=row["decision_id"],
        producer=PRODUCER,
        # Every event of a publication is written with the one change that it tells of, and that
        # happens once: nothing has to make the same id again.
        key=uuid4(),
    )


def state_json(state: PriceState) -> dict[str, Any]:
    """A state as it is stored."""
    return {
        "ref": {"sku": state.ref.sku, "id": state.ref.id, "parent": state.ref.parent},
        "amount": None if state.amount is None else format(state.amount, "f"),
        "currency": state.currency,
        "tax_basis": state.tax_basis.value,
        "kind": state.kind.value,
        "effective": [_text(state.effective.start), _text(state.effective.end)],
        "revision": state.revision,
        "updated_at": state.updated_at,
        "siblings_digest": state.siblings_digest,
        "read_at": _text(state.read_at),
        "view": state.view.value,
    }


def state_of(kept: Fields) -> PriceState:
    """A stored state."""
    start, end = (None if text is None else datetime.fromisoformat(text) for text in kept["effective"])
    return PriceState(
        ref=TargetRef(**kept["ref"]),
        amount=None if kept["amount"] is None else Decimal(kept["amount"]),
        currency=kept["currency"],
        tax_basis=TaxBasis(kept["tax_basis"]),
        kind=PriceKindAtTarget(kept["kind"]),
        effective=Effective(start, end),
        revision=kept["revision"],
        updated_at=kept["updated_at"],
        siblings_digest=kept["siblings_digest"],
        read_at=None if kept["read_at"] is None else datetime.fromisoformat(kept["read_at"]),
    )


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
