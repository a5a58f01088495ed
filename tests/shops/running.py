"""The two real shops, started once per test process; each test takes SKUs of its own."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.shops.oscar.server import OscarShop
from tests.shops.vendure.server import VendureShop

VENDURE_SKUS = 230
OSCAR_SKUS = 200


class Vendure:
    """A running Vendure shop; prices in US dollars without tax, every SKU also priced in euros."""

    currency = "USD"

    def __init__(self, shop: VendureShop) -> None:
        self.shop = shop
        self.key = shop.service_key()
        shop.admin(
            "mutation($i: UpdateChannelInput!) { updateChannel(input: $i) { ... on Channel { id } } }",
            i={"id": "1", "availableCurrencyCodes": ["USD", "EUR"]},
        )
        self._numbers = itertools.count(1)
        self._ids: dict[str, str] = {}

    def take(self) -> str:
        """A SKU that no other test uses."""
        return f"V-{next(self._numbers):04d}"

    def variant(self, sku: str) -> str:
        if sku not in self._ids:
            query = "query($o: ProductVariantListOptions) { productVariants(options: $o) { items { id } } }"
            rows = self.shop.admin(query, o={"filter": {"sku": {"eq": sku}}})["productVariants"]["items"]
            self._ids[sku] = rows[0]["id"]
        return self._ids[sku]

    def all_prices(self, sku: str) -> dict[str, Decimal]:
        query = "query($i: ID!) { productVariant(id: $i) { prices { price currencyCode } } }"
        rows = self.shop.admin(query, i=self.variant(sku))["productVariant"]["prices"]
        return {row["currencyCode"]: Decimal(row["price"]) / 100 for row in rows}

    def price(self, sku: str) -> Decimal:
        return self.all_prices(sku)[self.currency]

    def set_price(self, sku: str, price: Decimal) -> None:
        self.shop.set_price(sku, price)

    def update(self, sku: str, /, **changes: object) -> None:
        """Change a variant as its owner would."""
        self.shop.admin(
            "mutation($i: [UpdateProductVariantInput!]!) { updateProductVariants(input: $i) { id } }",
            i=[{"id": self.variant(sku), **changes}],
        )


class Oscar:
    """A running django-oscar shop; prices in pounds, read straight from its database."""

    currency = "GBP"
    user, password = "admin", "test-only"

    def __init__(self, shop: OscarShop) -> None:
        self.shop = shop
        self._numbers = itertools.count(1)

    def take(self) -> str:
        """A SKU that no other test uses."""
        return f"W-{next(self._numbers):04d}"

    def _run(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.shop.state / "shop.sqlite3", timeout=30)
        try:
            with connection:
                return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def price(self, sku: str) -> Decimal:
        sql = "SELECT CAST(price AS TEXT) FROM partner_stockrecord WHERE partner_sku = ?"
        return Decimal(str(self._run(sql, sku)[0][0])).quantize(Decimal("0.01"))

    def set_price(self, sku: str, price: Decimal) -> None:
        self._run(
            "UPDATE partner_stockrecord SET price = ?, date_updated = strftime('%Y-%m-%d %H:%M:%f', 'now')"
            " WHERE partner_sku = ?",
            float(price),
            sku,
        )

    def double(self, sku: str, other: str) -> None:
        """Give the article of `other` a second partner who calls it `sku`."""
        self._run("INSERT OR IGNORE INTO partner_partner (id, code, name) VALUES (77, 'second', 'Second')")
        self._run(
            "UPDATE partner_stockrecord SET partner_id = 77, partner_sku = ? WHERE partner_sku = ?",
            sku,
            other,
        )


@pytest.fixture(scope="session")
def vendure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendure]:
    """The Vendure shop of this test process."""
    prices = {f"V-{number:04d}": Decimal(1000 + number * 7) / 100 for number in range(1, VENDURE_SKUS + 1)}
    with VendureShop(tmp_path_factory.mktemp("vendure"), prices) as shop:
        yield Vendure(shop)


@pytest.fixture(scope="session")
def oscar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oscar]:
    """The django-oscar shop of this test process."""
    with OscarShop(tmp_path_factory.mktemp("oscar") / "shop", OSCAR_SKUS) as shop:
        yield Oscar(shop)
