from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import func, select

from pricecrawl.db.history import HistoryStore
from pricecrawl.db.tables import metadata
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.pricing.policy import read_policy
from pricecrawl.workflows import simulate
from tests.factories import NOON
from tests.workflows.street import COUNTRIES, NOW, Street


def policy(**default: Any) -> Any:
    return read_policy({"version": "what-if", "valid_from": "2026-01-01", "default": default})


def replayed(street: Street, candidate: Any) -> simulate.Simulated:
    return simulate.run(
        HistoryStore(street.engine), candidate, since=NOON - timedelta(days=1), now=NOW, countries=COUNTRIES
    )


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
    assert done.current.revenue == Decimal("19.50")
    # What if 20 % down needed nobody: it follows to 17.00 and is never over the market.
    assert (done.candidate.changes, done.candidate.reviews) == (3, 0)
    assert done.candidate.revenue == Decimal("17.00")
    assert done.candidate.win_rate == 1
    assert done.current.win_rate == Decimal(2) / 3
    assert done.candidate.margin == Decimal("5.50") / Decimal("17.00")
    assert done.candidate.cell("price_level") == "82.9 %"


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
