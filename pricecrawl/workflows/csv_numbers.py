"""Numbers of one file, all written alike: 1,299.00 or 1.299,00, never both."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.money_signs import look_up
from pricecrawl.workflows.csv_input import CellProblem

_NUMBER = re.compile(r"[-+]?\d[\d.,]*|[-+]?[.,]\d+")
_SIGNS = re.compile(r"^(?:[A-Z]{3}|[€$£¥₩])\s*|\s*(?:[A-Z]{3}|[€$£¥₩])$")
_BLANKS = re.compile(r"['\u2019\u00a0\u202f ]")


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """`mark` is the decimal mark of the file; None where nothing in it shows one."""

    mark: str | None

    def amount(self, text: str, currency: str | None = None) -> Decimal:
        """The number that a value states; a currency sign or code beside it must fit `currency`.

        Raises:
            CellProblem: it is no number, two readings are possible, or it is in another currency.
        """
        number = _BLANKS.sub("", _SIGNS.sub("", text))
        if not _NUMBER.fullmatch(number):
            raise CellProblem(f"{text!r} is no number; write it like 12.50.")
        for match in _SIGNS.finditer(text):
            sign = look_up(match[0].strip(), after=False)
            if sign is None or (currency is not None and currency not in sign.codes):
                raise CellProblem(f"{text!r} is not in {currency or 'a known currency'}.")
        certain = _certain(number)
        if certain and self.mark and certain != self.mark:
            raise CellProblem(
                f"{text!r} has another decimal mark than the rest of the file; write all numbers alike."
            )
        mark = self.mark or certain
        if mark is None and ("." in number or "," in number):
            raise CellProblem(
                f"{text!r} can be read in two ways; name the mark of the decimals with --decimal '.' or ','."
            )
        whole, _, fraction = number.partition(mark or ".")
        group = "," if mark == "." else "."
        if group in fraction or (mark or ".") in fraction or not _grouped(whole.lstrip("+-"), group):
            raise CellProblem(f"{text!r} is no number; write it like 12.50.")
        digits = whole.replace(group, "")
        return Decimal(f"{digits}.{fraction}" if fraction else digits)


def number_style(numbers: Iterable[str], *, told: str | None = None) -> NumberStyle:
    """The style that most numbers of a file show; `told` overrules it.

    A number shows its mark when it has both marks, or when no grouping by thousands explains it.
    Where none does the mark stays unknown: a cost of 1,299 read as 1.299 would make a floor of a
    thousandth, so nothing but the numbers themselves is trusted.
    """
    if told is not None:
        return NumberStyle(told)
    votes = {".": 0, ",": 0}
    for text in numbers:
        mark = _certain(_BLANKS.sub("", _SIGNS.sub("", text)))
        if mark:
            votes[mark] += 1
    if votes["."] == votes[","]:
        return NumberStyle(None)
    return NumberStyle("." if votes["."] > votes[","] else ",")


def _certain(number: str) -> str | None:
    """The decimal mark that this number shows beyond doubt."""
    dot, comma = number.rfind("."), number.rfind(",")
    if dot >= 0 and comma >= 0:
        return "." if dot > comma else ","
    position = max(dot, comma)
    if position < 0:
        return None
    mark = number[position]
    if number.count(mark) > 1:  # 1.299.000: a grouping mark, so the other one is the decimal mark
        return "," if mark == "." else "."
    whole, decimals = number[:position].lstrip("+-"), len(number) - position - 1
    thousands = decimals == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0")
    return None if thousands else mark


def _grouped(whole: str, group: str) -> bool:
    parts = whole.split(group)
    return len(parts) == 1 or (1 <= len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]))
