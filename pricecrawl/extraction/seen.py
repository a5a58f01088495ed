"""One amount of a page with what stands beside it: its labels, and whether it is one choice of several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from lxml import etree

from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.money import read_price
from pricecrawl.domain.money_roles import Role
from pricecrawl.extraction.amounts import Occurrence
from pricecrawl.extraction.labels import (
    after_role,
    before_role,
    is_for_members,
    is_price_label,
    no_price,
    tax_of,
)
from pricecrawl.extraction.marks import Mark
from pricecrawl.extraction.surroundings import Around, first_name
from pricecrawl.extraction.textmap import JOINT, TextMap, words_of
from pricecrawl.extraction.visibility import Visibility

_DIGITS = re.compile(r"\d+")


@dataclass
class Seen:
    """One amount of the page with what was made of it."""

    occurrence: Occurrence
    around: Around
    kind: PriceKind = PriceKind.STANDARD
    score: float = 0.0
    reason: str = ""
    tax: TaxBasis = TaxBasis.UNKNOWN
    lowest: bool = False
    regular: bool = False
    own: int = 0
    choice: bool = False
    before: str = ""
    after: str = ""
    label: str = ""
    selector: str = ""
    labelled_after: bool = False
    below: str = ""
    scheme: str = ""
    alone: int = 0
    line: int = 0
    named_old: bool = False
    reduced: bool = False
    says_unit: bool = False
    converted: bool = False

    @cached_property
    def value(self) -> Decimal:
        """The amount as a number; zero where it cannot be read."""
        return read_price(self.occurrence.text).amount or Decimal(0)

    @property
    def digits(self) -> str:
        """The digits of the amount: what two spellings of it have in common."""
        return "".join(_DIGITS.findall(self.occurrence.text))


_PIECES = (
    r"(?:pcs?\.?|pieces?|pk|packs?|units?|items?|st(?:ü|ue)ck|stk\.?|st\.?|ks|kusů|kusy|szt\.?|db|шт\.?|"
    r"unidades|uds?\.?|unités?|pièces?|pezzi|pz\.?|stuks?|kpl|個|件|개)"
)
_SEVERAL = re.compile(
    rf"(?:(?:ab|from|dès|à partir de|desde|da|vanaf|från|fra|od|от|at least|buy|min\.?|≥|>=?)"
    rf"\s*(\d{{1,6}})\s*{_PIECES}?"
    rf"|(\d{{1,6}})\s*(?:[-–—]|to|bis|à|a|al|до|do)\s*\d{{1,6}}\s*{_PIECES}?"
    rf"|(\d{{1,6}})\s*{_PIECES}?\s*(?:\+|and (?:more|over|up)|or more|und mehr|oder mehr|et plus|ou plus|"
    rf"o más|"
    rf"ou mais|e più|o più|of meer|en meer|eller (?:fler|flere)|och fler|tai enemmän|lub więcej|"
    rf"i więcej|a více|"
    rf"nebo více|a viac|vagy több|sau mai multe?|ili više|и более|или более|и больше|або більше|і більше|"
    rf"ή περισσότερα|veya daha fazla|以上|이상)"
    rf"|(\d{{1,6}})\s*{_PIECES})",
    re.IGNORECASE,
)
_UP_TO = re.compile(
    rf"(?:bis|up to|to|jusqu['’]?à|hasta|fino a|até|tot(?: en met)?|till|upp till|op til|do|до|-|≤|<=?)"
    rf"\s*\d{{1,6}}\s*{_PIECES}?",
    re.IGNORECASE,
)
_QUANTITY_HEAD = re.compile(
    r"\b(?:quantity|qty|order quantity|units|menge|anzahl|stückzahl|quantité|qté|cantidad|quantità|"
    r"hoeveelheid|aantal|antal|množství|ilość|mennyiség|количество|кол-во|数量|수량)\b",
    re.IGNORECASE,
)


def is_for_several(item: Seen) -> bool:
    """Whether the words before the amount, or its table row, say that it is the price of several.

    The first cell names a quantity ("5 - 9", "10+", "ab 6 Stück"), or is a number above one in a column
    that is headed as the quantity. A row that begins with one is the price of one.
    """
    told = _SEVERAL.fullmatch(item.before.strip(" :"))
    if told is not None:
        return int(next(number for number in told.groups() if number)) > 1
    for step, (element, _) in enumerate(item.around.levels[:6]):
        cell = _first_cell(element) if element.tag == "tr" else None
        if cell is None:
            continue
        if item.around.levels[step - 1][0] is cell:
            return False
        first = words_of(cell, 40)
        if _UP_TO.fullmatch(first):
            before = element.getprevious()
            above = _first_cell(before) if before is not None else None
            return above is not None and bool(_UP_TO.fullmatch(words_of(above, 40)))
        named = _SEVERAL.fullmatch(first)
        if named is not None:
            return int(next(number for number in named.groups() if number)) > 1
        return first.isdigit() and int(first) > 1 and _heads_quantities(element)
    return False


def _first_cell(row: etree._Element) -> etree._Element | None:
    """The first cell of a row that has another one."""
    cells = [child for child in row if child.tag in ("td", "th")]
    return cells[0] if len(cells) > 1 else None


def _heads_quantities(row: etree._Element) -> bool:
    table = next(row.iterancestors("table"), None)
    head = next(table.iter("tr"), None) if table is not None else None
    cell = _first_cell(head) if head is not None else None
    return cell is not None and bool(_QUANTITY_HEAD.search(words_of(cell, 60)))


_ROWS = frozenset(("li", "tr", "label", "option", "button", "dd", "article"))


def mark_choices(seen: Sequence[Seen]) -> None:
    """Mark amounts in a list of like boxes that each hold another amount, unless theirs is the chosen box.

    Two boxes make a list where their names or a radio button say so, three do in any case.
    """
    holding: dict[etree._Element, str] = {}
    payable: set[etree._Element] = set()
    for item in seen:
        if not (item.around.struck or item.reduced or item.own & (Mark.OLD | Mark.MEMBER) or _is_told(item)):
            payable.update(element for element, _ in item.around.levels[:7])
        for element, _ in item.around.levels[:7]:
            holding.setdefault(element, item.digits)
    families: dict[tuple[etree._Element, object, str], _Family] = {}
    for item in seen:
        levels = item.around.levels[:7]
        named = False
        for step, (element, marks) in enumerate(levels):
            named = named or bool(marks & Mark.CHOICE)
            if element.tag not in _ROWS and (element.tag != "div" or step == 0):
                continue
            parent = element.getparent()
            if parent is None:
                continue
            name = first_name(element) if element.tag == "div" else ""
            family = families.get((parent, element.tag, name))
            if family is None:
                like = [child for child in parent if child.tag == element.tag and child in holding]
                like = [child for child in like if not name or first_name(child) == name][:200]
                family = families[parent, element.tag, name] = _family(like, holding, payable)
            if not family.differs:
                continue
            if not family.payable:
                break
            around = any(mark & Mark.CHOICE for _, mark in levels[step : step + 3])
            if family.listed or named or around or element.tag == "option" or _has_radio(element):
                item.choice = family.chosen != [element]
                break


def _is_told(item: Seen) -> bool:
    """Whether its label says which price of the thing it is, or for how many: nothing to choose."""
    label = item.before or item.label
    if is_for_several(item):
        return True
    return before_role(label) in (Role.BEFORE, Role.USUAL) or is_price_label(label)


@dataclass(slots=True)
class _Family:
    """Like boxes side by side.

    `differs`: they hold two amounts or more; `payable`: none holds only an old or members' price, which would
    make them the prices of one thing; `listed`: three or more that each say what they are; `chosen`: the
    selected ones.
    """

    differs: bool
    payable: bool = True
    listed: bool = False
    chosen: list[etree._Element] = field(default_factory=list)


def _family(
    like: Sequence[etree._Element], holding: Mapping[etree._Element, str], payable: set[etree._Element]
) -> _Family:
    if len({holding[child] for child in like}) < 2:
        return _Family(differs=False)
    if any(child not in payable for child in like):
        return _Family(differs=True, payable=False)
    return _Family(
        differs=True,
        listed=len(like) >= 3
        and (like[0].tag != "div" or first_name(like[0]) != "")
        and all(_is_named(child) for child in like),
        chosen=[child for child in like if _is_chosen(child)],
    )


def _is_named(box: etree._Element) -> bool:
    """Whether a box says more than its amount: a choice has a name, a line of a price list need not."""
    letters = sum(character.isalpha() for character in words_of(box, 60)[:120])
    return letters > 4 or next(box.iter("img", "input", "button", "a"), None) is not None


def _has_radio(element: etree._Element) -> bool:
    return any((box.get("type") or "").lower() == "radio" for box in element.iter("input"))


def _is_chosen(element: etree._Element) -> bool:
    """Whether a box of a list is the selected one."""
    names = set((element.get("class") or "").lower().replace("--", "-").split())
    if {"selected", "active", "is-selected", "is-active", "checked", "current"} & names:
        return True
    if any(name.endswith(("-selected", "-active", "-checked", "_selected", "_active")) for name in names):
        return True
    if "true" in (element.get("aria-checked"), element.get("aria-selected"), element.get("data-selected")):
        return True
    if element.tag == "option":
        return element.get("selected") is not None
    return any(box.get("checked") is not None for box in element.iter("input"))


def read_labels(item: Seen, textmap: TextMap, floor: int, ceiling: int, visibility: Visibility) -> None:
    """The words on the amount's own line on either side, and the label on the line before."""
    occurrence = item.occurrence
    text = textmap.text
    first, last = occurrence.first, occurrence.last
    begin = textmap.starts[first]
    start = max(begin, floor)
    index = first
    while index > 0 and occurrence.start - start < 90 and start > floor:
        if textmap.broken_between(index - 1):
            break
        index -= 1
        start = max(textmap.starts[index], floor)
    before = text[max(start, occurrence.start - 120) : occurrence.start].replace(JOINT, " ")
    stop = min(textmap.starts[last + 1] - 1 if last + 1 < len(textmap.starts) else len(text), ceiling)
    index = last
    while stop - occurrence.end < 60 and stop < ceiling and index + 1 < len(textmap.pieces):
        if textmap.broken_between(index):
            break
        index += 1
        stop = min(textmap.starts[index + 1] - 1, ceiling)
    after = text[occurrence.end : min(stop, occurrence.end + 120)].replace(JOINT, " ")
    item.line = _line_length(textmap, first, last)
    if _BARE_AMOUNT.search(before):
        before = ""  # "Advised 59,95 €45": those words are the label of the number that follows them
    item.before = " ".join(before.split()) + (" " if before[-1:].isspace() else "")
    item.after = (" " if after[:1].isspace() else "") + " ".join(after.split())
    if (
        not item.before.strip(" :*-–(\"'")
        and first > 0
        and start == textmap.starts[min(first, len(textmap.starts) - 1)]
    ) or (item.before.strip() == "" and first > 0):
        item.label = _label_above(item, textmap, first, floor, visibility)


