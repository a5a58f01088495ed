"""The port to a shop platform: what an adapter must answer, and in which words.

An adapter holds no business rule. It converts exactly or refuses, it never retries by itself, and
it never raises for a call that was answered. Idempotency, ordering, leases and conflicts are the
publisher's own, for no platform takes our key and most are last-writer-wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, Self

from pricecrawl.domain.market import TaxBasis


class View(StrEnum):
    """Which side of the shop is read: the interface that takes writes, or what a shopper is shown."""

    AUTHORITATIVE = "authoritative"
    STOREFRONT = "storefront"


class Cas(StrEnum):
    """Whether a write can be made conditional on the state that was read before it."""

    NONE = "none"
    REVISION = "revision"


class MoneyForm(StrEnum):
    """How a platform writes an amount."""

    MINOR = "minor"
    DECIMAL = "decimal"
    MICROS = "micros"
    FLOAT = "float"


class PriceKindAtTarget(StrEnum):
    """Which of a platform's several prices this is; a LIST or SALE price can mask the BASE one."""

    BASE = "base"
    LIST = "list"
    SALE = "sale"


@dataclass(frozen=True, slots=True)
class PriceScope:
    """Where a price applies. `currency` is ISO 4217; empty fields mean the platform's default."""

    currency: str
    tax_basis: TaxBasis
    channel: str = ""
    price_list: str = ""
    min_quantity: int = 1
    customer_group: str = ""

    @property
    def key(self) -> str:
        """One text for leases and unique keys."""
        parts = (self.currency, self.tax_basis.value, self.channel, self.price_list, str(self.min_quantity))
        return "|".join((*parts, self.customer_group))

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The scope that a `key` was made of."""
        currency, basis, channel, price_list, quantity, group = key.split("|")
        return cls(currency, TaxBasis(basis), channel, price_list, int(quantity), group)

    def __post_init__(self) -> None:
        if any("|" in part for part in (self.currency, self.channel, self.price_list, self.customer_group)):
            raise ValueError("a scope's names cannot contain '|'")


@dataclass(frozen=True, slots=True)
class Effective:
    """From when until when a price holds; None means now and without end."""

    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class TargetRef:
    """The platform's own address of one price: `id` is opaque, `parent` its product where there is one."""

    sku: str
    id: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class NotFound:
    """The platform has no such SKU."""

    sku: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The platform has the SKU more than once; nothing may be written until a person settles it."""

    sku: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PriceState:
    """What a platform holds for one price at one moment; `revision` is opaque and may be None."""

    ref: TargetRef
    amount: Decimal | None
    currency: str
    tax_basis: TaxBasis
    kind: PriceKindAtTarget = PriceKindAtTarget.BASE
    effective: Effective = field(default_factory=Effective)
    revision: str | None = None
    updated_at: str | None = None
    siblings_digest: str = ""
    read_at: datetime | None = None
    view: View = View.AUTHORITATIVE


@dataclass(frozen=True, slots=True)
class WritePrice:
    """One absolute price to set. `decision_id` is the idempotency key; `sequence` grows per scope.

    `timeout_s` is how long its answer is waited for at most (a target's own patience may be shorter), and
    `within_s` how soon it has to leave: after that somebody else may be writing this price.
    """

    publication_id: str
    decision_id: str
    sequence: int
    ref: TargetRef
    scope: PriceScope
    amount: Decimal
    expected_revision: str | None = None
    expected_amount: Decimal | None = None
    effective: Effective = field(default_factory=Effective)
    timeout_s: float = 20.0
    within_s: float = math.inf


@dataclass(frozen=True, slots=True)
class OperationRef:
    """A write that the platform took and has not finished."""

    id: str
    ref: TargetRef


@dataclass(frozen=True, slots=True)
class Applied:
    """The platform says the price is set; reading it back is still the proof."""

    revision: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The platform will do it later: poll."""

    operation: OperationRef


@dataclass(frozen=True, slots=True)
class Conflict:
    """The state is not the one the write was conditional on."""

    current_revision: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The platform, or the adapter's exact conversion, refuses this write for good."""

    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Throttled:
    """Too many calls; nothing was written. `retry_after_s` is None when the platform does not say."""

    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class NotSent:
    """Nothing left this machine: safe to try again."""

    cause: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Bytes left and no trustworthy answer came: reconcile before any retry."""

    cause: str


WriteOutcome = Applied | Accepted | Conflict | Rejected | Throttled | NotSent | Unknown


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do, so that the publisher knows what to check.

    `settle_time` is how long after a lost answer a late write may still land; `read_lag` how long a
    read may show the old price; `max_parallel_writers` how many prices are written to it at a time.
    """

    cas: Cas = Cas.NONE
    revision_moves_on_price: bool = False
    asynchronous: bool = False
    effective_window: bool = False
    replaces_siblings: bool = False
    staged: bool = False
    storefront_view: bool = False
    money: MoneyForm = MoneyForm.DECIMAL
    tax_bases: tuple[TaxBasis, ...] = (TaxBasis.INCLUSIVE, TaxBasis.EXCLUSIVE)
    max_parallel_writers: int = 1
    read_lag: timedelta = timedelta(0)
    settle_time: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call to a platform, kept as evidence: no header, and no secret in any text."""

    at: datetime
    request: str
    body: str
    status: int | None
    answer: str


class TargetUnavailable(Exception):
    """A read could not be answered (outage, throttling, bad answer); says nothing about the price."""

    def __init__(self, cause: str, *, throttled: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(cause)
        self.throttled = throttled
        self.retry_after_s = retry_after_s


class CommerceTarget(Protocol):
    """One shop platform. `name` is the target's name in leases, holds and publications."""

    name: str
    capabilities: Capabilities

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """Find the platform's own address of a SKU's price; TargetUnavailable on an outage."""
        ...

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """The price as it is now; TargetUnavailable on an outage."""
        ...

    def write(self, command: WritePrice) -> WriteOutcome:
        """Send one write, once; never raises for an answered call and never retries."""
        ...

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """State of an accepted write; only where `capabilities.asynchronous`."""
        ...

    def exchanges(self) -> tuple[Exchange, ...]:
        """The calls that this thread made since it last asked, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Placement:
    """A target and which of its prices ours are: the part of a scope that a decision does not know."""

    target: CommerceTarget
    channel: str = ""
    price_list: str = ""
    customer_group: str = ""

    def __post_init__(self) -> None:
        # Wrong names are found when a target is configured, not when its first price is written.
        PriceScope("", TaxBasis.UNKNOWN, self.channel, self.price_list, customer_group=self.customer_group)

    def scope(self, currency: str, tax_basis: TaxBasis) -> PriceScope:
        """Where a price in this currency and on this basis goes."""
        return PriceScope(
            currency, tax_basis, self.channel, self.price_list, customer_group=self.customer_group
        )
