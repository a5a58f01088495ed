"""An observation made comparable: what one unit costs an ordinary customer, and on what terms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.promotion import NO_PROMOTION, Promotion

# Labels round: 1 fl oz is sold as 30 ml (29.57), 1 oz as 28 g (28.35). Neighbouring real sizes of
# one product differ by far more than this share.
SIZE_TOLERANCE = Decimal("0.02")


@dataclass(frozen=True, slots=True)
class Content:
    """How much is sold together: units in a pack, and the whole content in g or ml if it is stated."""

    pack: int = 1
    base_quantity: Decimal | None = None
    base_unit: str | None = None


ONE_UNIT = Content()


@dataclass(frozen=True, slots=True)
class Offer:
    """One mapped observation, ready to be compared.

    `offer_id` is the id of the observation it was made of. Amounts are major units of `currency`
    on `tax_basis`; `shipping` is the charge nobody can avoid, None where the shop states none.
    `country` is the market of the source (None: unknown). `competitor_approved` is False when a
    person has ruled the retailer out, `source_held` while a kill switch on the source is on.
    """

    offer_id: int
    source: str
    source_sku: str
    item_price: Decimal | None
    currency: str | None
    shipping: Decimal | None
    price_kind: PriceKind
    availability: Availability
    observed_at: datetime
    mapping_id: int
    mapping_status: MappingStatus
    mapping_method: MappingMethod
    mapping_confidence: float | None = None
    first_use_reviewed: bool = True
    promotion: Promotion = NO_PROMOTION
    content: Content = ONE_UNIT
    condition: str = "new"
    seller: str = ""
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    country: str | None = None
    needs_review: bool = False
    review_reasons: tuple[str, ...] = ()
    source_held: bool = False
    competitor_approved: bool = True
    evidence: str | None = None
    extractor_version: str = ""


def same_content(one: Content, other: Content) -> bool:
    """True unless two products demonstrably hold a different amount.

    Equal packs and, where both sides state a content, the same unit and an amount within the
    rounding of labels. A side that states no content contradicts nothing.
    """
    if one is other:
        return True
    if one.pack != other.pack:
        return False
    if one.base_quantity is None or other.base_quantity is None:
        return True
    if one.base_unit != other.base_unit:
        return False
    if one.base_quantity == other.base_quantity:
        return True
    larger = max(one.base_quantity, other.base_quantity)
    return abs(one.base_quantity - other.base_quantity) <= larger * SIZE_TOLERANCE
