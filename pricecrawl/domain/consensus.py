"""The choice of one price among all readings of a page, explained in sentences.

Two stages. Stage A: a deal price, else a pre-order price, takes the price outright; member and list
prices are kept beside it and are never the price. Stage B: standard candidates vote with their
weights. A saved preference may then select another candidate, and guardrails judge the outcome.

Nothing here depends on the order of the candidates; one more agreeing candidate never turns a
settled price into a review; amounts in another currency than the market's never change the winner.
Where readings disagree and nothing explains it, the price is offered with a review.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from pricecrawl.domain.availability import Availability, decide
from pricecrawl.domain.building import builder_of
from pricecrawl.domain.candidate import Candidate, PriceKind
from pricecrawl.domain.consensus_currency import choose_currency
from pricecrawl.domain.consensus_groups import Group, agree, groups, is_guess, money, rank
from pricecrawl.domain.consensus_tax import TaxView, drop_net
from pricecrawl.domain.consensus_vote import Choice, doubt_priority, drop_impostors, path_of, vote
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.preference import Preference, select_preferred
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.domain.sanity import Anchor, Finding, is_out_of_stock, judge

__all__ = ["Agreement", "Anchor", "Consensus", "Preference", "observe", "settle"]

PRIMARY_KINDS = (PriceKind.SALE, PriceKind.PRE_ORDER, PriceKind.STANDARD)
"""Kinds that may be the price, in the order in which they take it."""

_PLACE_OF = {reason: place for place, reason in enumerate(ReviewReason)}
_ZERO = Decimal(0)


class Agreement(StrEnum):
    """How much stands behind a price. A lone source is never called a consensus."""

    NONE = "none"
    SINGLE_SOURCE = "single_source"
    CORROBORATED = "corroborated"


@dataclass(frozen=True, slots=True)
class Consensus:
    """What was chosen and why. Amounts are major units of `currency`.

    `price` is None when nothing could be settled or a guardrail withheld it. `sources` counts the
    distinct (method, selector) pairs that agree with the price. `candidates` is every reading, best
    first. `by_preference` tells that a person's saved choice selected the price.
    """

    price: Decimal | None
    currency: str | None
    kind: PriceKind | None
    method: str | None
    selector: str
    original_price: Decimal | None
    member_price: Decimal | None
    pre_order_price: Decimal | None
    agreement: Agreement
    sources: int
    by_preference: bool
    tax_basis: TaxBasis
    needs_review: bool
    review_reasons: tuple[ReviewReason, ...]
    candidates: tuple[Candidate, ...]
    trace: tuple[str, ...]


_build_consensus, _build_observation = builder_of(Consensus), builder_of(Observation)


_BARE = re.compile(r"[\d.,\s]*")


def settle(
    candidates: Sequence[Candidate],
    *,
    availability: Availability = Availability.UNKNOWN,
    anchor: Anchor | None = None,
    preference: Preference | None = None,
    market: Market | None = None,
) -> Consensus:
    """Choose the price of one listing from its candidates, and say how sure that is."""
    market = market or Market()
    lone = _lone(candidates, market.currency) if preference is None else None
    if lone is not None:
        return _settle_lone(*lone, availability, anchor)
    return settle_all(candidates, availability, anchor, preference, market)


def settle_all(
    candidates: Sequence[Candidate],
    availability: Availability,
    anchor: Anchor | None,
    preference: Preference | None,
    market: Market,
) -> Consensus:
    """Any number of candidates, of any kind and currency."""
    everything = tuple(sorted(candidates, key=rank))
    primary = [c for c in everything if c.kind in PRIMARY_KINDS]
    # Bare numbers of markup are in the currency of the other prices; a sign that is unclear is a sign.
    bare = all(_BARE.fullmatch(c.text) for c in primary)
    stated = everything if bare and not any(c.currency for c in primary) else primary
    view = choose_currency(stated or everything, market.currency, anchor.currency if anchor else None)
    trace, reasons = list(view.sentences), list(view.reasons)
    currency = view.currency
    local = [_in_currency(c, currency) for c in everything if c.currency in (currency, None)]

    choice = _choose(local, currency=currency, anchor=anchor, market=market)
    choice = _apply_preference(choice, local, preference, currency=currency, anchor=anchor)
    trace += choice.trace
    reasons += choice.reasons

    chosen = choice.chosen
    support = [
        c
        for c in local
        if chosen is not None and c.kind in PRIMARY_KINDS and agree(c.amount, chosen.amount, currency)
    ]
    sources = frozenset(c.source_key for c in support)
    price: Decimal | None = None
    if chosen is not None:
        price = chosen.amount
        trace.append(_support_sentence(chosen, len(sources)))
        last = _last_price(anchor, currency)
        anchored = last is not None and agree(last, price, currency)
        if not anchored and not choice.by_preference and all(is_guess(c.method) for c in support):
            reasons.append(ReviewReason.LOW_CONFIDENCE)
            trace.append("Only vague selectors or a model give this price: a person must look.")
        # A preference does not vouch: the guardrails see what agrees with the price, not who chose it.
        judged = min(support, key=rank)
        for finding in judge(
            price=price,
            currency=currency,
            method=judged.method,
            confidence=judged.confidence,
            sources=sources,
            availability=availability,
            anchor=anchor,
        ):
            reasons.append(finding.reason)
            trace.append(finding.sentence)
            if finding.withhold:
                price = None
    elif not reasons and availability in (Availability.IN_STOCK, Availability.PRE_ORDER):
        reasons.append(ReviewReason.NO_CONSENSUS)
        trace.append("The item can be bought, but no reading gives a price.")

    reference = chosen.amount if chosen is not None else None
    original = _secondary(PriceKind.LIST, local, reference, currency)
    member = _secondary(PriceKind.MEMBER, local, reference, currency)
    trace += [*original.trace, *member.trace]
    reasons += [*original.reasons, *member.reasons]
    pre_orders = groups([c for c in local if c.kind is PriceKind.PRE_ORDER], currency)
    pre_order = pre_orders[0].amount if pre_orders else None
    shown = [a for a in (price, original.amount, member.amount, pre_order) if a is not None]
    agreement = Agreement.NONE
    if price is not None:
        agreement = Agreement.CORROBORATED if len(sources) > 1 else Agreement.SINGLE_SOURCE
    return Consensus(
        price=price,
        currency=currency if shown else None,
        kind=chosen.kind if chosen is not None and price is not None else None,
        method=chosen.method.value if chosen is not None and price is not None else None,
        selector=chosen.selector if chosen is not None and price is not None else "",
        original_price=original.amount,
        member_price=member.amount,
        pre_order_price=pre_order,
        agreement=agreement,
        sources=len(sources),
        by_preference=choice.by_preference,
        tax_basis=_tax_basis(chosen, local, currency),
        needs_review=bool(reasons),
        review_reasons=_in_order(reasons),
        candidates=everything,
        trace=tuple(trace),
    )


def _in_order(reasons: Sequence[ReviewReason]) -> tuple[ReviewReason, ...]:
    return tuple(sorted(set(reasons), key=_PLACE_OF.__getitem__))


def _lone(candidates: Sequence[Candidate], currency: str | None) -> tuple[Candidate, Candidate | None] | None:
    """The only price, and the list price beside it, where there is nothing to choose between.

    That is what almost every entry of a feed is: one price that is no guess, all in the market's currency.
    """
    if not currency or len(candidates) > 2:
        return None
    price: Candidate | None = None
    listed: Candidate | None = None
    for candidate in candidates:
        if candidate.currency != currency:
            return None
        if candidate.kind is PriceKind.LIST:
            if listed is not None:
                return None
            listed = candidate
        elif price is not None or candidate.kind not in PRIMARY_KINDS or is_guess(candidate.method):
            return None
        else:
            price = candidate
    return None if price is None else (price, listed)


def _settle_lone(
    price: Candidate, listed: Candidate | None, availability: Availability, anchor: Anchor | None
) -> Consensus:
    """What `settle_all` says of a `_lone` price, without asking who else votes: nobody does."""
    amount, currency, kind = price.amount, price.currency, price.kind
    name = _source(price)
    said = money(amount, currency)
    trace = [
        f"{path_of(kind)}: {said} ({name}) weighs {_ZERO + price.weight}.",
        f"{said} by {name}: a single source, nothing corroborates it.",
    ]
    findings: list[Finding] = []
    if anchor is not None or is_out_of_stock(availability):
        findings = judge(
            price=amount,
            currency=currency,
            method=price.method,
            confidence=price.confidence,
            sources=frozenset((price.source_key,)),
            availability=availability,
            anchor=anchor,
        )
        trace += [finding.sentence for finding in findings]
    stands = not any(finding.withhold for finding in findings)
    candidates: tuple[Candidate, ...] = (price,)
    original: Decimal | None = None
    if listed is not None:
        candidates = (price, listed) if rank(price) < rank(listed) else (listed, price)
        if listed.amount > amount and not agree(listed.amount, amount, currency):
            original = listed.amount
            trace.append(f"The list price is {money(original, currency)} ({_source(listed)}).")
    pre_order = amount if kind is PriceKind.PRE_ORDER else None
    shown = stands or original is not None or pre_order is not None
    return _build_consensus(
        price=amount if stands else None,
        currency=currency if shown else None,
        kind=kind if stands else None,
        method=price.method.value if stands else None,
        selector=price.selector if stands else "",
        original_price=original,
        member_price=None,
        pre_order_price=pre_order,
        agreement=Agreement.SINGLE_SOURCE if stands else Agreement.NONE,
        sources=1,
        by_preference=False,
        tax_basis=price.tax_basis,
        needs_review=bool(findings),
        review_reasons=_in_order([finding.reason for finding in findings]) if findings else (),
        candidates=candidates,
        trace=tuple(trace),
    )


def _source(candidate: Candidate) -> str:
    return f"{candidate.method.value} {candidate.selector}".strip()


def _in_currency(candidate: Candidate, currency: str | None) -> Candidate:
    return candidate if candidate.currency == currency else replace(candidate, currency=currency)


def _choose(
    local: Sequence[Candidate], *, currency: str | None, anchor: Anchor | None, market: Market
) -> Choice:
    """Stage A, else stage B, without the person's preference."""
    cleaned = drop_impostors(local, currency)
    trace, reasons = list(cleaned.sentences), list(cleaned.reasons)
    left = cleaned.candidates
    last = _last_price(anchor, currency)
    for kind in PRIMARY_KINDS:
        of_kind = [c for c in left if c.kind is kind]
        if not of_kind:
            continue
        everyone = [c for c in left if c.kind in PRIMARY_KINDS]

        def judged(view: TaxView, kind: PriceKind = kind, everyone: Sequence[Candidate] = everyone) -> Choice:
            choice = vote(view.candidates, kind=kind, currency=currency, last=last)
            if kind is not PriceKind.STANDARD:
                choice = doubt_priority(choice, everyone, currency, last)
            return choice

        tax = drop_net(of_kind, market, currency)
        choice = judged(tax)
        # A clear vote for the gross price needs nobody's word on which of the amounts is net.
        if tax.likely_net and (
            choice.reasons or choice.chosen is None or choice.chosen.amount in tax.likely_net
        ):
            tax = tax.without_likely_net()
            choice = judged(tax)
        return replace(
            choice,
            trace=(*trace, *tax.sentences, *choice.trace),
            reasons=(*reasons, *tax.reasons, *choice.reasons),
        )
    return Choice(None, trace=tuple(trace), reasons=tuple(reasons))


