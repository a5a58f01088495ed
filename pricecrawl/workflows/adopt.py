"""Taking over a price that somebody set in the shop: decisions go out from it from now on."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.said import says_something
from pricecrawl.pricing.ports import PriceState, TargetRef, TargetUnavailable
from pricecrawl.workflows import incidents
from pricecrawl.workflows.events import event
from pricecrawl.workflows.publisher import PRODUCER, Publisher, need_publisher, state_json


def look(pub: Publisher, target: str, sku: str) -> PriceState:
    """What a target has for a SKU of ours; nothing is changed.

    Raises:
        UsageProblem: the SKU is not ours, or the target does not have it exactly once.
        Refused: the shop cannot be read.
    """
    placement = pub.placement(target)
    with pub.store.engine.connect() as conn:
        row = pub.store.subject(conn, sku)
    if row is None:
        raise UsageProblem(f"SKU {sku} is not in the catalogue.")
    scope = placement.scope(row.currency, TaxBasis(row.tax_basis))
    try:
        ref = placement.target.resolve(sku, scope)
        if isinstance(ref, TargetRef):
            return placement.target.read(ref, scope)
    except TargetUnavailable as problem:
        raise Refused(f"{target} cannot be read: {problem}.") from None
    finally:
        placement.target.exchanges()
    ids = getattr(ref, "ids", ())
    raise UsageProblem(f"{target} has SKU {sku} {len(ids)} times." if ids else f"{target} has no SKU {sku}.")


def adopt(pub: Publisher, target: str, sku: str, *, reason: str, by: str, now: datetime) -> Decimal:
    """Make the shop's price the current one of a SKU; returns it. Incidents about it are settled.

    Raises:
        UsageProblem: no reason, or the shop's price cannot be one of ours.
        Refused: the shop cannot be read.
    """
    need_publisher(pub.by)
    if not says_something(reason):
        raise UsageProblem('taking over a price needs a reason: give it with --reason "...".')
    state = look(pub, target, sku)
    with pub.store.begin() as tx:
        row = pub.store.subject(tx, sku)
        if state.amount is None or state.amount <= 0 or row is None:
            raise UsageProblem(f"{target} has no price for SKU {sku}.")
        if (state.currency, state.tax_basis.value) != (row.currency, row.tax_basis):
            raise UsageProblem(
                f"{target} has {sku} in {state.currency}, {state.tax_basis.value}; "
                f"the catalogue says {row.currency}, {row.tax_basis}."
            )
        pub.store.set_current(tx, sku, state.amount)
        _stands(pub, tx, target, sku, state, by=by, now=now)
        closed = incidents.close(pub, tx, target, sku, now=now)
        payload = {
            "sku": sku,
            "target": target,
            "before": None if row.current_price is None else format(row.current_price, "f"),
            "found": state_json(state),
            "by": by,
            "reason": reason.strip(),
            "incidents_closed": closed,
        }
        adopted = event(
            EventType.PRICE_ADOPTED,
            f"sku:{sku}",
            payload,
            now=now,
            correlation=f"sku:{sku}",
            producer=PRODUCER,
            key=now.isoformat(),
        )
        pub.store.append(tx, [adopted])
    return state.amount


def _stands(
    pub: Publisher, tx: Any, target: str, sku: str, state: PriceState, *, by: str, now: datetime
) -> None:
    """What we left there last is not what should be there any more: whoever looks again must know."""
    placement = pub.placement(target)
    scope = placement.scope(state.currency, state.tax_basis)
    row = pub.store.last_verified(tx, target, sku, scope.key)
    if row is not None:
        taken = {"amount": format(state.amount or Decimal(0), "f"), "at": now.isoformat(), "by": by}
        outcome = {**(row["outcome"] or {}), "adopted": taken}
        pub.store.change(tx, row["publication_id"], row["status"], now=now, outcome=outcome)
