"""From the digits as people write them to a Decimal: native digits, groups, decimal marks.

The rules follow from how numbers are written, not from any shop. A group has three digits (or two,
Indian style, before a last one of three), so anything else after a mark is a fraction. One mark and
exactly three digits is the one truly open form: the currency, then the locale, then the told currency's
own country decides, else it is a group.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.money_locale import strip_marks

MAX_DIGITS = 30

_SPACES = dict.fromkeys(map(ord, "\t\n\r\f\v\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"), " ")
_SPACES |= dict.fromkeys(range(0x2000, 0x200B), " ")
_MARKS = {
    "٬": "'", "\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2032": "'", "`": "'", "\u00b4": "'",
    "\u201b": "'", "\u02b9": "'", "\uff07": "'", "٫": "\u066b", "،": ",", "⹁": ",", "，": ",",
    "、": ",", "．": ".",
    "\u00b7": ".", "％": "%", "٪": "%", "﹪": "%", "－": "-", "\u2010": "-", "\u2011": "-", "\u2012": "-",
    "\u2212": "-", "：": ":", "／": "/", "（": "(", "）": ")",
}  # fmt: skip
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = re.compile("(?<=[0-9])([.,])?([⁰¹²³⁴⁵⁶⁷⁸⁹]{2})(?![⁰¹²³⁴⁵⁶⁷⁸⁹])")


class _Digits(dict[int, str]):
    """Translation of any decimal digit of Unicode to ASCII, filled as digits are met."""

    def __missing__(self, key: int) -> str:
        char = chr(key)
        value = unicodedata.decimal(char, None)
        self[key] = char if value is None else str(value)
        return self[key]


_TO_ASCII = _Digits()


def fold(text: str) -> str:
    """Text with ASCII digits, one kind of blank, apostrophe, percent sign and hyphen; no invisible marks."""
    if text.isascii():
        return text.translate(_SPACES)
    text = strip_marks(text).translate(_SPACES).translate(_TO_ASCII)
    text = "".join(_MARKS.get(c, c) for c in text)
    return _RAISED.sub(lambda m: "." + m[2].translate(_SUPERSCRIPTS), text)


NUMBER = re.compile(
    r"""
    (?P<lead>(?<![\d\w/])[.,\u066b]{1,2}(?=\d))?
    (?P<int>\d{1,3}(?:\ \d{3})+(?!\d)|\d+)
    (?P<rest>(?:[.,'\u066b]\d+)*)
    (?P<tail>(?:[.,]\ |\ [.,]\ ?)\d{2}(?!\d|[.,]\ ?\d|\ \d))?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known beside the digits themselves.

    `separator` is a decimal mark that the caller is sure of; `decimal` and `group` are the locale's marks,
    `home_decimal` and `home_group` those of the country of a currency that the caller told; `digits` how many
    decimals people write in the price's currency (None where the currency is unknown).
    """

    separator: str | None = None
    decimal: str = ""
    group: str = ""
    home_decimal: str = ""
    home_group: str = ""
    digits: int | None = None


NO_HINTS = Hints()


def read_number(token: str, hints: Hints = NO_HINTS) -> Decimal | None:
    """The number that a folded token (digits, marks, blanks) writes; None where no reading is well-formed."""
    lead = len(token) - len(token.lstrip(".,\u066b"))
    marks = token[:lead]
    body = token[lead:].replace(" ", "" if " " in token[lead:] else " ")
    spaced = " " in token[lead:]
    if sum(c.isdigit() for c in body) > MAX_DIGITS:
        return None
    if hints.separator:
        return _with_separator(token, hints.separator)
    if marks:
        return _leading(body, hints)
    return _read(body, hints, grouped=spaced)


def _with_separator(token: str, separator: str) -> Decimal | None:
    """Every other mark is a group; the last use of the separator is the decimal mark."""
    head, found, tail = token.rpartition(separator)
    whole, part = (head, tail) if found else (token, "")
    digits, fraction = re.sub(r"\D", "", whole), re.sub(r"\D", "", part)
    return _make(digits or "0", fraction) if digits or fraction else None


def _leading(body: str, hints: Hints) -> Decimal | None:
    """`.75` and `,79` are fractions; before anything that has marks of its own the first mark is dirt."""
    if re.fullmatch(r"\d+", body):
        return _make("0", body)
    return _read(body, hints, grouped=False)


def _read(body: str, hints: Hints, *, grouped: bool) -> Decimal | None:
    kinds = {c for c in body if not c.isdigit()}
    if not kinds:
        return _make(body)
    if "\u066b" in kinds:
        head, _, tail = body.rpartition("\u066b")
        return _make(_ungroup(head), tail) if tail.isdigit() else None
    if len(kinds) == 1:
        return _one_mark(body, kinds.pop(), hints, grouped=grouped)
    if len(kinds) > 2:
        return None
    last = max(kinds, key=body.rfind)
    if body.count(last) > 1 or last == "'":
        return None
    head, _, tail = body.rpartition(last)
    return _make(_ungroup(head), tail)


def _one_mark(body: str, mark: str, hints: Hints, *, grouped: bool) -> Decimal | None:
    parts = body.split(mark)
    first, rest = parts[0], parts[1:]
    if len(rest) == 1:
        return _single(first, rest[0], mark, hints, grouped=grouped)
    whole = _ungroup(body)
    if whole is not None:
        return _make(whole)
    if mark == "'":
        return None
    # `1.299.00`: the last group of two digits can only be the fraction of well-formed groups.
    head = _ungroup(mark.join(parts[:-1]))
    if head is not None and len(parts[-1]) in (1, 2):
        return _make(head, parts[-1])
    # `19.9914.99`: two prices glued together; the first one counts.
    if len(rest) == 2 and len(rest[0]) > 3 and len(rest[1]) == 2:
        return _make(first, rest[0][:2])
    if mark == hints.home_group:
        return _make(body.replace(mark, ""))
    return None


def _single(first: str, last: str, mark: str, hints: Hints, *, grouped: bool) -> Decimal | None:
    open_form = len(last) == 3 and 1 <= len(first) <= 3 and first.strip("0") != "" and not grouped
    if mark == "'":
        if len(last) == 3 and len(first) <= 3:
            return _make(first + last)
        return _make(first, last) if len(last) == 2 else None
    if open_form and not _is_decimal(mark, hints):
        return _make(first + last)
    return _make(first, last)


def _is_decimal(mark: str, hints: Hints) -> bool:
    if hints.digits == 0:
        return False
    if mark in (hints.decimal, hints.group):
        return mark == hints.decimal
    if mark in (hints.home_decimal, hints.home_group):
        return mark == hints.home_decimal
    return hints.digits == 3


def _ungroup(text: str) -> str | None:
    """Digits of well-formed groups: of three, or Indian (twos, then a last three); None where ill-formed."""
    if text.isdigit():
        return text
    parts = re.split(r"[.,'\u066b]", text)
    marks = {c for c in text if not c.isdigit()}
    if len(marks) > 1 or not all(parts) or len(parts[-1]) != 3 or len(parts[0]) > 3:
        return None
    middle = {len(part) for part in parts[1:-1]}
    if middle <= {3} or (middle == {2} and len(parts[0]) <= 2):
        return "".join(parts)
    return None


def _make(whole: str | None, fraction: str = "") -> Decimal | None:
    if whole is None or not whole.isdigit():
        return None
    return Decimal(f"{whole}.{fraction}" if fraction else whole)
