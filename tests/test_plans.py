"""The watch over query plans (`tests.plans`) sees what it is there for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Select, select

import pricecrawl
from pricecrawl.db.engine import open_engine
from pricecrawl.db.mappings import MappingStore
from pricecrawl.db.sql import unindexed
from pricecrawl.db.tables import audit_event, observation, price_decision
from tests import plans
from tests.plans import walks


@pytest.fixture
def conn(sqlite_url: str):
    engine: Engine = open_engine(sqlite_url)
    with engine.connect() as conn:
        yield conn
    engine.dispose()


def found(conn: Connection, query: Select[Any]) -> list[tuple[str, bool]]:
    text = str(query.compile(conn, compile_kwargs={"literal_binds": True}))
    rows = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")
    return walks((row[0], row[1], row[3]) for row in rows)


def test_a_scan_is_a_walk(conn):
    ((line, repeated),) = found(conn, select(observation).where(observation.c.price.is_(None)))
    assert line.startswith("SCAN observation")
    assert not repeated


def test_a_scan_inside_a_loop_is_repeated(conn):
    inner = select(observation.c.id).where(observation.c.evidence_id == audit_event.c.id).exists()
    lines = found(conn, select(audit_event.c.id).where(~inner))
    assert ("SCAN observation", True) in lines


def test_a_search_by_what_many_rows_share_is_a_walk(conn):
    assert found(conn, select(price_decision).where(price_decision.c.status == "APPROVED"))


def test_a_search_by_a_key_is_none(conn):
    assert not found(conn, select(price_decision).where(price_decision.c.decision_id == "x"))
    assert not found(conn, select(observation).where(observation.c.id.in_([1, 2])))


def test_sqlite_takes_a_status_for_rarer_than_a_list_of_keys(conn):
    named = price_decision.c.decision_id.in_([str(n) for n in range(40)])
    assert found(conn, select(price_decision).where(named, price_decision.c.status == "APPROVED"))
    assert not found(
        conn, select(price_decision).where(named, unindexed(price_decision.c.status) == "APPROVED")
    )


def test_the_watch_sees_what_the_product_asks(conn, monkeypatch):
    seen: list[str] = []
    monkeypatch.setattr(plans, "found", seen)
    monkeypatch.setattr(plans, "_seen", set())
    monkeypatch.setattr(plans, "_shapes", set())
    conn.execute(select(observation).where(observation.c.price.is_(None)))  # a test's own question
    assert seen == []
    store = MappingStore(conn.engine)
    store.counts()
    assert seen == []
    monkeypatch.setattr(plans, "MEANS_ALL", {})
    monkeypatch.setattr(plans, "_seen", set())
    monkeypatch.setattr(plans, "_shapes", set())
    store.counts()
    assert len(seen) == 1
    assert seen[0].startswith("mappings.py:counts: SCAN mapping")


def test_every_exception_names_a_function_that_is_there():
    for place in plans.MEANS_ALL:
        file, function = place.split(":")
        text = (Path(pricecrawl.__file__).parent / "db" / file).read_text()
        assert function == "<dictcomp>" or f"def {function}(" in text, place
