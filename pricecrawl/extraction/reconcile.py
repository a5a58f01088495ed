"""What the sources of one page mean beside each other, before anybody votes.

Each rule needs evidence from a second source: an open choice between variants is settled by the price
that is shown; the low end of a range gives way to a shown price within it; a whole number in a page's
state is minor units when another source says the hundredth of it; markup whose validity has passed gives
way to what is shown. What no rule explains stays a disagreement for the consensus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.market import Market
from pricecrawl.domain.money import amount_of
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.extraction.offers import OfferReading
from pricecrawl.extraction.products import OTHER_VARIANT, Structured, take

_PAYABLE = (PriceKind.STANDARD, PriceKind.SALE, PriceKind.PRE_ORDER)
RANGE = "lowest of a range"


@dataclass(slots=True)
class Reconciled:
    """Prices that go to the vote, prices that do not with the reason, doubts, and sentences."""

    prices: list[RawPrice] = field(default_factory=list)
    set_aside: list[tuple[RawPrice, str]] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)


def amount(price: RawPrice, market: Market) -> Decimal | None:
    """The number of a raw price, or None."""
    got = amount_of(price, market)
    return got[0] if got is not None else None


def amounts(prices: Iterable[RawPrice], market: Market) -> set[Decimal]:
    """The numbers of the prices that may be paid."""
    found = (amount(price, market) for price in prices if price.kind in _PAYABLE)
    return {value for value in found if value is not None and value > 0}


def reconcile(
    readings: Sequence[Structured],
    shown: Sequence[RawPrice],
    choices: Sequence[RawPrice],
    *,
    market: Market,
    named: bool = False,
) -> Reconciled:
    """Bring the sources of a page together: `shown` are visible prices, `choices` unchosen options.

    `named` tells that the page has a heading of its own, with which names in its data can be compared.
    """
    result = Reconciled()
    _disown(readings, amounts(shown, market), market, result, named=named)
    shown = _drop_other_variants(readings, shown, market, result)
    visible = amounts((p for p in shown if RANGE not in p.context), market)
    for reading in readings:
        _settle_options(reading, visible, market, result)
    firm = set(visible)
    for reading in readings:
        if reading.own and reading.method is not Method.EMBEDDED:
            firm |= amounts((p for p in reading.prices if RANGE not in p.context), market)
    for reading in readings:
        result.trace += reading.trace
        result.set_aside += reading.set_aside
        if not reading.own:
            reason = "nothing ties it to this page's product"
            result.set_aside += [(price, reason) for price in reading.prices]
            continue
        kept = [_whole_number(price, firm, market, result) for price in reading.prices]
        result.prices += [price for price in kept if price is not None]
    result.prices += list(shown)
    _drop_range_ends(result, firm, market)
    _open_choices(result, choices, market)
    result.prices = _once_per_method(result.prices, market)
    return result


def _disown(
    readings: Sequence[Structured], visible: set[Decimal], market: Market, result: Reconciled, *, named: bool
) -> None:
    """Data of another product, or of a time that has passed, where the page shows another price."""
    for reading in readings:
        said = amounts([*reading.prices, *(p for o in reading.options for p in o.prices)], market)
        if not reading.own or reading.method is Method.EMBEDDED or not visible or not said or said & visible:
            continue
        if named and reading.name and reading.likeness == 0 and reading.comparable:
            reading.own = False
            result.trace.append(
                f"The {reading.method.value} data names “{reading.name[:60]}”, which is not what the page is"
                " called, and gives another price than the page shows: it is set aside."
            )
        elif reading.expired:
            reading.own = False
            result.trace.append(
                f"The {reading.method.value} price held until a day that has passed; the page shows another."
            )


def _drop_other_variants(
    readings: Sequence[Structured], shown: Sequence[RawPrice], market: Market, result: Reconciled
) -> list[RawPrice]:
    """Where one source tells the chosen variant's price from the others', the others' go everywhere.

    A source that names no variant gives the first or the cheapest one. What the page plainly shows stays:
    if it shows another variant than the address asks for, that is a disagreement. Returns the shown prices.
    """
    mine: set[Decimal] = set()
    others: set[Decimal] = set()
    for reading in readings:
        if reading.asked and reading.own and reading.prices:
            mine |= amounts(reading.prices, market)
            others |= amounts((p for p, why in reading.set_aside if why == OTHER_VARIANT), market)
    others -= mine
    if not mine or not others:
        return list(shown)

    def stays(price: RawPrice, *, plain: bool) -> bool:
        value = amount(price, market)
        if price.kind not in _PAYABLE or value in mine:
            return True
        if RANGE in price.context or (value in others and not plain):
            result.set_aside.append((price, OTHER_VARIANT))
            return False
        return True

    for reading in readings:
        if reading.own and not reading.asked:
            reading.prices = [price for price in reading.prices if stays(price, plain=False)]
    return [price for price in shown if stays(price, plain=True)]


def _settle_options(reading: Structured, visible: set[Decimal], market: Market, result: Reconciled) -> None:
    """Between offers that the address does not tell apart, the shown price decides, else the lowest."""
    options = reading.options
    if not options or not reading.own:
        for option in options:
            result.set_aside += [(price, "nothing ties it to this page's product") for price in option.prices]
        reading.options = []
        return
    priced = [(option, amounts(option.prices, market)) for option in options]
    matching = [option for option, values in priced if values & visible]
    if matching and len(matching) < len(options):
        reading.trace.append(
            f"The {reading.method.value} data has several offers; the one whose price is shown is taken."
        )
        _take(reading, matching, options, "of another variant than the one shown", result)
        return
    if matching:
        _take(reading, options, options, "", result)
        return
    lowest = min((min(values) for _, values in priced if values), default=None)
    if lowest is None:
        _take(reading, options, options, "", result)
        return
    cheapest = [option for option, values in priced if lowest in values]
    reading.trace.append(
        f"The {reading.method.value} data has several offers and nothing tells which is meant: "
        "the lowest is given."
    )
    _take(reading, cheapest, options, "one of several offers", result)
    reading.prices = [
        replace(price, context=f"{price.context} ({RANGE})".strip()) if price.kind in _PAYABLE else price
        for price in reading.prices
    ]


def _take(
    reading: Structured,
    chosen: Sequence[OfferReading],
    options: Sequence[OfferReading],
    reason: str,
    result: Reconciled,
) -> None:
    take(reading, chosen)
    for option in options:
        if option not in chosen:
            result.set_aside += [(price, reason) for price in option.prices]


def _whole_number(price: RawPrice, firm: set[Decimal], market: Market, result: Reconciled) -> RawPrice | None:
    """A whole number in a page's state may be minor units: only another source can tell."""
    if price.method is not Method.EMBEDDED or price.unit is not PriceUnit.MAJOR or "." in price.text:
        return price
    value = amount(price, market)
    if value is None or value in firm:
        return price
    if value / 100 in firm:
        return replace(price, unit=PriceUnit.X100)
    if any((value / 100) in (other, other * 2) for other in firm):
        return price
    if (
        price.kind is PriceKind.LIST
        and any(other < value / 100 < other * 10 for other in firm)
        and value >= 1000
    ):
        return replace(price, unit=PriceUnit.X100)
    if value < 1000:
        return price
    result.set_aside.append((price, "a whole number that may be in minor units"))
    return None


