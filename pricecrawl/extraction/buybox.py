"""The price that a visitor sees: amounts of the page, told apart by what surrounds them.

Each amount is either set aside with a reason (another product's, an instalment, a shipping charge, a
unit price, an extra, a limit, running text), or is a price of some kind in the product's own area. How
likely it is *the* price is a score of plain facts: a price-like name on its box, an amount that stands
alone on its line, nearness to the product's heading and to the control that buys it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from lxml import etree

from pricecrawl.domain.candidate import Method, PriceKind, RawPrice, Tier
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.money import read_price
from pricecrawl.domain.money_roles import Role, old_new_pair
from pricecrawl.extraction.amounts import Occurrence
from pricecrawl.extraction.controls import Control
from pricecrawl.extraction.labels import (
    before_role,
    is_converted,
    is_for_members,
    is_price_label,
    is_without,
    no_price,
    tax_of,
)
from pricecrawl.extraction.marks import Mark
from pricecrawl.extraction.seen import (
    Seen,
    are_twins,
    is_for_several,
    label_below,
    mark_choices,
    mark_reduced,
    mark_schemes,
    read_labels,
    share_labels,
)
from pricecrawl.extraction.settling import Visible, settle
from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import JOINT, TextMap

THRESHOLD = 6.0
"""Score from which an amount counts as the visible price; below it, it is a vague candidate."""

WEAK = 3.0
"""Score below which an amount is not even a vague candidate."""

_KIND_MARKS = (
    Mark.OLD | Mark.REGULAR | Mark.SAVING | Mark.UNIT | Mark.INSTALMENT | Mark.SHIPPING | Mark.MEMBER
) | (Mark.EXTRA | Mark.QUANTITY | Mark.NET | Mark.GROSS | Mark.PRE_ORDER | Mark.CURRENT)
_BUY_BOXES = Mark.BUY_BOX | Mark.PRICE_BOX
_SIDE_MARKS = Mark.SAVING | Mark.UNIT | Mark.INSTALMENT | Mark.SHIPPING | Mark.EXTRA | Mark.QUANTITY
_ALONE = re.compile(r"[\s\W\d]*", re.UNICODE)


def look(
    textmap: TextMap,
    found: Sequence[Occurrence],
    surroundings: Surroundings,
    controls: Sequence[Control],
) -> Visible:
    """Tell the amounts of a page apart."""
    visible = Visible()
    seen = _own_amounts(found, surroundings, visible)
    _own_marks(seen)
    heading = surroundings.subject.heading
    place = textmap.position(heading) if heading is not None and seen else None
    buying = [control for control in controls if control.buys]
    previous_end = 0
    for number, item in enumerate(seen):
        following = seen[number + 1].occurrence.start if number + 1 < len(seen) else len(textmap.text)
        read_labels(item, textmap, previous_end, following, surroundings.visibility)
        previous_end = item.occurrence.end
    share_labels(seen, textmap)
    mark_schemes(seen)
    mark_reduced(seen, textmap)
    mark_choices(seen)
    for number, item in enumerate(seen):
        after = seen[number + 1].occurrence.first if number + 1 < len(seen) else None
        _classify(item, seen[number - 1] if number else None, textmap, after)
        if item.reason:
            visible.aside.append(item)
            continue
        item.score = _score(item, place, buying)
        section = item.score >= WEAK and surroundings.section(item.around.levels)
        if section and not (len(buying) == 1 and _beside_control(item, buying)):
            item.score -= 3
        _place(item, visible, surroundings)
    if not any(item.kind is PriceKind.STANDARD or item.named_old for item in visible.chosen):
        _believe_units(visible, place, buying, surroundings)
    settle(visible)
    return visible


def _believe_units(
    visible: Visible, place: int | None, buying: Sequence[Control], surroundings: Surroundings
) -> None:
    """Where nothing else is a price, one that only a name calls a unit price: a shop may mean a piece."""
    for item in [item for item in visible.aside if item.reason == _UNIT and not item.says_unit]:
        item.score = _score(item, place, buying)
        if any(option.score >= item.score for option in visible.options):
            continue
        item.reason = ""
        visible.aside.remove(item)
        _place(item, visible, surroundings)


def _own_amounts(found: Sequence[Occurrence], surroundings: Surroundings, visible: Visible) -> list[Seen]:
    """The amounts that are shown in the product's area; the others are set aside."""
    seen: list[Seen] = []
    surroundings.note_prices(occurrence.holder for occurrence in found)
    for occurrence in found:
        around = surroundings.around(occurrence.holder)
        item = Seen(occurrence, around)
        if around.hidden:
            continue
        item.reason = around.other or ("" if any(d not in "0٠۰०" for d in item.digits) else "nothing")
        (visible.aside if item.reason else seen).append(item)
    return seen


