"""Whether the page's product can be bought, from its own rules, its controls and its words.

Order of certainty: a configured rule 0.95, schema.org 0.90 (read with the offers), a text or control in
the product's area that says so by its place 0.85, a phrase elsewhere in the main part 0.50. Markup and
what the page shows may overrule each other; the decision says why (`domain.availability.decide`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lxml import etree

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Tier
from pricecrawl.extraction.buybox import describe
from pricecrawl.extraction.controls import Control
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.marks import Mark
from pricecrawl.extraction.rules import Rules
from pricecrawl.extraction.stock_words import Said, counted_state, sayings, state_of
from pricecrawl.extraction.surroundings import Surroundings

WINDOW = 160
"""Pieces of text after the product's heading in which statements about stock are looked for."""

MAX_PIECE = 110


def configured_stock(document: Document, rules: Rules) -> list[StockReading]:
    """What the row's or learned stock rules say; empty where none is configured."""
    if rules.tier("stock") is Tier.GLOBAL:
        return []
    found: list[StockReading] = []
    for rule in rules.rules("stock"):
        for match in rule.matches(document, 3):
            value = match.status if match.status is not None else state_of(match.value)
            found.append(StockReading(value, "custom-stock", 0.95, rule.text, match.value[:80]))
            if value is not Availability.UNKNOWN:
                return found
    return found


def control_stock(controls: Sequence[Control], surroundings: Surroundings) -> list[StockReading]:
    """What the product's own buttons say."""
    found: list[StockReading] = []
    own = [control for control in controls if _is_own(control.element, surroundings)]
    buying = [c for c in own if c.says in ("buy", "pre_order") and c.enabled]
    for control in own:
        where = describe(control.element)
        if control.says == "sold_out" or (control.says == "notify" and not buying):
            found.append(StockReading(Availability.OUT_OF_STOCK, "control", 0.85, where, control.text[:80]))
        elif control.says == "pre_order" and control.enabled:
            found.append(StockReading(Availability.PRE_ORDER, "control", 0.85, where, control.text[:80]))
        elif control.says == "buy" and control.enabled:
            found.append(StockReading(Availability.IN_STOCK, "control", 0.85, where, control.text[:80]))
        elif control.says == "buy" and not _asks_for_choice(control.element):
            text = f"{control.text[:60]} (disabled)"
            found.append(StockReading(Availability.OUT_OF_STOCK, "control", 0.5, where, text))
        elif control.says == "named" and control.enabled and control.text:
            found.append(StockReading(Availability.IN_STOCK, "control", 0.4, where, control.text[:80]))
    return _simplified(found)


def _simplified(found: list[StockReading]) -> list[StockReading]:
    """One reading per state; a sold-out or notify button beside a way to buy is about another choice."""
    states = {reading.value for reading in found if reading.confidence >= 0.85}
    if Availability.PRE_ORDER in states:
        found = [reading for reading in found if reading.value is not Availability.IN_STOCK]
    first: dict[Availability, StockReading] = {}
    for reading in found:
        known = first.get(reading.value)
        if known is None or reading.confidence > known.confidence:
            first[reading.value] = reading
    return list(first.values())


def _is_own(element: etree._Element, surroundings: Surroundings) -> bool:
    around = surroundings.around(element)
    if around.other and around.other != "in a link to another page":
        return False
    return not surroundings.visibility.hidden(element)


def _asks_for_choice(element: etree._Element) -> bool:
    """Whether a disabled button may only wait for a size or colour to be chosen."""
    form = element
    for _ in range(8):
        parent = form.getparent()
        if parent is None or form.tag == "form":
            break
        form = parent
    if next(form.iter("select"), None) is not None:
        return True
    return any((box.get("type") or "").lower() == "radio" for box in form.iter("input"))


def told_stock(document: Document, surroundings: Surroundings, *, named: bool = True) -> list[StockReading]:
    """What the product's area says in words: 0.85 in a box named for stock, 0.50 elsewhere.

    `named` is False where the shop has stock rules of its own: then boxes named for stock are no default
    rule any more and count as phrases.
    """
    textmap = document.textmap
    heading = surroundings.subject.heading
    start = textmap.position(heading) if heading is not None else None
    main = next(iter(document.tagged("main")), None)
    if start is None and main is not None:
        start = textmap.position(main)
    first = max(0, (start or 0) - 12)
    found: dict[tuple[Availability, float], StockReading] = {}
    for index in range(first, min(len(textmap.pieces), first + WINDOW + 12)):
        written = textmap.pieces[index]
        if len(written) > 4 * MAX_PIECE:
            continue
        piece = " ".join(written.split())
        if not 2 <= len(piece) <= MAX_PIECE:
            continue
        told = _told(piece)
        if told is None:
            continue
        reading = _statement(piece, *told, textmap.holder(index), surroundings, named=named)
        if reading is None:
            continue
        key = (reading.value, reading.confidence)
        known = found.get(key)
        if known is None or len(reading.text) < len(known.text):
            found[key] = reading
    return _strongest(list(found.values()))


@lru_cache(maxsize=8192)
def _told(piece: str) -> tuple[tuple[Said, ...], Availability] | None:
    """What a text says of stock in words, else by a count; None where it says nothing."""
    said = sayings(piece)
    counted = counted_state(piece) if not said else Availability.UNKNOWN
    return (said, counted) if said or counted is not Availability.UNKNOWN else None


def _statement(
    piece: str,
    said: tuple[Said, ...],
    counted: Availability,
    holder: etree._Element,
    surroundings: Surroundings,
    *,
    named: bool,
) -> StockReading | None:
    around = surroundings.around(holder)
    if around.other or around.hidden or holder.tag in ("a", "option", "select", "title"):
        return None
    marks = 0
    for element, mark in around.levels[:4]:
        if element.tag in ("button", "a"):
            return None  # controls are read as controls
        marks |= mark
    value = said[0].value if said else counted
    share = max((item.share for item in said), default=1.0)
    if said:
        # A statement that it cannot be bought weighs more than a word that it can.
        negative = [item for item in said if item.value is not Availability.IN_STOCK]
        if negative:
            value, share = negative[0].value, sum(item.share for item in negative)
    place = describe(holder)
    if marks & Mark.CHOICE and not around.chosen:
        return None
    if named and marks & Mark.STOCK and share >= 0.25:
        return StockReading(value, "stock-text", 0.85, place, piece[:80])
    if share >= 0.4 or (share >= 0.2 and len(piece) <= 60):
        return StockReading(value, "phrase", 0.50, place, piece[:80])
    return None


def _strongest(found: list[StockReading]) -> list[StockReading]:
    """The surest first: contradictions are for the decision to judge."""
    return sorted(found, key=lambda reading: (-reading.confidence, reading.value.value))[:6]
