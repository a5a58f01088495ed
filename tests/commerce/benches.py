"""One bench per adapter: the adapter behind a fault proxy, and an independent look at the shop."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from pricecrawl.commerce.adobe import AdobeCommerceTarget
from pricecrawl.commerce.bigcommerce import BigCommerceTarget
from pricecrawl.commerce.commercetools import CommercetoolsTarget
from pricecrawl.commerce.file import FileTarget
from pricecrawl.commerce.medusa import MedusaTarget
from pricecrawl.commerce.oscar import OscarTarget
from pricecrawl.commerce.shopify import ShopifyTarget
from pricecrawl.commerce.vendure import VendureTarget
from pricecrawl.commerce.woocommerce import WooCommerceTarget
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import CommerceTarget, PriceScope
from tests.shops import running, sftp
from tests.shops.adobe import server as adobe
from tests.shops.bigcommerce import server as bigcommerce
from tests.shops.commercetools import server as commercetools
from tests.shops.fault_proxy import FaultProxy
from tests.shops.importer.server import ImporterShop
from tests.shops.medusa import server as medusa
from tests.shops.shopify import server as shopify
from tests.shops.woocommerce import server as woocommerce

SETTLE = timedelta(seconds=1)
TIMEOUT = 4.0
PRICES = {f"S-{number:03d}": Decimal(1000 + number * 13) / 100 for number in range(1, 121)}
TWIN = "S-001"


@dataclass
class Bench:
    """What the contract suite needs of one platform.

    `write` matches the bytes of a price write; `siblings` is everything near a price that a write must
    leave alone; `work` lets an asynchronous shop do what waits.
    """

    target: CommerceTarget
    make: Callable[..., CommerceTarget]
    scope: PriceScope
    write: bytes
    take: Callable[[], str]
    price: Callable[[str], Decimal]
    set_price: Callable[[str, Decimal], None]
    siblings: Callable[[str], Any]
    proxy: FaultProxy | None = None
    twin: Callable[[], str] | None = None
    work: Callable[[], None] = field(default=lambda: None)
    secret: str = ""
    dead_url: Callable[[str], CommerceTarget] | None = None
    other_scope: PriceScope | None = None
    other_price: Callable[[str], Decimal] | None = None
    shop: Any = None


def _taker() -> Callable[[], str]:
    numbers = itertools.count(2)
    return lambda: f"S-{next(numbers):03d}"


@contextlib.contextmanager
def vendure_bench(shop: running.Vendure) -> Iterator[Bench]:
    with FaultProxy(shop.shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> VendureTarget:
            return VendureTarget(
                f"{url}/admin-api",
                shop.key,
                shop_url=f"{url}/shop-api",
                settle_time=SETTLE,
                timeout=timeout,
            )

        def twin() -> str:
            first, second = shop.take(), shop.take()
            shop.update(second, sku=first)
            return first

        def siblings(sku: str) -> Any:
            return {key: value for key, value in shop.all_prices(sku).items() if key != "USD"}

        def take() -> str:
            sku = shop.take()
            shop.update(sku, prices=[{"currencyCode": "EUR", "price": 4321}])
            return sku

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.EXCLUSIVE),
            write=rb"updateProductVariants",
            take=take,
            price=shop.price,
            set_price=shop.set_price,
            siblings=siblings,
            proxy=proxy,
            twin=twin,
            secret=shop.key,
            shop=shop,
        )


@contextlib.contextmanager
def oscar_bench(shop: running.Oscar) -> Iterator[Bench]:
    with FaultProxy(shop.shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> OscarTarget:
            return OscarTarget(url, shop.user, shop.password, settle_time=SETTLE, timeout=timeout)

        def twin() -> str:
            first, second = shop.take(), shop.take()
            shop.double(first, second)
            return first

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("GBP", TaxBasis.INCLUSIVE),
            write=rb"^PATCH ",
            take=shop.take,
            price=shop.price,
            set_price=shop.set_price,
            siblings=lambda _: None,
            proxy=proxy,
            twin=twin,
            secret=shop.password,
            shop=shop,
        )


@contextlib.contextmanager
def commercetools_bench() -> Iterator[Bench]:
    with commercetools.CommercetoolsShop(PRICES) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> CommercetoolsTarget:
            return CommercetoolsTarget(
                url,
                url,
                commercetools.PROJECT,
                "client-id",
                "ct_client_secret",
                settle_time=SETTLE,
                timeout=timeout,
            )

        def cents(sku: str, currency: str, country: str | None = None) -> Decimal:
            rows = shop.prices(sku)
            own = [
                row
                for row in rows
                if row["value"]["currencyCode"] == currency and row.get("country") == country
            ]
            return Decimal(own[0]["value"]["centAmount"]) / 100

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.INCLUSIVE),
            write=rb"changePrice",
            take=_taker(),
            price=lambda sku: cents(sku, "USD"),
            set_price=shop.set_price,
            siblings=lambda sku: (cents(sku, "EUR"), cents(sku, "USD", "CA")),
            proxy=proxy,
            secret="ct_client_secret",
            other_scope=PriceScope("USD", TaxBasis.INCLUSIVE, price_list="CA"),
            other_price=lambda sku: cents(sku, "USD", "CA"),
            shop=shop,
        )


@contextlib.contextmanager
def shopify_bench() -> Iterator[Bench]:
    with shopify.ShopifyShop(PRICES, TWIN) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> ShopifyTarget:
            return ShopifyTarget(f"{url}{shopify.PATH}", shopify.TOKEN, settle_time=SETTLE, timeout=timeout)

        def row(sku: str) -> dict[str, Any]:
            return next(row for row in shop.variants.values() if row["sku"] == sku)

        def set_price(sku: str, price: Decimal) -> None:
            row(sku).update(price=price, updatedAt="2026-01-02T00:00:00Z")

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.EXCLUSIVE),
            write=rb"productVariantsBulkUpdate|priceListFixedPricesAdd",
            take=_taker(),
            price=lambda sku: row(sku)["price"],
            set_price=set_price,
            siblings=lambda sku: (
                row(sku)["compareAtPrice"],
                shop.listed[row(sku)["id"]],
                shop.compared[row(sku)["id"]],
            ),
            proxy=proxy,
            twin=lambda: TWIN,
            secret=shopify.TOKEN,
            other_scope=PriceScope("EUR", TaxBasis.EXCLUSIVE, price_list=shopify.LIST),
            other_price=lambda sku: shop.listed[row(sku)["id"]],
            shop=shop,
        )


@contextlib.contextmanager
def woocommerce_bench() -> Iterator[Bench]:
    with woocommerce.WooCommerceShop(PRICES, TWIN) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> WooCommerceTarget:
            return WooCommerceTarget(
                url, woocommerce.KEY, woocommerce.SECRET, settle_time=SETTLE, timeout=timeout
            )

        def row(sku: str) -> dict[str, Any]:
            return next(row for row in shop.rows.values() if row["sku"] == sku)

        def set_price(sku: str, price: Decimal) -> None:
            row(sku).update(regular_price=str(price), date_modified_gmt="2026-01-02T00:00:00")

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.INCLUSIVE),
            write=rb"^PUT ",
            take=_taker(),
            price=lambda sku: Decimal(row(sku)["regular_price"]),
            set_price=set_price,
            siblings=lambda sku: row(sku)["sale_price"],
            proxy=proxy,
            twin=lambda: TWIN,
            secret=woocommerce.SECRET,
            shop=shop,
        )


@contextlib.contextmanager
def medusa_bench() -> Iterator[Bench]:
    with medusa.MedusaShop(PRICES, TWIN) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> MedusaTarget:
            return MedusaTarget(
                url,
                medusa.SECRET,
                region="reg_1",
                publishable_key=medusa.PUBLISHABLE,
                settle_time=SETTLE,
                timeout=timeout,
            )

        def prices(sku: str) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = next(row for row in shop.rows.values() if row["sku"] == sku)[
                "prices"
            ]
            return rows

        def own(sku: str) -> dict[str, Any]:
            return next(p for p in prices(sku) if p["currency_code"] == "usd" and not p["min_quantity"])

        def siblings(sku: str) -> Any:
            kept = ("id", "currency_code", "amount", "min_quantity", "max_quantity")
            return [{key: row[key] for key in kept} for row in prices(sku) if row["id"] != own(sku)["id"]]

        def set_price(sku: str, price: Decimal) -> None:
            own(sku).update(amount=price, updated_at="2026-01-02T00:00:00.000Z")

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.EXCLUSIVE),
            write=rb"^POST /admin/products/",
            take=_taker(),
            price=lambda sku: own(sku)["amount"],
            set_price=set_price,
            siblings=siblings,
            proxy=proxy,
            twin=lambda: TWIN,
            secret=medusa.SECRET,
            other_scope=PriceScope("EUR", TaxBasis.INCLUSIVE),
            other_price=lambda sku: next(p for p in prices(sku) if p["currency_code"] == "eur")["amount"],
            shop=shop,
        )


@contextlib.contextmanager
def bigcommerce_bench() -> Iterator[Bench]:
    with bigcommerce.BigCommerceShop(PRICES, TWIN) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> BigCommerceTarget:
            return BigCommerceTarget(
                f"{url}{bigcommerce.API}", bigcommerce.TOKEN, settle_time=SETTLE, timeout=timeout
            )

        def row(sku: str) -> dict[str, Any]:
            return next(row for row in shop.rows.values() if row["sku"] == sku)

        def price(sku: str) -> Decimal:
            own = row(sku)["price"]
            found: Decimal = shop.products[row(sku)["product_id"]] if own is None else own
            return found

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.INCLUSIVE),
            write=rb"^PUT ",
            take=_taker(),
            price=price,
            set_price=lambda sku, amount: row(sku).update(price=amount),
            siblings=lambda sku: (row(sku)["retail_price"], shop.records[row(sku)["id"]]["price"]),
            proxy=proxy,
            twin=lambda: TWIN,
            secret=bigcommerce.TOKEN,
            other_scope=PriceScope("EUR", TaxBasis.INCLUSIVE, price_list=bigcommerce.LIST),
            other_price=lambda sku: shop.records[row(sku)["id"]]["price"],
            shop=shop,
        )


@contextlib.contextmanager
def adobe_bench(*, bulk: bool = False) -> Iterator[Bench]:
    with adobe.AdobeShop(PRICES) as shop, FaultProxy(shop.port) as proxy:

        def make(url: str = proxy.url, timeout: float = TIMEOUT) -> AdobeCommerceTarget:
            return AdobeCommerceTarget(url, adobe.TOKEN, bulk=bulk, settle_time=SETTLE, timeout=timeout)

        def set_price(sku: str, price: Decimal) -> None:
            shop.prices[sku, 0] = price

        yield Bench(
            target=make(),
            make=make,
            scope=PriceScope("USD", TaxBasis.EXCLUSIVE),
            write=rb"^POST [^ ]*/base-prices ",
            take=_taker(),
            price=lambda sku: shop.prices[sku, 0],
            set_price=set_price,
            siblings=lambda sku: shop.prices[sku, 2],
            proxy=proxy,
            work=shop.work,
            secret=adobe.TOKEN,
            other_scope=PriceScope("USD", TaxBasis.EXCLUSIVE, channel="de"),
            other_price=lambda sku: shop.prices[sku, 2],
            shop=shop,
        )


@contextlib.contextmanager
def sftp_bench(folder: Path) -> Iterator[Bench]:
    """The same folder, reached over a real SFTP server."""
    shared = folder / "shared"
    shared.mkdir()
    with sftp.serving(shared) as server:
        known = server.known_hosts(folder / "known_hosts")
        with file_bench(shared, server.url, password=sftp.PASSWORD, known_hosts=known) as bench:
            yield bench


@contextlib.contextmanager
def file_bench(folder: Path, address: str = "", **options: str) -> Iterator[Bench]:
    shop = ImporterShop(folder, PRICES, TWIN)

    def make(url: str = address or str(folder), timeout: float = TIMEOUT) -> FileTarget:
        return FileTarget(url, settle_time=SETTLE, timeout=timeout, **options)

    yield Bench(
        target=make(),
        make=make,
        scope=PriceScope("USD", TaxBasis.INCLUSIVE),
        write=rb"",
        take=_taker(),
        price=shop.price,
        set_price=shop.set_price,
        siblings=lambda sku: [row["amount"] for row in shop.rows if row["sku"] != sku],
        twin=lambda: TWIN,
        work=shop.work,
        shop=shop,
    )
