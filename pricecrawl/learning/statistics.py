"""The record of learned selectors: who won, who failed, who has to go. Pure; time is an argument.

A list holds the selectors of one source and one price kind, the first tried first. The winner of a
page moves to the top; of the others only those that were really evaluated on it count a failure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from pricecrawl.domain.candidate import Candidate, Method, PriceKind, Tier
from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.observation import Observation
from pricecrawl.extraction.rule_syntax import RuleError
from pricecrawl.extraction.selectors import parse_rule

MAX_SELECTORS = 10
FAILURE_COST = 2
FROM_ROW = "row"
"""Who a rule is from that came along from the source's row."""

PROMOTABLE = frozenset(
    {
        Method.CUSTOM_CSS,
        Method.CUSTOM_REGEX,
        Method.DEAL_PRICE,
        Method.MEMBER_PRICE,
        Method.PRE_ORDER_PRICE,
        Method.ORIGINAL_PRICE,
    }
)
"""Methods whose selector is a rule of the shop's own; structured data and guesses have none to learn."""


@dataclass(frozen=True, slots=True)
class LearnedSelector:
    """One selector of one source and kind, with what became of it so far."""

    kind: PriceKind
    selector: str
    match_count: int = 0
    consecutive_failures: int = 0
    last_matched_at: datetime | None = None
    created_at: datetime | None = None
    created_by: str = "promotion"

    @property
    def score(self) -> int:
        """Matches, less twice the failures since the last match."""
        return self.match_count - FAILURE_COST * self.consecutive_failures


def canonical(selector: str) -> str:
    """The selector in today's spelling, so that two spellings of one rule are one."""
    try:
        return parse_rule(selector).canonical
    except RuleError:
        return selector.strip()


def winning_candidate(
    candidates: Iterable[Candidate],
    *,
    price: Decimal | None,
    currency: str | None,
    method: Method | None,
    selector: str = "",
) -> Candidate | None:
    """The candidate whose rule read the price that was kept, if its rule may be learned.

    None without a price or a method (nothing says which rule was right, so nothing is promoted), and
    for methods that have no rule of the shop's own.
    """
    if price is None or method is None or method not in PROMOTABLE:
        return None
    fitting = [
        c
        for c in candidates
        if c.method is method
        and c.selector
        and c.currency in (currency, None)
        and agree(c.amount, price, currency)
    ]
    exact = [c for c in fitting if c.selector == selector] if selector else []
    pool = exact or fitting
    return min(pool, key=lambda c: (-c.confidence, abs(c.amount - price), c.selector), default=None)


def record(
    selectors: Sequence[LearnedSelector],
    *,
    winner: str | None,
    evaluated: Collection[str],
    now: datetime,
) -> tuple[LearnedSelector, ...]:
    """The list after one page: `winner` (None: no rule read the kept price) and the rules evaluated.

    The winner counts a match and moves to the top; every other evaluated rule counts a failure; a rule
    that was not evaluated is left as it is. Without a winner nothing is known, so nothing changes.
    """
    if winner is None:
        return tuple(selectors)
    name = canonical(winner)
    tried = {canonical(rule) for rule in evaluated}
    top: list[LearnedSelector] = []
    rest: list[LearnedSelector] = []
    for entry in selectors:
        if canonical(entry.selector) == name:
            won = replace(
                entry, match_count=entry.match_count + 1, consecutive_failures=0, last_matched_at=now
            )
            top.append(won)
        elif canonical(entry.selector) in tried:
            rest.append(replace(entry, consecutive_failures=entry.consecutive_failures + 1))
        else:
            rest.append(entry)
    return (*top, *rest)


