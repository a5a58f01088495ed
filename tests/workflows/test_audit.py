"""Whatever is changed, removed or put in behind our back is named, on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Connection, Integer, Table, delete, insert, select, text, update

from pricecrawl.db import tables
from pricecrawl.db.audit_pricing import AuditStore
from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.engine import open_engine
from pricecrawl.db.events import event_of
from pricecrawl.db.evidence_index import EvidenceIndex
from pricecrawl.db.holds import HoldStore
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.saving import FACTS, REST
from pricecrawl.db.tokens import TokenStore
from pricecrawl.db.trace import TraceStore
from pricecrawl.db.types import Amount, UtcDateTime
from pricecrawl.domain.events import chain_hash
from pricecrawl.domain.roles import Role
from pricecrawl.pricing.policy import read_policy
from pricecrawl.workflows import audit, catalogue, exceptions, holds, policies, review, tokens
from pricecrawl.workflows.decision_rows import DECISION_FACTS, SNAPSHOT_FACTS
from pricecrawl.workflows.trace import Trace, trace
from tests.factories import NOON
from tests.workflows.shelf import Clock, Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import NOW, Street

LATER = NOW + timedelta(minutes=10)
Problems = list[tuple[str, str, str]]


@dataclass
class Inside:
    """An engine whose only connection is one with a transaction that is never committed."""

    conn: Connection

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        yield self.conn


@dataclass
class Whole:
    """A street on which everything that an audit looks at has happened."""

    stall: Stall
    far: str
    """The decision that a person approved."""

    @property
    def street(self) -> Street:
        return self.stall.street

    @contextmanager
    def unguarded(self) -> Iterator[Connection]:
        """A transaction of somebody who may switch the database's guards off; it leaves nothing behind."""
        with self.street.engine.connect() as conn:
            if conn.dialect.name == "sqlite":
                conn.exec_driver_sql("COMMIT")
                conn.exec_driver_sql("PRAGMA foreign_keys=OFF")
                conn.exec_driver_sql("BEGIN")
                for table in ("observation", "audit_event"):
                    for action in ("update", "delete"):
                        conn.execute(text(f"DROP TRIGGER {table}_no_{action}"))
            else:
                conn.execute(text("SET LOCAL session_replication_role = replica"))
            yield conn
            conn.rollback()
            if conn.dialect.name == "sqlite":
                conn.exec_driver_sql("COMMIT")
                conn.exec_driver_sql("PRAGMA foreign_keys=ON")
                conn.exec_driver_sql("BEGIN")

    def audited(self, *statements: Any) -> Problems:
        with self.unguarded() as conn:
            for statement in statements:
                done = conn.execute(statement)
                assert done.rowcount, statement
            return audit.run(AuditStore(Inside(conn))).problems  # type: ignore[arg-type]

    def rows(self, table: Table, **where: Any) -> list[Any]:
        return self.street.rows(table, **where)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """On both databases, once for all that leaves nothing behind."""
    folder = tmp_path_factory.mktemp("whole")
    with ExitStack() as stack:
        if request.param == "sqlite":
            shutil.copyfile(request.getfixturevalue("sqlite_template"), folder / "pricecrawl.db")
            url = f"sqlite:///{folder / 'pricecrawl.db'}"
        else:
            url = stack.enter_context(request.getfixturevalue("pg_server").database())
        engine = open_engine(url)
        stack.callback(engine.dispose)
        yield everything(Street(engine, folder))


@pytest.fixture
def own(street: Street) -> Whole:
    """For what changes something."""
    return everything(street)


