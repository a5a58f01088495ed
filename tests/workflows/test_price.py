from __future__ import annotations

import dataclasses
import threading
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Engine, insert, update

from pricecrawl.db.events import verify_chain
from pricecrawl.db.history import HistoryStore
from pricecrawl.db.holds import HoldStore
from pricecrawl.db.policies import PolicyRow, PolicyStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import (
    candidate_review,
    competitor,
    fx_rate,
    listing,
    market_price_snapshot,
    price_decision,
    pricing_policy,
    sku,
    source,
)
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.policy import Settings, read_policy
from pricecrawl.workflows import holds, policies, price, review
from tests.factories import NOON, an_observation
from tests.workflows.street import COSTS, COUNTRIES, NOW, SKUS, Street, codes, excluded

LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def priced(street: Street) -> Street:
    """A SKU with one plain offer, matched."""
    street.catalogue()
    street.observe("20.00")
    street.match()
    return street


def change(engine: Engine, statement: Any) -> None:
    with engine.begin() as conn:
        conn.execute(statement)


def test_a_new_decision_makes_the_open_one_stale(priced: Street) -> None:
    priced.price()
    first = priced.decision()
    done = priced.price(now=LATER)
    assert done.superseded == 1
    (old,) = priced.rows(price_decision, decision_id=first.decision_id)
    assert (old.status, priced.decision().status) == ("STALE", "APPROVED")
    assert priced.decision().sequence > first.sequence


def test_every_step_of_a_run_is_one_event_caused_by_the_one_before(priced: Street) -> None:
    from pricecrawl.db.tables import audit_event

    done = priced.price()
    made = priced.decision()
    (asked,) = priced.rows(audit_event, aggregate=f"pricing:{done.run_id}")
    chain = priced.rows(audit_event, correlation_id=made.decision_id)
    assert [row.causation_id for row in chain] == [asked.event_id, *(row.event_id for row in chain[:-1])]
    with priced.engine.connect() as conn:
        assert verify_chain(conn) == []


def test_an_unknown_sku_is_named_and_nothing_is_written(priced: Street) -> None:
    with pytest.raises(UsageProblem, match="SKU K-9 is not in the catalogue"):
        priced.price("K-1", "K-9")
    assert priced.rows(price_decision) == []


def test_a_failure_in_the_middle_leaves_nothing_half_written(
    priced: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the power went out")

    monkeypatch.setattr(PricingStore, "append", broken)
    store = PricingStore(priced.engine)
    with pytest.raises(RuntimeError):
        price.run(store, now=NOW, countries=COUNTRIES)
    assert priced.rows(price_decision) == []
    assert priced.rows(market_price_snapshot) == []


@pytest.mark.parametrize(("scope", "value"), [("everything", ""), ("sku", "K-1")])
def test_a_hold_blocks_the_price_at_the_moment_of_deciding(priced: Street, scope: str, value: str) -> None:
    store = HoldStore(priced.engine)
    holds.place(store, scope, value, reason="recall", by="ann", now=NOW)
    priced.price()
    assert (priced.decision().status, codes(priced.decision())) == ("BLOCKED", {"hold_active"})
    holds.clear(store, scope, value, reason="over", by="ann", now=LATER)
    priced.price(now=LATER)
    assert priced.decision().status == "APPROVED"


def test_a_held_or_disabled_source_counts_for_nothing(priced: Street) -> None:
    holds.place(HoldStore(priced.engine), "source", "kettles", reason="odd prices", by="ann", now=NOW)
    priced.price()
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"kettles": ["source_held"]}
    holds.clear(HoldStore(priced.engine), "source", "kettles", reason="fine", by="ann", now=NOW)
    change(priced.engine, update(source).values(enabled=False))
    priced.price(now=LATER)
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"kettles": ["source_held"]}


def test_a_hold_on_a_target_is_read_when_it_is_written_to_not_here(priced: Street) -> None:
    holds.place(HoldStore(priced.engine), "target", "vendure", reason="upgrade", by="ann", now=NOW)
    priced.price()
    assert priced.decision().status == "APPROVED"
    with priced.engine.connect() as conn:
        assert len(HoldStore(priced.engine).covering(conn, "K-1", "vendure")) == 1
        assert HoldStore(priced.engine).covering(conn, "K-1", "oscar") == []


