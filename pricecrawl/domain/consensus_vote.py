"""The vote within one path, what takes part in it, and when its outcome is doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pricecrawl.domain.candidate import Candidate, PriceKind, Tier
from pricecrawl.domain.consensus_groups import Group, agree, groups, is_guess, is_visible, money, rivals
from pricecrawl.domain.reasons import ReviewReason

TIE_MARGIN = Decimal("0.05")
"""Scores this near are effectively equal; the smallest weight there is, 0.2, is well above it."""

DEEPEST_DEAL = Decimal("0.3")
"""A priority price below this share of every standard price, or above all of them, needs a person."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidate that a path chose (None: there was none), with sentences and doubts."""

    chosen: Candidate | None
    trace: tuple[str, ...] = ()
    reasons: tuple[ReviewReason, ...] = ()
    by_preference: bool = False


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Candidates without those that only repeat a list or member price."""

    candidates: tuple[Candidate, ...]
    sentences: tuple[str, ...] = ()
    reasons: tuple[ReviewReason, ...] = ()


def drop_impostors(local: Sequence[Candidate], currency: str | None) -> Cleaned:
    """Set aside markup that gives the struck-through or the members' price as the price.

    A primary amount that a list price repeats goes if a source that is no guess gives a lower one
    (which no member price repeats); one that a member price repeats goes if such a source gives a
    higher one. If the page strikes out the very price that is left, a person must look.
    """
    listed = [c.amount for c in local if c.kind is PriceKind.LIST]
    members = [c.amount for c in local if c.kind is PriceKind.MEMBER]
    if not listed and not members:
        return Cleaned(tuple(local))
    secondary = (PriceKind.LIST, PriceKind.MEMBER)
    primary = [c for c in local if c.kind not in secondary]
    firm = {c.amount for c in primary if not is_guess(c.method)}

    def among(amount: Decimal, amounts: Sequence[Decimal]) -> bool:
        return any(agree(amount, other, currency) for other in amounts)

    def lower(amount: Decimal) -> bool:
        return any(
            a < amount and not agree(a, amount, currency) and not among(a, members) and a >= amount / 10
            for a in firm
        )

    def higher(amount: Decimal) -> bool:
        return any(a > amount and not agree(a, amount, currency) for a in firm)

    sentences: list[str] = []
    gone: set[Decimal] = set()
    for amount in sorted({c.amount for c in primary}):
        if among(amount, listed) and lower(amount):
            gone.add(amount)
            sentences.append(
                f"{money(amount, currency)} is the list price, and a lower price is shown: set aside."
            )
        elif among(amount, members) and higher(amount):
            gone.add(amount)
            sentences.append(f"{money(amount, currency)} is for members only: set aside.")
    return Cleaned(tuple(c for c in local if c.kind in secondary or c.amount not in gone), tuple(sentences))


_PATHS = {
    PriceKind.SALE: "A deal price takes the price ahead of the vote",
    PriceKind.PRE_ORDER: "A pre-order price takes the price ahead of the vote",
}


def path_of(kind: PriceKind) -> str:
    """How a price of this kind becomes the price, for a trace sentence."""
    return _PATHS.get(kind, "The vote of standard prices")


def vote(
    candidates: Sequence[Candidate],
    *,
    kind: PriceKind,
    currency: str | None,
    last: Decimal | None,
) -> Choice:
    """Choose the heaviest group of one path; `last` is the last accepted price, if any.

    A tie is a review, unless exactly one tied group agrees with the anchor. A winner that readings
    of weight contradict is a review too, even if it outweighs them.
    """
    found = groups(candidates, currency)
    if not found:
        return Choice(None)

    def agrees(amount: Decimal) -> bool:
        return last is not None and agree(amount, last, currency)

    winner = found[0]
    tied = [g for g in rivals(winner, found, currency) if winner.score - g.score <= TIE_MARGIN]
    trace = [f"{path_of(kind)}: " + "; ".join(f"{g.describe()} weighs {g.score}" for g in found[:4]) + "."]
    reasons: list[ReviewReason] = []
    if tied:
        contenders = [winner, *tied]
        anchored = [g for g in contenders if agrees(g.amount)]
        names = " and ".join(money(g.amount, currency) for g in contenders)
        if len(anchored) == 1:
            winner = anchored[0]
            trace.append(
                f"{names} weigh the same; {money(winner.amount, currency)} agrees with the last price."
            )
        else:
            winner = _suggest(contenders, last)
            reasons.append(ReviewReason.TIE)
            trace.append(
                f"{names} weigh the same: a person must choose; "
                f"{money(winner.amount, currency)} is only a suggestion."
            )
    doubt = _contradiction(winner, rivals(winner, found, currency), anchored=agrees(winner.amount))
    if doubt is not None:
        reasons.append(ReviewReason.SOURCES_DISAGREE)
        trace.append(doubt)
    return Choice(winner.best, tuple(trace), tuple(reasons))


def _suggest(contenders: Sequence[Group], last: Decimal | None) -> Group:
    """Of tied groups: the nearest to the last price, else the only one shown, else the median."""
    if last is not None:
        return min(contenders, key=lambda group: (abs(group.amount - last), group.amount))
    shown = [group for group in contenders if group.shown]
    if len(shown) == 1:
        return shown[0]
    ordered = sorted(shown or contenders, key=lambda group: group.amount)
    return ordered[(len(ordered) - 1) // 2]


def _contradiction(winner: Group, others: Sequence[Group], *, anchored: bool) -> str | None:
    """Why the winner is doubtful although it won, or None.

    Every condition weakens as the winner gains sources, so agreement can only help it.
    """
    for rival in others:
        if rival.shown and not winner.shown:
            return (
                f"The page shows {rival.describe()} while only its markup says {winner.describe()}: "
                "a person must look."
            )
    if anchored:
        return None
    for rival in others:
        if len(winner.sources) == 1 and (rival.firm_sources or len(rival.sources) > 1):
            return f"{winner.describe()} stands alone against {rival.describe()}: a person must look."
        if rival.firm_sources and rival.firm_sources >= winner.firm_sources:
            return f"As many sources say {rival.describe()} as {winner.describe()}: a person must look."
    return None


def doubt_priority(
    choice: Choice, primary: Sequence[Candidate], currency: str | None, last: Decimal | None
) -> Choice:
    """A deal or pre-order price wins alone, so it is at least compared with the standard prices.

    It is doubted when it is dearer than all of them, or under 30 % of them; and when it is one source's
    word, by no rule of the shop's own, while the page itself shows another price. A price that was
    accepted before is none of these.
    """
    first = choice.chosen
    if first is not None and last is not None and agree(first.amount, last, currency):
        return choice
    firm = [c for c in primary if c.kind is PriceKind.STANDARD and not is_guess(c.method)]
    if first is None or not firm or any(agree(first.amount, c.amount, currency) for c in firm):
        return choice
    backing = {c.source_key for c in primary if agree(first.amount, c.amount, currency)}
    shown = [c for c in firm if is_visible(c.method)]
    if first.amount > max(c.amount for c in firm):
        reason, why = ReviewReason.SOURCES_DISAGREE, "is dearer than every standard price"
    elif first.amount < min(c.amount for c in firm) * DEEPEST_DEAL:
        reason, why = ReviewReason.IMPLAUSIBLE_MOVE, "is under 30 % of every standard price"
    elif shown and len(backing) == 1 and first.tier not in (Tier.ROW, Tier.LEARNED):
        other = money(min(c.amount for c in shown), currency)
        reason, why = ReviewReason.SOURCES_DISAGREE, f"is one source's word, and the page shows {other}"
    else:
        return choice
    sentence = f"The {first.kind.value} price {money(first.amount, currency)} {why}: a person must look."
    return replace(choice, trace=(*choice.trace, sentence), reasons=(*choice.reasons, reason))
