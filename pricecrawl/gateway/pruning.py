"""A page cut down to what a model needs to find a price: at most 50 KB, and nothing of a visitor."""

from __future__ import annotations

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selector_index import Node

MAX_PRUNED = 50_000
_DROPPED = frozenset(
    (
        *("script", "style", "noscript", "svg", "iframe", "template", "nav", "header", "footer", "aside"),
        *("form", "video", "audio", "picture", "source", "canvas", "object", "link", "dialog"),
    )
)
_KEPT_INSIDE = ("form",)  # a buy box is a form: its children stay, its fields do not
_KEPT_ATTRIBUTES = frozenset(("class", "id", "itemprop", "property", "name", "content"))
_METAS = ("price", "currency", "availability", "og:title", "product:")


def prune(document: Document, limit: int = MAX_PRUNED) -> str:
    """HTML of the body without boilerplate, with the metas that speak of the product in front.

    Whole elements only: what does not fit any more is left out from the end.
    """
    parts: list[str] = []
    left = limit
    for meta in document.tree.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or ""
        if any(word in name for word in _METAS) and meta.get("content"):
            text = f'<meta property="{name}" content="{(meta.get("content") or "")[:200]}">'
            if len(text) < left:
                parts.append(text)
                left -= len(text)
    body = next(document.tree.iter("main"), None)
    if body is None:
        body = next(document.tree.iter("body"), document.tree)
    _write(body, parts, left)
    return "".join(parts)


def _write(element: Node, parts: list[str], left: int, depth: int = 0) -> int:
    """Append the pruned element; returns how much room is left."""
    if not isinstance(element.tag, str) or depth > 60 or left <= 0:
        return left
    tag = element.tag
    if tag in _DROPPED and tag not in _KEPT_INSIDE:
        return left
    if tag == "input" and element.get("type") in ("hidden", "password", "email", "text"):
        return left
    kept = [
        f'{name}="{value[:80]}"'
        for name, value in ((str(name), str(value)) for name, value in element.attrib.items())
        if name in _KEPT_ATTRIBUTES or (name.startswith("data-") and len(value) <= 40)
    ]
    opening = f"<{tag}{' ' if kept else ''}{' '.join(kept)}>"
    closing = f"</{tag}>"
    text = " ".join((element.text or "").split())
    if len(opening) + len(closing) + len(text) > left:
        return 0
    parts.append(opening + _escaped(text))
    left -= len(opening) + len(closing) + len(text)
    for child in element:
        left = _write(child, parts, left, depth + 1)
        tail = " ".join((child.tail or "").split())
        if tail and len(tail) < left:
            parts.append(_escaped(tail))
            left -= len(tail)
    parts.append(closing)
    return left


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
