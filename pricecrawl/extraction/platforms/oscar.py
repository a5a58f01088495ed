"""django-oscar's shelves and product pages, read by the structure of its own templates.

The shop has no structured data and translates every label, so what a table row means is told by its
place: UPC (if any), product type, price without tax, then price with tax and tax (if tax is known), then
availability. The headline price contains the tax where tax is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml import etree

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.textmap import words_of

_ID = re.compile(r"_(\d+)/?$")
_COUNT = re.compile(r"\((\d+)")
_UPC = frozenset({"upc", "ean", "gtin", "isbn", "barcode"})
_BRAND = frozenset(
    {"brand", "marke", "marque", "marca", "merk", "mærke", "märke", "manufacturer", "hersteller", "fabricant"}
)
_SIZE = frozenset(
    {"size", "volume", "weight", "content", "inhalt", "gewicht", "contenance", "poids", "contenido"}
)
# The code of the availability policy is a class of the element in every language.
_STOCK = {
    "instock": Availability.IN_STOCK,
    "available": Availability.IN_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """One page of a catalogue or category: its tiles, the shop's own count, and the next page."""

    tiles: tuple[RawListing, ...]
    total: int | None
    next_url: str | None


@dataclass(frozen=True, slots=True)
class ProductPage:
    """A product page: its listing, or why there is none, or the pages of its variants."""

    listing: RawListing | None = None
    skip: SkipReason | None = None
    variants: tuple[str, ...] = ()


def _has(name: str) -> str:
    """XPath condition: the element has this class."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def product_id(url: str) -> str:
    """The shop's id of the product at this address, `/catalogue/<slug>_<id>/`; empty if it is none."""
    match = _ID.search(urlsplit(url).path)
    return match[1] if match else ""


def read_shelf(document: Document, tax_basis: TaxBasis = TaxBasis.UNKNOWN) -> Shelf:
    """Read one listing page."""
    tiles = []
    for pod in _find(document.tree, f"//article[{_has('product_pod')}]"):
        links = _find(pod, ".//h3//a[@href]") or _find(pod, ".//a[@href]")
        if not links:
            continue
        url = urljoin(document.final_url, links[0].get("href"))
        # The link's text is cut to four words; its title has the whole name.
        name = (links[0].get("title") or _text(links[0])).strip()
        tiles.append(
            RawListing(
                source_sku=product_id(url),
                url=url,
                name=name,
                prices=_headline(pod, tax_basis),
                stock=_stock(pod),
                tax_basis=tax_basis,
            )
        )
    return Shelf(tuple(tiles), _total(document.tree), _next(document))


def read_product(document: Document, tax_basis: TaxBasis = TaxBasis.UNKNOWN) -> ProductPage:
    """Read one product page; `tax_basis` is what the row says, and is used where the page says nothing."""
    mains = _find(document.tree, f"//*[{_has('product_main')}]")
    headings = _find(mains[0], ".//h1") if mains else []
    if not headings:
        return ProductPage(skip=SkipReason.NOT_A_PRODUCT_PAGE)
    main = mains[0]
    variants = _variants(main, document.final_url)
    if variants:
        return ProductPage(variants=variants)
    rows = _rows(document.tree)
    labels = {label.casefold().rstrip(":"): value for label, value in rows}
    stock = _stock(main)
    taxed = _with_tax(rows, stock)
    if tax_basis is TaxBasis.UNKNOWN:
        tax_basis = TaxBasis.UNKNOWN if taxed is None else TaxBasis.EXCLUSIVE
        if taxed:
            tax_basis = TaxBasis.INCLUSIVE
    prices = list(_headline(main, tax_basis))
    if prices and taxed:
        prices.append(replace(prices[0], text=taxed, selector="table: price with tax"))
    count = _COUNT.search(stock[0].text) if stock else None
    listing = RawListing(
        source_sku=product_id(document.final_url),
        url=document.final_url,
        name=_text(headings[0]),
        brand=_first(labels, _BRAND),
        gtin_text=_first(labels, _UPC) or _upc_by_place(rows, stock),
        size_text=_first(labels, _SIZE),
        category=_category(document.tree),
        prices=tuple(prices),
        stock=stock,
        tax_basis=tax_basis,
        extra={"stock_count": count[1]} if count else {},
    )
    if not listing.source_sku:
        return ProductPage(skip=SkipReason.NO_IDENTITY)
    return ProductPage(listing=listing)


