from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from pricecrawl.db.audit_pricing import AuditStore
from pricecrawl.db.engine import open_engine
from pricecrawl.db.tables import (
    market_price_snapshot,
    price_decision,
)
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.workflows import audit
from pricecrawl.workflows.trace import Trace, trace
from tests.workflows.street import Street


def price_two_offers(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("18.00", source="mugs", condition="used")
    street.match()
    street.price()


@pytest.fixture
def priced(street: Street) -> Street:
    price_two_offers(street)
    return street


def traced(street: Street, name: str = "K-1") -> Trace:
    return trace(TraceStore(street.engine), street.evidence, name)


def unguarded(street: Street, *statements: Any) -> None:
    """Changes behind our back, by somebody who may switch the database's own guards off."""
    with street.engine.begin() as conn:
        tables = ("observation", "audit_event")
        if conn.dialect.name == "sqlite":
            # SQLite turns foreign keys off between transactions only.
            conn.exec_driver_sql("COMMIT")
            conn.exec_driver_sql("PRAGMA foreign_keys=OFF")
            conn.exec_driver_sql("BEGIN")
            for table in tables:
                for action in ("update", "delete"):
                    conn.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{action}"))
        else:
            conn.execute(text("SET session_replication_role = replica"))
        for statement in statements:
            conn.execute(text(statement) if isinstance(statement, str) else statement)


def test_a_price_is_followed_down_to_the_bytes_of_every_page(priced: Street) -> None:
    found = traced(priced)
    assert found.complete
    assert [(offer["role"], offer["source"]) for offer in found.offers] == [
        ("winner", "kettles"),
        ("excluded", "mugs"),
    ]
    assert all(offer["evidence"]["verified"] for offer in found.offers)
    assert found.offers[0]["evidence"]["digest"].startswith("sha256:")
    assert [row["event_type"] for row in found.events] == [
        "market_price.computed",
        "price.computed",
        "policy.evaluated",
        "price.approved",
    ]
    of = priced.decision().decision_id
    assert traced(priced, of).decision == traced(priced, of[:8]).decision == found.decision


def test_names_that_lead_nowhere_are_refused(priced: Street, street: Street) -> None:
    with pytest.raises(UsageProblem, match="there is no SKU, decision or publication 'nothing'"):
        traced(priced, "nothing")


def test_a_sku_that_was_never_priced_is_said(street: Street) -> None:
    street.catalogue()
    with pytest.raises(UsageProblem, match="K-1 was never priced"):
        traced(street)


def test_a_changed_page_is_named(priced: Street) -> None:
    page = next((priced.folder / "evidence").rglob("kettles/**/*.warc.gz"))
    data = bytearray(page.read_bytes())
    data[-40] ^= 0xFF
    data[len(data) // 2] ^= 0xFF
    page.write_bytes(bytes(data))
    found = traced(priced)
    assert any("evidence of observation 1 (kettles/A-1)" in gap for gap in found.missing)


def test_a_lost_page_and_a_pruned_one_are_named(priced: Street) -> None:
    next((priced.folder / "evidence").rglob("kettles/**/*.warc.gz")).unlink()
    unguarded(priced, "UPDATE evidence SET pruned_at = fetched_at WHERE source = 'mugs'")
    missing = " / ".join(traced(priced).missing)
    assert "kettles/A-1): the evidence file" in missing
    assert "mugs/A-1): it was pruned on 2026-03-14" in missing


def test_a_changed_decision_and_snapshot_are_named(priced: Street) -> None:
    unguarded(
        priced,
        update(price_decision).values(allowed_floor=None),
        update(market_price_snapshot).values(winning_observation_id=2),
    )
    missing = traced(priced).missing
    assert any("the decision is not the one" in gap for gap in missing)
    assert any("the market price snapshot is not the one" in gap for gap in missing)


def test_each_link_that_is_gone_is_named(priced: Street) -> None:
    unguarded(
        priced,
        "DELETE FROM audit_event WHERE event_type = 'price.approved'",
        "DELETE FROM observation WHERE id = 1",
        "DELETE FROM mapping WHERE id = 2",
        "DELETE FROM pricing_policy",
    )
    missing = " / ".join(traced(priced).missing)
    for link in (
        "policy builtin-1",
        "observation 1 of kettles/A-1",
        "mapping 2 of mugs",
        "event price.approved",
    ):
        assert link in missing


def test_a_sound_database_has_no_problem(priced: Street) -> None:
    found = audit.run(AuditStore(priced.engine))
    assert found.problems == []
    assert found.counts["price_decision"] == 1
    assert found.counts["audit_event"] > 10


@pytest.mark.parametrize(
    ("statement", "table", "words"),
    [
        (
            "UPDATE audit_event SET occurred_at = '2020-01-01' WHERE event_type = 'price.computed'",
            "audit_event",
            "was changed after it was written",
        ),
        (
            "DELETE FROM audit_event WHERE event_type = 'price.computed'",
            "audit_event",
            "events between them are missing",
        ),
        ("UPDATE observation SET needs_review = true WHERE id = 1", "audit_event", "other observations"),
        ("DELETE FROM observation WHERE id = 1", "audit_event", "there are 0"),
        ("UPDATE price_decision SET steps = '{}'", "price_decision", "was changed after its event"),
        ("UPDATE price_decision SET currency = 'USD'", "price_decision", "was changed after its event"),
        ("UPDATE price_decision SET proposed_price = '1.00'", "price_decision", "under its floor"),
        ("UPDATE price_decision SET proposed_price = '20.001'", "price_decision", "off the quantum"),
        ("UPDATE price_decision SET verdict = 'REVIEW'", "price_decision", "nobody approved it"),
        (
            "UPDATE market_price_snapshot SET excluded = '[]'",
            "market_price_snapshot",
            "was changed",
        ),
        ("UPDATE observation SET evidence_id = 999 WHERE id = 1", "observation", "names evidence 999"),
    ],
)
def test_each_way_of_tampering_is_named(
    sqlite_url: str, tmp_path: Path, statement: str, table: str, words: str
) -> None:
    """One database is enough here: the next test looks at both."""
    engine = open_engine(sqlite_url)
    priced = Street(engine, tmp_path)
    price_two_offers(priced)
    unguarded(priced, statement)
    problems = audit.run(AuditStore(engine)).problems
    engine.dispose()
    assert any(where == table and words in problem for where, _, problem in problems), problems


def test_the_name_of_a_tampered_row_is_its_id_and_aggregate(priced: Street) -> None:
    unguarded(priced, "UPDATE audit_event SET occurred_at = '2020-01-01' WHERE event_type = 'price.approved'")
    ((table, row, _),) = audit.run(AuditStore(priced.engine)).problems
    assert table == "audit_event"
    assert "sku:K-1, number 4" in row


def test_an_evidence_store_that_is_empty_verifies_nothing(priced: Street) -> None:
    empty = EvidenceStore(str(priced.folder / "elsewhere"))
    assert not trace(TraceStore(priced.engine), empty, "K-1").complete
