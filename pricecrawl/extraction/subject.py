"""What a page is about: its address, what it calls its product, and when it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from lxml import etree

from pricecrawl.extraction.address import Address, address
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.names import likeness, name_key
from pricecrawl.extraction.textmap import words_of
from pricecrawl.extraction.things import clean


def nowhere(_element: etree._Element) -> bool:
    """No element stands aside: what holds before the surroundings are known."""
    return False


@dataclass(slots=True)
class Subject:
    """Facts that tell the page's own product from every other product on it.

    `heading` is the h1 that names the product, `names` every name that the page gives itself, best
    first. `country` is the customer's, empty where nobody said. `aside` says whether an element stands
    among other products or page furniture.
    """

    url: str = ""
    address: Address = field(default_factory=Address)
    addresses: tuple[str, ...] = ()
    heading: etree._Element | None = None
    names: tuple[str, ...] = ()
    aside: Callable[[etree._Element], bool] = nowhere
    now: datetime | None = None
    zone: tzinfo | None = None
    country: str = ""

    def could_name(self, name: str) -> bool:
        """Whether `name` is in the letters of the page's own names: only then can unlikeness say a thing."""
        return bool(name) and any(_latin(name_key(name)) == _latin(name_key(own)) for own in self.names)

    def names_it(self, name: str) -> float:
        """0..1: how well `name` is one of the page's own names."""
        if not name:
            return 0.0
        return max((likeness(name, own) for own in self.names), default=0.0)


def _latin(key: str) -> bool:
    return any("a" <= character <= "z" for character in key)


_PARTS = re.compile(r"\s+[|–—·»:•-]\s+|\s*\|\s*")


def subject_of(
    document: Document,
    *,
    aside: Callable[[etree._Element], bool] = nowhere,
    now: datetime | None = None,
    zone: tzinfo | None = None,
) -> Subject:
    """Collect what a page says it is about. Cheap: headings, three metas and the title."""
    metas = document.metas
    titles = [metas.get("og:title", ""), metas.get("twitter:title", ""), document.title]
    titles = [clean(title) for title in titles if title]
    headings = [(element, words_of(element, 300)) for element in document.tagged("h1")]
    headings = [(element, text) for element, text in headings[:20] if text and len(text) < 300]
    heading = _product_heading(headings, titles) if headings else _lesser_heading(document, titles)
    if heading is None:
        heading = _named_heading(document, titles)
    if heading is not None and not headings:
        headings = [(heading, words_of(heading, 300))]
    names = [text for element, text in headings if element is heading]
    for title in titles:
        names.append(title)
        names += [part for part in _PARTS.split(title) if len(part) > 3]
    url = document.url or document.final_url
    return Subject(
        url=url,
        address=address(url),
        addresses=tuple(link for link in (document.url, document.final_url, document.canonical) if link),
        heading=heading,
        names=tuple(dict.fromkeys(name for name in names if name)),
        aside=aside,
        now=now,
        zone=zone,
    )


_LIKE = 0.5
_LESSER = ("h2", "h3", "b", "strong", "font", "td", "th", "div", "span", "p", "a")


def _lesser_heading(document: Document, titles: list[str]) -> etree._Element | None:
    """Without an h1, the first short text that a title repeats whole, in headings before other elements."""
    wanted = {name_key(part) for title in titles for part in (title, *_PARTS.split(title))} - {""}
    longest = max(map(len, wanted), default=0) + 20
    words = {word for whole in wanted for word in whole.split()}
    for tags in (_LESSER[:2], _LESSER[2:]):
        for number, element in enumerate(document.tree.iter(*tags)):
            text = element.text
            if number > 3_000:
                break
            if tags is _LESSER[:2]:
                text = words_of(element, 200)
            if not text or not 3 < len(text) < longest or text.isspace():
                continue
            first = text.split(maxsplit=1)[0]
            if (name_key(first).split() or [""])[0] in words and _is_named(name_key(text), wanted):
                return element
    return None


_NAMED = re.compile(
    r"(?:product|prod|item|goods|sku|article|pdp)[-_]{0,2}(?:name|title|heading)\b|^(?:name|title)$",
    re.IGNORECASE,
)
_with_names = etree.XPath("//body//*[@class or @id or @itemprop]")


def _named_heading(document: Document, titles: list[str]) -> etree._Element | None:
    """Without a heading, the first element that is called the product's name and is much like a title."""
    found: list[etree._Element] = _with_names(document.tree)  # type: ignore[assignment]
    for element in found[:5_000]:
        names = (element.get("class"), element.get("id"), element.get("itemprop"))
        if not any(_NAMED.search(name) for whole in names if whole for name in whole.split()):
            continue
        text = words_of(element, 200)
        if 3 < len(text) < 200 and any(likeness(text, title) >= _LIKE for title in titles):
            return element
    return None


def _is_named(key: str, wanted: set[str]) -> bool:
    return key in wanted or (len(key) >= 12 and any(f" {key} " in f" {whole} " for whole in wanted))


def _product_heading(headings: list[tuple[etree._Element, str]], titles: list[str]) -> etree._Element | None:
    """The heading that the titles repeat most nearly, else the first one."""
    if not headings:
        return None
    if len(headings) == 1 or not titles:
        return headings[0][0]
    best = max(range(len(headings)), key=lambda i: (max(likeness(headings[i][1], t) for t in titles), -i))
    return headings[best][0]
