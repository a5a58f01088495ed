"""The lower bounds that no price of ours may go under."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from pricecrawl.pricing.rounding import CEILING, KEPT
from pricecrawl.pricing.subject import Cost

_ONE = Decimal(1)


class Floor(StrEnum):
    """A lower bound; `MAP` is the maker's minimum advertised price, never called `map`."""

    COST = "COST"
    MARGIN = "MARGIN"
    MAP = "MAP"
    REGULATORY = "REGULATORY"


_COST, _MARGIN, _MAP, _REGULATORY = Floor


class Floors(NamedTuple):
    """Every bound as computed and the highest of them.

    `margin_floor` is kept to a millionth, rounded up; `allowed` is the highest bound rounded up to
    `step`, the currency's quantum.
    """

    variable_cost: Decimal
    margin_floor: Decimal
    map_price: Decimal | None
    regulatory: Decimal | None
    allowed: Decimal
    step: Decimal

    @property
    def binding(self) -> tuple[Floor, ...]:
        """Every bound that reaches `allowed`; one within the last step is the same price on the quantum."""
        over = self.allowed - self.step
        return tuple(name for name, bound in _named(*self[:4]) if bound > over)


def compute(cost: Cost, required_margin: Decimal, step: Decimal) -> Floors:
    """The floors of one SKU; `required_margin` is a fraction under 1, `step` the currency's quantum.

    variable_cost = COGS + fulfilment + payment; margin_floor = variable_cost / (1 - margin). The
    division rounds up, so that the margin is never missed by a digit that was cut off.
    """
    variable_cost = cost.cogs + cost.fulfilment + cost.payment
    margin_floor = CEILING.quantize(CEILING.divide(variable_cost, _ONE - required_margin), KEPT)
    map_price, regulatory = cost.map_price, cost.regulatory_floor
    highest = max(variable_cost, margin_floor)
    if map_price is not None and map_price > highest:
        highest = map_price
    if regulatory is not None and regulatory > highest:
        highest = regulatory
    allowed = CEILING.quantize(highest, step)
    return Floors(variable_cost, margin_floor, map_price, regulatory, allowed, step)


def violated(floors: Floors, price: Decimal) -> tuple[Floor, ...]:
    """Every bound that `price` is under, against the unrounded figures: the re-check."""
    if (
        price >= floors.variable_cost
        and price >= floors.margin_floor
        and (floors.map_price is None or price >= floors.map_price)
        and (floors.regulatory is None or price >= floors.regulatory)
    ):
        return ()
    return tuple(name for name, bound in _named(*floors[:4]) if price < bound)


def _named(
    variable_cost: Decimal, margin_floor: Decimal, map_price: Decimal | None, regulatory: Decimal | None
) -> list[tuple[Floor, Decimal]]:
    bounds = [(_COST, variable_cost), (_MARGIN, margin_floor)]
    if map_price is not None:
        bounds.append((_MAP, map_price))
    if regulatory is not None:
        bounds.append((_REGULATORY, regulatory))
    return bounds
