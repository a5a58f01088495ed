"""Product metas: OpenGraph's product and og price properties, and what shops write in their manner."""

from __future__ import annotations

import re
from dataclasses import replace

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, RawPrice
from pricecrawl.domain.market import TaxBasis
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.offers import OfferContext, raw_price
from pricecrawl.extraction.products import Structured
from pricecrawl.extraction.stock_words import schema_availability
from pricecrawl.extraction.things import clean

# (amount, currency, kind, tax): with a sale price, product:price beside it is the price before.
_PRICES = (
    ("product:sale_price:amount", "product:sale_price:currency", PriceKind.SALE, TaxBasis.UNKNOWN),
    ("product:price:amount", "product:price:currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
    ("product:price", "product:price:currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
    ("og:price:amount", "og:price:currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
    ("og:price", "og:price:currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
    ("og:product:price:amount", "og:product:price:currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
    ("product:pretax_price:amount", "product:pretax_price:currency", PriceKind.STANDARD, TaxBasis.EXCLUSIVE),
    ("product:original_price:amount", "product:original_price:currency", PriceKind.LIST, TaxBasis.UNKNOWN),
    ("product:original_price", "product:price:currency", PriceKind.LIST, TaxBasis.UNKNOWN),
    ("og:price:standard_amount", "og:price:currency", PriceKind.LIST, TaxBasis.UNKNOWN),
    ("price", "currency", PriceKind.STANDARD, TaxBasis.UNKNOWN),
)
_CURRENCIES = ("product:price:currency", "og:price:currency", "currency", "pricecurrency", "product:currency")
_AVAILABILITY = (
    "product:availability",
    "og:availability",
    "availability",
    "product:stock",
    "og:product:availability",
)
_LABEL = re.compile(r"price|preis|prix|precio|prezzo", re.IGNORECASE)


def read_opengraph(document: Document) -> Structured | None:
    """What the metas say of the page's product; None where they say nothing of a price or stock."""
    metas = document.metas
    reading = Structured(Method.OPENGRAPH)
    fallback = next((metas[name] for name in _CURRENCIES if metas.get(name)), "")
    seen: set[tuple[PriceKind, str, TaxBasis]] = set()
    for amount, currency, kind, tax in _PRICES:
        text = metas.get(amount)
        if not text or (amount == "price" and len(text) > 20):
            continue
        context = OfferContext(Method.OPENGRAPH, f'meta[property="{amount}"]', fallback)
        price = raw_price(text, metas.get(currency, ""), context, kind)
        key = (kind, text, tax)
        if price is not None and key not in seen:
            seen.add(key)
            reading.prices.append(replace(price, tax_basis=tax))
    _card(document, reading)
    _demote_price_before(reading)
    if any(price.tax_basis is TaxBasis.EXCLUSIVE for price in reading.prices):
        # Beside a price that says it leaves tax out, the others contain it.
        reading.prices = [
            price if price.tax_basis is TaxBasis.EXCLUSIVE else replace(price, tax_basis=TaxBasis.INCLUSIVE)
            for price in reading.prices
        ]
    for name in _AVAILABILITY:
        text = metas.get(name, "")
        value = schema_availability(text) if text else Availability.UNKNOWN
        if value is not Availability.UNKNOWN:
            selector = f'meta[property="{name}"]'
            reading.stock.append(StockReading(value, Method.OPENGRAPH.value, 0.90, selector, text[:80]))
            break
    is_product = "product" in metas.get("og:type", "").lower() or any(
        key.startswith("product:") for key in metas
    )
    if not reading.prices and not reading.stock and not is_product:
        return None
    reading.name = clean(metas.get("og:title", ""))
    reading.brand = clean(metas.get("product:brand", "") or metas.get("og:brand", ""))
    reading.image = metas.get("og:image", "") or metas.get("og:image:secure_url", "")
    reading.sku = metas.get("product:retailer_item_id", "") or metas.get("product:sku", "")
    reading.gtin = next(
        (metas[k] for k in ("product:ean", "product:upc", "product:isbn", "product:gtin") if k in metas), ""
    )
    reading.mpn = metas.get("product:mfr_part_no", "") or metas.get("product:mpn", "")
    reading.condition = metas.get("product:condition", "")
    reading.category = metas.get("product:category", "")
    reading.size = metas.get("product:size", "")
    reading.currency = next((p.currency for p in reading.prices if p.currency), "") or ""
    reading.likeness = 1.0 if is_product else 0.5
    return reading


def _card(document: Document, reading: Structured) -> None:
    """Twitter's product card: a label "Price" with its data."""
    metas = document.metas
    for number in ("1", "2"):
        label, data = metas.get(f"twitter:label{number}", ""), metas.get(f"twitter:data{number}", "")
        if data and _LABEL.search(label) and len(data) < 30 and not reading.prices:
            context = OfferContext(Method.OPENGRAPH, f'meta[name="twitter:data{number}"]')
            price = raw_price(data, "", context, PriceKind.STANDARD)
            if price is not None:
                reading.prices.append(price)


def _demote_price_before(reading: Structured) -> None:
    """With a sale price beside it, the plain price is what was asked before."""
    sale: RawPrice | None = next((p for p in reading.prices if p.kind is PriceKind.SALE), None)
    if sale is None:
        return
    reading.prices = [
        replace(price, kind=PriceKind.LIST)
        if price.kind is PriceKind.STANDARD
        and price.text != sale.text
        and price.selector.startswith('meta[property="product:price')
        else price
        for price in reading.prices
    ]
