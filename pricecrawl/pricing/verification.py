"""Comparing what a shop holds with what was meant to be there. Pure: states in, words out."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from pricecrawl.pricing.ports import Capabilities, Effective, PriceKindAtTarget, PriceScope, PriceState


class Mismatch(StrEnum):
    """One way in which a price that was read is not the one that was written."""

    SKU = "sku"
    CURRENCY = "currency"
    TAX_BASIS = "tax_basis"
    AMOUNT = "amount"
    EFFECTIVE = "effective"
    KIND = "kind"
    REVISION = "revision"
    SIBLINGS = "siblings"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The price that should be there; `kind` is one it may have besides that of its scope."""

    sku: str
    scope: PriceScope
    amount: Decimal
    effective: Effective = field(default_factory=Effective)
    kind: PriceKindAtTarget | None = None


def compare(
    wanted: Wanted, before: PriceState | None, now: PriceState, capabilities: Capabilities, *, written: bool
) -> tuple[Mismatch, ...]:
    """Every mismatch between `wanted` and `now`.

    `before` is the state right before the write: what stood beside the price must still stand, and the
    revision must have moved, where the platform moves it on a price. `written` is False where the
    price was right already and nothing was sent.
    """
    found = []
    if now.ref.sku != wanted.sku:
        found.append(Mismatch.SKU)
    if now.currency != wanted.scope.currency:
        found.append(Mismatch.CURRENCY)
    if now.tax_basis is not wanted.scope.tax_basis:
        found.append(Mismatch.TAX_BASIS)
    if now.amount != wanted.amount:
        found.append(Mismatch.AMOUNT)
    if now.effective != wanted.effective:
        found.append(Mismatch.EFFECTIVE)
    kinds = {PriceKindAtTarget.LIST} if wanted.scope.price_list else {PriceKindAtTarget.BASE}
    if now.kind not in kinds | {wanted.kind} | ({before.kind} if before else set()):
        found.append(Mismatch.KIND)
    if before is not None:
        moved = now.revision != before.revision
        if written and capabilities.revision_moves_on_price and not moved and now.amount == wanted.amount:
            found.append(Mismatch.REVISION)
        if now.siblings_digest != before.siblings_digest:
            found.append(Mismatch.SIBLINGS)
    return tuple(found)


class Judgement(StrEnum):
    """What a shop's state says about a write that had no answer."""

    APPLIED = "applied"
    UNTOUCHED = "untouched"
    FOREIGN = "foreign"


def judge(wanted: Wanted, before: PriceState, now: PriceState) -> Judgement:
    """APPLIED: the price is there, whoever set it. UNTOUCHED: nothing happened since `before`."""
    if now.amount == wanted.amount and now.currency == wanted.scope.currency:
        return Judgement.APPLIED
    same = now.amount == before.amount and now.currency == before.currency
    if same and now.revision == before.revision and now.siblings_digest == before.siblings_digest:
        return Judgement.UNTOUCHED
    return Judgement.FOREIGN
