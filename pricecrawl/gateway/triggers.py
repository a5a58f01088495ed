"""When a model may be asked at all. Pure rules; each answer is a sentence for the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.extraction.rules import CATEGORY


class AiStatus(StrEnum):
    """What is known of a price's checking; a model's word and a person's are never the same word."""

    VERIFIED = "verified"
    CORRECTED = "corrected"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True)
class ShopConfig:
    """Everything that can be configured for a shop. Any single field makes the configuration real.

    Lists of rules and phrases, and the scalars that a shop may set; None means not set.
    """

    price: tuple[str, ...] = ()
    sale_price: tuple[str, ...] = ()
    member_price: tuple[str, ...] = ()
    pre_order_price: tuple[str, ...] = ()
    original_price: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    brand: tuple[str, ...] = ()
    gtin: tuple[str, ...] = ()
    mpn: tuple[str, ...] = ()
    size: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    source_sku: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    shipping: tuple[str, ...] = ()
    promotion: tuple[str, ...] = ()
    stock: tuple[str, ...] = ()
    retailer_name: tuple[str, ...] = ()
    exclusion: tuple[str, ...] = ()
    in_stock_phrases: tuple[str, ...] = ()
    out_of_stock_phrases: tuple[str, ...] = ()
    pre_order_phrases: tuple[str, ...] = ()
    json_ld_price_key: str | None = None
    json_ld_name_key: str | None = None
    prefer_json_ld_image: bool | None = None
    skip_denoise: bool | None = None
    use_browser: bool | None = None

    @classmethod
    def of(cls, row: object | None, learned: Mapping[PriceKind, Sequence[str]]) -> ShopConfig:
        """From a row's rule lists (any object with fields of these names) and learned selectors."""
        lists = {item.name: tuple(getattr(row, item.name, None) or ()) for item in fields(cls)}
        for kind, rules in learned.items():
            lists[CATEGORY[kind]] += tuple(rules)
        return cls(**{name: rules for name, rules in lists.items() if rules})  # type: ignore[arg-type]

    @property
    def is_shell(self) -> bool:
        """True when nothing at all is configured. It looks at every field there is, present and future."""
        return all(getattr(self, item.name) in (None, (), "") for item in fields(self))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to ask, and why or why not."""

    ask: bool
    reason: str


def may_auto_map(
    *,
    enabled: bool,
    config: ShopConfig | None,
    challenged: bool,
    availability: Availability,
    standard_price: Decimal | None,
) -> Verdict:
    """Auto-mapping: only for a shop without a configuration whose healthy page gave no standard price."""
    if not enabled:
        return Verdict(False, "auto-mapping is switched off")
    if config is not None and not config.is_shell:
        return Verdict(False, "the shop has a configuration")
    if challenged:
        return Verdict(False, "the page is a challenge")
    if availability is Availability.NOT_AVAILABLE:
        return Verdict(False, "the page is gone for certain")
    if standard_price is not None:
        return Verdict(False, "a standard price was found")
    return Verdict(True, "no configuration and no standard price on a healthy page")


def may_verify(
    *,
    enabled: bool,
    price: Decimal | None,
    html: str,
    actor: str,
    ai_status: AiStatus | None,
    skip: bool = False,
) -> Verdict:
    """Verification: only for a price that nobody checked yet, on somebody's behalf, with the page at hand."""
    if not enabled or skip:
        return Verdict(False, "verification is switched off" if not enabled else "verification is skipped")
    if price is None:
        return Verdict(False, "there is no price to verify")
    if not html:
        return Verdict(False, "the page is not at hand")
    if not actor:
        return Verdict(False, "nobody asked for it")
    if ai_status is not None:
        return Verdict(False, f"the price is {ai_status.value} already")
    return Verdict(True, "a price that nobody checked yet")
