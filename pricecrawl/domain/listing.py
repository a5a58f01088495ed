"""A shop's product as seen (RawListing) and as understood (Listing)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Candidate, RawPrice
from pricecrawl.domain.delivery import UNKNOWN, Charge
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.observation import EvidenceRef


@dataclass(slots=True)
class RawListing:
    """Text as seen on the shop, one row per variant. Built by spiders, filled by ItemLoaders.

    `source_sku` is the retailer's own id and is unique within a source. Every `*_text` field is
    kept as written. `seller` is set only where the shop names a marketplace seller. `leftovers`
    lists keys of the feed that no reader knows, so that a changed feed is noticed. `extra` holds
    further facts by name, such as `shop_sku`, the shop's own article code where `source_sku` is another.
    """

    source_sku: str
    url: str
    name: str = ""
    brand: str = ""
    gtin_text: str = ""
    mpn_text: str = ""
    size_text: str = ""
    variant_text: str = ""
    category: str = ""
    condition_text: str = ""
    seller: str = ""
    shipping_text: str = ""
    promotion_text: str = ""
    quantity_text: str = ""
    image_url: str = ""
    prices: tuple[RawPrice, ...] = ()
    stock: tuple[StockReading, ...] = ()
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    observed_at: datetime | None = None
    evidence: EvidenceRef | None = None
    review_hints: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """A typed variant of a source, with every understood candidate, before the price is chosen.

    `gtin` is GTIN-14 or None. `base_quantity` is the whole content in g or ml (see `base_unit`),
    `pack` the number of units sold together. `condition` is `new` unless the shop says otherwise.
    """

    source: str
    source_sku: str
    url: str
    name: str
    brand: str
    gtin: str | None
    mpn: str | None
    variant: str
    category: str
    pack: int
    base_quantity: Decimal | None
    base_unit: str | None
    condition: str
    seller: str
    candidates: tuple[Candidate, ...]
    availability: Availability
    stock: tuple[StockReading, ...]
    tax_basis: TaxBasis
    observed_at: datetime
    evidence: EvidenceRef | None
    shipping: Charge = UNKNOWN
    promotion_text: str = ""
    image_url: str = ""
    review_hints: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
