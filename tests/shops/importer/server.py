"""The shop's side of a folder of price files: takes what waits, moves it, writes its snapshot."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

COLUMNS = ["sku", "amount", "currency", "tax_basis", "updated_at"]


class ImporterShop:
    """`prices` by SKU in US dollars with tax. `work()` imports, as a shop's nightly job would."""

    def __init__(self, folder: Path, prices: Mapping[str, Decimal], twice: str = "") -> None:
        self.folder = folder
        for name in ("in", "done", "failed"):
            (folder / name).mkdir()
        self.rows = [
            {"sku": sku, "amount": str(price), "currency": "USD", "tax_basis": "incl", "updated_at": "0"}
            for sku, price in [*prices.items(), *([(twice, prices[twice])] if twice else [])]
        ]
        self.write()

    def write(self) -> None:
        """Write the snapshot."""
        half = self.folder / ".prices.csv"
        with half.open("w", newline="", encoding="utf-8-sig") as file:
            out = csv.DictWriter(file, COLUMNS)
            out.writeheader()
            out.writerows(self.rows)
        half.rename(self.folder / "prices.csv")

    def work(self) -> None:
        """Import what waits, in the order of the file names."""
        for path in sorted((self.folder / "in").glob("price-*.csv")):
            with path.open(newline="", encoding="utf-8") as file:
                given = list(csv.DictReader(file))
            path.rename(self.folder / ("done" if self._take(given) else "failed") / path.name)
        self.write()

    def _take(self, given: list[dict[str, str]]) -> bool:
        for line in given:
            rows = [row for row in self.rows if row["sku"] == line["sku"]]
            try:
                fine = bool(rows) and Decimal(line["amount"]) > 0
            except InvalidOperation:
                fine = False
            if not fine:
                return False
            rows[0]["amount"] = line["amount"]
            rows[0]["updated_at"] = datetime.now(UTC).isoformat()
        return True

    def price(self, sku: str) -> Decimal:
        """What the shop has."""
        return Decimal(next(row["amount"] for row in self.rows if row["sku"] == sku))

    def set_price(self, sku: str, price: Decimal) -> None:
        """Change a price behind everybody's back."""
        for row in self.rows:
            if row["sku"] == sku:
                row["amount"], row["updated_at"] = str(price), datetime.now(UTC).isoformat()
        self.write()