def _apply_preference(
    choice: Choice,
    local: Sequence[Candidate],
    preference: Preference | None,
    *,
    currency: str | None,
    anchor: Anchor | None,
) -> Choice:
    """Let the saved preference select; what it overrides and whether it fell through is traced."""
    primary = [c for c in local if c.kind in PRIMARY_KINDS]
    last = _last_price(anchor, currency)
    voted = choice.chosen

    def agrees(amount: Decimal) -> bool:
        reference = last if last is not None else voted.amount if voted is not None else None
        return reference is not None and agree(reference, amount, currency)

    preferred = select_preferred(preference, primary, currency, agrees)
    if preferred is None:
        return choice
    if preferred.group is None:
        return replace(choice, trace=(*choice.trace, preferred.sentence))
    said = [preferred.sentence]
    reasons: tuple[ReviewReason, ...] = ()
    best = preferred.group.best
    if voted is not None and not agree(voted.amount, best.amount, currency):
        said.append(
            f"It overrides {money(voted.amount, currency)} by {voted.method.value} {voted.selector}".rstrip()
            + ", which would otherwise have been chosen."
        )
        # The person picked one selector. What another one of its kind reads was never confirmed by anybody.
        if preferred.moved and (last is None or not agree(last, best.amount, currency)):
            said.append("Nobody has confirmed what this other selector reads: a person must look.")
            reasons = (ReviewReason.SOURCES_DISAGREE,)
    return Choice(best, trace=(*choice.trace, *said), reasons=reasons, by_preference=True)


