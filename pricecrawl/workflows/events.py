"""Building the events of a step, with ids that a repeated step would build again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from pricecrawl.domain.events import Event, EventType

NAMESPACE = UUID("6f1f7b0e-6d1c-5e0b-9f53-0d7a3f4c2b11")


def stable_id(*parts: object) -> str:
    """An id that follows from what it names: the same step, asked for twice, is the same step."""
    return str(uuid5(NAMESPACE, "\x1f".join(map(str, parts))))


LONGEST = 80
"""Characters of a correlation in the event log."""


def event(
    kind: EventType,
    aggregate: str,
    payload: Mapping[str, Any],
    *,
    now: datetime,
    correlation: str,
    producer: str,
    cause: str | None = None,
    key: object = "",
) -> Event:
    """An event whose id follows from its aggregate, kind, correlation and `key`.

    A correlation that is longer than the log takes (a long SKU's or name's) is shortened to a digest.
    """
    if len(correlation) > LONGEST:
        made = hashlib.sha256(correlation.encode()).hexdigest()[:32]
        correlation = f"{correlation[: LONGEST - len(made) - 1]}~{made}"
    return Event(
        event_id=stable_id(aggregate, kind.value, correlation, key),
        event_type=kind,
        aggregate=aggregate,
        correlation_id=correlation,
        causation_id=cause,
        occurred_at=now,
        producer=producer,
        payload=payload,
    )
