"""The SDK's test server behind a real HTTP port, with a catalogue."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

PROJECT = "test-project"


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class CommercetoolsShop:
    """One published product per SKU, at `prices` in US dollars and 1 more in euros."""

    def __init__(self, prices: Mapping[str, Decimal], twice: str = "") -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from commercetools.platform import models
            from commercetools.testing.server import Server
        self._models = models

        class Once(Server):  # type: ignore[misc]  # untyped
            def _create_request(self, environ: dict[str, Any]) -> Any:
                request = super()._create_request(environ)
                # It would append the query to a URL that has it already.
                request.params = {}
                return request

        app = Once()
        repository = app.repository

        def called(environ: dict[str, Any], start: Any) -> Any:
            # The test server answers to this one name only.
            environ["HTTP_HOST"] = environ["SERVER_NAME"] = "localhost"
            return app(environ, start)

        self._server: WSGIServer = make_server("127.0.0.1", 0, called, handler_class=_Quiet)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._products = repository.products
        self.by_sku: dict[str, str] = {}
        for sku in [*prices, *([twice] if twice else [])]:
            self.by_sku[sku] = self._add(sku, prices[sku])

    def _add(self, sku: str, price: Decimal) -> str:
        models = self._models

        def draft(currency: str, amount: Decimal, country: str | None = None) -> Any:
            money = models.Money(cent_amount=int(amount * 100), currency_code=currency)
            return models.PriceDraft(value=money, country=country)

        prices = [draft("USD", price), draft("EUR", price + 1), draft("USD", price + 2, "CA")]
        product = self._products.model.add(
            models.ProductDraft(
                key=None,
                product_type=models.ProductTypeResourceIdentifier(id="type"),
                name=models.LocalizedString(en=sku),
                slug=models.LocalizedString(en=sku.lower()),
                master_variant=models.ProductVariantDraft(sku=sku, prices=prices),
                publish=True,
            )
        )
        return str(product["id"])

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def product(self, sku: str) -> dict[str, Any]:
        """The product as the server keeps it."""
        found: dict[str, Any] = self._products.model.get_by_id(self.by_sku[sku])
        return found

    def prices(self, sku: str) -> list[dict[str, Any]]:
        """The live prices of a SKU."""
        rows: list[dict[str, Any]] = self.product(sku)["masterData"]["current"]["masterVariant"]["prices"]
        return rows

    def set_price(self, sku: str, price: Decimal) -> None:
        """Change the dollar price behind everybody's back."""
        product = self.product(sku)
        own = next(row for row in self.prices(sku) if row["value"]["currencyCode"] == "USD")
        own["value"]["centAmount"] = int(price * 100)
        product["version"] += 1
