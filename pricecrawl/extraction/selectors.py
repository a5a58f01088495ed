"""Rules: how a person says where on a page a value stands.

One parser and one evaluator for everything that uses rules (rows, learned selectors, the tester, the
reader), so that what is accepted when it is saved is what runs. See `rule_syntax` for the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import isnan
from typing import Protocol, cast
from weakref import WeakKeyDictionary

from cssselect import ExpressionError, HTMLTranslator, SelectorSyntaxError
from cssselect import parse as parse_css
from lxml import etree

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method
from pricecrawl.extraction.regexes import Pattern, compile_pattern
from pricecrawl.extraction.rule_syntax import Kind, RuleError, Syntax, outside, take_apart
from pricecrawl.extraction.selector_index import FastSelector, Index, Node, compile_fast
from pricecrawl.extraction.textmap import SILENT_TAGS, words_of

__all__ = [
    "MAX_MATCHES",
    "Match",
    "Page",
    "Rule",
    "RuleError",
    "likely_attributes",
    "parse_rule",
    "parse_rules",
    "price_words",
]

MAX_MATCHES = 20
"""Most values that one rule may give for a price; a single-valued field takes the first."""


class Page(Protocol):
    """What a rule needs of a page: the root of its one parsed tree, and its decoded source."""

    tree: Node
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """One value that a rule found.

    `value` is the text, attribute, outer HTML or regex group that the rule asks for, never empty;
    `element` where it stands (None for a regex or a computed XPath value); `text` the readable text
    there; `status` what an assertion made of it.
    """

    value: str
    text: str = ""
    element: Node | None = None
    status: Availability | None = None


@dataclass(frozen=True)
class Rule:
    """A rule that was parsed and compiled; compare and hash it by its text."""

    text: str
    syntax: Syntax = field(compare=False, repr=False)
    _fast: tuple[FastSelector, ...] | None = field(compare=False, repr=False)
    _xpath: etree.XPath | None = field(compare=False, repr=False)
    _pattern: Pattern | None = field(compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        """CSS, XPath or regex."""
        return self.syntax.kind

    @property
    def method(self) -> Method:
        """The method that a price found by this rule has when the rule is a shop's own."""
        return Method.CUSTOM_REGEX if self.kind is Kind.REGEX else Method.CUSTOM_CSS

    @property
    def canonical(self) -> str:
        """The rule in today's spelling."""
        return self.syntax.canonical

    @property
    def asserts(self) -> bool:
        """Whether the rule gives a stock status instead of a value."""
        return self.syntax.assertion is not None

    def elements(self, page: Page) -> list[Node]:
        """Every element that the base selects, whatever its value: what denoising must keep."""
        if self.kind is Kind.REGEX:
            return []
        if self._fast is not None:
            index = _index_of(page)
            found = [fast.find(index) for fast in self._fast]
            filled = [elements for elements in found if elements]
            if len(filled) <= 1:
                return filled[0] if filled else []
        return [owner for _, owner in self._nodes(page) if owner is not None]

    @property
    def simple(self) -> tuple[FastSelector, ...]:
        """The base's selectors where all of them can be asked of one element alone, else none."""
        return tuple(self._fast or ())

    def matches(self, page: Page, limit: int = MAX_MATCHES) -> list[Match]:
        """Up to `limit` values in document order; empty values and failed assertions are left out.

        Raises:
            RuleError: the path cannot be evaluated (the error names the rule).
        """
        found: list[Match] = []
        if self._pattern is not None:
            for value in self._pattern.values(_encoded(page)):
                self._add(found, value, value, None)
                if len(found) >= limit:
                    break
            return found
        nodes: Iterable[tuple[str | None, Node | None]]
        if self._fast is not None and len(self._fast) == 1:
            nodes = ((None, element) for element in self._fast[0].walk(_index_of(page)))
        elif self._fast is not None:
            nodes = ((None, element) for element in self.elements(page))
        else:
            nodes = self._nodes(page)
        for given, element in nodes:
            if given is not None:
                self._add(found, given, given, element)
            elif element is not None:
                self._add(found, self._value_of(element), None, element)
            if len(found) >= limit:
                break
        return found

    def first(self, page: Page) -> Match | None:
        """The first value, for a field that has one."""
        found = self.matches(page, 1)
        return found[0] if found else None

    def _add(self, found: list[Match], value: str, text: str | None, element: Node | None) -> None:
        value = value.strip()
        if not value:
            return
        status = None
        assertion = self.syntax.assertion
        if assertion is not None:
            if not assertion.holds(value):
                return
            status = assertion.status
        if text is None:
            text = value if element is None or self._is_plain else words_of(element)
        found.append(Match(value, text, element, status))

    @property
    def _is_plain(self) -> bool:
        return self.syntax.attribute is None and not self.syntax.outer_html

    def _value_of(self, element: Node) -> str:
        if self.syntax.attribute is not None:
            return element.get(self.syntax.attribute) or ""
        if self.syntax.outer_html:
            return etree.tostring(element, encoding="unicode", method="html", with_tail=False)
        if self.syntax.own_text:
            pieces = [element.text or "", *(child.tail or "" for child in element)]
            return " ".join(" ".join(pieces).split())
        return price_words(element)

    def _nodes(self, page: Page) -> list[tuple[str | None, Node | None]]:
        """Results of the XPath: elements to take the value of, or values that the path gives itself."""
        assert self._xpath is not None
        try:
            result = self._xpath(page.tree)
        except etree.XPathError as error:
            raise RuleError(f"it cannot be evaluated: {error}", self.text, self.syntax.start) from error
        if isinstance(result, bool):
            return [("true", None)] if result else []
        if isinstance(result, float):
            number = "" if isnan(result) else format(result, ".15g")
            return [(number, None)]
        if isinstance(result, str):
            return [(str(result), None)]
        nodes: list[tuple[str | None, Node | None]] = []
        for node in cast("list[object]", result):
            if isinstance(node, str):
                nodes.append((str(node), getattr(node, "getparent", lambda: None)()))
            elif isinstance(node, Node) and isinstance(node.tag, str):
                nodes.append((None, node))
        return nodes


