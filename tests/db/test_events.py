"""The event log: chains that hold under concurrency, and tampering that shows."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, func, select, update

from pricecrawl.db import guards
from pricecrawl.db.engine import open_engine
from pricecrawl.db.events import EventLog, append_events, verify_chain
from pricecrawl.db.tables import audit_event
from pricecrawl.domain.events import GENESIS, Event, EventType, chain_hash
from tests.factories import NOON
from tests.shared import examples


def an_event(aggregate: str = "sku:W-1", **changes: Any) -> Event:
    made = Event(
        event_id=str(uuid4()),
        event_type=EventType.PRICE_COMPUTED,
        aggregate=aggregate,
        correlation_id="chain-1",
        causation_id=None,
        occurred_at=NOON,
        producer="test",
        payload={"price": "19.90", "é": [1, None, True], "n": {"b": 1, "a": 2}},
    )
    return replace(made, **changes)


def unguard(engine: Engine) -> None:
    """What somebody with all rights on the database can do."""
    on = "" if engine.dialect.name == "sqlite" else " ON audit_event"
    with engine.begin() as conn:
        for action in ("update", "delete"):
            conn.exec_driver_sql(f"DROP TRIGGER audit_event_no_{action}{on}")


def broken(engine: Engine) -> list[tuple[str, int, str]]:
    with engine.connect() as conn:
        return [(row.aggregate, row.aggregate_seq, row.problem) for row in verify_chain(conn)]


def test_each_aggregate_is_a_chain_of_its_own(engine: Engine) -> None:
    log = EventLog(engine)
    first, second, other = an_event(), an_event(), an_event("sku:W-2")
    log.append([first, other])
    log.append([second])
    with engine.connect() as conn:
        rows = conn.execute(select(audit_event).order_by(audit_event.c.id)).all()
    assert [(row.aggregate, row.aggregate_seq) for row in rows] == [
        ("sku:W-1", 1),
        ("sku:W-2", 1),
        ("sku:W-1", 2),
    ]
    assert rows[0].previous_hash == rows[1].previous_hash == GENESIS
    assert rows[2].previous_hash == rows[0].hash == chain_hash(GENESIS, first)
    assert broken(engine) == []
    assert log.of_aggregate("sku:W-1") == [first, second]
    assert log.of_correlation("chain-1") == [first, other, second]
    assert log.after(rows[0].id) == [(rows[1].id, other), (rows[2].id, second)]
    assert log.tips() == {"sku:W-1": rows[2].hash, "sku:W-2": rows[1].hash}
    log.append([])


def test_many_aggregates_at_once(engine: Engine) -> None:
    log = EventLog(engine)
    many = [an_event(f"sku:{n % 600}") for n in range(1500)]
    log.append(many[:1000])
    log.append(many[1000:])
    assert broken(engine) == []
    assert len(log.of_aggregate("sku:0")) == 3


def test_an_event_goes_with_the_state_it_tells_of(engine: Engine) -> None:
    def fail_after_telling() -> None:
        with engine.begin() as conn:
            append_events(conn, [an_event()])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_telling()
    assert EventLog(engine).of_aggregate("sku:W-1") == []


def test_writers_of_one_chain_wait_for_each_other(engine: Engine) -> None:
    names = [f"sku:{n}" for n in range(12)]
    problems: list[BaseException] = []

    def write(order: int) -> None:
        mine = names if order % 2 else list(reversed(names))
        try:
            for start in range(0, 12, 3):
                with engine.begin() as conn:
                    append_events(conn, [an_event(name) for name in mine[start : start + 3]])
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert broken(engine) == []
    with engine.connect() as conn:
        last = select(func.max(audit_event.c.aggregate_seq)).group_by(audit_event.c.aggregate)
        assert set(conn.execute(last).scalars()) == {8}


@pytest.mark.postgres
def test_whoever_follows_the_log_passes_by_nothing_that_comes_to_light_later(pg_url: str) -> None:
    """PostgreSQL gives row ids before it commits: a later one can be seen first."""
    engine = open_engine(pg_url)
    log = EventLog(engine)
    log.append([an_event("sku:A")])
    slow, slower = engine.connect(), engine.connect()
    append_events(slow, [an_event("sku:B")])
    log.append([an_event("sku:A")])
    append_events(slower, [an_event("sku:C"), an_event("sku:D")])
    append_events(slow, [an_event("sku:B")])
    seen: list[tuple[int, str]] = []

    def follow() -> list[str]:
        new = log.after(seen[-1][0] if seen else 0)
        seen.extend((number, item.aggregate) for number, item in new)
        return [item.aggregate for _, item in new]

    assert follow() == ["sku:A"]
    assert follow() == []
    slow.commit()
    assert follow() == ["sku:B", "sku:A"]
    slower.rollback()
    assert follow() == ["sku:B"]
    log.append([an_event("sku:E")])
    assert follow() == ["sku:E"]
    assert [number for number, _ in seen] == sorted(number for number, _ in seen)
    for conn in (slow, slower):
        conn.close()
    engine.dispose()


def test_tampering_shows_and_names_the_row(engine: Engine) -> None:
    log = EventLog(engine)
    log.append([an_event() for _ in range(5)] + [an_event("sku:other")])
    unguard(engine)
    with engine.connect() as conn:
        rows = conn.execute(select(audit_event).order_by(audit_event.c.aggregate_seq)).all()
    third = next(row for row in rows if row.aggregate_seq == 3)

    def spoil(statement: Any) -> list[tuple[str, int, str]]:
        """What is found after a change that is then undone."""
        with engine.connect() as conn, conn.begin() as change:
            conn.execute(statement)
            found = [(row.aggregate, row.aggregate_seq, row.problem) for row in verify_chain(conn)]
            assert all(row.row_id > 0 for row in verify_chain(conn))
            change.rollback()
        return found

    change = update(audit_event).where(audit_event.c.id == third.id)
    for values in (
        {"payload": {"price": "0.01"}},
        {"occurred_at": NOON + timedelta(seconds=1)},
        {"event_type": "price.approved"},
        {"producer": "somebody"},
        {"causation_id": "x"},
        {"correlation_id": "y"},
    ):
        found = spoil(change.values(**values))
        assert found == [("sku:W-1", 3, "was changed after it was written")]
    assert spoil(change.values(hash="f" * 64)) == [
        ("sku:W-1", 3, "was changed after it was written"),
        ("sku:W-1", 4, "does not carry the hash of the event before it"),
    ]
    assert spoil(delete(audit_event).where(audit_event.c.id == third.id)) == [
        ("sku:W-1", 4, "follows number 2: events between them are missing")
    ]
    assert spoil(change.values(event_type="nonsense"))[0][1] == 3
    assert broken(engine) == []


def test_a_cut_tail_shows_against_kept_tips(engine: Engine) -> None:
    log = EventLog(engine)
    log.append([an_event() for _ in range(3)])
    kept = log.tips()
    unguard(engine)
    with engine.begin() as conn:
        conn.execute(delete(audit_event).where(audit_event.c.aggregate_seq == 3))
    assert broken(engine) == []
    assert log.tips() != kept
    with engine.begin() as conn:
        guards.install(conn)
    with engine.connect() as conn:
        assert guards.missing(conn) == []


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(
    max_examples=examples(50, 2000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    payload=st.dictionaries(st.text(st.characters(), max_size=8), json_values, max_size=4),
    seconds=st.integers(0, 10**10),
    hours=st.integers(-12, 12),
)
def test_any_event_survives_the_database(
    engine: Engine, payload: dict[str, Any], seconds: int, hours: int
) -> None:
    """Time zones, key order and number forms of the database must not break the hash."""
    at = (NOON + timedelta(microseconds=seconds)).astimezone(timezone(timedelta(hours=hours)))
    event = an_event(f"sku:{uuid4()}", payload=payload, occurred_at=at)
    EventLog(engine).append([event])
    with engine.connect() as conn:
        assert verify_chain(conn, aggregate=event.aggregate) == []


def test_a_time_in_another_zone_is_the_same_event(engine: Engine) -> None:
    there = NOON.astimezone(timezone(timedelta(hours=5)))
    EventLog(engine).append([an_event(occurred_at=there)])
    assert broken(engine) == []
    assert EventLog(engine).of_aggregate("sku:W-1")[0].occurred_at.tzinfo == UTC
