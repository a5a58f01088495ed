"""Tables for analysts, row by row: fixed columns in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, FromClause, select

from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    listing,
    mapping,
    market_price_snapshot,
    price_decision,
    price_history,
    sku,
)


@dataclass(frozen=True, slots=True)
class Extract:
    """One table to take out: its columns by name, where they come from, its time column and order."""

    columns: Mapping[str, ColumnElement[Any]]
    source: FromClause
    moment: ColumnElement[Any]
    order: tuple[ColumnElement[Any], ...]


def _named(table: Any, names: str, **more: ColumnElement[Any]) -> dict[str, ColumnElement[Any]]:
    return {name: table.c[name] for name in names.split()} | more


EXTRACTS: Mapping[str, Extract] = {
    "listings": Extract(
        _named(
            listing,
            "source source_sku name brand variant category gtin mpn condition seller pack base_quantity "
            "base_unit price currency original_price member_price pre_order_price availability method "
            "needs_review consecutive_misses first_seen_at last_seen_at url",
            sku=mapping.c.sku,
            mapping_status=mapping.c.status,
            mapping_method=mapping.c.method,
        ),
        listing.join(mapping, mapping.c.listing_id == listing.c.id, isouter=True),
        listing.c.last_seen_at,
        (listing.c.source, listing.c.source_sku, mapping.c.sku),
    ),
    "history": Extract(
        {
            **_named(listing, "source source_sku name gtin"),
            **_named(price_history, "price currency original_price member_price changed_at observation_id"),
        },
        price_history.join(listing, listing.c.id == price_history.c.listing_id),
        price_history.c.changed_at,
        (price_history.c.changed_at, price_history.c.id),
    ),
    "decisions": Extract(
        {
            **_named(price_decision, "decision_id sku"),
            "name": sku.c.name,
            "category": sku.c.category,
            **_named(
                price_decision,
                "currency tax_basis current_price market_price competitive_target variable_cost "
                "required_margin margin_floor map_price regulatory_floor allowed_floor proposed_price "
                "change_pct decision_reason verdict status findings policy_version snapshot_id expires_at "
                "created_at updated_at",
            ),
        },
        price_decision.join(sku, sku.c.sku == price_decision.c.sku),
        price_decision.c.created_at,
        (price_decision.c.created_at, price_decision.c.sku),
    ),
    "snapshots": Extract(
        _named(
            market_price_snapshot,
            "id sku market_price currency winning_observation_id eligible excluded freshness "
            "policy_version computed_at",
        ),
        market_price_snapshot,
        market_price_snapshot.c.computed_at,
        (market_price_snapshot.c.id,),
    ),
}


class ExportStore(Store):
    """Reading only, with flat memory."""

    def rows(self, what: str, since: datetime | None = None) -> Iterator[dict[str, Any]]:
        """Rows of one extract, changed or made from `since` on."""
        extract = EXTRACTS[what]
        columns = [column.label(name) for name, column in extract.columns.items()]
        query = select(*columns).select_from(extract.source).order_by(*extract.order)
        if since is not None:
            query = query.where(extract.moment >= since)
        with self.engine.connect() as conn:
            for row in conn.execute(query, execution_options={"yield_per": 2000}).mappings():
                yield dict(row)
