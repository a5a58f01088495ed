"""Our own SKUs, their identifiers, and their dated costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update

from pricecrawl.db.sql import chunks, insert_rows, upsert
from pricecrawl.db.store import Store
from pricecrawl.db.tables import sku, sku_cost, sku_identifier
from pricecrawl.domain.market import TaxBasis


@dataclass(frozen=True, slots=True)
class SkuRow:
    """One of our SKUs.

    `identifiers` are (kind, value) pairs: `gtin` as GTIN-14, `mpn` as written and `part`, the same
    without separators.
    """

    sku: str
    name: str
    currency: str
    brand: str = ""
    category: str = ""
    country: str | None = None
    tax_basis: TaxBasis = TaxBasis.INCLUSIVE
    pack: int = 1
    base_quantity: Decimal | None = None
    base_unit: str | None = None
    current_price: Decimal | None = None
    protected: bool = False
    tier: str = "B"
    active: bool = True
    identifiers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one unit costs from a day on, in the SKU's currency and on its tax basis."""

    sku: str
    currency: str
    cogs: Decimal
    fulfilment: Decimal
    payment: Decimal
    valid_from: datetime
    valid_to: datetime | None = None
    map_price: Decimal | None = None
    regulatory_floor: Decimal | None = None
    map_required: bool = False
    regulatory_required: bool = False


class SkuBefore(NamedTuple):
    """What the catalogue says of a SKU that a file names again."""

    sku: str
    name: str
    currency: str
    tax_basis: str
    pack: int
    base_quantity: Decimal | None
    base_unit: str | None
    current_price: Decimal | None
    protected: bool
    active: bool


class Having(NamedTuple):
    """Those of some SKUs and categories that the catalogue has."""

    skus: set[str]
    categories: set[str]


@dataclass(frozen=True, slots=True)
class SavedCosts:
    """How many costs are new and how many replaced one of the same day; SKUs that lost a bound they had."""

    added: int
    replaced: int
    unbound: tuple[str, ...] = ()


# Column of the file by column of the table, where a file without it must not change what is there.
_OPTIONAL = {
    "brand": ("brand",),
    "category": ("category",),
    "country": ("country",),
    "tax_basis": ("tax_basis",),
    "current_price": ("current_price",),
    "protected": ("protected",),
    "tier": ("tier",),
    "active": ("active",),
}


