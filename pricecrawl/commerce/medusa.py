"""Medusa v2: JSON numbers in major units; a variant's `prices` are replaced as a whole.

Learned from the server: sending one currency alone deletes the others, so all are read, one is
changed and all are written; -3, 0 and 10.999 are taken; a text in place of a number is "required".
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_text, to_number
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.http import Answer, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    Conflict,
    MoneyForm,
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    View,
    WriteOutcome,
    WritePrice,
)

_FIELDS = "id,sku,product_id,updated_at,*prices"


class MedusaTarget(HttpTarget):
    """One Medusa server through a secret API key; `region` and `publishable_key` open the storefront view."""

    def __init__(
        self,
        base_url: str,
        secret_key: str,
        *,
        region: str = "",
        publishable_key: str = "",
        name: str = "medusa",
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            revision_moves_on_price=True,
            replaces_siblings=True,
            storefront_view=bool(region and publishable_key),
            money=MoneyForm.FLOAT,
            settle_time=settle_time,
        )
        login = base64.b64encode(f"{secret_key}:".encode()).decode()
        http = Http({"Authorization": f"Basic {login}"}, secrets=(secret_key, login), timeout=timeout)
        super().__init__(name, capabilities, http)
        self._base = base_url.rstrip("/")
        self._shop = Http({"x-publishable-api-key": publishable_key}, timeout=timeout)
        self._region = region

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        params = {"sku": sku, "fields": "id,sku,product_id", "limit": "10"}
        rows = self._http.read("GET", f"{self._base}/admin/product-variants", params=params).body["variants"]
        return one_of(
            sku, [TargetRef(sku, row["id"], row["product_id"]) for row in rows if row["sku"] == sku]
        )

    def _variant(self, ref: TargetRef) -> Any:
        url = f"{self._base}/admin/products/{ref.parent}/variants/{ref.id}"
        return self._http.read("GET", url, params={"fields": _FIELDS}).body["variant"]

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        if view is View.STOREFRONT:
            return self._storefront(ref, scope)
        return self._state(self._variant(ref), ref, scope)

    def _state(self, variant: Any, ref: TargetRef, scope: PriceScope) -> PriceState:
        own = _own(variant["prices"], scope)
        return PriceState(
            ref=TargetRef(variant["sku"], variant["id"], ref.parent),
            amount=None if own is None else from_text(own["amount"]),
            currency=scope.currency,
            tax_basis=self._basis(scope.currency),
            revision=None if own is None else f"{variant['updated_at']} {own.get('updated_at') or ''}",
            updated_at=variant["updated_at"],
            siblings_digest=digest(_facts(row) for row in variant["prices"] if row is not own),
            read_at=datetime.now(UTC),
        )

    def _basis(self, currency: str) -> TaxBasis:
        params = {"attribute": "currency_code", "value": currency.lower()}
        rows = self._http.read("GET", f"{self._base}/admin/price-preferences", params=params).body
        gross = any(row["is_tax_inclusive"] for row in rows["price_preferences"])
        return TaxBasis.INCLUSIVE if gross else TaxBasis.EXCLUSIVE

    def _storefront(self, ref: TargetRef, scope: PriceScope) -> PriceState:
        params = {"region_id": self._region, "fields": "*variants.calculated_price"}
        product = self._shop.read("GET", f"{self._base}/store/products/{ref.parent}", params=params).body
        price = next(row for row in product["product"]["variants"] if row["id"] == ref.id)["calculated_price"]
        gross = scope.tax_basis is TaxBasis.INCLUSIVE
        amount = price.get(f"calculated_amount_{'with' if gross else 'without'}_tax")
        listed = (price.get("calculated_price") or {}).get("price_list_id")
        return PriceState(
            ref=ref,
            amount=from_text(price["calculated_amount"] if amount is None else amount),
            currency=str(price["currency_code"]).upper(),
            tax_basis=scope.tax_basis,
            kind=PriceKindAtTarget.LIST if listed else PriceKindAtTarget.BASE,
            read_at=datetime.now(UTC),
            view=View.STOREFRONT,
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        # Read once more, at the last moment: what is sent replaces everything that is there.
        variant = self._variant(command.ref)
        own = _own(variant["prices"], command.scope)
        if own is None or from_text(own["amount"]) != before.amount:
            return Conflict(detail="the price changed while it was being written")
        prices = [_sent(row, command if row is own else None) for row in variant["prices"]]
        answer = self._http.send(
            "POST",
            f"{self._base}/admin/products/{command.ref.parent}/variants/{command.ref.id}",
            json_body={"prices": prices},
            timeout=command.timeout_s,
        )
        return Applied() if isinstance(answer, Answer) else answer


def _own(prices: list[Any], scope: PriceScope) -> Any:
    """The price of a currency that holds for everybody and any quantity."""
    for row in prices:
        plain = not row.get("rules") and not row.get("min_quantity") and not row.get("max_quantity")
        if row["currency_code"].upper() == scope.currency and plain:
            return row
    return None


def _sent(row: Mapping[str, Any], command: WritePrice | None) -> dict[str, Any]:
    amount = from_text(row["amount"]) if command is None else command.amount
    if amount is None:
        raise TargetUnavailable(f"a price of {row['currency_code']} has no amount to be sent along")
    price: dict[str, Any] = {
        "id": row["id"],
        "currency_code": row["currency_code"],
        "amount": to_number(amount),
    }
    for key in ("min_quantity", "max_quantity", "rules"):
        if row.get(key):
            price[key] = row[key]
    return price


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    facts = {key: row.get(key) or None for key in ("min_quantity", "max_quantity", "rules")}
    return {"currency": row["currency_code"], "amount": from_text(row["amount"]), **facts}
