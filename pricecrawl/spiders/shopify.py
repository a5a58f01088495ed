"""Shopify shops, read from the public product feed page by page.

Fragile: the feed names no currency (it is found in `/meta.json` or one product's own feed, and must
agree with the row); it stops at 25,000 products; some shops switch it off on their own domain, which
answers 404 and needs the `retailer` platform instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from twisted.python.failure import Failure

from pricecrawl.domain.candidate import PriceUnit
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.extraction.platforms.feed import Feed
from pricecrawl.extraction.platforms.shopify import (
    PAGE_LIMIT,
    WALK_LIMIT,
    ShopifyMeta,
    read_feed,
    read_meta,
)
from pricecrawl.sources.model import Lines, Source
from pricecrawl.spiders.base import PlatformSpider, Walk
from pricecrawl.spiders.seen import SeenIds

_HANDLE = re.compile(r"/products/([^/?#]+?)(?:\.json|\.js)?/?$")


class ShopifySource(Source):
    """A Shopify shop.

    `collections` says that this source is these handles only, not the whole shop. A product with one of
    `hidden_tags` (each shop has its own, such as "apagar") is not on the shelf and is skipped. `barcodes`
    asks each product's own feed for its barcodes, which the list does not have: one request a product.
    """

    collections: Lines = ()
    hidden_tags: Lines = ()
    barcodes: bool = False


class ShopifySpider(PlatformSpider[ShopifySource]):
    """One request for the shop's total and currency, then the feed until a page brings nothing new."""

    platform = "shopify"
    source_model = ShopifySource

    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.meta = ShopifyMeta()
        self.stated_currency: str | None = None
        self.products = SeenIds()
        self.paths = [f"collections/{handle}/" for handle in self.source.collections] or [""]

    # --- navigation -------------------------------------------------------------------------

    def first_requests(self) -> Iterable[Request]:
        """The shop's own count and currency come first: they judge everything after."""
        yield self.get(self.source.url("meta.json"), self.parse_meta, errback=self.no_meta)

    def parse_meta(self, response: Response) -> Iterator[Request]:
        """`/meta.json`."""
        try:
            self.meta = read_meta(response.json())  # type: ignore[attr-defined]  # a TextResponse, or it raises
        except (ValueError, AttributeError):
            self.note("/meta.json is not JSON, so the shop's total is unknown")
        yield self.settle_currency()

    def no_meta(self, failure: Failure) -> Iterator[Request]:
        """A shop without `/meta.json` is walked all the same."""
        self.note("/meta.json cannot be read, so the shop's total is unknown")
        yield self.settle_currency()

    def settle_currency(self) -> Request:
        """The walk itself, or first a look at one product where row and shop leave the currency open."""
        row, shop = self.source.currency, self.meta.currency
        if shop is None or (row is not None and row != shop):
            url = self.source.url(f"{self.paths[0]}products.json?limit=1")
            return self.get(url, self.parse_sample, errback=self.no_sample)
        self.stated_currency = shop
        self.set_currency(shop, "/meta.json")
        return self.begin()

    def parse_sample(self, response: Response) -> Iterator[Request]:
        """One product's handle, to ask that product for its currency."""
        data = self.json(response)
        products = data.get("products") if isinstance(data, dict) else None
        handle = products[0].get("handle") if products and isinstance(products[0], dict) else None
        if handle:
            url = self.source.url(f"products/{handle}.json")
            yield self.get(url, self.parse_sample_product, errback=self.no_sample)
        else:
            yield self.use_row_currency()

    def parse_sample_product(self, response: Response) -> Iterator[Request]:
        """A product's own feed states its currency, and is the last word on it."""
        feed = read_feed(self.json(response), url=response.url)
        stated = {price.currency for listing in feed.listings for price in listing.prices} - {None}
        if len(stated) != 1:
            yield self.use_row_currency()
            return
        (currency,) = stated
        assert currency is not None
        if self.source.currency not in (None, currency):
            self.note(
                f"the row says {self.source.currency}, the shop's products say {currency}: correct the row"
            )
            raise CloseSpider("currency_mismatch")
        self.stated_currency = currency
        self.set_currency(currency, f"the feed of one product, {urlsplit(response.url).path}")
        yield self.begin()

    def no_sample(self, failure: Failure) -> Iterator[Request]:
        """No product can be asked: the row is all there is."""
        yield self.use_row_currency()

    def use_row_currency(self) -> Request:
        """Go on with the row's currency, unless the shop contradicts it."""
        row, shop = self.source.currency, self.meta.currency
        if row and shop:
            self.note(
                f"the row says {row}, /meta.json says {shop}, and no product settles it: correct the row"
            )
            raise CloseSpider("currency_mismatch")
        if row:
            self.note(f"currency {row} from the row; the shop states none")
        else:
            self.note("the shop states no currency and its row has none: its listings are held back")
        return self.begin()

    def begin(self) -> Request:
        """The first page of the next walk."""
        path = self.paths.pop(0)
        return self.page(self.walk(path.strip("/") or "the feed"), path, 1)

    def page(self, walk: Walk, path: str, number: int) -> Request:
        """One page of a walk."""
        return self.get(
            self.source.url(f"{path}products.json?limit={PAGE_LIMIT}&page={number}"),
            self.parse,
            cb_kwargs={"walk": walk, "path": path, "number": number},
            meta={"handle_httpstatus_list": [400]},
        )

    def parse(self, response: Response, walk: Walk, path: str, number: int) -> Iterator[Request | RawListing]:
        """One page: its listings, then the next page or the end."""
        feed = self.read(response)
        if feed.error:
            reason = (
                CoverageReason.CAPPED if response.status == 400 and number > 1 else CoverageReason.PARTIAL
            )
            yield from self.end(walk, reason, f"page {number}: {feed.error}")
            return
        new = walk.page(feed.ids)
        for key in feed.ids:
            self.products.add(key)
        yield from self.listings(feed)
        total = None if self.source.collections else self.meta.published_products
        last = (number + 1) * PAGE_LIMIT > WALK_LIMIT
        # A short page alone proves nothing: shops may clamp the limit or hide rows after paging.
        may_end = len(feed.ids) < PAGE_LIMIT or last
        if not new or (may_end and total is not None and len(self.products) >= total):
            yield from self.end(walk, CoverageReason.EXHAUSTED)
        elif last:
            yield from self.end(walk, CoverageReason.CAPPED, f"the feed ends at {WALK_LIMIT} products")
        else:
            yield self.page(walk, path, number + 1)

    def end(self, walk: Walk, reason: CoverageReason, detail: str = "") -> Iterator[Request]:
        """One walk is over: the next one, or the verdict on the whole shop."""
        total, seen = self.meta.published_products, len(self.products)
        if self.source.collections:
            total = None  # the shop's count is of everything
        if self.paths or reason is not CoverageReason.EXHAUSTED:
            walk.end(reason, None if self.paths else total, detail)
            if self.paths:
                yield self.begin()
        elif total is not None and seen == total:
            walk.end(CoverageReason.COUNTED, total)
        elif total is not None and seen < total:
            walk.end(CoverageReason.PARTIAL, total, f"the shop counts {total} products, {seen} were seen")
        else:
            walk.end(CoverageReason.EXHAUSTED, total)

    def read_one(self, source_sku: str, url: str) -> Request | None:
        """The product's own feed."""
        match = _HANDLE.search(urlsplit(url).path)
        if match is None:
            return None
        meta = {"product": True}
        return self.get(self.source.url(f"products/{match[1]}.json"), self.parse_one, meta=meta)

    def parse_one(self, response: Response) -> Iterator[Request | RawListing]:
        """The product's own feed; where it leaves stock open, its `.js` twin, if the amounts agree."""
        found = [listing for listing in self.read(response).listings if self.wanted(listing)]
        if not found:
            self.skip(SkipReason.NOT_OFFERED, response.url)
        for listing in found:
            if listing.stock:
                yield listing
                continue
            url = response.url.removesuffix("on")
            yield self.get(url, self.parse_one_js, cb_kwargs={"known": listing}, meta={"product": True})

    def parse_one_js(self, response: Response, known: RawListing) -> Iterator[RawListing]:
        """The `.js` twin of a product."""
        # `.js` follows the visitor's currency; equal amounts are how we know that it is the shop's.
        currency = known.prices[0].currency
        for listing in self.read(response, currency).listings:
            if listing.source_sku != known.source_sku:
                continue
            if _cents(listing) == _cents(known):
                yield listing
            else:
                self.skip(SkipReason.REREAD_FAILED, f"{response.url}: the two feeds state different amounts")

    def reread(self, response: Response) -> Iterable[Request | RawListing]:
        """A stored page of the feed, or a product's own."""
        return self.fresh(self.read(response).listings)

    # --- reading ----------------------------------------------------------------------------

    def read(self, response: Response, currency: str | None = None) -> Feed:
        """One response of the feed, read with what is known of this shop."""
        return read_feed(
            self.json(response),
            url=response.url,
            currency=currency or self.stated_currency,
            hidden_tags=self.source.hidden_tags,
            shop_names=(self.source.retailer,),
            tax_basis=self.source.tax_basis,
        )

    def listings(self, feed: Feed) -> Iterator[Request | RawListing]:
        """Listings not seen before, or a look at their products; what is no listing is counted."""
        for entry in feed.skipped:
            self.skip(entry.reason, entry.example)
        fresh = self.fresh(feed.listings)
        if not self.source.barcodes:
            yield from fresh
            return
        for path, variants in groupby(fresh, key=lambda listing: urlsplit(listing.url).path):
            known = {listing.source_sku: listing for listing in variants}
            match = _HANDLE.search(path)
            if match is None:
                yield from known.values()
                continue
            yield self.get(
                self.source.url(f"products/{match[1]}.json"),
                self.parse_barcodes,
                errback=self.no_barcodes,
                cb_kwargs={"known": known},
                priority=1,
            )

    def parse_barcodes(self, response: Response, known: dict[str, RawListing]) -> Iterator[RawListing]:
        """A product's own feed: price, currency and barcode are read here, stock is what the list said."""
        for listing in self.read(response).listings:
            before = known.pop(listing.source_sku, None)
            if before is not None:
                listing.stock = listing.stock or before.stock
                yield listing
        yield from known.values()

    def no_barcodes(self, failure: Failure) -> Iterator[RawListing]:
        """A product whose own feed cannot be had is still what the list said of it."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        self.note(f"no barcodes: {urlsplit(request.url).path} cannot be read")
        yield from request.cb_kwargs["known"].values()


def _cents(listing: RawListing) -> list[int]:
    """Amounts times 100, whichever of the two feeds they come from."""
    return [
        int(Decimal(price.text) * (1 if price.unit is PriceUnit.X100 else 100)) for price in listing.prices
    ]
