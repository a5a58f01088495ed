"""Observations that a collector of one's own hands in."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from pricecrawl.domain.availability import StockReading
from pricecrawl.domain.candidate import Method, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.pricing.states import State
from pricecrawl.web.call import Call, endpoint, writing
from pricecrawl.web.permissions import Endpoint
from pricecrawl.web.problems import Problem
from pricecrawl.web.schemas import EvidenceOut, ObservationIn, ObservationOut
from pricecrawl.workflows import intake

router = APIRouter(tags=["observations"])

OLDEST = timedelta(days=7)
AHEAD = timedelta(minutes=2)
"""How far a client's clock may be ahead of ours."""

_TOLD = 0.90
"""Confidence of a stock state that a machine told a machine, as in markup."""


@endpoint(router, Endpoint.RECORD_OBSERVATION, gives=ObservationOut, status=201)
def record_observation(seen: ObservationIn, call: Call = writing(Endpoint.RECORD_OBSERVATION)) -> Response:
    """Record one offer: evidence, normalization, consensus, storage; or quarantine, with the reason."""

    def work() -> ObservationOut:
        entry = call.services.catalog.entries.get(seen.source)
        if entry is None:
            raise Problem(404, "no_such_source", f"There is no source {seen.source}.")
        at = seen.observed_at or call.now
        if not call.now - OLDEST <= at <= call.now + AHEAD:
            raise Problem(
                422,
                "time_out_of_range",
                "observed_at must be within the last seven days and not in the future.",
            )
        raw = _raw(seen)
        raw.observed_at = min(at, call.now)
        done = intake.record(
            call.services.engine,
            call.services.evidence,
            raw,
            intake.Posted(call.url, call.caller.name, call.body),
            source=seen.source,
            platform=entry.platform,
            market=entry.source.market,
            now=call.now,
            sold_by=entry.source.sold_by,
        )
        return _out(done)

    return call.once(seen, work, status=201)


def _raw(seen: ObservationIn) -> RawListing:
    return RawListing(
        source_sku=seen.source_sku,
        url=seen.url,
        name=seen.name,
        brand=seen.brand,
        gtin_text=seen.gtin,
        mpn_text=seen.mpn,
        size_text=seen.size,
        variant_text=seen.variant,
        category=seen.category,
        condition_text=seen.condition,
        seller=seen.seller,
        shipping_text=seen.shipping,
        promotion_text=seen.promotion,
        quantity_text=seen.quantity,
        prices=tuple(
            RawPrice(price.kind, price.text, Method.API, seen.collector, price.currency)
            for price in seen.prices
        ),
        stock=(StockReading(seen.availability, Method.API.value, _TOLD, seen.collector),),
        tax_basis=seen.tax_basis,
    )


def _out(done: intake.Recorded) -> ObservationOut:
    ref = done.evidence
    evidence = EvidenceOut(digest=ref.digest, warc=ref.warc, offset=ref.offset, length=ref.length)
    if done.rejected is not None:
        return ObservationOut(
            state=State.QUARANTINED.value,
            run_id=done.run_id,
            evidence=evidence,
            reasons=(done.rejected.reason.value,),
            detail=done.rejected.detail,
        )
    made, ids = done.observation, done.ids
    assert made is not None
    assert ids is not None
    return ObservationOut(
        state=State.NORMALIZED.value,
        run_id=done.run_id,
        evidence=evidence,
        observation_id=ids.observation_id,
        listing_id=ids.listing_id,
        price=made.price,
        currency=made.currency,
        availability=made.availability,
        needs_review=made.needs_review,
        review_id=f"candidate:{ids.review_id}" if ids.review_id is not None else None,
        reasons=tuple(str(reason) for reason in made.review_reasons),
    )
