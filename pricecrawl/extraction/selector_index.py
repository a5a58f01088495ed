"""CSS selectors on an index of one page instead of one walk over the tree per selector.

Selectors of tags, classes, ids, attributes, `:not()` of these and the four combinators are matched
from an index that is built once; anything else runs as the XPath that cssselect makes of it. Both
ways give the same elements in document order, which the tests hold on every page they have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from cssselect import parser as css
from lxml import etree

Node = etree._Element  # noqa: SLF001 lxml has no public name for its element type
Test = Callable[[Node], bool]

Check = Callable[[str], bool]
"""A condition on the value of one attribute."""

_RARE_TAGS = frozenset({"h1", "html", "link", "meta", "script", "title"})
"""Tags that are found faster than any attribute on them."""

_BLANKS = re.compile(r"[ \t\n\f\r]+")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")


def tokens(value: str) -> list[str]:
    """The words of an attribute such as `class`: between ASCII blanks, as HTML has it, and at no others."""
    return value.split() if value.isascii() else [word for word in _BLANKS.split(value) if word]


class Index:
    """Elements of one tree by class, id, attribute and tag, always in document order.

    Attributes are kept by distinct value: a page repeats few values very often, and a condition then
    looks at each of them once.
    """

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self._values: dict[str, dict[str, list[tuple[int, Node]]]] = {}
        self._classes: dict[str, list[tuple[int, Node]]] | None = None

    def of_class(self, name: str) -> list[Node]:
        """Elements with the class."""
        if self._classes is None:
            self._classes = {}
            for value, found in self._by_value("class").items():
                for token in set(tokens(value)):
                    self._classes.setdefault(token, []).extend(found)
        return _in_order(self._classes.get(name, ()))

    def of_attribute(self, name: str, check: Check | None = None) -> list[Node]:
        """Elements that have the attribute, with a value that passes the check."""
        values = self._by_value(name)
        return _in_order(
            [pair for value, found in values.items() if check is None or check(value) for pair in found]
        )

    def of_id(self, name: str) -> list[Node]:
        """Elements with the id."""
        return [element for _, element in self._by_value("id").get(name, ())]

    def of_tag(self, name: str) -> list[Node]:
        """Elements with the tag."""
        return list(self.tree.iter(name))

    def _by_value(self, name: str) -> dict[str, list[tuple[int, Node]]]:
        values = self._values.get(name)
        if values is None:
            values = self._values[name] = {}
            for place, element in enumerate(cast("list[Node]", _having(name)(self.tree, name=name))):
                values.setdefault(element.get(name) or "", []).append((place, element))
        return values


@lru_cache(maxsize=512)
def _having(name: str) -> etree.XPath:
    condition = f"@{name}" if _PLAIN_NAME.match(name) else "@*[name() = $name]"
    return etree.XPath(f"descendant-or-self::*[{condition}]")


def _in_order(found: Sequence[tuple[int, Node]]) -> list[Node]:
    return [element for _, element in sorted(found, key=lambda pair: pair[0])]


@dataclass(frozen=True, slots=True)
class _Compound:
    """One element's conditions: how to find candidates, and every test they must pass."""

    key: str
    name: str
    tests: tuple[Test, ...]
    check: Check | None = None

    def candidates(self, index: Index) -> Sequence[Node]:
        match self.key:
            case "id":
                return index.of_id(self.name)
            case "class":
                return index.of_class(self.name)
            case "attribute":
                return index.of_attribute(self.name, self.check)
            case _:
                return index.of_tag(self.name)

    def matching(self, index: Index) -> Iterator[Node]:
        return (element for element in self.candidates(index) if self.holds(element))

    def holds(self, element: Node) -> bool:
        return all(test(element) for test in self.tests)


@dataclass(frozen=True, slots=True)
class FastSelector:
    """A compiled selector: compounds from left to right with the combinator before each."""

    steps: tuple[tuple[str, _Compound], ...]

    def find(self, index: Index) -> list[Node]:
        """Matching elements in document order."""
        return list(self.walk(index))

    def walk(self, index: Index) -> Iterator[Node]:
        """The same one by one, for callers that need only the first few."""
        reached = self.steps[0][1].matching(index)
        for combinator, compound in self.steps[1:]:
            before = set(reached)
            if not before:
                return iter(())
            reached = _follow(combinator, compound.matching(index), before)
        return reached

    def selects(self, element: Node) -> bool:
        """Whether one element matches; no index is needed."""
        return self.steps[-1][1].holds(element) and self._reaches(element, len(self.steps) - 1)

    def _reaches(self, element: Node, step: int) -> bool:
        """Whether the steps before `step` match around `element`, which matches `step` itself."""
        if step == 0:
            return True
        combinator, wanted = self.steps[step][0], self.steps[step - 1][1]
        match combinator:
            case ">":
                parent = element.getparent()
                return parent is not None and wanted.holds(parent) and self._reaches(parent, step - 1)
            case "+":
                before = _previous(element)
                return before is not None and wanted.holds(before) and self._reaches(before, step - 1)
            case "~":
                around = element.itersiblings(preceding=True)
            case _:
                around = element.iterancestors()
        return any(
            isinstance(other.tag, str) and wanted.holds(other) and self._reaches(other, step - 1)
            for other in around
        )