def _place(item: Seen, visible: Visible, surroundings: Surroundings) -> None:
    """Put an amount where its score and its surroundings say."""
    if item.choice:
        item.reason = "one of several choices"
        visible.options.append(item)
    elif item.score >= WEAK and (titled := surroundings.card_title(item.around.levels)):
        item.reason = titled
        visible.aside.append(item)
    elif item.score < WEAK:
        item.reason = "too far from the product"
        visible.aside.append(item)
    else:
        (visible.vague if item.score < THRESHOLD else visible.chosen).append(item)


def _own_marks(seen: Sequence[Seen]) -> None:
    """Marks of the boxes that hold this amount alone: a box around two amounts describes neither."""
    held: dict[etree._Element, set[str]] = {}
    for item in seen:
        for element, _ in item.around.levels[:7]:
            held.setdefault(element, set()).add(item.digits)
    crowded = _crowded(seen)
    for item in seen:
        own = 0
        for step, (element, marks) in enumerate(item.around.levels[:7]):
            shared = len(held[element]) > 1
            item.alone += not shared
            own |= marks & ~_KIND_MARKS if shared else marks & ~_SIDE_MARKS if element in crowded else marks
            if step > 3 and not shared:
                own &= ~Mark.CURRENT
        item.own = own


def _crowded(seen: Sequence[Seen]) -> set[etree._Element]:
    """Boxes with an amount in several places, which need not be one thing: a litre has its litre price."""
    found: set[etree._Element] = set()
    places: dict[etree._Element, int] = {}
    for number, item in enumerate(seen):
        twin = number > 0 and are_twins(seen[number - 1], item)
        for element, _ in item.around.levels[:7]:
            places[element] = places.get(element, 0) + (not twin)
            if places[element] > 1:
                found.add(element)
    return found


def _in_two_currencies(one: Seen, two: Seen) -> bool:
    """Whether two amounts name different currencies: one is the other converted, and no end of a range."""
    named = {read_price(item.occurrence.text).currency for item in (one, two)} - {None}
    return len(named) > 1


_MAYBE_LIST = re.compile(r"price-?list|retail", re.IGNORECASE)
_AND_ALSO = re.compile(r"[\s)(]*(?:[/|,;·]|or|and|oder|und|ou|et|o|y|e)?[\s(]*", re.IGNORECASE)
_DASH = re.compile(r"\s*(?:-|–|—|to|bis|à|hasta|al|до|až|~)\s*\Z", re.IGNORECASE)


def _classify(item: Seen, previous: Seen | None, textmap: TextMap, following: int | None) -> None:
    """Kind, tax basis, or the reason why this is no price of the product."""
    if previous is not None and not previous.reason:
        between = textmap.text[previous.occurrence.end : item.occurrence.start].replace(JOINT, " ")
        dashed = bool(between.strip()) and _DASH.fullmatch(between) is not None
        dashed = dashed and not _in_two_currencies(previous, item)
        if dashed and previous.kind is not PriceKind.LIST:
            previous.lowest = True
            item.reason = "the upper end of a range"
            return
        if dashed and previous.around.struck == item.around.struck:
            item.kind = PriceKind.LIST
            item.reason = "the upper end of an earlier range"
            return
    item.converted = is_converted(item.before) or (
        previous is not None
        and textmap.text[item.occurrence.start - 1 : item.occurrence.start] == "~"
        and _in_two_currencies(previous, item)
    )
    if previous is not None and previous.converted:
        gap = textmap.text[previous.occurrence.end : item.occurrence.start].replace(JOINT, " ")
        item.converted = item.converted or _AND_ALSO.fullmatch(gap) is not None
    item.below = label_below(item, textmap, following)
    item.tax = _tax(item, previous, textmap)
    if previous is not None and old_new_pair(previous.before, item.before):
        previous.kind = PriceKind.LIST
    item.reason = _no_price_here(item) or _beside_limit(item, previous)
    if item.reason:
        return
    own, label = item.own, item.label
    role = before_role(item.before) or (before_role(label) if label else None)
    if item.scheme == "without" or is_without(f"{item.before[-40:]} | {item.after[:40]} | {item.below[:60]}"):
        item.lowest = role is Role.FROM
        return
    if item.around.struck or item.reduced or own & Mark.OLD or role is Role.BEFORE:
        item.kind = PriceKind.LIST
        item.named_old = (
            not (item.around.struck or item.reduced or own & Mark.REGULAR)
            and role is None
            and _is_price_list(item)
        )
    elif (
        own & Mark.MEMBER
        or item.scheme == "with"
        or (role is Role.MEMBER and not _labels_previous(previous))
        or is_for_members(_member_words(item, previous))
    ):
        item.kind = PriceKind.MEMBER
    elif own & Mark.PRE_ORDER:
        item.kind = PriceKind.PRE_ORDER
    item.regular = bool(own & Mark.REGULAR) or role is Role.USUAL
    item.lowest = role is Role.FROM


