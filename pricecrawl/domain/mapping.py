"""Which of our SKUs a listing is, how that was found, and whether it may be relied on."""

from __future__ import annotations

from enum import StrEnum


class MappingStatus(StrEnum):
    """State of one (listing, SKU) pair; only the two ACCEPTED ones let an offer count."""

    AUTO_ACCEPTED = "AUTO_ACCEPTED"
    HUMAN_ACCEPTED = "HUMAN_ACCEPTED"
    REVIEW_REQUIRED = "REVIEW_REQUIRED"
    REJECTED = "REJECTED"


class MappingMethod(StrEnum):
    """How the pair was found, strongest first. Closed."""

    GTIN_EXACT = "gtin_exact"
    BRAND_MPN_EXACT = "brand_mpn_exact"
    MODEL = "model"
    MANUAL = "manual"


ACCEPTED = frozenset({MappingStatus.AUTO_ACCEPTED, MappingStatus.HUMAN_ACCEPTED})
