"""How much is in a pack: the size and the number of units that a name or a size field states.

Prices compare only at equal content, so a size that cannot be told is None, never a guess: a dimension
(30 x 60 cm), a sun factor, a strength or two sizes that contradict each other are no size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from pricecrawl.domain.measure_units import MEASURED, PATTERN, Unit, unit_of
from pricecrawl.domain.money_locale import context_of
from pricecrawl.domain.money_numbers import Hints, fold, read_number

MAX_TEXT = 500
MAX_PACK = 1000
_SAME = Decimal("0.03")


@dataclass(frozen=True, slots=True)
class Size:
    """`amount` of `unit` in one unit sold, `pack` units together.

    `unit` is `g`, `ml`, `oz`, `lb`, `fl_oz`, `pt`, `qt`, `gal` or `each`; `base_quantity` is the whole
    content (all units of the pack) in `base_unit`, g or ml, None where only pieces are counted.
    """

    amount: Decimal
    unit: str
    pack: int = 1
    base_quantity: Decimal | None = None
    base_unit: str | None = None


@dataclass(frozen=True, slots=True)
class _Quantity:
    """One amount with a unit in the text; `each` is the amount in base units of one unit sold."""

    start: int
    end: int
    amount: Decimal
    unit: Unit
    each: Decimal
    pack: int
    metric: bool

    @property
    def total(self) -> Decimal:
        return self.each * self.pack


class Agreement(StrEnum):
    """How two contents compare.

    UNKNOWN is the honest middle: 700 ml and 750 ml are sold as one product too.
    """

    AGREE = "agree"
    UNKNOWN = "unknown"
    CONTRADICT = "contradict"


_ROUNDING = Decimal("0.02")
_BOTTLE = Decimal("0.075")


def compare(one: tuple[Decimal, str], other: tuple[Decimal, str]) -> Agreement:
    """Compares two whole contents, each a quantity and its base unit.

    Within 2 % is rounding (a 12 fl oz can is 355 ml); up to 7.5 % is the spread of the same product
    bottled for two markets (700 and 750 ml), which neither proves nor refutes; more is a contradiction.
    Mass and volume do not compare.
    """
    a, b = max(one[0], other[0]), min(one[0], other[0])
    if a <= 0 or b <= 0 or one[1] != other[1]:
        return Agreement.UNKNOWN
    apart = (a - b) / a
    if apart <= _ROUNDING:
        return Agreement.AGREE
    return Agreement.UNKNOWN if apart <= _BOTTLE else Agreement.CONTRADICT


def is_implausible(size: Size) -> bool:
    """True for a content that no single unit comes in: too much, next to nothing, or large and not round.

    Above five litres or kilograms, packs written in metric units are round (25 kg, 18.9 l); `7,624 ml` is a
    misplaced mark.
    """
    if size.base_quantity is None:
        return False
    each = size.base_quantity / size.pack
    if each > 60_000 or each < Decimal("0.001"):
        return True
    return size.unit in ("ml", "g") and each > 5000 and each % 50 != 0


_BAR = r"[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]"
_NUMBER = (
    rf"(?:\d+\ \d{{1,2}}/\d{{1,2}}|\d{{1,2}}/\d{{1,2}}(?!\d)|\d*\ ?{_BAR}|"
    r"^\W*\d{1,3}(?:\ \d{3})+(?!\d)|[.,]?\d+(?:[.,']\d{3}(?!\d))*(?:[.,]\d+)?)"
)
_QUANTITY = re.compile(
    rf"(?<!\d)(?P<number>(?>{_NUMBER}))\ ?-?\ ?(?P<unit>{PATTERN})(?!(?![xх×]\ ?\d)[^\W\d_]|\d)",
    re.IGNORECASE,
)
_TIMES = r"[x×хXХ*✕✖╳]"
_COUNTED = r"(?:pcs?|pieces?|шт|st|stück|stk|ks|szt|個|个|개|units?|uds?|bottles?|cans?|bags?|sachets?)?\.?"
_PACK_BEFORE = re.compile(
    rf"(?<![\d.,/])(?P<a>\d{{1,4}})\ ?{_COUNTED}\ ?{_TIMES}\ ?(?:(?P<b>\d{{1,4}})\ ?{_TIMES}\ ?)?$",
    re.IGNORECASE,
)
_PACK_AFTER = re.compile(
    rf"^\ ?{_TIMES}\ ?(?P<a>\d{{1,4}})(?!\d|[.,]\d|\ ?(?:{MEASURED}|cm|mm|m)(?![^\W\d_]))", re.IGNORECASE
)
_CONTAINERS_OF = re.compile(
    r"(?<![\d.,/%])(?P<a>\d{1,3})\ (?:[^\W\d_]+[\ -]){1,4}"
    r"(?:de|of|à|a|von|mit|je|da|di|van|po|af|av|med|по|each|x)\ $|"
    r"(?<![\d.,/%])(?P<b>\d{1,3})\ ?(?:瓶|罐|包|盒|袋|支|本|缶|個|병|캔|팩|봉)\ ?(?:装)?\ ?[x×*]?\ ?$",
    re.IGNORECASE,
)
_PER_BEFORE = re.compile(
    r"(?:/|(?<![^\W\d_])(?:per|pro|je|par|por|al|za|за|each|serving(?:\ size)?|portion|dose)(?:\ of)?)"
    r"\W{0,2}$",
    re.IGNORECASE,
)
_PER_AFTER = re.compile(
    rf"\W{{0,2}}(?:per|pro|je|each)\ ?(?:serving|portion|dose|tablet|capsule|day|tag|100)|"
    rf"\ ?/\ ?(?:{PATTERN})(?![^\W\d_])|"
    r"\ ?=\ ?\D{0,3}\d+[.,]\d\d(?!\d)",
    re.IGNORECASE,
)
_PLUS = re.compile(r"\ ?(?:\+|plus|&)\ ?[^\d]{0,40}", re.IGNORECASE)
_ADDED = re.compile(r"(?<![\d.,%])(?P<more>\d{1,4}(?:[.,]\d{1,3})?)\ ?\+\ ?$")
_FACTOR = re.compile(r"(?:spf|lsf|fps|ip|uv[ab]?|no\.?|nr\.?|n°|№)\ ?$", re.IGNORECASE)

_PACK_WORDS = re.compile(
    r"""
    (?<![\d.,/])(?P<n0>\d{1,3})\s?(?:-\s?|\s)?(?:multi)?(?:pack|packs|pk|paks?|pakke|paket|packung(?:en)?)(?![^\W\d_])|
    (?<![\d.,/])(?P<n1>\d{1,3})\s?er[\s-]?(?:pack|set|box|karton|kiste|tray|packung|träger)(?![^\W\d_])|
    (?<![^\W\d_])(?:multi)?(?:pack|box|case|carton|crate|tray|lot|coffret|boîte|paquet|caja|paquete|lote|estuche|
       confezione|pacco|cartone|cassa|caixa|conjunto|doos|krat|verpakking|förpackning|eske|kasse|balení|zestaw|opakowanie|набор|
       упаковка|комплект)\s(?:of|de|da|di|von|van|mit|à|med|po|z|из|по|с)?\s?(?P<n2>\d{1,3})(?!\s?[\d.,%])|
    (?<![^\W\d_])(?:set|bundle|zestaw|kit)\s(?:of|de|da|di|von|van|med|z|из|aus)\s?(?P<n4>\d{1,3})(?!\s?[\d.,%])|
    (?<![\d.,/])(?P<n3>\d{1,3})\s?(?:個|本|枚|袋|缶|瓶|罐|包|盒|支|개|병|캔|팩)\s?(?:セット|入り|入|装|組|세트|입|套装|裝)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONTAINERS = re.compile(r"(?<![\d.,])(?P<n>\d{1,3})\ ?(?:팩|병|캔|봉|瓶|罐|包|盒|袋|支|缶|本)(?![^\W_])")
