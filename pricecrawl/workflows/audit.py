"""Checking what is stored against itself, without a network: chains, digests, floors, links, pages.

What was changed by somebody with all rights on the database shows in three ways: the event log is chains of
hashes, every row is beside what its events say of it (`workflows.vouching`), and a mark of the whole log
(`Anchor`), kept where that somebody cannot write, shows what was cut off the end of a chain or written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, overload

from pricecrawl.db.audit_pricing import AuditStore, ToldDecision
from pricecrawl.db.evidence_index import EvidenceIndex
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.pricing.rounding import on_quantum, quantum
from pricecrawl.workflows import vouching
from pricecrawl.workflows.decision_rows import DECISION_FACTS, SNAPSHOT_FACTS, digest


@dataclass(slots=True)
class Audited:
    """What was looked at, and every problem as the table, the row and a sentence."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, table: str, row: object, problem: str) -> None:
        """Note a problem."""
        self.problems.append((table, str(row), problem))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A mark of the whole event log up to a row: how many events there were, and their SHA-256."""

    until: int
    events: int
    sha256: str


def anchor(store: AuditStore) -> Anchor:
    """A mark of the log as it is now, to be kept where nobody who writes the database can change it."""
    with store.engine.connect() as conn:
        return Anchor(*store.fingerprint(conn))


def against(store: AuditStore, kept: Anchor, found: Audited) -> None:
    """Compare the log with a mark that was taken of it before."""
    with store.engine.connect() as conn:
        now = Anchor(*store.fingerprint(conn, kept.until))
    where = f"up to {kept.until}"
    if now.events != kept.events:
        found.add("audit_event", where, f"had {kept.events} events, and there are {now.events}")
    elif now.sha256 != kept.sha256:
        found.add("audit_event", where, "has other events than when its mark was taken")


def run(
    store: AuditStore, pages: EvidenceIndex | None = None, evidence: EvidenceStore | None = None
) -> Audited:
    """Look at everything that prices stand on, with `pages` and `evidence` at every stored page too.

    Writes nothing.

    Raises:
        StorageProblem: the evidence store cannot be reached.
    """
    found = Audited()
    with store.engine.connect() as conn:
        found.counts = store.counts(conn)
        for broken in (*store.broken_events(conn), *store.broken_observations(conn)):
            found.add(
                "audit_event", _place(broken.row_id, broken.aggregate, broken.aggregate_seq), broken.problem
            )
        for number, aggregate, seq, cause in store.uncaused(conn):
            found.add(
                "audit_event", _place(number, aggregate, seq), f"was caused by {cause}, which is not there"
            )
        _decisions(store, conn, found)
        _snapshots(store, conn, found)
        for table, look in vouching.OWN.items():
            for key, row, events in store.aggregates(conn, table):
                for problem in _looked(look(row, events)):
                    found.add(table, key, problem)
        if not store.costs_stand(conn):
            found.add("sku_cost", "all", "are other costs than the last event of the catalogue tells of")
        for table, name in store.lost(conn):
            found.add(table, name, "is not there, and an event tells of it")
        for table, number, problem in store.dangling(conn):
            found.add(table, number, problem)
    if pages is not None and evidence is not None:
        _evidence(pages, evidence, found)
    return found


def _place(number: int, aggregate: str, seq: int) -> str:
    return f"{number} ({aggregate}, number {seq})"


def _evidence(pages: EvidenceIndex, store: EvidenceStore, found: Audited) -> None:
    found.counts["evidence"] = 0
    for page in pages.pages():
        found.counts["evidence"] += 1
        problem = what_is_wrong(store, page.ref)
        if problem:
            found.add("evidence", f"{page.evidence_id} ({page.source})", problem)


def what_is_wrong(store: EvidenceStore, ref: EvidenceRef) -> str:
    """Why a stored page does not prove anything; empty where it does."""
    if store.verify(ref):
        return ""
    try:
        store.read(ref)
    except StorageProblem as problem:
        return str(problem).rstrip(".")
    return "it did not match its digest"


def _decisions(store: AuditStore, conn: Any, found: Audited) -> None:
    imported = store.costs_changed_at(conn)
    for item in store.decisions(conn):
        row, events = item.row, item.events
        name = f"{row['decision_id']} ({row['sku']})"
        for problem in (*_looked(_wrong_with(item)), *_looked(vouching.decision(row, events))):
            found.add("price_decision", name, problem)
        told = next(
            (event["payload"] for event in events if event["event_type"] == EventType.PRICE_COMPUTED.value),
            None,
        )
        if told is None:
            found.add("price_decision", name, "has no event that tells of it")
        elif told.get("sha256") != digest(row, DECISION_FACTS):
            found.add("price_decision", name, "was changed after its event was written")
        for number, problem in _looked(vouching.approvals(item.approvals, events), of=_unnamed):
            found.add("approval", number if number is not None else f"of decision {name}", problem)
        for other in item.overrides:
            for problem in _looked(vouching.override(other, events)):
                found.add("manual_override", other["id"], problem)
        for other in item.publications:
            own = [
                event for event in events if event["aggregate"] == f"publication:{other['publication_id']}"
            ]
            for problem in _looked(vouching.publication(other, row, own)):
                found.add("publication", f"{other['publication_id']} ({row['sku']})", problem)
        if imported is not None and row["created_at"] > imported:
            for number, problem in _looked(vouching.costs(item.costs, row), of=_unnamed):
                found.add("sku_cost", number if number is not None else row["sku"], problem)


@overload
def _looked(problems: Iterator[str]) -> Iterator[str]: ...


@overload
def _looked(
    problems: Iterator[tuple[int | None, str]], *, of: Callable[[str], tuple[int | None, str]]
) -> Iterator[tuple[int | None, str]]: ...


def _looked(problems: Iterator[Any], *, of: Callable[[str], Any] = str) -> Iterator[Any]:
    """The problems that were found; words that we never write are one more, and end no audit."""
    try:
        yield from problems
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError) as mistake:
        yield of(f"has something that nothing of ours writes ({type(mistake).__name__})")


def _unnamed(problem: str) -> tuple[int | None, str]:
    return None, problem


def _wrong_with(item: ToldDecision) -> Iterator[str]:
    row, actions = item.row, {approval["action"] for approval in item.approvals}
    proposed: Decimal | None = row["proposed_price"]
    blocked = any(finding["verdict"] == "BLOCK" for finding in row["findings"])
    sold = row["status"] in vouching.SOLD
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
    if sold and blocked and "exception" not in actions:
        yield f"is {row['status']} although a guardrail blocks it"
    if row["verdict"] == "REVIEW" and sold and not actions:
        yield f"is {row['status']} although nobody approved it"


def _snapshots(store: AuditStore, conn: Any, found: Audited) -> None:
    for row in store.snapshots(conn):
        if row["told"] is None:
            found.add("market_price_snapshot", row["id"], "has no event that tells of it")
        elif row["told"].get("sha256") != digest(row, SNAPSHOT_FACTS):
            found.add("market_price_snapshot", row["id"], "was changed after its event was written")