def test_a_competitor_that_was_ruled_out_counts_for_nothing(priced: Street) -> None:
    change(priced.engine, insert(competitor).values(source="kettles", retailer="Kettles", approved=False))
    priced.price()
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"kettles": ["seller_not_eligible"]}


def test_a_listing_that_went_missing_is_not_available_whatever_it_last_said(priced: Street) -> None:
    change(priced.engine, update(listing).values(availability=Availability.OUT_OF_STOCK.value))
    priced.price()
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"kettles": ["not_available"]}


def test_rates_are_those_of_the_day_and_are_kept(priced: Street) -> None:
    priced.observe("25.00", source="mugs", currency="USD")
    rate = {"base": "EUR", "quote": "USD", "rate_date": "2026-03-13", "rate": Decimal("1.30")}
    change(priced.engine, insert(fx_rate).values(**rate, rate_source="live", fetched_at=NOON))
    priced.match()
    priced.price()
    made = priced.decision()
    assert made.market_price == Decimal("19.230769")
    assert made.proposed_price == Decimal("19.24")
    first = priced.snapshot(made.snapshot_id).eligible[0]
    assert first["fx"]["day"] == "2026-03-13"
    assert first["source"] == "mugs"


def test_every_landed_price_can_be_worked_out_again_from_what_is_stored(street: Street) -> None:
    street.catalogue()
    offers: list[tuple[str, dict[str, Any], str]] = [
        ("20.00", {}, "20.00"),
        ("15.00", {"shipping": Decimal("4.00")}, "19.00"),
        ("24.00", {"promotion_text": "€2 off at checkout"}, "22.00"),
        ("20.00", {"promotion_text": "Save 10% at checkout", "shipping": Decimal("3.00")}, "21.00"),
        ("20.00", {"tax_basis": TaxBasis.EXCLUSIVE}, "23.80"),
        ("26.00", {"currency": "USD", "tax_basis": TaxBasis.EXCLUSIVE, "shipping": Decimal(13)}, "35.70"),
        ("26.00", {"currency": "USD", "needs_review": True, "review_reasons": ("tie",)}, "20.00"),
    ]
    for number, (amount, changes, _) in enumerate(offers):
        source = f"shop-{number}"
        street.observe(
            amount, source=source, sku=f"A-{number}", at=NOON + timedelta(seconds=number), **changes
        )
    rate = {"base": "EUR", "quote": "USD", "rate_date": "2026-03-13", "rate": Decimal("1.30")}
    change(street.engine, insert(fx_rate).values(**rate, rate_source="live", fetched_at=NOON))
    body = {"version": "t", "valid_from": "2026-01-01", "default": {"tax_rates": {"DE": "0.19"}}}
    policies.propose(PolicyStore(street.engine), read_policy(body), by="ann", now=NOON)
    policies.approve(PolicyStore(street.engine), "t", by="bob", reason="ok", now=NOON)
    street.match()
    street.price()
    stored = street.snapshot(street.decision().snapshot_id)
    found = {item["source"]: item for item in (*stored.eligible, *stored.excluded)}
    for number, (_, _, by_hand) in enumerate(offers):
        item = found[f"shop-{number}"]
        again = Decimal(item["item_price"]) + Decimal(item["shipping"] or 0)
        again -= Decimal(item.get("promotion", {}).get("off", 0))
        if "tax" in item:
            again *= 1 + Decimal(item["tax"]["rate"])
        again *= Decimal(item.get("fx", {}).get("factor", 1))
        assert round(again, 2) == round(Decimal(item["landed"]), 2) == Decimal(by_hand), item


def test_a_reading_that_a_person_confirmed_counts_at_the_confirmed_price(priced: Street) -> None:
    priced.observe("2.00", source="mugs", needs_review=True, review_reasons=("tie",))
    priced.match()
    priced.price()
    assert codes(priced.decision()) == {"conflicting_evidence"}
    chosen = {"kind": "standard", "amount": "19.80", "currency": "EUR", "method": "json-ld", "selector": ""}
    change(priced.engine, update(candidate_review).values(status="approved", chosen=chosen))
    priced.price(now=LATER)
    assert priced.decision().market_price == Decimal("19.80")
    chosen["kind"] = "member"
    change(priced.engine, update(candidate_review).values(chosen=chosen))
    priced.price(now=LATER + timedelta(minutes=1))
    assert priced.decision().market_price == Decimal("20.00")
    chosen |= {"kind": "standard", "tax_basis": "excl"}
    change(priced.engine, update(candidate_review).values(chosen=chosen))
    priced.price(now=LATER + timedelta(minutes=2))
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"mugs": ["tax_basis_mismatch"]}


