"""Structured data in one shape, whichever syntax a page wrote it in.

JSON-LD, microdata and RDFa all become *nodes*: dictionaries with `@type` and properties, values
being texts, nodes or lists of these. A text that a visitor reads is a `Human`; every other text was
written for machines. A node read from the markup of the page itself has its element under `@element`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Node = dict[str, Any]

ELEMENT = "@element"
MAX_NODES = 4_000
MAX_DEPTH = 24


class Human(str):
    """A value that stands in the page's readable text: "1.299,00 €" and not "1299.00"."""

    __slots__ = ()


@lru_cache(maxsize=4096)
def short(name: str) -> str:
    """Last part of a property or type name, lower case: `http://schema.org/Price` is `price`."""
    name = name.strip()
    cut = max(name.rfind("/"), name.rfind("#"), name.rfind(":"))
    return name[cut + 1 :].lower() if cut >= 0 and cut + 1 < len(name) else name.lower()


def fields(node: Node) -> Node:
    """The node with every property name in its short form; the first of two spellings wins."""
    found: Node = {}
    for key, value in node.items():
        found.setdefault(key if key.startswith("@") else short(key), value)
    return found


def types_of(node: Node) -> tuple[str, ...]:
    """Short lower-case names of a node's types."""
    stated = node.get("@type") or node.get("@Type") or node.get("type")
    if isinstance(stated, str):
        # Microdata separates several types by blanks.
        return tuple(short(part) for part in stated.split()) if " " in stated else (short(stated),)
    if isinstance(stated, list):
        return tuple(short(item) for item in stated if isinstance(item, str))
    return ()


def as_list(value: object) -> list[Any]:
    """A value as a list; nothing is an empty list."""
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def clean(text: str) -> str:
    """Text on one line with its entities resolved, as often as a template engine escaped them."""
    for _ in range(3):
        if "&" not in text:
            break
        resolved = html.unescape(text)
        if resolved == text:
            break
        text = resolved
    return " ".join(text.split())


_TAGS = re.compile(r"<[a-zA-Z/!][^<>]*>")


def text_of(value: object, depth: int = 0) -> str:
    """A value as one line of text: the first of a list, the name of a node, without markup."""
    if isinstance(value, bool):
        return ""
    if isinstance(value, str):
        text = clean(value)
        return clean(_TAGS.sub(" ", text)) if "<" in text else text
    if isinstance(value, int | float):
        return str(value)
    if depth > 4:
        return ""
    if isinstance(value, dict):
        for key in ("@value", "name", "Name", "@id", "value"):
            found = text_of(value.get(key), depth + 1)
            if found:
                return found
        return ""
    if isinstance(value, list | tuple):
        for item in value[:20]:
            found = text_of(item, depth + 1)
            if found:
                return found
    return ""


def texts_of(value: object) -> list[str]:
    """Every text of a value."""
    return [text for text in (text_of(item) for item in as_list(value)[:100]) if text]


@dataclass(slots=True, eq=False)
class Found:
    """A node with the way to it: property names from its block down, and whether it is another thing's.

    `main` tells that it hangs below mainEntity; `listed` that it is an entry of a list of things.
    """

    node: Node
    path: tuple[str, ...]
    related: bool = False
    main: bool = False
    listed: bool = False


# Properties that lead from a product to other products.
_RELATED = frozenset(
    (
        *("isrelatedto", "issimilarto", "isaccessoryorsparepartfor", "isconsumablefor", "addon", "review"),
        *("reviews", "breadcrumb", "mentions", "hasoffercatalog", "recommendation", "alsobought"),
        *("comparison", "subjectof", "ispartof"),
    )
)
_LISTS = frozenset(("itemlistelement", "itemlist", "item"))


def walk(nodes: Sequence[Any]) -> Iterator[Found]:
    """Every node once, in the order of the page, bounded in number and depth."""
    seen: set[int] = set()
    todo: list[tuple[Any, tuple[str, ...], bool, bool, bool]] = [
        (node, (), False, False, False) for node in reversed(nodes)
    ]
    count = 0
    while todo and count < MAX_NODES:
        value, path, related, main, listed = todo.pop()
        if isinstance(value, list | tuple):
            todo.extend((item, path, related, main, listed) for item in reversed(value))
            continue
        if not isinstance(value, dict) or id(value) in seen or len(path) > MAX_DEPTH:
            continue
        seen.add(id(value))
        count += 1
        yield Found(value, path, related, main, listed)
        below = []
        for key, child in value.items():
            if not isinstance(child, dict | list | tuple):
                continue
            name = short(key) if not key.startswith("@") else key
            below.append(
                (
                    child,
                    (*path, name),
                    related or name in _RELATED,
                    main or name in ("mainentity", "mainentityofpage"),
                    listed or name in _LISTS,
                )
            )
        todo.extend(reversed(below))


def resolve_references(nodes: Sequence[Any]) -> None:
    """Replace bare references ({"@id": "#offer"}) by the node they name, in place."""
    named: dict[str, Node] = {}
    found = [item.node for item in walk(nodes)]
    for node in found:
        name = node.get("@id")
        if isinstance(name, str) and len(node) > 1:
            named.setdefault(name, node)
    if not named:
        return
    for node in found:
        for key, value in node.items():
            if isinstance(value, dict):
                node[key] = _resolved(value, named)
            elif isinstance(value, list):
                node[key] = [_resolved(item, named) for item in value]


def _resolved(value: Any, named: dict[str, Node]) -> Any:
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("@id"), str):
        return named.get(value["@id"], value)
    return value
