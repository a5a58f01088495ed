"""Any shop: its sitemap, its listing pages or a list of addresses, then each product's page.

What a page says is read by the shared extraction: structured data, the visible price, and the row's own
rules, which outrank the defaults. Fragile: rules are selectors into the shop's markup; `expect` in the row
notices when a redesign makes them silent.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

import re2
from pydantic import Field, ValidationInfo, field_validator
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from twisted.python.failure import Failure
from w3lib.url import add_or_replace_parameter

from pricecrawl.domain.candidate import PriceKind, Tier
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.normalize import MAX_SKU
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.domain.run import CoverageReason
from pricecrawl.domain.urls import canonical
from pricecrawl.extraction.address import address
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page
from pricecrawl.extraction.rules import Rules
from pricecrawl.extraction.sitemap import SitemapError, read_sitemap
from pricecrawl.middlewares.verdicts import RunEnded
from pricecrawl.sources.model import Lines, RuleText, Source, UrlPattern
from pricecrawl.spiders.base import PlatformSpider, Walk
from pricecrawl.spiders.fields import links, load_fields, tiles, values, with_fields
from pricecrawl.spiders.seen import SeenIds

# Product pages asked for at a time when they come from a sitemap or a list; each answer asks for the next.
WINDOW = 32
MAX_SITEMAP_DEPTH = 3
PRIMARY = (PriceKind.STANDARD, PriceKind.SALE, PriceKind.PRE_ORDER)


class RetailerSource(Source):
    """A shop of any software. At least one of `listings`, `sitemaps` and `product_urls` says where to look.

    `listings` are category pages. Their products are found by `product_link`, or read from the page itself
    when `tile` selects each product's element. The next page is the link that `next_page` selects, or the
    same address with `page_param` counted from `first_page` in steps of `page_step`. `total` selects the
    shop's own count. Sitemaps may be indexes; `sitemap_include` and `sitemap_exclude` are patterns over
    addresses. `sku_pattern` finds the retailer's id in a product's address. Rules read inside a tile when
    there are tiles, else on the product's page.
    """

    listings: Lines = ()
    product_link: RuleText | None = None
    tile: Annotated[RuleText | None, Field(validate_default=True)] = None
    next_page: RuleText | None = None
    page_param: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\[\]-]+$")] | None = None
    first_page: Annotated[int, Field(strict=True, ge=0)] = 1
    page_step: Annotated[int, Field(strict=True, ge=1)] = 1
    max_pages: Annotated[int, Field(strict=True, ge=1)] = 500
    total: RuleText | None = None
    sitemaps: Lines = ()
    sitemap_include: UrlPattern | None = None
    sitemap_exclude: UrlPattern | None = None
    max_products: Annotated[int, Field(strict=True, ge=1)] = 200_000
    sku_pattern: UrlPattern | None = None
    product_urls: Annotated[Lines, Field(validate_default=True)] = ()

    @field_validator("product_urls")
    @classmethod
    def _somewhere(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not value and not info.data.get("listings") and not info.data.get("sitemaps"):
            raise ValueError(
                "give `listings`, `sitemaps` or `product_urls`, so that there is something to read"
            )
        return value

    @field_validator("tile")
    @classmethod
    def _products_of_listings(cls, value: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("listings") and value is None and info.data.get("product_link") is None:
            raise ValueError("`listings` need `product_link` or `tile`, so that products are found on them")
        return value


class RetailerSpider(PlatformSpider[RetailerSource]):
    """Where products are, then what their pages say."""

    platform = "retailer"
    source_model = RetailerSource

    def __init__(self, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.rules = Rules.of(self.source.rules)
        self.asked = SeenIds()
        self.planned: deque[str] = deque()
        row = self.source
        self.named = {row.url(path): None for path in row.product_urls}
        self._sku = re2.compile(row.sku_pattern) if row.sku_pattern else None
        self._include = re2.compile(row.sitemap_include) if row.sitemap_include else None
        self._exclude = re2.compile(row.sitemap_exclude) if row.sitemap_exclude else None

    def teach(self, learned: Mapping[PriceKind, Sequence[str]]) -> None:
        """Learned selectors come before the row's own, per kind of price."""
        self.rules = Rules.of(self.source.rules, learned)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider, and be told when nothing is left to do."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signal=signals.spider_idle)
        return spider

    # --- navigation -------------------------------------------------------------------------

    def first_requests(self) -> Iterable[Request]:
        """Sitemaps, listing pages, and the first of the listed products."""
        for path in self.source.sitemaps:
            yield self.sitemap(self.walk(f"sitemap {path}"), self.source.url(path), 1)
        for path in self.source.listings:
            walk = self.walk(f"listing {path}")
            yield self.shelf(walk, self.source.url(path))
        if self.source.product_urls:
            self.plan(self.named)
            self.coverage(CoverageReason.SCOPED, len(self.planned), "only the products of the row")
            yield from self.next_planned(WINDOW)

    def sitemap(self, walk: Walk, url: str, depth: int) -> Request:
        """One sitemap file."""
        plain = {"render": False}
        return self.get(
            url, self.parse_sitemap, cb_kwargs={"walk": walk, "depth": depth}, priority=2, meta=plain
        )

    def parse_sitemap(self, response: Response, walk: Walk, depth: int) -> Iterator[Request]:
        """A list of products, or of further lists. Each file is a walk of its own."""
        try:
            found = read_sitemap(response.body)
        except SitemapError as problem:
            walk.end(CoverageReason.PARTIAL, detail=str(problem))
            return
        if found.is_index and depth >= MAX_SITEMAP_DEPTH:
            walk.end(CoverageReason.PARTIAL, detail=f"sitemaps nest deeper than {MAX_SITEMAP_DEPTH}")
        elif found.is_index:
            for url in found.locations:
                if self.is_own(url) and self.asked.add(url):
                    yield self.sitemap(self.walk(f"sitemap {urlsplit(url).path}"), url, depth + 1)
            walk.end(CoverageReason.COUNTED)
        else:
            room = self.source.max_products - len(self.asked)
            wanted = [url for url in found.locations if self.is_wanted(url)]
            planned = self.plan(wanted[: max(room, 0)])
            capped = len(wanted) > room
            reason = CoverageReason.CAPPED if capped else CoverageReason.COUNTED
            walk.end(reason, planned, f"more than {self.source.max_products} products" if capped else "")
            yield from self.next_planned(WINDOW)

    def shelf(self, walk: Walk, url: str) -> Request:
        """One listing page."""
        return self.get(url, self.parse_shelf, cb_kwargs={"walk": walk})

    def parse_shelf(self, response: Response, walk: Walk) -> Iterator[Request | RawListing]:
        """A listing page: its products, then its next page or its end."""
        document = self.document(response)
        if self.source.tile:
            found = [self.read_tile(tile) for tile in tiles(document, self.source.tile)]
            new = walk.page((listing.source_sku for listing in found), response.url)
            yield from self.fresh(listing for listing in found if self.is_offer(listing))
        else:
            assert self.source.product_link is not None
            urls = [url for url in links(document, self.source.product_link) if self.is_own(url)]
            new = walk.page((canonical(url) for url in urls), response.url)
            for url in urls:
                if self.asked.add(canonical(url)):
                    yield self.product(url)
        following = self.next_shelf(document, walk) if new else None
        if following is None:
            self.judge(document, walk)
        elif walk.pages >= self.source.max_pages:
            walk.end(CoverageReason.CAPPED, detail=f"more than {self.source.max_pages} pages")
        else:
            yield self.shelf(walk, following)

    def next_shelf(self, document: Document, walk: Walk) -> str | None:
        """The page after this one, if the row says how to find it and the walk was not there yet."""
        following = None
        if self.source.next_page:
            following = next(iter(links(document, self.source.next_page)), None)
        elif self.source.page_param:
            number = self.source.first_page + walk.pages * self.source.page_step
            following = add_or_replace_parameter(document.final_url, self.source.page_param, str(number))
        if following is None or walk.visited(following) or not self.is_own(following):
            return None
        return following

    def judge(self, document: Document, walk: Walk) -> None:
        """The end of a walk: against the shop's own count where the row says where it stands."""
        seen = len(walk.seen)
        total = self.count(document)
        if not seen:
            walk.end(CoverageReason.PARTIAL, total, "no product was found on the first page: check the rules")
        elif total is None:
            walk.end(CoverageReason.EXHAUSTED)
        elif seen < total:
            walk.end(CoverageReason.PARTIAL, total, f"the shop counts {total} products, {seen} were seen")
        else:
            walk.end(CoverageReason.COUNTED if seen == total else CoverageReason.EXHAUSTED, total)

    def product(self, url: str) -> Request:
        """A product page. Its priority keeps the queue as short as one listing page."""
        return self.get(url, self.parse_product, priority=1, meta={"product": True})

    def plan(self, urls: Iterable[str]) -> int:
        """Keep product addresses for later, each once; how many are new."""
        before = len(self.planned)
        self.planned.extend(url for url in urls if self.asked.add(canonical(url)))
        return len(self.planned) - before

    def next_planned(self, count: int = 1) -> Iterator[Request]:
        """Requests for the next planned products: a large sitemap never becomes a large queue."""
        # Others take from the plan, or end it, while Scrapy holds this generator between two requests.
        while count > 0 and self.planned:
            count -= 1
            yield self.product(self.planned.popleft())

    def idle(self) -> None:
        """Nothing is under way: go on with the plan if one is left."""
        if self.planned:
            assert self.crawler.engine is not None
            for request in self.next_planned(WINDOW):
                self.crawler.engine.crawl(request)
            raise DontCloseSpider

    def failed(self, failure: Failure) -> Iterator[Request]:
        """A request that gave no page makes room for the next planned one."""
        self.lost(failure)
        if isinstance(failure.value, RunEnded):
            self.planned.clear()
        return self.next_planned()

    def parse_product(self, response: Response) -> Iterator[Request | RawListing]:
        """A product page."""
        yield from self.next_planned()
        document = self.document(response)
        reading = read_page(document, rules=self.rules, market=self.market)
        # A sold-out page may have lost its price and its data; a row that names the page vouches for it.
        vouched = response.url in self.named and bool(reading.listing.stock)
        if not (reading.is_product or vouched or _by_rule(reading.listing)):
            self.skip(SkipReason.NOT_A_PRODUCT_PAGE, response.url)
            return
        asked = (response.meta.get("redirect_urls") or [response.url])[0]
        listing = with_fields(reading.listing, load_fields(document, self.source.rules))
        listing = replace(listing, url=asked, source_sku=self.sku(listing, document.final_url))
        if self.wanted(listing):
            yield from self.fresh([listing])

    def read_one(self, source_sku: str, url: str) -> Request | None:
        """The product's page; None for a shop whose prices are read from tiles."""
        return self.product(url) if url and not self.source.tile else None

    def reread(self, response: Response) -> Iterable[Request | RawListing]:
        """A stored product page, or the tiles of a stored listing page."""
        if self.source.tile is None:
            return self.parse_product(response)
        found = (self.read_tile(tile) for tile in tiles(self.document(response), self.source.tile))
        return self.fresh(listing for listing in found if self.is_offer(listing))

    # --- reading ----------------------------------------------------------------------------

    def read_tile(self, tile: Document) -> RawListing:
        """A listing from its tile alone, read as if the tile were the page that it links to."""
        url = next(iter(links(tile, self.source.product_link or "a[href]")), tile.final_url)
        page = Document(tile.text, url=url, headers=tile.headers, locale=tile.locale)
        listing = read_page(page, rules=self.rules, market=self.market).listing
        listing = with_fields(listing, load_fields(page, self.source.rules))
        return replace(listing, url=url, source_sku=self.sku(listing, url))

    def is_offer(self, listing: RawListing) -> bool:
        """False, and counted, for a tile that names no product or says nothing of price and stock."""
        if not listing.name:
            self.skip(SkipReason.NO_IDENTITY, listing.url)
        elif not listing.prices and not listing.stock:
            self.skip(SkipReason.NO_PRICE, listing.url)
        else:
            return True
        return False

    def sku(self, listing: RawListing, url: str) -> str:
        """The retailer's id: what the row says, else what the page says, else the address."""
        match = self._sku.search(url) if self._sku else None
        if match:
            return str(match[1] if match.re.groups else match[0])
        # Without an id on the page the reader takes the end of the address, which may stand twice in a shop.
        place = address(url)
        return _place(url) if listing.source_sku in ("", place.handle, place.host) else listing.source_sku

    def count(self, document: Document) -> int | None:
        """The number that the row's `total` finds: digits alone, because it counts things."""
        if self.source.total is None:
            return None
        text = next(iter(values(document, (self.source.total,))), "")
        match = re.search(r"\d[\d.,'’\s]*", text)
        return int(re.sub(r"\D", "", match[0])) if match else None

    def is_own(self, url: str) -> bool:
        """Within the shop: another host's pages are not its products."""
        host = urlsplit(url).hostname or ""
        return any(host == name or host.endswith(f".{name}") for name in self.allowed_domains)

    def is_wanted(self, url: str) -> bool:
        """A sitemap entry that the row's patterns admit."""
        if not self.is_own(url):
            self.skip(SkipReason.OUT_OF_SCOPE, url)
            return False
        included = self._include is None or self._include.search(url)
        return bool(included) and not (self._exclude and self._exclude.search(url))


def _by_rule(listing: RawListing) -> bool:
    """A price that the row's own rule found: the row knows what a product's page looks like."""
    return any(p.tier in (Tier.ROW, Tier.LEARNED) and p.kind in PRIMARY for p in listing.prices)


def _place(url: str) -> str:
    """A product's address within its shop, in canonical form; a very long one by its digest."""
    parts = urlsplit(canonical(url))
    place = parts.path + (f"?{parts.query}" if parts.query else "")
    return (
        place
        if len(place) <= MAX_SKU
        else f"{place[:200]}-{blake2b(place.encode(), digest_size=8).hexdigest()}"
    )
