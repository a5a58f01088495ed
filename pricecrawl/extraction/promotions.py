"""The line beside a price that gives a lower one to whoever buys more ("3 for 2", "2nd at half price").

Only such lines are read without a rule of the shop: what a banner promises to members, to holders of a code
or for an order as a whole leaves the price of one unit as it stands, and says so in too many ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pricecrawl.domain.promotion import PromotionKind, read_promotion
from pricecrawl.extraction.marks import Mark
from pricecrawl.extraction.seen import Seen
from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import JOINT, TextMap

_BEFORE, _AFTER = 12, 60
"""Pieces of text before and after the price among which the line stands."""

_LONGEST = 90
_MORE = frozenset((PromotionKind.CONDITIONAL, PromotionKind.BUNDLE, PromotionKind.AMBIGUOUS))
_MONEY = r"(?:[€$£¥₹]|(?:US|CA|AU)\$|kr\b|zł\b|CHF\b|EUR\b|GBP\b|USD\b|Rs\b)"
_FOR = r"(?:for|für|pour|por|per|voor|za|för)"
# Each begins with the number of units, so that the pass over the text looks at numbers alone.
_FORMS = (
    # "3 for £10", "2 für 5 €", "2 pour 5,00 €"
    rf"[2-9]\s*{_FOR}\s*(?:only|just|nur|seulement|solo|slechts)?\s*(?:{_MONEY}\s*\d|\d+(?:[.,]\d\d?)?\s*{_MONEY})",
    # "2+1 gratis", "1 + 1 free"
    r"[1-9]\s*\+\s*[1-9]\s*(?:gratis|free|offert|gratuit|omaggio|kostenlos|zdarma|ingyen)",
    # "buy 2 get 1 free", "lleva 3 paga 2", "prendi 3 paghi 2", "3 kaufen, 2 zahlen"
    r"[1-9],?\s*(?:and\s+)?(?:get|paga[sn]?|paghi|payez|pague)\s+(?:[1-9]|one\b|another\b|half\b|the\s+\d)",
    r"[2-9]\s*(?:kaufen|nehmen|halen)\s*,?\s*[1-9]\s*(?:be)?(?:zahlen|talen)\b",
    # the next one for less: "2nd half price", "2e à -50 %", "2de halve prijs", "2ª unidad al 70%"
    r"[23](?:nd|rd|e|ème|de|ª|\.)\s[^.|]{0,24}?(?:half|halve|halb|moitié|mitad|metà|\d\d\s*%|free\b|gratis)",
    # less for each: "3 or more for £4 each", "2 or more: 10 % off"; a table of quantities is none
    r"[2-9]\s*(?:or more|oder mehr|ou plus|o más|o più|of meer)\b[^|%]{0,30}(?:%|\b(?:each|apiece)\b)",
)
# "3 for 2", "4 for the price of 3": fewer are paid than are had, and not "3 for 2 people".
_FEWER = (
    rf"(?:2\s*{_FOR}\s*(?:the price of\s*)?1|3\s*{_FOR}\s*(?:the price of\s*)?[12]"
    rf"|4\s*{_FOR}\s*(?:the price of\s*)?[23])(?![\d.,%/-])"
)
_ENDS = r"(?!\s*(?!on\b|offer|deal|mix|across|aktion)[^\W\d_])"


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\d.,:/x×-])(?:" + "|".join(forms) + ")", re.IGNORECASE)


_HINT = _any(*_FORMS, _FEWER, r"[234]\s*[x×]\s*[123]\b")
"""For a pass over several lines: what follows a number may already be the next line."""

_SEVERAL = _any(*_FORMS, _FEWER + _ENDS)
_WHOLE = re.compile(r"\W*(?:2\s*[x×]\s*1|3\s*[x×]\s*2|4\s*[x×]\s*3)\W*")
"""As southern shops write "3 for 2"; as part of a longer line it is a size."""


def told_promotion(textmap: TextMap, surroundings: Surroundings, chosen: Sequence[Seen]) -> str:
    """The line near the visible price that makes a lower one depend on the quantity; empty if none does."""
    if not chosen:
        return ""
    price = max(chosen, key=lambda item: item.score).occurrence.first
    first, last = max(price - _BEFORE, 0), min(price + _AFTER, len(textmap.pieces))
    begin, end = textmap.starts[first], textmap.starts[last]
    window = textmap.text[begin:end].replace(JOINT, " ")
    seen = set()
    for match in _HINT.finditer(window):
        number = textmap.index_at(begin + match.start())
        if number not in seen and (line := _line(textmap, number)) and _is_own(textmap, number, surroundings):
            return line
        seen.add(number)
    return ""


def _line(textmap: TextMap, number: int) -> str:
    """The line that a piece stands in, if it is a promotion that asks for more."""
    piece = textmap.pieces[number]
    if _WHOLE.fullmatch(piece):
        return piece.strip()
    first = last = number
    while first > 0 and number - first < 8 and not textmap.broken_between(first - 1):
        first -= 1
    while last - number < 8 and not textmap.broken_between(last):
        last += 1
    line = " ".join(" ".join(textmap.pieces[first : last + 1]).split())
    fits = len(line) <= _LONGEST and _SEVERAL.search(line) is not None
    return line if fits and read_promotion(line).kind in _MORE else ""


def _is_own(textmap: TextMap, number: int, surroundings: Surroundings) -> bool:
    """Whether a piece stands in the product's own area, for everybody to see, and is no choice."""
    around = surroundings.around(textmap.holder(number))
    if around.other or around.hidden or around.struck:
        return False
    if any(marks & (Mark.CHOICE | Mark.OTHERS) or box.tag == "label" for box, marks in around.levels):
        return False
    return not surroundings.section(around.levels) and not surroundings.card_title(around.levels)