_BARE_AMOUNT = re.compile(r"(?<![\d.,])\d{1,6}[.,]\d{2}[\s\u200e\u200f]*\Z")
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2})(?:[.,]\d)?\s?%")


def mark_reduced(seen: Sequence[Seen], textmap: TextMap) -> None:
    """Mark the higher of two amounts beside the percentage by which the lower one undercuts it.

    "₹54,999 ₹64,999 15% off": the arithmetic tells old from new where neither is struck through or named.
    """
    for one, two in pairwise(seen):
        low, high = sorted((one, two), key=lambda item: item.value)
        if any(item.own & Mark.MEMBER or _has_terms(item) for item in (one, two)):
            continue
        if len({tax_of(f"{item.label} {item.before} {item.after[:20]}") for item in (one, two)}) > 1:
            continue  # the one with tax undercuts nothing
        if not 0 < low.value < high.value or two.occurrence.start - one.occurrence.end > 60:
            continue
        boxes = {element for element, _ in one.around.levels[:5]}
        if not any(element in boxes for element, _ in two.around.levels[:5]):
            continue
        near = textmap.text[max(0, one.occurrence.start - 12) : two.occurrence.end + 24].replace(JOINT, " ")
        saved = 100 * (1 - low.value / high.value)
        told = {int(match[1]) for match in _PERCENT.finditer(near)}
        high.reduced = bool(told & {int(saved), round(saved)})


