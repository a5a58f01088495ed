"""Retry-After in both its forms."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pricecrawl.domain.backoff import retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Mon, 30 Nov 2026 12:01:30 GMT", 90.0),
        ("Monday, 30-Nov-26 12:01:30 GMT", 90.0),
        ("Mon Nov 30 12:01:30 2026", 90.0),
        ("Mon, 30 Nov 2026 14:01:30 +0200", 90.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("99999999999999999999", 999999999.0),
    ],
)
def test_a_number_of_seconds_or_a_date(value: str, seconds: float) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("value", ["", "soon", "-5", "1.5", "٣", "Mon, 99 Foo 2026", "1e3", "\x00"])
def test_anything_else_is_no_answer(value: str) -> None:
    assert retry_after(value, NOW) is None
