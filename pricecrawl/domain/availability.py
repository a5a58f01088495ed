"""What a shop says about stock, in six words.

"Cannot tell" (UNKNOWN) is an answer of its own: it never overwrites a known state and it is never
taken for IN_STOCK. The mapping from a shop's own words happens once, in the stock reader; an
unrecognised word is UNKNOWN and is counted, never a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Availability(StrEnum):
    """State of one listing; values are what the database, the API and the feeds carry."""

    IN_STOCK = "in_stock"
    OUT_OF_STOCK = "out_of_stock"
    PRE_ORDER = "pre_order"
    MEMBER_ONLY = "member_only"
    NOT_AVAILABLE = "not_available"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StockReading:
    """One reading of stock from a page or feed.

    `confidence` is 0..1: configured rule 0.95, schema.org 0.90, global rule 0.85, phrase 0.50.
    `text` is what the shop wrote; `method` and `selector` say where.
    """

    value: Availability
    method: str
    confidence: float
    selector: str = ""
    text: str = ""
