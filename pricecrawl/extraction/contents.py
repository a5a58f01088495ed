"""The content that the product's area states behind a label ("Inhalt: 0,75 l")."""

from __future__ import annotations

import re

from lxml import etree

from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import JOINT, TextMap

_LABELS = (
    *("inhalt", "füllmenge", "nettofüllmenge", "nettoinhalt"),
    *("content", "contents", "net weight", "net contents", "volume"),
    *("contenance", "contenu", "contenido", "peso neto", "contenuto", "peso netto"),
    *("inhoud", "innehåll", "indhold", "obsah", "objem", "pojemność", "zawartość"),
    *("объем", "объём", "вес", "масса", "内容量", "容量"),
)
_LABELLED = re.compile(rf"\s*({'|'.join(_LABELS)})(?![^\W\d_])\s*:?\s*(.{{0,40}})", re.IGNORECASE | re.DOTALL)
_LINE_STARTS = re.compile(rf"{JOINT}\s*(?:{'|'.join(_LABELS)})", re.IGNORECASE)
_WINDOW = 160
"""Pieces of text from the product's heading on among which the label stands."""


def told_content(textmap: TextMap, heading: etree._Element | None, surroundings: Surroundings) -> str:
    """The content as the page writes it, empty if it states none."""
    place = textmap.position(heading) if heading is not None else None
    if place is None:
        return ""
    pieces = textmap.pieces
    begin, end = textmap.starts[place], textmap.starts[min(place + _WINDOW, len(pieces))]
    for found in _LINE_STARTS.finditer(JOINT + textmap.text[begin:end]):
        index = textmap.index_at(begin + found.start())
        match = _LABELLED.match(pieces[index])
        if match is None:
            continue
        rest = match[2].strip() or (pieces[index + 1].strip() if index + 1 < len(pieces) else "")
        if rest and len(rest) < 40 and rest[0].isdigit() and not surroundings.aside(textmap.holder(index)):
            return " ".join(rest.split())
    return ""
