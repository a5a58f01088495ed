"""JSON-LD blocks of a page, however they are broken."""

from __future__ import annotations

import html
from typing import Any

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.lenient_json import parse
from pricecrawl.extraction.things import Node, resolve_references

MAX_BLOCKS = 60
MAX_TOTAL = 3_000_000  # characters of all blocks of a page


def json_ld_nodes(document: Document) -> list[Node]:
    """Every top-level node of every block, in the order of the page; references are resolved."""
    nodes: list[Node] = []
    blocks = total = 0
    seen: set[str] = set()
    for script in document.tagged("script"):
        if "ld+json" not in (script.get("type") or "").lower():
            continue
        body = script.text or ""
        blocks += 1
        total += len(body)
        if blocks > MAX_BLOCKS or total > MAX_TOTAL:
            break
        if body in seen:
            continue
        seen.add(body)
        nodes.extend(nodes_in(body))
    if any("@id" in body for body in seen):
        resolve_references(nodes)
    return nodes


def nodes_in(body: str) -> list[Node]:
    """Top-level nodes of one JSON-LD body; lists and graphs are opened."""
    body = body.strip().lstrip("\ufeff")
    if "&quot;" in body and body.count('"') < body.count("&quot;"):
        # The whole body went through an HTML escaper, its values perhaps twice.
        body = html.unescape(body)
    nodes: list[Node] = []
    todo: list[Any] = list(reversed(parse(body)))
    while todo and len(nodes) < 2_000:
        value = todo.pop()
        if isinstance(value, list):
            todo.extend(reversed(value))
        elif isinstance(value, dict):
            graph = value.get("@graph")
            if isinstance(graph, list | dict):
                todo.extend(reversed(graph if isinstance(graph, list) else [graph]))
                if len(value) <= 2 or "@type" not in value:
                    continue
            nodes.append(value)
    return nodes
