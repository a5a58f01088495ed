"""Typed events and the hash chain that makes tampering visible.

Every step of a price leaves one event, written in the same transaction as the state it tells of.
Events of one aggregate form a chain: each carries the hash of the one before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

SCHEMA_VERSION = "1.0"
GENESIS = "0" * 64


class EventType(StrEnum):
    """Closed list of what can happen to a price on its way."""

    COLLECTION_REQUESTED = "collection.requested"
    COLLECTION_FINISHED = "collection.finished"
    SOURCE_REFUSED = "source.refused"
    SOURCE_CHANGED = "source.changed"
    ROBOTS_CHANGED = "robots.changed"
    LISTING_GONE = "listing.gone"
    OBSERVATION_CREATED = "observation.created"
    OFFER_EXTRACTED = "offer.extracted"
    OFFER_NORMALIZED = "offer.normalized"
    MAPPING_EVALUATED = "mapping.evaluated"
    MAPPING_REVIEW_REQUESTED = "mapping.review_requested"
    MARKET_PRICE_COMPUTED = "market_price.computed"
    PRICING_REQUESTED = "pricing.requested"
    PRICE_COMPUTED = "price.computed"
    POLICY_EVALUATED = "policy.evaluated"
    POLICY_CHANGED = "policy.changed"
    HOLD_CHANGED = "hold.changed"
    ACCESS_CHANGED = "access.changed"
    CATALOGUE_IMPORTED = "catalogue.imported"
    COSTS_IMPORTED = "costs.imported"
    APPROVAL_REQUESTED = "approval.requested"
    PRICE_APPROVED = "price.approved"
    PRICE_REJECTED = "price.rejected"
    PUBLISH_REQUESTED = "publish.requested"
    PUBLISH_STARTED = "publish.started"
    PUBLISH_UNCERTAIN = "publish.uncertain"
    PRICE_PUBLISHED = "price.published"
    PUBLISH_FAILED = "publish.failed"
    PUBLISH_VERIFIED = "publish.verified"
    VERIFICATION_FAILED = "publish.verification_failed"
    INCIDENT_RAISED = "incident.raised"
    ROLLBACK_REQUESTED = "rollback.requested"
    PRICE_ADOPTED = "price.adopted"
    CANDIDATE_CONFIRMED = "candidate.confirmed"
    CANDIDATE_REJECTED = "candidate.rejected"
    SELECTOR_TAUGHT = "selector.taught"
    SELECTOR_FORGOTTEN = "selector.forgotten"
    WORKFLOW_FAILED = "workflow.failed"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    `aggregate` names what it happened to (`sku:W-1`, `run:17`, `publication:…`); `payload` holds
    JSON-ready values only. `correlation_id` is shared by a whole chain, `causation_id` is the
    event that led to this one.
    """

    event_id: str
    event_type: EventType
    aggregate: str
    correlation_id: str
    causation_id: str | None
    occurred_at: datetime
    producer: str
    payload: Mapping[str, Any]
    schema_version: str = SCHEMA_VERSION


def canonical(event: Event) -> bytes:
    """The event as one JSON text with sorted keys: what is hashed."""
    body = {
        "event_id": event.event_id,
        "event_type": event.event_type.value,
        "aggregate": event.aggregate,
        "correlation_id": event.correlation_id,
        "causation_id": event.causation_id,
        "occurred_at": event.occurred_at.isoformat(),
        "producer": event.producer,
        "schema_version": event.schema_version,
        "payload": event.payload,
    }
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def chain_hash(previous: str, event: Event) -> str:
    """Hex SHA-256 over the previous hash of the aggregate (GENESIS for the first) and the event."""
    return hashlib.sha256(previous.encode() + b"\n" + canonical(event)).hexdigest()
