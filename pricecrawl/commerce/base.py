"""What every adapter over HTTP has in common: checks before sending, and answers of unexpected shape.

An adapter writes `_resolve`, `_read` and `_write`; around them stands what the port promises, so that
no adapter can forget it: amounts are checked before anything is sent, a read that fails before the
write means that nothing was written, and an answer that cannot be understood is no answer.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from pricecrawl.commerce.amounts import checked
from pricecrawl.commerce.http import Http
from pricecrawl.pricing.ports import (
    Accepted,
    Ambiguous,
    Applied,
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
UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration)

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
        with self._understood():
            return self._resolve(sku, scope)

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """The price as it is now; TargetUnavailable on an outage."""
        with self._understood():
            return _sound(self._read(ref, scope, view))

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
        command = replace(command, timeout_s=min(command.timeout_s, self._http.timeout))
        try:
            with self._http.within(command.within_s):
                return self._discreet(self._write(command))
        except TargetUnavailable as problem:
            # Only what is read before the write raises this: nothing was written.
            if problem.throttled:
                return Throttled(problem.retry_after_s)
            return NotSent(self._http.hide(f"the state before the write: {problem}"))
        except UNEXPECTED as problem:
            return Unknown(str(self._strange(problem)))

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """State of an accepted write; only where `capabilities.asynchronous`."""
        try:
            return self._discreet(self._poll(operation))
        except UNEXPECTED:
            # Asking failed; about the write that says nothing.
            return Accepted(operation)

    def exchanges(self) -> tuple[Exchange, ...]:
        """The calls that this thread made since it last asked, oldest first."""
        return self._http.exchanges()

    @abc.abstractmethod
    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous: ...

    @abc.abstractmethod
    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState: ...

    @abc.abstractmethod
    def _write(self, command: WritePrice) -> WriteOutcome: ...

    def _poll(self, operation: OperationRef) -> WriteOutcome:
        raise NotImplementedError(f"{self.name} does not accept writes for later")

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

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """A read that does not come to an answer, in words without a secret."""
        try:
            yield
        except TargetUnavailable as problem:
            text = self._http.hide(str(problem))
            raise TargetUnavailable(
                text, throttled=problem.throttled, retry_after_s=problem.retry_after_s
            ) from None
        except UNEXPECTED as problem:
            raise self._strange(problem) from problem

    def _discreet(self, outcome: WriteOutcome) -> WriteOutcome:
        """The outcome without a secret that the shop repeats."""
        match outcome:
            case Rejected(code, detail):
                return Rejected(self._http.hide(code), self._http.hide(detail))
            case Conflict(revision, detail):
                return Conflict(revision, self._http.hide(detail))
            case Applied(revision, detail):
                return Applied(revision, self._http.hide(detail))
            case Unknown(cause):
                return Unknown(self._http.hide(cause))
            case NotSent(cause):
                return NotSent(self._http.hide(cause))
            case _:
                return outcome

    def _strange(self, problem: Exception) -> TargetUnavailable:
        return TargetUnavailable(f"{self.name} gave an answer of unexpected shape ({type(problem).__name__})")


def _sound(state: PriceState) -> PriceState:
    """The state, if everything in it is of the kind that it should be; else TypeError."""
    texts = (state.ref.sku, state.revision, state.updated_at)
    known = (state.ref.id, state.ref.parent, state.currency)
    if not all(text is None or isinstance(text, str) for text in texts):
        raise TypeError("a SKU or a revision that is no text")
    if not all(isinstance(text, str) for text in known):
        raise TypeError("an address or a currency that is no text")
    return state


def one_of(sku: str, found: list[TargetRef]) -> TargetRef | NotFound | Ambiguous:
    """The only match, or what is wrong with there being none or several."""
    if not found:
        return NotFound(sku)
    return found[0] if len(found) == 1 else Ambiguous(sku, tuple(ref.id for ref in found))
