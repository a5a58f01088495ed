"""The trade item number that a page states behind a label ("EAN: 4006381333931")."""

from __future__ import annotations

import re

from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import JOINT, TextMap

MAX_FOUND = 40

_LABELLED = re.compile(
    r"(?<![^\W_])(?:(?:EAN|GTIN|UPC|JAN|ISBN)(?:[ -]?(?:8|12|13|14|A))?"
    r"(?:[ -]?(?:code|nummer|number|nr\.?|no\.?|kod))?|"
    r"(?:codice|code|kod|kód|código|cod\.?) (?:EAN|GTIN|UPC)(?:[ -]?13)?|"
    r"bar ?codes?|strichcode|code[ -]barres?|código de barras|codice a barre|streepjescode|streckkod|"
    r"stregkode|"
    r"strekkode|viivakoodi|čárový kód|čiarový kód|kod kreskowy|vonalkód|cod de bare|barkod(?: no)?|"
    r"штрих-?код|JANコード|バーコード|商品条码|条形码|條碼|바코드|الباركود|ברקוד)"
    rf"\s{{0,3}}[)]?\s{{0,3}}[:：#]?[\s{JOINT}]{{0,40}}[:：]?\s{{0,3}}(\d(?:[\d \-]{{6,18}})\d)(?!\d)",
    re.IGNORECASE,
)


def told_gtin(textmap: TextMap, surroundings: Surroundings) -> str:
    """The number that the product's area states as its own, empty where none or more than one is stated.

    Only a number whose check digit holds counts, and none that stands among other products: a label is a
    claim of the shop, and a wrong number would give the price to another product.
    """
    found: dict[str, str] = {}
    for number, match in enumerate(_LABELLED.finditer(textmap.text)):
        if number >= MAX_FOUND:
            return ""
        reading = read_gtin(match[1])
        if not (reading.valid and reading.gtin14):
            continue
        holder = textmap.holder(textmap.index_at(match.start(1)))
        if not surroundings.aside(holder) and not surroundings.visibility.hidden(holder):
            found.setdefault(reading.gtin14, match[1])
    return next(iter(found.values())) if len(found) == 1 else ""