def promote(
    selectors: Sequence[LearnedSelector],
    winner: LearnedSelector,
    *,
    shop_rules: Sequence[str] = (),
    global_rules: Sequence[str] = (),
    now: datetime,
) -> tuple[LearnedSelector, ...]:
    """The list after a person confirmed a price that `winner`'s rule read: it leads from now on.

    A learned list takes the place of the row's rules (`shop_rules`), so where it is still empty they
    come along behind the winner and nothing that worked is lost. Global selectors are cleaned out and
    at most MAX_SELECTORS stay. The other rules were not judged by the confirmation and keep their record.
    """
    name = canonical(winner.selector)
    if name in {canonical(rule) for rule in global_rules}:
        return evict(clean(selectors, global_rules))
    known = next((entry for entry in selectors if canonical(entry.selector) == name), None)
    base = known or replace(winner, match_count=0, consecutive_failures=0, created_at=now)
    first = replace(base, match_count=base.match_count + 1, consecutive_failures=0, last_matched_at=now)
    rest = [entry for entry in selectors if entry is not known]
    if not selectors:
        rest = [
            LearnedSelector(winner.kind, rule, created_at=now, created_by=FROM_ROW)
            for rule in shop_rules
            if canonical(rule) != name
        ]
    return evict(clean((first, *rest), global_rules))


def clean(selectors: Sequence[LearnedSelector], global_rules: Iterable[str]) -> tuple[LearnedSelector, ...]:
    """Without those that are global selectors anyway, and without second spellings of one rule."""
    general = {canonical(rule) for rule in global_rules}
    seen: set[str] = set()
    kept = []
    for entry in selectors:
        name = canonical(entry.selector)
        if name not in general and name not in seen:
            seen.add(name)
            kept.append(entry)
    return tuple(kept)


def evict(selectors: Sequence[LearnedSelector]) -> tuple[LearnedSelector, ...]:
    """At most MAX_SELECTORS: the lowest scores go, among equals the longest unmatched, then the last.

    The first stays whatever its score: it has just proved itself and had no time to earn more.
    """
    kept = list(selectors)
    while len(kept) > MAX_SELECTORS:
        worst = min(range(1, len(kept)), key=lambda place: (*_merit(kept[place]), -place))
        del kept[worst]
    return tuple(kept)


def _merit(entry: LearnedSelector) -> tuple[int, float]:
    matched = entry.last_matched_at.timestamp() if entry.last_matched_at else 0.0
    return (entry.score, matched)


def evaluated_rules(
    candidates: Iterable[Candidate], tier_rules: Sequence[str], kind: PriceKind
) -> tuple[str, ...]:
    """Which rules of the learned list were evaluated on a page: all of them where any of them spoke.

    A page on which no learned rule gave a candidate says nothing about single rules (it may be another
    kind of page), so there none is counted.
    """
    spoke = any(c.tier is Tier.LEARNED and c.kind is kind for c in candidates)
    return tuple(tier_rules) if spoke else ()


def learn_from(
    selectors: Sequence[LearnedSelector], kind: PriceKind, observations: Iterable[Observation], now: datetime
) -> tuple[tuple[LearnedSelector, ...], int]:
    """The list of one kind after some observations, and how many of them had a winner in it."""
    after = tuple(selectors)
    taught = 0
    for item in observations:
        rules = evaluated_rules(item.candidates, [entry.selector for entry in after], kind)
        if not rules:
            continue
        kept = kept_amount(item, kind)
        spoke = [
            c
            for c in item.candidates
            if c.tier is Tier.LEARNED
            and c.kind is kind
            and kept is not None
            and agree(c.amount, kept, c.currency)
        ]
        if spoke:
            order = [canonical(rule) for rule in rules]
            winner = min(
                spoke,
                key=lambda c: (
                    order.index(canonical(c.selector)) if canonical(c.selector) in order else len(order)
                ),
            )
            after = record(after, winner=winner.selector, evaluated=rules, now=now)
            taught += 1
    return after, taught


def kept_amount(item: Observation, kind: PriceKind) -> Decimal | None:
    """The amount of one kind that an observation kept; the price itself for the kind that it is of."""
    match kind:
        case PriceKind.MEMBER:
            return item.member_price
        case PriceKind.LIST:
            return item.original_price
        case PriceKind.PRE_ORDER:
            return item.pre_order_price
        case _:
            return item.price
