"""Shopify Admin GraphQL: decimal strings, no compare-and-set, refusals as `userErrors` beside HTTP 200.

A variant has one price in the shop's own currency; prices of other markets stand in price lists, whose
fixed prices are replaced variant by variant. Nothing is dated, and no write of a price takes a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_text
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.graphql import data, unwrap
from pricecrawl.commerce.http import Answer, Failure, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
    View,
    WriteOutcome,
    WritePrice,
)

_FIND = "query($q: String!) { productVariants(first: 10, query: $q) { nodes { id sku product { id } } } }"
_READ = (
    "query($id: ID!) { shop { currencyCode taxesIncluded }"
    " productVariant(id: $id) { id sku price compareAtPrice updatedAt product { id } } }"
)
_READ_LIST = (
    "query($id: ID!, $list: ID!, $q: String!) { shop { taxesIncluded }"
    " productVariant(id: $id) { id sku price compareAtPrice product { id } }"
    " priceList(id: $list) { currency prices(first: 10, originType: FIXED, query: $q)"
    " { nodes { variant { id } price { amount currencyCode } compareAtPrice { amount currencyCode } } } } }"
)
_WRITE = (
    "mutation($product: ID!, $variants: [ProductVariantsBulkInput!]!)"
    " { productVariantsBulkUpdate(productId: $product, variants: $variants, allowPartialUpdates: false)"
    " { productVariants { id updatedAt } userErrors { field message code } } }"
)
_WRITE_LIST = (
    "mutation($list: ID!, $prices: [PriceListPriceInput!]!)"
    " { priceListFixedPricesAdd(priceListId: $list, prices: $prices)"
    " { prices { variant { id } } userErrors { field message code } } }"
)


class ShopifyTarget(HttpTarget):
    """One shop through a custom app with `read_products` and `write_products`.

    `url` is the versioned endpoint, `https://<shop>.myshopify.com/admin/api/<version>/graphql.json`;
    `scope.price_list` is the id of a price list (`gid://shopify/PriceList/…`), empty for the base price.
    """

    places = frozenset({"price_list"})

    def __init__(
        self,
        url: str,
        token: str,
        *,
        name: str = "shopify",
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            # `updatedAt` has steps of a second and moves with anything of the variant.
            revision_moves_on_price=False,
            settle_time=settle_time,
        )
        http = Http({"X-Shopify-Access-Token": token}, secrets=(token,), timeout=timeout)
        super().__init__(name, capabilities, http)
        self._url = url

    def _call(
        self, query: str, variables: Mapping[str, Any], *, timeout: float | None = None
    ) -> Answer | Failure:
        body = {"query": query, "variables": variables}
        return self._http.send("POST", self._url, json_body=body, timeout=timeout)

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        # The search is by words and without case: only the very same SKU counts.
        text = sku.replace("\\", "\\\\").replace('"', '\\"')
        nodes = data(self._call(_FIND, {"q": f'sku:"{text}"'}))["productVariants"]["nodes"]
        return one_of(
            sku, [TargetRef(sku, row["id"], row["product"]["id"]) for row in nodes if row["sku"] == sku]
        )

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        if scope.price_list:
            return self._listed(ref, scope)
        found = data(self._call(_READ, {"id": ref.id}))
        variant = _there(found["productVariant"], ref)
        return PriceState(
            ref=TargetRef(variant["sku"], variant["id"], variant["product"]["id"]),
            amount=from_text(variant["price"]),
            currency=found["shop"]["currencyCode"],
            tax_basis=_basis(found["shop"]["taxesIncluded"]),
            revision=variant["updatedAt"],
            updated_at=variant["updatedAt"],
            siblings_digest=digest([{"compare_at": from_text(variant["compareAtPrice"])}]),
            read_at=datetime.now(UTC),
        )

    def _row(self, ref: TargetRef, scope: PriceScope) -> tuple[Any, Any]:
        """What a price list has for a variant, and its row there or None."""
        number = ref.id.rsplit("/", 1)[-1]
        variables = {"id": ref.id, "list": scope.price_list, "q": f"variant_id:{number}"}
        found = data(self._call(_READ_LIST, variables))
        rows = [row for row in found["priceList"]["prices"]["nodes"] if row["variant"]["id"] == ref.id]
        return found, rows[0] if rows else None

    def _listed(self, ref: TargetRef, scope: PriceScope) -> PriceState:
        found, row = self._row(ref, scope)
        variant = _there(found["productVariant"], ref)
        compare_at = ((row or {}).get("compareAtPrice") or {}).get("amount")
        base = {"base": from_text(variant["price"]), "compare_at": from_text(compare_at)}
        return PriceState(
            ref=TargetRef(variant["sku"], variant["id"], variant["product"]["id"]),
            amount=None if row is None else from_text(row["price"]["amount"]),
            currency=found["priceList"]["currency"],
            tax_basis=_basis(found["shop"]["taxesIncluded"]),
            kind=PriceKindAtTarget.LIST,
            siblings_digest=digest([base]),
            read_at=datetime.now(UTC),
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        scope, amount = command.scope, format(command.amount, "f")
        if scope.price_list:
            # The row is replaced as a whole, so what else stands in it is sent along.
            _, row = self._row(command.ref, scope)
            price = {
                "variantId": command.ref.id,
                "price": {"amount": amount, "currencyCode": scope.currency},
            }
            if row and row.get("compareAtPrice"):
                price["compareAtPrice"] = row["compareAtPrice"]
            variables = {"list": scope.price_list, "prices": [price]}
            return _outcome(
                self._call(_WRITE_LIST, variables, timeout=command.timeout_s), "priceListFixedPricesAdd"
            )
        variables = {
            "product": before.ref.parent,
            "variants": [{"id": command.ref.id, "price": amount}],
        }
        return _outcome(self._call(_WRITE, variables, timeout=command.timeout_s), "productVariantsBulkUpdate")


def _outcome(answer: Answer | Failure, name: str) -> WriteOutcome:
    answer = unwrap(answer)
    if not isinstance(answer, Answer):
        return answer
    done = answer.body[name]
    if done["userErrors"]:
        first = done["userErrors"][0]
        return Rejected(str(first.get("code") or "user_error").lower(), str(first["message"])[:300])
    rows = done.get("productVariants") or []
    return Applied(revision=rows[0]["updatedAt"] if rows else None)


def _there(variant: Any, ref: TargetRef) -> Any:
    if variant is None:
        raise TargetUnavailable(f"variant {ref.id} is gone")
    return variant


def _basis(gross: bool) -> TaxBasis:
    return TaxBasis.INCLUSIVE if gross else TaxBasis.EXCLUSIVE
