"""Groups of candidates that say the same amount.

Two amounts agree when they differ by at most 0.1 % of the larger, or by one minor unit where that is
at most about 1 % of it. So 2500 and 2501 are one price and 5.00 and 5.24 are two. The figures are
measured: over 29 saved product pages and 29 reported bugs, readings of one price differ by rounding
alone (19.99 and 20, a feed's 7.5 and the page's 7.49). 138 pairs of amounts lie nearer than 5 %, and all
of them are two prices: another product's, a variant's, a threshold's. 0.1 % joins 5 of those pairs, none
of which ever votes together; 5 % would join all of them, and every small discount.

A group is a *maximal* set of amounts of one currency in which every two agree. On a sorted line such
sets are windows, so they do not depend on the order of the candidates, and an amount may stand in
two neighbouring windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import assert_never

from babel.numbers import get_currency_precision

from pricecrawl.domain.candidate import Candidate, Method

RELATIVE_TOLERANCE = Decimal("0.001")
"""Of the larger amount: what rounding a price to whole units or to fewer digits costs."""

MINOR_UNIT_CEILING = Decimal("0.0102")
"""One minor unit is rounding only while it is at most this share of the amount (0.99 and 1.00)."""


@lru_cache(maxsize=256)
def minor_step(currency: str | None) -> Decimal:
    """Smallest step of a currency in major units (0.01 EUR, 1 JPY, 0.001 KWD); 0.01 when unknown."""
    return Decimal(1).scaleb(-get_currency_precision(currency) if currency else -2)


def agree(a: Decimal, b: Decimal, currency: str | None) -> bool:
    """Whether two amounts of one currency are readings of one price (see the module's figures)."""
    low, high = (a, b) if a <= b else (b, a)
    gap = high - low
    return gap <= high * RELATIVE_TOLERANCE or (
        gap <= minor_step(currency) and gap <= high * MINOR_UNIT_CEILING
    )


def is_guess(method: Method) -> bool:
    """A vague selector or a model's answer: it neither contradicts a real source nor stands alone."""
    return method in (Method.GENERIC_CSS, Method.EXPERT_AI)


@lru_cache(maxsize=64)
def is_visible(method: Method) -> bool:
    """Whether the method reads what a visitor sees rather than markup made for machines."""
    match method:
        case (
            Method.BUY_BOX
            | Method.CUSTOM_CSS
            | Method.CUSTOM_REGEX
            | Method.GENERIC_CSS
            | Method.DEAL_PRICE
            | Method.MEMBER_PRICE
            | Method.PRE_ORDER_PRICE
            | Method.ORIGINAL_PRICE
            | Method.EXPERT_MANUAL
        ):
            return True
        case (
            Method.JSON_LD
            | Method.MICRODATA
            | Method.RDFA
            | Method.OPENGRAPH
            | Method.EMBEDDED
            | Method.API
            | Method.EXPERT_AI
        ):
            return False
        case _:
            assert_never(method)


def rank(candidate: Candidate) -> tuple[object, ...]:
    """Total order of candidates, best first: what makes every choice independent of their order."""
    return (
        -candidate.weight,
        -candidate.confidence,
        candidate.amount,
        candidate.currency or "",
        candidate.kind,
        candidate.method,
        candidate.selector,
        candidate.tier,
        candidate.tax_basis,
        candidate.text,
        candidate.context,
    )


def score(candidates: Iterable[Candidate]) -> Decimal:
    """Sum of weights, each distinct (method, selector) once however often it matched."""
    votes: dict[tuple[Method, str], Decimal] = {}
    for candidate in candidates:
        votes[candidate.source_key] = max(votes.get(candidate.source_key, Decimal(0)), candidate.weight)
    return sum(votes.values(), Decimal(0))


@dataclass(frozen=True)
class Group:
    """Candidates that agree, all of one currency, sorted best first."""

    members: tuple[Candidate, ...]

    @cached_property
    def low(self) -> Decimal:
        """Smallest amount of the window."""
        return min(member.amount for member in self.members)

    @cached_property
    def high(self) -> Decimal:
        """Largest amount of the window."""
        return max(member.amount for member in self.members)

    @cached_property
    def sources(self) -> frozenset[tuple[Method, str]]:
        """The distinct (method, selector) pairs that vote here."""
        return frozenset(member.source_key for member in self.members)

    @cached_property
    def firm_sources(self) -> int:
        """How many of the sources are more than a guess."""
        return sum(not is_guess(method) for method, _ in self.sources)

    @cached_property
    def score(self) -> Decimal:
        """Weight of the group in the vote."""
        return score(self.members)

    @cached_property
    def best(self) -> Candidate:
        """The member that speaks for the group.

        It stands at the amount with the most weight behind it (a rounded reading gives way to the
        exact one that more sources show), and is the heaviest, then surest, reading there.
        """
        if len(self.members) == 1:
            return self.members[0]
        by_amount: dict[Decimal, list[Candidate]] = {}
        for member in self.members:
            by_amount.setdefault(member.amount, []).append(member)
        amount = min(by_amount, key=lambda a: (-score(by_amount[a]), a == a.to_integral_value(), a))
        return min(by_amount[amount], key=rank)

    @property
    def amount(self) -> Decimal:
        """The group's price."""
        return self.best.amount

    @cached_property
    def shown(self) -> bool:
        """Whether a source that reads the visible page, and is no guess, stands behind it."""
        return any(is_visible(method) and not is_guess(method) for method, _ in self.sources)

    def describe(self) -> str:
        """`29.99 EUR (json-ld, buy-box .now)` for a trace sentence."""
        names = sorted(f"{method.value} {selector}".strip() for method, selector in self.sources)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"{money(self.amount, self.best.currency)} ({', '.join(names[:3])}{more})"


def money(amount: Decimal, currency: str | None) -> str:
    """Amount and currency for people; an unknown currency is said."""
    return f"{format(amount, 'f')} {currency or '(currency unknown)'}"


def groups(candidates: Sequence[Candidate], currency: str | None) -> list[Group]:
    """Every maximal group, best first: by score, then sources, then the best member.

    All candidates are taken as of `currency`. The order of the input does not matter.
    """
    if len(candidates) <= 1:
        return [Group((candidate,)) for candidate in candidates]
    amounts = sorted({candidate.amount for candidate in candidates})
    windows: list[tuple[Decimal, Decimal]] = []
    end = 0
    for start, low in enumerate(amounts):
        end = max(end, start)
        while end + 1 < len(amounts) and agree(low, amounts[end + 1], currency):
            end += 1
        if not windows or amounts[end] > windows[-1][1]:
            windows.append((low, amounts[end]))
    ordered = sorted(candidates, key=rank)
    found = [Group(tuple(c for c in ordered if low <= c.amount <= high)) for low, high in windows]
    return sorted(found, key=lambda g: (-g.score, -len(g.sources), rank(g.best)))


def rivals(winner: Group, others: Iterable[Group], currency: str | None) -> list[Group]:
    """Groups that claim another price than the winner: neighbours sharing its amount are no rivals."""
    return [
        group
        for group in others
        if group is not winner
        and not agree(group.amount, winner.amount, currency)
        and not (group.low <= winner.high and winner.low <= group.high)
    ]
