from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import Content
from pricecrawl.domain.promotion import read_promotion
from pricecrawl.domain.reasons import ExclusionReason as R
from pricecrawl.pricing.fx import DatedRate, Rates
from pricecrawl.pricing.market_price import (
    NO_FRESH_COMPARABLE_MARKET_PRICE,
    Freshness,
    market_price,
)
from pricecrawl.pricing.policy import Settings
from tests.pricing.factories import NOW, market, offer, subject


def reasons_of(**changes: object) -> tuple[R, ...]:
    settings = changes.pop("settings", Settings())
    who = changes.pop("subject", subject())
    rates = changes.pop("rates", Rates())
    snapshot = market_price(who, (offer(**changes),), settings=settings, rates=rates, now=NOW)  # type: ignore[arg-type]
    assert (snapshot.price is None) == bool(snapshot.excluded)
    return snapshot.excluded[0].reasons if snapshot.excluded else ()


def test_the_lowest_landed_price_wins_not_the_lowest_shelf_price() -> None:
    cheap_but_far = offer("17.00", offer_id=1, source="far", shipping=Decimal("4.90"))
    near = offer("20.00", offer_id=2, source="near", shipping=Decimal(0))
    snapshot = market(cheap_but_far, near)
    assert snapshot.price == Decimal("20.00")
    assert snapshot.winner is not None
    assert snapshot.winner.offer.source == "near"
    assert [item.landed for item in snapshot.eligible] == [Decimal("20.00"), Decimal("21.90")]


def test_an_unconditional_promotion_lowers_the_landed_price() -> None:
    by_amount = offer("20.00", promotion=read_promotion("€2.50 off at checkout"))
    by_share = offer("20.00", promotion=read_promotion("Extra 20 % off in basket"))
    assert market(by_amount).price == Decimal("17.50")
    assert market(by_share).price == Decimal("16.00")


def test_a_promotion_that_describes_the_shown_price_takes_nothing_more_off() -> None:
    assert market(offer("20.00", promotion=read_promotion("Save €5 - was €25"))).price == Decimal("20.00")


def test_a_promotion_larger_than_the_price_was_misread() -> None:
    assert reasons_of(promotion=read_promotion("€25 off at checkout")) == (R.PROMOTION_AMBIGUOUS,)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mapping_status": MappingStatus.REVIEW_REQUIRED}, R.MAPPING_NOT_ACCEPTED),
        ({"mapping_status": MappingStatus.REJECTED}, R.MAPPING_NOT_ACCEPTED),
        ({"source_held": True}, R.SOURCE_HELD),
        ({"needs_review": True}, R.NEEDS_REVIEW),
        ({"condition": "refurbished"}, R.NOT_COMPARABLE_CONDITION),
        ({"condition": "used"}, R.NOT_COMPARABLE_CONDITION),
        ({"content": Content(pack=6)}, R.NOT_COMPARABLE_QUANTITY),
        ({"availability": Availability.OUT_OF_STOCK}, R.NOT_AVAILABLE),
        ({"availability": Availability.NOT_AVAILABLE}, R.NOT_AVAILABLE),
        ({"availability": Availability.PRE_ORDER}, R.NOT_AVAILABLE),
        ({"availability": Availability.UNKNOWN}, R.AVAILABILITY_UNKNOWN),
        ({"availability": Availability.MEMBER_ONLY}, R.MEMBER_PRICE),
        ({"price_kind": PriceKind.MEMBER}, R.MEMBER_PRICE),
        ({"promotion": read_promotion("Members only")}, R.MEMBER_PRICE),
        ({"promotion": read_promotion("Selected for you")}, R.PERSONALIZED),
        ({"promotion": read_promotion("5% off when you pay with PayPal")}, R.PAYMENT_METHOD),
        ({"promotion": read_promotion("Subscribe & save")}, R.SUBSCRIPTION),
        ({"promotion": read_promotion("10% off with code SPRING10")}, R.CODE_REQUIRED),
        ({"promotion": read_promotion("Bundle offer")}, R.BUNDLE_AMBIGUOUS),
        ({"promotion": read_promotion("3 for 2")}, R.PROMOTION_CONDITIONAL),
        ({"promotion": read_promotion("€€€ free surprise")}, R.PROMOTION_AMBIGUOUS),
        ({"currency": None}, R.CURRENCY_UNKNOWN),
        ({"currency": "USD"}, R.NO_FX_RATE),
        ({"tax_basis": TaxBasis.EXCLUSIVE}, R.TAX_BASIS_MISMATCH),
        ({"tax_basis": TaxBasis.DUTY_FREE}, R.TAX_BASIS_MISMATCH),
        ({"country": "FR"}, R.MARKET_MISMATCH),
        ({"seller": "Somebody Else Ltd"}, R.SELLER_NOT_ELIGIBLE),
        ({"competitor_approved": False}, R.SELLER_NOT_ELIGIBLE),
        ({"price": None}, R.NO_PRICE),
        ({"price": "0"}, R.NO_PRICE),
    ],
)
def test_each_reason_on_its_own_leaves_an_offer_out(changes: dict[str, object], reason: R) -> None:
    assert reasons_of(**changes) == (reason,)


