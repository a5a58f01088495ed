"""One reading of one price: before its number is understood (RawPrice) and after (Candidate)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from pricecrawl.domain.market import TaxBasis


class PriceKind(StrEnum):
    """What an amount is. Only STANDARD, SALE and PRE_ORDER may ever be the primary price."""

    STANDARD = "standard"
    SALE = "sale"
    MEMBER = "member"
    LIST = "list"
    PRE_ORDER = "pre_order"


class Tier(StrEnum):
    """Which set of rules supplied the selector: exactly one tier is used per price kind."""

    LEARNED = "learned"
    ROW = "row"
    GLOBAL = "global"
    STRUCTURED = "structured"


class Method(StrEnum):
    """How an amount was read. Closed: a new way to read is a new member, with a weight."""

    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    RDFA = "rdfa"
    OPENGRAPH = "opengraph"
    EMBEDDED = "embedded"
    API = "api"
    BUY_BOX = "buy-box"
    CUSTOM_CSS = "custom-css"
    CUSTOM_REGEX = "custom-regex"
    GENERIC_CSS = "generic-css"
    DEAL_PRICE = "deal-price"
    MEMBER_PRICE = "member-price"
    PRE_ORDER_PRICE = "pre-order-price"
    ORIGINAL_PRICE = "original-price"
    EXPERT_AI = "expert-ai"
    EXPERT_MANUAL = "expert-manual"


_WEIGHTS = {
    Method.EXPERT_AI: Decimal("5.0"),
    Method.EXPERT_MANUAL: Decimal("5.0"),
    Method.JSON_LD: Decimal("2.0"),
    Method.CUSTOM_REGEX: Decimal("1.6"),
    Method.CUSTOM_CSS: Decimal("1.5"),
    Method.GENERIC_CSS: Decimal("0.2"),
}

_WEIGHT = Decimal("1.0")

_CONFIDENCES = {
    Method.CUSTOM_CSS: 0.90,
    Method.CUSTOM_REGEX: 0.90,
    Method.GENERIC_CSS: 0.60,
    Method.BUY_BOX: 0.85,
    Method.EMBEDDED: 0.85,
    Method.OPENGRAPH: 0.85,
    Method.MICRODATA: 0.90,
    Method.RDFA: 0.90,
}

MAX_GENERIC_CANDIDATES = 40


def weight_of(method: Method) -> Decimal:
    """Vote of a method in the weighted fallback; methods without a figure of their own weigh 1.0."""
    return _WEIGHTS.get(method, _WEIGHT)


def confidence_of(method: Method) -> float:
    """Default confidence of a method, 0..1; 0.95 where the method names its price itself."""
    return _CONFIDENCES.get(method, 0.95)


class PriceUnit(StrEnum):
    """How the raw text of an amount is written.

    TEXT: for people ("1.299,00 €"). MAJOR: a machine's decimal number ("1299.00").
    MINOR: an integer in the currency's minor unit. X100: an integer times 100 whatever the currency.
    """

    TEXT = "text"
    MAJOR = "major"
    MINOR = "minor"
    X100 = "x100"


@dataclass(frozen=True, slots=True)
class RawPrice:
    """An amount as seen, not yet a number.

    `currency` is an ISO code only if the source states one beside the amount; otherwise the
    number's own sign and the market decide. `minor_unit` overrides the currency's exponent when
    the feed states it. `context` is a few words of where it stood, for the review page.
    """

    kind: PriceKind
    text: str
    method: Method
    selector: str = ""
    currency: str | None = None
    unit: PriceUnit = PriceUnit.TEXT
    minor_unit: int | None = None
    tier: Tier = Tier.STRUCTURED
    confidence: float | None = None
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    context: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An understood amount that may be the listing's price of its kind.

    `amount` is greater than zero, in major units of `currency`. `currency` is None when nothing
    on the page or in the market decided it.
    """

    kind: PriceKind
    amount: Decimal
    currency: str | None
    method: Method
    selector: str = ""
    confidence: float = 0.95
    weight: Decimal = Decimal("1.0")
    tier: Tier = Tier.STRUCTURED
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    text: str = ""
    context: str = ""

    @property
    def source_key(self) -> tuple[Method, str]:
        """Each distinct (method, selector) votes once per group."""
        return (self.method, self.selector)
