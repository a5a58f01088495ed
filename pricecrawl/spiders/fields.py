"""What a row's rules say of a page or a tile, loaded field by field."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from itemloaders import ItemLoader
from itemloaders.processors import Join, MapCompose, TakeFirst
from lxml import etree
from lxml.html import HtmlElement

from pricecrawl.domain.listing import RawListing
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.rule_syntax import Kind
from pricecrawl.extraction.selectors import parse_rule
from pricecrawl.sources.model import RowRules

MAX_LINKS = 2000


@dataclass
class PageFields:
    """Facts of a listing other than prices and stock, as a row's rules find them; empty if they do not."""

    source_sku: str = ""
    name: str = ""
    brand: str = ""
    gtin: str = ""
    mpn: str = ""
    size: str = ""
    category: str = ""
    image: str = ""
    shipping: str = ""
    promotion: str = ""


def _one_line(value: str) -> str:
    return " ".join(value.split())


class ListingLoader(ItemLoader):
    """Values in one line, the first that is not empty; a category is a path, promotions all hold."""

    default_item_class = PageFields
    default_input_processor = MapCompose(_one_line)
    default_output_processor = TakeFirst()
    category_out = Join(" > ")
    promotion_out = Join(" | ")


def load_fields(document: Document, rules: RowRules) -> PageFields:
    """The fields for which the row has rules; a later rule is asked only if those before it are silent."""
    loader = ListingLoader()
    for field in fields(PageFields):
        many = field.name in ("category", "promotion")
        loader.add_value(field.name, values(document, getattr(rules, field.name), many=many))
    item: PageFields = loader.load_item()
    return item


def values(document: Document, rules: Iterable[str], *, many: bool = False) -> list[str]:
    """Values of the first rule that finds any."""
    for text in rules:
        found = parse_rule(text).matches(document)
        if found:
            return [match.value for match in found[: None if many else 1]]
    return []


def with_fields(listing: RawListing, found: PageFields) -> RawListing:
    """The listing with what the row's rules found in place of what was read without them."""
    return replace(
        listing,
        source_sku=found.source_sku or listing.source_sku,
        name=found.name or listing.name,
        brand=found.brand or listing.brand,
        gtin_text=found.gtin or listing.gtin_text,
        mpn_text=found.mpn or listing.mpn_text,
        size_text=found.size or listing.size_text,
        category=found.category or listing.category,
        image_url=found.image or listing.image_url,
        shipping_text=found.shipping or listing.shipping_text,
        promotion_text=found.promotion or listing.promotion_text,
    )


def links(document: Document, text: str) -> list[str]:
    """Absolute addresses that a rule finds.

    A rule that selects elements means the links in or at them, with or without text (an arrow has none);
    one that asks for an attribute, or a regex, gives the address itself.
    """
    rule = parse_rule(text)
    if rule.kind is Kind.REGEX or rule.syntax.attribute is not None:
        found = [match.value for match in rule.matches(document, MAX_LINKS)]
    else:
        found = [href for element in rule.elements(document) if (href := _href(element))]
    return [document.absolute(href) for href in found[:MAX_LINKS]]


def _href(element: HtmlElement) -> str:
    for link in element.iter("a", "link", "area", element.tag):
        if href := (link.get("href") or "").strip():
            return str(href)
    return ""


def tiles(document: Document, rule: str) -> list[Document]:
    """Each element that a rule selects, as a page of its own with the listing page's address."""
    return [_alone(document, element) for element in parse_rule(rule).elements(document)]


def _alone(document: Document, element: HtmlElement) -> Document:
    element = copy.copy(element)
    element.tail = None
    html = etree.tostring(element, encoding="unicode", method="html")
    return Document(html, url=document.base, headers=document.headers, locale=document.locale)
