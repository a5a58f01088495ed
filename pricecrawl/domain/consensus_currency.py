"""Which currency the price is in, decided before any amount is compared.

The market's own currency where a candidate has it, else the anchor's, else the one with the most
weight on the page. Amounts of other currencies (a currency switcher, an old meta tag) then never
vote, so that one more of them cannot change the winner. Amounts without a currency join the chosen
one; none is ever assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.candidate import Candidate
from pricecrawl.domain.consensus_groups import score
from pricecrawl.domain.reasons import ReviewReason

HEAVY_FOREIGN_SHARE = Decimal("0.5")
"""Without a market to decide, another currency with at least this share of the weight is a conflict."""


@dataclass(frozen=True, slots=True)
class CurrencyView:
    """The chosen currency (None: nothing on the page or in the market says), and what to doubt."""

    currency: str | None
    sentences: tuple[str, ...] = ()
    reasons: tuple[ReviewReason, ...] = ()


def choose_currency(primary: Sequence[Candidate], market: str | None, anchor: str | None) -> CurrencyView:
    """Choose among the currencies of the candidates that may be a price."""
    weights = {
        currency: score(c for c in primary if c.currency == currency)
        for currency in sorted({c.currency for c in primary if c.currency})
    }
    if not weights:
        return _without_any(primary, market, anchor)
    # An amount without a sign is in the expected currency sooner than a foreign amount is the price.
    bare = any(c.currency is None for c in primary)
    chosen, why = None, ""
    for name, currency in (("the market's currency", market), ("the last accepted currency", anchor)):
        if chosen is None and currency and (currency in weights or bare):
            chosen, why = currency, name
    known = chosen is not None
    if chosen is None:
        chosen = min(weights, key=lambda currency: (-weights[currency], currency))
        why = "the currency with the most weight on the page"
    foreign = {currency: weight for currency, weight in weights.items() if currency != chosen}
    sentences: list[str] = []
    reasons: list[ReviewReason] = []
    if foreign:
        names = ", ".join(foreign)
        sentences.append(f"{chosen} is {why}; amounts in {names} do not vote.")
        mine = score(c for c in primary if c.currency in (chosen, None))
        limit = mine * (1 if known else HEAVY_FOREIGN_SHARE)
        if max(foreign.values()) >= limit:
            reasons.append(ReviewReason.CURRENCY_CONFLICT)
            sentences.append(f"The page gives prices in {chosen} and in {names}: a person must look.")
    if market and chosen != market:
        reasons.append(ReviewReason.CURRENCY_CONFLICT)
        sentences.append(f"The market's currency is {market}, but every price on the page is in {chosen}.")
    return CurrencyView(chosen, tuple(sentences), tuple(dict.fromkeys(reasons)))


def _without_any(primary: Sequence[Candidate], market: str | None, anchor: str | None) -> CurrencyView:
    if not primary:
        return CurrencyView(market)
    if market:
        return CurrencyView(market, (f"No amount names a currency; the market's is {market}.",))
    if anchor:
        sentence = f"No amount names a currency; the last accepted price was in {anchor}."
        return CurrencyView(anchor, (sentence,))
    return CurrencyView(
        None,
        ("No amount names a currency and the market has none: it stays unknown.",),
        (ReviewReason.CURRENCY_UNKNOWN,),
    )
