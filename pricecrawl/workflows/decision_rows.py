"""A decision as rows and events: what is stored of it, and what its events vouch for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.promotion import PromotionKind, unconditional_amount
from pricecrawl.pricing.decision import Decision, steps
from pricecrawl.pricing.findings import Finding, Inputs, Verdict
from pricecrawl.pricing.market_price import Assessed, tax_between
from pricecrawl.workflows.events import event, stable_id

PRODUCER = "pricing"

# What is written once. Status, expiry and times of change move on and are told by later events.
DECISION_FACTS = (
    *("decision_id", "sku", "snapshot_id", "currency", "tax_basis", "current_price", "market_price"),
    *("competitive_target", "variable_cost", "required_margin", "margin_floor", "map_price"),
    *("regulatory_floor", "allowed_floor", "proposed_price", "change_pct", "decision_reason"),
    *("policy_version", "sequence", "steps"),
)
SNAPSHOT_FACTS = (
    *("id", "sku", "market_price", "currency", "winning_observation_id", "freshness", "policy_version"),
    *("eligible", "excluded"),
)


def snapshot(number: int, decision: Decision) -> dict[str, Any]:
    """The row of `market_price_snapshot`."""
    market = decision.inputs.market
    return {
        "id": number,
        "sku": decision.inputs.subject.sku,
        "market_price": market.price,
        "currency": decision.inputs.subject.currency,
        "winning_observation_id": market.winner.offer.offer_id if market.winner else None,
        "eligible": [_assessed(item, decision.inputs) for item in market.eligible],
        "excluded": [_assessed(item, decision.inputs) for item in market.excluded],
        "freshness": market.freshness.value,
        "policy_version": decision.inputs.policy_version,
        "computed_at": market.computed_at,
    }


def decision(decision_id: str, snapshot_id: int, made: Decision) -> dict[str, Any]:
    """The row of `price_decision`."""
    inputs, computed = made.inputs, made.computed
    settings, floors = inputs.settings, computed.floors
    return {
        "decision_id": decision_id,
        "sku": inputs.subject.sku,
        "snapshot_id": snapshot_id,
        "currency": inputs.subject.currency,
        "tax_basis": inputs.subject.tax_basis.value,
        "current_price": inputs.subject.current_price,
        "market_price": inputs.market.price,
        "competitive_target": computed.target,
        "variable_cost": floors.variable_cost if floors else None,
        "required_margin": settings.required_margin if settings else None,
        "margin_floor": floors.margin_floor if floors else None,
        "map_price": floors.map_price if floors else None,
        "regulatory_floor": floors.regulatory if floors else None,
        "allowed_floor": floors.allowed if floors else None,
        "proposed_price": computed.proposed,
        "change_pct": computed.change,
        "decision_reason": made.reason.value,
        "verdict": made.verdict.value,
        "status": made.state.value,
        "findings": [finding.plain() for finding in made.findings],
        "steps": _steps(made),
        "policy_version": inputs.policy_version,
        # Orders the prices of a SKU: one decided later never loses to one decided before it.
        "sequence": int(inputs.now.timestamp() * 1_000_000),
        "expires_at": _expiry(made),
        "created_at": inputs.now,
        "updated_at": inputs.now,
    }


def events(
    made: Decision, decision_row: Mapping[str, Any], snapshot_row: Mapping[str, Any], *, cause: str
) -> list[Event]:
    """The events of one decision, each caused by the one before; they vouch for its two rows."""
    inputs, now = made.inputs, made.inputs.now
    of, aggregate = decision_row["decision_id"], f"sku:{inputs.subject.sku}"
    codes = [finding.code.value for finding in made.findings]
    told: list[tuple[EventType, Mapping[str, Any]]] = [
        (
            EventType.MARKET_PRICE_COMPUTED,
            {
                "snapshot_id": snapshot_row["id"],
                "market_price": _text(inputs.market.price),
                "note": inputs.market.note,
                "eligible": [item.offer.offer_id for item in inputs.market.eligible],
                "excluded": [item.offer.offer_id for item in inputs.market.excluded],
                "sha256": digest(snapshot_row, SNAPSHOT_FACTS),
            },
        ),
        (
            EventType.PRICE_COMPUTED,
            {
                "decision_id": of,
                "current_price": _text(inputs.subject.current_price),
                "proposed_price": _text(made.computed.proposed),
                "reason": made.reason.value,
                "sha256": digest(decision_row, DECISION_FACTS),
            },
        ),
        (
            EventType.POLICY_EVALUATED,
            {
                "decision_id": of,
                "policy_version": inputs.policy_version,
                "verdict": made.verdict.value,
                "findings": codes,
            },
        ),
    ]
    if made.verdict is Verdict.REVIEW:
        told.append((EventType.APPROVAL_REQUESTED, _review(of, codes, decision_row["expires_at"])))
    elif made.verdict is Verdict.ALLOW:
        payload = {"decision_id": of, "by": f"policy {inputs.policy_version}"}
        told.append((EventType.PRICE_APPROVED, payload))
    chain: list[Event] = []
    for kind, words in told:
        before = chain[-1].event_id if chain else cause
        chain.append(event(kind, aggregate, words, now=now, correlation=of, producer=PRODUCER, cause=before))
    return chain


def review_requested(
    decision_id: str, sku: str, findings: Sequence[Finding], expires: datetime, *, now: datetime, key: str
) -> Event:
    """An approval that is asked for later than the decision was made."""
    return event(
        EventType.APPROVAL_REQUESTED,
        f"sku:{sku}",
        _review(decision_id, [finding.code.value for finding in findings], expires),
        now=now,
        correlation=decision_id,
        producer=PRODUCER,
        cause=stable_id(f"sku:{sku}", EventType.POLICY_EVALUATED.value, decision_id, ""),
        key=key,
    )


def digest(row: Mapping[str, Any], facts: Sequence[str]) -> str:
    """SHA-256 over facts of a row, the same whether it was just built or read back from the database."""
    values = [_canonical(row[name]) for name in facts]
    text = json.dumps(values, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _review(decision_id: str, codes: list[str], expires: datetime) -> dict[str, Any]:
    return {"decision_id": decision_id, "findings": codes, "expires_at": expires.isoformat()}


def _canonical(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Decimal):
        # PostgreSQL and SQLite keep the digits that were written; a trailing zero says nothing more.
        return format(value.normalize(), "f")
    return value.isoformat() if isinstance(value, datetime) else value


def _expiry(made: Decision) -> datetime | None:
    settings = made.inputs.settings
    if made.verdict is Verdict.BLOCK or settings is None:
        return None
    return made.inputs.now + timedelta(hours=settings.review_hours)


def _steps(made: Decision) -> dict[str, Any]:
    cost, computed = made.inputs.cost, made.computed
    return {
        "values": [[name, _text(amount), words] for name, amount, words in steps(made)],
        "binding": list(computed.floors.binding) if computed.floors else [],
        "previous_market": _text(made.inputs.previous_market),
        "cost": None
        if cost is None
        else {
            "cogs": _text(cost.cogs),
            "fulfilment": _text(cost.fulfilment),
            "payment": _text(cost.payment),
            "valid_from": cost.valid_from.isoformat(),
            "confirmed_at": cost.confirmed_at.isoformat(),
        },
    }


def _assessed(item: Assessed, inputs: Inputs) -> dict[str, Any]:
    """An offer and every figure on the way to its landed price; what did not come into it is left out."""
    offer = item.offer
    found: dict[str, Any] = {
        "observation_id": offer.offer_id,
        "source": offer.source,
        "source_sku": offer.source_sku,
        "mapping_id": offer.mapping_id,
        "item_price": _text(offer.item_price),
        "currency": offer.currency,
        "shipping": _text(offer.shipping),
        "landed": _text(item.landed),
    }
    if item.reasons:
        found["reasons"] = [reason.value for reason in item.reasons]
    if offer.promotion.text:
        found["promotion"] = {"kind": offer.promotion.kind.value, "text": offer.promotion.text}
        if item.landed is not None and offer.promotion.kind is PromotionKind.UNCONDITIONAL:
            off = unconditional_amount(offer.promotion, offer.item_price or item.landed)
            found["promotion"]["off"] = _text(off)
    if item.landed is not None and inputs.settings is not None:
        rate = tax_between(offer, inputs.subject, inputs.settings)
        if rate is not None:
            found["tax"] = {"basis": offer.tax_basis.value, "rate": _text(rate)}
    if item.conversion is not None:
        fx = item.conversion
        found["fx"] = {"factor": _text(fx.factor), "day": fx.day.isoformat(), "source": fx.source}
    return found


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")