_WHOLE = re.compile(r"(?<![.,]\d)(?<![.,]\d\d)(?<=\d)\Z")
_CENTS = re.compile(r"\d{2}\s?[^\w\s%]{0,2}(?:\s?[A-Za-zč]{1,4})?")
_FRACTION = re.compile(r"frac|cent|deci|penn|minor|kopecks|pence", re.IGNORECASE)


def price_words(element: Node, limit: int = 2000) -> str:
    """The readable text of an element, with cents that are set small joined to their whole number.

    `29<sup>90</sup> €` says 29.90 € to a visitor; as plain words it would be 29 and 90 €.
    """
    if not len(element):
        return words_of(element, limit)
    parts: list[str] = []
    length = 0
    for node in element.iter():
        silent = node.tag in SILENT_TAGS or not isinstance(node.tag, str)
        pieces = ((None if silent else node.text, node), (node.tail, node.getparent()))
        for piece, holder in pieces[: 1 if node is element else 2]:
            bare = (piece or "").strip()
            if not bare:
                continue
            if parts and holder is not element and _WHOLE.search(parts[-1]) and _is_cents(bare, holder):
                whole = parts.pop()
                bare = f"{whole}{',' if '.' in whole else '.'}{bare}"
            parts.append(bare)
            length += len(bare)
        if length > limit:
            break
    return " ".join(" ".join(parts).split())


def _is_cents(text: str, holder: Node | None) -> bool:
    """Whether two digits look like the cents of the number before them."""
    if holder is None or not _CENTS.fullmatch(text):
        return False
    if holder.tag in ("sup", "small") or _FRACTION.search(f"{holder.get('class')} {holder.get('itemprop')}"):
        return True
    parent = holder.getparent()
    return parent is not None and "price" in (parent.get("class") or "").lower() and holder.tag == "span"


_indexes: WeakKeyDictionary[Page, Index] = WeakKeyDictionary()
_sources: WeakKeyDictionary[Page, bytes] = WeakKeyDictionary()


