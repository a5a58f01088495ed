"""The grammar of a rule, without its evaluation: what kind it is, and where it is wrong.

    rule      = ["!"] base ["::attr(" name ")" | "::text"] [assertion]
    base      = css | "xpath:" path | "regex:/" pattern "/" ["i"] | "~" pattern "~"
    assertion = ("::equals(" | "::contains(") text ")->" ("in_stock" | "out_of_stock" | "pre_order")
    legacy    = css "|" name            (the same as css::attr(name))

Markers count only outside quotes and brackets, so `a[data-k="x::attr(y)"]` and `[lang|="en"]` are
plain CSS. Every problem is an error at save time that points at its character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.errors import UsageProblem

MAX_RULE_LENGTH = 2000
STATUSES = {
    status.value: status
    for status in (Availability.IN_STOCK, Availability.OUT_OF_STOCK, Availability.PRE_ORDER)
}
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*\Z")
_ASSERTION = re.compile(r"::(equals|contains)\(")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What neither XML nor a page's text can hold."""
_CLOSERS = {"[": "]", "(": ")"}
_AXIS = re.compile(
    r"(?:\A|[^\w.-])(?:ancestor(?:-or-self)?|attribute|child|descendant(?:-or-self)?|following(?:-sibling)?|"
    r"namespace|parent|preceding(?:-sibling)?|self)\s*\Z"
)
"""A path that ends in the name of an axis: `self::text` is an element called text, `p::text` a modifier."""


class RuleError(UsageProblem):
    """A rule that cannot be used. `position` is the index of the offending character in the rule."""

    def __init__(self, problem: str, rule: str, position: int, *, where: str = "") -> None:
        self.problem = problem
        self.rule = rule
        self.position = max(0, min(position, len(rule)))
        self.where = where
        line = rule.replace("\n", " ").replace("\t", " ")
        head = f"{where}: " if where else ""
        super().__init__(
            f"{head}the rule is wrong at character {self.position + 1}: {problem}\n"
            f"    {line}\n    {' ' * self.position}^"
        )

    def named(self, where: str) -> RuleError:
        """The same error, saying in which list and at which index the rule stands."""
        return RuleError(self.problem, self.rule, self.position, where=where)


class Kind(StrEnum):
    """How the base of a rule finds its matches."""

    CSS = "css"
    XPATH = "xpath"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Assertion:
    """Turns a value into a stock status: equality, or containment, both without regard to case."""

    operator: str
    text: str
    status: Availability

    def holds(self, value: str) -> bool:
        """True when the trimmed value equals, or contains, the text."""
        have, want = " ".join(value.split()).casefold(), self.text.casefold()
        return have == want if self.operator == "equals" else want in have

    def __str__(self) -> str:
        return f"::{self.operator}({self.text})->{self.status.value}"


@dataclass(frozen=True, slots=True)
class Syntax:
    """A rule taken apart. `start` is where `base` begins in the rule's own text."""

    rule: str
    kind: Kind
    base: str
    start: int
    attribute: str | None = None
    own_text: bool = False
    outer_html: bool = False
    ignore_case: bool = False
    assertion: Assertion | None = None

    def fail(self, problem: str, position: int = 0) -> NoReturn:
        """Raise a RuleError at a position counted within `base`."""
        raise RuleError(problem, self.rule, self.start + position)

    @property
    def canonical(self) -> str:
        """The rule in today's spelling: legacy bars and tildes rewritten, blanks trimmed."""
        match self.kind:
            case Kind.REGEX:
                text = f"regex:/{self.base}/" + ("i" if self.ignore_case else "")
            case Kind.XPATH:
                text = f"xpath:{self.base}"
            case Kind.CSS:
                text = self.base
        text = "!" + text if self.outer_html else text
        if self.attribute is not None:
            text += f"::attr({self.attribute})"
        if self.own_text:
            text += "::text"
        return text + (str(self.assertion) if self.assertion else "")