def _has_terms(item: Seen) -> bool:
    """Whether the words beside an amount say that it is for members, or no price at all."""
    words = f"{item.label} {item.before} | {item.after[:40]}"
    return is_for_members(words) or bool(no_price(item.before, item.after) or no_price(item.label, ""))


_WITH = re.compile(r"\W*(?:with|mit|avec|con|met|med|com|с|s|z)\s+(\w{3,})", re.IGNORECASE)
_WITHOUT = re.compile(
    r"\W*(?:without|ohne|sans|sin|senza|zonder|utan|uten|uden|sem|bez|без)\s+(\w{3,})", re.IGNORECASE
)


def mark_schemes(seen: Sequence[Seen]) -> None:
    """Mark "£6.50 with Orchard" and "£8.75 without Orchard": whatever its name, one is for members only.

    Sets `scheme` to "with" and "without" where a page has both of one name. Tax is no scheme.
    """
    told: dict[str, dict[str, list[Seen]]] = {}
    for item in seen:
        for side, pattern in (("with", _WITH), ("without", _WITHOUT)):
            match = pattern.match(item.after)
            if match is not None and tax_of(item.after) is TaxBasis.UNKNOWN:
                told.setdefault(match[1].casefold(), {}).setdefault(side, []).append(item)
    for sides in told.values():
        if len(sides) == 2:
            for side, items in sides.items():
                for item in items:
                    item.scheme = side