def everything(street: Street) -> Whole:
    shelf = Shelf()
    stall = Stall(street, shelf, Clock(LATER))
    rules = PolicyStore(street.engine)
    body = {"version": "v2", "valid_from": "2026-01-01", "default": {"allow_exceptions": True}}
    policies.propose(rules, read_policy(body), by="ann", now=NOON)
    policies.approve(rules, "v2", by="bob", reason="agreed", now=NOON)
    policies.propose(rules, read_policy({"version": "v3", "valid_from": "2026-01-02"}), by="ann", now=NOON)
    policies.reject(rules, "v3", by="bob", reason="no", now=NOON)
    reviews = ReviewStore(street.engine)
    shelf.put("K-8", "20.00")
    far = stall.decide({"K-8": ("20.00", "18.50")})["K-8"]
    review.approve(reviews, far, by="cleo", reason="we follow", now=NOW)
    stall.publish(far)
    wrong = stall.decide({"K-9": ("20.00", "15.00")}, at=NOON + timedelta(minutes=1))["K-9"]
    review.reject(reviews, wrong, by="cleo", reason="a mistake of theirs", now=LATER)
    stall.decide({"K-6": ("20.00", "15.00")}, at=NOON + timedelta(minutes=2))
    shelf.put("K-7", "20.00")
    stall.publish(stall.decide({"K-7": ("20.00", "19.40")}, at=NOON + timedelta(minutes=3))["K-7"])
    street.observe("19.20", source="mugs", needs_review=True, review_reasons=("tie",))
    review.reject(reviews, "candidate:1", by="cleo", reason="no price at all", now=LATER)
    street.match()
    review.reject(reviews, "mapping:1", by="cleo", reason="another kettle", now=LATER)
    kept = HoldStore(street.engine)
    holds.place(kept, "sku", "K-7", reason="recall", by="ann", now=LATER)
    holds.place(kept, "everything", "", reason="fire", by="ann", now=LATER)
    holds.clear(kept, "everything", "", reason="over", by="bob", now=LATER)
    keys = TokenStore(street.engine)
    for name in ("key-1", "key-2"):
        tokens.issue(keys, name, Role.VIEWER, by="ann", now=NOON)
    tokens.revoke(keys, "key-2", by="ann", now=NOON)
    street.crawl.set_enabled("mugs", False, by="ann", reason="moved", now=LATER)
    made = Whole(stall, far)
    assert {row.status for row in made.rows(tables.publication)} == {"VERIFIED"}
    return made


def found_in(problems: Problems, table: str) -> bool:
    return any(where == table for where, _, _ in problems)


def other(column: Any, value: Any) -> Any:
    """Another value that the column takes."""
    kind = column.type
    if isinstance(kind, UtcDateTime):
        return NOON if value is None else value - timedelta(hours=1)
    if isinstance(kind, Amount):
        return Decimal(1) if value is None else value + 1
    if isinstance(kind, Boolean):
        return not value
    if isinstance(kind, Integer):
        return 999 if value is None else value + 1
    if isinstance(kind, JSON):
        return {"x": 1} if isinstance(value, dict) else [] if value else [{"x": 1}]
    return f"{value[:-1]}~" if value else "x"


def test_what_really_happened_has_no_problem(whole: Whole) -> None:
    pages = EvidenceIndex(whole.street.engine)
    found = audit.run(AuditStore(whole.street.engine), pages, whole.street.evidence)
    assert found.problems == []
    assert all(found.counts.values()), found.counts


def test_every_part_of_every_event_is_vouched_for(whole: Whole) -> None:
    parts = [part for part in tables.audit_event.c if part.name != "id"]
    assert len(parts) == 12
    rows = {row.event_type: row for row in whole.rows(tables.audit_event)}
    assert len(rows) > 20
    for number, row in enumerate(rows.values()):
        # One part of each kind of event, and every part of the first.
        for part in parts if number == 0 else [parts[number % len(parts)], tables.audit_event.c.payload]:
            changed = other(part, getattr(row, part.name))
            if part.name == "aggregate_seq":
                changed = 999
            statement = update(tables.audit_event).where(tables.audit_event.c.id == row.id)
            problems = whole.audited(statement.values({part: changed}))
            named = [name for where, name, _ in problems if where == "audit_event"]
            assert any(name.startswith(f"{row.id} (") for name in named), (
                row.event_type,
                part.name,
                problems,
            )