class CatalogueStore(Store):
    """Reading and writing of `sku`, `sku_identifier` and `sku_cost`."""

    def save_skus(
        self, tx: Connection, rows: Sequence[SkuRow], *, columns: Iterable[str], now: datetime
    ) -> None:
        """Add or update SKUs.

        Of a SKU that exists only what the file's `columns` state is overwritten, and name and content.
        """
        statement = upsert(tx, sku)
        stated = set(columns)
        kept = {name for heading, names in _OPTIONAL.items() if heading not in stated for name in names}
        names = [column.name for column in sku.columns if column.name not in {"sku", *kept}]
        statement = statement.on_conflict_do_update(
            index_elements=[sku.c.sku], set_={name: statement.excluded[name] for name in names}
        )
        values = [
            {
                "sku": row.sku,
                "name": row.name,
                "brand": row.brand,
                "category": row.category,
                "currency": row.currency,
                "country": row.country,
                "tax_basis": row.tax_basis.value,
                "pack": row.pack,
                "base_quantity": row.base_quantity,
                "base_unit": row.base_unit,
                "current_price": row.current_price,
                "protected": row.protected,
                "tier": row.tier,
                "active": row.active,
                "imported_at": now,
            }
            for row in rows
        ]
        if values:
            tx.execute(statement, values)
        kinds = {"gtin": ("gtin",), "mpn": ("mpn", "part")}
        stated_kinds = {kind for heading in stated & kinds.keys() for kind in kinds[heading]}
        self._save_identifiers(tx, rows, stated_kinds)

    def before(self, tx: Connection, skus: Sequence[str]) -> dict[str, SkuBefore]:
        """Those of `skus` that are in the catalogue, as they are."""
        columns = [sku.c[name] for name in SkuBefore._fields]
        found: dict[str, SkuBefore] = {}
        for some in chunks(skus):
            query = select(*columns).where(sku.c.sku.in_(some))
            found.update({row.sku: SkuBefore(*row) for row in tx.execute(query)})
        return found

    def end_costs(self, tx: Connection, skus: Sequence[str], *, now: datetime) -> list[str]:
        """End what is in force and what is to come of the costs of `skus`; returns those that had any."""
        ended: list[str] = []
        for some in chunks(skus):
            query = select(sku_cost.c.id, sku_cost.c.sku, sku_cost.c.valid_from).where(
                sku_cost.c.sku.in_(some), or_(sku_cost.c.valid_to.is_(None), sku_cost.c.valid_to > now)
            )
            rows = list(tx.execute(query))
            ends = [{"of": row.id, "ends": max(now, row.valid_from)} for row in rows]
            if ends:
                statement = update(sku_cost).where(sku_cost.c.id == bindparam("of"))
                tx.execute(statement.values(valid_to=bindparam("ends")), ends)
            ended += [row.sku for row in rows]
        return sorted(set(ended))

    def save_costs(
        self, tx: Connection, rows: Sequence[CostRow], *, columns: Container[str], now: datetime
    ) -> SavedCosts:
        """Add dated costs. One of the same day is replaced, and each ends where the next one starts.

        `columns` are those of the file: what it has no column for is taken from the cost before, for a file
        of purchase prices alone must not lift a minimum advertised price.
        """
        there: dict[tuple[str, datetime], int] = {}
        before: dict[str, list[CostRow]] = {}
        for some in chunks(sorted({row.sku for row in rows})):
            for found in tx.execute(select(sku_cost).where(sku_cost.c.sku.in_(some))):
                there[found.sku, found.valid_from] = found.id
                before.setdefault(found.sku, []).append(_cost_of(found))
        # Oldest first, so that of several costs of one SKU in a file each ends where the next starts.
        ordered, unbound = [], []
        for row in sorted(rows, key=lambda row: (row.sku, row.valid_from)):
            earlier = [cost for cost in before.get(row.sku, ()) if cost.valid_from <= row.valid_from]
            last = max(earlier, key=lambda cost: cost.valid_from, default=None)
            kept = row if last is None else _carried(row, last, columns)
            if last is not None and _loses_a_bound(kept, last):
                unbound.append(row.sku)
            ordered.append(kept)
            others = [cost for cost in before.get(row.sku, ()) if cost.valid_from != row.valid_from]
            before[row.sku] = [*others, kept]
        replaced = [number for row in ordered if (number := there.get((row.sku, row.valid_from)))]
        for numbers in chunks(replaced):
            tx.execute(delete(sku_cost).where(sku_cost.c.id.in_(numbers)))
        if ordered:
            tx.execute(_END_THE_ONE_BEFORE, [{"of": row.sku, "starts": row.valid_from} for row in ordered])
        starts = {
            name: sorted(cost.valid_from for cost in costs if cost.valid_to != cost.valid_from)
            for name, costs in before.items()  # one that never came into force (see `end_costs`) ends nothing
        }
        insert_rows(tx, sku_cost, [_cost(row, _end(row, starts[row.sku]), now) for row in ordered])
        return SavedCosts(len(rows) - len(replaced), len(replaced), tuple(dict.fromkeys(unbound)))

    def currencies(self, skus: Iterable[str]) -> dict[str, str]:
        """Currency by SKU, of those that the catalogue has."""
        found: dict[str, str] = {}
        with self.engine.connect() as conn:
            for some in chunks(sorted(skus)):
                query = select(sku.c.sku, sku.c.currency).where(sku.c.sku.in_(some))
                found.update({row.sku: row.currency for row in conn.execute(query)})
        return found

    def having(self, skus: Sequence[str], categories: Sequence[str]) -> Having:
        """Those of `skus` and `categories` that the catalogue has; walks through it for the categories."""
        found = Having(set(), set())
        with self.engine.connect() as conn:
            for some in chunks(skus):
                found.skus.update(conn.execute(select(sku.c.sku).where(sku.c.sku.in_(some))).scalars())
            for some in chunks(categories):
                query = select(sku.c.category).where(sku.c.category.in_(some)).distinct()
                found.categories.update(conn.execute(query).scalars())
        return found

    def count(self) -> int:
        """How many active SKUs there are."""
        with self.engine.connect() as conn:
            return conn.execute(select(func.count()).where(sku.c.active)).scalar_one()

    def _save_identifiers(self, tx: Connection, rows: Sequence[SkuRow], kinds: set[str]) -> None:
        """Replace the identifiers of the kinds that the file has a column for."""
        if not kinds:
            return
        for some in chunks([row.sku for row in rows]):
            tx.execute(
                delete(sku_identifier).where(sku_identifier.c.sku.in_(some), sku_identifier.c.kind.in_(kinds))
            )
        insert_rows(
            tx,
            sku_identifier,
            [
                {"sku": row.sku, "kind": kind, "value": value}
                for row in rows
                for kind, value in row.identifiers
                if kind in kinds
            ],
        )


_END_THE_ONE_BEFORE = (
    update(sku_cost)
    .where(
        sku_cost.c.sku == bindparam("of"),
        sku_cost.c.valid_from < bindparam("starts"),
        or_(sku_cost.c.valid_to.is_(None), sku_cost.c.valid_to > bindparam("starts")),
    )
    .values(valid_to=bindparam("starts"))
)


_CARRIED = (
    "fulfilment", "payment", "map_price", "regulatory_floor", "map_required", "regulatory_required",
)  # fmt: skip


def _cost_of(row: Any) -> CostRow:
    return CostRow(**{f.name: getattr(row, f.name) for f in fields(CostRow)})


def _carried(row: CostRow, last: CostRow, columns: Container[str]) -> CostRow:
    """The cost with what its file says nothing of taken from the one before."""
    if row.currency != last.currency:
        return row
    silent = {name: getattr(last, name) for name in _CARRIED if name not in columns}
    return replace(row, **silent)


def _loses_a_bound(row: CostRow, last: CostRow) -> bool:
    return any(
        getattr(last, name) is not None and getattr(row, name) is None
        for name in ("map_price", "regulatory_floor")
    )


def _end(row: CostRow, starts: Sequence[datetime]) -> datetime | None:
    """Where a cost ends: at its own end, or where the next one of its SKU starts, stored or in the file."""
    later = starts[bisect_right(starts, row.valid_from) :][:1]
    return min(later[0], row.valid_to or later[0]) if later else row.valid_to


def _cost(row: CostRow, ends: datetime | None, now: datetime) -> Mapping[str, object]:
    return {
        "sku": row.sku,
        "currency": row.currency,
        "cogs": row.cogs,
        "fulfilment": row.fulfilment,
        "payment": row.payment,
        "map_price": row.map_price,
        "regulatory_floor": row.regulatory_floor,
        "map_required": row.map_required,
        "regulatory_required": row.regulatory_required,
        "valid_from": row.valid_from,
        "valid_to": ends,
        "imported_at": now,
    }
