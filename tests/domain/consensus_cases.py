"""Short ways to write candidates in the consensus tests."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pricecrawl.domain.candidate import Candidate, Method, PriceKind, confidence_of, weight_of

KIND_OF = {
    Method.DEAL_PRICE: PriceKind.SALE,
    Method.MEMBER_PRICE: PriceKind.MEMBER,
    Method.ORIGINAL_PRICE: PriceKind.LIST,
    Method.PRE_ORDER_PRICE: PriceKind.PRE_ORDER,
}


def read(
    amount: str, method: Method, selector: str = "", *, currency: str | None = "EUR", **fields: Any
) -> Candidate:
    """A candidate with its method's own kind, weight and confidence unless told otherwise."""
    fields.setdefault("kind", KIND_OF.get(method, PriceKind.STANDARD))
    fields.setdefault("confidence", confidence_of(method))
    fields.setdefault("weight", weight_of(method))
    return Candidate(amount=Decimal(amount), currency=currency, method=method, selector=selector, **fields)
