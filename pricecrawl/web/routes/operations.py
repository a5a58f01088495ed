"""How things stand, why a price is what it is, and the switches that stop it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import StringConstraints
from starlette.responses import Response

from pricecrawl import __version__
from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.events import EventLog
from pricecrawl.db.holds import HoldStore
from pricecrawl.db.status import never_crawled, source_status
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.plain import plain
from pricecrawl.web.call import Call, endpoint, reading, writing
from pricecrawl.web.permissions import Endpoint
from pricecrawl.web.problems import Problem
from pricecrawl.web.schemas import (
    ClearedOut,
    EventOut,
    EventsOut,
    HoldIn,
    HoldOut,
    HoldsOut,
    Reason,
    Sku,
    Slug,
    StatusOut,
    SwitchIn,
    SwitchOut,
    TraceOut,
)
from pricecrawl.workflows import holds, trace

router = APIRouter(tags=["operations"])

_Value = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


@endpoint(router, Endpoint.TRACE, gives=TraceOut)
def decision_trace(sku: Annotated[Sku, Path()], call: Call = reading(Endpoint.TRACE)) -> Any:
    """The chain behind the newest decision of a SKU, down to the stored bytes, which are verified."""
    if sku not in CatalogueStore(call.services.engine).currencies([sku]):
        raise Problem(404, "no_such_sku", f"SKU {sku} is not in the catalogue.")
    try:
        found = trace.trace(TraceStore(call.services.engine), call.services.evidence, sku)
    except UsageProblem as problem:
        raise Problem(404, "never_priced", str(problem)) from None
    return TraceOut.model_validate(plain(trace.as_json(found)))


@endpoint(router, Endpoint.STATUS, gives=StatusOut)
def status(call: Call = reading(Endpoint.STATUS)) -> Any:
    """Every source: its switch, its last run, its listings."""
    rows = source_status(call.services.engine)
    names = {row.source for row in rows}
    rows += [
        never_crawled(entry.source.slug, entry.platform)
        for entry in call.services.catalog
        if entry.source.slug not in names
    ]
    return StatusOut(version=__version__, at=call.now, sources=tuple(rows))


@endpoint(router, Endpoint.EVENTS, gives=EventsOut)
def events(
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    call: Call = reading(Endpoint.EVENTS, "after", "limit"),
) -> Any:
    """The log of everything that happened, in order."""
    found = EventLog(call.services.engine).after(after, limit)
    return EventsOut(
        events=tuple(
            EventOut(
                id=number,
                event_id=item.event_id,
                event_type=item.event_type.value,
                schema_version=item.schema_version,
                aggregate=item.aggregate,
                correlation_id=item.correlation_id,
                causation_id=item.causation_id,
                occurred_at=item.occurred_at,
                producer=item.producer,
                payload=dict(item.payload),
            )
            for number, item in found
        ),
        last=found[-1][0] if found else after,
    )


@endpoint(router, Endpoint.SWITCH_SOURCE, gives=SwitchOut)
def switch_source(
    slug: Annotated[Slug, Path()], asked: SwitchIn, call: Call = writing(Endpoint.SWITCH_SOURCE)
) -> Response:
    """Switch a source on or off; a running crawl of it stops within seconds."""

    def work() -> SwitchOut:
        entry = call.services.catalog.entries.get(slug)
        if entry is None:
            raise Problem(404, "no_such_source", f"There is no source {slug}.")
        store = CrawlStore(call.services.engine)
        store.sync_sources([(slug, entry.platform)])
        store.set_enabled(slug, asked.enabled, by=call.caller.name, reason=asked.reason, now=call.now)
        state = store.source_state(slug)
        return SwitchOut(source=slug, enabled=state.enabled, reason=state.disabled_reason)

    return call.once(asked, work)


@endpoint(router, Endpoint.LIST_HOLDS, gives=HoldsOut)
def list_holds(call: Call = reading(Endpoint.LIST_HOLDS)) -> Any:
    """Every kill switch that is on."""
    return HoldsOut(
        holds=tuple(
            HoldOut(
                hold_id=row.id,
                scope=row.scope,
                value=row.value,
                reason=row.reason,
                set_by=row.set_by,
                set_at=row.set_at,
            )
            for row in holds.active(HoldStore(call.services.engine))
        )
    )


@endpoint(router, Endpoint.SET_HOLD, gives=HoldOut, status=201)
def set_hold(asked: HoldIn, call: Call = writing(Endpoint.SET_HOLD)) -> Response:
    """Hold something: no price of it is decided or written, a running crawl of it stops."""

    def work() -> HoldOut:
        store = HoldStore(call.services.engine)
        number = holds.place(
            store,
            asked.scope,
            asked.value,
            reason=asked.reason,
            by=call.caller.name,
            now=call.now,
            targets=call.services.placements,
        )
        (row,) = (row for row in holds.active(store) if row.id == number)
        return HoldOut(
            hold_id=row.id,
            scope=row.scope,
            value=row.value,
            reason=row.reason,
            set_by=row.set_by,
            set_at=row.set_at,
        )

    return call.once(asked, work, status=201)


@endpoint(router, Endpoint.CLEAR_HOLD, gives=ClearedOut)
def clear_hold(
    scope: Annotated[Literal["everything", "target", "source", "sku"], Query()],
    reason: Annotated[Reason, Query()],
    value: Annotated[_Value, Query()] = "",
    call: Call = writing(Endpoint.CLEAR_HOLD, "scope", "value", "reason"),
) -> Response:
    """End the holds of that name."""

    def work() -> ClearedOut:
        store = HoldStore(call.services.engine)
        if not any((row.scope, row.value) == (scope, value) for row in holds.active(store)):
            raise Problem(404, "not_held", f"{f'{scope} {value}'.strip()} is not held.")
        count = holds.clear(store, scope, value, reason=reason, by=call.caller.name, now=call.now)
        return ClearedOut(scope=scope, value=value, cleared=count)

    return call.once(None, work)
