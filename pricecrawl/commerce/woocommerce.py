"""WooCommerce REST v3: decimal strings in the store's currency; `price` is computed from two others.

`regular_price` is what we write; a running `sale_price` masks it, which the storefront view shows.
Variations have an address under their product. `date_modified_gmt` has steps of a second.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_text
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.http import Answer, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    TargetRef,
    View,
    WriteOutcome,
    WritePrice,
)

_SALE = ("sale_price", "date_on_sale_from_gmt", "date_on_sale_to_gmt")


class WooCommerceTarget(HttpTarget):
    """One store through a REST key with read and write permission, over HTTPS."""

    def __init__(
        self,
        base_url: str,
        key: str,
        secret: str,
        *,
        name: str = "woocommerce",
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            revision_moves_on_price=False, storefront_view=True, settle_time=settle_time
        )
        super().__init__(name, capabilities, Http(auth=(key, secret), timeout=timeout))
        self._api = f"{base_url.rstrip('/')}/wp-json/wc/v3"

    def _get(self, path: str, **params: str) -> Any:
        return self._http.read("GET", f"{self._api}/{path}", params=params or None).body

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        # `sku` takes a list with commas, so that an answer may hold other SKUs too.
        found = []
        for row in self._get("products", sku=sku):
            if row["sku"] == sku:
                parent = str(row["parent_id"]) if row["type"] == "variation" else ""
                found.append(TargetRef(sku, str(row["id"]), parent))
        return one_of(sku, found)

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        row = self._get(_path(ref))
        currency = self._get("data/currencies/current")["code"]
        gross = self._get("settings/tax/woocommerce_prices_include_tax")["value"] == "yes"
        shown = view is View.STOREFRONT
        masked = from_text(row["price"]) != from_text(row["regular_price"])
        return PriceState(
            ref=TargetRef(row["sku"], str(row["id"]), ref.parent),
            amount=from_text(row["price" if shown else "regular_price"]),
            currency=currency,
            tax_basis=TaxBasis.INCLUSIVE if gross else TaxBasis.EXCLUSIVE,
            kind=PriceKindAtTarget.SALE if shown and masked else PriceKindAtTarget.BASE,
            revision=row["date_modified_gmt"],
            updated_at=row["date_modified_gmt"],
            siblings_digest=digest([{key: row.get(key) or None for key in _SALE}]),
            read_at=datetime.now(UTC),
            view=view,
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        answer = self._http.send(
            "PUT",
            f"{self._api}/{_path(command.ref)}",
            json_body={"regular_price": format(command.amount, "f")},
            timeout=command.timeout_s,
        )
        return Applied(revision=answer.body["date_modified_gmt"]) if isinstance(answer, Answer) else answer


def _path(ref: TargetRef) -> str:
    return f"products/{ref.parent}/variations/{ref.id}" if ref.parent else f"products/{ref.id}"