def test_an_event_that_is_gone_is_missed(whole: Whole) -> None:
    log = tables.audit_event
    rows = whole.rows(log)
    last = {row.aggregate: row for row in sorted(rows, key=lambda row: row.aggregate_seq)}
    mark = audit.anchor(AuditStore(whole.street.engine))
    kinds = set()
    for row in rows:
        ends = last[row.aggregate].id == row.id
        if (row.event_type, ends) in kinds:
            continue
        kinds.add((row.event_type, ends))
        problems = whole.audited(delete(log).where(log.c.id == row.id))
        assert problems, (row.event_type, row.aggregate, ends)
        with whole.unguarded() as conn:
            conn.execute(delete(log).where(log.c.id == row.id))
            found = audit.Audited()
            audit.against(AuditStore(Inside(conn)), mark, found)  # type: ignore[arg-type]
            assert found_in(found.problems, "audit_event")


def test_a_chain_that_is_gone_as_a_whole_is_missed(whole: Whole) -> None:
    log = tables.audit_event
    seen = set()
    for name in {row.aggregate for row in whole.rows(log)}:
        kind = name.partition(":")[0]
        if kind in seen:
            continue
        seen.add(kind)
        problems = whole.audited(delete(log).where(log.c.aggregate == name))
        assert problems, name
    assert len(seen) >= 10


def test_a_chain_that_was_written_anew_shows_against_a_mark(own: Whole) -> None:
    """Whoever knows how the hashes are made can make them: the rows, or a mark from before, tell."""
    log = tables.audit_event
    store = AuditStore(own.street.engine)
    mark = audit.anchor(store)
    (row,) = own.rows(log, aggregate="catalogue", event_type="catalogue.imported")[:1]
    with own.unguarded() as conn:
        previous = row.previous_hash
        for item in conn.execute(
            select(log).where(log.c.aggregate == "catalogue").order_by(log.c.aggregate_seq)
        ):
            made = replace(event_of(item), payload={**item.payload, "by": "somebody"})
            digest = chain_hash(previous, made)
            conn.execute(
                update(log)
                .where(log.c.id == item.id)
                .values(payload=made.payload, previous_hash=previous, hash=digest)
            )
            previous = digest
        forged = AuditStore(Inside(conn))  # type: ignore[arg-type]
        assert audit.run(forged).problems == []
        found = audit.Audited()
        audit.against(forged, mark, found)
        ((table, row_name, problem),) = found.problems
        assert (table, row_name) == ("audit_event", f"up to {mark.until}")
        assert "other events" in problem
    found = audit.Audited()
    holds.clear(HoldStore(own.street.engine), "sku", "K-7", reason="over", by="bob", now=LATER)
    audit.against(store, mark, found)
    assert found.problems == []


def test_events_that_change_places_or_come_from_nowhere_are_named(whole: Whole) -> None:
    log = tables.audit_event
    one, two = whole.rows(log, aggregate="sku:K-7")[:2]
    swapped = [
        update(log).where(log.c.id == one.id).values(aggregate_seq=900),
        update(log).where(log.c.id == two.id).values(aggregate_seq=one.aggregate_seq),
        update(log).where(log.c.id == one.id).values(aggregate_seq=two.aggregate_seq),
    ]
    assert found_in(whole.audited(*swapped), "audit_event")
    for aggregate, seq in (("sku:K-7", 900), ("sku:K-7", 0), ("sku:nobody", 1), ("hold:77", 1)):
        kind = "hold.changed" if aggregate.startswith("hold") else "price.approved"
        payload = {"change": "set", "by": "x"} if kind == "hold.changed" else {"decision_id": "x", "by": "x"}
        forged = insert(log).values(
            event_id="f" * 36, event_type=kind, schema_version="1.0", aggregate=aggregate, aggregate_seq=seq,
            correlation_id="x", occurred_at=NOON, producer="review", payload=payload,
            previous_hash="0" * 64, hash="f" * 64,
        )  # fmt: skip
        assert found_in(whole.audited(forged), "audit_event")


