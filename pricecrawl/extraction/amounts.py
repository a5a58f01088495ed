"""Every place in a page's text where a number stands beside a currency: where prices can be.

One pass over the joined text. Whether such an amount is the price, an old price, a shipping charge or
another product's price is for its surroundings to say (`surroundings`), and what number it is for the
money reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from lxml import etree

from pricecrawl.domain.money_locale import currency_codes
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.textmap import JOINT, SILENT_TAGS, TextMap, words_of

MAX_OCCURRENCES = 400
MAX_SIGNS = 20_000
MAX_SCANNED = 1_500_000  # characters of readable text

# Unicode category Sc, with the full-width forms, and the ideographs for yen, yuan and won.
_SIGNS = frozenset("$£¤¥֏؋৲৳૱௹฿៛﷼﹩＄￡￥￦") | {chr(code) for code in range(0x20A0, 0x20C2)}
_AFTER_SIGNS = _SIGNS | frozenset("円元圓원엔")
# Letters that shops put beside prices. ISO codes are asked of CLDR.
_WORDS = frozenset(
    [
        "kr",
        "Kr",
        "KR",
        "Kč",
        "KČ",
        "Kc",
        "zł",
        "ZŁ",
        "Zł",
        "zl",
        "Ft",
        "FT",
        "lei",
        "Lei",
        "LEI",
        "лв",
        "грн",
        "ГРН",
        "руб",
        "РУБ",
        "Руб",
        "рублей",
        "р",
        "Р",
        "тг",
        "тенге",
        "сум",
        "сўм",
        "сом",
        "дин",
        "din",
        "KM",
        "КМ",
        "ден",
        "TL",
        "Tl",
        "ريال",
        "ر.س",
        "SR",
        "درهم",
        "د.إ",
        "Dhs",
        "Dh",
        "DH",
        "ج.م",
        "جنيه",
        "LE",
        "L.E",
        "د.ك",
        "دينار",
        "د.ب",
        "KD",
        "BD",
        "JD",
        "د.ا",
        "د.أ",
        "ر.ع",
        "ر.ق",
        "ر.ي",
        "QR",
        "د.ت",
        "د.ج",
        "د.م",
        "تومان",
        "تومن",
        "ریال",
        'ש"ח',
        "ש״ח",
        "שח",
        "R",
        "Rs",
        "Re",
        "Rp",
        "RM",
        "บาท",
        "đ",
        "Đ",
        "vnđ",
        "Fr",
        "SFr",
        "fr",
        "Euro",
        "euro",
        "EURO",
        "Euros",
        "euros",
        "eur",
        "Eur",
        "S/",
        "Bs",
        "Gs",
        "KSh",
        "Ksh",
        "USh",
        "TSh",
        "CFA",
        "FCFA",
        "DA",
        "DT",
        "so'm",
        "so‘m",
        "ман",
        "ლ",
        "ლარი",
        "eura",
        "ευρώ",
        "евро",
        "Lek",
        "lekë",
        "Tk",
        "kn",
        "драм",
        "usd",
        "gbp",
        "pln",
        "czk",
        "sek",
        "nok",
        "dkk",
        "chf",
        "sar",
        "aed",
        "egp",
        "inr",
        "Usd",
    ]
)
# Words that mean something else as often: they count where nothing else on the page is money.
_DOUBTFUL = frozenset(
    "R Fr fr DT DA SR LE KD BD JD QR KM КМ Р р Re Bs Gs kn ман сом FT din Lek L.E".split()  # noqa: SIM905 as above
)
_LEADING = frozenset("$£¥₹₦₱₩₪฿₫￥＄￡")
_CODE_WORDS = frozenset(("ALL", "TRY", "TOP", "CUP", "GEL", "PEN", "MAD", "BOB", "MOP", "SOS", "BAM", "AMD"))
_CODE_AFTER = re.compile("[ \u00a0\u202f" + JOINT + "]{0,3}([A-Z]{3})(?![A-Za-z])")

_BLANKS = " \t\n\r\u00a0\u202f\u2009\u2007\u200e\u200f" + JOINT
_GROUP = "[ .,'’`٬\u00a0\u202f\u2009]"
_NUMBER = (
    rf"(?:\d{{1,3}}(?:(?:{_GROUP}|{JOINT}[.,'’]{JOINT})\d{{2,3}}(?!\d))+(?:{JOINT}?[.,٫]{JOINT}?\d{{1,4}}(?!\d)|\s{{0,40}}{JOINT}\s*\d{{2}}(?![\d.,]))?"
    rf"|\d+(?:{JOINT}?[.,٫]{JOINT}?(?:\d{{1,4}}(?!\d)|[-–—]{{1,2}})|\s{{0,40}}{JOINT}\s*\d{{2}}(?![\d.,]))?)"
)
_NUMBER_AFTER = re.compile(rf"\.?[{_BLANKS}:]{{0,8}}({_NUMBER})")
_NUMBER_BEFORE = re.compile(rf"(?<![\w.,])({_NUMBER})[{_BLANKS}]{{0,8}}\Z")
_REACH = 30  # characters before a sign in which its number may stand
_SIGN = re.compile(f"[{''.join(sorted(_AFTER_SIGNS))}]")
# "2 399:-", "49,-", "12.–": a mark and a dash in the place of cents, the sign of a price without a currency.
_MARKS = frozenset(":,.")
_DASHED = re.compile(r"[:,.][-–—](?![\w.,-])")
_STRIPPED = " \t\n\r\u00a0\u202f\u2009\u2007\u200e\u200f:" + JOINT
# Digits: the first one apart, so that the engine looks for a set of characters.
_RUN = re.compile("[0-9٠-٩۰-۹०-९๐-๙０-９][0-9٠-٩۰-۹०-९๐-๙０-９]*")
# Letters by ranges, without the digits and punctuation of their scripts: half the cost of a category.
_WORD = re.compile(
    "[a-zA-Z\u00c0-\u05bd\u05bf-\u05f2\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u0965\u0970-\u1fff\u3040-\ufaff]+"
)
_PREFIX = re.compile(r"(?<![A-Za-z])(?:[A-Z]{1,3}|(?:US|CA|AU|NZ|HK|SG|NT)[ \u00a0])\Z")


@dataclass(slots=True, eq=False)
class Occurrence:
    """One amount as it stands: offsets in the joined text, its text, and its first and last piece."""

    start: int
    end: int
    text: str
    first: int
    last: int
    holder: etree._Element
    signed: bool = True


def occurrences(textmap: TextMap) -> list[Occurrence]:
    """Amounts in the order of the page, at most MAX_OCCURRENCES.

    Signs that are words as well (weekdays, units) count only where no plain sign stands on the page.
    """
    text = textmap.text[:MAX_SCANNED]
    found: list[Occurrence] = []
    doubtful: list[bool] = []
    taken = 0

    for start, end in sorted(_signs_in(text)):
        if start < taken:
            continue
        span = _span(textmap, text, start, end, taken)
        if span is None:
            continue
        occurrence = _cut(textmap, span[0], text[span[0] : span[1]])
        taken = span[1]
        if occurrence is None:
            continue
        occurrence = _with_cents_behind(textmap, occurrence)
        taken = max(taken, occurrence.end)
        found.append(occurrence)
        doubtful.append(text[start:end] in _DOUBTFUL and not _is_priced(occurrence.holder))
        if len(found) >= MAX_OCCURRENCES:
            break
    if all(doubtful):
        return found
    # A sign that has stood for money in a box named for a price does so on the whole page.
    proven = {_sign_of(item.text) for item, weak in zip(found, doubtful, strict=True) if not weak}
    doubtful = [
        weak and _sign_of(item.text) not in proven for item, weak in zip(found, doubtful, strict=True)
    ]
    return [item for item, weak in zip(found, doubtful, strict=True) if not weak]


_UNSIGNED = re.compile(
    rf"{JOINT}\s*((?:\d{{1,3}}(?:{_GROUP}\d{{3}})+|\d{{1,7}})"
    rf"(?:[.,]\d{{2}}|\s?[.,:]\s?[-–—]{{1,2}}|[.,]?\s{{0,40}}{JOINT}\s*[.,]?\d{{2}})?)"
    rf"\s*(?={JOINT}|\Z)"
)
_PRICED = re.compile("rice|reis|prix|mount")


def unsigned(document: Document) -> list[Occurrence]:
    """Numbers without a currency that fill an element named for a price: the currency stands elsewhere."""
    textmap = document.textmap
    found: list[Occurrence] = []
    for match in islice(_UNSIGNED.finditer(textmap.text[:MAX_SCANNED]), MAX_OCCURRENCES):
        index = textmap.index_at(match.start(1))
        holder = textmap.holder(index)
        if len(match[1]) <= 14 and holder.tag not in SILENT_TAGS and _fills_a_price(holder, match[1]):
            last = textmap.index_at(match.end(1) - 1)
            if last > index and not (
                last == index + 1 and (_is_fraction(textmap, last) or _is_glued(textmap, last))
            ):
                continue
            whole, _, cents = match[1].partition(JOINT)
            number = f"{whole.strip(' .,')}.{cents.strip(' .,')}" if cents else whole
            found.append(Occurrence(match.start(1), match.end(1), number, index, last, holder, signed=False))
    return found


def _sign_of(text: str) -> str:
    return "".join(character for character in text if character.isalpha())


def _is_priced(element: etree._Element) -> bool:
    """Whether the element or the box around it is named for a price."""
    parent = element.getparent()
    boxes = (element,) if parent is None else (element, parent)
    return any(_PRICED.search(_names_of(box)) for box in boxes)


def _names_of(element: etree._Element) -> str:
    """What a theme calls an element, test ids too: other classes may be hashed."""
    return " ".join(filter(None, map(element.get, ("class", "id", "itemprop", "data-testid", "data-test"))))


def _fills_a_price(element: etree._Element, number: str) -> bool:
    """Whether an element that is named for a price holds the number and nothing else."""
    node: etree._Element | None = element
    for _ in range(3):
        if node is None or len(node) > 3:
            return False
        if _PRICED.search(_names_of(node)):
            return "".join(words_of(node, 40).split()) == "".join(number.replace(JOINT, " ").split())
        node = node.getparent()
    return False


def _signs_in(text: str) -> set[tuple[int, int]]:
    """(start, end) of every currency sign, and of every currency word that touches a number.

    Only the words beside digits are told apart, and only those that may be a currency are looked for.
    """
    found = {match.span() for match in islice(_SIGN.finditer(text), MAX_SIGNS)}
    known, parts = _vocabulary()
    near = []
    for match in islice(_RUN.finditer(text), MAX_SIGNS):
        start, end = match.span()
        near.append(text[max(0, start - 14) : end + 14])
        if text[end : end + 1] == JOINT:
            end += 1
        if text[end : end + 1] in _MARKS and _DASHED.match(text, end):
            found.add((end, end + 2))
    said = parts.intersection(_WORD.findall(JOINT.join(near)))
    if not said:
        return found
    words = [word for part in said for word in known[part]]
    wanted = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
    for match in islice(wanted.finditer(text), MAX_SIGNS):
        if _touches_number(text, *match.span()):
            found.add(match.span())
    return found


def _touches_number(text: str, start: int, end: int) -> bool:
    """Whether a number stands right before or after a word that is no part of a longer one."""
    if start and (text[start - 1].isalpha() or text[start - 1] == "_"):
        return False
    if end < len(text) and (text[end].isalpha() or text[end] == "_"):
        return False
    if _NUMBER_AFTER.match(text, end) is not None:
        return start == 0 or text[start - 1] != "." or not text[: start - 1][-1:].isalpha()
    before = text[max(0, start - _REACH) : start].rstrip(_BLANKS)
    return before[-1:].isdigit() or before[-1:] in ("-", "–", "—")


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[dict[str, list[str]], frozenset[str]]:
    """Currency words by their first run of letters, and those runs."""
    codes = {code for code in currency_codes() if len(code) == 3} - set(_CODE_WORDS)
    known: dict[str, list[str]] = {}
    for word in (*_WORDS, *codes):
        first = _WORD.match(word)
        assert first is not None
        known.setdefault(first[0], []).append(word)
    return known, frozenset(known)


def _broken(textmap: TextMap, text: str, begin: int, end: int) -> bool:
    """Whether a block boundary stands between two offsets."""
    joints = [place for place in range(begin, end) if text[place] == JOINT]
    return any(textmap.broken_between(textmap.index_at(place)) for place in joints)


def _span(textmap: TextMap, text: str, start: int, end: int, floor: int) -> tuple[int, int] | None:
    """Where the amount of a sign begins and ends: the number that it leads, else the one that it follows."""
    after = _NUMBER_AFTER.match(text, end)
    before = _NUMBER_BEFORE.search(text, max(floor, start - _REACH), start)
    if after is not None and before is not None and _is_split(text, start, end, before):
        return before.start(1), end + 2
    if after is not None and before is not None:
        apart = (
            _broken(textmap, text, before.end(1), start),
            _broken(textmap, text, end, after.start(1)),
        )
        if apart[0] != apart[1]:
            before, after = (None, after) if apart[0] else (before, None)
    if after is not None and before is not None:
        # "12 $15" and "12 € 15": the sign belongs to the number that it touches, else to the one that
        # shares its box, else to the one before where its language writes it last.
        touches = after.start(1) == end
        near = textmap.nearer(
            *(textmap.index_at(place) for place in (before.end(1) - 1, start, after.start(1)))
        )
        if near:
            before, after = (None, after) if near > 0 else (before, None)
        elif before.end(1) == start and not touches:
            after = None
        elif touches or text[start] in _LEADING:
            before = None
        else:
            after = None
    if after is not None:
        letters = _PREFIX.search(text, max(floor, start - 3), start)
        begin = letters.start() if letters and text[start] in _SIGNS else start
        stop = after.end(1)
        tail = _CODE_AFTER.match(text, stop)
        if tail is None or not _is_currency(tail[1]):
            return begin, stop
        # "DKK 5.499,00 DKK 4.299,00": a code that leads the next number is not this one's.
        leads = text[start:end].isalpha() and _NUMBER_AFTER.match(text, tail.end()) is not None
        return begin, stop if leads else tail.end()
    return (before.start(1), end) if before is not None else None


_SPLIT_CENTS = re.compile(r"\d{2}(?![\d.,])")


def _is_split(text: str, start: int, end: int, before: re.Match[str]) -> bool:
    """Whether the sign stands in the place of the decimal mark, as in "19€95" and "19<sup>€95</sup>"."""
    glued = text[before.end(1) : start] in ("", JOINT) and _SPLIT_CENTS.match(text, end) is not None
    return glued and not re.search(r"[.,]\d{1,2}$", before[1])


@lru_cache(maxsize=4096)
def _is_currency(word: str) -> bool:
    if word in _WORDS:
        return True
    plain = len(word) == 3 and word.isascii() and word.isupper()
    return plain and word in currency_codes() and word not in _CODE_WORDS


def _cut(textmap: TextMap, start: int, whole: str) -> Occurrence | None:
    """The match without parts that a block boundary separates from its number."""
    first = textmap.index_at(start)
    split = _SPLIT.fullmatch(whole)
    if (
        split is not None
        and JOINT in whole
        and (textmap.broken_between(first) or not _is_cents(textmap, first + 1))
    ):
        split = None
        start, whole = start + whole.index(JOINT) + 1, whole[whole.index(JOINT) + 1 :]
        first += 1
    if split is not None:
        text = f"{split[1]}{',' if '.' in split[1] else '.'}{split[3]} {split[2]}"
        last = textmap.index_at(start + len(whole) - 1)
        return Occurrence(start, start + len(whole), text, first, last, textmap.holder(first))
    if JOINT not in whole:
        return Occurrence(start, start + len(whole), whole.strip(), first, first, textmap.holder(first))
    parts = whole.split(JOINT)
    kept = [(first, parts[0])]
    index = first
    for part in parts[1:]:
        if textmap.broken_between(index):
            if any(character.isdigit() for _, piece in kept for character in piece):
                break
            kept = []
        index += 1
        kept.append((index, part))
    kept = [(number, piece) for number, piece in kept if piece.strip()]
    if not kept:
        return None
    begin = start + sum(len(part) + 1 for part in parts[: kept[0][0] - first])
    numeric = next((number for number, piece in kept if any(c.isdigit() for c in piece)), None)
    if numeric is None:
        return None
    text, kept = _joined(textmap, kept)
    if not text:
        return None
    end = start + sum(len(part) + 1 for part in parts[: kept[-1][0] - first + 1]) - 1
    signed = any(not c.isdigit() and c not in " .,'’\u00a0\u202f" for c in text)
    return Occurrence(begin, end, text, kept[0][0], kept[-1][0], textmap.holder(numeric), signed)


_CENTS = re.compile(r"[.,]?\d{2}\s?[^\w\s%]{0,2}(?:\s?[A-Za-zč]{1,4})?")
_SPLIT = re.compile(rf"(\d[\d., ]*){JOINT}?([{''.join(sorted(_SIGNS))}])(\d{{2}})")
_FRACTION = re.compile(r"frac|cent|deci|penn|minor|sup|small|kopecks|pence", re.IGNORECASE)


def _joined(textmap: TextMap, kept: list[tuple[int, str]]) -> tuple[str, list[tuple[int, str]]]:
    """The pieces as one text, and those that are in it.

    Two digits in an element of their own are cents only if they look it.
    """
    text = ""
    for place, (number, piece) in enumerate(kept):
        bare = piece.strip()
        if text and text[-1].isdigit() and bare[:1].isdigit():
            if len(bare) < 2 or not (_is_fraction(textmap, number) or _is_glued(textmap, number)):
                return text, kept[:place]
            text += ("," if "." in text else ".") + bare
        else:
            text += (" " if text and text[-1].isalnum() and bare[:1].isalpha() else "") + bare
    return text, kept


_WHOLE_BEFORE_SIGN = re.compile(rf"(.*\d)(?<![.,]\d)(?<![.,]\d\d)\s*([{''.join(sorted(_AFTER_SIGNS))}])")
_TWO_DIGITS = re.compile(r"\d{2}")


def _with_cents_behind(textmap: TextMap, item: Occurrence) -> Occurrence:
    """Small digits right behind the sign of a whole amount are its cents, as French price tags are set."""
    index = item.last + 1
    cents = textmap.pieces[index].strip() if index < len(textmap.pieces) else ""
    if not _TWO_DIGITS.fullmatch(cents) or textmap.broken_between(item.last):
        return item
    whole = _WHOLE_BEFORE_SIGN.fullmatch(item.text)
    glued = not textmap.text[item.end : textmap.starts[index]].strip(JOINT)
    if whole is None or not glued or not _is_fraction(textmap, index):
        return item
    text = f"{whole[1]}{',' if '.' in whole[1] else '.'}{cents} {whole[2]}"
    end = textmap.starts[index] + len(textmap.pieces[index])
    return replace(item, end=end, text=text, last=index)


def _is_cents(textmap: TextMap, index: int) -> bool:
    """Whether a piece is set small, as the cents behind a price are."""
    holder = textmap.holder(index)
    return holder.tag in ("sup", "small") or bool(
        _FRACTION.search(f"{holder.get('class')} {holder.get('itemprop')}")
    )


def _is_fraction(textmap: TextMap, index: int) -> bool:
    if not _CENTS.fullmatch(textmap.pieces[index].strip()):
        return False  # "10% off" after an old price
    holder = textmap.holder(index)
    if holder.tag in ("sup", "small") or _FRACTION.search(f"{holder.get('class')} {holder.get('itemprop')}"):
        return True
    parent = holder.getparent()
    return parent is not None and "price" in (parent.get("class") or "").lower() and holder.tag == "span"


def _is_glued(textmap: TextMap, index: int) -> bool:
    """Whether two digits in an element of their own touch the whole number before them.

    "<span>7</span><span>95</span>" would be drawn as 795 by a page that did not set the second one small:
    whatever their classes are called, these are units and cents.
    """
    piece, before = textmap.pieces[index], textmap.pieces[index - 1]
    if not _TWO_DIGITS.fullmatch(piece.strip()) or piece.is_tail or piece[:1].isspace():
        return False
    if not before[-1:].isdigit() or re.search(r"[.,]\d{1,2}\Z", before) or before.strip().startswith("0"):
        return False
    holder = textmap.holder(index)
    if holder.tag not in ("span", "i", "b", "em", "strong", "u") or len(holder):
        return False
    left = textmap.holder(index - 1)
    beside = holder.getprevious()
    if beside is None or (before.is_tail and before.getparent() is beside):
        return left is holder.getparent()
    return beside is left and not beside.tail