def take_apart(rule: str) -> Syntax:
    """Split one rule into its parts.

    Raises:
        RuleError: the rule is empty, too long, unbalanced, or one of its modifiers is malformed.
    """
    start = len(rule) - len(rule.lstrip())
    end = len(rule.rstrip())
    if start >= end:
        raise RuleError("it is empty; write a CSS selector, xpath:… or regex:/…/", rule, start)
    if end - start > MAX_RULE_LENGTH:
        raise RuleError(f"it is longer than {MAX_RULE_LENGTH} characters", rule, start + MAX_RULE_LENGTH)
    control = _CONTROL.search(rule, start, end)
    if control is not None:
        raise RuleError("it holds a control character", rule, control.start())
    if rule[start] == "~":
        return _regex(rule, start + 1, end, "~")
    if rule.startswith("regex:", start):
        if not rule.startswith("regex:/", start):
            raise RuleError("a regex is written regex:/pattern/", rule, start + 6)
        return _regex(rule, start + 7, end, "/")
    return _selector(rule, start, end)


def _regex(rule: str, start: int, end: int, closer: str) -> Syntax:
    """`start` is the first character of the pattern; a closer inside it needs no escape."""
    assertion: Assertion | None = None
    for marker in _ASSERTION.finditer(rule, start, end):
        before = rule[: marker.start()].rstrip()
        if before.endswith((closer, "/i")) and len(before) > start:
            assertion = _assertion(rule, marker.start(), end)
            end = len(before)
            break
    ignore_case = False
    if closer == "/" and rule.endswith("/i", start, end):
        ignore_case, end = True, end - 1
    last = end - 1
    if last < start or rule[last] != closer:
        flags = re.search(r"/[A-Za-z]{1,6}\Z", rule[start:end]) if closer == "/" else None
        if flags is not None:
            raise RuleError("only i may follow the closing /", rule, start + flags.start() + 1)
        raise RuleError(f"the regex has no closing {closer}", rule, end)
    if last == start:
        raise RuleError("the pattern is empty", rule, start)
    return Syntax(rule, Kind.REGEX, rule[start:last], start, ignore_case=ignore_case, assertion=assertion)


def _selector(rule: str, start: int, end: int) -> Syntax:
    outer = rule[start] == "!"
    if outer:
        start += 1
        while start < end and rule[start].isspace():
            start += 1
    if outer and rule.startswith(("regex:", "~"), start):
        raise RuleError("! asks for HTML, and a regex gives text", rule, start - 1)
    is_xpath = rule.startswith("xpath:", start)
    if is_xpath:
        start += 6
        while start < end and rule[start].isspace():
            start += 1
    assertion, end = _split_assertion(rule, start, end)
    attribute, own_text, end = _split_modifier(rule, start, end, xpath=is_xpath)
    if attribute is None and not own_text and not is_xpath:
        attribute, end = _split_bar(rule, start, end)
    end = start + len(rule[start:end].rstrip())
    if outer and (attribute is not None or own_text):
        raise RuleError("! asks for the HTML and the modifier for something else; use one", rule, end)
    if start >= end:
        what = "the path is empty" if is_xpath else "there is no selector before the modifier"
        raise RuleError(what, rule, start)
    for _ in outside(rule, start, end, xpath=is_xpath):
        pass
    kind = Kind.XPATH if is_xpath else Kind.CSS
    return Syntax(rule, kind, rule[start:end], start, attribute, own_text, outer, assertion=assertion)


