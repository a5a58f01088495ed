"""A shop in memory that does what a test tells it, with the port of a real one; and a clock to drive."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from pricecrawl.commerce.amounts import digest
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    Exchange,
    NotFound,
    OperationRef,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)
from tests.workflows.street import NOW

SETTLE = timedelta(seconds=60)


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self, now: datetime = NOW + timedelta(minutes=1)) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=max(seconds, 0.001))


class WallClock(Clock):
    """Real time, for real shops."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(max(seconds, 0.0))


@dataclass
class Shelf:
    """`prices` by SKU; `answers` are what the next writes do, in turn, after which they are applied.

    An answer is an outcome (nothing is written), or a function of the command that may write.
    """

    prices: dict[str, Decimal] = field(default_factory=dict)
    currency: str = "EUR"
    name: str = "shelf"
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(
            revision_moves_on_price=True, storefront_view=True, settle_time=SETTLE
        )
    )
    answers: list[WriteOutcome | Callable[[WritePrice], WriteOutcome]] = field(default_factory=list)
    polls: list[WriteOutcome] = field(default_factory=list)
    writes: list[WritePrice] = field(default_factory=list)
    applied: list[tuple[str, Decimal]] = field(default_factory=list)
    deaf: int = 0
    shown: dict[str, Decimal] = field(default_factory=dict)
    siblings: dict[str, Decimal] = field(default_factory=dict)
    twice: set[str] = field(default_factory=set)
    _revisions: dict[str, int] = field(default_factory=dict)
    _count: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def put(self, sku: str, price: Decimal | str) -> None:
        """Somebody sets a price."""
        self.prices[sku] = Decimal(price)
        self._revisions[sku] = next(self._count)

    def apply(self, command: WritePrice) -> Applied:
        """Do what a command says."""
        self.put(command.ref.sku, command.amount)
        self.applied.append((command.ref.sku, command.amount))
        return Applied(str(self._revisions[command.ref.sku]))

    def drop(self, command: WritePrice) -> Unknown:
        """Write, and lose the answer."""
        self.apply(command)
        return Unknown("reply lost")

    def _listen(self) -> None:
        if self.deaf:
            self.deaf -= 1
            raise TargetUnavailable("no answer")

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        self._listen()
        if sku in self.twice:
            return Ambiguous(sku, ("1", "2"))
        return TargetRef(sku, f"id-{sku}") if sku in self.prices else NotFound(sku)

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        self._listen()
        state = PriceState(
            ref=ref,
            amount=self.prices[ref.sku],
            currency=self.currency,
            tax_basis=scope.tax_basis,
            revision=str(self._revisions.get(ref.sku, 0)),
            siblings_digest=digest([{"eur": self.siblings.get(ref.sku, Decimal(0))}]),
            view=view,
        )
        if view is View.STOREFRONT:
            return replace(state, amount=self.shown.get(ref.sku, state.amount), revision=None)
        return state

    def write(self, command: WritePrice) -> WriteOutcome:
        self.writes.append(command)
        answer = self.answers.pop(0) if self.answers else self.apply
        return answer(command) if callable(answer) else answer

    def poll(self, operation: OperationRef) -> WriteOutcome:
        return self.polls.pop(0)

    def exchanges(self) -> tuple[Exchange, ...]:
        return ()