VOUCHED = {
    "price_decision": (*DECISION_FACTS[1:], "verdict", "status", "findings"),
    "market_price_snapshot": SNAPSHOT_FACTS[1:],
    "observation": (*FACTS[2:], *REST),
    "evidence": ("digest",),
    "approval": ("action", "actor", "role", "reason", "decided_at", "decision_id"),
    "publication": ("decision_id", "target", "sku", "scope", "amount", "currency", "tax_basis", "sequence"),
    "hold": ("scope", "value", "reason", "set_by", "set_at", "cleared_by", "cleared_at"),
    "api_token": ("name", "role", "token_digest", "created_at", "revoked_at"),
    "pricing_policy": (
        "version",
        "body",
        "author",
        "created_at",
        "valid_from",
        "approved_by",
        "approved_at",
        "rejected_by",
    ),
    "mapping": ("listing_id", "sku", "status"),
    "candidate_review": ("status", "chosen", "decided_by", "decision_reason"),
    "source": ("enabled",),
    "run": ("outcome", "coverage"),
    "sku_cost": tuple(column.name for column in tables.sku_cost.c if column.name != "id"),
}
ANOTHER = {
    ("price_decision", "verdict"): {"REVIEW": "ALLOW", "ALLOW": "ALLOW", "BLOCK": "REVIEW"},
    ("price_decision", "status"): {"REVIEW_REQUIRED": "APPROVED", "BLOCKED": "APPROVED"},
    ("approval", "action"): {"approve": "reject", "reject": "approve"},
    ("hold", "scope"): {"sku": "target", "everything": "sku"},
    ("mapping", "status"): {"AUTO_ACCEPTED": "REJECTED", "REJECTED": "AUTO_ACCEPTED"},
    ("candidate_review", "status"): {"rejected": "open"},
    ("run", "outcome"): {"finished": "blocked"},
}


@pytest.mark.parametrize("name", VOUCHED)
def test_every_fact_of_a_row_is_vouched_for(whole: Whole, name: str) -> None:
    table = tables.metadata.tables[name]
    key = next(iter(table.primary_key))
    for part in VOUCHED[name]:
        tried = 0
        for row in whole.rows(table):
            before = getattr(row, part)
            after = ANOTHER.get((name, part), {}).get(str(before)) or other(table.c[part], before)
            if after == before:
                continue
            tried += 1
            if tried > 2:
                break
            change = update(table).where(key == getattr(row, key.name)).values({part: after})
            problems = whole.audited(change)
            where = {"observation": "audit_event", "evidence": "audit_event"}.get(name, name)
            assert found_in(problems, where), (name, part, before, after, problems)
        assert tried, part


@pytest.mark.parametrize(
    "name",
    [
        *("price_decision", "market_price_snapshot", "observation", "approval", "publication", "hold"),
        *("api_token", "pricing_policy", "mapping", "run", "sku_cost", "evidence"),
    ],
)
def test_a_row_that_is_gone_is_missed(whole: Whole, name: str) -> None:
    table = tables.metadata.tables[name]
    key = next(iter(table.primary_key))
    for row in whole.rows(table):
        assert whole.audited(delete(table).where(key == getattr(row, key.name))), (name, row)


def test_an_approval_that_nobody_gave_is_named(whole: Whole) -> None:
    (waiting,) = whole.rows(tables.price_decision, status="REVIEW_REQUIRED")
    forged = insert(tables.approval).values(
        decision_id=waiting.decision_id,
        action="approve",
        actor="cleo",
        role="reviewer",
        reason="x",
        decided_at=NOON,
    )
    approved = update(tables.price_decision).where(tables.price_decision.c.decision_id == waiting.decision_id)
    problems = whole.audited(forged, approved.values(status="APPROVED"))
    assert found_in(problems, "approval")
    assert found_in(problems, "price_decision")


