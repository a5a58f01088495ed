"""A store with default prices and one store view; writes at once or through a queue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.shops.simulator import Call, Reply, Route, Simulator

TOKEN = "adobe_test_only"


class AdobeShop(Simulator):
    """`prices` by SKU in US dollars without tax, also in store view `de` (store 2) at 1 more.

    What is queued is done by `work()`.
    """

    number = Decimal

    def __init__(self, prices: Mapping[str, Decimal]) -> None:
        super().__init__()
        self.prices: dict[tuple[str, int], Decimal] = {}
        self.queue: dict[str, dict[str, Any]] = {}
        for sku, price in prices.items():
            self.prices[sku, 0] = price
            self.prices[sku, 2] = price + 1

    def routes(self) -> list[Route]:
        return [
            ("GET", "/rest/V1/store/storeConfigs", self._views),
            ("POST", "/rest/V1/products/base-prices-information", self._read),
            ("POST", "/rest/V1/products/special-price-information", lambda _: (200, [])),
            ("POST", "/rest/V1/products/base-prices", lambda call: (200, self._save(call.body["prices"]))),
            ("POST", "/rest/async/V1/products/base-prices", self._enqueue),
            ("GET", r"/rest/V1/bulk/(?P<number>[\w-]+)/detailed-status", self._status),
        ]

    def refuse(self, call: Call) -> Reply | None:
        if call.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"message": "The consumer isn't authorized to access %resources."}
        return None

    def _views(self, _: Call) -> Reply:
        rows = [(1, "default"), (2, "de")]
        return 200, [{"id": number, "code": code, "base_currency_code": "USD"} for number, code in rows]

    def _read(self, call: Call) -> Reply:
        known = {sku for sku, _ in self.prices}
        if missing := [sku for sku in call.body["skus"] if sku not in known]:
            return 404, {
                "message": "Requested product doesn't exist: %sku",
                "parameters": {"sku": missing[0]},
            }
        rows = [
            {"price": price, "store_id": store, "sku": sku}
            for (sku, store), price in self.prices.items()
            if sku in call.body["skus"]
        ]
        return 200, rows

    def _save(self, rows: list[Any]) -> list[Any]:
        refused = []
        for row in rows:
            if (row["sku"], 0) not in self.prices or row["price"] < 0:
                message = "Invalid attribute %fieldName = %fieldValue."
                refused.append({"message": message, "parameters": ["Price", str(row["price"])]})
            else:
                self.prices[row["sku"], row["store_id"]] = Decimal(row["price"])
        return refused

    def _enqueue(self, call: Call) -> Reply:
        number = f"bulk-{len(self.queue)}"
        self.queue[number] = {"rows": call.body["prices"], "status": 4, "result": None, "message": None}
        item = {"id": 0, "data_hash": "-", "status": "accepted"}
        return 202, {"bulk_uuid": number, "request_items": [item], "errors": False}

    def work(self) -> None:
        """Let the queue's consumer run once."""
        with self._lock:
            for entry in self.queue.values():
                if entry["status"] == 4:
                    entry["result"] = self._save(entry["rows"])
                    entry["status"], entry["message"] = 1, "Service execution success"

    def _status(self, _: Call, number: str) -> Reply:
        entry = self.queue[number]
        kept = None if entry["result"] is None else json.dumps(entry["result"])
        item = {
            "id": 0,
            "status": entry["status"],
            "result_message": entry["message"],
            "result_serialized_data": kept,
        }
        return 200, {"bulk_id": number, "operations_list": [item]}
