"""Adobe Commerce (Magento): base prices by SKU and store, as JSON numbers, at once or through its queue.

A refused item is a line of an array inside HTTP 200; an empty array is success. Through the queue the
answer is 202 and a number to ask for. Indexers bring a price to the storefront a minute or more later.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from pricecrawl.commerce.amounts import digest, from_text, to_number
from pricecrawl.commerce.base import SETTLE, HttpTarget
from pricecrawl.commerce.http import Answer, Failure, Http, answered
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Accepted,
    Ambiguous,
    Applied,
    Capabilities,
    MoneyForm,
    NotFound,
    OperationRef,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)

# What the status of an operation means (Asynchronous web endpoints, "operation status").
_COMPLETE, _FAILED_FOR_NOW, _FAILED, _OPEN, _REFUSED = 1, 2, 3, 4, 5


class AdobeCommerceTarget(HttpTarget):
    """One store through an integration's access token with the resource Catalog.

    `scope.channel` is a store view's code; empty means the default values (store 0) in the base
    currency. `bulk` writes through the queue. `tax_basis` says what the store's prices contain.
    """

    places = frozenset({"channel"})

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        bulk: bool = False,
        name: str = "adobe",
        tax_basis: TaxBasis = TaxBasis.EXCLUSIVE,
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            asynchronous=bulk,
            money=MoneyForm.FLOAT,
            tax_bases=(tax_basis,),
            read_lag=timedelta(minutes=2) if bulk else timedelta(0),
            settle_time=settle_time,
        )
        http = Http({"Authorization": f"Bearer {token}"}, secrets=(token,), timeout=timeout)
        super().__init__(name, capabilities, http)
        self._rest = f"{base_url.rstrip('/')}/rest"
        self._bulk = bulk
        self._basis = tax_basis

    def _store(self, scope: PriceScope) -> tuple[int, str]:
        """Number and currency of the store view that a scope means."""
        views = self._http.read("GET", f"{self._rest}/V1/store/storeConfigs").body
        if not scope.channel:
            return 0, views[0]["base_currency_code"]
        view = next((row for row in views if row["code"] == scope.channel), None)
        if view is None:
            raise TargetUnavailable(f"{self.name} has no store view {scope.channel}")
        return view["id"], view["base_currency_code"]

    def _ask(self, what: str, sku: str) -> Answer | Failure:
        # A read, though by POST: a SKU may hold anything, also a slash.
        url = f"{self._rest}/V1/products/{what}-information"
        return self._http.send("POST", url, json_body={"skus": [sku]})

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        answer = self._ask("base-prices", sku)
        if isinstance(answer, Rejected) and answer.code in {"http_404", "http_400"}:
            return NotFound(sku)
        rows = [row for row in answered(answer).body if row["sku"] == sku]
        # The platform's SKUs are unique: several rows are store views of the same product.
        return TargetRef(sku, sku) if rows else NotFound(sku)

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        store, currency = self._store(scope)
        rows = [row for row in answered(self._ask("base-prices", ref.sku)).body if row["sku"] == ref.sku]
        own = [row for row in rows if int(row["store_id"]) == store]
        special = answered(self._ask("special-price", ref.sku)).body
        others = [
            {"store": int(row["store_id"]), "price": from_text(row["price"])}
            for row in rows
            if int(row["store_id"]) != store
        ]
        others += [{"special": from_text(row["price"]), "store": int(row["store_id"])} for row in special]
        return PriceState(
            ref=ref,
            amount=from_text(own[0]["price"]) if own else None,
            currency=currency,
            tax_basis=self._basis,
            siblings_digest=digest(others),
            read_at=datetime.now(UTC),
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        store, _ = self._store(command.scope)
        row = {"price": to_number(command.amount), "store_id": store, "sku": command.ref.sku}
        answer = self._http.send(
            "POST",
            f"{self._rest}/{'async/' if self._bulk else ''}V1/products/base-prices",
            json_body={"prices": [row]},
            timeout=command.timeout_s,
        )
        if not isinstance(answer, Answer):
            return answer
        if not self._bulk:
            return _refused(answer.body) or Applied()
        item = answer.body["request_items"][0]
        if item["status"] != "accepted":
            return Rejected("not_accepted", str(item.get("error_message") or item["status"])[:300])
        return Accepted(OperationRef(answer.body["bulk_uuid"], command.ref))

    def _poll(self, operation: OperationRef) -> WriteOutcome:
        # What failed for now counts as unknown.
        answer = self._http.send(
            "GET", f"{self._rest}/V1/bulk/{quote(operation.id, safe='')}/detailed-status"
        )
        if not isinstance(answer, Answer):
            # Asking failed; about the write that says nothing.
            return Accepted(operation)
        item = answer.body["operations_list"][0]
        status, text = int(item["status"]), str(item.get("result_message") or "")[:300]
        refused = _refused(_result(item))
        if status == _OPEN:
            return Accepted(operation)
        if status == _COMPLETE:
            return refused or Applied(detail=text)
        return Unknown(text) if status == _FAILED_FOR_NOW else Rejected(f"status_{status}", text)


def _result(item: Any) -> Any:
    """The answer that the call would have given, which the queue keeps as text."""
    kept = item.get("result_serialized_data")
    return json.loads(kept) if isinstance(kept, str) and kept else []


def _refused(body: Any) -> Rejected | None:
    if not isinstance(body, list) or not body:
        return None
    text = str(body[0].get("message", "refused"))
    parameters = body[0].get("parameters") or []
    return Rejected("item_refused", f"{text} {' '.join(map(str, parameters))}".strip()[:300])