_LEADING = re.compile(rf"^\W*(?P<a>\d{{1,3}})\ ?{_TIMES}\ (?=[^\W\d_])", re.IGNORECASE)
_TRAILING = re.compile(
    rf"(?<![^\W_]){_TIMES}\ ?(?P<a>\d{{1,3}})\W*$|(?<=\ )(?P<b>\d{{1,3}})\ ?{_TIMES}\W*$", re.IGNORECASE
)


# What an ASCII text must have to state a size or a pack: a number with a word after it, or one of these.
_BESIDE = re.compile(r"\d[\s-]{0,3}[a-z]")
_DIGIT = re.compile(r"[0-9]")
_RUNS = re.compile(r"[a-z]+")
_BEFORE_NUMBERS = """
x pack box case carton crate tray lot coffret paquet caja paquete lote estuche confezione pacco cartone
cassa caixa conjunto doos krat verpakking eske kasse zestaw opakowanie set bundle kit
"""
_BEFORE_A_COUNT = frozenset(f"{multi}{word}" for word in _BEFORE_NUMBERS.split() for multi in ("", "multi"))


def states_nothing(text: str) -> bool:
    """True for a text that certainly states neither a size nor a pack; most names do not. One quick look.

    False says nothing: `read_size` and `read_pack` have to look. So it is for any text that is not ASCII.
    """
    if not text.isascii():
        return False
    low = text[:MAX_TEXT].lower()
    if "pack" in low or "*" in low:
        return False
    if _DIGIT.search(low) is None:
        return True
    return _BESIDE.search(low) is None and _BEFORE_A_COUNT.isdisjoint(_RUNS.findall(low))