@pytest.mark.parametrize(
    ("days", "most", "market_price", "reasons"),
    [
        (5, 5, "16.00", []),
        (6, 5, None, ["stale_fx_rate"]),
        (40, 60, "16.00", []),
        (400, 5, None, ["stale_fx_rate"]),
        (400, 400, "16.00", []),
    ],
)
def test_how_old_a_rate_may_be_is_for_the_policy_to_say(
    street: Street, days: int, most: int, market_price: str | None, reasons: list[str]
) -> None:
    street.catalogue()
    street.observe("20.00", currency="USD")
    street.match()
    rate = {"base": "EUR", "quote": "USD", "rate": Decimal("1.25"), "rate_source": "live"}
    day = (NOON - timedelta(days=days)).date().isoformat()
    change(street.engine, insert(fx_rate).values(**rate, rate_date=day, fetched_at=NOON))
    body = {"version": "p", "valid_from": "2026-01-01", "default": {"fx_max_age_days": most}}
    store = PolicyStore(street.engine)
    policies.propose(store, read_policy(body), by="ann", now=NOON)
    policies.approve(store, "p", by="bob", reason="ok", now=NOON)
    street.price()
    found = street.decision().market_price
    assert (found if found is None else round(found, 2)) == (market_price and Decimal(market_price))
    assert excluded(street.snapshot(street.decision().snapshot_id)).get("kettles", []) == reasons


def test_what_was_asked_in_another_currency_is_no_yardstick(priced: Street) -> None:
    """20.00 euros are no jump from 3200 yen, and 3280 yen no price to begin a replay in euros with."""
    yen = SKUS.replace("20.50", "3280").replace("EUR", "JPY")
    priced.catalogue(skus=yen, costs=COSTS)
    priced.observe("3200", currency="JPY", at=NOON + timedelta(minutes=1))
    priced.price()
    assert (priced.decision().currency, priced.decision().market_price) == ("JPY", Decimal(3200))
    priced.catalogue()
    priced.observe("20.00", at=NOON + timedelta(minutes=2))
    priced.price(now=LATER)
    assert codes(priced.decision()) == set()
    (past,) = HistoryStore(priced.engine).pasts(NOON)
    assert past.price_at_start == Decimal("20.50")


def test_a_promotion_in_another_money_than_the_price_takes_nothing_off(priced: Street) -> None:
    priced.observe("19.80", source="mugs", promotion_text="€0.30 off at checkout")
    priced.observe("19.60", source="pots", promotion_text="₩5 off at checkout")
    priced.match()
    priced.price()
    made = priced.decision()
    assert made.market_price == Decimal("19.50")
    assert excluded(priced.snapshot(made.snapshot_id)) == {"pots": ["promotion_ambiguous"]}


def test_the_members_price_beside_a_public_one_leaves_the_public_one_alone(priced: Street) -> None:
    priced.observe("19.50", source="mugs", promotion_text="Members pay 15.00", member_price=Decimal("15.00"))
    priced.observe("19.00", source="pots", promotion_text="Members only")
    priced.match()
    priced.price()
    assert priced.decision().market_price == Decimal("19.50")
    assert excluded(priced.snapshot(priced.decision().snapshot_id)) == {"pots": ["member_price"]}


def test_the_widest_windows_that_a_policy_may_name_are_usable(priced: Street) -> None:
    names = [field.name for field in dataclasses.fields(Settings) if type(field.default) is int]
    most = {name: 525_600 if name.endswith("minutes") else 3_650 for name in names}
    body = {"version": "wide", "valid_from": "2026-01-01", "default": most}
    store = PolicyStore(priced.engine)
    policies.propose(store, read_policy(body), by="ann", now=NOON)
    policies.approve(store, "wide", by="bob", reason="patience", now=NOON)
    priced.price()
    assert (priced.decision().policy_version, priced.decision().status) == ("wide", "APPROVED")