def test_every_exclusion_reason_can_be_reached() -> None:
    """The parametrised cases above and the two below cover the whole enum: a new reason needs a case."""
    cases = test_each_reason_on_its_own_leaves_an_offer_out.pytestmark[0].args[1]  # type: ignore[attr-defined]
    elsewhere = {R.STALE, R.STALE_FX_RATE, R.SHIPPING_UNKNOWN}
    assert {reason for _, reason in cases} | elsewhere == set(R)


def test_every_reason_that_applies_is_kept() -> None:
    found = reasons_of(
        condition="used",
        availability=Availability.OUT_OF_STOCK,
        content=Content(pack=2),
        observed_at=NOW - timedelta(days=2),
    )
    assert set(found) == {
        R.NOT_COMPARABLE_CONDITION,
        R.NOT_AVAILABLE,
        R.NOT_COMPARABLE_QUANTITY,
        R.STALE,
    }


@pytest.mark.parametrize(
    ("tier", "minutes_old", "fresh"),
    [
        ("A", 30, True),
        ("A", 30.1, False),
        ("B", 120, True),
        ("B", 120.1, False),
        ("menu", 120, True),
        ("menu", 121, False),
        ("B", -4, True),
        ("B", -6, False),
    ],
)
def test_freshness_is_twice_the_cadence_capped_at_two_hours(
    tier: str, minutes_old: float, fresh: bool
) -> None:
    seen = NOW - timedelta(minutes=minutes_old)
    snapshot = market(offer(observed_at=seen), tier=tier)
    assert (snapshot.price is not None) is fresh
    assert snapshot.freshness is (Freshness.FRESH if fresh else Freshness.STALE)


def test_no_eligible_offer_is_said_and_no_number_is_made_up() -> None:
    for offers in ((), (offer(availability=Availability.OUT_OF_STOCK),)):
        snapshot = market(*offers)
        assert snapshot.price is None
        assert snapshot.winner is None
        assert snapshot.note == NO_FRESH_COMPARABLE_MARKET_PRICE
        assert snapshot.freshness is Freshness.NONE


def test_unknown_shipping_is_taken_as_none_unless_the_policy_leaves_it_out() -> None:
    assert reasons_of(shipping=None) == ()
    assert reasons_of(shipping=None, settings=Settings(unknown_shipping="exclude")) == (R.SHIPPING_UNKNOWN,)


def test_label_rounding_is_no_other_size_but_the_next_size_is() -> None:
    ours = subject(content=Content(1, Decimal(30), "ml"))
    fluid_ounce = offer(content=Content(1, Decimal("29.57"), "ml"))
    assert market_price(ours, (fluid_ounce,), settings=Settings(), rates=Rates(), now=NOW).price is not None
    for other in (Content(1, Decimal(50), "ml"), Content(1, Decimal(30), "g"), Content(2, Decimal(30), "ml")):
        assert reasons_of(subject=ours, content=other) == (R.NOT_COMPARABLE_QUANTITY,)


