"""django-oscar storefronts: the catalogue or some categories, page by page, then each product's page.

Fragile: what a row of the product table means is told by its place in the stock template; a shop that
rewrote it is better read with the `retailer` platform.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field
from scrapy import Request
from scrapy.http import Response

from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.extraction.platforms.oscar import product_id, read_product, read_shelf
from pricecrawl.sources.model import Lines, Source
from pricecrawl.spiders.base import PlatformSpider, Walk
from pricecrawl.spiders.seen import SeenIds


class OscarSource(Source):
    """A django-oscar shop.

    `categories` are paths such as `catalogue/category/drinks_3/`; none means the whole catalogue. They
    say what this source is: a run that saw all of them is complete.
    Without `product_pages` only the tiles of the shelves are read: no UPC, but one request for 20 products.
    """

    categories: Lines = ()
    product_pages: bool = True
    max_pages: Annotated[int, Field(strict=True, ge=1)] = 2000


class OscarSpider(PlatformSpider[OscarSource]):
    """Shelves in order; a shelf's products are read before its next page."""

    platform = "oscar"
    source_model = OscarSource

    # --- navigation -------------------------------------------------------------------------

    def first_requests(self) -> Iterable[Request]:
        """One walk per category, or one of the whole catalogue."""
        self.asked = SeenIds()
        for path in self.source.categories or ("catalogue/",):
            yield self.shelf(self.walk(path), self.source.url(path))

    def shelf(self, walk: Walk, url: str) -> Request:
        """One page of a walk."""
        return self.get(url, self.parse, cb_kwargs={"walk": walk})

    def parse(self, response: Response, walk: Walk) -> Iterator[Request | RawListing]:
        """A shelf: its products, then its next page or its end."""
        shelf = read_shelf(self.document(response), self.source.tax_basis)
        new = walk.page((tile.source_sku for tile in shelf.tiles), response.url)
        for tile in shelf.tiles:
            if not tile.source_sku:
                self.skip(SkipReason.NO_IDENTITY, tile.url)
            elif not self.source.product_pages:
                yield from self.offered(tile)
            elif self.asked.add(tile.source_sku):
                yield self.product(tile.url)
        follow = shelf.next_url if new and not (shelf.next_url and walk.visited(shelf.next_url)) else None
        if follow and walk.pages >= self.source.max_pages:
            walk.end(CoverageReason.CAPPED, shelf.total, f"more than {self.source.max_pages} pages")
        elif follow:
            yield self.shelf(walk, follow)
        else:
            self.judge(walk, shelf.total)

    def judge(self, walk: Walk, total: int | None) -> None:
        """The end of a walk against the shop's own count."""
        seen = len(walk.seen)
        if total is None:
            walk.end(CoverageReason.EXHAUSTED)
        elif seen < total:
            walk.end(CoverageReason.PARTIAL, total, f"the shop counts {total} products, {seen} were seen")
        else:
            walk.end(CoverageReason.COUNTED if seen == total else CoverageReason.EXHAUSTED, total)

    def product(self, url: str) -> Request:
        """A product page. Its priority keeps the queue as short as one shelf."""
        return self.get(url, self.parse_product, priority=1, meta={"product": True})

    def parse_product(self, response: Response) -> Iterator[Request | RawListing]:
        """A product page; that of a parent leads to its variants."""
        page = read_product(self.document(response), self.source.tax_basis)
        for url in page.variants:
            if self.asked.add(product_id(url)):
                yield self.product(url)
        if page.skip:
            self.skip(page.skip, response.url)
        elif page.listing:
            yield from self.offered(page.listing)

    def read_one(self, source_sku: str, url: str) -> Request | None:
        """The product's page."""
        self.asked = SeenIds()
        return self.product(url) if product_id(url) else None

    def reread(self, response: Response) -> Iterable[Request | RawListing]:
        """A stored product page."""
        return self.parse_product(response)

    # --- reading ----------------------------------------------------------------------------

    def offered(self, listing: RawListing) -> Iterator[RawListing]:
        """A listing with a price, or with word that it is sold out."""
        if not listing.prices and not listing.stock:
            self.skip(SkipReason.NO_OFFER, listing.url)
        elif self.wanted(listing):
            yield from self.fresh([listing])
