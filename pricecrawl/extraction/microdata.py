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

_micro = etree.XPath("descendant-or-self::*[@itemscope or @itemprop]")
_rdfa = etree.XPath("descendant-or-self::*[@typeof or @property]")

MAX_PROPERTIES = 6_000
MAX_TEXT = 400

_LINKS = {"a": "href", "area": "href", "link": "href", "img": "src", "audio": "src", "embed": "src",
          "iframe": "src", "source": "src", "track": "src", "video": "src", "object": "data"}  # fmt: skip


def microdata_nodes(document: Document) -> list[Node]:
    """Top-level items in the order of the page, then one node of properties that no item holds."""
    if "itemprop" not in document.text:
        return []
    marked: list[etree._Element] = _micro(document.tree)  # type: ignore[assignment]
    return _collect(
        marked[:MAX_PROPERTIES],
        opens=lambda element: element.get("itemscope") is not None,
        type_of=lambda element: element.get("itemtype") or "",
        names_of=lambda element: (element.get("itemprop") or "").split(),
        document=document,
        rdfa=False,
    )


def rdfa_nodes(document: Document) -> list[Node]:
    """Top-level RDFa Lite things in the order of the page; metas of OpenGraph are not among them."""
    if "typeof" not in document.text:
        return []
    marked: list[etree._Element] = _rdfa(document.tree)  # type: ignore[assignment]
    return _collect(
        marked[:MAX_PROPERTIES],
        opens=lambda element: element.get("typeof") is not None,
        type_of=lambda element: element.get("typeof") or "",
        names_of=lambda element: (element.get("property") or element.get("rel") or "").split(),
        document=document,
        rdfa=True,
    )


def _collect(
    marked: list[etree._Element],
    *,
    opens: Callable[[etree._Element], bool],
    type_of: Callable[[etree._Element], str],
    names_of: Callable[[etree._Element], list[str]],
    document: Document,
    rdfa: bool,
) -> list[Node]:
    top: list[Node] = []
    loose: Node = {}
    scopes: dict[etree._Element, Node] = {}
    referred = _references(marked) if not rdfa else {}
    for element in marked:
        names = names_of(element)
        owner = _owner(element, scopes, referred)
        if opens(element):
            node: Node = {"@type": type_of(element), ELEMENT: element}
            name = element.get("itemid") or element.get("resource")
            if name:
                node["@id"] = name
            scopes[element] = node
            value: object = node
        else:
            node = {}
            value = _value(element, names, document, rdfa=rdfa) if names else None
        if not names or (rdfa and not opens(element) and element.tag == "meta" and owner is None):
            if node and owner is None:
                top.append(node)
            continue
        target = owner if owner is not None else (None if node else loose)
        if target is None:
            top.append(node)
            continue
        for name in names:
            _put(target, name, value)
    if loose and any(name.lower() in ("price", "lowprice") for name in loose):
        loose.setdefault("@type", "")
        top.append(loose)
    return top


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
