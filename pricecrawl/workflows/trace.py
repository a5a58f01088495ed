"""From a price back to the bytes it stands on, naming every link that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.workflows import vouching
from pricecrawl.workflows.audit import what_is_wrong
from pricecrawl.workflows.decision_rows import DECISION_FACTS, SNAPSHOT_FACTS, digest
from pricecrawl.workflows.review import full_id

_PUBLISHED = {"PUBLISHED", "VERIFYING", "VERIFIED", "VERIFICATION_FAILED", "ROLLBACK_PENDING", "ROLLED_BACK"}


@dataclass(slots=True)
class Trace:
    """The chain behind one decision. `missing` names each link that is not there or does not hold."""

    sku: Mapping[str, Any]
    decision: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    approvals: Sequence[Mapping[str, Any]] = ()
    publications: Sequence[Mapping[str, Any]] = ()
    snapshot: Mapping[str, Any] | None = None
    offers: list[dict[str, Any]] = field(default_factory=list)
    events: Sequence[Mapping[str, Any]] = ()
    missing: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True when every link is there and holds."""
        return not self.missing


def trace(store: TraceStore, evidence: EvidenceStore, name: str) -> Trace:
    """The chain of a publication, a decision, or the newest decision of a SKU.

    Every stored page behind an offer is read and its digest compared.

    Raises:
        UsageProblem: nothing has that name, or the SKU was never priced.
    """
    with store.engine.connect() as conn:
        named = store.resolve(conn, name)
        if named.sku is None:
            named = store.resolve(conn, full_id(ReviewStore(store.engine), conn, name))
        if named.sku is None:
            raise UsageProblem(f"there is no SKU, decision or publication {name!r}.")
        ours = store.sku(conn, named.sku)
        of = named.decision_id or store.latest_decision(conn, named.sku)
        if of is None:
            raise UsageProblem(
                f"SKU {named.sku} was never priced; run `pricecrawl price run --sku {named.sku}`."
            )
        found = Trace(ours or {"sku": named.sku, "name": ""}, decision=store.decision(conn, of))
        if ours is None:
            found.missing.append(f"SKU {named.sku}")
        if found.decision is None:
            found.missing.append(f"decision {of}")
            return found
        found.approvals = store.approvals(conn, of)
        found.publications = store.publications(conn, of)
        _policy(store, conn, found)
        _snapshot(store, conn, found)
        _offers(store, conn, evidence, found)
        _events(store, conn, found)
    return found


def _policy(store: TraceStore, conn: Any, found: Trace) -> None:
    assert found.decision is not None
    version = str(found.decision["policy_version"]).partition("+")[0]
    found.policy = store.policy(conn, version)
    if found.policy is None:
        found.missing.append(f"policy {version}")


def _snapshot(store: TraceStore, conn: Any, found: Trace) -> None:
    assert found.decision is not None
    number = found.decision["snapshot_id"]
    found.snapshot = None if number is None else store.snapshot(conn, number)
    if found.snapshot is None:
        found.missing.append(f"market price snapshot {number}")


def _offers(store: TraceStore, conn: Any, evidence: EvidenceStore, found: Trace) -> None:
    if found.snapshot is None:
        return
    winning = found.snapshot["winning_observation_id"]
    lines = [(item, True) for item in found.snapshot["eligible"]]
    lines += [(item, False) for item in found.snapshot["excluded"]]
    observations = store.observations(conn, [item["observation_id"] for item, _ in lines])
    mappings = store.mappings(conn, [item["mapping_id"] for item, _ in lines])
    for item, eligible in lines:
        number = item["observation_id"]
        role = "winner" if number == winning else "eligible" if eligible else "excluded"
        offer = {**item, "role": role, "mapping": mappings.get(item["mapping_id"]), "observation": None}
        if offer["mapping"] is None:
            found.missing.append(f"mapping {item['mapping_id']} of {item['source']}/{item['source_sku']}")
        row = observations.get(number)
        if row is None:
            found.missing.append(f"observation {number} of {item['source']}/{item['source_sku']}")
        else:
            offer["observation"] = {name: row[name] for name in _OBSERVED}
            found.missing += [
                f"observation {number} of {item['source']}/{item['source_sku']}: the event of its batch "
                f"{broken.problem}"
                for broken in store.changed(conn, row["run_id"], number)
            ]
            offer["evidence"] = _evidence(evidence, row, found)
        found.offers.append(offer)


_OBSERVED = (
    *("observation_id", "price", "currency", "price_kind", "method", "selector", "availability"),
    *("observed_at", "extractor_version", "needs_review", "name", "url"),
    *("run_id", "outcome", "coverage", "coverage_reason", "started_at"),
)


