"""The lowest landed price that an ordinary customer of the same market can really pay.

Every offer is either eligible or left out with every reason that applies; nothing is dropped in
silence and no number is made up when nothing is left.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from typing import NamedTuple

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import Offer, same_content
from pricecrawl.domain.promotion import PromotionKind, unconditional_amount
from pricecrawl.domain.reasons import ExclusionReason
from pricecrawl.pricing.fx import Conversion, Rates
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.rounding import EXACT, KEPT
from pricecrawl.pricing.subject import Subject

NO_FRESH_COMPARABLE_MARKET_PRICE = "NO_FRESH_COMPARABLE_MARKET_PRICE"

# Clocks of two machines differ by seconds; an observation from further ahead is not from a clock.
CLOCK_SKEW = timedelta(minutes=5)

_R = ExclusionReason

# This is run for every offer of every SKU: members by name cost a lookup each time, and membership
# in a set of enum members costs a call.
_AUTO_ACCEPTED, _HUMAN_ACCEPTED = MappingStatus.AUTO_ACCEPTED, MappingStatus.HUMAN_ACCEPTED
_ZERO = Decimal(0)
_IN_STOCK, _MEMBER = Availability.IN_STOCK, PriceKind.MEMBER
_NO_PROMO, _UNCONDITIONAL = PromotionKind.NONE, PromotionKind.UNCONDITIONAL
_MODEL = MappingMethod.MODEL

_PROMOTION_REASONS = {
    PromotionKind.CONDITIONAL: _R.PROMOTION_CONDITIONAL,
    PromotionKind.AMBIGUOUS: _R.PROMOTION_AMBIGUOUS,
    PromotionKind.CODE: _R.CODE_REQUIRED,
    PromotionKind.BUNDLE: _R.BUNDLE_AMBIGUOUS,
    PromotionKind.PERSONALIZED: _R.PERSONALIZED,
    PromotionKind.PAYMENT_METHOD: _R.PAYMENT_METHOD,
    PromotionKind.SUBSCRIPTION: _R.SUBSCRIPTION,
    PromotionKind.MEMBER: _R.MEMBER_PRICE,
}

_AVAILABILITY_REASONS = {
    Availability.OUT_OF_STOCK: _R.NOT_AVAILABLE,
    Availability.NOT_AVAILABLE: _R.NOT_AVAILABLE,
    Availability.MEMBER_ONLY: _R.MEMBER_PRICE,
    Availability.UNKNOWN: _R.AVAILABILITY_UNKNOWN,
}


# What a person could clear up; every other reason leaves an offer out for good. NO_PRICE is one of
# them only beside another: a page in doubt may hide a price, a page without one does not.
_IN_DOUBT = (
    _R.MAPPING_NOT_ACCEPTED,
    _R.NEEDS_REVIEW,
    _R.CURRENCY_UNKNOWN,
    _R.PROMOTION_CONDITIONAL,
    _R.PROMOTION_AMBIGUOUS,
    _R.CODE_REQUIRED,
    _R.BUNDLE_AMBIGUOUS,
    _R.NO_PRICE,
).__contains__

_ID = attrgetter("offer_id")
_LANDED = itemgetter(1)


class Freshness(StrEnum):
    """What the evidence of a snapshot is worth today."""

    FRESH = "fresh"
    STALE = "stale"
    NONE = "none"


_FRESH = Freshness.FRESH


class Assessed(NamedTuple):
    """One offer and what became of it.

    `landed` is in the SKU's currency on its tax basis, or None where it cannot be worked out. It is
    kept for excluded offers too: a guardrail asks whether they could have mattered.
    """

    offer: Offer
    landed: Decimal | None
    reasons: tuple[ExclusionReason, ...] = ()
    conversion: Conversion | None = None


# The same as calling Assessed, without a Python frame for each of the plain offers.
_assessed = partial(tuple.__new__, Assessed)


class Terms(NamedTuple):
    """What every offer of one SKU is held against; `oldest` and `latest` bound the time of reading."""

    subject: Subject
    settings: Settings
    rates: Rates
    oldest: datetime
    latest: datetime


class MarketPrice(NamedTuple):
    """A snapshot: the price, who set it, who counted and who was left out, and why.

    `price` is None when no offer is eligible, and `note` then says
    NO_FRESH_COMPARABLE_MARKET_PRICE. `doubtful` are those of the excluded that would count if a
    person settled every doubt about them, `by_model` those of the eligible whose mapping a model found
    and no person has accepted; `two_of_a_source` is True when one source has two eligible offers.
    """

    price: Decimal | None
    winner: Assessed | None
    eligible: tuple[Assessed, ...]
    excluded: tuple[Assessed, ...]
    doubtful: tuple[Assessed, ...]
    by_model: tuple[Assessed, ...]
    two_of_a_source: bool
    freshness: Freshness
    computed_at: datetime

    @property
    def note(self) -> str:
        """Why there is no price; empty when there is one."""
        return NO_FRESH_COMPARABLE_MARKET_PRICE if self.price is None else ""


def market_price(
    subject: Subject, offers: tuple[Offer, ...], *, settings: Settings, rates: Rates, now: datetime
) -> MarketPrice:
    """The market price of one SKU from its mapped offers, as of `now`.

    Ties go to the smaller offer id, so the order in which offers arrive changes nothing.
    """
    terms = Terms(subject, settings, rates, *_window(settings.freshness_minutes(subject.tier), now))
    eligible: list[Assessed] = []
    excluded: list[Assessed] = []
    by_model: list[Assessed] = []
    sources: set[str] = set()
    for offer in sorted(offers, key=_ID):
        assessed = assess(offer, terms)
        if assessed.reasons:
            excluded.append(assessed)
            continue
        eligible.append(assessed)
        sources.add(offer.source)
        if offer.mapping_method is _MODEL and offer.mapping_status is _AUTO_ACCEPTED:
            by_model.append(assessed)
    if not eligible:
        freshness = Freshness.STALE if any(_R.STALE in item.reasons for item in excluded) else Freshness.NONE
        return MarketPrice(None, None, (), tuple(excluded), _doubtful(excluded), (), False, freshness, now)
    eligible.sort(key=_LANDED)  # stable: ties stay in order of id
    return MarketPrice(
        eligible[0].landed,
        eligible[0],
        tuple(eligible),
        tuple(excluded),
        _doubtful(excluded) if excluded else (),
        tuple(by_model),
        len(sources) != len(eligible),
        _FRESH,
        now,
    )


def _doubtful(excluded: list[Assessed]) -> tuple[Assessed, ...]:
    return tuple([item for item in excluded if all(map(_IN_DOUBT, item.reasons))])


@lru_cache(maxsize=16)
def _window(minutes: int, now: datetime) -> tuple[datetime, datetime]:
    """Earliest and latest time of a reading that counts; the same for every SKU of a tier in a run."""
    return now - timedelta(minutes=minutes), now + CLOCK_SKEW


def assess(offer: Offer, terms: Terms) -> Assessed:
    """The offer with its landed price and every reason that keeps it from counting."""
    subject, settings, _, oldest, latest = terms
    reasons: list[ExclusionReason] = []
    status, promotion = offer.mapping_status, offer.promotion.kind
    if status is not _AUTO_ACCEPTED and status is not _HUMAN_ACCEPTED:
        reasons.append(_R.MAPPING_NOT_ACCEPTED)
    if offer.source_held:
        reasons.append(_R.SOURCE_HELD)
    if not oldest <= offer.observed_at <= latest:
        reasons.append(_R.STALE)
    if offer.needs_review:
        reasons.append(_R.NEEDS_REVIEW)
    if offer.availability is not _IN_STOCK or offer.price_kind is _MEMBER or promotion is not _NO_PROMO:
        _check_terms(offer, settings, reasons)
    if (
        not offer.competitor_approved
        or (offer.seller and not settings.marketplace_sellers)
        or (settings.competitors and offer.source not in settings.competitors)
    ):
        reasons.append(_R.SELLER_NOT_ELIGIBLE)
    if offer.condition not in settings.conditions:
        reasons.append(_R.NOT_COMPARABLE_CONDITION)
    if offer.content is not subject.content and not same_content(offer.content, subject.content):
        reasons.append(_R.NOT_COMPARABLE_QUANTITY)
    if offer.country != subject.country and _other_market(offer, terms):
        reasons.append(_R.MARKET_MISMATCH)
    price, shipping = offer.item_price, offer.shipping
    if (  # nothing to convert, nothing to take off: most offers
        price is not None
        and shipping is not None
        and price > _ZERO
        and promotion is _NO_PROMO
        and offer.tax_basis is subject.tax_basis
        and offer.currency == subject.currency
    ):
        return _assessed((offer, price + shipping, tuple(reasons), None))
    landed, conversion = _landed(offer, terms, reasons)
    return Assessed(offer, landed, tuple(reasons), conversion)


def _check_terms(offer: Offer, settings: Settings, reasons: list[ExclusionReason]) -> None:
    """Whether it can be bought now, and whether everybody may buy at this price."""
    availability = offer.availability
    if availability is Availability.PRE_ORDER:
        if not settings.allow_pre_order:
            reasons.append(_R.NOT_AVAILABLE)
    elif availability is not _IN_STOCK:
        reasons.append(_AVAILABILITY_REASONS[availability])
    reason = _PROMOTION_REASONS.get(offer.promotion.kind)
    if offer.price_kind is _MEMBER:
        reason = _R.MEMBER_PRICE
    if reason is not None and reason not in reasons:
        reasons.append(reason)


def _other_market(offer: Offer, terms: Terms) -> bool:
    """True when both sides state a country, they differ, and the policy does not look across borders."""
    known = offer.country is not None and terms.subject.country is not None
    return known and not terms.settings.cross_market


def _landed(
    offer: Offer, terms: Terms, reasons: list[ExclusionReason]
) -> tuple[Decimal | None, Conversion | None]:
    """Item + mandatory shipping - unconditional public promotion, in the SKU's currency and basis."""
    landed = offer.item_price
    if landed is None or landed <= 0:
        reasons.append(_R.NO_PRICE)
        return None, None
    if offer.shipping is not None:
        landed += offer.shipping
    elif terms.settings.unknown_shipping == "exclude":
        reasons.append(_R.SHIPPING_UNKNOWN)
    if offer.promotion.kind is _UNCONDITIONAL:
        landed -= unconditional_amount(offer.promotion, offer.item_price or landed)
        if landed <= 0:  # a promotion larger than the price was misread
            reasons.append(_R.PROMOTION_AMBIGUOUS)
            return None, None
    subject = terms.subject
    if offer.tax_basis is not subject.tax_basis:
        on_basis = _on_basis(landed, offer, subject, terms.settings)
        if on_basis is None:
            reasons.append(_R.TAX_BASIS_MISMATCH)
            return None, None
        landed = on_basis
    if offer.currency == subject.currency:
        return landed, None
    return _converted(landed, offer, terms, reasons)


