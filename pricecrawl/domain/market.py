"""Where a price is valid: country, currency, language and tax rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TaxBasis(StrEnum):
    """What a shown amount contains. UNKNOWN is honest where nothing on the page says so."""

    INCLUSIVE = "incl"
    EXCLUSIVE = "excl"
    DUTY_FREE = "duty_free"
    DUTY_PAID = "duty_paid"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Market:
    """Context for reading prices of one source.

    `country` is ISO 3166-1 alpha-2, `currency` ISO 4217, `locale` a CLDR identifier such as
    `de_CH`. Each may be None: an unknown currency stays unknown and is never assumed to be USD.
    """

    country: str | None = None
    currency: str | None = None
    locale: str | None = None
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
