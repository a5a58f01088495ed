"""What would be decided now: market prices to look at, and decisions held against today's policy.

A market price that is asked for alone is not stored: one is stored with the decision that stands on it.
An evaluation can only make a decision stricter. What it would decide anew is another decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.pricing.decision import Decision, DecisionReason, decide
from pricecrawl.pricing.findings import Finding, Inputs, Verdict
from pricecrawl.pricing.market_price import MarketPrice, market_price
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.recheck import rollback
from pricecrawl.pricing.states import OPEN, IllegalTransition, State, advance
from pricecrawl.workflows import decision_rows
from pricecrawl.workflows.events import event
from pricecrawl.workflows.offers import cost_of, held_sources, holds_on, offer_of, rates_of, subject_of
from pricecrawl.workflows.policies import in_force, settings_of

_RATES_BACK = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What today's policy says of a stored decision.

    `status` is where that leaves it; `findings` are today's. `current` is False when the price would be
    another one today, and then the decision is stale.
    """

    decision_id: str
    verdict: Verdict
    status: str
    current: bool
    policy_version: str
    findings: tuple[Finding, ...]


def market(
    store: PricingStore, sku: str, *, now: datetime, countries: Mapping[str, str]
) -> tuple[MarketPrice, str]:
    """The market price of one SKU at `now`, and the version of the policy that it was computed under.

    Raises:
        UsageProblem: the SKU is not in the catalogue.
    """
    with store.begin() as tx:
        made = _decide(store, tx, sku, now=now, countries=countries)
    return made.inputs.market, made.inputs.policy_version


def evaluate(
    store: PricingStore, of: str, *, by: str, now: datetime, countries: Mapping[str, str]
) -> Evaluation:
    """Hold a decision that is still open against the policy, costs, offers and kill switches of `now`.

    Raises:
        UsageProblem: there is no such decision.
        IllegalTransition: it is not open any more.
    """
    with store.begin() as tx:
        row = ReviewStore(store.engine).decision(tx, of, lock=True)
        if row is None:
            raise UsageProblem(f"there is no decision {of}.")
        if row["status"] not in OPEN:
            raise IllegalTransition(
                f"decision {of} is {row['status']}: only one that is {' or '.join(sorted(OPEN))} "
                "can be evaluated again."
            )
        made = _decide(store, tx, row["sku"], now=now, countries=countries)
        if row["decision_reason"] == DecisionReason.ROLLBACK.value:
            # It repeats a price: what the market asks for today is another decision's business.
            subject = replace(made.inputs.subject, current_price=row["current_price"])
            made = rollback(made.inputs._replace(subject=subject), row["proposed_price"])
        current = made.computed.proposed == row["proposed_price"]
        verdict = Verdict.BLOCK if _expired(row, now) else made.verdict
        target = _target(row, made, verdict, current=current)
        unseen = [finding for finding in made.findings if finding.code.value not in _codes(row)]
        if target.value != row["status"]:
            advance(row["status"], target, what=f"decision {of}")
            store.set_status(tx, [of], was=row["status"], becomes=target.value, now=now)
            for finding in unseen:
                store.recall(tx, [of], finding.plain(), verdict=_stricter(row["verdict"], made.verdict))
        told = {
            "decision_id": of,
            "policy_version": made.inputs.policy_version,
            "verdict": made.verdict.value,
            "findings": [finding.code.value for finding in made.findings],
            "again": True,
            "by": by,
            "status": target.value,
        }
        evaluated = event(
            EventType.POLICY_EVALUATED,
            f"sku:{row['sku']}",
            told,
            now=now,
            correlation=of,
            producer="pricing",
            key=uuid4(),
        )
        store.append(tx, [evaluated])
        if target is State.REVIEW_REQUIRED and target.value != row["status"]:
            expires = row["expires_at"] or now + timedelta(
                hours=(made.inputs.settings or Settings()).review_hours
            )
            asked = decision_rows.review_requested(
                of, row["sku"], unseen, expires, now=now, key=f"evaluated {now.isoformat()}"
            )
            store.append(tx, [asked])
    return Evaluation(of, made.verdict, target.value, current, made.inputs.policy_version, made.findings)


def _target(row: Mapping[str, Any], made: Decision, verdict: Verdict, *, current: bool) -> State:
    """Where the decision stands after it was looked at again; never anything milder than before."""
    if made.verdict is Verdict.BLOCK:
        return State.BLOCKED
    if not current or verdict is Verdict.BLOCK:
        return State.STALE
    unseen = {finding.code.value for finding in made.findings} - _codes(row)
    return State.REVIEW_REQUIRED if unseen else State(row["status"])


def _expired(row: Mapping[str, Any], now: datetime) -> bool:
    return row["expires_at"] is not None and row["expires_at"] <= now


def _codes(row: Mapping[str, Any]) -> set[str]:
    return {item["code"] for item in row["findings"]}


def _stricter(before: str, now: Verdict) -> str:
    order = [verdict.value for verdict in Verdict]
    return max(before, now.value, key=order.index)


def _decide(
    store: PricingStore, tx: Any, sku: str, *, now: datetime, countries: Mapping[str, str]
) -> Decision:
    """The decision that a pricing run would make of one SKU at `now`."""
    loaded = store.named(tx, [sku])
    if not loaded.skus:
        raise UsageProblem(f"SKU {sku} is not in the catalogue; `pricecrawl catalog import` adds it.")
    row = loaded.skus[0]
    policy = in_force(PolicyStore(store.engine), tx, now)
    settings, version = settings_of(policy, sku, row.category, loaded.overrides.get(sku))
    holds = store.holds(tx)
    held = held_sources(holds)
    subject = subject_of(row)
    offers = tuple(
        offer_of(item, countries=countries, held=held, chosen=loaded.chosen)
        for item in loaded.offers.get(sku, ())
    )
    rates = rates_of(store.rates(tx, (now - _RATES_BACK).date()))
    inputs = Inputs(
        subject=subject,
        cost=cost_of(loaded.costs.get(sku, ()), now),
        settings=settings,
        policy_version=version,
        market=market_price(subject, offers, settings=settings or Settings(), rates=rates, now=now),
        now=now,
        holds=holds_on(sku, holds),
        previous_market=loaded.previous.get(sku),
        taken_back=store.taken_back(tx, [sku]).get(sku, ""),
    )
    return decide(inputs)
