"""Points in time as people name them on a command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.moments import in_utc

_AGO = re.compile(r"(\d{1,5})\s*(m|min|h|d|w)")
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def since(text: str, *, now: datetime | None = None) -> datetime:
    """A day (2026-02-01), a time (2026-02-01T06:00) or a span back from `now` (36h, 7d, 2w); UTC.

    Raises:
        UsageProblem: anything else.
    """
    match = _AGO.fullmatch(text.strip())
    if match:
        span = timedelta(**{_UNITS[match[2]]: int(match[1])})
        return (now or datetime.now(UTC)) - span
    try:
        return in_utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise UsageProblem(
            f"{text!r} is no time: give a day (2026-02-01), a time (2026-02-01T06:00) or a span (36h, 7d)."
        ) from None
