"""Back to an earlier price: a new decision that repeats one that was verified, through the same gates.

Nothing is rolled back silently. Under today's floor, or by a large step, a reviewer is asked; a hold or
a missing cost blocks it like any other price.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.publications import IN_FLIGHT
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.said import says_something
from pricecrawl.pricing.decision import Decision
from pricecrawl.pricing.findings import Verdict
from pricecrawl.pricing.ports import PriceState, TargetRef, TargetUnavailable
from pricecrawl.pricing.recheck import rollback
from pricecrawl.pricing.states import OPEN, State, advance
from pricecrawl.workflows import decision_rows
from pricecrawl.workflows.events import event, stable_id
from pricecrawl.workflows.gates import today
from pricecrawl.workflows.publisher import PRODUCER, Fields, Publisher, need_publisher, state_json

_TAKEN_BACK = frozenset(
    {State.VERIFIED, State.VERIFICATION_FAILED, State.QUARANTINED, State.ROLLBACK_PENDING}
)


class ShopAway(Refused):
    """The shop cannot be read at the moment; asked again later it may be."""


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A rollback that was decided; ALLOW may be published at once, REVIEW waits for a person."""

    decision_id: str
    sku: str
    target: str
    publication_id: str
    """The publication that is taken back."""
    to: str
    """The decision whose price comes back."""
    amount: Decimal
    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """From which publication back to which, what the shop has now, and who asks why."""

    bad: Fields
    good: Fields
    state: PriceState
    reason: str
    by: str


def request(
    pub: Publisher, sku: str, target: str, *, reason: str, by: str, now: datetime, to: str | None = None
) -> RolledBack:
    """Decide to go back to the price of `to`, or to the last one that was verified before the present one.

    `by` is who asks; asking does not write a price. Asked twice for the same, it is one decision.

    Raises:
        UsageProblem: no reason; nothing published or nothing earlier; `to` was never verified there.
        Refused: the shop cannot be read, which it must be to know from what we go back; or another price
            is on its way there.
    """
    need_publisher(pub.by)
    if not says_something(reason):
        raise UsageProblem('a rollback needs a reason: give it with --reason "...".')
    with pub.store.engine.connect() as conn:
        rows = [row for row in pub.store.of_sku(conn, sku) if row["target"] == target]
    bad, good = _pair(rows, sku, target, to)
    for row in rows:
        if row["status"] in IN_FLIGHT and row["rollback_of"] != bad["publication_id"]:
            of, status = row["publication_id"], row["status"]
            raise Refused(f"publication {of} of {sku} is {status}: what came of it has to be known first.")
    state = _present(pub, bad)
    with pub.store.begin() as tx:
        return _decide(pub, tx, _Way(bad, good, state, reason.strip(), by), now=now)


def _pair(rows: list[Fields], sku: str, target: str, to: str | None) -> tuple[Fields, Fields]:
    """What is taken back, and what comes back."""
    out = [row for row in rows if State(row["status"]) in _TAKEN_BACK]
    if not out:
        raise UsageProblem(f"nothing of ours is published for SKU {sku} on {target}.")
    bad = out[0]
    earlier = [
        row
        for row in rows
        if row["verified_at"] is not None
        and row["sequence"] < bad["sequence"]
        and row["scope"] == bad["scope"]
        and State(row["status"]) is not State.ROLLED_BACK
    ]
    if to is not None:
        chosen = [row for row in earlier if row["decision_id"] == to]
        if not chosen:
            raise UsageProblem(
                f"decision {to} was not verified on {target} for SKU {sku} before the present price."
            )
        return bad, chosen[0]
    different = [row for row in earlier if row["amount"] != bad["amount"]]
    if not different:
        before = (bad["pre_state"] or {}).get("amount")
        was = "" if before is None else f" (it was {before} before)"
        raise UsageProblem(
            f"SKU {sku} has no earlier verified price on {target} to go back to{was}: set one in the shop, "
            f"then `pricecrawl targets adopt {target} {sku} --reason ...`."
        )
    return bad, different[0]


def _present(pub: Publisher, bad: Fields) -> PriceState:
    """What the shop has now: a rollback goes out from there, whatever we believe."""
    placement = pub.placement(bad["target"])
    scope = placement.scope(bad["currency"], TaxBasis(bad["tax_basis"]))
    try:
        ref = placement.target.resolve(bad["sku"], scope)
        if isinstance(ref, TargetRef):
            return placement.target.read(ref, scope)
        problem = "the SKU is not there exactly once"
    except TargetUnavailable as trouble:
        problem = str(trouble)
    finally:
        placement.target.exchanges()
    raise ShopAway(f"{bad['target']} cannot be read ({problem}): a rollback starts from what is there.")