def _beside_limit(item: Seen, previous: Seen | None) -> str:
    """Why an amount is none where its sentence has just named a limit ("Free from €50. Below that €3.95")."""
    if previous is None or previous.occurrence.last != item.occurrence.first:
        return ""
    return "a charge beside its limit" if previous.reason == _LIMIT else ""


def _is_price_list(item: Seen) -> bool:
    """Whether a box's name says "price list" or "retail", as boxes of plain prices are called too."""
    return any(_MAYBE_LIST.search(element.get("class") or "") for element, _ in item.around.levels[:4])


def _member_words(item: Seen, previous: Seen | None) -> str:
    """The words that may say "members"; those behind a members' price belong to that one."""
    if _labels_previous(previous):
        return f"{item.after[:40]} | {_pictured(item)}"
    label = item.label if previous is None or item.label not in previous.below else ""
    return f"{label} {item.before} | {item.after[:40]} | {item.below[:60]} | {_pictured(item)}"


def _labels_previous(previous: Seen | None) -> bool:
    """Whether the words behind the amount before are what makes it a members' price."""
    return previous is not None and previous.kind is PriceKind.MEMBER and is_for_members(previous.after[:40])


def _pictured(item: Seen) -> str:
    """What pictures right beside the amount say: the logo of a card names whose price it is."""
    pictures = (
        picture
        for element, _ in item.around.levels[: min(item.alone, 3)]
        for picture in islice(element.iter("img", "svg", "i", "use"), 4)
    )
    said = [p.get("alt") or p.get("title") or p.get("aria-label") or "" for p in pictures]
    return " ".join(text for text in said if text)[:120]


def _tax(item: Seen, previous: Seen | None, textmap: TextMap) -> TaxBasis:
    """With or without tax, by the names of the box, else by the words in it, before, after and below.

    Where the amount before it is followed by its label, the words between the two belong to that one.
    """
    named = item.own & (Mark.NET | Mark.GROSS)
    if named == Mark.NET:
        return TaxBasis.EXCLUSIVE
    if named == Mark.GROSS:
        return TaxBasis.INCLUSIVE
    begin, end = item.occurrence.start, item.occurrence.end
    floor = textmap.starts[item.occurrence.first]
    ceiling = textmap.starts[item.occurrence.last + 1] - 1
    around = textmap.text[max(floor, begin - 60) : begin] + " " + textmap.text[end : min(ceiling, end + 60)]
    basis = tax_of(" ".join(around.replace(JOINT, " ").split()))
    if basis is not TaxBasis.UNKNOWN:
        return basis
    before = f"{item.label} {item.before[-60:]}"
    if previous is not None and previous.labelled_after and before.strip():
        before = ""
    basis = tax_of(before)
    if basis is TaxBasis.UNKNOWN:
        basis = tax_of(item.after[:40])
        item.labelled_after = basis is not TaxBasis.UNKNOWN
    return basis if basis is not TaxBasis.UNKNOWN else tax_of(item.below)


def _no_price_here(item: Seen) -> str:
    """Why words or names around an amount make it no price of the product; empty if they do not."""
    own, label = item.own, item.label
    if item.around.ticked:
        return "an extra to tick"
    reason = no_price(item.before, item.after) or (no_price(label, "") if label else "")
    if reason == _SAVED and own & Mark.MEMBER and _SAVES_SHARE.search(item.before or label):
        reason = ""  # "Club members save 10 %": then comes what they pay
    if reason:
        item.says_unit = reason == _UNIT
        return reason
    if item.before.rstrip().endswith("(") and item.after.lstrip().startswith((")", "/")):
        return "in brackets"
    for mark, why in _REASONS:
        in_buy_box = mark == Mark.SHIPPING and own & _BUY_BOXES and own & Mark.PRICE
        if own & mark and not in_buy_box:
            return why
    return "a price for another quantity" if is_for_several(item) else ""


