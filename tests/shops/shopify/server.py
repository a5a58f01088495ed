"""A shop with one price per variant, a price list in euros, and a bucket of query cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.shops.simulator import Call, Reply, Route, Simulator

TOKEN = "shpat_test_only"
LIST = "gid://shopify/PriceList/7"
PATH = "/admin/api/2026-10/graphql.json"
_COST = {"requestedQueryCost": 10, "actualQueryCost": 10}


class ShopifyShop(Simulator):
    """`prices` by SKU in US dollars; a SKU given in `twice` stands on two variants."""

    def __init__(self, prices: Mapping[str, Decimal], twice: str = "") -> None:
        super().__init__()
        self.endpoint = f"{self.url}{PATH}"
        self.variants: dict[str, dict[str, Any]] = {}
        self.listed: dict[str, Decimal] = {}
        self.compared: dict[str, Decimal | None] = {}
        self.available, self.restore = 1000.0, 100.0
        for number, sku in enumerate([*prices, *([twice] if twice else [])], 1):
            gid = f"gid://shopify/ProductVariant/{number}"
            self.variants[gid] = {
                "id": gid,
                "sku": sku,
                "price": prices[sku],
                "compareAtPrice": prices[sku] + 10,
                "updatedAt": "2026-01-01T00:00:00Z",
                "product": {"id": f"gid://shopify/Product/{number}"},
            }
            self.listed[gid] = prices[sku] + 1
            self.compared[gid] = prices[sku] + 20 if number % 2 else None

    def routes(self) -> list[Route]:
        return [("POST", PATH, self._graphql)]

    def refuse(self, call: Call) -> Reply | None:
        if call.headers.get("X-Shopify-Access-Token") != TOKEN:
            return 401, {"errors": "[API] Invalid API key or access token (unrecognized login)"}
        return None

    def _graphql(self, call: Call) -> Reply:
        if self.available < _COST["requestedQueryCost"]:
            status = {
                "maximumAvailable": 2000.0,
                "currentlyAvailable": self.available,
                "restoreRate": self.restore,
            }
            cost = {"requestedQueryCost": 10, "actualQueryCost": None, "throttleStatus": status}
            error = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
            return 200, {"errors": [error], "extensions": {"cost": cost}}
        given = call.body["variables"]
        for name, function in (
            ("productVariantsBulkUpdate", self._update),
            ("priceListFixedPricesAdd", self._fix),
            ("priceList(", self._read_list),
            ("productVariants(", self._find),
            ("productVariant(", self._read),
        ):
            if name in call.body["query"]:
                return 200, {"data": function(given), "extensions": {"cost": _COST}}
        return 200, {"errors": [{"message": "syntax error", "extensions": {"code": "undefinedField"}}]}

    def _find(self, given: Any) -> Any:
        wanted = re.fullmatch(r'sku:"(.*)"', given["q"])[1].lower()  # type: ignore[index]  # our own query
        # Search goes by words: a longer SKU that starts with the word comes along.
        nodes = [row for row in self.variants.values() if row["sku"].lower().startswith(wanted)]
        return {"productVariants": {"nodes": [_out(row) for row in nodes[:10]]}}

    def _read(self, given: Any) -> Any:
        row = self.variants.get(given["id"])
        shop = {"currencyCode": "USD", "taxesIncluded": False}
        return {"shop": shop, "productVariant": None if row is None else _out(row)}

    def _read_list(self, given: Any) -> Any:
        amount, compared = self.listed.get(given["id"]), self.compared.get(given["id"])
        node = {
            "variant": {"id": given["id"]},
            "price": {"amount": str(amount), "currencyCode": "EUR"},
            "compareAtPrice": compared and {"amount": str(compared), "currencyCode": "EUR"},
        }
        prices = {"nodes": [] if amount is None else [node]}
        return {**self._read(given), "priceList": {"currency": "EUR", "prices": prices}}

    def _update(self, given: Any) -> Any:
        change = given["variants"][0]
        row = self.variants.get(change["id"])
        if row is None or row["product"]["id"] != given["product"]:
            error = {"field": ["variants", "0", "id"], "message": "Product variant does not exist"}
            return _done("productVariants", "productVariantsBulkUpdate", [], [{**error, "code": "NOT_FOUND"}])
        if Decimal(change["price"]) < 0:
            error = {
                "field": ["variants", "0", "price"],
                "message": "Price must be greater than or equal to 0",
            }
            return _done("productVariants", "productVariantsBulkUpdate", [], [{**error, "code": "INVALID"}])
        row["price"] = Decimal(change["price"]).quantize(Decimal("0.01"))
        return _done("productVariants", "productVariantsBulkUpdate", [_out(row)], [])

    def _fix(self, given: Any) -> Any:
        change = given["prices"][0]
        if change["price"]["currencyCode"] != "EUR":
            error = {
                "field": ["prices", "0"],
                "message": "The specified currency does not match",
                "code": "X",
            }
            return _done("prices", "priceListFixedPricesAdd", [], [error])
        # A fixed price replaces the one before it, with everything in it.
        compared = change.get("compareAtPrice")
        self.listed[change["variantId"]] = Decimal(change["price"]["amount"])
        self.compared[change["variantId"]] = compared and Decimal(compared["amount"])
        return _done("prices", "priceListFixedPricesAdd", [{"variant": {"id": change["variantId"]}}], [])


def _done(key: str, name: str, rows: list[Any], errors: list[Any]) -> Any:
    return {name: {key: rows, "userErrors": errors}}


def _out(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Decimal) else value for key, value in row.items()}
