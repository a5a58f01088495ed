from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import func, select, update

from pricecrawl.db.history import HistoryStore
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.tables import candidate_review, metadata
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.pricing.policy import read_policy
from pricecrawl.workflows import simulate
from tests.factories import NOON
from tests.workflows.street import COUNTRIES, GTIN, NOW, SKUS, Street


def policy(**default: Any) -> Any:
    return read_policy({"version": "what-if", "valid_from": "2026-01-01", "default": default})


def replayed(
    street: Street, candidate: Any, *, since: datetime = NOON - timedelta(days=1)
) -> simulate.Simulated:
    return simulate.run(HistoryStore(street.engine), candidate, since=since, now=NOW, countries=COUNTRIES)


def euros(side: simulate.Side) -> simulate.Money:
    return side.money["EUR"]


def rows_everywhere(street: Street) -> dict[str, int]:
    with street.engine.connect() as conn:
        return {
            table.name: conn.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


@pytest.fixture
def week(street: Street) -> Street:
    """One SKU at 20.50 whose competitor goes 20.00, 19.50, 17.00 hour by hour."""
    street.catalogue()
    for hour, price in enumerate(("20.00", "19.50", "17.00")):
        street.observe(price, at=NOON + timedelta(hours=hour))
    street.match(now=NOW + timedelta(hours=3))
    return street


def test_two_policies_over_the_same_past(week: Street) -> None:
    done = replayed(week, policy(review_decrease="0.20"))
    assert (done.skus, done.moments) == (1, 3)
    # In force: two small steps are allowed, the large one waits at 19.50.
    assert (done.current.version, done.current.decisions) == ("builtin-1", 3)
    assert (done.current.changes, done.current.reviews, done.current.blocks) == (2, 1, 0)
    assert euros(done.current).revenue == Decimal("19.50")
    # What if 20 % down needed nobody: it follows to 17.00 and is never over the market.
    assert (done.candidate.changes, done.candidate.reviews) == (3, 0)
    assert euros(done.candidate).revenue == Decimal("17.00")
    assert done.candidate.win_rate == 1
    assert done.current.win_rate == Decimal(2) / 3
    assert euros(done.candidate).margin == Decimal("5.50") / Decimal("17.00")
    assert round(euros(done.candidate).price_level, 3) == Decimal("0.829")


def test_what_is_sold_out_today_was_for_sale_then(week: Street) -> None:
    week.observe("17.00", at=NOON + timedelta(hours=4), availability=Availability.OUT_OF_STOCK)
    done = replayed(week, policy(review_decrease="0.20"))
    # Three moments with a price, and one with nothing to compare with.
    assert (done.moments, done.current.changes, done.current.blocks) == (4, 2, 1)
    assert (done.candidate.changes, done.candidate.priced) == (3, 3)


def test_a_policy_that_blocks_and_one_that_reviews(week: Street) -> None:
    strict = replayed(week, policy(map_required=True)).candidate
    assert (strict.blocks, strict.changes) == (3, 0)
    dear = replayed(week, policy(required_margin="0.45")).candidate
    assert (dear.reviews, dear.changes, dear.win_rate) == (3, 0, 0)


def test_nothing_is_written(week: Street) -> None:
    before = rows_everywhere(week)
    replayed(week, policy())
    assert rows_everywhere(week) == before


def test_the_replay_starts_from_the_price_of_that_time(week: Street) -> None:
    week.price(now=NOON + timedelta(hours=2, minutes=5))
    store = HistoryStore(week.engine)
    (past,) = store.pasts(NOON - timedelta(days=1))
    assert past.price_at_start == Decimal("20.50")


def test_no_past_is_said(street: Street) -> None:
    street.catalogue()
    with pytest.raises(UsageProblem, match="there is nothing to replay"):
        replayed(street, policy())


def test_what_was_read_shortly_before_still_counts_when_the_replay_begins(street: Street) -> None:
    """By hand: until 11:50 + 120 min the lowest is 20.00; the offer of 22.00 alone would ask for more."""
    street.catalogue()
    street.observe("20.00", at=NOON - timedelta(minutes=10))
    street.observe("22.00", source="mugs", at=NOON)
    street.observe("22.10", source="mugs", at=NOON + timedelta(minutes=110, seconds=1))
    street.match(now=NOW + timedelta(hours=3))
    done = replayed(street, policy(), since=NOON).current
    # First down to 20.00, then, when that is too old, 10.5 % up: for a person.
    assert (done.decisions, done.changes, done.reviews) == (2, 1, 1)
    assert (euros(done).revenue, done.winning, done.priced) == (Decimal("20.00"), 2, 2)


@pytest.mark.parametrize(("late", "moments"), [(timedelta(0), 2), (timedelta(microseconds=1), 1)])
def test_the_first_reading_counts_from_its_own_moment_on(
    street: Street, late: timedelta, moments: int
) -> None:
    street.catalogue()
    street.observe("20.00", at=NOON)
    street.observe("19.90", at=NOON + timedelta(hours=1))
    street.match(now=NOW + timedelta(hours=3))
    assert replayed(street, policy(), since=NOON + late).moments == moments


def test_a_market_that_had_jumped_when_the_replay_begins_is_seen(street: Street) -> None:
    street.catalogue()
    street.observe("30.00", at=NOON - timedelta(minutes=10))
    street.observe("20.00", at=NOON)
    street.match(now=NOW)
    assert replayed(street, policy(), since=NOON).current.reviews == 1
    assert replayed(street, policy(anomaly_market_move="0.50"), since=NOON).candidate.reviews == 0


def test_what_a_person_chose_counts_from_then_on(street: Street) -> None:
    street.catalogue()
    doubtful = {"needs_review": True, "review_reasons": (ReviewReason.TIE,)}
    street.observe("20.00", at=NOON, **doubtful)
    street.observe("25.00", source="mugs", at=NOON + timedelta(minutes=10))
    street.observe("25.10", source="mugs", at=NOON + timedelta(minutes=50))
    street.match(now=NOW)
    with street.engine.begin() as conn:
        chosen = {"kind": "standard", "amount": "19.80", "currency": "EUR", "tax_basis": "unknown"}
        conn.execute(
            update(candidate_review).values(
                status="approved", decided_at=NOON + timedelta(minutes=30), chosen=chosen
            )
        )
    done = replayed(street, policy()).current
    # In doubt: nothing to go by, then 25.00 where the doubt may hide a lower one; settled: 19.80.
    assert (done.decisions, done.blocks, done.reviews, done.changes) == (3, 1, 1, 1)
    assert euros(done).revenue == Decimal("19.80")


def test_settings_of_one_sku_that_cannot_be_read_block_here_too(week: Street) -> None:
    store = PolicyStore(week.engine)
    with store.begin() as tx:
        store.override(tx, "K-1", {"required_margin": "lots"}, by="ann", now=NOW)
    done = replayed(week, policy())
    assert (done.current.blocks, done.candidate.blocks) == (3, 3)


def test_yen_and_euros_are_not_added_up(week: Street) -> None:
    yen = SKUS.replace("K-1", "Y-1").replace(GTIN, "9521234500018").replace("20.50", "3000")
    week.catalogue(skus=yen.replace("EUR", "JPY"), costs="sku,cogs,valid_from\nY-1,1200,2026-01-01\n")
    week.observe("2900", currency="JPY", sku="B-1", gtin="09521234500018", at=NOON)
    week.match(now=NOW)
    money = replayed(week, policy()).current.money
    assert {name: (sums.revenue, sums.cost, sums.start) for name, sums in money.items()} == {
        "EUR": (Decimal("19.50"), Decimal("11.50"), Decimal("20.50")),
        "JPY": (Decimal(2900), Decimal(1200), Decimal(3000)),
    }
