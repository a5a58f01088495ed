"""A store with simple products and variations; a sale price masks the regular one."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.shops.simulator import Call, Reply, Route, Simulator

KEY, SECRET = "ck_test_only", "cs_test_only"
API = "/wp-json/wc/v3"


class WooCommerceShop(Simulator):
    """`prices` by SKU in US dollars with tax; every second SKU is a variation of product 1000."""

    def __init__(self, prices: Mapping[str, Decimal], twice: str = "") -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {}
        self.saves = 0
        for number, sku in enumerate([*prices, *([twice] if twice else [])], 1):
            variation = number % 2 == 0
            self.rows[number] = {
                "id": number,
                "sku": sku,
                "type": "variation" if variation else "simple",
                "parent_id": 1000 if variation else 0,
                "regular_price": str(prices[sku]),
                "sale_price": "",
                "date_on_sale_from_gmt": None,
                "date_on_sale_to_gmt": None,
                "date_modified_gmt": "2026-01-01T00:00:00",
            }

    def routes(self) -> list[Route]:
        return [
            ("GET", f"{API}/products", self._find),
            ("GET", rf"{API}/products/(?:1000/variations/)?(?P<number>\d+)", self._read),
            ("PUT", rf"{API}/products/(?:1000/variations/)?(?P<number>\d+)", self._save),
            ("GET", f"{API}/data/currencies/current", lambda _: (200, {"code": "USD", "symbol": "$"})),
            (
                "GET",
                f"{API}/settings/tax/woocommerce_prices_include_tax",
                lambda _: (200, {"id": "woocommerce_prices_include_tax", "value": "yes"}),
            ),
        ]

    def refuse(self, call: Call) -> Reply | None:
        wanted = "Basic " + base64.b64encode(f"{KEY}:{SECRET}".encode()).decode()
        if call.headers.get("Authorization") != wanted:
            error = {"code": "woocommerce_rest_cannot_view", "message": "Sorry", "data": {"status": 401}}
            return 401, error
        return None

    def _find(self, call: Call) -> Reply:
        wanted = call.query["sku"].split(",")
        return 200, [_out(row) for row in self.rows.values() if row["sku"] in wanted]

    def _read(self, _: Call, number: str) -> Reply:
        row = self.rows.get(int(number))
        if row is None:
            return 404, {"code": "woocommerce_rest_product_invalid_id", "message": "Invalid ID."}
        return 200, _out(row)

    def _save(self, call: Call, number: str) -> Reply:
        row = self.rows.get(int(number))
        if row is None:
            return 400, {"code": "woocommerce_rest_product_invalid_id", "message": "Invalid ID."}
        row.update({key: call.body[key] for key in ("regular_price", "sale_price") if key in call.body})
        self.saves += 1
        row["date_modified_gmt"] = f"2026-01-01T00:{self.saves // 60:02}:{self.saves % 60:02}"
        return 200, _out(row)


def _out(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "price": row["sale_price"] or row["regular_price"]}