class Chooser:
    """Which of many selectors is the first to select an element.

    Only those are tried that the element's tag, id, classes and attributes leave possible.
    """

    def __init__(self, selectors: Iterable[tuple[int, FastSelector]]) -> None:
        """`selectors` have their ranks; several may share one."""
        self._by_key: dict[tuple[str, str], list[tuple[int, FastSelector]]] = {}
        for rank, selector in selectors:
            last = selector.steps[-1][1]
            self._by_key.setdefault((last.key, last.name), []).append((rank, selector))

    def first(self, element: Node) -> int | None:
        """Lowest rank of a selector that selects the element."""
        possible = list(self._by_key.get(("", "*"), ()))
        keys = {("tag", str(element.tag)), ("id", element.get("id") or "")}
        keys.update([("attribute", str(name)) for name in element.keys()])  # noqa: SIM118
        keys.update([("class", name) for name in tokens(element.get("class") or "")])
        for key in self._by_key.keys() & keys:
            possible += self._by_key[key]
        return min((rank for rank, selector in possible if selector.selects(element)), default=None)


def _follow(combinator: str, found: Iterable[Node], before: set[Node]) -> Iterator[Node]:
    """Those of `found` that stand where the combinator says, seen from one of `before`."""
    match combinator:
        case ">":
            return (element for element in found if element.getparent() in before)
        case "+":
            return (element for element in found if _previous(element) in before)
        case "~":
            return (
                element
                for element in found
                if any(other in before for other in element.itersiblings(preceding=True))
            )
        case _:
            return (element for element in found if any(other in before for other in element.iterancestors()))


def _previous(element: Node) -> Node | None:
    for other in element.itersiblings(preceding=True):
        if isinstance(other.tag, str):
            return other
    return None


def compile_fast(selector: css.Selector) -> FastSelector | None:
    """The selector for the index, or None when it needs the XPath."""
    if selector.pseudo_element is not None:
        return None
    steps: list[tuple[str, _Compound]] = []
    tree = selector.parsed_tree
    while isinstance(tree, css.CombinedSelector):
        compound = _compound(tree.subselector)
        if compound is None or tree.combinator not in (" ", ">", "+", "~"):
            return None
        steps.append((tree.combinator, compound))
        tree = tree.selector
    compound = _compound(tree)
    if compound is None:
        return None
    steps.append(("", compound))
    if steps[0][1].key == "":
        return None
    return FastSelector(tuple(reversed(steps)))


def _compound(tree: css.Tree) -> _Compound | None:
    """Conditions on one element; None if one of them is not among the simple ones."""
    tests: list[Test] = []
    keys: list[tuple[int, str, str]] = []
    checks: dict[str, Check] = {}
    while not isinstance(tree, css.Element):
        if isinstance(tree, css.Class):
            tests.append(_has_class(tree.class_name))
            keys.append((1, "class", tree.class_name))
        elif isinstance(tree, css.Hash):
            tests.append(_has_id(tree.id))
            keys.append((0, "id", tree.id))
        elif isinstance(tree, css.Attrib):
            check, name = _attribute(tree), tree.attrib.lower()
            if check is None:
                return None
            tests.append(_has_value(name, check))
            keys.append((2, "attribute", name))
            checks.setdefault(name, check)
        elif isinstance(tree, css.Negation):
            inner = _compound(tree.subselector)
            if inner is None:
                return None
            tests.append(lambda element, inner=inner: not inner.holds(element))  # type: ignore[misc]
        else:
            return None
        tree = tree.selector
    if tree.namespace:
        return None
    if tree.element and tree.element != "*":
        tag = tree.element.lower()
        tests.insert(0, lambda element: bool(element.tag == tag))
        keys.append((1 if tag in _RARE_TAGS else 3, "tag", tag))
    if not keys:
        return _Compound("", "*", tuple(tests))
    _, key, name = min(keys)
    return _Compound(key, name, tuple(tests), checks.get(name) if key == "attribute" else None)


def _has_class(name: str) -> Test:
    return lambda element: name in tokens(element.get("class") or "")


def _has_id(name: str) -> Test:
    return lambda element: element.get("id") == name


def _always(_value: str) -> bool:
    return True


def _has_value(name: str, check: Check) -> Test:
    def test(element: Node) -> bool:
        value = element.get(name)
        return value is not None and check(value)

    return test


def _attribute(tree: css.Attrib) -> Check | None:
    wanted = tree.value.value if tree.value is not None else ""
    if tree.namespace or wanted is None:
        return None
    match tree.operator:
        case "exists":
            return _always
        case "=":
            return lambda value: value == wanted
        case "~=":
            return lambda value: bool(wanted) and wanted in tokens(value)
        case "|=":
            return lambda value: value == wanted or value.startswith(wanted + "-")
        case "^=":
            return lambda value: bool(wanted) and value.startswith(wanted)
        case "$=":
            return lambda value: bool(wanted) and value.endswith(wanted)
        case "*=":
            return lambda value: bool(wanted) and wanted in value
        case _:
            return None
