"""Vendure: integers in the channel's own tax basis, one price per channel and currency.

How many digits of them stand after the point is the server's own setting, the same for every currency
(`MoneyStrategy.precision`, 2 unless it is set), so that 100 yen are 10000.

Learned from the server: it takes negative and fractional amounts without a word; a refused
mutation is HTTP 200 with `errors`; `updatedAt` moves on every save, also one that changed nothing;
the variant's `price` is always net, while `prices[]` holds what was written; giving one variant of
a product a currency that its siblings lack breaks the whole product in the storefront.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_scaled, to_scaled
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.graphql import data, unwrap
from pricecrawl.commerce.http import Answer, Failure, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    MoneyForm,
    NotFound,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
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
    " globalSettings { serverConfig { moneyStrategyPrecision } }"
    " productVariant(id: $id) { id sku updatedAt prices { price currencyCode } } }"
)
_WRITE = (
    "mutation($input: [UpdateProductVariantInput!]!)"
    " { updateProductVariants(input: $input) { id updatedAt } }"
)
_SHOP = "query($id: ID!) { product(id: $id) { variants { id price priceWithTax currencyCode } } }"


class VendureTarget(HttpTarget):
    """One channel of a Vendure server, through an API key with ReadCatalog and UpdateCatalog only.

    `admin_url` and `shop_url` are the two GraphQL endpoints; `scope.channel` is a channel token.
    """

    places = frozenset({"channel"})

    def __init__(
        self,
        admin_url: str,
        api_key: str,
        *,
        shop_url: str = "",
        name: str = "vendure",
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            revision_moves_on_price=True,
            money=MoneyForm.MINOR,
            storefront_view=bool(shop_url),
            max_parallel_writers=4,
            settle_time=settle_time,
        )
        super().__init__(
            name, capabilities, Http({"vendure-api-key": api_key}, secrets=(api_key,), timeout=timeout)
        )
        self._admin_url = admin_url
        self._shop_url = shop_url
        self._shop = Http(timeout=timeout)
        self._digits: int | None = None

    def _call(
        self, query: str, variables: Mapping[str, Any], scope: PriceScope, *, timeout: float | None = None
    ) -> Answer | Failure:
        headers = {"vendure-token": scope.channel} if scope.channel else None
        body = {"query": query, "variables": variables}
        return self._http.send("POST", self._admin_url, json_body=body, headers=headers, timeout=timeout)

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        items = data(self._call(_FIND, {"sku": sku}, scope))["productVariants"]["items"]
        # Some databases compare without case: only the very same SKU counts.
        return one_of(
            sku, [TargetRef(sku, row["id"], row["product"]["id"]) for row in items if row["sku"] == sku]
        )

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        if view is View.STOREFRONT:
            digits = self._digits if self._digits is not None else self._found(ref, scope)[1]
            return self._storefront(ref, scope, digits)
        found, digits = self._found(ref, scope)
        variant = found["productVariant"]
        if variant is None:
            raise TargetUnavailable(f"variant {ref.id} is gone")
        prices = {row["currencyCode"]: row["price"] for row in variant["prices"]}
        amount = prices.get(scope.currency)
        return PriceState(
            ref=TargetRef(variant["sku"], variant["id"], ref.parent),
            amount=None if amount is None else from_scaled(amount, digits),
            currency=scope.currency,
            tax_basis=_basis(found["activeChannel"]["pricesIncludeTax"]),
            revision=variant["updatedAt"],
            updated_at=variant["updatedAt"],
            siblings_digest=digest(row for row in variant["prices"] if row["currencyCode"] != scope.currency),
            read_at=datetime.now(UTC),
        )

    def _found(self, ref: TargetRef, scope: PriceScope) -> tuple[Any, int]:
        """What the server says of a variant, and how many digits of its amounts stand after the point."""
        found = data(self._call(_READ, {"id": ref.id}, scope))
        self._digits = digits = int(found["globalSettings"]["serverConfig"]["moneyStrategyPrecision"])
        return found, digits

    def _storefront(self, ref: TargetRef, scope: PriceScope, digits: int) -> PriceState:
        headers = {"vendure-token": scope.channel} if scope.channel else None
        answer = self._shop.send(
            "POST",
            self._shop_url,
            json_body={"query": _SHOP, "variables": {"id": ref.parent}},
            params={"currencyCode": scope.currency},
            headers=headers,
        )
        product = data(answer)["product"]
        rows = [row for row in (product or {}).get("variants", []) if row["id"] == ref.id]
        gross = scope.tax_basis is TaxBasis.INCLUSIVE
        amount = rows[0]["priceWithTax" if gross else "price"] if rows else None
        return PriceState(
            ref=ref,
            amount=None if amount is None else from_scaled(amount, digits),
            currency=rows[0]["currencyCode"] if rows else scope.currency,
            tax_basis=scope.tax_basis,
            read_at=datetime.now(UTC),
            view=View.STOREFRONT,
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        # A currency that the variant does not have yet is refused here, for it would break the product.
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        assert self._digits is not None  # read with the state before
        try:
            number = to_scaled(command.amount, self._digits)
        except ValueError as problem:
            return Rejected("off_quantum", f"{self.name} keeps no such amount: {problem}")
        price = {"currencyCode": command.scope.currency, "price": number}
        change = {"input": [{"id": command.ref.id, "prices": [price]}]}
        answer = unwrap(self._call(_WRITE, change, command.scope, timeout=command.timeout_s))
        if not isinstance(answer, Answer):
            return answer
        rows = answer.body["updateProductVariants"]
        return Applied(revision=rows[0]["updatedAt"] if rows and rows[0] else None)


def _basis(gross: bool) -> TaxBasis:
    return TaxBasis.INCLUSIVE if gross else TaxBasis.EXCLUSIVE