def share_labels(seen: Sequence[Seen], textmap: TextMap) -> None:
    """Give the words between two amounts to the one that they belong to.

    The same amount written twice (once for screen readers) has the words before the first and those after
    the last. A tax label between two amounts belongs to the lower one if it says without, to the higher one
    if it says with tax, where tax can be what lies between them.
    """
    for one, two in pairwise(seen):
        if two.occurrence.start - one.occurrence.end > 60:
            continue
        _share_by_boxes(one, two, textmap)
        between = textmap.text[one.occurrence.end : two.occurrence.start].replace(JOINT, " ")
        if one.digits == two.digits:
            if not _broken(one, two, textmap) and before_role(between) in (None, Role.SAVING, Role.UNIT):
                two.before, two.label = one.before, one.label
        elif (basis := tax_of(between)) is not TaxBasis.UNKNOWN and after_role(between) is not Role.UNIT:
            low, high = sorted((one.value, two.value))
            if not low < high <= low * Decimal("1.41"):
                continue
            if (basis is TaxBasis.EXCLUSIVE) == (one.value > two.value):
                one.after = ""
            else:
                two.before = two.label = ""
    for one, two in reversed(list(pairwise(seen))):
        if are_twins(one, two):
            one.after = two.after


def _share_by_boxes(one: Seen, two: Seen, textmap: TextMap) -> None:
    """Words between two amounts that share a smaller box with one of them are the other's no more."""
    first, last = one.occurrence.last + 1, two.occurrence.first - 1
    if first > last or not (one.after.strip() or two.before.strip()):
        return
    nearer = [
        textmap.nearer(one.occurrence.last, index, two.occurrence.first) for index in range(first, last + 1)
    ]
    if all(side > 0 for side in nearer):
        rest = textmap.text[one.occurrence.end : textmap.starts[one.occurrence.last + 1] - 1]
        one.after = (" " if rest[:1].isspace() else "") + " ".join(rest.split())
    elif all(side < 0 for side in nearer):
        rest = textmap.text[textmap.starts[two.occurrence.first] : two.occurrence.start]
        two.before = " ".join(rest.split()) + (" " if rest[-1:].isspace() else "")


