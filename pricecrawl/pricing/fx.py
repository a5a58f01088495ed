"""Dated exchange rates: a rate is used only with its day, and only while it is young enough."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pricecrawl.domain.reasons import ExclusionReason
from pricecrawl.pricing.rounding import EXACT


@dataclass(frozen=True, slots=True)
class DatedRate:
    """One published rate: 1 `base` = `rate` `quote` on `day`, as `source` (live or fallback) gave it."""

    base: str
    quote: str
    day: date
    rate: Decimal
    source: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The factor from one currency to another and the older of the days that it stands on."""

    factor: Decimal
    day: date
    source: str


class Rates:
    """An immutable book of dated rates against common bases (the ECB's: EUR)."""

    def __init__(self, rates: Iterable[DatedRate] = ()) -> None:
        book: dict[tuple[str, str], dict[date, DatedRate]] = {}
        for rate in rates:
            if rate.rate > 0:
                book.setdefault((rate.base, rate.quote), {})[rate.day] = rate
        self._days = {pair: sorted(days) for pair, days in book.items()}
        self._book = book
        self._bases = sorted({base for base, _ in book})
        self._found: dict[tuple[str, str, date, int], Conversion | ExclusionReason] = {}

    def conversion(
        self, source: str, target: str, *, on: date, max_age_days: int
    ) -> Conversion | ExclusionReason:
        """Factor from `source` to `target` with the latest rates published on or before `on`.

        NO_FX_RATE when no rate links the two by that day, STALE_FX_RATE when the latest is more
        than `max_age_days` older than `on`. A rate of a later day is never used.
        """
        key = (source, target, on, max_age_days)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._search(source, target, on, max_age_days)
        return found

    def _search(self, source: str, target: str, on: date, max_age_days: int) -> Conversion | ExclusionReason:
        best: Conversion | None = None
        for base in self._bases:
            first, second = self._per_base(base, source, on), self._per_base(base, target, on)
            if first is None or second is None:
                continue
            day = min(d for d in (first.day, second.day) if d is not None)
            labels = sorted({label for label in (first.source, second.source) if label})
            found = Conversion(EXACT.divide(second.rate, first.rate), day, ", ".join(labels))
            if best is None or found.day > best.day:
                best = found
        if best is None:
            return ExclusionReason.NO_FX_RATE
        if (on - best.day).days > max_age_days:
            return ExclusionReason.STALE_FX_RATE
        return best

    def _per_base(self, base: str, currency: str, on: date) -> DatedRate | None:
        if currency == base:
            return DatedRate(base, base, on, Decimal(1))
        days = self._days.get((base, currency), [])
        position = bisect_right(days, on)
        return self._book[base, currency][days[position - 1]] if position else None
