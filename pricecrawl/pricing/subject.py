"""What is priced and what it costs us."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import ONE_UNIT, Content

_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Subject:
    """One SKU of ours. Amounts are major units of `currency` on `tax_basis`."""

    sku: str
    currency: str
    country: str | None = None
    tax_basis: TaxBasis = TaxBasis.INCLUSIVE
    content: Content = ONE_UNIT
    current_price: Decimal | None = None
    protected: bool = False
    tier: str = "B"
    active: bool = True


@dataclass(frozen=True, slots=True)
class Cost:
    """What one unit costs us and what we may not go under, on the SKU's own tax basis.

    The row that is in force, or, if none is, the latest that was: `valid_to` then lies in the past
    and the cost is stale. `confirmed_at` is when the row was last imported.
    """

    currency: str
    cogs: Decimal
    fulfilment: Decimal
    payment: Decimal
    map_price: Decimal | None
    regulatory_floor: Decimal | None
    map_required: bool
    regulatory_required: bool
    valid_from: datetime
    valid_to: datetime | None
    confirmed_at: datetime

    def consistent_with(self, currency: str) -> bool:
        """Goods that cost something, charges of 0 or more, bounds above 0, in the SKU's currency.

        A blank that arrived as 0 would make a floor of 0, and a floor of 0 sells at a penny.
        """
        return (
            self.currency == currency
            and self.cogs > _ZERO
            and self.fulfilment >= _ZERO
            and self.payment >= _ZERO
            and (self.map_price is None or self.map_price > _ZERO)
            and (self.regulatory_floor is None or self.regulatory_floor > _ZERO)
        )


@dataclass(frozen=True, slots=True)
class ActiveHold:
    """A kill switch that is on and covers what is being decided."""

    scope: str
    value: str
    reason: str
