"""An observation that a collector of one's own hands in: the same way as a crawled one, or quarantine.

The document as it came is the evidence. It is read by the same normalization and consensus as a shop's
page, anchored to the last accepted price, and saved in a run of its own that counts no misses.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pricecrawl import __version__
from pricecrawl.db.before import sizes_of
from pricecrawl.db.crawl import CrawlStore, EvidenceRow, RejectionRow
from pricecrawl.db.intake import Stored, last_seen, stored
from pricecrawl.domain.confirmed import answered
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.errors import PricecrawlError, Refused
from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.observation import EvidenceRef, Observation
from pricecrawl.domain.run import CoverageReason, RunOutcome, RunResult
from pricecrawl.evidence.store import EvidenceStore, Fetched
from pricecrawl.pricing.states import State

KIND = "posted"
"""Kind of the evidence: what a client sent us, not what a shop answered."""


class Outdated(PricecrawlError):
    """The listing was seen later than that: an old observation must not look like the present."""


@dataclass(frozen=True, slots=True)
class Posted:
    """The document of one observation as it came: where it was sent, by whom, and its bytes."""

    url: str
    by: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of it: NORMALIZED with an observation, or QUARANTINED with a reason."""

    state: State
    run_id: int
    evidence: EvidenceRef
    observation: Observation | None = None
    ids: Stored | None = None
    rejected: Rejected | None = None


def record(
    engine: Any,
    evidence: EvidenceStore,
    raw: RawListing,
    posted: Posted,
    *,
    source: str,
    platform: str,
    market: Market,
    now: datetime,
    sold_by: Sequence[str] = (),
) -> Recorded:
    """Store one observation with its evidence; `sold_by` are names under which the shop itself sells.

    Raises:
        Refused: the source is switched off or held.
        Outdated: the listing was seen later than this.
        SourceBusy: a crawl of the source is under way.
    """
    store = CrawlStore(engine)
    store.sync_sources([(source, platform)])
    state = store.source_state(source)
    if not state.may_run:
        why = state.held_reason or state.disabled_reason or "it is switched off"
        raise Refused(f"source {source} takes no observations: {why}.")
    seen = last_seen(engine, source, raw.source_sku)
    if seen is not None and (raw.observed_at or now) < seen:
        raise Outdated(f"{source}/{raw.source_sku} was seen at {seen.isoformat()}, which is later than this.")
    job = f"api:{posted.by}"[:200]
    run_id = store.open_run(source=source, platform=platform, host="", job=job, pid=os.getpid(), now=now)
    result = RunResult(RunOutcome.ERROR, CoverageReason.SCOPED, detail="an observation could not be stored")
    try:
        recorded = _store(
            store,
            evidence,
            raw,
            posted,
            source=source,
            market=market,
            run_id=run_id,
            now=now,
            sold_by=sold_by,
        )
        listings = 0 if recorded.observation is None else 1
        result = RunResult(RunOutcome.FINISHED, CoverageReason.SCOPED, listings, detail=job)
    finally:
        store.finish_run(run_id, result, {}, now)
    return recorded


def _store(
    store: CrawlStore,
    evidence: EvidenceStore,
    raw: RawListing,
    posted: Posted,
    *,
    source: str,
    market: Market,
    run_id: int,
    now: datetime,
    sold_by: Sequence[str],
) -> Recorded:
    with evidence.writer(source, run_id) as writer:
        ref = writer.write(
            Fetched(
                url=posted.url,
                status=200,
                headers={"Content-Type": "application/json"},
                body=posted.body,
                request_headers={},
                fetched_at=now,
                kind=KIND,
                method="POST",
            )
        )
        writer.sync()
    raw.evidence = ref
    page = EvidenceRow(ref, 200, KIND)
    listing = normalize(
        raw,
        source=source,
        market=market,
        now=raw.observed_at or now,
        known_sizes=_sizes(store, raw, source),
        sold_by=sold_by,
    )
    if isinstance(listing, Rejected):
        store.save_batch(run_id, [], [page])
        why = RejectionRow(raw.source_sku, raw.url, listing.reason, listing.detail, now, ref)
        store.save_rejections(run_id, [why])
        return Recorded(State.QUARANTINED, run_id, ref, rejected=listing)
    anchor, preference = store.anchors(source, [listing.source_sku]).get(listing.source_sku, (None, None))
    consensus = settle(
        listing.candidates,
        availability=listing.availability,
        anchor=anchor,
        preference=preference,
        market=market,
    )
    seen = observe(listing, consensus, extractor_version=__version__)
    seen = answered(seen, store.confirmed(source, [listing.source_sku]).get(listing.source_sku))
    store.save_batch(run_id, [seen], [page])
    return Recorded(State.NORMALIZED, run_id, ref, seen, stored(store.engine, source, seen.source_sku))


def _sizes(store: CrawlStore, raw: RawListing, source: str) -> dict[str, tuple[Decimal, str]]:
    """What the listing's GTIN contains at all other listings, where they agree."""
    gtin = read_gtin(raw.gtin_text).gtin14 if raw.gtin_text else None
    if gtin is None:
        return {}
    others = {
        (size.quantity, size.unit)
        for size in sizes_of(store.engine, [gtin]).get(gtin, ())
        if (size.source, size.source_sku) != (source, raw.source_sku)
    }
    return {gtin: others.pop()} if len(others) == 1 else {}