def are_twins(one: Seen, two: Seen) -> bool:
    """Whether two amounts are one written twice, for screen readers too: a box holds them and no more."""
    if one.digits != two.digits or two.occurrence.start - one.occurrence.end > 2:
        return False
    if one.occurrence.holder is not two.occurrence.holder and after_role(_rest_of(two)) is Role.UNIT:
        return False  # the price of a litre, and in a box of its own what a litre of it costs
    boxes = {element for element, _ in one.around.levels[:4]}
    box = next((element for element, _ in two.around.levels[:4] if element in boxes), None)
    if box is None:
        return False
    text = ""
    for part in box.itertext():
        text += str(part[:200])
        if len(text) > 400:
            return False
    return "".join(_DIGITS.findall(text)) == one.digits * 2 and sum(map(str.isalpha, text)) <= 8


def _rest_of(item: Seen) -> str:
    """What follows an amount within its own element."""
    return (item.occurrence.holder.text or "").partition(item.occurrence.text)[2]


def _broken(one: Seen, two: Seen, textmap: TextMap) -> bool:
    """Whether a line ends between two amounts."""
    return any(textmap.broken_between(index) for index in range(one.occurrence.last, two.occurrence.first))


def _line_length(textmap: TextMap, first: int, last: int) -> int:
    """Characters of the whole line of an amount, other amounts on it included; at most some 200."""
    while (
        first > 0
        and textmap.starts[last] - textmap.starts[first] < 200
        and not textmap.broken_between(first - 1)
    ):
        first -= 1
    end = last
    while (
        end + 1 < len(textmap.pieces)
        and textmap.starts[end] - textmap.starts[last] < 200
        and not textmap.broken_between(end)
    ):
        end += 1
    return sum(len(" ".join(piece[:400].split())) for piece in textmap.pieces[first : end + 1])


def _label_above(item: Seen, textmap: TextMap, first: int, floor: int, visibility: Visibility) -> str:
    """A short text right before the amount in a box of its own, if both stand in one small box.

    What stands on the line of the amount before it is that amount's label. What is not shown labels nothing:
    templates keep an empty box with "RRP:" for the products that have one.
    """
    index = first - 1
    if index < 0 or textmap.starts[index] < floor:
        return ""
    last = textmap.index_at(floor - 1) if floor else index
    if 0 < index - last < 4 and not any(textmap.broken_between(place) for place in range(last, index)):
        return ""
    piece = " ".join(str(textmap.pieces[index]).split())
    if not piece or len(piece) > 48 or _BARE_AMOUNT.search(piece):
        return ""
    near = {element for element, _ in item.around.levels[:5]}
    named = textmap.holder(index)
    holder: etree._Element | None = named
    for _ in range(4):
        if holder is None:
            return ""
        if holder in near:
            return "" if visibility.hidden(named) else piece
        holder = holder.getparent()
    return ""


def label_below(item: Seen, textmap: TextMap, following: int | None = None) -> str:
    """Short texts right after the amount that stand in one small box with it.

    What leads on to the next amount (whose first piece is `following`) on its line is that one's label, and
    so is what stands in the next row of a table whose rows begin with their labels.
    """
    if following is not None:
        while following - 1 > item.occurrence.last and not textmap.broken_between(following - 1):
            following -= 1
    around = [element for element, _ in item.around.levels[:6]]
    row = next((place for place, element in enumerate(around) if element.tag == "tr"), None)
    named = row is not None and bool((item.before or item.label).strip())
    near = set(around[: row + 1] if row is not None and named else around)
    texts: list[str] = []
    end = min(item.occurrence.last + 5, len(textmap.pieces) if following is None else following)
    for index in range(item.occurrence.last + 1, end):
        piece = " ".join(str(textmap.pieces[index]).split())
        if len(piece) > 80:
            break
        holder: etree._Element | None = textmap.holder(index)
        for _ in range(4):
            if holder is None or holder in near:
                break
            holder = holder.getparent()
        if holder is None or holder not in near:
            break
        texts.append(piece)
    return " ".join(texts)
