"""The immutable fact that a crawl leaves behind, and the reference to the bytes it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Candidate
from pricecrawl.domain.market import TaxBasis


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """Where the bytes of one fetched page are kept.

    `digest` is `sha256:<hex>` of the response body; `warc` the file within the evidence store,
    `offset` and `length` the gzip member of the response record in bytes.
    """

    digest: str
    warc: str
    offset: int
    length: int
    url: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """What one listing cost and whether it could be bought, at one moment, by one extractor.

    Amounts are major units of `currency`; `price` is None when nothing could be settled, and then
    `needs_review` is true unless the page honestly shows no price. Append-only once stored.
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
    price: Decimal | None
    currency: str | None
    price_kind: str | None
    method: str | None
    selector: str
    original_price: Decimal | None
    member_price: Decimal | None
    pre_order_price: Decimal | None
    shipping: Decimal | None
    promotion_text: str
    tax_basis: TaxBasis
    availability: Availability
    needs_review: bool
    review_reasons: tuple[str, ...]
    observed_at: datetime
    evidence: EvidenceRef | None
    extractor_version: str
    candidates: tuple[Candidate, ...] = ()
    trace: tuple[str, ...] = ()
    image_url: str = ""
