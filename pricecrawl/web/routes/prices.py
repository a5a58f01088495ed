"""Mappings, market prices and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path
from starlette.responses import Response

from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.mappings import MappingStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.pricing.findings import Finding
from pricecrawl.pricing.market_price import Assessed
from pricecrawl.web.call import Call, endpoint, writing
from pricecrawl.web.permissions import Endpoint
from pricecrawl.web.problems import Problem
from pricecrawl.web.schemas import (
    DecisionId,
    DecisionOut,
    DecisionsOut,
    EvaluationOut,
    FindingOut,
    MappingsIn,
    MappingsOut,
    MarketPriceOut,
    OfferOut,
    SkuIn,
    SkusIn,
)
from pricecrawl.workflows import evaluate, mapping, price
from pricecrawl.workflows.events import stable_id

router = APIRouter(tags=["prices"])


@endpoint(router, Endpoint.EVALUATE_MAPPINGS, gives=MappingsOut)
def evaluate_mappings(asked: MappingsIn, call: Call = writing(Endpoint.EVALUATE_MAPPINGS)) -> Response:
    """Match listings to SKUs by exact identifiers; what a person decided stays as it is."""

    def work() -> MappingsOut:
        if asked.source is not None and asked.source not in call.services.catalog.entries:
            raise Problem(404, "no_such_source", f"There is no source {asked.source}.")
        done = mapping.run(MappingStore(call.services.engine), now=call.now, source=asked.source)
        return MappingsOut(
            listings=done.listings, unmatched=done.unmatched, added=done.added, changed=done.changed
        )

    return call.once(asked, work)


@endpoint(router, Endpoint.COMPUTE_MARKET_PRICES, gives=MarketPriceOut)
def compute_market_price(asked: SkuIn, call: Call = writing(Endpoint.COMPUTE_MARKET_PRICES)) -> Response:
    """The market price of a SKU now. Nothing is stored: a decision stores the one that it stands on."""

    def work() -> MarketPriceOut:
        currencies = known_skus(call, asked.sku)
        found, version = evaluate.market(
            PricingStore(call.services.engine), asked.sku, now=call.now, countries=call.services.countries
        )
        return MarketPriceOut(
            sku=asked.sku,
            market_price=found.price,
            currency=currencies[asked.sku],
            note=found.note,
            freshness=found.freshness.value,
            winning_observation_id=found.winner.offer.offer_id if found.winner else None,
            eligible=tuple(map(_offer, found.eligible)),
            excluded=tuple(map(_offer, found.excluded)),
            policy_version=version,
            computed_at=found.computed_at,
        )

    return call.once(asked, work)


@endpoint(router, Endpoint.COMPUTE_DECISIONS, gives=DecisionsOut)
def compute_decisions(asked: SkusIn, call: Call = writing(Endpoint.COMPUTE_DECISIONS)) -> Response:
    """Decide prices: market price, floors, guardrails, verdict. Asked twice under a key, decided once."""
    skus = sorted(set(asked.skus))
    # Even if this process dies after the decisions are stored, the same key finds the same decisions.
    named = f"{call.caller.name} {call.key or uuid4()}"

    def work() -> DecisionsOut:
        known_skus(call, *skus)
        done = price.run(
            PricingStore(call.services.engine),
            now=call.now,
            countries=call.services.countries,
            skus=skus,
            correlation=named,
        )
        store = ReviewStore(call.services.engine)
        with store.engine.connect() as conn:
            rows = [store.decision(conn, stable_id(done.run_id, sku)) for sku in skus]
        return DecisionsOut(
            run_id=done.run_id,
            policy_version=done.policy_version,
            superseded=done.superseded,
            recalled=done.recalled,
            decisions=tuple(decision_out(row) for row in rows if row is not None),
        )

    return call.once(asked, work)


@endpoint(router, Endpoint.EVALUATE_POLICY, gives=EvaluationOut)
def evaluate_policy(
    decision_id: Annotated[DecisionId, Path()], call: Call = writing(Endpoint.EVALUATE_POLICY)
) -> Response:
    """Hold an open decision against the policy, costs, offers and kill switches of now.

    It can only become stricter: what would be decided anew is another decision.
    """

    def work() -> EvaluationOut:
        store = PricingStore(call.services.engine)
        with store.engine.connect() as conn:
            if ReviewStore(store.engine).decision(conn, decision_id) is None:
                raise Problem(404, "no_such_decision", f"There is no decision {decision_id}.")
        done = evaluate.evaluate(
            store, decision_id, by=call.caller.name, now=call.now, countries=call.services.countries
        )
        return EvaluationOut(
            decision_id=decision_id,
            verdict=done.verdict.value,
            status=done.status,
            current=done.current,
            policy_version=done.policy_version,
            findings=tuple(map(_finding, done.findings)),
        )

    return call.once(None, work)


def decision_out(row: Mapping[str, Any]) -> DecisionOut:
    """A stored decision."""
    names = [name for name in DecisionOut.model_fields if name != "findings"]
    return DecisionOut(
        findings=tuple(FindingOut(**item) for item in row["findings"]), **{name: row[name] for name in names}
    )


def known_skus(call: Call, *skus: str) -> Mapping[str, str]:
    """The currency of each SKU.

    Raises:
        Problem: one is not in the catalogue (404).
    """
    there = CatalogueStore(call.services.engine).currencies(skus)
    for sku in skus:
        if sku not in there:
            raise Problem(404, "no_such_sku", f"SKU {sku} is not in the catalogue.")
    return there


def _finding(found: Finding) -> FindingOut:
    return FindingOut(**found.plain())


def _offer(item: Assessed) -> OfferOut:
    offer = item.offer
    return OfferOut(
        observation_id=offer.offer_id,
        source=offer.source,
        source_sku=offer.source_sku,
        item_price=offer.item_price,
        currency=offer.currency,
        shipping=offer.shipping,
        landed=item.landed,
        mapping_id=offer.mapping_id,
        reasons=tuple(reason.value for reason in item.reasons),
    )
