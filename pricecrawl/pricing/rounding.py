"""The smallest step of a currency, and the two ways a price moves onto it.

Everything here rounds up: a target rounded down would undercut the market, a floor rounded down
would be no floor.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from pricecrawl.domain.money_locale import currency_codes, minor_unit

# A context of our own: the caller's (shared by the thread, changeable by anybody) decides nothing.
# 40 digits hold any product of two amounts that the catalogue accepts, exactly.
EXACT = Context(prec=40, rounding=ROUND_HALF_EVEN)
CEILING = Context(prec=40, rounding=ROUND_CEILING)

# Converted amounts and the unrounded margin floor are kept to a millionth of the major unit.
KEPT = Decimal("0.000001")


@lru_cache(maxsize=256)
def quantum(currency: str) -> Decimal:
    """Smallest step of a currency in major units: 0.01 for EUR, 1 for JPY, 0.001 for KWD.

    Raises:
        ValueError: if `currency` is no ISO 4217 code that CLDR knows: no step may be guessed for it.
    """
    if currency not in currency_codes():
        raise ValueError(f"{currency!r} is no ISO 4217 currency code")
    return Decimal(1).scaleb(-minor_unit(currency))


def round_up(amount: Decimal, step: Decimal) -> Decimal:
    """The smallest multiple of `step` (a power of ten) that is not under `amount`."""
    return CEILING.quantize(amount, step)


def on_quantum(amount: Decimal, step: Decimal) -> bool:
    """True when `amount` is a whole number of steps (a power of ten)."""
    return not EXACT.remainder(amount, step)


def to_ending(amount: Decimal, endings: tuple[Decimal, ...]) -> Decimal:
    """The smallest price not under `amount` that ends in one of `endings`; `amount` if there are none.

    An ending repeats at the next power of ten above it: 0.99 gives 12.99 and 13.99, 9.95 gives
    19.95 and 29.95, 80 (yen) gives 1180 and 1280.
    """
    if not endings:
        return amount
    return min(amount + _distance(ending - amount, _period(ending)) for ending in endings)


def _period(ending: Decimal) -> Decimal:
    return Decimal(1).scaleb(max(ending.adjusted() + 1, 0))


def _distance(gap: Decimal, period: Decimal) -> Decimal:
    # Decimal's remainder takes the sign of the dividend; this one is always within [0, period).
    rest = gap % period
    return rest + period if rest < 0 else rest
