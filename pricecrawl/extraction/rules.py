"""Which selector rules apply to a page: learned, else the row's, else our own defaults, per kind.

Per category exactly one tier supplies the rules, decided by what is configured and not by what matched:
a shop that has a rule for its sale price owns that kind, and no default ever tops it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from pricecrawl.domain.candidate import PriceKind, Tier
from pricecrawl.extraction.selector_index import Chooser
from pricecrawl.extraction.selectors import Rule, parse_rules

CATEGORY = MappingProxyType(
    {
        PriceKind.STANDARD: "price",
        PriceKind.SALE: "sale_price",
        PriceKind.MEMBER: "member_price",
        PriceKind.PRE_ORDER: "pre_order_price",
        PriceKind.LIST: "original_price",
    }
)
"""Name of the rule list of each price kind, as rows spell it."""

GLOBAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # Explicit names first, then what themes call the amount that is paid, then the plain word.
        "price": (
            "[data-price-type=finalPrice] .price",
            "[data-price]",
            "[data-product-price]",
            "[data-testid*=price]",
            "[data-test*=price]",
            "[data-qa*=price]",
            ".current-price",
            ".price-current",
            ".price__current",
            ".now-price",
            ".price-now",
            ".final-price",
            ".price-final",
            ".our-price",
            ".buy-price",
            ".selling-price",
            ".product-price",
            ".product__price",
            ".price-value",
            "#price",
            ".price",
            "[class*=price]",
        ),
        "sale_price": (
            ".price-item--sale",
            ".special-price .price",
            ".sale-price",
            ".price--sale",
            ".price-sale",
            ".price-sales",
            ".offer-price",
            ".deal-price",
            ".promo-price",
            "ins .amount",
        ),
        "member_price": (
            ".member-price",
            ".price-member",
            ".members-price",
            ".club-price",
            ".price-club",
            ".loyalty-price",
            ".vip-price",
            ".card-price",
        ),
        "pre_order_price": (
            ".pre-order-price",
            ".preorder-price",
            ".price-preorder",
            "[data-testid*=preorder-price]",
            "#preorder-price",
        ),
        "original_price": (
            ".old-price .price",
            ".price-item--compare",
            ".was-price",
            ".price-was",
            ".price--was",
            ".price-old",
            ".old-price",
            ".rrp",
            ".price-rrp",
            ".uvp",
            ".msrp",
            ".list-price",
            ".compare-at-price",
            ".strike-price",
            ".price--line-through",
            "del .amount",
            "del",
            "s",
            "strike",
        ),
        "stock": (
            ".stock",
            ".availability",
            ".product-availability",
            ".stock-status",
            "#availability",
            "#stock",
            ".inventory",
            "[data-testid*=stock]",
            "[data-testid*=availability]",
            "[class*=stock]",
            "[class*=availability]",
        ),
    }
)
"""Our own defaults. Only amounts and texts within the product's area, and visible, are offered to them."""


@lru_cache(maxsize=512)
def _parsed(texts: tuple[str, ...], where: str) -> tuple[Rule, ...]:
    return parse_rules(texts, where=where)


@lru_cache(maxsize=16)
def default_chooser(category: str) -> tuple[Chooser, tuple[Rule, ...]]:
    """The default rules of a category, ready to be asked which is the first to select an element."""
    rules = _parsed(GLOBAL.get(category, ()), f"default rules, {category}")
    ranked = [(rank, selector) for rank, rule in enumerate(rules) for selector in rule.simple]
    return Chooser(ranked), rules


@dataclass(frozen=True)
class Rules:
    """The rules of one source: `row` holds its row's lists by category, `learned` the learned ones.

    Categories are `price`, `sale_price`, `member_price`, `pre_order_price`, `original_price`, `stock`,
    `source_sku`, `name`, `brand`, `gtin`, `mpn`, `size`, `category`, `image`, `shipping` and `promotion`.
    """

    row: Mapping[str, Sequence[str]] = field(default_factory=dict)
    learned: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        row: object | None = None,
        learned: Mapping[PriceKind, Sequence[str]] | None = None,
    ) -> Rules:
        """From a row's rule lists (any object with fields of the categories' names) and learned selectors."""
        lists = {name: tuple(getattr(row, name, ()) or ()) for name in _CATEGORIES} if row is not None else {}
        taught = {CATEGORY[kind]: tuple(texts) for kind, texts in (learned or {}).items()}
        return cls({n: t for n, t in lists.items() if t}, {n: t for n, t in taught.items() if t})

    @property
    def is_shell(self) -> bool:
        """True when no category at all is configured: a configuration in name only."""
        return not any(self.row.values()) and not any(self.learned.values())

    def tier(self, category: str) -> Tier:
        """Which tier supplies a category."""
        if self.learned.get(category):
            return Tier.LEARNED
        return Tier.ROW if self.row.get(category) else Tier.GLOBAL

    def rules(self, category: str) -> tuple[Rule, ...]:
        """The compiled rules of a category, in their order.

        Raises:
            RuleError: a configured rule is wrong; the message names the list and the place.
        """
        tier = self.tier(category)
        if tier is Tier.GLOBAL:
            return _parsed(GLOBAL.get(category, ()), f"default rules, {category}")
        texts = self.learned[category] if tier is Tier.LEARNED else self.row[category]
        return _parsed(tuple(texts), f"{tier.value} rules, {category}")

    def configured(self) -> tuple[Rule, ...]:
        """Every rule that a person or a confirmation configured: what no denoising may remove."""
        names = {*self.row, *self.learned}
        return tuple(
            rule for name in sorted(names) if self.tier(name) is not Tier.GLOBAL for rule in self.rules(name)
        )


_CATEGORIES = (
    *CATEGORY.values(),
    *("stock", "source_sku", "name", "brand", "gtin", "mpn", "size", "category", "image"),
    *("shipping", "promotion"),
)
