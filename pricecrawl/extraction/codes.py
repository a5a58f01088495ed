"""The trade item number that a page states behind a label ("EAN: 4006381333931")."""

from __future__ import annotations

import re

from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import JOINT, TextMap

MAX_SCANNED = 1_500_000  # characters of readable text

# Digits first: pages have few long numbers, and the labels of twenty languages cost five times as much.
_NUMBER = re.compile(r"(?<!\d)\d(?:[ -]?\d){7,13}(?!\d)")
_REACH = 72  # characters before a number in which its label may stand
_LABEL = re.compile(
    r"(?<![^\W_])(?:(?:EAN|GTIN|UPC|JAN|ISBN)(?:[ -]?(?:8|12|13|14|A))?"
    r"(?:[ -]?(?:code|nummer|number|nr\.?|no\.?|kod))?|"
    r"(?:codice|code|kod|kód|código|cod\.?) (?:EAN|GTIN|UPC)(?:[ -]?13)?|"
    r"bar ?codes?|strichcode|code[ -]barres?|código de barras|codice a barre|streepjescode|streckkod|"
    r"stregkode|"
    r"strekkode|viivakoodi|čárový kód|čiarový kód|kod kreskowy|vonalkód|cod de bare|barkod(?: no)?|"
    r"штрих-?код|JANコード|バーコード|商品条码|条形码|條碼|바코드|الباركود|ברקוד)"
    rf"\s{{0,3}}[)]?\s{{0,3}}[:：#]?[\s{JOINT}]{{0,40}}[:：]?\s{{0,3}}\Z",
    re.IGNORECASE,
)


def told_gtin(textmap: TextMap, surroundings: Surroundings) -> str:
    """The number that the product's area states as its own, empty where none or more than one is stated.

    Only a number whose check digit holds counts, and none that stands among other products: a label is a
    claim of the shop, and a wrong number would give the price to another product.
    """
    found: dict[str, str] = {}
    for match in _NUMBER.finditer(textmap.text[:MAX_SCANNED]):
        if _LABEL.search(textmap.text, max(0, match.start() - _REACH), match.start()) is None:
            continue
        reading = read_gtin(match[0])
        if not (reading.valid and reading.gtin14):
            continue
        holder = textmap.holder(textmap.index_at(match.start()))
        if not surroundings.aside(holder) and not surroundings.visibility.hidden(holder):
            found.setdefault(reading.gtin14, match[0])
        if len(found) > 1:
            break
    return next(iter(found.values())) if len(found) == 1 else ""
