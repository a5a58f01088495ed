"""A server whose variants have prices in two currencies and one for larger quantities."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.shops.simulator import Call, Reply, Route, Simulator

SECRET = "sk_test_only"
PUBLISHABLE = "pk_test_only"


class MedusaShop(Simulator):
    """`prices` by SKU in US dollars before tax; each also costs 1 more in euros, and 1 less from 10 on."""

    number = Decimal  # a column of exact decimals, whatever JSON carries

    def __init__(self, prices: Mapping[str, Decimal], twice: str = "") -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        self.saves = 0
        for number, sku in enumerate([*prices, *([twice] if twice else [])], 1):
            price = prices[sku]
            self.rows[f"variant_{number}"] = {
                "id": f"variant_{number}",
                "sku": sku,
                "product_id": f"prod_{number}",
                "updated_at": "2026-01-01T00:00:00.000Z",
                "prices": [
                    self._price("usd", price),
                    self._price("eur", price + 1),
                    self._price("usd", price - 1, min_quantity=10),
                ],
            }

    def _price(self, currency: str, amount: Decimal, **more: Any) -> dict[str, Any]:
        self.saves += 1
        return {
            "id": f"price_{self.saves}",
            "currency_code": currency,
            "amount": amount,
            "min_quantity": None,
            "max_quantity": None,
            "rules": {},
            "updated_at": f"2026-01-01T00:00:00.{self.saves:03}Z",
            **more,
        }

    def routes(self) -> list[Route]:
        return [
            ("GET", "/admin/product-variants", self._find),
            ("GET", r"/admin/products/(?P<product>\w+)/variants/(?P<variant>\w+)", self._read),
            ("POST", r"/admin/products/(?P<product>\w+)/variants/(?P<variant>\w+)", self._save),
            ("GET", "/admin/price-preferences", self._preferences),
            ("GET", r"/store/products/(?P<product>\w+)", self._shop),
        ]

    def refuse(self, call: Call) -> Reply | None:
        wanted = "Basic " + base64.b64encode(f"{SECRET}:".encode()).decode()
        if wanted == call.headers.get("Authorization"):
            return None
        if call.headers.get("x-publishable-api-key") == PUBLISHABLE:
            return None
        return 401, {"message": "Unauthorized"}

    def _find(self, call: Call) -> Reply:
        rows = [row for row in self.rows.values() if row["sku"] == call.query["sku"]]
        return 200, {"variants": rows, "count": len(rows), "offset": 0, "limit": 10}

    def _read(self, _: Call, product: str, variant: str) -> Reply:
        row = self.rows.get(variant)
        if row is None or row["product_id"] != product:
            return 404, {"type": "not_found", "message": f"ProductVariant with id: {variant} was not found"}
        return 200, {"variant": row}

    def _save(self, call: Call, product: str, variant: str) -> Reply:
        row = self.rows[variant]
        wrong = [item for item in call.body["prices"] if not isinstance(item.get("amount"), int | Decimal)]
        if wrong:
            return 400, {"type": "invalid_data", "message": "Field 'prices, 0, amount' is required"}
        # What is not in the array is gone, what has no id is new.
        kept = {item["id"]: item for item in row["prices"]}
        prices = []
        for item in call.body["prices"]:
            old = kept.get(item.get("id"), {})
            merged = self._price(item["currency_code"], Decimal(item["amount"]))
            merged |= {key: item[key] for key in ("min_quantity", "max_quantity", "rules") if key in item}
            if old:
                merged["id"] = old["id"]
                if old["amount"] == merged["amount"]:
                    merged["updated_at"] = old["updated_at"]
            prices.append(merged)
        row["prices"] = prices
        row["updated_at"] = f"2026-01-01T00:00:01.{self.saves:03}Z"
        return 200, {"product": {"id": product, "variants": [row]}}

    def _preferences(self, call: Call) -> Reply:
        gross = call.query["value"] == "eur"
        row = {"attribute": "currency_code", "value": call.query["value"], "is_tax_inclusive": gross}
        return 200, {"price_preferences": [row], "count": 1}

    def _shop(self, _: Call, product: str) -> Reply:
        rows = []
        for row in self.rows.values():
            if row["product_id"] == product:
                usd = next(p for p in row["prices"] if p["currency_code"] == "usd" and not p["min_quantity"])
                price = {
                    "calculated_amount": usd["amount"],
                    "calculated_amount_with_tax": usd["amount"] * Decimal("1.2"),
                    "calculated_amount_without_tax": usd["amount"],
                    "currency_code": "usd",
                    "calculated_price": {"price_list_id": None, "price_list_type": None},
                }
                rows.append({"id": row["id"], "calculated_price": price})
        return 200, {"product": {"id": product, "variants": rows}}