def test_a_tax_rate_makes_amounts_with_and_without_tax_comparable() -> None:
    settings = Settings(tax_rates={"DE": Decimal("0.19")})
    net = offer("100.00", tax_basis=TaxBasis.EXCLUSIVE)
    assert market(net, settings=settings).price == Decimal("119.00")
    gross = offer("119.00", tax_basis=TaxBasis.INCLUSIVE)
    assert market(gross, settings=settings, tax_basis=TaxBasis.EXCLUSIVE).price == Decimal("100.00")
    assert reasons_of(tax_basis=TaxBasis.DUTY_FREE, settings=settings) == (R.TAX_BASIS_MISMATCH,)


def test_an_unstated_basis_is_ours_only_in_our_own_country() -> None:
    assert reasons_of(tax_basis=TaxBasis.UNKNOWN) == ()
    abroad = {"country": "FR", "settings": Settings(cross_market=True)}
    assert reasons_of(tax_basis=TaxBasis.UNKNOWN, **abroad) == (R.TAX_BASIS_MISMATCH,)
    assert reasons_of(tax_basis=TaxBasis.UNKNOWN, settings=Settings(unknown_tax_basis="exclude")) == (
        R.TAX_BASIS_MISMATCH,
    )


RATES = Rates(
    [
        DatedRate("EUR", "USD", date(2026, 2, 27), Decimal("1.25"), "live"),
        DatedRate("EUR", "GBP", date(2026, 2, 27), Decimal("0.80"), "live"),
        DatedRate("EUR", "USD", date(2026, 3, 5), Decimal("2.00"), "live"),
    ]
)


def test_currencies_meet_at_the_rate_of_the_day_of_the_reading() -> None:
    # Friday's rate on a Monday; the rate of next Thursday is never used.
    assert market(offer("25.00", currency="USD"), rates=RATES).price == Decimal("20.00")
    assert market(offer("10.00", currency="USD"), rates=RATES, currency="GBP").price == Decimal("6.40")


def test_an_old_rate_or_none_leaves_an_offer_out() -> None:
    strict = Settings(fx_max_age_days=2)
    assert reasons_of(currency="USD", rates=RATES, settings=strict) == (R.STALE_FX_RATE,)
    assert reasons_of(currency="JPY", rates=RATES) == (R.NO_FX_RATE,)
    assert reasons_of(
        currency="USD", rates=Rates([DatedRate("EUR", "USD", date(2026, 3, 5), Decimal(1))])
    ) == (R.NO_FX_RATE,)


def test_the_order_of_offers_changes_nothing() -> None:
    offers = [
        offer("19.00", offer_id=3, source="b"),
        offer("19.00", offer_id=2, source="a", source_sku="2"),
        offer("19.00", offer_id=1, source="a", source_sku="1"),
        offer("5.00", offer_id=4, source="c", condition="used"),
        offer("6.00", offer_id=5, source="c", condition="used"),
    ]
    seen = {market(*order) for order in itertools.permutations(offers)}
    assert len(seen) == 1
    winner = seen.pop().winner
    assert winner is not None
    assert winner.offer.offer_id == 1


def test_only_the_competitors_of_the_policy_count_where_it_names_any() -> None:
    near, far = offer("19.00", offer_id=1, source="near"), offer("18.00", offer_id=2, source="far")
    assert market(near, far).price == Decimal("18.00")
    named = market(near, far, settings=Settings(competitors=("near", "another")))
    assert named.price == Decimal("19.00")
    assert [item.reasons for item in named.excluded] == [(R.SELLER_NOT_ELIGIBLE,)]


def test_marketplace_sellers_pre_orders_and_conditions_are_a_policy_choice() -> None:
    open_minded = Settings(marketplace_sellers=True, allow_pre_order=True, conditions=("new", "open_box"))
    tricky = offer(seller="Other", availability=Availability.PRE_ORDER, condition="open_box")
    assert market(tricky, settings=open_minded).price == Decimal("20.00")


def test_a_human_mapping_counts_like_an_exact_one() -> None:
    by_hand = replace(
        offer(), mapping_status=MappingStatus.HUMAN_ACCEPTED, mapping_method=MappingMethod.MANUAL
    )
    assert market(by_hand).price == Decimal("20.00")