def _drop_range_ends(result: Reconciled, firm: set[Decimal], market: Market) -> None:
    """The low end of a range says nothing beside a plain price; alone it stands, with a doubt."""
    ranged = [price for price in result.prices if RANGE in price.context]
    if not ranged:
        return
    if firm:
        for price in ranged:
            value = amount(price, market)
            if value is None or value not in firm:
                result.prices.remove(price)
                result.set_aside.append((price, "the low end of a range, and a plain price is given"))
        return
    values = amounts(ranged, market)
    if values:
        result.hints.append(ReviewReason.VARIANT_AMBIGUOUS.value)
        low = min(values)
        result.trace.append(f"The page gives a range; its low end {low} is taken and a person should look.")
        for price in ranged:
            value = amount(price, market)
            if value is not None and value != low:
                result.prices.remove(price)
                result.set_aside.append((price, "not the lowest of the range"))


def _open_choices(result: Reconciled, choices: Sequence[RawPrice], market: Market) -> None:
    """Unchosen options on the page: the price if they all cost the same, else only told."""
    if not choices:
        return
    values = amounts(choices, market)
    payable = amounts(result.prices, market)
    for price in choices:
        value = amount(price, market)
        if value is not None and (value in payable or (not payable and len(values) == 1)):
            result.prices.append(price)
        else:
            result.set_aside.append((price, "one of several choices"))


def _once_per_method(prices: Sequence[RawPrice], market: Market) -> list[RawPrice]:
    """One vote per method and amount: a source that repeats itself does not agree with itself."""
    seen: dict[tuple[Method, PriceKind, Decimal | None, str | None, str], int] = {}
    kept: list[RawPrice] = []
    for price in prices:
        got = amount_of(price, market)
        value, currency = got if got is not None else (None, None)
        key = (price.method, price.kind, value, currency, price.tax_basis.value)
        if key in seen and value is not None:
            continue
        seen[key] = len(kept)
        kept.append(price)
    return kept