def _converted(
    amount: Decimal, offer: Offer, terms: Terms, reasons: list[ExclusionReason]
) -> tuple[Decimal | None, Conversion | None]:
    """`amount` in the SKU's currency at the rate of the day the offer was read."""
    if offer.currency is None:
        reasons.append(_R.CURRENCY_UNKNOWN)
        return None, None
    found = terms.rates.conversion(
        offer.currency,
        terms.subject.currency,
        on=offer.observed_at.date(),
        max_age_days=terms.settings.fx_max_age_days,
    )
    if isinstance(found, ExclusionReason):
        reasons.append(found)
        return None, None
    return EXACT.quantize(EXACT.multiply(amount, found.factor), KEPT), found


def _on_basis(amount: Decimal, offer: Offer, subject: Subject, settings: Settings) -> Decimal | None:
    """`amount` with or without tax, as the SKU is; None where the two cannot be compared.

    Duty-free and duty-paid amounts contain duties that no rate states.
    """
    if offer.tax_basis is TaxBasis.UNKNOWN:
        same_country = offer.country is None or subject.country is None or offer.country == subject.country
        return amount if settings.unknown_tax_basis == "same" and same_country else None
    rate = tax_between(offer, subject, settings)
    if rate is None:
        return None
    factor = 1 + rate
    if subject.tax_basis is TaxBasis.INCLUSIVE:
        return EXACT.quantize(EXACT.multiply(amount, factor), KEPT)
    return EXACT.quantize(EXACT.divide(amount, factor), KEPT)


def tax_between(offer: Offer, subject: Subject, settings: Settings) -> Decimal | None:
    """The rate (0.19 is 19 %) that lies between an offer with tax and a SKU without, or the other way round.

    None where both are alike, and where no rate makes them comparable.
    """
    convertible = (TaxBasis.INCLUSIVE, TaxBasis.EXCLUSIVE)
    if offer.tax_basis is subject.tax_basis:
        return None
    if offer.tax_basis not in convertible or subject.tax_basis not in convertible:
        return None
    return settings.tax_rates.get(offer.country or subject.country or "")
