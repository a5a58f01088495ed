"""A store with variants, some without a price of their own, and a price list in euros."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.shops.simulator import Call, Reply, Route, Simulator

TOKEN = "bc_test_only"
API = "/stores/abc"
LIST = "3"
_PATH = rf"{API}/v3/catalog/products/(?P<product>\d+)"


class BigCommerceShop(Simulator):
    """`prices` by SKU in US dollars; every third variant shows its product's price."""

    number = Decimal

    def __init__(self, prices: Mapping[str, Decimal], twice: str = "") -> None:
        super().__init__()
        self.api_url = f"{self.url}{API}"
        self.rows: dict[int, dict[str, Any]] = {}
        self.products: dict[int, Decimal] = {}
        self.records: dict[int, dict[str, Any]] = {}
        for number, sku in enumerate([*prices, *([twice] if twice else [])], 1):
            price = prices[sku]
            self.products[number + 500] = price
            self.rows[number] = {
                "id": number,
                "product_id": number + 500,
                "sku": sku,
                "price": None if number % 3 == 0 else price,
                "sale_price": None,
                "retail_price": price + 5,
                "map_price": None,
            }
            self.records[number] = {
                "variant_id": number,
                "price_list_id": int(LIST),
                "currency": "eur",
                "price": price + 1,
                "retail_price": price + 9,
                "sale_price": None,
                "map_price": None,
                "bulk_pricing_tiers": [],
            }

    def routes(self) -> list[Route]:
        return [
            ("GET", f"{API}/v3/catalog/variants", self._find),
            ("GET", rf"{_PATH}/variants/(?P<variant>\d+)", self._read),
            ("GET", _PATH, self._product),
            ("PUT", f"{API}/v3/catalog/variants", self._save),
            ("GET", rf"{API}/v3/pricelists/{LIST}/records/(?P<variant>\d+)/eur", self._record),
            ("PUT", rf"{API}/v3/pricelists/{LIST}/records", self._upsert),
            ("GET", f"{API}/v2/store", lambda _: (200, {"currency": "USD"})),
        ]

    def refuse(self, call: Call) -> Reply | None:
        if call.headers.get("X-Auth-Token") != TOKEN:
            return 401, {"status": 401, "title": "Unauthorized", "type": "-", "detail": "-"}
        return None

    def _find(self, call: Call) -> Reply:
        rows = [row for row in self.rows.values() if row["sku"] == call.query["sku"]]
        return 200, {"data": rows, "meta": {"pagination": {"total": len(rows)}}}

    def _read(self, _: Call, product: str, variant: str) -> Reply:
        row = self.rows.get(int(variant))
        if row is None or row["product_id"] != int(product):
            return 404, {"status": 404, "title": "The variant was not found", "type": "-"}
        price = self.products[row["product_id"]] if row["price"] is None else row["price"]
        return 200, {"data": {**row, "calculated_price": row["sale_price"] or price}, "meta": {}}

    def _product(self, _: Call, product: str) -> Reply:
        return 200, {"data": {"id": int(product), "price": self.products[int(product)]}, "meta": {}}

    def _save(self, call: Call) -> Reply:
        if len(call.body) > 50:
            return 413, {"status": 413, "title": "The maximum items allowed in the array is 50"}
        for item in call.body:
            if item["id"] not in self.rows or item["price"] < 0:
                return 422, {"status": 422, "title": "Invalid variant", "errors": {"0": "price"}}
            self.rows[item["id"]]["price"] = Decimal(item["price"])
        return 200, {"data": [self.rows[item["id"]] for item in call.body], "meta": {}}

    def _record(self, _: Call, variant: str) -> Reply:
        row = self.records.get(int(variant))
        if row is None:
            return 404, {"status": 404, "title": "not found"}
        return 200, {"data": {**row, "calculated_price": row["sale_price"] or row["price"]}}

    def _upsert(self, call: Call) -> Reply:
        for item in call.body:
            empty = dict.fromkeys(("retail_price", "sale_price", "map_price"))
            fresh = {"price_list_id": int(LIST), "bulk_pricing_tiers": [], **empty, **item}
            self.records[item["variant_id"]] = fresh
        return 200, {"data": [], "meta": {}}