def read_size(text: str | None, *, locale: str | None = None) -> Size | None:
    """The size that a text states, or None where it states none or contradicts itself. Never raises."""
    if not text or not isinstance(text, str):
        return None
    folded = _prepare(text)
    quantities = list(_quantities(folded, locale))
    measured = [q for q in quantities if q.unit.base != "each"]
    pieces = [q for q in quantities if q.unit.base == "each"]
    if measured and all(q.unit.tiny for q in measured) and pieces and measured[0].each < 5:
        measured = []
    if measured:
        return _measured(folded, measured)
    if pieces:
        first = pieces[0]
        return Size(_clean(first.amount), "each", first.pack)
    pack = _pack_words(folded) or _pack_edges(folded)
    return Size(Decimal(1), "each", pack) if pack else None


def read_pack(text: str | None) -> int:
    """How many units are sold together, 1 where the text says nothing.

    `2x Foo`, `Foo 6-pack`, `6 x 330 ml`.
    """
    if not text or not isinstance(text, str):
        return 1
    folded = _prepare(text)
    size = read_size(text)
    if size is not None and size.pack > 1:
        return size.pack
    return _pack_edges(folded) or _pack_words(folded) or 1


def _prepare(text: str) -> str:
    return fold(text[:MAX_TEXT]).replace("\u2044", "/").replace("״", '"').replace("\u05f4", '"')


def _quantities(text: str, locale: str | None) -> Iterator[_Quantity]:
    context = context_of(locale, None)
    british = context.country in ("GB", "IE")
    last = -1
    for match in _QUANTITY.finditer(text):
        start, end = match.span()
        unit = unit_of(match["unit"], british=british)
        if unit is None or _part_of_word(text, start) or _generation(match[0]):
            continue
        number = _amount(match["number"], unit, context.decimal)
        if number is None or number <= 0:
            continue
        before, after = text[:start], text[end:]
        beside = before.rstrip(" ").endswith("/") and last == len(before.rstrip(" /"))
        if _PER_BEFORE.search(before[-24:]) and not beside:
            continue
        if _PER_AFTER.match(after[:24]) or _FACTOR.search(before[-8:]):
            continue
        last = end
        more = _ADDED.search(before[-12:])
        if more is not None:
            number += Decimal(more["more"].replace(",", "."))
        pack = _pack_beside(before, after)
        amount = number * unit.scale
        yield _Quantity(start, end, amount, unit, amount * unit.factor, pack, unit.factor == 1)


def _part_of_word(text: str, start: int) -> bool:
    """True for digits glued to a Latin word (`B12g`), unless the letter is a multiplication sign.

    And in ranges.
    """
    left = text[start - 1 : start]
    if not left:
        return False
    if left in "xXх×":
        return start > 1 and text[start - 2].isalpha()
    if left.isalpha() and left < "\u0370":
        return True
    return bool(re.search(r"\d\ ?[-–]\ ?$", text[max(0, start - 4) : start]))


def _generation(text: str) -> bool:
    """`4G` and `5G` are radio, not grams."""
    return bool(re.fullmatch(r"[2-6]G", text))


def _amount(number: str, unit: Unit, decimal_mark: str) -> Decimal | None:
    text = number.strip()
    if text and unicodedata.category(text[-1]) == "No":
        whole = text[:-1].strip()
        part = Fraction(str(unicodedata.numeric(text[-1]))).limit_denominator(16)
        return _from_fraction(part + int(whole or 0))
    if "/" in text:
        whole, _, part_text = text.rpartition(" ")
        top, _, bottom = part_text.partition("/")
        if not int(bottom) or int(top) >= int(bottom) or int(bottom) > 32:
            return None
        return _from_fraction(Fraction(int(top), int(bottom)) + int(whole or 0))
    # `0,750 l` and `1.000 kg` have fractions, `1,000 ml` and `1.500 g` have groups, whatever the locale.
    if re.fullmatch(r"\d{1,3}[.,]\d{3}", text):
        mark = re.sub(r"\d", "", text)
        if unit.big or text.startswith("0"):
            return Decimal(text.replace(mark, "."))
        return Decimal(text.replace(mark, ""))
    return read_number(text, Hints(decimal=decimal_mark))


def _from_fraction(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / Decimal(value.denominator)).quantize(Decimal("0.0001")).normalize()


def _pack_beside(before: str, after: str) -> int:
    """Units multiplied with an amount: `6 x `, `2 x 6 x `, ` x 6`, `4 bottles of `."""
    match = _PACK_BEFORE.search(before[-40:])
    if match:
        count = int(match["a"]) * int(match["b"] or 1)
        return count if 0 < count <= MAX_PACK else 1
    match = _PACK_AFTER.match(after[:16])
    if match and 0 < int(match["a"]) <= MAX_PACK:
        return int(match["a"])
    match = _CONTAINERS_OF.search(before[-60:])
    if match:
        return max(1, int(match["a"] or match["b"]))
    return 1