def outside(rule: str, start: int, end: int, *, xpath: bool = False) -> Iterator[int]:
    """Positions outside quotes and brackets.

    Raises:
        RuleError: a bracket or a quote is not closed, or closes what was never opened.
    """
    opened: list[tuple[str, int]] = []
    position = start
    while position < end:
        char = rule[position]
        if char in "\"'":
            closing = position + 1
            while closing < end and rule[closing] != char:
                closing += 2 if rule[closing] == "\\" and not xpath else 1
            if closing >= end:
                raise RuleError(f"the quote {char} is not closed", rule, position)
            position = closing + 1
            continue
        if char == "\\" and not xpath:
            position += 2
            continue
        if char in _CLOSERS:
            opened.append((char, position))
        elif char in "])":
            if not opened or _CLOSERS[opened[-1][0]] != char:
                raise RuleError(f"{char} closes nothing", rule, position)
            opened.pop()
            position += 1
            continue
        if not opened:
            yield position
        position += 1
    if opened:
        raise RuleError(f"{opened[-1][0]} is not closed", rule, opened[-1][1])


def _split_assertion(rule: str, start: int, end: int) -> tuple[Assertion | None, int]:
    found = None
    try:
        for position in outside(rule, start, end):
            if rule.startswith(("::equals(", "::contains("), position):
                found = position
                break
    except RuleError:
        # The text of an assertion may hold brackets and quotes of its own: look for its marker alone.
        marker = max(_ASSERTION.finditer(rule, start, end), key=lambda m: m.start(), default=None)
        if marker is None or not re.search(r"\)\s*->\s*\w*\s*\Z", rule[marker.end() : end]):
            raise
        found = marker.start()
    if found is None:
        return None, end
    return _assertion(rule, found, end), found


def _assertion(rule: str, start: int, end: int) -> Assertion:
    operator = "equals" if rule.startswith("::equals(", start) else "contains"
    body = start + len(operator) + 3
    tail = re.search(r"\)\s*->\s*([^)>]*)\Z", rule[body:end])
    if tail is None:
        if ")" not in rule[body:end]:
            raise RuleError("( is not closed", rule, body - 1)
        raise RuleError(f"the assertion needs ->status, one of {', '.join(STATUSES)}", rule, end)
    text = rule[body : body + tail.start()].strip()
    if not text:
        raise RuleError("the assertion compares with nothing", rule, body)
    status = tail.group(1).strip()
    if status not in STATUSES:
        raise RuleError(
            f"“{status}” is no status; use one of {', '.join(STATUSES)}", rule, body + tail.start(1)
        )
    return Assertion(operator, " ".join(text.split()), STATUSES[status])


def _split_modifier(rule: str, start: int, end: int, *, xpath: bool) -> tuple[str | None, bool, int]:
    for position in outside(rule, start, end, xpath=xpath):
        if not rule.startswith("::", position):
            continue
        rest = rule[position + 2 : end].rstrip()
        if rest.startswith("attr(") and rest.endswith(")"):
            name = rest[5:-1].strip()
            if not _ATTRIBUTE_NAME.match(name):
                raise RuleError("::attr() needs the name of an attribute", rule, position + 7)
            return name.lower(), False, position
        if rest == "text" and not (xpath and _AXIS.search(rule, start, position)):
            return None, True, position
        if xpath:
            continue  # an axis, as in following-sibling::span
        if rest.startswith("attr"):
            problem = (
                "::attr(name) must end the selector" if rest.startswith("attr(") else "write ::attr(name)"
            )
            raise RuleError(problem, rule, position)
        raise RuleError(
            "only ::attr(name), ::text, ::equals(…)->status and ::contains(…)->status may follow ::",
            rule,
            position,
        )
    return None, False, end


def _split_bar(rule: str, start: int, end: int) -> tuple[str | None, int]:
    """The older spelling `css|name`, split only at the last bar outside brackets and quotes."""
    last = None
    for position in outside(rule, start, end):
        if rule[position] == "|":
            last = position
    if last is None:
        return None, end
    name = rule[last + 1 : end].strip()
    if not name:
        raise RuleError("the name of the attribute is missing after |", rule, last)
    if not _ATTRIBUTE_NAME.match(name):
        raise RuleError(f"“{name}” after | is no name of an attribute", rule, last + 1)
    return name.lower(), last
