"""A catalogue of ours and shops that sell it, built through the real stores and workflows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select

from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.crawl import CrawlStore, EvidenceRow
from pricecrawl.db.mappings import MappingStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.tables import audit_event, market_price_snapshot, price_decision
from pricecrawl.domain.observation import Observation
from pricecrawl.evidence.store import EvidenceStore, Fetched
from pricecrawl.workflows import catalogue, mapping, price
from tests.factories import NOON, an_observation, finish, open_run

NOW = NOON + timedelta(minutes=20)
COUNTRIES = {"kettles": "DE", "mugs": "DE", "pots": "DE"}

# Numbers of the range that GS1 keeps for examples.
GTIN = "9521234500001"
SKUS = f"""sku,name,brand,category,gtin,mpn,pack,size,currency,country,tax_basis,current_price,protected,tier
K-1,Brewster Kettle 1 l,Brewster,kettles,{GTIN},BK-100,1,1 l,EUR,DE,incl,20.50,no,B
"""
COSTS = """sku,cogs,fulfilment,payment,map_price,regulatory_floor,valid_from
K-1,10.00,1.00,0.50,,,2026-01-01
"""


@dataclass(slots=True)
class Street:
    """Stores on one database and an evidence folder; each method is a step of the way."""

    engine: Engine
    folder: Path
    crawl: CrawlStore = field(init=False)
    evidence: EvidenceStore = field(init=False)

    def __post_init__(self) -> None:
        self.crawl = CrawlStore(self.engine)
        self.evidence = EvidenceStore(str(self.folder / "evidence"))

    def file(self, text: str, name: str = "skus.csv") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def catalogue(self, skus: str = SKUS, costs: str = COSTS, *, now: datetime = NOON) -> None:
        store = CatalogueStore(self.engine)
        catalogue.import_skus(store, self.file(skus), now=now, by="ann")
        if costs:
            catalogue.import_costs(store, self.file(costs, "costs.csv"), now=now, by="ann")

    def observe(
        self, price: str | None = "20.00", *, source: str = "kettles", at: datetime = NOON, **changes: Any
    ) -> None:
        """One run of a shop that saw one listing, with the page behind it stored as evidence."""
        made = an_observation(changes.pop("sku", "A-1"), price, source=source)
        values = {"name": "Brewster Kettle 1 l", "gtin": f"0{GTIN}", "observed_at": at}
        self.save(replace(made, **(values | changes)), at=at)

    def save(self, *seen: Observation, at: datetime) -> None:
        source = seen[0].source
        run_id = open_run(self.crawl, source=source, now=at)
        writer = self.evidence.writer(source, run_id)
        rows, kept = [], []
        for item in seen:
            body = f"<html>{item.name} {item.price} {item.currency}</html>".encode()
            ref = writer.write(
                Fetched(
                    url=item.url,
                    status=200,
                    headers={"Content-Type": "text/html"},
                    body=body,
                    request_headers={},
                    fetched_at=at,
                    kind="page",
                )
            )
            assert ref.digest.endswith(hashlib.sha256(body).hexdigest())
            rows.append(EvidenceRow(ref, 200))
            kept.append(replace(item, evidence=ref))
        writer.close()
        self.crawl.save_batch(run_id, kept, rows)
        finish(self.crawl, run_id, now=at + timedelta(seconds=1))

    def match(self, *, now: datetime = NOW) -> mapping.Matched:
        return mapping.run(MappingStore(self.engine), now=now)

    def price(self, *skus: str, now: datetime = NOW, **more: Any) -> price.Priced:
        return price.run(PricingStore(self.engine), now=now, countries=COUNTRIES, skus=skus or None, **more)

    def decision(self, sku: str = "K-1") -> Any:
        """The newest stored decision of a SKU."""
        query = (
            select(price_decision)
            .where(price_decision.c.sku == sku)
            .order_by(price_decision.c.sequence.desc())
            .limit(1)
        )
        with self.engine.connect() as conn:
            return conn.execute(query).one()

    def snapshot(self, number: int) -> Any:
        with self.engine.connect() as conn:
            return conn.execute(
                select(market_price_snapshot).where(market_price_snapshot.c.id == number)
            ).one()

    def rows(self, table: Any, **where: Any) -> list[Any]:
        query = select(table).order_by(*table.primary_key)
        for name, value in where.items():
            query = query.where(table.c[name] == value)
        with self.engine.connect() as conn:
            return list(conn.execute(query))

    def events(self, aggregate: str) -> list[str]:
        return [row.event_type for row in self.rows(audit_event, aggregate=aggregate)]


def codes(row: Any) -> set[str]:
    return {finding["code"] for finding in row.findings}


def excluded(row: Any) -> Mapping[str, list[str]]:
    """Reasons by source of a stored snapshot."""
    return {item["source"]: item["reasons"] for item in row.excluded}