def _measured(text: str, found: list[_Quantity]) -> Size | None:
    summed = _sum(text, found)
    if summed is not None:
        return summed
    if not all(q.unit.tiny for q in found):
        found = [q for q in found if not q.unit.tiny]
    mixed = _mixed(text, found)
    if mixed is not None:
        return mixed
    best = _agreed(found)
    if best is None:
        return None
    rest = text[: best.start] + " ; " + text[best.end :]
    pack = best.pack if best.pack > 1 else _pack_words(rest) or _pack_edges(text) or _counted_containers(rest)
    return Size(_clean(best.amount), best.unit.name, pack, _clean(best.each * pack), best.unit.base)


def _agreed(found: list[_Quantity]) -> _Quantity | None:
    """The one quantity that all others repeat (in another unit, or as the total).

    None where they contradict.
    """
    packs = [q for q in found if q.pack > 1]
    best = packs[0] if packs else next((q for q in found if q.metric), found[0])
    for other in found:
        if other is best or other.unit.base != best.unit.base:
            continue
        if not any(_close(other.total, value) for value in (best.total, best.each)):
            return None
    return best


def _close(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= _SAME * max(one, other)


def _sum(text: str, found: list[_Quantity]) -> Size | None:
    """`100ml + 50ml`: a set of unlike sizes is their sum, sold as one."""
    if len(found) < 2 or len({q.unit.base for q in found}) > 1:
        return None
    gaps = [text[a.end : b.start] for a, b in pairwise(found)]
    if not all(_PLUS.fullmatch(re.sub(rf"\d+\ ?{_TIMES}\ ?$", "", gap)) for gap in gaps):
        return None
    total = sum((q.total for q in found), Decimal(0))
    base = found[0].unit.base
    pack = (
        _pack_beside(text[: found[0].start].rstrip("( "), "") if text[found[0].start - 1 :][:1] == "(" else 1
    )
    return Size(_clean(total), base, pack, _clean(total * pack), base)


def _mixed(text: str, found: list[_Quantity]) -> Size | None:
    """`2 lb 4 oz`, `1 kg 500 g`: a larger unit followed at once by a smaller one of the same kind."""
    for big, small in pairwise(found):
        gap = text[big.end : small.start]
        follows = gap.strip(" ,") in ("", "and", "und", "et", "y", "e")
        if not follows or big.unit.base != small.unit.base or small.pack > 1:
            continue
        one = big.unit.factor * (1000 if big.unit.big and big.metric else 1)
        if (
            big.metric == small.metric
            and small.each < one
            and not _close(big.each, small.each)
            and one > small.unit.factor
        ):
            each = big.each + small.each
            amount = each / small.unit.factor
            return Size(_clean(amount), small.unit.name, big.pack, _clean(each * big.pack), small.unit.base)
    return None


def _pack_edges(text: str) -> int | None:
    """`2x Foo` and `Foo x2`: a multiplication at either end of a name."""
    for pattern in (_LEADING, _TRAILING):
        match = pattern.search(text)
        if match:
            count = int(match[match.lastgroup or "a"])
            if 1 < count <= MAX_PACK and not _dimension(text, match.start()):
                return count
    return None


def _counted_containers(text: str) -> int:
    """`2팩`, `6瓶` beside a size: so many of it."""
    match = _CONTAINERS.search(text)
    return max(1, int(match["n"])) if match else 1


_NAMED_PACKS = {
    "twin": 2,
    "doppel": 2,
    "duo": 2,
    "double": 2,
    "triple": 3,
    "dreier": 3,
    "vierer": 4,
    "sechser": 6,
    "six": 6,
}
_NAMED_PACK = re.compile(
    rf"(?<![^\W\d_])(?P<name>{'|'.join(_NAMED_PACKS)})[ -]?pack(?:ung)?(?![^\W\d_])", re.IGNORECASE
)


def _pack_words(text: str) -> int | None:
    named = _NAMED_PACK.search(text)
    if named is not None:
        return _NAMED_PACKS[named["name"].casefold()]
    for match in _PACK_WORDS.finditer(text):
        count = int(match[match.lastgroup or "n0"])
        if 1 < count <= MAX_PACK:
            return count
    return None


def _dimension(text: str, start: int) -> bool:
    """True where the multiplication belongs to `30 x 60 cm`."""
    return bool(re.search(r"\d\W{0,2}$", text[:start])) or bool(
        re.match(r".{0,20}\d\ ?(?:cm|mm|m)\b", text[start:])
    )


def _clean(value: Decimal) -> Decimal:
    """Without trailing zeros and without an exponent."""
    value = value.normalize()
    return value.quantize(Decimal(1)) if value == value.to_integral_value() and value < 10**15 else value
