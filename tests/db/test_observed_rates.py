"""The rate that an observation keeps, and what its run says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Engine, select

from pricecrawl.db.crawl import CrawlStore, RejectionRow
from pricecrawl.db.events import verify_chain
from pricecrawl.db.rates import RateStore
from pricecrawl.db.tables import audit_event, observation, run
from pricecrawl.domain.reasons import RejectionReason
from tests.factories import NOON, an_observation, open_run

DAY = NOON.date()


def publish(engine: Engine, day: date, rates: dict[str, str], source: str = "live") -> None:
    store = RateStore(engine)
    given = [(code, Decimal(rate)) for code, rate in rates.items()]
    store.save("EUR", day, given, source=source, now=NOON - timedelta(hours=3))


def kept(engine: Engine, *currencies: str | None, **changes: Any) -> list[tuple[Decimal | None, str | None]]:
    store = CrawlStore(engine)
    run_id = open_run(store)
    seen = [
        replace(an_observation(f"A-{number}"), currency=currency, **changes)
        for number, currency in enumerate(currencies)
    ]
    store.save_batch(run_id, seen, [])
    with engine.connect() as conn:
        rows = conn.execute(
            select(observation.c.fx_rate, observation.c.fx_currency).order_by(observation.c.id)
        )
        return [(row.fx_rate, row.fx_currency) for row in rows]


def test_each_observation_keeps_the_rate_of_its_day(engine: Engine) -> None:
    publish(engine, DAY - timedelta(days=1), {"USD": "1.08", "GBP": "0.85"})
    publish(engine, DAY, {"USD": "1.09"})
    publish(engine, DAY + timedelta(days=1), {"USD": "1.30", "GBP": "0.99"})
    assert kept(engine, "USD", "GBP", "EUR", "THB", None) == [
        (Decimal("1.09"), "EUR"),
        (Decimal("0.85"), "EUR"),
        (Decimal(1), "EUR"),
        (None, None),
        (None, None),
    ]
    with engine.connect() as conn:
        row = conn.execute(select(run.c.fx_source, run.c.fx_fetched_at)).one()
    assert tuple(row) == ("live", NOON - timedelta(hours=3))


@pytest.mark.parametrize(("age", "rate"), [(5, Decimal("1.08")), (6, None)])
def test_an_old_rate_is_not_that_of_the_day(engine: Engine, age: int, rate: Decimal | None) -> None:
    publish(engine, DAY - timedelta(days=age), {"USD": "1.08"})
    assert kept(engine, "USD")[0][0] == rate


def test_the_run_says_when_a_rate_was_a_fallback(engine: Engine) -> None:
    publish(engine, DAY, {"USD": "1.09"})
    publish(engine, DAY, {"GBP": "0.85"}, source="fallback")
    kept(engine, "USD", "GBP")
    with engine.connect() as conn:
        assert conn.execute(select(run.c.fx_source)).scalar_one() == "fallback"


def test_a_batch_tells_what_was_read_made_comparable_and_stored(engine: Engine) -> None:
    """Three events, each caused by the one before, and one for what was read in vain."""
    store = CrawlStore(engine)
    run_id = open_run(store)
    doubtful = replace(an_observation("A-2", None), needs_review=True, method=None)
    store.save_batch(run_id, [an_observation("A-1"), doubtful], [])
    reason = RejectionReason.NO_NAME
    store.save_rejections(run_id, [RejectionRow("A-3", "https://kettles.example/3", reason, "no name", NOON)])
    query = select(audit_event).where(audit_event.c.aggregate == f"run:{run_id}").order_by(audit_event.c.id)
    with engine.connect() as conn:
        rows = list(conn.execute(query))
        assert verify_chain(conn) == []
    asked, extracted, normalized, created, in_vain = rows
    assert asked.event_type == "collection.requested"
    assert (extracted.event_type, extracted.payload["methods"], extracted.payload["without_price"]) == (
        "offer.extracted",
        {"json-ld": 1},
        1,
    )
    assert (normalized.event_type, normalized.payload["currencies"], normalized.payload["needs_review"]) == (
        "offer.normalized",
        {"EUR": 2},
        1,
    )
    assert (normalized.causation_id, created.causation_id) == (extracted.event_id, normalized.event_id)
    assert (in_vain.event_type, in_vain.payload["rejected"]) == ("offer.extracted", {"no_name": 1})
