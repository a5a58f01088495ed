"""From one confirmed price to the smallest stable selector that finds it again. No AI.

Every element that holds the price suggests selectors: by what it is called, alone or below a named
ancestor. Each is tried on the page itself and on other pages of the same shop; one that also finds
other amounts, or whose names will not last, ranks lower. The proposals are offered for confirmation
and never used by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.market import Market
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selector_index import Node
from pricecrawl.extraction.selectors import RuleError, parse_rule
from pricecrawl.learning.names import (
    SPOKEN_ATTRIBUTES,
    STABLE_ATTRIBUTES,
    is_stable,
    is_utility,
    names_of,
    speaks_of_current,
    speaks_of_other,
    speaks_of_price,
)
from pricecrawl.learning.places import Place, Reader, places_of, script_rules

MAX_RULES = 600
_MAX_ANCESTORS = 10
_CONTEXTS_PER_ANCESTOR = 3
_MAX_STEPS = 8
_TAG = re.compile(r"(?<![\w\-.#:=\"'\\])[a-z][a-z0-9]*(?=[.#\[])")
"""The tag before a class, an id or an attribute: it rarely tells two rules apart."""
_LANDMARKS = ("main", "article", "form", "section", "dl", "table")


@dataclass(frozen=True, slots=True)
class Check:
    """Another page of the same shop; `price` is what it is known to cost, None if that is unknown."""

    document: Document
    price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that finds the confirmed price.

    `score` orders proposals (higher is better). `found_on` of `checked` other pages it gave the known
    price, or some price where none is known. `others` counts different amounts that it also matches on
    the page. `reasons` are sentences for the person who confirms.
    """

    rule: str
    score: float
    value: str
    checked: int
    found_on: int
    others: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One simple selector with what speaks for (positive) or against it."""

    text: str
    worth: float


def induce(
    document: Document,
    price: Decimal,
    *,
    market: Market | None = None,
    checks: Sequence[Check] = (),
    limit: int = 5,
) -> list[Proposal]:
    """Propose rules for a confirmed price, best first; empty when the price stands nowhere on the page."""
    market = market or Market()
    trial = _Trial(document, price, Reader(market, document.locale or None), tuple(checks))
    found: dict[str, Proposal] = {}

    def consider(text: str, worth: float) -> None:
        if text not in found and len(found) < MAX_RULES:
            proposal = trial.of(text, worth)
            if proposal is not None:
                found[text] = proposal

    for place in places_of(document, price, trial.reader):
        ground = _ground(place)
        for text, worth in _rules_for(place):
            consider(text, worth + ground)
    if not any(p.others == 0 and p.found_on == p.checked for p in found.values()):
        for text in script_rules(document, price, trial.reader):
            consider(text, 0.0)
    best = sorted(found.values(), key=lambda p: (-p.score, len(p.rule), p.rule))
    # A person chooses between ways to find the price, not between spellings of one.
    kinds: dict[str, Proposal] = {}
    for proposal in best:
        kinds.setdefault(_TAG.sub("", proposal.rule).replace(" > ", " "), proposal)
    return list(kinds.values())[:limit]


def shows(document: Document, price: Decimal, market: Market) -> bool:
    """Whether the price stands anywhere on the page, in its scripts too."""
    reader = Reader(market, document.locale or None)
    return bool(places_of(document, price, reader) or script_rules(document, price, reader))


@dataclass(frozen=True, slots=True)
class _Trial:
    """One confirmed price with the pages on which a rule has to prove itself."""

    document: Document
    price: Decimal
    reader: Reader
    checks: tuple[Check, ...]

    def of(self, text: str, worth: float) -> Proposal | None:
        """Evaluate a rule; None if it does not give the price first on the page it comes from."""
        currency = self.reader.market.currency
        try:
            rule = parse_rule(text)
            matches = rule.matches(self.document)
        except RuleError:
            return None
        if not matches or not self.reader.is_price(matches[0].value, self.price):
            return None
        amounts = {amount for match in matches if (amount := self.reader.amount(match.value)) is not None}
        others = sum(not agree(amount, self.price, currency) for amount in amounts)
        clutter = max(self.reader.amounts(matches[0].value)[1] - 1, 0)
        found_on, crowd = 0, 0
        for check in self.checks:
            there = rule.matches(check.document)
            seen = [amount for match in there if (amount := self.reader.amount(match.value)) is not None]
            first = self.reader.amount(there[0].value) if there else None
            if first is not None and (check.price is None or agree(first, check.price, currency)):
                found_on += 1
                crowd += len(set(seen)) - 1
        score = worth - len(text) / 12 - 12 * min(others, 4) - 6 * min(crowd, 4) - 6 * min(clutter, 2)
        score -= min(max(len(matches[0].value) - 24, 0) / 6, 6)
        score -= 60 * (len(self.checks) - found_on)
        reasons = [_says_here(matches[0].value, len(matches), others)]
        if self.checks:
            reasons.append(f"It finds a price on {found_on} of {len(self.checks)} other pages of the shop.")
        shown = matches[0].value
        return Proposal(text, round(score, 2), shown, len(self.checks), found_on, others, tuple(reasons))


def _says_here(value: str, count: int, others: int) -> str:
    where = "one element" if count == 1 else f"{count} elements"
    rest = "" if not others else f", among them {others} other amount{'s' if others > 1 else ''}"
    return f"On the page it reads “{value[:60]}” and matches {where}{rest}."


def _ground(place: Place) -> float:
    """What the surroundings say about a place: a struck price or a box of related items is a bad one."""
    element = place.element
    # Metas are read as structured data anyway: a rule for one would only count the same source twice.
    worth = 4.0 if place.attribute is None else -12.0 if element.tag == "meta" else 0.0
    if place.attribute in SPOKEN_ATTRIBUTES:
        worth -= 8.0
    if element.tag in ("del", "s", "strike"):
        worth -= 30
    for depth, ancestor in enumerate((element, *element.iterancestors())):
        if ancestor.tag == "body" or depth > _MAX_ANCESTORS:
            break
        if ancestor.tag in ("nav", "aside", "footer", "del", "s", "strike", "noscript"):
            worth -= 15
        if ancestor.get("hidden") is not None or "display:none" in (ancestor.get("style") or "").replace(
            " ", ""
        ):
            worth -= 6
        if depth and speaks_of_other(names_of(ancestor)):
            worth -= 5 / depth
    return worth


def _rules_for(place: Place) -> Iterator[tuple[str, float]]:
    """Selectors for a place with their worth, the plain ones first."""
    suffix = "" if place.attribute is None else f"::attr({place.attribute})"
    own = _parts(place.element, place.attribute)
    for part in own:
        yield part.text + suffix, part.worth
    bare = _Part(str(place.element.tag), -14.0)
    parent = place.element.getparent()
    for depth, ancestor in enumerate(place.element.iterancestors()):
        if ancestor.tag in ("body", "html", "head") or depth >= _MAX_ANCESTORS:
            break
        contexts = (_parts(ancestor, None) or _landmark(ancestor))[:_CONTEXTS_PER_ANCESTOR]
        for context in contexts:
            for part in (*own[:4], bare):
                lends = 6.0 if speaks_of_price(context.text) and not speaks_of_price(part.text) else 0.0
                worth = part.worth + min(context.worth / 6, 3) + lends - 5 - depth
                if ancestor is parent:
                    yield f"{context.text} > {part.text}{suffix}", worth - 0.5
                if ancestor is not parent or part is not bare:
                    yield f"{context.text} {part.text}{suffix}", worth
    yield from _positional(place.element, suffix)


def _positional(element: Node, suffix: str) -> Iterator[tuple[str, float]]:
    """A place that has no name is found by its number below a named ancestor: better than nothing."""
    steps: list[str] = []
    node: Node | None = element
    while node is not None and node.tag not in ("body", "html") and len(steps) < _MAX_STEPS:
        parts = (_parts(node, None) or _landmark(node)) if node is not element else []
        if parts:
            yield f"{parts[0].text} > {' > '.join(steps)}{suffix}", parts[0].worth / 3 - 25 - 3 * len(steps)
        same = list(node.itersiblings(str(node.tag), preceding=True))
        steps.insert(0, f"{node.tag}:nth-of-type({len(same) + 1})")
        node = node.getparent()
    if node is not None and node.tag == "body" and len(steps) > 2:
        yield f"body > {' > '.join(steps)}{suffix}", -40.0 - 3 * len(steps)


def _landmark(element: Node) -> list[_Part]:
    """A landmark of the page that has no lasting name of its own: there are few of its kind."""
    return [_Part(str(element.tag), 2.0)] if element.tag in _LANDMARKS else []


def _parts(element: Node, attribute: str | None) -> list[_Part]:
    """Simple selectors of one element, best first."""
    found: list[_Part] = []
    tag = str(element.tag)
    for place, name in enumerate(STABLE_ATTRIBUTES):
        value = (element.get(name) or "").strip()
        if value and is_stable(value) and not (name == "name" and tag not in ("meta", "input")):
            plain = f'[{name}="{value}"]' if tag not in ("meta", "input") else f'{tag}[{name}="{value}"]'
            worth = 24.0 if speaks_of_price(value) else 12.0
            found.append(_Part(plain, worth - place * 0.5 + _spoken(value)))
    told = attribute in ("content", "value", *SPOKEN_ATTRIBUTES)
    if attribute is not None and not told and is_stable(attribute):
        found.append(_Part(f"[{attribute}]", 12 + _spoken(attribute)))
    found += _of_id((element.get("id") or "").strip())
    classes = [c for c in dict.fromkeys((element.get("class") or "").split()) if is_stable(c)]
    named = [c for c in classes if not is_utility(c)]
    for name in named:
        found.append(_Part(f".{_escaped(name)}", 12 + _spoken(name)))
        found.append(_Part(f"{tag}.{_escaped(name)}", 10.5 + _spoken(name)))
    pairs = [(a, b) for n, a in enumerate(classes) for b in classes[n + 1 :]][:6]
    for first, second in pairs:
        worth = 8 + _spoken(f"{first} {second}") - 4 * (is_utility(first) + is_utility(second))
        found.append(_Part(f".{_escaped(first)}.{_escaped(second)}", worth))
    for name in classes:
        if is_utility(name):
            found.append(_Part(f".{_escaped(name)}", 0.0))
    return sorted(found, key=lambda part: (-part.worth, len(part.text), part.text))


def _of_id(name: str) -> list[_Part]:
    """An id, and its start where the end looks like a variant of it (`price_our`, `price_sale`)."""
    found = []
    if is_stable(name):
        found.append(_Part(f"#{_escaped(name)}", 18 + _spoken(name)))
    for mark in ("_", "-"):
        start, _, end = name.rpartition(mark)
        if len(start) >= 4 and end and is_stable(start):
            found.append(_Part(f'[id^="{start}{mark}"]', 9 + _spoken(start)))
    return found


def _spoken(name: str) -> float:
    worth = 8.0 if speaks_of_price(name) else 0.0
    worth += 2.0 if speaks_of_current(name) else 0.0
    return worth - (14.0 if speaks_of_other(name) else 0.0)


def _escaped(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "\\" + char for char in name)