def _decide(pub: Publisher, tx: Any, way: _Way, *, now: datetime) -> RolledBack:
    bad, good, state = way.bad, way.good, way.state
    sku, target = bad["sku"], bad["target"]
    of, known = _named(pub, tx, way, now=now)
    if known is not None:
        reasons = tuple(item["detail"] for item in known["findings"])
        verdict = Verdict(known["verdict"])
        return RolledBack(
            of, sku, target, bad["publication_id"], good["decision_id"], good["amount"], verdict, reasons
        )
    if state.amount == good["amount"]:
        raise UsageProblem(f"{target} has {sku} at {state.amount} already.")
    inputs = today(pub.store, tx, sku, target, current=state.amount, now=now)
    old = pub.store.decision(tx, good["decision_id"])
    if inputs is None or old is None:
        raise UsageProblem(f"SKU {sku} is no longer in the catalogue.")
    made = rollback(inputs, good["amount"])
    row = _row(of, old, made, way)
    store = PricingStore(pub.store.engine)
    for other in pub.store.undecided(tx, sku):
        advance(other["status"], State.STALE, what=f"decision {other['decision_id']}")
        pub.store.move_decision(tx, other["decision_id"], other["status"], State.STALE.value, now=now)
    store.save(tx, [], [row])
    snapshot = TraceStore(pub.store.engine).snapshot(tx, old["snapshot_id"])
    store.append(tx, _events(of, row, made, way, snapshot))
    reasons = tuple(finding.detail for finding in made.findings)
    return RolledBack(
        of, sku, target, bad["publication_id"], good["decision_id"], good["amount"], made.verdict, reasons
    )


_CAME_TO_NOTHING = frozenset(
    {State.STALE, State.BLOCKED, State.PUBLISH_FAILED, State.VERIFICATION_FAILED, State.QUARANTINED}
)


def _named(pub: Publisher, tx: Any, way: _Way, *, now: datetime) -> tuple[str, Fields | None]:
    """The id of this rollback, and its decision if it was asked for already and may still come to something.

    One that was blocked, rejected, overtaken or has failed is no answer to somebody who asks again.
    """
    bad, good, state = way.bad, way.good, way.state
    of, known = "", None
    for attempt in itertools.count():
        named = (bad["target"], bad["publication_id"], good["decision_id"], state.amount, state.revision)
        of = stable_id("rollback", *named, *([attempt] if attempt else []))
        known = pub.store.decision(tx, of)
        if known is None:
            break
        expired = known["expires_at"] is not None and known["expires_at"] <= now
        if State(known["status"]) not in _CAME_TO_NOTHING and not (expired and known["status"] in OPEN):
            break
    return of, known


def _row(of: str, old: Fields, made: Decision, way: _Way) -> dict[str, Any]:
    """The new decision; it stands on the snapshot, and so on the evidence, of the one that it repeats."""
    row = decision_rows.decision(of, old["snapshot_id"], made)
    bad = way.bad
    told = {
        "publication_id": bad["publication_id"],
        "decision_id": way.good["decision_id"],
        "reason": way.reason,
        "by": way.by,
    }
    row["steps"] = {**row["steps"], "rollback": told}
    row["market_price"] = old["market_price"]
    row["sequence"] = max(row["sequence"], bad["sequence"] + 1)
    if made.verdict is not Verdict.BLOCK and row["expires_at"] is None:
        row["expires_at"] = made.inputs.now + timedelta(hours=24)
    return row


def _events(
    of: str, row: Mapping[str, Any], made: Decision, way: _Way, snapshot: Fields | None
) -> list[Event]:
    state, now = way.state, made.inputs.now
    vouched = None if snapshot is None else decision_rows.digest(snapshot, decision_rows.SNAPSHOT_FACTS)
    chain: list[Event] = []

    def add(kind: EventType, payload: Mapping[str, Any]) -> None:
        cause = chain[-1].event_id if chain else None
        chain.append(
            event(
                kind,
                f"sku:{row['sku']}",
                {"decision_id": of, **payload},
                now=now,
                correlation=of,
                producer=PRODUCER,
                cause=cause,
            )
        )

    codes = [finding.code.value for finding in made.findings]
    add(
        EventType.ROLLBACK_REQUESTED,
        {
            "publication_id": way.bad["publication_id"],
            "to_decision_id": way.good["decision_id"],
            "target": way.bad["target"],
            "found": state_json(state),
            "snapshot_id": row["snapshot_id"],
            "snapshot_sha256": vouched,
            "by": way.by,
            "reason": way.reason,
        },
    )
    add(
        EventType.PRICE_COMPUTED,
        {
            "current_price": None if state.amount is None else format(state.amount, "f"),
            "proposed_price": format(way.good["amount"], "f"),
            "reason": made.reason.value,
            "sha256": decision_rows.digest(row, decision_rows.DECISION_FACTS),
        },
    )
    add(
        EventType.POLICY_EVALUATED,
        {"policy_version": row["policy_version"], "verdict": made.verdict.value, "findings": codes},
    )
    if made.verdict is Verdict.REVIEW:
        add(EventType.APPROVAL_REQUESTED, {"findings": codes, "expires_at": row["expires_at"].isoformat()})
    elif made.verdict is Verdict.ALLOW:
        add(EventType.PRICE_APPROVED, {"by": f"policy {row['policy_version']}"})
    return chain