def test_settings_of_one_sku_are_part_of_the_policys_version(priced: Street) -> None:
    store = PolicyStore(priced.engine)
    with store.begin() as tx:
        store.override(tx, "K-1", {"required_margin": "0.50"}, by="ann", now=NOW)
    priced.price()
    made = priced.decision()
    assert made.margin_floor == Decimal("23.000000")
    assert made.policy_version.startswith("builtin-1+")
    with store.begin() as tx:
        store.override(tx, "K-1", {"requird_margin": "0.50"}, by="ann", now=NOW)
    priced.price(now=LATER)
    assert codes(priced.decision()) == {"policy_unavailable"}
    assert priced.decision().status == "BLOCKED"


def test_a_stored_policy_that_cannot_be_read_blocks_everything(priced: Street) -> None:
    store = PolicyStore(priced.engine)
    with store.begin() as tx:
        store.add(tx, PolicyRow("broken", {"version": 7}, "ann", NOON, NOON, "bob", NOON))
    priced.price()
    assert codes(priced.decision()) == {"policy_unavailable"}
    assert priced.decision().proposed_price is None


def test_the_policy_in_force_is_the_approved_one_that_started_last(priced: Street) -> None:
    store = PolicyStore(priced.engine)
    body = {"version": "v2", "valid_from": "2026-03-01", "default": {"required_margin": "0.45"}}
    policies.propose(store, policies.read_policy(body), by="ann", now=NOON)
    priced.price()
    assert priced.decision().policy_version == "builtin-1"
    with pytest.raises(UsageProblem, match="somebody else must approve it"):
        policies.approve(store, "v2", by="ann", reason="mine", now=NOON)
    policies.approve(store, "v2", by="bob", reason="agreed", now=NOON)
    priced.price(now=LATER)
    assert priced.decision().policy_version == "v2"
    assert priced.decision().margin_floor == Decimal("20.909091")
    with pytest.raises(UsageProblem, match="exists already"):
        policies.propose(store, policies.read_policy(body), by="ann", now=NOON)
    change(
        priced.engine,
        update(pricing_policy)
        .values(valid_from=NOW + timedelta(days=9))
        .where(pricing_policy.c.version == "v2"),
    )
    priced.price(now=LATER + timedelta(minutes=1))
    assert priced.decision().policy_version == "builtin-1"


def test_runs_and_reviewers_at_the_same_time_leave_one_open_decision(priced: Street) -> None:
    """Several pricing runs and somebody who approves whatever waits: no error, no two open decisions."""
    priced.observe("18.00", at=NOON + timedelta(minutes=15))
    problems: list[BaseException] = []

    def pricing(start: int) -> None:
        try:
            for turn in range(4):
                price.run(
                    PricingStore(priced.engine),
                    now=NOW + timedelta(seconds=start + 10 * turn),
                    countries=COUNTRIES,
                )
        except BaseException as problem:  # whatever it is, the test must see it
            problems.append(problem)

    def approving() -> None:
        store = ReviewStore(priced.engine)
        for _ in range(12):
            for item in review.queue(store, kind=review.Kind.PRICE):
                try:
                    review.approve(store, item.id, by="ann", reason="quick", now=NOW)
                except (review.NotReviewable, UsageProblem):
                    continue  # a run was faster
                except BaseException as problem:
                    problems.append(problem)

    workers = [threading.Thread(target=pricing, args=(start,)) for start in (0, 3)]
    workers.append(threading.Thread(target=approving))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert problems == []
    standing = [row.status for row in priced.rows(price_decision) if row.status != "STALE"]
    assert len(standing) == 1
    with priced.engine.connect() as conn:
        assert verify_chain(conn) == []


# --- the breaker over a whole run ---------------------------------------------------------------


def many(street: Street, count: int, price_of: Any) -> None:
    """`count` SKUs at 20.50, each with one offer at `price_of(n)`."""
    lines = [f"S-{n:04},Kettle {n},EUR,{n + 1:04}A,Brewster,20.50" for n in range(count)]
    street.catalogue(
        "sku,name,currency,mpn,brand,current_price\n" + "\n".join(lines),
        "sku,cogs\n" + "\n".join(f"S-{n:04},10.00" for n in range(count)),
    )
    look(street, count, price_of, at=NOON)
    assert street.match().added == {"AUTO_ACCEPTED": count}


