"""How a visitor sees an element: hidden or not, struck through or not.

Inline styles and attributes tell, and simple rules of the page's own style sheets, which are read for
`display`, `visibility` and lines through a text alone. Themes often print every badge and hide the wrong
ones with a rule, so a text is only a statement if nothing hides it. Rules within media queries are left
alone: they speak of other screens.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cssselect import SelectorSyntaxError
from cssselect import parse as parse_css
from lxml import etree

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selector_index import FastSelector, compile_fast
from pricecrawl.extraction.textmap import SILENT_TAGS

MAX_CSS = 400_000
MAX_RULES = 300

_INLINE_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DISPLAY = re.compile(r"(?:^|[;{\s])(?:display|visibility)\s*:\s*([a-z-]+)\s*(!important)?", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"[.#]([\w-]+)(?![^()]*\))[^.#\s>+~]*$")
# Utility classes that hide on every screen; a second class that shows again at some width undoes them.
_HIDING = frozenset(
    (
        *(
            "hide",
            "hidden",
            "is-hidden",
            "is--hidden",
            "displaynone",
            "d-none",
            "ng-hide",
            "display-none",
            "u-hidden",
            "u-hide",
        ),
        *("js-hidden", "no-display", "aok-hidden", "invisible", "uk-hidden", "dn", "hidden-all"),
    )
)
_SHOWING = re.compile(r"(?:^|\s)(?:(?:sm|md|lg|xl|xxl|2xl):\S+|d-(?:sm|md|lg|xl|xxl|print)-\S+|visible-\S+)")


class Visibility:
    """Answers for one document, each element once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[etree._Element, bool] = {}
        self._css: str | None = None
        self._striking: dict[str, list[FastSelector]] | None = None
        self._hiding: frozenset[str] | None = None
        self._rules: dict[str, list[tuple[int, int, FastSelector, bool]]] = {}

    def hidden(self, element: etree._Element) -> bool:
        """True if the element or anything around it is not shown."""
        chain: list[etree._Element] = []
        node: etree._Element | None = element
        result = False
        while node is not None:
            known = self._known.get(node)
            if known is not None:
                result = known
                break
            chain.append(node)
            node = node.getparent()
        for step in reversed(chain):
            result = result or self._hides(step)
            self._known[step] = result
        return result

    def struck(self, element: etree._Element) -> bool:
        """True if a rule of the page's own style sheets draws a line through what stands in the element."""
        names = (element.get("class") or "").split()
        if self._striking is None:
            self._striking = _striking_rules(self._sheet())
        return any(selector.selects(element) for name in names for selector in self._striking.get(name, ()))

    def _sheet(self) -> str:
        if self._css is None:
            self._css = _css_of(self._document)
        return self._css

    def _hides(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in SILENT_TAGS:
            return True
        if element.get("hidden") is not None and element.get("hidden") != "until-found":
            return True
        if tag == "input" and (element.get("type") or "").lower() == "hidden":
            return True
        if tag == "dialog" and element.get("open") is None:
            return True
        style = element.get("style")
        if style and _INLINE_HIDDEN.search(style):
            return True
        classes = element.get("class")
        if style and classes is None and element.get("id") is None:
            return False
        names = (classes or "").split()
        if not _HIDING.isdisjoint(names) and not _SHOWING.search(classes or ""):
            return True
        if style and "display" in style.lower():
            return False  # an inline display wins over the sheets
        return self._sheet_hides(element, names)

    def _sheet_hides(self, element: etree._Element, names: list[str]) -> bool:
        css = self._sheet()
        if self._hiding is None:
            self._hiding = _hidden_names(css)
        if not self._hiding:
            return False
        best: tuple[int, int, bool] | None = None
        identity = element.get("id")
        for name in [*names, *([identity] if identity else [])]:
            if name not in self._hiding:
                continue
            rules = self._rules.get(name)
            if rules is None:
                rules = self._rules[name] = _rules_for(css, name)
            for weight, order, selector, hides in rules:
                if (best is None or (weight, order) > best[:2]) and selector.selects(element):
                    best = (weight, order, hides)
        return best is not None and best[2]


def _css_of(document: Document) -> str:
    sheets = [style.text or "" for style in document.tagged("style") if _is_for_screens(style)]
    css = "\n".join(sheets)[:MAX_CSS]
    if not any(word in css for word in ("none", "hidden", _STRIKES)):
        return ""
    return _COMMENT.sub(" ", css) if "/*" in css else css


def _is_for_screens(style: etree._Element) -> bool:
    media = (style.get("media") or "all").lower()
    return media in ("", "all", "screen")


_STRIKES = "line-through"
_HIDES = ("display:none", "display: none", "visibility:hidden", "visibility: hidden")


@lru_cache(maxsize=16)
def _hidden_names(css: str) -> frozenset[str]:
    """Last class or id of every selector that some rule hides; whether it really does is asked later.

    Remembered for a few sheets: the pages of a shop share theirs.
    """
    hidden: set[str] = set()
    number = 0
    for words in _HIDES:
        place = css.find(words)
        while place >= 0 and number < MAX_RULES:
            number += 1
            for selector in _head_at(css, place).split(","):
                name = _NAME.search(selector.strip())
                if name is not None:
                    hidden.add(name[1])
            place = css.find(words, place + len(words))
    return frozenset(hidden)


@lru_cache(maxsize=16)
def _striking_rules(css: str) -> dict[str, list[FastSelector]]:
    """Selectors of the rules that strike a text through, by the last class that they name."""
    found: dict[str, list[FastSelector]] = {}
    place, number = css.find(_STRIKES), 0
    while place >= 0 and number < MAX_RULES:
        number += 1
        for part in () if _in_block(css, place) else _head_at(css, place).split(","):
            selector = part.strip()
            name = _NAME.search(selector)
            compiled = _compiled(selector) if name is not None else None
            if name is not None and compiled is not None:
                found.setdefault(name[1], []).append(compiled[0])
        place = css.find(_STRIKES, place + len(_STRIKES))
    return found


def _head_at(css: str, position: int) -> str:
    """Selectors of the rule around `position`, empty if it stands in none."""
    opening = css.rfind("{", max(0, position - 2_000), position)
    if opening < 0 or css.find("}", opening, position) >= 0:
        return ""
    floor = max(0, opening - 1_000)
    begin = max(css.rfind("}", floor, opening), css.rfind("{", floor, opening))
    head = css[begin + 1 : opening].strip()
    return "" if "@" in head or len(head) > 1_000 else head


def _rules_for(css: str, name: str) -> list[tuple[int, int, FastSelector, bool]]:
    """Every rule on the display of one name: (weight, order, selector, whether it hides)."""
    found: list[tuple[int, int, FastSelector, bool]] = []
    for match in re.finditer(rf"[.#]{re.escape(name)}(?![\w-])", css):
        opening = css.find("{", match.end(), match.end() + 1_000)
        closing = css.find("}", opening) if opening >= 0 else -1
        if opening < 0 or closing < 0 or len(found) > 60:
            continue
        value = _DISPLAY.search(css[opening:closing])
        if value is None or _in_block(css, match.start()):
            continue
        hides = value[1].lower() in ("none", "hidden")
        for part in _head_at(css, opening + 1).split(","):
            selector = part.strip()
            last = _NAME.search(selector)
            compiled = _compiled(selector) if last is not None and last[1] == name else None
            if compiled is not None:
                weight = compiled[1] + (1_000_000 if value[2] else 0)
                found.append((weight, match.start(), compiled[0], hides))
    return found


def _in_block(css: str, position: int) -> bool:
    """Whether a position stands inside an at-rule: looked for a little way back only."""
    start = max(0, position - 20_000)
    at = max(css.rfind(word, start, position) for word in ("@media", "@supports", "@keyframes"))
    if at < 0:
        return False
    between = css[at:position]
    return between.count("{") > between.count("}")


@lru_cache(maxsize=2048)
def _compiled(selector: str) -> tuple[FastSelector, int] | None:
    """A selector ready to be asked of one element, and its specificity as one number."""
    if ":" in selector or len(selector) > 200:
        return None
    try:
        parsed = parse_css(selector)[0]
    except (SelectorSyntaxError, ValueError):
        return None
    fast = compile_fast(parsed)
    # The page wrote this selector: few steps keep the search for its ancestors short.
    if fast is None or len(fast.steps) > 4:
        return None
    a, b, c = parsed.specificity()
    return fast, a * 10_000 + b * 100 + c
