"""Mapping listings to SKUs by exact identifiers, and keeping what people decided about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pricecrawl.db.mappings import ListingRow, MappingRow, MappingStore, SkuFacts
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.offer import Content
from pricecrawl.matching.gtin import VERSION, Index, Match, Product, match_exact, part_key
from pricecrawl.workflows.events import event, stable_id

BATCH = 1000
_EXACT = {MappingMethod.GTIN_EXACT, MappingMethod.BRAND_MPN_EXACT}
_LOST = "the identifier no longer names this SKU"


@dataclass(frozen=True, slots=True)
class Matched:
    """What a run did: listings looked at, and mappings that are new or changed, by status."""

    listings: int
    unmatched: int
    added: dict[str, int]
    changed: dict[str, int]


def run(store: MappingStore, *, now: datetime, source: str | None = None) -> Matched:
    """Match every listing that carries an identifier; a transaction for each batch.

    A pair that a person accepted or rejected stays as it is, unless the accepted one has got a
    contradiction that the person has not seen: then it is asked again.
    """
    run_id = stable_id("match", now.isoformat(), source or "")
    added: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    listings = unmatched = after = 0
    while batch := store.listings(after=after, limit=BATCH, source=source):
        after = batch[-1].id
        listings += len(batch)
        found = _match(store, batch)
        unmatched += sum(not matches for matches in found.values())
        new, other = _against(store.of_listings([row.id for row in batch]), found)
        if new or other:
            _save(store, new, other, now=now, run_id=run_id)
            added.update(row.status.value for row in new)
            changed.update(row.status.value for row in other)
    return Matched(listings, unmatched, dict(added), dict(changed))


def _match(store: MappingStore, batch: Sequence[ListingRow]) -> dict[int, tuple[Match, ...]]:
    facts = store.skus_by_identifier(
        [row.gtin for row in batch if row.gtin], [part_key(row.mpn) for row in batch if row.mpn]
    )
    index = Index.of(map(_of_sku, facts))
    return {row.id: match_exact(_of_listing(row), index) for row in batch}


def _against(
    there: dict[tuple[int, str], MappingRow], found: dict[int, tuple[Match, ...]]
) -> tuple[list[MappingRow], list[MappingRow]]:
    """Pairs to add, and pairs whose state changes."""
    new: list[MappingRow] = []
    changed: list[MappingRow] = []
    for listing_id, matches in found.items():
        for match in matches:
            old = there.get((listing_id, match.sku))
            if old is None:
                new.append(_row(listing_id, match))
            elif (row := _renewed(old, match)) is not None:
                changed.append(row)
    still = {(listing_id, match.sku) for listing_id, matches in found.items() for match in matches}
    for pair, old in there.items():
        if pair not in still and old.method in _EXACT and old.status is MappingStatus.AUTO_ACCEPTED:
            evidence = {**old.evidence, "contradictions": [_LOST]}
            changed.append(replace(old, status=MappingStatus.REVIEW_REQUIRED, evidence=evidence))
    return new, changed


def _renewed(old: MappingRow, match: Match) -> MappingRow | None:
    """The pair as it stands now, or None where nothing that matters has changed."""
    if old.status is MappingStatus.REJECTED:
        return None
    seen = set(old.evidence.get("contradictions", ()))
    if old.status is MappingStatus.HUMAN_ACCEPTED:
        if seen.issuperset(match.contradictions):
            return None
        status = MappingStatus.REVIEW_REQUIRED
    elif old.method not in _EXACT and match.contradictions:
        return None  # a model's mapping is judged by the model
    else:
        status = match.status
        if status is old.status and seen == set(match.contradictions) and old.method is match.method:
            return None
    return replace(
        old,
        method=match.method,
        status=status,
        mapper_version=VERSION,
        evidence=_evidence(match),
        confidence=None,
    )


def _row(listing_id: int, match: Match) -> MappingRow:
    return MappingRow(
        listing_id=listing_id,
        sku=match.sku,
        method=match.method,
        status=match.status,
        mapper_version=VERSION,
        evidence=_evidence(match),
        first_use_reviewed=True,  # only a probability needs its first use looked at
    )


def _evidence(match: Match) -> dict[str, Any]:
    return {"identifier": match.identifier, "contradictions": list(match.contradictions)}


def _save(
    store: MappingStore, new: list[MappingRow], changed: list[MappingRow], *, now: datetime, run_id: str
) -> None:
    with store.begin() as tx:
        numbers = store.insert(tx, new, now=now)
        store.update(tx, changed)
        rows = [replace(row, id=number) for number, row in zip(numbers, new, strict=True)] + changed
        store.append(tx, [item for row in rows for item in _events(row, now=now, run_id=run_id)])


def _events(row: MappingRow, *, now: datetime, run_id: str) -> list[Event]:
    aggregate = f"mapping:{row.id}"
    payload = {
        "mapping_id": row.id,
        "listing_id": row.listing_id,
        "sku": row.sku,
        "method": row.method.value,
        "status": row.status.value,
        "mapper_version": row.mapper_version,
        "evidence": dict(row.evidence),
    }
    made = [
        event(
            EventType.MAPPING_EVALUATED, aggregate, payload, now=now, correlation=run_id, producer="matching"
        )
    ]
    if row.status is MappingStatus.REVIEW_REQUIRED:
        reasons = {"mapping_id": row.id, "reasons": list(row.evidence.get("contradictions", ()))}
        made.append(
            event(
                EventType.MAPPING_REVIEW_REQUESTED,
                aggregate,
                reasons,
                now=now,
                correlation=run_id,
                producer="matching",
                cause=made[0].event_id,
            )
        )
    return made


def _of_listing(row: ListingRow) -> Product:
    return Product(
        key=str(row.id),
        name=row.name,
        brand=row.brand,
        gtins=frozenset([row.gtin] if row.gtin else ()),
        mpns=frozenset([row.mpn] if row.mpn else ()),
        content=Content(row.pack, row.base_quantity, row.base_unit),
        variant=row.variant,
    )


def _of_sku(row: SkuFacts) -> Product:
    return Product(
        key=row.sku,
        name=row.name,
        brand=row.brand,
        gtins=frozenset(row.gtins),
        mpns=frozenset(row.mpns),
        content=Content(row.pack, row.base_quantity, row.base_unit),
    )
