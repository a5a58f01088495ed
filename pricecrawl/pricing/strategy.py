"""What price we would like, before anything limits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType


def match(market_price: Decimal) -> Decimal:
    """The market price itself: no undercut."""
    return market_price


STRATEGIES: Mapping[str, Callable[[Decimal], Decimal]] = MappingProxyType({"match": match})