def _last_price(anchor: Anchor | None, currency: str | None) -> Decimal | None:
    """The last accepted price, if there is one in this currency."""
    if anchor is None or anchor.price is None or anchor.currency not in (currency, None):
        return None
    return anchor.price


def _support_sentence(chosen: Candidate, sources: int) -> str:
    where = _source(chosen)
    price = money(chosen.amount, chosen.currency)
    if sources <= 1:
        return f"{price} by {where}: a single source, nothing corroborates it."
    return f"{price} by {where}: {sources} distinct sources agree."


@dataclass(frozen=True, slots=True)
class _Secondary:
    """A member or list price, what to say about it and what to doubt."""

    amount: Decimal | None = None
    trace: tuple[str, ...] = ()
    reasons: tuple[ReviewReason, ...] = ()


def _secondary(
    kind: PriceKind, local: Sequence[Candidate], price: Decimal | None, currency: str | None
) -> _Secondary:
    """The member or list price: the largest group, then the surest; a full tie is flagged.

    A list price that is not above the price, and a member price that is not below it, say nothing.
    """
    of_kind = [c for c in local if c.kind is kind]
    if price is not None:
        higher = kind is PriceKind.LIST
        of_kind = [
            c for c in of_kind if not agree(c.amount, price, currency) and (c.amount > price) == higher
        ]
    found = groups(of_kind, currency)
    if not found:
        return _Secondary()

    def strength(group: Group) -> tuple[int, Decimal, float]:
        return (len(group.sources), group.score, max(c.confidence for c in group.members))

    best = max(strength(group) for group in found)
    top = sorted((g for g in found if strength(g) == best), key=lambda g: g.amount)
    # The smaller discount of equals: a doubtful "was" price must not look like a better deal.
    winner = top[0] if kind is PriceKind.LIST else top[-1]
    word = "list" if kind is PriceKind.LIST else "member"
    if any(not agree(g.amount, winner.amount, currency) for g in top):
        reason = ReviewReason.ORIGINAL_TIE if kind is PriceKind.LIST else ReviewReason.MEMBER_TIE
        sentence = f"Several {word} prices stand equal: {', '.join(g.describe() for g in top)}."
        return _Secondary(winner.amount, (sentence,), (reason,))
    return _Secondary(winner.amount, (f"The {word} price is {winner.describe()}.",))


