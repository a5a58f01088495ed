"""Exact conversion between an amount and what a platform writes. Exactly, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from pricecrawl.domain.money import minor_unit
from pricecrawl.pricing.ports import Rejected


def checked(amount: Decimal, currency: str) -> Rejected | None:
    """Refuse what platforms themselves would swallow: zero, negative and off-quantum amounts."""
    if not amount.is_finite() or amount <= 0:
        return Rejected("non_positive", f"{amount} is not a price")
    if amount != amount.quantize(Decimal(1).scaleb(-minor_unit(currency))):
        return Rejected("off_quantum", f"{amount} has more decimals than {currency} has")
    return None


def to_minor(amount: Decimal, currency: str) -> int:
    """Integer in the currency's minor unit; ValueError when that would round."""
    scaled = amount.scaleb(minor_unit(currency))
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{amount} {currency} is not a whole number of minor units")
    return int(scaled)


def from_minor(value: float | str, currency: str) -> Decimal:
    """Major units from a minor-unit number; a fractional minor unit, which some platforms store, is kept."""
    return Decimal(str(value)).scaleb(-minor_unit(currency)).normalize() + 0


def from_text(value: object) -> Decimal | None:
    """A decimal from JSON text or number, None for null, empty and what is not a number."""
    if value is None or value == "":
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """Short digest of sibling prices, to prove that a write left them alone."""
    text = json.dumps(sorted((dict(row) for row in rows), key=str), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