def _evidence(store: EvidenceStore, row: Mapping[str, Any], found: Trace) -> dict[str, Any] | None:
    of = f"observation {row['observation_id']} ({row['source']}/{row['source_sku']})"
    if row["digest"] is None:
        found.missing.append(f"evidence of {of}: no page was stored for it")
        return None
    ref = EvidenceRef(
        row["digest"], row["warc"], row["offset"], row["length"], row["evidence_url"], row["fetched_at"]
    )
    if row["pruned_at"] is not None:
        problem = f"it was pruned on {row['pruned_at']:%Y-%m-%d}"
    else:
        problem = what_is_wrong(store, ref)
    if problem:
        found.missing.append(f"evidence of {of}: {problem}")
    return {
        "digest": ref.digest,
        "warc": ref.warc,
        "offset": ref.offset,
        "length": ref.length,
        "url": ref.url,
        "status": row["status"],
        "fetched_at": ref.fetched_at,
        "verified": not problem,
        "problem": problem,
    }


def _events(store: TraceStore, conn: Any, found: Trace) -> None:
    assert found.decision is not None
    of, sku = found.decision["decision_id"], found.decision["sku"]
    aggregates = [f"publication:{row['publication_id']}" for row in found.publications]
    told = store.events(conn, of, aggregates)
    found.events = [
        {
            name: row[name]
            for name in ("event_id", "event_type", "aggregate", "occurred_at", "causation_id", "payload")
        }
        for row in told
    ]
    for aggregate in (f"sku:{sku}", *aggregates):
        found.missing += [
            f"event {broken.aggregate_seq} of {broken.aggregate}: it {broken.problem}"
            for broken in store.broken(conn, aggregate)
        ]
    by_type = {row["event_type"]: row for row in reversed(found.events)}
    for kind in _expected(found):
        if kind.value not in by_type:
            found.missing.append(f"event {kind.value} of decision {of}")
    _vouched(found, by_type)
    _agrees(found, told)


def _agrees(found: Trace, told: Sequence[Mapping[str, Any]]) -> None:
    """Where the rows say another thing than their events."""
    made = found.decision
    assert made is not None
    found.missing += [
        f"decision {made['decision_id']} {problem}" for problem in vouching.decision(made, told)
    ]
    for number, problem in vouching.approvals(found.approvals, told):
        which = "an approval" if number is None else f"approval {number}"
        found.missing.append(f"{which} {problem}")
    for row in found.publications:
        own = [item for item in told if item["aggregate"] == f"publication:{row['publication_id']}"]
        found.missing += [
            f"publication {row['publication_id']} {problem}"
            for problem in vouching.publication(row, made, own)
        ]


def _expected(found: Trace) -> list[EventType]:
    assert found.decision is not None
    # A rollback stands on the snapshot of the decision that it repeats, and computes none.
    repeats = found.decision["decision_reason"] == "rollback"
    origin = EventType.ROLLBACK_REQUESTED if repeats else EventType.MARKET_PRICE_COMPUTED
    kinds = [origin, EventType.PRICE_COMPUTED, EventType.POLICY_EVALUATED]
    published = any(row["status"] in _PUBLISHED for row in found.publications)
    if published or found.decision["status"] in {"APPROVED", *_PUBLISHED}:
        kinds.append(EventType.PRICE_APPROVED)
    if published:
        kinds += [EventType.PUBLISH_REQUESTED, EventType.PRICE_PUBLISHED]
    if any(row["status"] == "VERIFIED" for row in found.publications):
        kinds.append(EventType.PUBLISH_VERIFIED)
    return kinds


def _vouched(found: Trace, by_type: Mapping[str, Mapping[str, Any]]) -> None:
    """The rows must be those that their events were written about."""
    snapshot = "market price snapshot"
    pairs = (
        (EventType.PRICE_COMPUTED, "sha256", found.decision, DECISION_FACTS, "decision"),
        (EventType.MARKET_PRICE_COMPUTED, "sha256", found.snapshot, SNAPSHOT_FACTS, snapshot),
        (EventType.ROLLBACK_REQUESTED, "snapshot_sha256", found.snapshot, SNAPSHOT_FACTS, snapshot),
    )
    for kind, key, row, facts, what in pairs:
        told = by_type.get(kind.value)
        if told is None or row is None:
            continue
        if told["payload"].get(key) != digest(row, facts):
            found.missing.append(
                f"the {what} is not the one that event {kind.value} tells of: it was changed"
            )


def as_json(found: Trace) -> dict[str, Any]:
    """The chain as one mapping, `complete` and `missing` first."""
    return {
        "complete": found.complete,
        "missing": found.missing,
        "sku": found.sku,
        "publications": list(found.publications),
        "approvals": list(found.approvals),
        "decision": found.decision,
        "policy": found.policy,
        "snapshot": found.snapshot,
        "offers": found.offers,
        "events": list(found.events),
    }
