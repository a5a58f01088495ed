"""What must hold for a decided price to be written, asked when it is asked for and again right before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.holds import HoldStore
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.publications import PublicationStore
from pricecrawl.domain.events import EventType
from pricecrawl.domain.mapping import ACCEPTED
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.decision import compute
from pricecrawl.pricing.findings import Finding, Inputs, block
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.recheck import inputs_of, recheck
from pricecrawl.pricing.states import State
from pricecrawl.pricing.subject import ActiveHold
from pricecrawl.workflows import vouching
from pricecrawl.workflows.decision_rows import DECISION_FACTS, digest
from pricecrawl.workflows.exceptions import LIFTABLE
from pricecrawl.workflows.offers import cost_of, subject_of
from pricecrawl.workflows.policies import in_force, settings_of

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Closed:
    """Why a price may not be written, and what becomes of its decision: BLOCKED or STALE."""

    becomes: State
    detail: str
    finding: Finding | None = None

    @property
    def held(self) -> bool:
        """Closed by a kill switch alone, which somebody may clear."""
        return self.finding is not None and self.finding.code is FindingCode.HOLD_ACTIVE


def gates(store: PublicationStore, tx: Any, made: Fields, target: str, *, now: datetime) -> Closed | None:
    """The first gate that is closed to a decision, or None."""
    of = made["decision_id"]
    approvals = store.approval_rows(tx, of)
    actions = [row["action"] for row in approvals]
    allowed = made["verdict"] == "ALLOW" or any(action in {"approve", "exception"} for action in actions)
    if not allowed:
        return Closed(State.BLOCKED, f"decision {of} was approved by nobody")
    if (wrong := next(_unvouched(store, tx, made, approvals), None)) is not None:
        return Closed(
            State.BLOCKED,
            f"decision {of} {wrong}: somebody changed rows, and `pricecrawl audit` names them",
        )
    if made["expires_at"] is not None and made["expires_at"] <= now:
        return Closed(State.STALE, f"its approval ended on {made['expires_at']:%Y-%m-%d %H:%M} UTC")
    # A rollback repeats a price of earlier days: it does not stand on what a shop asks for today.
    ground = None if made["decision_reason"] == "rollback" else store.ground(tx, made)
    source = None if ground is None else ground["source"]
    inputs = today(store, tx, made["sku"], target, current=made["current_price"], source=source, now=now)
    if inputs is None:
        return Closed(State.BLOCKED, f"SKU {made['sku']} is no longer in the catalogue")
    if inputs.policy_version != made["policy_version"] and inputs.settings is not None:
        return Closed(
            State.STALE,
            f"it was decided under policy {made['policy_version']}, now {inputs.policy_version} holds",
        )
    subject = inputs.subject
    if (subject.currency, subject.tax_basis.value) != (made["currency"], made["tax_basis"]):
        return Closed(State.STALE, f"SKU {made['sku']} is sold in another currency or tax basis by now")
    if made["proposed_price"] is None:
        return Closed(State.BLOCKED, f"decision {of} has no price")
    excused = _excused(made, actions, inputs)
    for finding in recheck(inputs, made["proposed_price"]):
        if finding.code not in excused:
            return Closed(State.BLOCKED, finding.detail, finding)
    return None if ground is None else _ground(ground, inputs, asked=not actions)


def _unvouched(store: PublicationStore, tx: Any, made: Fields, approvals: Sequence[Fields]) -> Iterator[str]:
    """Where a decision or what people did with it is not what the event log tells of them.

    Whoever can write rows could otherwise have any price published: the gate would read what they wrote.
    """
    events, changed = store.told(tx, made["decision_id"])
    if changed is not None:
        yield f"has an event, {changed}, that was changed after it was written"
    kind = EventType.PRICE_COMPUTED.value
    told: Fields = next((item["payload"] for item in events if item["event_type"] == kind), {})
    if told.get("sha256") != digest(made, DECISION_FACTS):
        yield "is not the one that its event tells of"
    yield from vouching.decision(made, events)
    for _, problem in vouching.approvals(approvals, events):
        yield f"has an approval that {problem}"


def _ground(ground: Fields, inputs: Inputs, *, asked: bool) -> Closed | None:
    """Whether the offer that set the price may still set one; `asked` where no person has looked at it.

    Switched off is a kill switch that somebody may turn on again. What was mapped wrongly, ruled out or
    is too old by now asks for another decision; a person who approved has seen how old it was.
    """
    name = f"{ground['source']}/{ground['source_sku']}"
    if not ground["enabled"]:
        why = f"source {ground['source']}, whose offer set this price, is switched off"
        return Closed(State.BLOCKED, why, block(FindingCode.HOLD_ACTIVE, why))
    if ground["mapping_status"] not in ACCEPTED:
        return Closed(
            State.STALE, f"{name}, whose offer set this price, is not known to be this SKU any more"
        )
    if ground["approved"] is False:
        return Closed(State.STALE, f"{name} set this price, and {ground['source']} is no competitor any more")
    settings, subject = inputs.settings, inputs.subject
    if asked and settings is not None:
        holds = timedelta(minutes=settings.freshness_minutes(subject.tier))
        if inputs.now - ground["observed_at"] > holds:
            return Closed(
                State.STALE,
                f"{name} set this price at {ground['observed_at']:%Y-%m-%d %H:%M} UTC, more than "
                f"{holds.total_seconds() / 60:g} minutes ago, and nobody has looked at it",
            )
    return None


def today(
    store: PublicationStore,
    tx: Any,
    sku: str,
    target: str,
    *,
    current: Decimal | None,
    now: datetime,
    source: str | None = None,
) -> Inputs | None:
    """What a price of a SKU is checked against at this moment; None where the SKU is gone.

    `source` is the one whose offer set the price: a hold on it counts too.
    """
    row = store.subject(tx, sku)
    if row is None:
        return None
    policy = in_force(PolicyStore(store.engine), tx, now)
    settings: Settings | None
    settings, version = settings_of(policy, sku, row.category, store.overrides(tx, sku))
    held = HoldStore(store.engine).covering(tx, sku, target, source)
    return inputs_of(
        replace(subject_of(row), current_price=current),
        cost_of(store.costs(tx, sku), now),
        settings,
        version,
        holds=tuple(ActiveHold(hold.scope, hold.value, hold.reason) for hold in held),
        now=now,
    )


def _excused(made: Fields, actions: list[str], inputs: Inputs) -> frozenset[FindingCode]:
    """What people have seen and let pass: an exception's blocks, and the floor under a rollback."""
    known = {FindingCode(item["code"]) for item in made["findings"]}
    excused: set[FindingCode] = set()
    if "exception" in actions:
        excused |= LIFTABLE & known
    floors = _floor(inputs)
    rollback = made["decision_reason"] == "rollback" and "approve" in actions
    same_floor = floors is not None and made["allowed_floor"] is not None and floors <= made["allowed_floor"]
    if rollback and same_floor and FindingCode.UNDER_FLOOR in known:
        excused.add(FindingCode.UNDER_FLOOR)
    return frozenset(excused)


def _floor(inputs: Inputs) -> Decimal | None:
    floors = compute(inputs).floors
    return None if floors is None else floors.allowed
