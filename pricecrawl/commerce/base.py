"""What every adapter over HTTP has in common: checks before sending, and answers of unexpected shape.

An adapter writes `_resolve`, `_read` and `_write`; around them stands what the port promises, so that
no adapter can forget it: amounts are checked before anything is sent, a read that fails before the
write means that nothing was written, and an answer that cannot be understood is no answer.
"""

from __future__ import annotations

import abc
from datetime import timedelta
from decimal import InvalidOperation
from typing import ClassVar

from pricecrawl.commerce.amounts import checked
from pricecrawl.commerce.http import Http
from pricecrawl.pricing.ports import (
    Ambiguous,
    Capabilities,
    Conflict,
    Effective,
    Exchange,
    NotFound,
    NotSent,
    OperationRef,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
    Throttled,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)

# What taking a JSON answer apart raises when it is not of the shape that the platform documents.
UNEXPECTED = (KeyError, IndexError, TypeError, ValueError, AttributeError, InvalidOperation)

SETTLE = timedelta(seconds=60)
"""How long a write without an answer may still land: longer than a platform's own request timeout."""


PLACES = ("channel", "price_list", "customer_group")
"""What a scope may name besides currency and tax."""


class HttpTarget(abc.ABC):
    """One shop platform over HTTP; see `pricing.ports.CommerceTarget` for what the methods answer."""

    name: str
    capabilities: Capabilities
    places: ClassVar[frozenset[str]] = frozenset()
    """Parts of a scope that tell this platform's prices apart: of channel, price_list, customer_group."""

    def __init__(self, name: str, capabilities: Capabilities, http: Http) -> None:
        self.name = name
        self.capabilities = capabilities
        self._http = http

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """Find the platform's own address of a SKU's price; TargetUnavailable on an outage."""
        try:
            return self._resolve(sku, scope)
        except UNEXPECTED as problem:
            raise self._strange(problem) from problem

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """The price as it is now; TargetUnavailable on an outage."""
        try:
            return self._read(ref, scope, view)
        except UNEXPECTED as problem:
            raise self._strange(problem) from problem

    def write(self, command: WritePrice) -> WriteOutcome:
        """Send one write, once; never raises for an answered call and never retries."""
        scope = command.scope
        if (wrong := checked(command.amount, scope.currency)) is not None:
            return wrong
        if scope.tax_basis not in self.capabilities.tax_bases:
            return Rejected("tax_basis", f"{self.name} has no {scope.tax_basis.value} prices")
        if command.effective != Effective() and not self.capabilities.effective_window:
            return Rejected("effective_window", f"{self.name} has no prices for a time")
        named = {name for name in PLACES if getattr(scope, name)}
        if named - self.places or scope.min_quantity != 1:  # written anyway, it would be another price
            return Rejected("scope", f"{self.name} cannot write a price of scope {scope.key}")
        try:
            return self._write(command)
        except TargetUnavailable as problem:
            # Only what is read before the write raises this: nothing was written.
            if problem.throttled:
                return Throttled(problem.retry_after_s)
            return NotSent(f"the state before the write: {problem}")
        except UNEXPECTED as problem:
            return Unknown(str(self._strange(problem)))

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """State of an accepted write; only where `capabilities.asynchronous`."""
        raise NotImplementedError(f"{self.name} does not accept writes for later")

    def exchanges(self) -> tuple[Exchange, ...]:
        """The calls that this thread made since it last asked, oldest first."""
        return self._http.exchanges()

    @abc.abstractmethod
    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous: ...

    @abc.abstractmethod
    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState: ...

    @abc.abstractmethod
    def _write(self, command: WritePrice) -> WriteOutcome: ...

    def _before(self, command: WritePrice) -> PriceState | Rejected | Conflict:
        """The state right before a write, if the write fits it."""
        now = self.read(command.ref, command.scope)
        if now.amount is None:
            return Rejected(
                "not_priced", f"{command.ref.sku} has no {command.scope.currency} price to change"
            )
        if now.currency != command.scope.currency:
            return Rejected("currency", f"the price of {command.ref.sku} is in {now.currency}")
        if now.tax_basis is not command.scope.tax_basis:
            return Rejected("tax_basis", f"{self.name} stores {now.tax_basis.value} prices here")
        if now.ref.sku != command.ref.sku:
            return Conflict(now.revision, f"{command.ref.id} is the price of {now.ref.sku} by now")
        if command.expected_amount is not None and now.amount != command.expected_amount:
            return Conflict(now.revision, f"the price is {now.amount} by now")
        return now

    def _strange(self, problem: Exception) -> TargetUnavailable:
        return TargetUnavailable(f"{self.name} gave an answer of unexpected shape ({type(problem).__name__})")


def one_of(sku: str, found: list[TargetRef]) -> TargetRef | NotFound | Ambiguous:
    """The only match, or what is wrong with there being none or several."""
    if not found:
        return NotFound(sku)
    return found[0] if len(found) == 1 else Ambiguous(sku, tuple(ref.id for ref in found))
