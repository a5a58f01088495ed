"""JSON that a page carries in its scripts and attributes, wherever it mentions a price.

Frameworks write their state as a JSON script, as an assigned object, as a JSON text within JavaScript, or
as an attribute. Only what mentions a price is parsed, strictly where that works and tolerantly within
a small budget where it does not.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.lenient_json import parse_at
from pricecrawl.extraction.things import Node

BUDGET = 250_000
"""Characters of scripts that are parsed for one page."""

LENIENT_BUDGET = 30_000
"""Characters of one script object that the tolerant reader looks at: an object with code in it is no data."""

MAX_TRIES = 10

_PRICE_KEY = re.compile(r"rice\w{0,20}\\?[\"']?\s*:")
_OPENING = re.compile(r"[=(,:]\s*(?=[{\[])")
_STRING_JSON = re.compile(r"JSON\.parse\(\s*([\"'])")
_ATTRIBUTE = re.compile(r"[\w:.-]+$")
_DATA = re.compile(r"[{\[]\s*(?:[{\[]\s*)*[\"']")


def states(document: Document) -> Iterator[tuple[str, Any, etree._Element | None]]:
    """(where, value, element of an attribute) of all JSON that mentions a price, within the budget."""
    left = BUDGET
    for number, script in enumerate(document.tagged("script")):
        body = script.text
        if not body or left <= 0 or _PRICE_KEY.search(body) is None:
            continue
        kind = (script.get("type") or "").lower()
        if "ld+json" in kind or "template" in kind or "html" in kind:
            continue
        where = f"script#{script.get('id')}" if script.get("id") else f"script[{number}]"
        for value, length in _whole(body) if "json" in kind else _within(body, left):
            left -= length
            yield where, value, None
            if left <= 0:
                break
    if left > 0:
        yield from _in_attributes(document, left)


def _whole(body: str) -> Iterator[tuple[Any, int]]:
    """A script that is one JSON document."""
    body = body[:BUDGET]
    start = min((place for place in (body.find("{"), body.find("[")) if place >= 0), default=-1)
    if start >= 0:
        yield _devalued(parse_at(body, start, LENIENT_BUDGET)[0]), len(body)


def _in_attributes(document: Document, left: int) -> Iterator[tuple[str, Any, etree._Element | None]]:
    """Attributes that hold JSON, found in the source: few pages have any, every element has attributes."""
    text = document.text
    count: dict[str, int] = {}
    marks = ["='{\"", "='[{\""]
    if "{&quot;" in text:
        marks += ['="{&quot;', '="[{&quot;']
    for mark in marks:
        place = text.find(mark)
        while place >= 0 and left > 0:
            end = text.find(mark[1], place + len(mark))
            if end < 0:
                break
            value = text[place + 2 : end]
            left -= len(value)
            if "rice" in value and _PRICE_KEY.search(value.replace("&quot;", '"')):
                name = _ATTRIBUTE.search(text, max(0, place - 60), place)
                if name is not None:
                    value = html.unescape(value)
                    listed = value.lstrip().startswith("[")
                    element = _owner(document, name[0], value, count) if listed else None
                    yield f"@{name[0]}", parse_at(value, 0, LENIENT_BUDGET)[0], element
            place = text.find(mark, end)


def _owner(document: Document, name: str, value: str, count: dict[str, int]) -> etree._Element | None:
    """The element with this value in its attribute; looked for a few times per page only."""
    count[name] = count.get(name, 0) + 1
    if count[name] > 3:
        return None
    low = name.lower()
    return next((element for element in document.tree.iter() if element.get(low) == value), None)


def _within(body: str, left: int) -> Iterator[tuple[Any, int]]:
    """Objects that a script assigns, passes on or parses, if they hold a price."""
    for match in _STRING_JSON.finditer(body):
        end = _string_end(body, match.end(), match[1])
        if end > 0 and "rice" in body[match.end() : end] and end - match.end() <= left:
            text = _unescape(body[match.end() : end])
            start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
            if start >= 0:
                yield parse_at(text, start, LENIENT_BUDGET)[0], len(text)
    prices = [match.start() for match in _PRICE_KEY.finditer(body)][:4_000]
    position = 0
    tries = 0
    for price in prices:
        if price < position or tries > MAX_TRIES * 4:
            continue
        between = [match.end() for match in _OPENING.finditer(body, position, price)]
        quoted = [place for place in between if _DATA.match(body, place)]
        for place in [*quoted[: MAX_TRIES - 3], *between[-3:]]:
            tries += 1
            value, end = parse_at(body, place, LENIENT_BUDGET)
            if isinstance(value, dict | list) and end > price:
                position = end
                yield value, end - place
                break
        else:
            position = price + 1


def _string_end(body: str, start: int, quote: str) -> int:
    """Offset of the quote that ends a JavaScript text; -1 if none does."""
    place = start
    while True:
        place = body.find(quote, place)
        if place < 0:
            return -1
        slashes = 0
        while body[place - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return place
        place += 1


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}


def _unescape(text: str) -> str:
    """Content of a JavaScript text; JSON within it keeps its own escapes."""
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROLS.get(code, code)

    return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _devalued(value: Any) -> Any:
    """Nuxt 3 writes its state as one flat list whose objects hold places in the list."""
    if not (
        isinstance(value, list)
        and len(value) > 3
        and isinstance(value[0], dict | list)
        and len(value) < 60_000
    ):
        return value
    sample = [item for item in value[:200] if isinstance(item, dict)]
    if not sample or not all(str(place).isdigit() for item in sample[:5] for place in item.values()):
        return value
    built: list[Any] = []
    for item in value:
        if not isinstance(item, dict):
            continue
        node: Node = {}
        for key, place in item.items():
            target = _at(value, place)
            if isinstance(target, dict):
                # One level is enough to see a price object inside a product; deeper places stay unresolved
                # and must not be taken for values.
                inner = {name: _at(value, where) for name, where in target.items()}
                target = {name: item for name, item in inner.items() if not isinstance(item, dict | list)}
            node[key] = target
        built.append(node)
    return built


def _at(values: list[Any], place: Any) -> Any:
    text = str(place)
    if not text.isdigit() or int(text) >= len(values):
        return None
    return values[int(text)]