def _index_of(page: Page) -> Index:
    index = _indexes.get(page)
    if index is None or index.tree is not page.tree:
        index = _indexes[page] = Index(page.tree)
    return index


def _encoded(page: Page) -> bytes:
    source = _sources.get(page)
    if source is None:
        source = _sources[page] = page.text.encode("utf-8", "replace")
    return source


@lru_cache(maxsize=4096)
def parse_rule(text: str) -> Rule:
    """Parse and compile one rule; each distinct text is compiled once.

    Raises:
        RuleError: with the position of the offending character.
    """
    syntax = take_apart(text)
    match syntax.kind:
        case Kind.REGEX:
            return Rule(text, syntax, None, None, compile_pattern(syntax))
        case Kind.XPATH:
            return Rule(text, syntax, None, _compile_path(syntax), None)
        case Kind.CSS:
            fast, xpath = _compile_css(syntax)
            return Rule(text, syntax, fast, xpath, None)


def parse_rules(texts: Sequence[str], *, where: str) -> tuple[Rule, ...]:
    """Parse a list of rules; an error names the list and the rule's number, counted from 1.

    Raises:
        RuleError: one of the rules is wrong.
    """
    rules = []
    for number, text in enumerate(texts, start=1):
        try:
            rules.append(parse_rule(text))
        except RuleError as error:
            raise error.named(f"{where}, rule {number}") from None
    return tuple(rules)


def likely_attributes(element: Node) -> list[tuple[str, str]]:
    """Attributes that may hold the value of an element without text, likeliest first."""
    order = ("content", "value", "data-price", "data-value", "datetime", "title", "aria-label", "alt", "href")

    def place(name: str) -> tuple[int, str]:
        return (order.index(name) if name in order else len(order) + (not name.startswith("data-")), name)

    plain = ((str(name), str(value).strip()) for name, value in element.attrib.items())
    return sorted(
        ((name, value) for name, value in plain if value and name not in ("class", "id", "style")),
        key=lambda pair: place(pair[0]),
    )


_STATE = re.compile(r":(?:hover|active|focus|visited|target)(?![\w-])", re.IGNORECASE)
"""Pseudo-classes that tell what a visitor is doing: cssselect takes them and lets them match nothing."""


def _open_places(syntax: Syntax) -> set[int]:
    """Positions of the base outside quotes and brackets, and inside `:not()` and the like."""
    quoted = [m.span() for m in re.finditer(r"""\[[^\]]*\]|"[^"]*"|'[^']*'""", syntax.base)]
    return {n for n in range(len(syntax.base)) if not any(a <= n < b for a, b in quoted)}


def _compile_css(syntax: Syntax) -> tuple[tuple[FastSelector, ...] | None, etree.XPath]:
    stripped = syntax.base.rstrip()
    if stripped[-1:] in (">", "+", "~", ","):
        what = "a comma" if stripped[-1] == "," else f"the combinator {stripped[-1]}"
        syntax.fail(f"nothing follows {what}", len(stripped) - 1)
    state = next((m for m in _STATE.finditer(syntax.base) if m.start() in _open_places(syntax)), None)
    if state is not None:
        syntax.fail(f"{state.group()} is never so on a saved page", state.start())
    try:
        selectors = parse_css(syntax.base)
        translator = HTMLTranslator()
        path = " | ".join(translator.selector_to_xpath(selector) for selector in selectors)
        compiled = etree.XPath(path)
    except SelectorSyntaxError as error:
        problem, position = _css_problem(str(error))
        syntax.fail(problem, position)
    except ExpressionError as error:
        name = re.search(r"pseudo-(?:class|element) ::?([\w-]+)", str(error))
        syntax.fail(str(error), max(syntax.base.find(f":{name.group(1)}"), 0) if name else 0)
    except (etree.XPathSyntaxError, ValueError):
        # An escape such as \\0 stands for a character that no page can hold.
        syntax.fail("this selector cannot be turned into a path", max(syntax.base.find("\\"), 0))
    try:
        compiled(_PROBE)
    except etree.XPathError:
        prefix = re.search(r"[\w-]+\|", syntax.base)
        syntax.fail("namespaces are not declared in HTML", prefix.start() if prefix else 0)
    fast = [compile_fast(selector) for selector in selectors]
    complete = tuple(selector for selector in fast if selector is not None)
    return (complete if len(complete) == len(fast) else None), compiled