_LIMIT = "a limit and not a price"
_SAVES_SHARE = re.compile(r"\d\s?%\W*\Z")
_SAVED = "an amount saved"
_UNIT = "a unit price"
_REASONS = (
    (Mark.SAVING, _SAVED),
    (Mark.UNIT, _UNIT),
    (Mark.INSTALMENT, "an instalment or subscription"),
    (Mark.SHIPPING, "a shipping charge"),
    (Mark.EXTRA, "an extra"),
    (Mark.QUANTITY, "a price for another quantity"),
)


def _score(item: Seen, place: int | None, buying: Sequence[Control]) -> float:
    """How likely the amount is the price of the product, from plain facts."""
    around = item.around
    near = far = 0
    for step, (_, marks) in enumerate(around.levels):
        if step < 5:
            near |= marks
        else:
            far |= marks
    shared = around.shared
    together = shared is not None and shared.tag not in ("body", "html")
    score = _line_score(item)
    score += 3 if near & Mark.PRICE or is_price_label(item.before or item.label) else 0
    score += 1 if item.own & Mark.CURRENT else 0
    score += 1 if (near | far) & _BUY_BOXES else 0
    score -= 2 if (near | far) & Mark.PROSE else 0
    score += 2 if together else 0
    score += 1 if together and around.steps <= 8 else 0
    score += 1 if place is not None and 0 <= item.occurrence.first - place <= 80 else 0
    score += 2 if _beside_control(item, buying) else 0
    score += 0.5 if around.chosen else 0
    score += 1 if before_role(item.before) is Role.NOW else 0
    score += 2 if item.tax is TaxBasis.INCLUSIVE else 0
    return score - (1 if item.lowest else 0)


def _line_score(item: Seen) -> float:
    """An amount that stands alone on its line is a price tag, one within a sentence is not."""
    line = len(item.before.strip()) + len(item.after.strip())
    if item.line > 110:
        return -3
    if item.kind is PriceKind.MEMBER and not item.before.strip() and is_for_members(item.after[:24]):
        return 0  # "£7.50 Club price. Valid until …": a label, and then the terms
    if line <= 14 or _ALONE.fullmatch(item.before + item.after):
        return 2
    if line <= 32:
        return 1
    return -3 if line > 70 else 0


def _beside_control(item: Seen, buying: Sequence[Control]) -> bool:
    """Whether a control that buys stands in a box around the amount that is not the whole page."""
    boxes = {element for element, _ in item.around.levels[:9]}
    if item.around.shared is not None and item.around.shared.tag not in ("body", "html", "main"):
        boxes.add(item.around.shared)
    for control in buying:
        node: etree._Element | None = control.element
        for _ in range(9):
            if node is None:
                break
            if node in boxes and node.tag not in ("body", "html", "main"):
                return True
            node = node.getparent()
    return False


def raw_of(item: Seen, *, generic: bool) -> RawPrice:
    """A seen amount as a price candidate."""
    where = describe(item.occurrence.holder)
    method = Method.GENERIC_CSS if generic else Method.BUY_BOX
    context = f"{item.label} {item.before[-40:]}".strip()
    price = RawPrice(
        item.kind,
        item.occurrence.text,
        method,
        where,
        tier=Tier.GLOBAL if generic else Tier.STRUCTURED,
        tax_basis=item.tax,
        context=context[:80],
    )
    return replace(price, context=f"{context} (lowest of a range)"[:100].strip()) if item.lowest else price


def describe(element: etree._Element) -> str:
    """A short selector of an element: its id or classes, else those of the box around it."""
    node: etree._Element | None = element
    tail = ""
    for _ in range(4):
        if node is None or not isinstance(node.tag, str):
            break
        identity, classes = node.get("id"), (node.get("class") or "").split()
        if identity and not any(character.isdigit() for character in identity):
            return f"#{identity}{tail}"
        if classes:
            return f"{node.tag}.{'.'.join(classes[:2])}{tail}"
        tail = f" {node.tag}{tail}"
        node = node.getparent()
    return tail.strip() or "text"
