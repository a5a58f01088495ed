"""Which of the likely amounts of a page are its price, its earlier price and its price for members.

The amounts have their kind, their reason and their score by now; here they are held against each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.market import TaxBasis
from pricecrawl.extraction.seen import Seen

_PER_ONE = re.compile(
    r"\s*(?:/|per|pro|je)\s*1\s*(?:st|stk|stück|pc|pce|piece|tab|tabl|ks|szt|шт|kpl|ud|unidad)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Visible:
    """All amounts of a page: `chosen` are the visible prices, `vague` might be, `aside` are not."""

    chosen: list[Seen] = field(default_factory=list)
    vague: list[Seen] = field(default_factory=list)
    aside: list[Seen] = field(default_factory=list)
    options: list[Seen] = field(default_factory=list)
    struck_only: bool = False


def _promote_companions(visible: Visible) -> None:
    """A member or old price right beside the price needs no price-like name of its own."""
    boxes = {
        element
        for item in visible.chosen
        if item.kind is PriceKind.STANDARD
        for element, _ in item.around.levels[:4]
    }
    boxes |= {
        item.around.shared
        for item in visible.chosen
        if item.around.shared is not None and item.around.steps <= 3
    }
    for item in [i for i in visible.vague if i.kind in (PriceKind.MEMBER, PriceKind.LIST)]:
        own = {element for element, _ in item.around.levels[:4]}
        if item.around.shared is not None and item.around.steps <= 3:
            own.add(item.around.shared)
        if boxes & own:
            visible.vague.remove(item)
            visible.chosen.append(item)


_LOWEST = re.compile(
    r"lowest|\b30\b|niedrigste|plus bas|más bajo|mais baixo|più basso|laagste|lägsta|laveste|alin|"
    r"najniższ|nejnižš|najnižš|legalacsonyabb|cel mai mic|χαμηλότερη|мінімальн|минимальн|最安",
    re.IGNORECASE,
)
_ADVISED = re.compile(
    r"\b(?:rrp|r\.r\.p|msrp|srp|uvp|pvpr|ovh|prp|recommended|suggested|advised|adviesprijs)\b|"
    r"preisempfehlung|empfohlen|conseill|consigliat|recomendad|sugerid|sugerowan|doporučen|odporúčan|"
    r"veiledende|vejledende|rek\.? ?pris|ajánlott|recomandat|рекомендован|önerilen|希望小売|参考価格|"
    r"建議售價|권장",
    re.IGNORECASE,
)


def _rank_of_list(item: Seen) -> int:
    """Which earlier price comes first: the shop's own, what the maker advises, the lowest of thirty days."""
    names = " ".join(filter(None, (element.get("class") for element, _ in item.around.levels[:3])))
    told = f"{item.before} {item.label} {names.replace('-', ' ').replace('_', ' ')}"
    if _LOWEST.search(f"{told} {item.below}") or "omnibus" in told:
        return 2
    return 1 if _ADVISED.search(told) else 0


def _set_lesser_lists_aside(visible: Visible) -> None:
    """Of several earlier prices only those of the first rank are what the price was reduced from."""
    lists = [item for item in visible.chosen if item.kind is PriceKind.LIST]
    ranks = {id(item): _rank_of_list(item) for item in lists} if len(lists) > 1 else {}
    best = min(ranks.values(), default=0)
    for item in lists:
        if ranks.get(id(item), best) > best:
            item.reason = "another earlier price comes first"
            visible.chosen.remove(item)
            visible.aside.append(item)


def settle(visible: Visible) -> None:
    """Among the likely amounts, keep those that are as likely as the best; tell old from new."""
    _promote_companions(visible)
    _set_lesser_lists_aside(visible)
    prices = [item for item in visible.chosen if item.kind is PriceKind.STANDARD]
    if not prices:
        prices = _named_old_alone(visible)
    if not prices:
        visible.struck_only = any(
            item.kind is PriceKind.LIST and item.around.struck for item in visible.chosen
        )
        return
    _set_lesser_aside(prices)
    prices = [item for item in prices if not item.reason and item.kind is PriceKind.STANDARD]
    strength: dict[str, float] = {}
    for item in prices:
        strength[item.digits] = max(strength.get(item.digits, 0.0), item.score)
    repeats = {digits: sum(1 for item in prices if item.digits == digits) for digits in strength}
    total = {digits: value + 0.5 * (min(repeats[digits], 3) - 1) for digits, value in strength.items()}
    best = max(total.values(), default=0.0)
    for item in prices:
        if total[item.digits] < best - 1.4:
            item.reason = "less likely than another amount"
    kept = [item for item in visible.chosen if not item.reason]
    visible.vague += [item for item in visible.chosen if item.reason == "less likely than another amount"]
    visible.aside += [item for item in visible.chosen if item.reason and item not in visible.vague]
    visible.chosen = kept
    _set_lists_of_others_aside(visible)


def _set_lists_of_others_aside(visible: Visible) -> None:
    """An earlier price far from every kept price is another offer's, if one stands beside a kept one."""
    near = {
        element
        for item in visible.chosen
        if item.kind is PriceKind.STANDARD
        for element, _ in item.around.levels[:4]
    }
    lists = [item for item in visible.chosen if item.kind is PriceKind.LIST]
    beside = [item for item in lists if any(element in near for element, _ in item.around.levels[:4])]
    for item in lists if beside else ():
        if item not in beside and item.value not in {other.value for other in beside}:
            item.reason = "an earlier price of something else"
            visible.chosen.remove(item)
            visible.aside.append(item)


def _named_old_alone(visible: Visible) -> list[Seen]:
    """A box may be called "price-list" without being crossed out: its amount alone is the price."""
    named = [item for item in visible.chosen if item.kind is PriceKind.LIST and item.named_old]
    if len({item.digits for item in named}) != 1:
        return []
    for item in named:
        item.kind = PriceKind.STANDARD
    return named


def _set_lesser_aside(prices: Sequence[Seen]) -> None:
    """Of several amounts: where others start, the usual one beside a cheaper, what is only converted."""
    plain = [item.score for item in prices if not item.lowest]
    for item in prices:
        if item.lowest and plain and max(plain) >= item.score - 1:
            item.reason = "a price from which others start"
    for item in prices:
        cheaper = [
            other
            for other in prices
            if not other.reason
            and not other.regular
            and 0 < other.value < item.value
            and other.score >= item.score - 4
            and (other.tax is not TaxBasis.EXCLUSIVE or item.tax is other.tax)
        ]
        if item.regular and cheaper and not item.reason:
            item.kind = PriceKind.LIST
    left = [item for item in prices if not item.reason and item.kind is PriceKind.STANDARD]
    converted = [item for item in left if item.converted]
    if len(converted) < len(left):
        for item in converted:
            item.reason = "a converted amount"
    pieces = [item for item in left if not item.reason and _PER_ONE.match(item.after)]
    if len(pieces) < len([item for item in left if not item.reason]):
        for item in pieces:
            item.reason = "a unit price"