_WORDS = {
    "ident": "a name",
    "selector": "a selector",
    "string or ident": "a value",
    "ident or '*'": "a name",
    "an argument": "an argument",
    "Operator expected": "] or an operator such as =",
}
"""What cssselect expects, in words."""


def _css_problem(message: str) -> tuple[str, int]:
    """The complaint of cssselect in our words, and the position that it names at its end."""
    place = re.search(r"(?:<(\w+) (.*) at (\d+)>|<EOF at (\d+)>|at (\d+))\Z", message)
    if place is None:
        return message, 0
    position = int(place.group(3) or place.group(4) or place.group(5))
    expected = message.partition(", got ")[0].replace("Expected ", "")
    expected = _WORDS.get(expected, expected)
    if place.group(4):
        return f"the selector ends where {expected} is expected", position
    return f"{expected} is expected, not {place.group(2)}" if place.group(2) else message, position


_PROBE = etree.fromstring("<html><body><p class='a' id='b'>x</p></body></html>")
_FUNCTION = re.compile(r"(?!text\(|node\(|comment\(|processing-instruction\()[a-z][a-z-]*\(")


def _anywhere(path: str) -> tuple[str, list[int]]:
    """The path with `//` before each step that begins a branch of a union, and where these were put.

    A step alone means "anywhere"; a call or a parenthesis is a whole expression already.
    """
    bars = [place for place in outside(path, 0, len(path), xpath=True) if path[place] == "|"]
    starts = []
    for start in (0, *(bar + 1 for bar in bars)):
        step = start + len(path[start:]) - len(path[start:].lstrip())
        if step < len(path) and path[step] not in "/.($|" and not _FUNCTION.match(path, step):
            starts.append(step)
    for start in reversed(starts):
        path = f"{path[:start]}//{path[start:]}"
    return path, starts


def _compile_path(syntax: Syntax) -> etree.XPath:
    path, added = _anywhere(syntax.base)

    def place_of(position: int) -> int:
        """A position in the path as one in the base."""
        shift = sum(2 for n, start in enumerate(added) if start + 2 * n < position)
        return max(position - shift, 0)

    # The tree hangs below a document, so an absolute path starts at its root element.
    try:
        compiled = etree.XPath(path)
    except etree.XPathSyntaxError as error:
        syntax.fail(_path_problem(str(error)), place_of(_longest_valid(path)))
    try:
        compiled(_PROBE)
    except etree.XPathError as error:
        problem = str(error)
        called = next(
            (m for m in re.finditer(r"([\w.-]+:)?[\w.-]+(?=\()", path) if _is_unknown(m.group())), None
        )
        prefixed = re.search(r"[\w.-]+:(?!:)[\w.-]", path)
        place = called or prefixed
        syntax.fail(_path_problem(problem), place_of(place.start()) if place else 0)
    return compiled


def _path_problem(message: str) -> str:
    known = {
        "Unregistered function": "there is no such function",
        "Undefined namespace prefix": "namespaces are not declared in HTML",
        "Invalid expression": "the path is not valid from here on",
        "Invalid predicate": "the condition in [ ] is not valid",
    }
    return known.get(message, message[:1].lower() + message[1:])


def _is_unknown(name: str) -> bool:
    """Whether libxml2 has no function of this name; its complaint does not say which one it means."""
    try:
        etree.XPath(f"{name}()")(_PROBE)
    except etree.XPathError as error:
        return "Unregistered" in str(error) or "prefix" in str(error)
    return False


def _longest_valid(path: str) -> int:
    """Length of the longest start of a path that is a path itself: what follows is wrong."""
    for end in range(len(path) - 1, 0, -1):
        try:
            etree.XPath(path[:end])
        except etree.XPathSyntaxError:
            continue
        return end
    return 0
