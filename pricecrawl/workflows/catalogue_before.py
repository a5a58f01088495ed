"""What a file of SKUs leaves as it is: the content, and the price, that an earlier file stated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from pricecrawl.db.catalogue import SkuBefore, SkuRow
from pricecrawl.domain.measure import Size, read_pack, read_size
from pricecrawl.domain.offer import Content
from pricecrawl.workflows.csv_input import Sheet


class Stated(NamedTuple):
    """What two columns of a file state of a content; None where a cell is blank or there is no column.

    `blank` are the columns of the file that have nothing in this line.
    """

    pack: int | None = None
    size: Size | None = None
    blank: frozenset[str] = frozenset()


NOTHING = Stated()


def content_of(name: str, stated: Stated = NOTHING) -> Content:
    """Units in a pack and the whole content, from the two columns or else from the name."""
    size = stated.size or read_size(name)
    if stated.pack is None:
        return _content(size.pack if size else read_pack(name), size, 1)
    return _content(stated.pack, size, 1 if size is None or size.pack == stated.pack else stated.pack)


def _content(pack: int, size: Size | None, times: int) -> Content:
    if size is None or size.base_quantity is None:
        return Content(pack)
    return Content(pack, size.base_quantity * times, size.base_unit)


def with_before(row: SkuRow, before: SkuBefore, columns: frozenset[str]) -> SkuRow:
    """The row with the content that the SKU had, as far as the file has no column for it.

    A content that only repeats what the name says follows the name when that changes.
    """
    had = Content(before.pack, before.base_quantity, before.base_unit)
    now = Content(row.pack, row.base_quantity, row.base_unit)
    if {"pack", "size"} <= columns or had == now or had == content_of(before.name):
        return row
    if "pack" not in columns and "size" not in columns:
        now = had
    elif "size" not in columns and now.base_quantity is None and had.base_quantity is not None:
        now = Content(now.pack, had.base_quantity * now.pack / had.pack, had.base_unit)
    elif "pack" not in columns and now.pack == 1 and _each(had) == _each(now):
        now = had  # the size of one unit, said once more
    return replace(row, pack=now.pack, base_quantity=now.base_quantity, base_unit=now.base_unit)


def _each(content: Content) -> tuple[Decimal | None, str | None]:
    each = None if content.base_quantity is None else content.base_quantity / content.pack
    return each, content.base_unit


def heed_prices(sheet: Sheet, rows: Mapping[int, SkuRow], before: Mapping[str, SkuBefore]) -> tuple[str, ...]:
    """Complain of every line that would call a price by another currency or tax basis than it was set in.

    `rows` are by line. Returns the SKUs that change their tax basis: their costs do not hold on the new one.
    """
    moved = []
    for line, row in rows.items():
        was = before.get(row.sku)
        if was is None:
            continue
        basis = row.tax_basis.value if "tax_basis" in sheet.columns else was.tax_basis
        if basis != was.tax_basis:
            moved.append(row.sku)
        if was.current_price is None or "current_price" in sheet.columns:
            continue
        if (row.currency, basis) != (was.currency, was.tax_basis):
            column = "currency" if row.currency != was.currency else "tax_basis"
            sheet.complain(
                line,
                column,
                f"the price of {row.sku!r} is {was.current_price:f} {was.currency} ({was.tax_basis}); "
                "give its current_price anew, or a blank one where there is none.",
            )
    return tuple(moved)


_LOST: Mapping[str, tuple[str, Callable[[SkuBefore], bool]]] = {
    "protected": ("were protected and are not any more", lambda was: was.protected),
    "active": ("were not active and are now", lambda was: not was.active),
    "current_price": ("had a current price and have none now", lambda was: was.current_price is not None),
}


def lost(stated: Mapping[str, Stated], before: Mapping[str, SkuBefore]) -> Iterator[str]:
    """What SKUs lose, by `stated` of each, because a cell is blank: a sentence for each column."""
    for column, (words, had) in _LOST.items():
        names = [sku for sku, line in stated.items() if column in line.blank and sku in before]
        if found := [sku for sku in names if had(before[sku])]:
            yield f"{len(found)} SKUs {words}, for the file leaves it blank: {some(found)}"


def some(skus: Sequence[str]) -> str:
    """The first few of many."""
    return ", ".join(skus[:5]) + (", …" if len(skus) > 5 else "")
