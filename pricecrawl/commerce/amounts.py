"""Exact conversion between an amount and what a platform writes. Exactly, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from pricecrawl.domain.money_locale import minor_unit
from pricecrawl.pricing.ports import Rejected
from pricecrawl.pricing.rounding import on_quantum, quantum

_LARGEST = Decimal(10) ** 12


def checked(amount: Decimal, currency: str) -> Rejected | None:
    """Refuse what platforms themselves would swallow: zero, negative and off-quantum amounts."""
    if not amount.is_finite() or amount <= 0:
        return Rejected("non_positive", f"{amount} is not a price")
    if amount >= _LARGEST:
        return Rejected("too_large", f"{amount} is not a price")
    try:
        step = quantum(currency)
    except ValueError as problem:
        return Rejected("currency", str(problem))
    if not on_quantum(amount, step):
        return Rejected("off_quantum", f"{amount} has more decimals than {currency} has")
    return None


def to_minor(amount: Decimal, currency: str) -> int:
    """Integer in the currency's minor unit; ValueError when that would round."""
    return to_scaled(amount, minor_unit(currency))


def to_scaled(amount: Decimal, digits: int) -> int:
    """Integer with the last so many digits after the point; ValueError when that would round."""
    scaled = amount.scaleb(digits)
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{amount} has more than {digits} decimals")
    return int(scaled)


def from_minor(value: float | str | Decimal, currency: str) -> Decimal:
    """Major units from a minor-unit number; a fractional minor unit, which some platforms store, is kept."""
    return from_scaled(value, minor_unit(currency))


def from_scaled(value: float | str | Decimal, digits: int) -> Decimal:
    """The amount of a number whose last so many digits stand after the point."""
    return Decimal(str(value)).scaleb(-digits).normalize() + 0


def to_number(amount: Decimal) -> int | float:
    """The JSON number with exactly these digits; ValueError when a float cannot hold them."""
    if amount == amount.to_integral_value():
        return int(amount)
    number = float(amount)
    if Decimal(repr(number)) != amount:
        raise ValueError(f"{amount} has no exact JSON number")
    return number


def from_text(value: object) -> Decimal | None:
    """A decimal from JSON text or number, None for null, empty and what is not a number."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """Short digest of sibling prices, to prove that a write left them alone."""
    lines = sorted(json.dumps(dict(row), sort_keys=True, default=_plain) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    """10.5 and 10.50 are the same price."""
    return format(value.normalize() + 0, "f") if isinstance(value, Decimal) else str(value)
