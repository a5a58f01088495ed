"""Vendure: integer minor units in the channel's own tax basis, one price per channel and currency.

Learned from the server: it takes negative and fractional amounts without a word; a refused
mutation is HTTP 200 with `errors`; `updatedAt` moves on every save, also one that changed nothing;
the variant's `price` is always net, while `prices[]` holds what was written; giving one variant of
a product a currency that its siblings lack breaks the whole product in the storefront.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import checked, digest, from_minor, to_minor
from pricecrawl.commerce.http import Answer, Failure, Http, describe
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
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
    Throttled,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)

_FIND = (
    "query($sku: String!) { productVariants(options: {filter: {sku: {eq: $sku}}, take: 3})"
    " { items { id sku product { id } } } }"
)
_READ = (
    "query($id: ID!) { activeChannel { pricesIncludeTax }"
    " productVariant(id: $id) { id sku updatedAt prices { price currencyCode } } }"
)
_WRITE = (
    "mutation($input: [UpdateProductVariantInput!]!)"
    " { updateProductVariants(input: $input) { id updatedAt } }"
)
_SHOP = "query($id: ID!) { product(id: $id) { variants { id price priceWithTax currencyCode } } }"


class VendureTarget:
    """One channel of a Vendure server, through an API key with ReadCatalog and UpdateCatalog only.

    `admin_url` and `shop_url` are the two GraphQL endpoints; `scope.channel` is a channel token.
    """

    def __init__(
        self,
        admin_url: str,
        api_key: str,
        *,
        shop_url: str = "",
        name: str = "vendure",
        settle_time: timedelta = timedelta(seconds=30),
        timeout: float = 20.0,
    ) -> None:
        self.name = name
        self.capabilities = Capabilities(
            revision_moves_on_price=True,
            money=MoneyForm.MINOR,
            storefront_view=bool(shop_url),
            max_batch=80,
            max_parallel_writers=4,
            settle_time=settle_time,
        )
        self._admin_url = admin_url
        self._shop_url = shop_url
        self._admin = Http({"vendure-api-key": api_key}, timeout=timeout)
        self._shop = Http(timeout=timeout)

    def _call(
        self, query: str, variables: Mapping[str, Any], scope: PriceScope, *, timeout: float | None = None
    ) -> Answer | Failure:
        headers = {"vendure-token": scope.channel} if scope.channel else None
        body = {"query": query, "variables": variables}
        answer = self._admin.send("POST", self._admin_url, json_body=body, headers=headers, timeout=timeout)
        return _graphql(answer)

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """The variant with exactly this SKU."""
        items = _data(self._call(_FIND, {"sku": sku}, scope))["productVariants"]["items"]
        if not items:
            return NotFound(sku)
        if len(items) > 1:
            return Ambiguous(sku, tuple(item["id"] for item in items))
        return TargetRef(sku, items[0]["id"], items[0]["product"]["id"])

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """The stored price of this currency, or what the storefront shows of it."""
        if view is View.STOREFRONT:
            return self._storefront(ref, scope)
        data = _data(self._call(_READ, {"id": ref.id}, scope))
        variant = data["productVariant"]
        if variant is None:
            raise TargetUnavailable(f"variant {ref.id} is gone")
        prices = {row["currencyCode"]: row["price"] for row in variant["prices"]}
        amount = prices.get(scope.currency)
        return PriceState(
            ref=TargetRef(variant["sku"], variant["id"], ref.parent),
            amount=None if amount is None else from_minor(amount, scope.currency),
            currency=scope.currency,
            tax_basis=_basis(data["activeChannel"]["pricesIncludeTax"]),
            revision=variant["updatedAt"],
            updated_at=variant["updatedAt"],
            siblings_digest=digest(row for row in variant["prices"] if row["currencyCode"] != scope.currency),
            read_at=datetime.now(UTC),
        )

    def _storefront(self, ref: TargetRef, scope: PriceScope) -> PriceState:
        headers = {"vendure-token": scope.channel} if scope.channel else None
        answer = self._shop.send(
            "POST",
            self._shop_url,
            json_body={"query": _SHOP, "variables": {"id": ref.parent}},
            params={"currencyCode": scope.currency},
            headers=headers,
        )
        product = _data(_graphql(answer))["product"]
        rows = [row for row in (product or {}).get("variants", []) if row["id"] == ref.id]
        gross = scope.tax_basis is TaxBasis.INCLUSIVE
        amount = rows[0]["priceWithTax" if gross else "price"] if rows else None
        return PriceState(
            ref=ref,
            amount=None if amount is None else from_minor(amount, scope.currency),
            currency=rows[0]["currencyCode"] if rows else scope.currency,
            tax_basis=scope.tax_basis,
            read_at=datetime.now(UTC),
            view=View.STOREFRONT,
        )

    def write(self, command: WritePrice) -> WriteOutcome:
        """Set the price of one currency; the currency must already have a price."""
        scope = command.scope
        wrong = checked(command.amount, scope.currency)
        if wrong is not None:
            return wrong
        try:
            now = self.read(command.ref, scope)
        except TargetUnavailable as problem:
            return Throttled() if "throttled" in str(problem) else Rejected("unreadable", str(problem))
        if now.amount is None:
            return Rejected(
                "currency_not_priced", f"{command.ref.sku} has no {scope.currency} price to change"
            )
        if now.tax_basis is not scope.tax_basis:
            return Rejected(
                "tax_basis", f"the channel stores {now.tax_basis.value} prices, not {scope.tax_basis.value}"
            )
        price = {"currencyCode": scope.currency, "price": to_minor(command.amount, scope.currency)}
        answer = self._call(
            _WRITE, {"input": [{"id": command.ref.id, "prices": [price]}]}, scope, timeout=command.timeout_s
        )
        if not isinstance(answer, Answer):
            return answer
        rows = answer.body["updateProductVariants"]
        return Applied(revision=rows[0]["updatedAt"] if rows and rows[0] else None)

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """Writes are answered at once, so there is nothing to poll."""
        raise NotImplementedError(f"{self.name} does not accept writes for later")


def _basis(gross: bool) -> TaxBasis:
    return TaxBasis.INCLUSIVE if gross else TaxBasis.EXCLUSIVE


def _graphql(answer: Answer | Failure) -> Answer | Failure:
    """Turn HTTP 200 with `errors` into what it is."""
    if not isinstance(answer, Answer):
        return answer
    body = answer.body if isinstance(answer.body, dict) else {}
    errors = body.get("errors")
    if errors:
        code = str(errors[0].get("extensions", {}).get("code", "GRAPHQL_ERROR"))
        if code == "INTERNAL_SERVER_ERROR":
            return Unknown(f"graphql: {code}")
        return Rejected(code.lower(), str(errors[0].get("message", ""))[:300])
    if not isinstance(body.get("data"), dict):
        return Unknown("graphql: an answer without data")
    return Answer(answer.status, body["data"], answer.headers)


def _data(answer: Answer | Failure) -> Any:
    if isinstance(answer, Answer):
        return answer.body
    raise TargetUnavailable(describe(answer))
