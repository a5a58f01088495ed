"""Microdata and RDFa Lite as nodes.

Both mark up elements of the page. The value of a property is what its standard says (content,
href, src, datetime, value, else the text), and a text that a visitor reads is told apart from a
value written for machines.
"""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.textmap import words_of
from pricecrawl.extraction.things import ELEMENT, Human, Node

# By way of the attribute: half the cost of a condition on every element.
_scoped = etree.XPath("descendant-or-self::*/@itemscope/..")
_named = etree.XPath("descendant-or-self::*/@itemprop/..")
_typed = etree.XPath("descendant-or-self::*/@typeof/..")
_related = etree.XPath("descendant-or-self::*/@property/..")

_referring = etree.XPath("boolean(descendant-or-self::*/@itemref)")
_vocabulary = etree.XPath("boolean(descendant-or-self::*/@vocab)")

_RDFA_PREFIXES = ("schema:", "http")

MAX_PROPERTIES = 6_000
MAX_TEXT = 400

_LINKS = {"a": "href", "area": "href", "link": "href", "img": "src", "audio": "src", "embed": "src",
          "iframe": "src", "source": "src", "track": "src", "video": "src", "object": "data"}  # fmt: skip


def microdata_nodes(document: Document) -> list[Node]:
    """Top-level items in the order of the page, then one node of properties that no item holds."""
    named: list[etree._Element] = _named(document.tree)  # type: ignore[assignment]
    if not named:
        return []
    return _collect(
        _scoped(document.tree) if _referring(document.tree) else _scopes_of(named[:MAX_PROPERTIES]),  # type: ignore[arg-type]
        named,
        type_of=lambda element: element.get("itemtype") or "",
        names_of=lambda element: (element.get("itemprop") or "").split(),
        document=document,
        rdfa=False,
    )


def _scopes_of(named: list[etree._Element]) -> list[etree._Element]:
    """Every item that has a property, in the order of the page: the elements around the properties."""
    scopes: list[etree._Element] = []
    known: set[etree._Element] = set()
    for element in named:
        chain: list[etree._Element] = []
        node: etree._Element | None = element
        while node is not None and node not in known:
            chain.append(node)
            node = node.getparent()
        known.update(chain)
        scopes += [step for step in reversed(chain) if step.get("itemscope") is not None]
    return scopes


def rdfa_nodes(document: Document) -> list[Node]:
    """Top-level RDFa Lite things in the order of the page; metas of OpenGraph are not among them."""
    typed: list[etree._Element] = _typed(document.tree)  # type: ignore[assignment]
    # RDFa Lite needs a vocabulary or a prefix.
    if not any((element.get("typeof") or "").startswith(_RDFA_PREFIXES) for element in typed[:200]) and (
        not typed or not _vocabulary(document.tree)
    ):
        return []
    return _collect(
        typed,
        _related(document.tree),  # type: ignore[arg-type]
        type_of=lambda element: element.get("typeof") or "",
        names_of=lambda element: (element.get("property") or element.get("rel") or "").split(),
        document=document,
        rdfa=True,
    )


def _collect(
    opening: list[etree._Element],
    naming: list[etree._Element],
    *,
    type_of: Callable[[etree._Element], str],
    names_of: Callable[[etree._Element], list[str]],
    document: Document,
    rdfa: bool,
) -> list[Node]:
    """Things of the elements that open one, with the properties of the elements that name one."""
    top: list[Node] = []
    loose: Node = {}
    scopes: dict[etree._Element, Node] = {}
    for element in opening[:MAX_PROPERTIES]:
        node: Node = {"@type": type_of(element), ELEMENT: element}
        name = element.get("itemid") or element.get("resource")
        if name:
            node["@id"] = name
        scopes[element] = node
    referred = _references(opening[:MAX_PROPERTIES]) if not rdfa else {}
    hanging: list[etree._Element] = []
    for element, node in scopes.items():
        names = names_of(element)
        if not names and rdfa and _hanging(element):
            hanging.append(element)
        elif not names or _owner(element, scopes, referred) is None:
            top.append(node)
    for element in [*naming[:MAX_PROPERTIES], *hanging]:
        owner = _owner(element, scopes, referred)
        names = names_of(element) or _hanging(element)
        thing = scopes.get(element)
        if owner is None and (thing is not None or (rdfa and element.tag == "meta")):
            continue
        value: object = thing if thing is not None else _value(element, names, document, rdfa=rdfa)
        for name in names:
            _put(owner if owner is not None else loose, name, value)
    if loose and any(name.lower() in ("price", "lowprice") for name in loose):
        loose.setdefault("@type", "")
        top.append(loose)
    return top


def _hanging(element: etree._Element) -> list[str]:
    """RDFa's chaining: a relation on the box around a thing leads to that thing."""
    parent = element.getparent()
    if parent is None or parent.get("typeof") is not None or parent.get("content") is not None:
        return []
    if parent.get("rel") and not parent.get("href") and not parent.get("resource"):
        return (parent.get("rel") or "").split()
    return []


def _references(marked: list[etree._Element]) -> dict[str, etree._Element]:
    """Id of an element that belongs to an item elsewhere, with that item's element."""
    found: dict[str, etree._Element] = {}
    for element in marked:
        for name in (element.get("itemref") or "").split():
            found.setdefault(name, element)
    return found


def _owner(
    element: etree._Element,
    scopes: dict[etree._Element, Node],
    referred: dict[str, etree._Element],
) -> Node | None:
    """The item that a property belongs to: the nearest scope above, or the one that refers to it."""
    if referred:
        node: etree._Element | None = element
        while node is not None:
            name = node.get("id")
            if name in referred and referred[name] in scopes:
                return scopes[referred[name]]
            if node is not element and node in scopes:
                return scopes[node]
            node = node.getparent()
        return None
    above = element.getparent()
    while above is not None:
        if above in scopes:
            return scopes[above]
        above = above.getparent()
    return None


def _put(node: Node, name: str, value: object) -> None:
    known = node.get(name)
    if known is None:
        node[name] = value
    elif isinstance(known, list):
        known.append(value)
    else:
        node[name] = [known, value]


# Properties whose value on a link is its address; of any other the text is meant, whatever the standard says.
_READ = frozenset(("url", "image", "availability", "itemcondition", "sameas", "logo", "businessfunction"))


def _value(element: etree._Element, names: list[str], document: Document, *, rdfa: bool) -> str:
    content = element.get("content")
    if content is not None and content.strip():
        return content
    tag = element.tag
    if rdfa:
        for name in ("resource", "href", "src"):
            found = element.get(name)
            if found and (name == "resource" or tag != "a" or not (element.text or "").strip()):
                return document.absolute(found)
    elif tag in _LINKS and (tag != "a" or not _READ.isdisjoint(name.lower() for name in names)):
        found = element.get(_LINKS[tag])
        if found:
            return document.absolute(found)
    if tag in ("data", "meter", "input") and element.get("value"):
        return element.get("value") or ""
    if tag == "time" and element.get("datetime"):
        return element.get("datetime") or ""
    if tag == "meta":
        return element.get("value") or ""
    return Human(words_of(element, MAX_TEXT)[:MAX_TEXT])
