"""BigCommerce v3: JSON numbers; the price of a variant, or its record in a price list.

A variant without a price of its own shows its product's, and what shoppers see, with a sale price in it,
is `calculated_price`. Throttling is HTTP 429 with the time to wait in `X-Rate-Limit-Time-Reset-Ms`.
Parallel writes to one price list are throttled by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_text, to_number
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.http import Answer, Http, answered
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    MoneyForm,
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    View,
    WriteOutcome,
    WritePrice,
)

_OTHERS = ("sale_price", "retail_price", "map_price")


class BigCommerceTarget(HttpTarget):
    """One store through an API account with `modify products`.

    `api_url` is `https://api.bigcommerce.com/stores/<hash>`; `scope.price_list` is a price list's
    number, empty for the base price. `tax_basis` says what the store's prices contain.
    """

    places = frozenset({"price_list"})

    def __init__(
        self,
        api_url: str,
        token: str,
        *,
        name: str = "bigcommerce",
        tax_basis: TaxBasis = TaxBasis.INCLUSIVE,
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            money=MoneyForm.FLOAT, tax_bases=(tax_basis,), storefront_view=True, settle_time=settle_time
        )
        super().__init__(name, capabilities, Http({"X-Auth-Token": token}, secrets=(token,), timeout=timeout))
        self._api = api_url.rstrip("/")
        self._basis = tax_basis

    def _get(self, path: str, **params: str) -> Any:
        return self._http.read("GET", f"{self._api}/{path}", params=params or None).body

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        rows = self._get("v3/catalog/variants", sku=sku)["data"]
        found = [TargetRef(sku, str(row["id"]), str(row["product_id"])) for row in rows if row["sku"] == sku]
        return one_of(sku, found)

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        row = self._get(f"v3/catalog/products/{ref.parent}/variants/{ref.id}")["data"]
        kind, held, currency = PriceKindAtTarget.BASE, row, scope.currency
        if scope.price_list:
            kind, held = PriceKindAtTarget.LIST, self._record(ref, scope)
            amount = None
            if held:
                amount, currency = from_text(held["price"]), str(held["currency"]).upper()
        else:
            price = row["price"]
            if price is None:
                price = self._get(f"v3/catalog/products/{ref.parent}")["data"]["price"]
            amount, currency = from_text(price), self._get("v2/store")["currency"]
        if view is View.STOREFRONT and (shown := from_text(held.get("calculated_price"))) is not None:
            # With a sale price and the rules of the store.
            kind = PriceKindAtTarget.SALE if shown != amount else kind
            amount = shown
        return PriceState(
            ref=TargetRef(row["sku"], str(row["id"]), str(row["product_id"])),
            amount=amount,
            currency=currency,
            tax_basis=self._basis,
            kind=kind,
            siblings_digest=digest([{key: from_text(held.get(key)) for key in _OTHERS}]),
            read_at=datetime.now(UTC),
            view=view,
        )

    def _record(self, ref: TargetRef, scope: PriceScope) -> Mapping[str, Any]:
        """What a price list has for a variant; empty where it has no price for it."""
        path = f"v3/pricelists/{scope.price_list}/records/{ref.id}/{scope.currency.lower()}"
        answer = self._http.send("GET", f"{self._api}/{path}")
        if isinstance(answer, Rejected) and answer.code == "http_404":
            return {}
        found: Mapping[str, Any] = answered(answer).body["data"]
        return found

    def _write(self, command: WritePrice) -> WriteOutcome:
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        scope, number = command.scope, to_number(command.amount)
        if scope.price_list:
            path = f"v3/pricelists/{scope.price_list}/records"
            # An upsert by (variant, currency): it replaces the record, so the rest of it is sent along.
            record = self._get(f"{path}/{command.ref.id}/{scope.currency.lower()}")["data"]
            kept = {key: record[key] for key in (*_OTHERS, "bulk_pricing_tiers") if record.get(key)}
            body = {"variant_id": int(command.ref.id), "currency": scope.currency.lower(), "price": number}
            body |= {key: _number(value) for key, value in kept.items()}
        else:
            path, body = "v3/catalog/variants", {"id": int(command.ref.id), "price": number}
        answer = self._http.send("PUT", f"{self._api}/{path}", json_body=[body], timeout=command.timeout_s)
        return Applied() if isinstance(answer, Answer) else answer


def _number(value: Any) -> Any:
    amount = from_text(value) if not isinstance(value, list) else None
    return value if amount is None else to_number(amount)