def _find(scope: etree._Element, path: str) -> list[Any]:
    """Results of a path that selects nodes."""
    return cast("list[Any]", scope.xpath(path))


def _headline(scope: etree._Element, tax_basis: TaxBasis) -> tuple[RawPrice, ...]:
    texts = [_text(e) for e in _find(scope, f".//p[{_has('price_color')}]")]
    # "Free" and a blank are how the template writes "no price".
    if not texts or not any(char.isdigit() for char in texts[0]):
        return ()
    return (RawPrice(PriceKind.STANDARD, texts[0], Method.BUY_BOX, "p.price_color", tax_basis=tax_basis),)


def _stock(scope: etree._Element) -> tuple[StockReading, ...]:
    for element in _find(scope, f".//p[{_has('availability')}]"):
        for code in (element.get("class") or "").split():
            if code in _STOCK:
                return (
                    StockReading(_STOCK[code], Method.BUY_BOX.value, 0.95, "p.availability", _text(element)),
                )
    return ()


def _rows(tree: etree._Element) -> list[tuple[str, str]]:
    table = _find(tree, f"//article[{_has('product_page')}]//table")
    rows = _find(table[0], ".//tr[th and td]") if table else []
    return [(_text(row.find("th")), _text(row.find("td"))) for row in rows]


def _availability_row(rows: list[tuple[str, str]], stock: tuple[StockReading, ...]) -> int | None:
    """Place of the row that repeats the availability sentence; 2 to 5, counted from 0."""
    for place, (_, value) in enumerate(rows[:6]):
        if place >= 2 and stock and value == stock[0].text:
            return place
    return None


def _with_tax(rows: list[tuple[str, str]], stock: tuple[StockReading, ...]) -> str | None:
    """The price with tax; empty if only the one without tax is shown; None if no price is."""
    place = _availability_row(rows, stock)
    if place is None:
        return None
    return rows[place - 2][1] if place >= 4 else ""


def _upc_by_place(rows: list[tuple[str, str]], stock: tuple[StockReading, ...]) -> str:
    # Between the product type and availability stand one or three rows, so an odd place means that a
    # UPC came first.
    place = _availability_row(rows, stock)
    return rows[0][1] if place in (3, 5) else ""


def _variants(main: etree._Element, base: str) -> tuple[str, ...]:
    """Pages of the variants, on a parent's page: links to products outside of any form or nested tile."""
    if _find(main, ".//form[contains(concat(' ', @class, ' '), ' add-to-basket ')]"):
        return ()
    links = [urljoin(base, a.get("href")) for a in _find(main, ".//h2/following-sibling::a[@href]")]
    return tuple(dict.fromkeys(url for url in links if product_id(url)))


def _category(tree: etree._Element) -> str:
    crumbs = [
        _text(a)
        for a in _find(tree, "//ol[contains(@class, 'breadcrumb')]/li[not(contains(@class, 'ml-auto'))]/a")
    ]
    return " > ".join(crumbs[1:])


def _total(tree: etree._Element) -> int | None:
    for element in _find(tree, "//form[@method='get']//strong"):
        digits = re.sub(r"\D", "", _text(element))
        if digits:
            return int(digits)
    return None


def _next(document: Document) -> str | None:
    """The link whose page number is one more than this page's: labels are translated, numbers are not."""
    current = _page_number(document.final_url)
    for link in _find(document.tree, f"//*[{_has('pagination')} or {_has('pager')}]//a[@href]"):
        url = str(urljoin(document.final_url, link.get("href")))
        if _page_number(url) == current + 1:
            return url
    return None


def _page_number(url: str) -> int:
    value = parse_qs(urlsplit(url).query).get("page", ["1"])[-1]
    return int(value) if value.isascii() and value.isdigit() else 1


def _first(labels: Mapping[str, str], names: frozenset[str]) -> str:
    return next((value for label, value in labels.items() if label in names), "")


def _text(element: etree._Element | None) -> str:
    return "" if element is None else words_of(element)
