"""The named situations that a repricer is judged by, each from the stored page to the stored decision.

Those that need a shop to write to (a timeout, a duplicate request, a rollback) are in `test_publishing`.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pricecrawl.db.events import verify_chain
from pricecrawl.db.tables import mapping, market_price_snapshot, price_decision
from pricecrawl.domain.availability import Availability
from tests.factories import NOON
from tests.workflows.street import GTIN, NOW, SKUS, Street, codes, excluded


def test_normal_match(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("21.00", source="mugs")
    assert street.match().added == {"AUTO_ACCEPTED": 2}
    done = street.price()
    assert dict(done.verdicts) == {"ALLOW": 1}
    made = street.decision()
    assert (made.status, made.verdict, made.proposed_price) == ("APPROVED", "ALLOW", Decimal("20.00"))
    assert made.findings == []
    assert made.allowed_floor == Decimal("12.78")
    snapshot = street.snapshot(made.snapshot_id)
    assert snapshot.market_price == Decimal("20.00")
    assert [item["source"] for item in snapshot.eligible] == ["kettles", "mugs"]
    assert street.events("sku:K-1") == [
        "market_price.computed",
        "price.computed",
        "policy.evaluated",
        "price.approved",
    ]
    with street.engine.connect() as conn:
        assert verify_chain(conn) == []


def test_competitor_below_floor(street: Street) -> None:
    street.catalogue()
    street.observe("11.00")
    street.match()
    street.price()
    made = street.decision()
    assert made.proposed_price == Decimal("12.78")  # 11.50 / 0.9, up to the cent
    assert made.status == "REVIEW_REQUIRED"
    assert {"on_floor", "decrease_over_limit"} <= codes(made)
    assert street.events("sku:K-1")[-1] == "approval.requested"


def test_ambiguous_mapping(street: Street) -> None:
    """One number on two of our SKUs: both pairs wait for a person, and nothing is priced on them."""
    twin = SKUS + f"K-2,Brewster Kettle 1 l,Brewster,kettles,{GTIN},,1,1 l,EUR,DE,incl,20.50,no,B\n"
    street.catalogue(twin)
    street.observe("20.00")
    assert street.match().added == {"REVIEW_REQUIRED": 2}
    street.price()
    for sku in ("K-1", "K-2"):
        made = street.decision(sku)
        assert made.status == "BLOCKED"
        assert {"no_accepted_mapping", "no_fresh_comparable_market_price"} <= codes(made)
        assert made.proposed_price is None
    number = street.rows(mapping)[0].id
    assert street.events(f"mapping:{number}") == ["mapping.evaluated", "mapping.review_requested"]


def test_stale_data(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    street.price(now=NOON + timedelta(minutes=121))
    made = street.decision()
    assert made.status == "BLOCKED"
    assert made.market_price is None
    assert "no_fresh_comparable_market_price" in codes(made)
    snapshot = street.snapshot(made.snapshot_id)
    assert snapshot.freshness == "stale"
    assert excluded(snapshot) == {"kettles": ["stale"]}


def test_extreme_movement(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    street.price()
    later = NOON + timedelta(hours=1)
    street.observe("13.90", at=later)
    street.price(now=later + timedelta(minutes=1))
    made = street.decision()
    assert made.proposed_price == Decimal("13.90")
    assert made.status == "REVIEW_REQUIRED"
    assert {"decrease_over_limit", "anomaly_market_move"} <= codes(made)


def test_conditional_promotion(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("18.00", source="mugs", promotion_text="3 for 2")
    street.match()
    street.price()
    made = street.decision()
    assert made.market_price == Decimal("20.00")
    assert made.status == "REVIEW_REQUIRED"
    assert codes(made) == {"promotion_unclear"}
    assert excluded(street.snapshot(made.snapshot_id)) == {"mugs": ["promotion_conditional"]}


def test_out_of_stock_lowest_offer(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("15.00", source="mugs", availability=Availability.OUT_OF_STOCK)
    street.match()
    street.price()
    made = street.decision()
    assert (made.status, made.proposed_price) == ("APPROVED", Decimal("20.00"))
    assert excluded(street.snapshot(made.snapshot_id)) == {"mugs": ["not_available"]}


def test_wrong_pack_size(street: Street) -> None:
    """A crate of six under the number of one piece is no match, and no offer if a person forces it."""
    street.catalogue()
    street.observe("20.00")
    street.observe(
        "9.90",
        source="mugs",
        pack=6,
        name="Brewster Kettle 6 x 1 l",
        base_quantity=Decimal(6000),
        base_unit="ml",
    )
    assert street.match().added == {"AUTO_ACCEPTED": 1, "REVIEW_REQUIRED": 1}
    street.price()
    made = street.decision()
    assert (made.status, made.proposed_price) == ("APPROVED", Decimal("20.00"))
    assert excluded(street.snapshot(made.snapshot_id)) == {
        "mugs": ["mapping_not_accepted", "not_comparable_quantity"]
    }


def test_refurbished_against_new(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("14.00", source="mugs", condition="refurbished")
    street.match()
    street.price()
    made = street.decision()
    assert (made.status, made.proposed_price) == ("APPROVED", Decimal("20.00"))
    assert excluded(street.snapshot(made.snapshot_id)) == {"mugs": ["not_comparable_condition"]}


def test_currency_ambiguity(street: Street) -> None:
    """A number in no known currency is not read as ours, and being possibly lower asks for a person."""
    street.catalogue()
    street.observe("20.00")
    street.observe(
        "15.00", source="mugs", currency=None, needs_review=True, review_reasons=("currency_unknown",)
    )
    street.observe("15.00", source="pots", currency="USD")
    street.match()
    street.price()
    made = street.decision()
    assert made.market_price == Decimal("20.00")
    assert made.status == "REVIEW_REQUIRED"
    assert codes(made) == {"conflicting_evidence"}
    assert excluded(street.snapshot(made.snapshot_id)) == {
        "mugs": ["needs_review", "currency_unknown"],
        "pots": ["no_fx_rate"],
    }


def test_duplicate_event(street: Street) -> None:
    """The same request delivered twice decides once."""
    street.catalogue()
    street.observe("20.00")
    street.match()
    first = street.price("K-1", correlation="observation.created 17")
    again = street.price("K-1", correlation="observation.created 17", now=NOW + timedelta(seconds=3))
    assert (first.skus, again.skus) == (1, 0)
    assert len(street.rows(price_decision)) == len(street.rows(market_price_snapshot)) == 1
    assert len(street.events("sku:K-1")) == 4
    assert street.decision().status == "APPROVED"
