"""Our own products and what they cost, from CSV files: all of a file or nothing of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from pricecrawl.db import cost_books
from pricecrawl.db.catalogue import CatalogueStore, CostRow, SkuRow
from pricecrawl.db.cost_books import Books
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.measure import Size, read_size
from pricecrawl.domain.money_locale import country_codes, currency_codes
from pricecrawl.matching.gtin import part_key
from pricecrawl.pricing.rounding import on_quantum, quantum
from pricecrawl.workflows.catalogue_before import Stated, content_of, heed_prices, lost, some, with_before
from pricecrawl.workflows.csv_input import CellProblem, Row, Sheet, flag, moment, read_sheet
from pricecrawl.workflows.csv_numbers import NumberStyle, number_style

SKU_REQUIRED = ("sku", "name", "currency")
SKU_OPTIONAL = (
    *("brand", "category", "gtin", "mpn", "pack", "size", "country", "tax_basis", "current_price"),
    *("protected", "tier", "active"),
)
SKU_ALIASES = {
    "internal sku": "sku",
    "article": "sku",
    "item": "sku",
    "title": "name",
    "product": "name",
    "description": "name",
    "ean": "gtin",
    "upc": "gtin",
    "barcode": "gtin",
    "isbn": "gtin",
    "manufacturer part number": "mpn",
    "part number": "mpn",
    "price": "current_price",
    "our price": "current_price",
    "tax": "tax_basis",
}
COST_REQUIRED = ("sku", "cogs")
COST_OPTIONAL = (
    *("currency", "fulfilment", "payment", "map_price", "regulatory_floor", "map_required"),
    *("regulatory_required", "valid_from", "valid_to"),
)
COST_ALIASES = {
    "internal sku": "sku",
    "cost": "cogs",
    "cost of goods": "cogs",
    "fulfillment": "fulfilment",
    "payment cost": "payment",
    "payment fee": "payment",
    "minimum advertised price": "map_price",
    "regulatory": "regulatory_floor",
    "from": "valid_from",
    "to": "valid_to",
}
_BASES = {
    "incl": TaxBasis.INCLUSIVE,
    "inclusive": TaxBasis.INCLUSIVE,
    "gross": TaxBasis.INCLUSIVE,
    "excl": TaxBasis.EXCLUSIVE,
    "exclusive": TaxBasis.EXCLUSIVE,
    "net": TaxBasis.EXCLUSIVE,
    "duty_free": TaxBasis.DUTY_FREE,
    "duty free": TaxBasis.DUTY_FREE,
    "duty_paid": TaxBasis.DUTY_PAID,
    "duty paid": TaxBasis.DUTY_PAID,
}
# Where shelf prices are written without the tax that the till adds.
_TAX_ADDED_AT_THE_TILL = {"US", "CA"}
MAX_TEXT = 300
MAX_AMOUNT = Decimal(10) ** 12


@dataclass(frozen=True, slots=True)
class Imported:
    """What one file changed; `notes` are sentences about values that were taken with a reservation."""

    rows: int
    added: int
    changed: int
    notes: tuple[str, ...] = ()


def import_skus(
    store: CatalogueStore, path: Path, *, now: datetime, by: str, decimal: str | None = None
) -> Imported:
    """Add or update our SKUs from a CSV file.

    Raises:
        UsageProblem: the file cannot be read, or a column is missing.
        ProblemsFound: lines are wrong; nothing was imported.
    """
    sheet = read_sheet(path, required=SKU_REQUIRED, optional=SKU_OPTIONAL, aliases=SKU_ALIASES)
    style = number_style((row["current_price"] for row in sheet.rows if row["current_price"]), told=decimal)
    notes: list[str] = [f"column {name!r} is not one of ours and was left out" for name in sheet.ignored]
    lines: dict[str, int] = {}
    rows: dict[int, SkuRow] = {}
    stated: dict[str, Stated] = {}
    for row in sheet.rows:
        first = lines.setdefault(row["sku"], row.line)
        if first != row.line:
            sheet.complain(
                row.line, "sku", f"{row['sku']!r} is already on line {first}; keep one of the two."
            )
        if made := _sku(sheet, row, style, notes):
            rows[row.line], stated[row["sku"]] = made
    sheet.finish()
    with store.begin() as tx:
        before = store.before(tx, list(lines))
        moved = heed_prices(sheet, rows, before)
        sheet.finish()
        skus = [
            with_before(row, before[row.sku], sheet.columns) if row.sku in before else row
            for row in rows.values()
        ]
        store.save_skus(tx, skus, columns=sheet.columns, now=now)
        with cost_books.kept(tx, moved) as books:
            ended = store.end_costs(tx, moved, now=now)
        store.append(tx, [_event(EventType.CATALOGUE_IMPORTED, sheet, books, now, by, rows=len(skus))])
    notes += lost(stated, before)
    if ended:
        notes.append(
            f"{len(ended)} SKUs change their tax basis, and their costs and bounds stand on the one before: "
            f"they are not priced until `catalog costs` brings new ones, in every column: {some(ended)}"
        )
    return Imported(len(skus), len(skus) - len(before), len(before), tuple(notes))


def import_costs(
    store: CatalogueStore, path: Path, *, now: datetime, by: str, decimal: str | None = None
) -> Imported:
    """Add dated costs and restrictions from a CSV file; a later date closes the row before it.

    A column that the file does not have stays as the cost before had it; a blank cell means none, and where
    that lifts a bound it is noted. Amounts are in the SKU's currency and on its tax basis.

    Raises:
        UsageProblem: the file cannot be read, or a column is missing.
        ProblemsFound: lines are wrong; nothing was imported.
    """
    sheet = read_sheet(path, required=COST_REQUIRED, optional=COST_OPTIONAL, aliases=COST_ALIASES)
    money = ("cogs", "fulfilment", "payment", "map_price", "regulatory_floor")
    numbers = (row[name] for row in sheet.rows for name in money if row[name])
    style = number_style(numbers, told=decimal)
    notes = [f"column {name!r} is not one of ours and was left out" for name in sheet.ignored]
    known = store.currencies({row["sku"] for row in sheet.rows})
    lines: dict[tuple[str, datetime], int] = {}
    costs = []
    for row in sheet.rows:
        cost = _cost(sheet, row, style, known, now)
        if cost is None:
            continue
        first = lines.setdefault((cost.sku, cost.valid_from), row.line)
        if first != row.line:
            sheet.complain(
                row.line,
                "valid_from",
                f"{cost.sku!r} has a cost from the same day on line {first}; keep one of the two.",
            )
        costs.append(cost)
    sheet.finish()
    with store.begin() as tx:
        with cost_books.kept(tx, [cost.sku for cost in costs]) as books:
            saved = store.save_costs(tx, costs, columns=sheet.columns, now=now)
        store.append(tx, [_event(EventType.COSTS_IMPORTED, sheet, books, now, by, rows=len(costs))])
    if saved.unbound:
        notes.append(
            f"{len(saved.unbound)} SKUs had a minimum advertised or regulatory price and have none now, for "
            f"the file leaves it blank: {some(saved.unbound)}"
        )
    return Imported(len(costs), saved.added, saved.replaced, tuple(notes))


def _sku(sheet: Sheet, row: Row, style: NumberStyle, notes: list[str]) -> tuple[SkuRow, Stated] | None:
    before = len(sheet.mistakes)
    stated = _stated(sheet, row)
    sku = sheet.need(row, "sku", _text(100))
    name = sheet.need(row, "name", _text(MAX_TEXT * 3))
    currency = sheet.need(row, "currency", _currency)
    country = sheet.read(row, "country", _country)
    basis = sheet.read(row, "tax_basis", _basis)
    price = sheet.read(row, "current_price", _price(style, currency))
    tier = sheet.read(row, "tier", _tier) or "B"
    content = content_of(row["name"], stated)
    identifiers = _identifiers(sheet, row, notes)
    protected = sheet.read(row, "protected", flag)
    active = sheet.read(row, "active", flag)
    brand = sheet.read(row, "brand", _text(MAX_TEXT)) or ""
    category = sheet.read(row, "category", _text(MAX_TEXT)) or ""
    if len(sheet.mistakes) > before or sku is None or name is None or currency is None:
        return None
    if basis is None:
        basis = TaxBasis.EXCLUSIVE if country in _TAX_ADDED_AT_THE_TILL else TaxBasis.INCLUSIVE
    made = SkuRow(
        sku=sku,
        name=name,
        brand=brand,
        category=category,
        currency=currency,
        country=country,
        tax_basis=basis,
        pack=content.pack,
        base_quantity=content.base_quantity,
        base_unit=content.base_unit,
        current_price=price,
        protected=bool(protected),
        tier=tier,
        active=active is not False,
        identifiers=identifiers,
    )
    return made, stated


def _stated(sheet: Sheet, row: Row) -> Stated:
    """What the two columns say of the content; a contradiction is a mistake."""
    pack = sheet.read(row, "pack", _pack)
    size = sheet.read(row, "size", _size)
    told = size or read_size(row["name"])
    if pack is not None and told is not None and told.pack not in {1, pack}:
        sheet.complain(row.line, "pack", f"{pack} contradicts the size, which is a pack of {told.pack}.")
    return Stated(pack, size, frozenset(name for name in sheet.columns if not row[name]))


def _identifiers(sheet: Sheet, row: Row, notes: list[str]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in _codes(row["gtin"]):
        if "E+" in text.upper():
            sheet.complain(
                row.line, "gtin", f"{text!r} was shortened by a spreadsheet; format the column as text."
            )
            continue
        read = read_gtin(text)
        if read.gtin14 is not None:
            found.append(("gtin", read.gtin14))
        elif read.restricted:
            notes.append(
                f"line {row.line}: {text} is a number for use within one shop; elsewhere it names nothing"
            )
        else:
            sheet.complain(
                row.line,
                "gtin",
                f"{text!r} is no GTIN: its length or check digit is wrong; correct it or clear it.",
            )
    if row["mpn"]:
        found += [("mpn", row["mpn"][:200]), ("part", part_key(row["mpn"])[:200])]
    return tuple(dict.fromkeys(found))


def _codes(text: str) -> list[str]:
    """The identifiers of a cell: one as printed under its bars (4 006381 333931), or several."""
    if read_gtin(text).gtin14 is not None:
        return [text]
    parts = [part for part in re.split(r"[|;,/]", text) if part.strip()]
    return [code for part in parts for code in ([part] if read_gtin(part).gtin14 else part.split())]


def _cost(
    sheet: Sheet, row: Row, style: NumberStyle, known: Mapping[str, str], now: datetime
) -> CostRow | None:
    before = len(sheet.mistakes)
    sku = sheet.need(row, "sku", _text(100))
    currency = sheet.read(row, "currency", _currency)
    ours = known.get(row["sku"])
    if sku is not None and ours is None:
        sheet.complain(
            row.line, "sku", f"{sku!r} is not in the catalogue; import it with `catalog import` first."
        )
    elif currency is not None and currency != ours:
        sheet.complain(row.line, "currency", f"{currency} is not the SKU's currency, which is {ours}.")
    positive, charge = _amount(style, ours, strict=True), _amount(style, ours)
    cogs = sheet.need(row, "cogs", positive)
    fulfilment, payment = sheet.read(row, "fulfilment", charge), sheet.read(row, "payment", charge)
    map_price = sheet.read(row, "map_price", positive)
    regulatory = sheet.read(row, "regulatory_floor", positive)
    map_required = sheet.read(row, "map_required", flag)
    regulatory_required = sheet.read(row, "regulatory_required", flag)
    starts = sheet.read(row, "valid_from", moment) or now
    ends = sheet.read(row, "valid_to", moment)
    if ends is not None and ends <= starts:
        sheet.complain(row.line, "valid_to", f"{row['valid_to']} is not after valid_from.")
    if len(sheet.mistakes) > before or sku is None or ours is None or cogs is None:
        return None
    return CostRow(
        sku=sku,
        currency=ours,
        cogs=cogs,
        fulfilment=fulfilment or Decimal(0),
        payment=payment or Decimal(0),
        valid_from=starts,
        valid_to=ends,
        map_price=map_price,
        regulatory_floor=regulatory,
        map_required=bool(map_required),
        regulatory_required=bool(regulatory_required),
    )


def _text(limit: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        if len(text) > limit:
            raise CellProblem(f"the text has {len(text)} characters; {limit} is the most.")
        if any(ord(character) < 32 for character in text):
            raise CellProblem("the text holds a line break or control character; remove it.")
        return text

    return read


def _currency(text: str) -> str:
    code = text.upper()
    if code not in currency_codes():
        raise CellProblem(f"{text!r} is no currency code; write it like EUR.")
    return code


def _country(text: str) -> str:
    code = text.upper()
    if code not in country_codes():
        raise CellProblem(f"{text!r} is no country code; write it like DE or GB.")
    return code


def _basis(text: str) -> TaxBasis:
    basis = _BASES.get(text.casefold())
    if basis is None:
        raise CellProblem(f"{text!r} is no tax basis; write incl or excl.")
    return basis


def _tier(text: str) -> str:
    """The letter of a tier whatever its case: its cadence says how long an offer counts."""
    tier = _text(10)(text)
    return tier.upper() if len(tier) == 1 else tier


def _pack(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10000:
        raise CellProblem(f"{text!r} is no number of units; write a whole number of 1 or more.")
    return int(text)


def _size(text: str) -> Size:
    size = read_size(text)
    if size is None:
        raise CellProblem(f"{text!r} is no size; write it like 500 ml, 1.5 kg or 6 x 330 ml.")
    return size


def _price(style: NumberStyle, currency: str | None) -> Callable[[str], Decimal]:
    positive = _amount(style, currency, strict=True)

    def read(text: str) -> Decimal:
        amount = positive(text)
        if currency is not None and not on_quantum(amount, quantum(currency)):
            raise CellProblem(f"{text!r} is finer than {quantum(currency)}, the smallest step of {currency}.")
        return amount

    return read


def _amount(style: NumberStyle, currency: str | None, *, strict: bool = False) -> Callable[[str], Decimal]:
    """Amounts of 0 or more in `currency`, or with `strict` of more than 0."""

    def read(text: str) -> Decimal:
        amount = style.amount(text, currency)
        if amount < 0 or (strict and amount == 0):
            raise CellProblem(f"{text!r} must be {'more than 0' if strict else '0 or more'}.")
        if amount >= MAX_AMOUNT:
            raise CellProblem(f"{text!r} is too large to be a price.")
        return amount

    return read


def _event(kind: EventType, sheet: Sheet, books: Books, now: datetime, by: str, *, rows: int) -> Event:
    return Event(
        event_id=str(uuid4()),
        event_type=kind,
        aggregate=cost_books.AGGREGATE,
        correlation_id=f"catalogue:{sheet.sha256[:16]}",
        causation_id=None,
        occurred_at=now,
        producer="catalogue",
        payload={
            "file": sheet.path.name,
            "sha256": sheet.sha256,
            "rows": rows,
            "by": by,
            cost_books.STATE: books.state,
        },
    )
