"""WooCommerce's Store API: `/wp-json/wc/store/v1/products`, one product or a list.

Amounts are integers in the currency's minor unit, which the response states itself. A variable parent has
only a range; the public listing is then its low end, told as such. The tax basis is the shop's display
setting and is not in the response.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.reasons import ReviewReason, SkipReason
from pricecrawl.extraction.platforms.feed import Feed, Skipped

DEFAULT_PAGE = 10
MAX_PAGE = 100


def is_store_url(url: str) -> bool:
    """True for an address of the Store API's products."""
    return "/wc/store" in urlsplit(url).path or "/wc/store" in urlsplit(url).query


def read_store(data: object, *, url: str, tax_basis: TaxBasis = TaxBasis.UNKNOWN) -> Feed:
    """Listings of one response. `complete` is False while the page is as full as it can be."""
    if isinstance(data, Mapping) and "code" in data and "message" in data:
        return Feed(complete=False, error=str(data.get("message") or data.get("code")))
    products = data if isinstance(data, list) else [data]
    listings: list[RawListing] = []
    skipped: list[Skipped] = []
    ids: list[str] = []
    for product in products:
        if not isinstance(product, Mapping) or not product.get("id"):
            skipped.append(Skipped(SkipReason.NO_IDENTITY, str(product)[:200]))
            continue
        ids.append(str(product["id"]))
        listing = _listing(product, url, tax_basis)
        if listing is None:
            skipped.append(Skipped(SkipReason.NO_PRICE, str(product.get("name") or product["id"])[:200]))
        else:
            listings.append(listing)
    full = isinstance(data, list) and len(products) >= _page_size(url)
    return Feed(tuple(listings), tuple(skipped), tuple(ids), complete=not full)


def _page_size(url: str) -> int:
    stated = parse_qs(urlsplit(url).query).get("per_page", [""])[0]
    return min(int(stated), MAX_PAGE) if stated.isascii() and stated.isdigit() and int(stated) else MAX_PAGE


def _listing(product: Mapping[str, Any], url: str, tax_basis: TaxBasis) -> RawListing | None:
    prices = tuple(_prices(product.get("prices"), tax_basis))
    hints: tuple[str, ...] = ()
    known = product.get("prices")
    if isinstance(known, Mapping) and isinstance(known.get("price_range"), Mapping):
        span = known["price_range"]
        if span.get("min_amount") != span.get("max_amount"):
            hints = (ReviewReason.VARIANT_AMBIGUOUS.value,)
    if not prices:
        return None
    brands = product.get("brands")
    brand = (
        brands[0].get("name")
        if isinstance(brands, list) and brands and isinstance(brands[0], Mapping)
        else ""
    )
    images = product.get("images")
    image = (
        images[0].get("src") if isinstance(images, list) and images and isinstance(images[0], Mapping) else ""
    )
    sku = str(product.get("sku") or "")
    return RawListing(
        source_sku=str(product["id"]),
        url=str(product.get("permalink") or url),
        name=html.unescape(str(product.get("name") or "")),
        brand=html.unescape(str(brand or "")),
        variant_text=html.unescape(str(product.get("variation") or "")),
        image_url=str(image or ""),
        prices=prices,
        stock=tuple(_stock(product)),
        tax_basis=tax_basis,
        review_hints=hints,
        extra={"shop_sku": sku} if sku else {},
    )


def _prices(prices: object, tax_basis: TaxBasis) -> Iterator[RawPrice]:
    if not isinstance(prices, Mapping):
        return
    current, regular = _amount(prices.get("price")), _amount(prices.get("regular_price"))
    if current is None or int(current) <= 0:
        return
    stated = prices.get("currency_code")
    exponent = prices.get("currency_minor_unit")
    minor = exponent if isinstance(exponent, int) and 0 <= exponent <= 8 else None
    on_sale = regular is not None and int(regular) > int(current)
    pairs = [(PriceKind.SALE if on_sale else PriceKind.STANDARD, current, "prices.price")]
    if on_sale and regular is not None:
        pairs.append((PriceKind.LIST, regular, "prices.regular_price"))
    for kind, text, selector in pairs:
        yield RawPrice(
            kind,
            text,
            Method.API,
            selector,
            currency=stated if isinstance(stated, str) else None,
            unit=PriceUnit.MINOR,
            minor_unit=minor,
            tax_basis=tax_basis,
        )


def _amount(value: object) -> str | None:
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return text if text.isascii() and text.isdigit() and len(text) < 16 else None


def _stock(product: Mapping[str, Any]) -> Iterator[StockReading]:
    stocked, back = product.get("is_in_stock"), product.get("is_on_backorder")
    if back is True:
        yield StockReading(Availability.OUT_OF_STOCK, Method.API.value, 0.95, "is_on_backorder", "true")
    elif isinstance(stocked, bool):
        value = Availability.IN_STOCK if stocked else Availability.OUT_OF_STOCK
        yield StockReading(value, Method.API.value, 0.95, "is_in_stock", str(stocked).lower())
