"""Every place in a page's text where a number stands beside a currency: where prices can be.

One pass over the joined text. Whether such an amount is the price, an old price, a shipping charge or
another product's price is for its surroundings to say (`surroundings`), and what number it is for the
money reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from pricecrawl.domain.money_locale import currency_codes
from pricecrawl.extraction.textmap import JOINT, TextMap

MAX_OCCURRENCES = 400
MAX_SCANNED = 1_500_000  # characters of readable text

# Unicode category Sc, with the full-width forms, and the ideographs for yen, yuan and won.
_SIGNS = frozenset("$£¤¥֏؋৲৳૱௹฿៛﷼﹩＄￡￥￦") | {chr(code) for code in range(0x20A0, 0x20C2)}
_AFTER_SIGNS = _SIGNS | frozenset("円元圓원엔")
# Letters that shops put beside prices, without their dots. ISO codes are asked of CLDR.
_WORDS = frozenset(
    (
        *(
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
        ),
        *(
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
        ),
        *(
            "КМ",
            "ден",
            "TL",
            "Tl",
            "ريال",
            "رس",
            "SR",
            "درهم",
            "دإ",
            "Dhs",
            "Dh",
            "DH",
            "جم",
            "جنيه",
            "LE",
            "دك",
        ),
        *(
            "دينار",
            "دب",
            "KD",
            "BD",
            "JD",
            "دا",
            "دأ",
            "رع",
            "رق",
            "ري",
            "QR",
            "دت",
            "دج",
            "دم",
            "تومان",
            "تومن",
        ),
        *(
            "ریال",
            'ש"ח',
            "ש״ח",
            "שח",
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
        ),
        *(
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
        ),
        *(
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
        ),
        *("драм", "usd", "gbp", "pln", "czk", "sek", "nok", "dkk", "chf", "sar", "aed", "egp", "inr", "Usd"),
    )
)
_CODE_WORDS = frozenset(("ALL", "TRY", "TOP", "CUP", "GEL", "PEN", "MAD", "BOB", "MOP", "SOS", "BAM", "AMD"))

_BLANKS = " \t\n\r\u00a0\u202f\u2009\u2007\u200e\u200f" + JOINT
_GROUP = "[ .,'’`٬\u00a0\u202f\u2009]"
_NUMBER = re.compile(
    rf"\d{{1,3}}(?:{_GROUP}\d{{2,3}}(?!\d))+(?:{JOINT}?[.,٫]{JOINT}?\d{{1,4}}(?!\d)|"
    rf"{JOINT}\s*\d{{2}}(?![\d.,]))?"
    rf"|\d+(?:{JOINT}?[.,٫]{JOINT}?(?:\d{{1,4}}(?!\d)|[-–—]{{1,2}})|{JOINT}\s*\d{{2}}(?![\d.,]))?"
)
_REACH = 14  # characters of blanks and sign on either side of a number
_BEFORE = re.compile(r"(?:^|(?<=[^\w.]))([^\W\d_]+(?:[.'\"’‘״/][^\W\d_]*)*)$")
_AFTER = re.compile(r"[^\W\d_]+(?:[.'\"’‘״/][^\W\d_]+)*(?![^\W_])")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One amount as it stands: offsets in the joined text, its text, and its first and last piece."""

    start: int
    end: int
    text: str
    first: int
    last: int
    holder: etree._Element
    signed: bool = True


def occurrences(textmap: TextMap) -> Iterator[Occurrence]:
    """Amounts in the order of the page, at most MAX_OCCURRENCES."""
    text = textmap.text[:MAX_SCANNED]
    count = 0
    taken = 0
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if end - start > 24:
            continue
        begin = _sign_before(text, start)
        if begin < taken:
            begin = start  # that sign belongs to the number before
        if begin == start and start and text[start - 1].isalnum():
            continue  # digits within a word: "MzI5$"
        finish = _sign_after(text, end, words_only=begin < start)
        if begin == start and finish == end:
            continue
        found = _cut(textmap, begin, text[begin:finish])
        if found is None:
            continue
        yield found
        taken = finish
        count += 1
        if count >= MAX_OCCURRENCES:
            return


def _sign_before(text: str, start: int) -> int:
    """Where the currency before a number begins; `start` if there is none."""
    reach = text[max(0, start - _REACH) : start]
    bare = reach.rstrip(_BLANKS + ":")
    if not bare:
        return start
    last = bare[-1]
    offset = start - len(reach)
    if last in _SIGNS:
        head = bare[:-1]
        letters = re.search(r"(?<![A-Za-z])[A-Z]{1,3}$", head)
        return offset + (letters.start() if letters else len(head))
    if not (last.isalpha() or last in "./'\"״"):
        return start
    match = _BEFORE.search(bare)
    if match is None or not _is_currency(match[1]):
        return start
    return offset + match.start(1)


def _sign_after(text: str, end: int, *, words_only: bool) -> int:
    """Where the currency after a number ends; `end` if there is none."""
    reach = text[end : end + _REACH]
    bare = reach.lstrip(_BLANKS)
    if not bare:
        return end
    offset = end + len(reach) - len(bare)
    first = bare[0]
    if first in _AFTER_SIGNS:
        if words_only:
            return end
        following = bare[1:2]
        # "12 $15": the sign belongs to the number that it touches.
        return end if following.isdigit() and offset > end else offset + 1
    if not first.isalpha():
        return end
    match = _AFTER.match(bare)
    if match is None:
        return end
    if _is_currency(match[0]):
        return offset + match.end()
    # "12 US$", "12 AU$"
    if match.end() < len(bare) and bare[match.end()] in _SIGNS and len(match[0]) <= 3 and not words_only:
        return offset + match.end() + 1
    return end


@lru_cache(maxsize=4096)
def _is_currency(word: str) -> bool:
    bare = word.replace(".", "")
    if bare in _WORDS:
        return True
    plain = len(bare) == 3 and bare.isascii() and bare.isupper()
    return plain and bare in currency_codes() and bare not in _CODE_WORDS


def _cut(textmap: TextMap, start: int, whole: str) -> Occurrence | None:
    """The match without parts that a block boundary separates from its number."""
    first = textmap.index_at(start)
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


_FRACTION = re.compile(r"frac|cent|deci|penn|minor|sup|small|kopecks|pence", re.IGNORECASE)


def _joined(textmap: TextMap, kept: list[tuple[int, str]]) -> tuple[str, list[tuple[int, str]]]:
    """The pieces as one text, and those that are in it.

    Two digits in an element of their own are cents only if they look it.
    """
    text = ""
    for place, (number, piece) in enumerate(kept):
        bare = piece.strip()
        if text and text[-1].isdigit() and bare[:1].isdigit():
            if len(bare) < 2 or not _is_fraction(textmap, number):
                return text, kept[:place]
            text += ("," if "." in text else ".") + bare
        else:
            text += (" " if text and text[-1].isalnum() and bare[:1].isalpha() else "") + bare
    return text, kept


def _is_fraction(textmap: TextMap, index: int) -> bool:
    holder = textmap.holder(index)
    if holder.tag in ("sup", "small") or _FRACTION.search(f"{holder.get('class')} {holder.get('itemprop')}"):
        return True
    parent = holder.getparent()
    return parent is not None and "price" in (parent.get("class") or "").lower() and holder.tag == "span"
