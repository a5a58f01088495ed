"""JSON that is not what a platform documents: every part of every answer, left out or replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.pricing.ports import NotFound, TargetRef, TargetUnavailable, View
from pricecrawl.workflows.publisher import state_json
from tests.commerce.benches import Bench
from tests.commerce.test_contract import command
from tests.shops.fault_proxy import Fault, http_reply

GONE = object()
INSTEAD = (GONE, None, 5.5, "x", [], {}, [None], 10**400)


def parts(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The address of everything in it."""
    yield path
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inside:
        yield from parts(value, (*path, key))


def changed(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value there, or nothing."""
    if not path:
        return None if value is GONE else value
    body = deepcopy(body)
    inside = body
    for key in path[:-1]:
        inside = inside[key]
    if value is GONE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return body


def answers(bench: Bench) -> Iterator[tuple[bytes, Any]]:
    """The calls that were made, as the proxy sees them, with what was answered."""
    target: Any = bench.target
    shop = getattr(target, "_shop", target._http)  # some ask the storefront as somebody else
    for call in (*target.exchanges(), *shop.exchanges()):
        method, url = call.request.split(" ", 1)
        path = "/" + url.split("/", 3)[3]
        yield re.escape(f"{method} {path}".encode()), json.loads(call.answer)


def broken(bench: Bench) -> Iterator[None]:
    """Once for each change to each answer of the calls that were just made, with that answer in place."""
    assert bench.proxy
    for request, body in list(answers(bench)):
        for number, path in enumerate(parts(body)):
            # Two of the values at a place, others at the next one.
            for value in INSTEAD[number % 4 :: 4] if path else INSTEAD[1:]:
                reply = http_reply("200 OK", json.dumps(changed(body, path, value)))
                bench.proxy.faults[:] = [Fault("answer", request, reply=reply)]
                yield
    bench.proxy.faults.clear()


@pytest.mark.needs("shapes")
@pytest.mark.parametrize("view", list(View))
def test_reading(bench: Bench, view: View) -> None:
    """It is a price that can be kept, or an outage; never another exception."""
    if view is View.STOREFRONT and not bench.target.capabilities.storefront_view:
        return
    ref = command(bench, bench.take(), "9.99").ref
    bench.target.exchanges()
    bench.target.read(ref, bench.scope, view)
    outages = 0
    for _ in broken(bench):
        try:
            state = bench.target.read(ref, bench.scope, view)
        except TargetUnavailable:
            outages += 1
            continue
        assert state.amount is None or state.amount.is_finite()
        json.dumps(state_json(state))
    assert outages


@pytest.mark.needs("shapes")
def test_finding(bench: Bench) -> None:
    sku = bench.take()
    bench.target.exchanges()
    ref = bench.target.resolve(sku, bench.scope)
    for _ in broken(bench):
        try:
            found = bench.target.resolve(sku, bench.scope)
        except TargetUnavailable:
            continue
        assert isinstance(found, NotFound | TargetRef)
        assert found.sku == sku
    assert bench.target.resolve(sku, bench.scope) == ref


@pytest.mark.needs("shapes")
def test_writing(bench: Bench) -> None:
    """Whatever is read before the write, and however it is answered, a write has an outcome."""
    sku = bench.take()
    order = command(bench, sku, "9.99")
    bench.target.exchanges()
    bench.target.write(order)
    for _ in broken(bench):
        bench.target.write(order)
        bench.work()
        assert bench.price(sku) == Decimal("9.99")
