"""What is known about a response before anything is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from pricecrawl.domain.market import Market
from pricecrawl.extraction.rules import Rules


@dataclass(frozen=True, slots=True)
class Facts:
    """A response with what is known about it; `observed_at` is ISO 8601, `zone` an IANA name."""

    kind: str = ""
    body: bytes = b""
    text: str | None = None
    url: str = ""
    final_url: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    locale: str | None = None
    currency: str | None = None
    platform: str | None = None
    market: Market = field(default_factory=Market)
    observed_at: str = ""
    zone: str = ""
    rules: Rules | None = None


def moment(text: str) -> datetime | None:
    """An aware instant from ISO 8601; None where there is none."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def zone(name: str) -> tzinfo | None:
    """A time zone by its IANA name; None where it is unknown."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
