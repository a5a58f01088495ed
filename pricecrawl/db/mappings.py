"""Which listing is which SKU: reading both sides and keeping the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from pricecrawl.db.sql import chunks, insert_rows, next_ids, unindexed, update_rows
from pricecrawl.db.store import Store
from pricecrawl.db.tables import listing, mapping, sku, sku_identifier
from pricecrawl.domain.mapping import MappingMethod, MappingStatus


@dataclass(frozen=True, slots=True)
class ListingRow:
    """What a listing says of its product."""

    id: int
    source: str
    source_sku: str
    name: str
    brand: str
    gtin: str | None
    mpn: str | None
    variant: str
    pack: int
    base_quantity: Decimal | None
    base_unit: str | None


@dataclass(frozen=True, slots=True)
class SkuFacts:
    """What our catalogue says of a product."""

    sku: str
    name: str
    brand: str
    pack: int
    base_quantity: Decimal | None
    base_unit: str | None
    gtins: tuple[str, ...]
    mpns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MappingRow:
    """One pair as the table has it. `evidence` is JSON-ready."""

    listing_id: int
    sku: str
    method: MappingMethod
    status: MappingStatus
    mapper_version: str
    evidence: Mapping[str, Any]
    confidence: float | None = None
    calibration_version: str | None = None
    first_use_reviewed: bool = False
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    review_reason: str | None = None
    id: int = 0


_LISTING = (
    *(listing.c.id, listing.c.source, listing.c.source_sku, listing.c.name, listing.c.brand),
    *(listing.c.gtin, listing.c.mpn, listing.c.variant, listing.c.pack),
    *(listing.c.base_quantity, listing.c.base_unit),
)


class MappingStore(Store):
    """Reading and writing of `mapping`."""

    def listings(self, *, after: int, limit: int, source: str | None = None) -> list[ListingRow]:
        """Up to `limit` listings with an identifier and an id over `after`, by id."""
        query = (
            select(*_LISTING)
            .where(listing.c.id > after, listing.c.gtin.is_not(None) | listing.c.mpn.is_not(None))
            .order_by(listing.c.id)
            .limit(limit)
        )
        if source is not None:
            query = query.where(unindexed(listing.c.source) == source)  # page after page by id
        with self.engine.connect() as conn:
            return [ListingRow(*row) for row in conn.execute(query)]

    def skus_by_identifier(self, gtins: Iterable[str], parts: Iterable[str]) -> list[SkuFacts]:
        """SKUs that carry one of these GTINs or one of these part numbers without separators."""
        names: set[str] = set()
        with self.engine.connect() as conn:
            for kind, values in (("gtin", gtins), ("part", parts)):
                for some in chunks(sorted(set(values))):
                    query = select(sku_identifier.c.sku).where(
                        sku_identifier.c.kind == kind, sku_identifier.c.value.in_(some)
                    )
                    names.update(conn.execute(query).scalars())
            return self._facts(conn, sorted(names))

    def of_listings(self, listings: Sequence[int]) -> dict[tuple[int, str], MappingRow]:
        """Mappings by (listing, SKU)."""
        found: dict[tuple[int, str], MappingRow] = {}
        with self.engine.connect() as conn:
            for some in chunks(listings):
                for row in conn.execute(select(mapping).where(mapping.c.listing_id.in_(some))):
                    found[row.listing_id, row.sku] = mapping_of(row)
        return found

    def get(self, conn: Connection, number: int) -> MappingRow | None:
        """One mapping by id."""
        row = conn.execute(select(mapping).where(mapping.c.id == number)).one_or_none()
        return mapping_of(row) if row is not None else None

    def insert(self, tx: Connection, rows: Sequence[MappingRow], *, now: datetime) -> list[int]:
        """Add pairs that are not there yet; returns their ids in the same order."""
        numbers = next_ids(tx, mapping, len(rows))
        values = [
            _columns(row) | {"id": number, "created_at": now}
            for number, row in zip(numbers, rows, strict=True)
        ]
        insert_rows(tx, mapping, values)
        return numbers

    def update(self, tx: Connection, rows: Sequence[MappingRow]) -> None:
        """Write pairs that are there, by id."""
        update_rows(tx, mapping, [_columns(row) | {"id": row.id} for row in rows])

    def accept_first_use(self, tx: Connection, numbers: Sequence[int]) -> None:
        """A person has seen the first price that these mappings moved."""
        for some in chunks(numbers):
            tx.execute(update(mapping).where(mapping.c.id.in_(some)).values(first_use_reviewed=True))

    def counts(self) -> dict[str, int]:
        """How many mappings have each status."""
        query = select(mapping.c.status, func.count()).group_by(mapping.c.status)
        with self.engine.connect() as conn:
            return {row[0]: row[1] for row in conn.execute(query)}

    def _facts(self, conn: Connection, names: Sequence[str]) -> list[SkuFacts]:
        facts: list[SkuFacts] = []
        for some in chunks(names):
            owned: dict[str, dict[str, list[str]]] = {}
            identifiers = select(sku_identifier.c.sku, sku_identifier.c.kind, sku_identifier.c.value)
            for row in conn.execute(identifiers.where(sku_identifier.c.sku.in_(some))):
                owned.setdefault(row.sku, {}).setdefault(row.kind, []).append(row.value)
            columns = (sku.c.sku, sku.c.name, sku.c.brand, sku.c.pack, sku.c.base_quantity, sku.c.base_unit)
            for found in conn.execute(select(*columns).where(sku.c.sku.in_(some), sku.c.active)):
                kinds = owned.get(found.sku, {})
                gtins, mpns = tuple(kinds.get("gtin", ())), tuple(kinds.get("mpn", ()))
                facts.append(SkuFacts(*found, gtins=gtins, mpns=mpns))
        return facts


def mapping_of(row: Row[Any]) -> MappingRow:
    """The pair of a row of `mapping`."""
    return MappingRow(
        listing_id=row.listing_id,
        sku=row.sku,
        method=MappingMethod(row.method),
        status=MappingStatus(row.status),
        mapper_version=row.mapper_version,
        evidence=row.evidence,
        confidence=row.confidence,
        calibration_version=row.calibration_version,
        first_use_reviewed=row.first_use_reviewed,
        reviewed_by=row.reviewed_by,
        reviewed_at=row.reviewed_at,
        review_reason=row.review_reason,
        id=row.id,
    )


def _columns(row: MappingRow) -> dict[str, Any]:
    return {
        "listing_id": row.listing_id,
        "sku": row.sku,
        "method": row.method.value,
        "status": row.status.value,
        "confidence": row.confidence,
        "calibration_version": row.calibration_version,
        "mapper_version": row.mapper_version,
        "evidence": dict(row.evidence),
        "first_use_reviewed": row.first_use_reviewed,
        "reviewed_by": row.reviewed_by,
        "reviewed_at": row.reviewed_at,
        "review_reason": row.review_reason,
    }
