"""Where on a page a confirmed price stands: texts, attributes and, failing these, scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.market import Market
from pricecrawl.domain.money import read_price
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selector_index import Node
from pricecrawl.extraction.selectors import price_words
from pricecrawl.extraction.textmap import SILENT_TAGS
from pricecrawl.learning.names import SPOKEN_ATTRIBUTES, VALUE_ATTRIBUTES

MAX_PLACES = 24
MAX_TEXT = 120
_CLIMB = 3
_SCRIPT_VALUE = re.compile(
    r"""["']?(?P<key>[A-Za-z_][\w-]*)["']?\s*[:=]\s*["']?(?P<value>[\d][\d.,\s\u00a0']*)""", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Place:
    """One element that holds the price: in its text, or in the attribute named."""

    element: Node
    attribute: str | None = None


class Reader:
    """Reads a value as the extraction would, in the page's own market."""

    def __init__(self, market: Market, locale: str | None = None) -> None:
        self.market = market
        self.locale = locale or market.locale

    def amount(self, text: str) -> Decimal | None:
        """The price of a text, or None."""
        return self.amounts(text)[0]

    def amounts(self, text: str) -> tuple[Decimal | None, int]:
        """The price of a text, and how many different amounts stand in it."""
        reading = read_price(text, locale=self.locale, market=self.market)
        return reading.amount, len({item.amount for item in reading.amounts})

    def is_price(self, text: str, price: Decimal) -> bool:
        """Whether a text reads as this price."""
        found = self.amount(text)
        return found is not None and agree(found, price, self.market.currency)


def places_of(document: Document, price: Decimal, reader: Reader) -> list[Place]:
    """Elements that hold the price, smallest first in document order; at most MAX_PLACES."""
    digits = format(price.to_integral_value(rounding="ROUND_FLOOR"), "f")
    found: dict[tuple[Node, str | None], Place] = {}
    for place in (
        *_in_text(document, digits, price, reader),
        *_in_attributes(document, digits, price, reader),
    ):
        found.setdefault((place.element, place.attribute), place)
        if len(found) >= MAX_PLACES:
            break
    return list(found.values())


def _digits(text: str) -> str:
    return "".join(str(int(char)) for char in text if char.isdecimal())


def _in_text(document: Document, digits: str, price: Decimal, reader: Reader) -> Iterator[Place]:
    textmap = document.textmap
    seen: set[Node] = set()
    for number, piece in enumerate(textmap.pieces):
        if not any(char.isdecimal() for char in piece):
            continue
        element: Node | None = textmap.holder(number)
        if element is None or any(step.tag in SILENT_TAGS for step in (element, *element.iterancestors())):
            continue
        for _ in range(_CLIMB):
            if element is None or element in seen:
                break
            seen.add(element)
            text = price_words(element, MAX_TEXT)
            if len(text) > MAX_TEXT:
                break
            if digits in _digits(text) and reader.is_price(text, price):
                yield Place(element)
                break
            element = element.getparent()


def _in_attributes(document: Document, digits: str, price: Decimal, reader: Reader) -> Iterator[Place]:
    for element in document.tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            if not isinstance(name, str) or not isinstance(value, str) or len(value) > 40:
                continue
            fits = name in VALUE_ATTRIBUTES or name in SPOKEN_ATTRIBUTES or "price" in name
            if fits and digits in _digits(value) and reader.is_price(value, price):
                yield Place(element, name)


def script_rules(document: Document, price: Decimal, reader: Reader) -> list[str]:
    """Regex rules for prices that stand only in scripts: `"price": "12.50"` by its key, likeliest first."""
    counts: dict[str, int] = {}
    for match in _SCRIPT_VALUE.finditer(document.text):
        key = match["key"]
        if re.search(r"price|amount", key, re.IGNORECASE) and reader.is_price(
            match["value"].strip(" ,"), price
        ):
            counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts, key=lambda key: (key.lower() != "price", len(key), key))
    return [
        rf"""regex:/["']?{re.escape(key)}["']?\s*[:=]\s*["']?([0-9]+(?:[.,][0-9]+)*)/""" for key in ordered
    ]
