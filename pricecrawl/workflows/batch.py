"""Many publications at once: has too much moved, a few first, the rest when those are verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.domain.errors import Refused
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.breaker import Moved, canaries, tripped
from pricecrawl.pricing.findings import Finding, review
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows import publish
from pricecrawl.workflows.decision_rows import review_requested
from pricecrawl.workflows.policies import in_force
from pricecrawl.workflows.publisher import Fields, Next, Publisher, need_publisher

Run = Callable[[str], Next]
"""Brings one publication to its end (or to where it has to wait)."""


@dataclass(slots=True)
class Batch:
    """What came of a batch: publications by id, decisions that were refused or taken back to review."""

    canaries: list[str] = field(default_factory=list)
    results: dict[str, Next] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    recalled: dict[str, str] = field(default_factory=dict)

    @property
    def verified(self) -> int:
        """How many are in the shop and verified."""
        return sum(1 for after in self.results.values() if after.status is State.VERIFIED)


def waiting(pub: Publisher, skus: Sequence[str] = ()) -> list[str]:
    """Decisions that may be published, of these SKUs or of all, in their order."""
    with pub.store.engine.connect() as conn:
        return [row["decision_id"] for row in pub.store.decisions(conn, skus)]


def publish_batch(
    pub: Publisher, decisions: Iterable[str], target: str, *, run: Run, clock: Callable[[], datetime]
) -> Batch:
    """Publish decisions: the canaries, and when every one of them is verified the rest.

    A canary that fails, or a window in which too much moved, takes the rest back to review; what a
    person approved is not asked about again.
    """
    made = plan(pub, decisions, target, now=clock())
    done = Batch(
        list(made.first) if made.rest else [], refused=dict(made.refused), recalled=dict(made.recalled)
    )
    _go(pub, made.first, done, target=target, run=run, clock=clock)
    rest, recalled = after_canaries(pub, made, target, now=clock())
    done.recalled |= recalled
    _go(pub, rest, done, target=target, run=run, clock=clock)
    return done


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions in the order of their publication: `first`, then `rest` if those went well."""

    first: tuple[str, ...]
    rest: tuple[str, ...]
    refused: Mapping[str, str]
    recalled: Mapping[str, str]


def plan(pub: Publisher, decisions: Iterable[str], target: str, *, now: datetime) -> Plan:
    """Who goes first, and who goes back to review because too much moves at once."""
    need_publisher(pub.by)
    pub.placement(target)
    names = list(dict.fromkeys(decisions))
    with pub.store.begin() as tx:
        policy = in_force(PolicyStore(pub.store.engine), tx, now)
        rows = [row for of in names if (row := pub.store.decision(tx, of)) is not None]
        settings = policy.default if policy else Settings()
        finding = _too_much(pub, tx, rows, settings, now)
    known = {row["decision_id"] for row in rows}
    refused = {of: f"there is no decision {of}." for of in names if of not in known}
    names = [of for of in names if of in known]
    recalled: dict[str, str] = {}
    if finding is not None:
        names, recalled = _recall(pub, rows, finding, now)
    first = canaries(names, settings)
    return Plan(
        tuple(of for of in names if of in first),
        tuple(of for of in names if of not in first),
        refused,
        recalled,
    )


def after_canaries(
    pub: Publisher, made: Plan, target: str, *, now: datetime
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Who goes on after the first, and who goes back to review because one of them failed."""
    if not made.rest:
        return (), {}
    with pub.store.engine.connect() as conn:
        rows = [pub.store.get(conn, publish.publication_id(target, of)) for of in made.first]
        rest = [row for of in made.rest if (row := pub.store.decision(conn, of)) is not None]
    # One that was refused, or stale by the time of writing, says nothing against the others.
    fine = {State.VERIFIED.value, State.STALE.value, State.BLOCKED.value}
    failed = [row for row in rows if row is not None and row["status"] not in fine]
    if not failed:
        return made.rest, {}
    why = f"{len(failed)} of {len(made.first)} prices published first were not verified"
    kept, recalled = _recall(pub, rest, review(FindingCode.CANARY_FAILED, why), now)
    return tuple(kept), recalled


def _go(
    pub: Publisher,
    names: Iterable[str],
    done: Batch,
    *,
    target: str,
    run: Run,
    clock: Callable[[], datetime],
) -> None:
    for of in names:
        try:
            publication = publish.request(pub, of, target, now=clock())
        except Refused as problem:
            done.refused[of] = str(problem)
            continue
        done.results[publication] = run(publication)


def _too_much(
    pub: Publisher, tx: Any, rows: Sequence[Fields], settings: Settings, now: datetime
) -> Finding | None:
    """The breaker over what was written in the window and what is to be written now, by currency."""
    moves: dict[str, dict[str, Decimal]] = {}
    since = now - timedelta(minutes=settings.breaker_window_minutes)
    for row in pub.store.moved_since(tx, since):
        before = row.pre_state.get("amount")
        if before is not None and (moved := abs(row.amount - Decimal(before))):
            moves.setdefault(row.currency, {})[row.sku] = moved
    for made in rows:
        if made["current_price"] is not None and made["proposed_price"] is not None:
            moved = abs(made["proposed_price"] - made["current_price"])
            if moved:
                moves.setdefault(made["currency"], {})[made["sku"]] = moved
    if all(len(moved) < max(settings.breaker_min_moves, 1) for moved in moves.values()):
        return None
    totals = PricingStore(pub.store.engine).totals(tx)
    for currency, moved_by in sorted(moves.items()):
        count, total = totals.get(currency, (0, Decimal(0)))
        if found := tripped(Moved(len(moved_by), sum(moved_by.values(), Decimal(0)), count, total), settings):
            return found
    return None


def _recall(
    pub: Publisher, rows: Sequence[Fields], finding: Finding, now: datetime
) -> tuple[list[str], dict[str, str]]:
    """Send to review what only the policy allowed; what a person approved goes on.

    Returns the names of those that go on, and why the others do not.
    """
    approved, recalled = [], {}
    store = PricingStore(pub.store.engine)
    with pub.store.begin() as tx:
        policy = in_force(PolicyStore(pub.store.engine), tx, now)
        hours = (policy.default if policy else Settings()).review_hours
        for row in rows:
            of = row["decision_id"]
            made = pub.store.decision(tx, of, lock=True)
            if made is None or made["status"] != State.APPROVED.value:
                continue
            if "approve" in pub.store.approvals(tx, of):
                approved.append(of)
                continue
            advance(made["status"], State.REVIEW_REQUIRED, what=f"decision {of}")
            expires = now + timedelta(hours=hours)
            pub.store.move_decision(tx, of, made["status"], State.REVIEW_REQUIRED.value, now=now)
            store.recall(tx, [of], finding.plain(), verdict="REVIEW", expires_at=expires)
            key = f"batch {now.isoformat()}"
            store.append(tx, [review_requested(of, made["sku"], [finding], expires, now=now, key=key)])
            recalled[of] = finding.detail
    return approved, recalled
