"""Many publications at once: has too much moved, a few first, the rest when those are verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pricecrawl.db.publications import OPEN
from pricecrawl.domain.errors import Refused
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.breaker import canaries
from pricecrawl.pricing.findings import Finding, review
from pricecrawl.pricing.states import State
from pricecrawl.workflows import mass, publish
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


def waiting(pub: Publisher, target: str, skus: Sequence[str] = (), *, now: datetime) -> list[str]:
    """Decisions that may be published to a target, of these SKUs or of all, in their order."""
    with pub.store.engine.connect() as conn:
        rows = pub.store.decisions(conn, skus, target, now=now)
        return [row["decision_id"] for row in rows if publish.only_for(pub, conn, row) in {None, target}]


def request_everywhere(pub: Publisher, decision: str, *, now: datetime) -> tuple[list[str], dict[str, str]]:
    """Ask for a decision at every target that it is for: the publications, and why a target takes none.

    Raises:
        UsageProblem: there is no such decision.
        Refused: no target takes it.
    """
    with pub.store.engine.connect() as conn:
        made = pub.store.decision(conn, decision)
        only = None if made is None else publish.only_for(pub, conn, made)
    if only is not None and only not in pub.placements:
        raise Refused(f"decision {decision} takes back a price of {only}, which is no target here.")
    asked, refused = [], {}
    for target in sorted(pub.placements) if only is None else [only]:
        try:
            asked.append(publish.request(pub, decision, target, now=now))
        except Refused as problem:
            refused[target] = str(problem)
    if not asked:
        raise Refused(" ".join(dict.fromkeys(refused.values())))
    return asked, refused


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
    after = after_canaries(pub, made, target, now=clock())
    done.recalled |= after.recalled
    done.refused |= after.refused
    _go(pub, after.rest, done, target=target, run=run, clock=clock)
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
        settings = mass.default_settings(pub.store, tx, now)
        rows = [row for of in names if (row := pub.store.decision(tx, of)) is not None]
        finding = mass.too_much(pub.store, tx, rows, settings, now=now)
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


@dataclass(frozen=True, slots=True)
class After:
    """Who goes on after the first; who goes back to review, and who has to be asked for again, and why."""

    rest: tuple[str, ...] = ()
    recalled: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def after_canaries(pub: Publisher, made: Plan, target: str, *, now: datetime) -> After:
    """What follows from how the first ones fared."""
    if not made.rest:
        return After()
    with pub.store.engine.connect() as conn:
        rows = [pub.store.get(conn, publish.publication_id(target, of)) for of in made.first]
        rest = [row for of in made.rest if (row := pub.store.decision(conn, of)) is not None]
    # One that was refused, or stale by the time of writing, says nothing against the others; nor does one
    # that came to no attempt, for a shop that does not have the SKU.
    fine = {State.VERIFIED.value, State.STALE.value, State.BLOCKED.value, *OPEN}
    going = [row for row in rows if row is not None and row["status"] in OPEN]
    failed = [row for row in rows if row is not None and row["status"] not in fine and row["attempts"]]
    if failed:
        why = f"{len(failed)} of {len(made.first)} prices published first were not verified"
        kept, recalled = _recall(pub, rest, review(FindingCode.CANARY_FAILED, why), now)
        return After(tuple(kept), recalled)
    why = ""
    if going:
        why = (
            f"{len(going)} of {len(made.first)} prices that went first are still on their way; publish the "
            "rest when those are verified."
        )
    elif not any(row is not None and row["status"] == State.VERIFIED.value for row in rows):
        why = (
            f"none of the {len(made.first)} prices that went first could be written, so nothing shows that "
            "the shop takes them; publish the rest again."
        )
    if why:
        return After(refused={of: f"decision {of} is not published: {why}" for of in made.rest})
    return After(made.rest)


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
            publication = publish.request(pub, of, target, now=clock(), counted=True)
        except Refused as problem:
            done.refused[of] = str(problem)
            continue
        done.results[publication] = run(publication)


def _recall(
    pub: Publisher, rows: Sequence[Fields], finding: Finding, now: datetime
) -> tuple[list[str], dict[str, str]]:
    """Send to review what only the policy allowed; what a person stands behind goes on.

    Returns the names of those that go on (also those that are not approved: they are refused by name when
    they are asked for), and why the others do not.
    """
    going, recalled = [], {}
    with pub.store.begin() as tx:
        for row in rows:
            of = row["decision_id"]
            made = pub.store.decision(tx, of, lock=True) or row
            if made["status"] != State.APPROVED.value or mass.spoken_for(pub.store, tx, made):
                going.append(of)
                continue
            mass.recall(pub.store, tx, made, finding, now=now)
            recalled[of] = finding.detail
    return going, recalled