def look(street: Street, count: int, price_of: Any, *, at: datetime) -> None:
    """One run that reads the offer of each."""
    street.save(
        *(
            an_observation(f"A-{n}", str(price_of(n)), mpn=f"{n + 1:04}A", name=f"Kettle {n}", observed_at=at)
            for n in range(count)
        ),
        at=at,
    )


def test_too_many_moves_send_all_of_them_to_review(street: Street) -> None:
    many(street, 60, lambda n: "20.00" if n < 25 else "20.50")
    done = street.price()
    assert dict(done.verdicts) == {"ALLOW": 35, "REVIEW": 25}
    assert codes(street.decision("S-0001")) == {"mass_change"}
    assert street.decision("S-0059").status == "APPROVED"


def test_as_many_moves_in_a_large_catalogue_pass(street: Street) -> None:
    many(street, 90, lambda n: "20.00" if n < 25 else "20.50")
    assert dict(street.price().verdicts) == {"ALLOW": 90}


def test_moves_of_earlier_runs_within_the_hour_count_too(street: Street) -> None:
    many(street, 60, lambda n: "20.00" if n < 25 else "20.50")
    first = [f"S-{n:04}" for n in range(15)]
    assert dict(street.price(*first).verdicts) == {"ALLOW": 15}
    # The same SKUs again are the same moves.
    assert dict(street.price(*first, now=NOW + timedelta(minutes=1)).verdicts) == {"ALLOW": 15}
    rest = [f"S-{n:04}" for n in range(15, 60)]
    done = street.price(*rest, now=NOW + timedelta(minutes=2))
    assert dict(done.verdicts) == {"ALLOW": 35, "REVIEW": 10}


def test_what_a_sku_moves_again_adds_up(street: Street) -> None:
    """25 of 90 SKUs, half a euro each, over and over: under 1 % each time, more than that in the hour."""
    body = {
        "version": "1-percent",
        "valid_from": "2026-01-01",
        "default": {"breaker_value_share": "0.01", "anomaly_market_move": "1"},
    }
    policies.propose(PolicyStore(street.engine), read_policy(body), by="ann", now=NOON)
    policies.approve(PolicyStore(street.engine), "1-percent", by="bob", reason="a test", now=NOON)
    many(street, 90, lambda n: "20.00" if n < 25 else "20.50")
    assert dict(street.price().verdicts) == {"ALLOW": 90}
    # Decided anew before anybody published: the same move, not a second one.
    assert dict(street.price(now=NOW + timedelta(minutes=1)).verdicts) == {"ALLOW": 90}
    with street.engine.begin() as tx:
        approved = price_decision.c.status == "APPROVED"
        tx.execute(update(price_decision).where(approved).values(status="VERIFIED"))
        tx.execute(update(sku).where(sku.c.sku < "S-0025").values(current_price=Decimal("20.00")))
    look(street, 90, lambda n: "19.50" if n < 25 else "20.50", at=NOW + timedelta(seconds=90))
    done = street.price(now=NOW + timedelta(minutes=2))
    assert dict(done.verdicts) == {"ALLOW": 65, "REVIEW": 25}
    assert codes(street.decision("S-0001")) == {"mass_change"}
    assert "prices by 25.00 of" in street.decision("S-0001").findings[-1]["detail"]


def test_what_passed_before_the_breaker_opened_is_taken_back(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(price, "BATCH", 15)
    many(street, 60, lambda n: "20.00" if n < 25 else "20.50")
    done = street.price()
    assert done.recalled == 15
    assert {name: count for name, count in done.verdicts.items() if count} == {"ALLOW": 35, "REVIEW": 25}
    stored = {row.decision_id: (row.verdict, row.status) for row in street.rows(price_decision)}
    assert {of: (made.verdict, made.state) for of, made in done.decisions} == stored
    taken = street.decision("S-0001")
    assert (taken.status, taken.verdict, codes(taken)) == ("REVIEW_REQUIRED", "REVIEW", {"mass_change"})
    assert street.events("sku:S-0001")[-2:] == ["price.approved", "approval.requested"]
    with street.engine.connect() as conn:
        assert verify_chain(conn) == []
