"""Believable values for tests; each takes what a test cares about and fills in the rest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.crawl import CrawlStore, EvidenceRow
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.observation import EvidenceRef, Observation
from pricecrawl.domain.run import CoverageReason, RunOutcome, RunResult

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def an_observation(sku: str = "A-1", price: str | None = "19.99", **changes: Any) -> Observation:
    """An observation of a kettle in shop `kettles`, at noon; `price` as text."""
    made = Observation(
        source="kettles",
        source_sku=sku,
        url=f"https://kettles.example/p/{sku}",
        name=f"Kettle {sku}",
        brand="Brewster",
        gtin=None,
        mpn=None,
        variant="",
        category="Kettles",
        pack=1,
        base_quantity=None,
        base_unit=None,
        condition="new",
        seller="",
        price=None if price is None else Decimal(price),
        currency="EUR",
        price_kind="standard",
        method="json-ld",
        selector="offers.price",
        original_price=None,
        member_price=None,
        pre_order_price=None,
        shipping=None,
        promotion_text="",
        tax_basis=TaxBasis.INCLUSIVE,
        availability=Availability.IN_STOCK,
        needs_review=False,
        review_reasons=(),
        observed_at=NOON,
        evidence=None,
        extractor_version="1",
    )
    return replace(made, **changes)


def an_evidence_row(number: int = 0, **changes: Any) -> EvidenceRow:
    """An evidence record at a place of its own."""
    ref = EvidenceRef(
        digest=f"sha256:{number:064x}",
        warc="kettles/2026-03/000001-20260314T120000-00000000-0001.warc.gz",
        offset=number * 1000,
        length=900,
        url=f"https://kettles.example/p/{number}",
        fetched_at=NOON,
    )
    return replace(EvidenceRow(ref=ref, status=200), **changes)


def open_run(store: CrawlStore, *, source: str = "kettles", now: datetime = NOON, **changes: Any) -> int:
    """A run of this very process; the source is made if it is not there."""
    import os

    store.sync_sources([(source, "retailer")])
    values: dict[str, Any] = {"platform": "retailer", "host": f"{source}.example", "job": None}
    return store.open_run(source=source, now=now, **(values | {"pid": os.getpid()} | changes))


def finish(
    store: CrawlStore,
    run_id: int,
    *,
    outcome: RunOutcome = RunOutcome.FINISHED,
    reason: CoverageReason = CoverageReason.EXHAUSTED,
    now: datetime = NOON + timedelta(minutes=5),
    **counts: Any,
) -> bool:
    """End a run, COMPLETE unless told otherwise."""
    return store.finish_run(run_id, RunResult(outcome, reason), counts, now)


def crawl(store: CrawlStore, *observations: Observation, now: datetime = NOON, **ending: Any) -> int:
    """A whole run that saw exactly these, with its misses counted if it may."""
    run_id = open_run(store, now=now)
    store.save_batch(run_id, [replace(item, observed_at=now) for item in observations], [])
    ended = now + timedelta(minutes=5)
    finish(store, run_id, now=ended, **ending)
    if not ending:
        store.count_misses(run_id, ended)
    return run_id
