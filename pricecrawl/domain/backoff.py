"""How long a shop asks us to wait (RFC 9110, 10.2.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

PATIENCE_SECONDS = 120.0
"""The longest wait that a run sits out; beyond it the run ends and the next one tries again."""


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds to wait from a Retry-After value, a number or an HTTP date; None if it is neither.

    A date in the past is no wait.
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
