"""Points in time as people write them, made UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC; a time without a zone is UTC already.

    Raises:
        ValueError: in UTC it lies outside of what a calendar holds (9999-12-31T23:59-05:00).
    """
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment.isoformat()} lies outside of the calendar") from None