def test_an_exception_is_vouched_for(own: Whole) -> None:
    street = own.street
    ended = street.file("sku,cogs,valid_from,valid_to\nK-6,1.00,2026-01-01,2026-02-01\n", "ended.csv")
    catalogue.import_costs(CatalogueStore(street.engine), ended, now=NOON, by="ann")
    street.price("K-6", now=LATER)
    of = street.decision("K-6").decision_id
    store = ReviewStore(street.engine)
    exceptions.request(store, of, by="ann", reason="season", now=LATER)
    assert own.audited(update(tables.manual_override).values(requested_by="bob"))
    exceptions.grant(store, of, by="bob", reason="fine", now=LATER)
    assert audit.run(AuditStore(street.engine)).problems == []
    for change in ({"requested_by": "bob"}, {"approved_by": "ann"}):
        assert found_in(own.audited(update(tables.manual_override).values(change)), "manual_override")


@pytest.mark.parametrize("place", [0, 10, 0.5, -1])
def test_a_byte_of_a_page_that_was_changed_is_named(own: Whole, place: float) -> None:
    street = own.street
    (page, *_) = street.rows(tables.evidence)
    path = Path(street.folder) / "evidence" / page.warc
    data = bytearray(path.read_bytes())
    at = page.offset + (int(page.length * place) if place == 0.5 else int(place) % page.length)
    data[at] ^= 0x41
    path.write_bytes(bytes(data))
    problems = audit.run(AuditStore(street.engine), EvidenceIndex(street.engine), street.evidence).problems
    assert [(where, name) for where, name, _ in problems] == [("evidence", f"{page.id} ({page.source})")]
    path.unlink()
    problems = audit.run(AuditStore(street.engine), EvidenceIndex(street.engine), street.evidence).problems
    assert any("is missing" in problem for where, _, problem in problems if where == "evidence")


@pytest.mark.parametrize(
    ("table", "part", "words"),
    [
        ("approval", "reason", "approval 1 has another reason than event price.approved tells of"),
        ("publication", "amount", "has another amount than event publish.requested tells of"),
        ("observation", "price", "observation 1 of kettles/k-K-8: the event of its batch tells of other"),
        ("price_decision", "findings", "does not have the finding decrease_over_limit"),
    ],
)
def test_a_trace_names_what_is_not_as_it_was_written(whole: Whole, table: str, part: str, words: str) -> None:
    changed = tables.metadata.tables[table]
    column = changed.c[part]
    (row, *_) = whole.rows(changed, **({"sku": "K-8"} if "sku" in changed.c else {}))
    assert follow(whole).complete
    key = next(iter(changed.primary_key))
    change = (
        update(changed).where(key == getattr(row, key.name)).values({part: other(column, getattr(row, part))})
    )
    found = follow(whole, change)
    assert any(words in problem for problem in found.missing), found.missing


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("approval", "an approval is not there, and event"),
        ("publication", "no event publish.verified"),
        ("sku", "SKU K-8"),
        ("market_price_snapshot", "market price snapshot 1"),
        ("evidence", "no page was stored for it"),
        ("run", "observation 1 of kettles/k-K-8"),
    ],
)
def test_a_trace_names_a_row_that_is_gone(whole: Whole, gone: str, words: str) -> None:
    table = tables.metadata.tables[gone]
    change = delete(table)
    if gone == "publication":  # its events alone
        change = delete(tables.audit_event).where(tables.audit_event.c.event_type == "publish.verified")
    found = follow(whole, change)
    assert any(words in problem for problem in found.missing), found.missing


def follow(whole: Whole, *statements: Any) -> Trace:
    with whole.unguarded() as conn:
        for statement in statements:
            assert conn.execute(statement).rowcount
        return trace(TraceStore(Inside(conn)), whole.street.evidence, whole.far)  # type: ignore[arg-type]
