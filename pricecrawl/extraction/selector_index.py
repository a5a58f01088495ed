"""CSS selectors on an index of one page instead of one walk over the tree per selector.

Selectors of tags, classes, ids, attributes, `:not()` of these and the four combinators are matched
from an index that is built once; anything else runs as the XPath that cssselect makes of it. Both
ways give the same elements in document order, which the tests hold on every page they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from cssselect import parser as css
from lxml import etree

Node = etree._Element  # noqa: SLF001 lxml has no public name for its element type
Test = Callable[[Node], bool]

_with_class = etree.XPath("descendant-or-self::*[@class]")
_with_id = etree.XPath("descendant-or-self::*[@id]")
_with_attribute = etree.XPath("descendant-or-self::*[@*[name() = $name]]")


def _nodes(path: etree.XPath, tree: Node) -> list[Node]:
    """Result of a path that selects elements."""
    return cast("list[Node]", path(tree))


class Index:
    """Elements of one tree by class, id, attribute and tag, each list in document order."""

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self._classes: dict[str, list[Node]] | None = None
        self._ids: dict[str, list[Node]] | None = None
        self._attributes: dict[str, list[Node]] = {}

    def of_class(self, name: str) -> list[Node]:
        """Elements with the class."""
        if self._classes is None:
            self._classes = {}
            for element in _nodes(_with_class, self.tree):
                for token in set((element.get("class") or "").split()):
                    self._classes.setdefault(token, []).append(element)
        return self._classes.get(name, [])

    def of_id(self, name: str) -> list[Node]:
        """Elements with the id."""
        if self._ids is None:
            self._ids = {}
            for element in _nodes(_with_id, self.tree):
                self._ids.setdefault(element.get("id") or "", []).append(element)
        return self._ids.get(name, [])

    def of_attribute(self, name: str) -> list[Node]:
        """Elements that have the attribute."""
        found = self._attributes.get(name)
        if found is None:
            found = cast("list[Node]", _with_attribute(self.tree, name=name))
            self._attributes[name] = found
        return found

    def of_tag(self, name: str) -> list[Node]:
        """Elements with the tag."""
        return list(self.tree.iter(name))


@dataclass(frozen=True, slots=True)
class _Compound:
    """One element's conditions: how to find candidates, and every test they must pass."""

    key: str
    name: str
    tests: tuple[Test, ...]

    def candidates(self, index: Index) -> Sequence[Node]:
        match self.key:
            case "id":
                return index.of_id(self.name)
            case "class":
                return index.of_class(self.name)
            case "attribute":
                return index.of_attribute(self.name)
            case _:
                return index.of_tag(self.name)

    def holds(self, element: Node) -> bool:
        return all(test(element) for test in self.tests)


@dataclass(frozen=True, slots=True)
class FastSelector:
    """A compiled selector: compounds from left to right with the combinator before each."""

    steps: tuple[tuple[str, _Compound], ...]

    def find(self, index: Index) -> list[Node]:
        """Matching elements in document order."""
        last = self.steps[-1][1]
        return [
            element
            for element in last.candidates(index)
            if last.holds(element) and self._reaches(element, len(self.steps) - 1)
        ]

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
    while not isinstance(tree, css.Element):
        if isinstance(tree, css.Class):
            tests.append(_has_class(tree.class_name))
            keys.append((1, "class", tree.class_name))
        elif isinstance(tree, css.Hash):
            tests.append(_has_id(tree.id))
            keys.append((0, "id", tree.id))
        elif isinstance(tree, css.Attrib):
            test = _attribute(tree)
            if test is None:
                return None
            tests.append(test)
            keys.append((2, "attribute", tree.attrib.lower()))
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
        keys.append((3, "tag", tag))
    if not keys:
        return _Compound("", "", ())
    _, key, name = min(keys)
    return _Compound(key, name, tuple(tests))


def _has_class(name: str) -> Test:
    return lambda element: name in (element.get("class") or "").split()


def _has_id(name: str) -> Test:
    return lambda element: element.get("id") == name


def _attribute(tree: css.Attrib) -> Test | None:
    if tree.namespace:
        return None
    name = tree.attrib.lower()
    value = tree.value.value if tree.value is not None else ""
    if value is None:
        return None
    match tree.operator:
        case "exists":
            return lambda element: element.get(name) is not None
        case "=":
            return lambda element: element.get(name) == value
        case "~=":
            return lambda element: bool(value) and value in (element.get(name) or "").split()
        case "|=":
            return lambda element: (
                element.get(name) == value or (element.get(name) or "").startswith(value + "-")
            )
        case "^=":
            return lambda element: bool(value) and (element.get(name) or "").startswith(value)
        case "$=":
            return lambda element: bool(value) and (element.get(name) or "").endswith(value)
        case "*=":
            return lambda element: bool(value) and value in (element.get(name) or "")
        case _:
            return None