def _tax_basis(chosen: Candidate | None, local: Sequence[Candidate], currency: str | None) -> TaxBasis:
    if chosen is None:
        return TaxBasis.UNKNOWN
    stated = {
        c.tax_basis
        for c in local
        if c.kind in PRIMARY_KINDS
        and c.tax_basis is not TaxBasis.UNKNOWN
        and agree(c.amount, chosen.amount, currency)
    }
    if chosen.tax_basis is not TaxBasis.UNKNOWN:
        return chosen.tax_basis
    return stated.pop() if len(stated) == 1 else TaxBasis.UNKNOWN


def observe(listing: Listing, consensus: Consensus, *, extractor_version: str) -> Observation:
    """The immutable fact of one listing: what was read, what was chosen, and every doubt.

    Doubts come from the consensus, from the listing's own hints, and from stock readings that
    contradict each other. The tax basis is that of the price, else of the listing.
    """
    reasons: tuple[str, ...] = ()
    trace = consensus.trace
    stock = decide(listing.stock) if len(listing.stock) > 1 else None
    conflict = stock is not None and stock.conflict
    if consensus.review_reasons or listing.review_hints or conflict:
        doubts = [reason.value for reason in consensus.review_reasons]
        doubts += listing.review_hints
        if stock is not None and conflict:
            doubts.append(ReviewReason.STOCK_CONFLICT.value)
            trace = (*trace, stock.reason)
        reasons = tuple(dict.fromkeys(doubts))
    basis = consensus.tax_basis if consensus.tax_basis is not TaxBasis.UNKNOWN else listing.tax_basis
    return _build_observation(
        source=listing.source,
        source_sku=listing.source_sku,
        url=listing.url,
        name=listing.name,
        brand=listing.brand,
        gtin=listing.gtin,
        mpn=listing.mpn,
        variant=listing.variant,
        category=listing.category,
        pack=listing.pack,
        base_quantity=listing.base_quantity,
        base_unit=listing.base_unit,
        condition=listing.condition,
        seller=listing.seller,
        price=consensus.price,
        currency=consensus.currency,
        price_kind=consensus.kind.value if consensus.kind else None,
        method=consensus.method,
        selector=consensus.selector,
        original_price=consensus.original_price,
        member_price=consensus.member_price,
        pre_order_price=consensus.pre_order_price,
        shipping=listing.shipping.of(consensus.price, consensus.currency),
        promotion_text=listing.promotion_text,
        tax_basis=basis,
        availability=listing.availability,
        needs_review=bool(reasons),
        review_reasons=reasons,
        observed_at=listing.observed_at,
        evidence=listing.evidence,
        extractor_version=extractor_version,
        candidates=consensus.candidates,
        trace=trace,
        image_url=listing.image_url,
    )
