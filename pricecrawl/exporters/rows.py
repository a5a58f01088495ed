"""An observation as one flat row: fixed columns in a fixed order, amounts as decimal strings, ISO times."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum

from pricecrawl.domain.observation import Observation

Value = str | int | bool | None

COLUMNS: tuple[str, ...] = (
    "source",
    "source_sku",
    "observed_at",
    "name",
    "brand",
    "variant",
    "gtin",
    "mpn",
    "category",
    "condition",
    "seller",
    "pack",
    "base_quantity",
    "base_unit",
    "price",
    "currency",
    "price_kind",
    "original_price",
    "member_price",
    "pre_order_price",
    "shipping",
    "promotion_text",
    "tax_basis",
    "availability",
    "method",
    "selector",
    "needs_review",
    "review_reasons",
    "url",
    "image_url",
    "evidence_digest",
    "evidence_warc",
    "evidence_offset",
    "extractor_version",
)
INTEGERS = frozenset({"pack", "evidence_offset"})
BOOLEANS = frozenset({"needs_review"})


def flat(observation: Observation) -> dict[str, Value]:
    """The row of an observation, every column present, in the order of COLUMNS.

    Text is kept as it is; an unknown value is None. `review_reasons` are joined by a space.
    """
    row: dict[str, Value] = {}
    for column in COLUMNS:
        if column.startswith("evidence_"):
            value = getattr(observation.evidence, column.removeprefix("evidence_"), None)
        else:
            value = getattr(observation, column)
        row[column] = _plain(value)
    return row


def _plain(value: object) -> Value:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(str(_plain(part)) for part in value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
