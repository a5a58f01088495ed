"""Checking what is stored against itself, without a network: chains, digests, floors, links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pricecrawl.db.audit_pricing import AuditStore
from pricecrawl.pricing.rounding import on_quantum, quantum
from pricecrawl.pricing.states import State
from pricecrawl.workflows.decision_rows import DECISION_FACTS, SNAPSHOT_FACTS, digest

_MAY_BE_SOLD = {
    *(
        State.APPROVED,
        State.PUBLISH_PENDING,
        State.PUBLISHING,
        State.PUBLISHED,
        State.VERIFYING,
        State.VERIFIED,
    )
}


@dataclass(slots=True)
class Audited:
    """What was looked at, and every problem as the table, the row and a sentence."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, table: str, row: object, problem: str) -> None:
        """Note a problem."""
        self.problems.append((table, str(row), problem))


def run(store: AuditStore) -> Audited:
    """Look at every event, decision, snapshot and batch of observations; writes nothing."""
    found = Audited()
    with store.engine.connect() as conn:
        found.counts = store.counts(conn)
        for broken in (*store.broken_events(conn), *store.broken_observations(conn)):
            where = f"{broken.row_id} ({broken.aggregate}, number {broken.aggregate_seq})"
            found.add("audit_event", where, broken.problem)
        _decisions(store, conn, found)
        _snapshots(store, conn, found)
        for table, row, problem in store.dangling(conn):
            found.add(table, row, problem)
    return found


def _decisions(store: AuditStore, conn: Any, found: Audited) -> None:
    for row in store.decisions(conn):
        name = f"{row['decision_id']} ({row['sku']})"
        for problem in _wrong_with(row):
            found.add("price_decision", name, problem)
        if row["told"] is None:
            found.add("price_decision", name, "has no event that tells of it")
        elif row["told"].get("sha256") != digest(row, DECISION_FACTS):
            found.add("price_decision", name, "was changed after its event was written")


def _wrong_with(row: Mapping[str, Any]) -> Iterator[str]:
    proposed: Decimal | None = row["proposed_price"]
    blocked = any(item["verdict"] == "BLOCK" for item in row["findings"])
    sold = row["status"] in _MAY_BE_SOLD
    if proposed is not None and not blocked:
        floor = row["allowed_floor"]
        # A person may let a rollback go under today's floor; that it was a person is checked below.
        seen = row["verdict"] == "REVIEW" and row["decision_reason"] == "rollback"
        if floor is None or (proposed < floor and not seen):
            yield f"proposes {proposed} under its floor {floor}"
        if not on_quantum(proposed, quantum(row["currency"])):
            yield f"proposes {proposed}, which is off the quantum of {row['currency']}"
    if sold and proposed is None:
        yield f"is {row['status']} without a price"
    if sold and blocked and "exception" not in row["approvals"]:
        yield f"is {row['status']} although a guardrail blocks it"
    if row["verdict"] == "REVIEW" and sold and not row["approvals"]:
        yield f"is {row['status']} although nobody approved it"


def _snapshots(store: AuditStore, conn: Any, found: Audited) -> None:
    for row in store.snapshots(conn):
        if row["told"] is None:
            found.add("market_price_snapshot", row["id"], "has no event that tells of it")
        elif row["told"].get("sha256") != digest(row, SNAPSHOT_FACTS):
            found.add("market_price_snapshot", row["id"], "was changed after its event was written")
