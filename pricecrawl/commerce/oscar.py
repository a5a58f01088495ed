"""django-oscar with its REST interface: decimal strings, one price per stock record, no tax window.

Learned from the server: it takes -1.00; it refuses a third decimal with 400; `date_updated` moves
on every save of the stock record, so also when only the stock count changed.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

from pricecrawl.commerce.amounts import from_text
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.http import Answer, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    NotFound,
    PriceScope,
    PriceState,
    TargetRef,
    TargetUnavailable,
    View,
    WriteOutcome,
    WritePrice,
)

_PAGE = 100
_LIST_TIMEOUT = 120.0

# Seconds: a list this old is read again, and one this fresh is not, whoever asks for an unknown SKU.
_STALE, _FRESH = 900.0, 5.0


class OscarTarget(HttpTarget):
    """A django-oscar shop through its admin interface, with HTTP Basic credentials of a staff user.

    Our SKU is the stock record's `partner_sku`. `tax_basis` says what the shop's stored prices are:
    EXCLUSIVE where its strategy adds tax, else whatever the shop shows.
    """

    def __init__(
        self,
        base_url: str,
        user: str,
        password: str,
        *,
        name: str = "oscar",
        tax_basis: TaxBasis = TaxBasis.INCLUSIVE,
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            revision_moves_on_price=True,
            storefront_view=True,
            tax_bases=(tax_basis,),
            settle_time=settle_time,
        )
        super().__init__(
            name, capabilities, Http(auth=(user, password), secrets=(password,), timeout=timeout)
        )
        self._base = base_url.rstrip("/")
        self._basis = tax_basis
        self._shop = Http(timeout=timeout)
        self._index: dict[str, list[TargetRef]] = {}
        self._loaded = -_STALE
        self._loading = threading.Lock()

    def _load_index(self) -> None:
        # The interface has no filter by SKU: read the list once, all of it or page by page.
        index: dict[str, list[TargetRef]] = {}
        url: str | None = f"{self._base}/api/admin/products/?limit={_PAGE}"
        seen = set()
        while url is not None and url not in seen:
            seen.add(url)
            answer = self._http.read("GET", url, timeout=_LIST_TIMEOUT).body
            rows, url = (answer["results"], answer["next"]) if isinstance(answer, dict) else (answer, None)
            if url is not None and not url.startswith(f"{self._base}/"):
                raise TargetUnavailable(f"{self.name} names a next page on another host")
            for product in rows:
                for record in product.get("stockrecords") or ():
                    record_id = record["url"].rstrip("/").rsplit("/", 1)[-1]
                    ref = TargetRef(record["partner_sku"], record_id, str(product["id"]))
                    index.setdefault(ref.sku, []).append(ref)
        self._index = index
        self._loaded = time.monotonic()

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        with self._loading:
            age = time.monotonic() - self._loaded
            # The list is read again before NotFound is said.
            if age >= _STALE or (sku not in self._index and age >= _FRESH):
                self._load_index()
                self._http.exchanges()  # a catalogue is no evidence of one price
        return one_of(sku, self._index.get(sku, []))

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        if view is View.STOREFRONT:
            return self._storefront(ref, scope)
        record = self._http.read("GET", f"{self._base}/api/admin/stockrecords/{ref.id}/").body
        return PriceState(
            ref=TargetRef(record["partner_sku"], ref.id, ref.parent),
            amount=from_text(record["price"]),
            currency=record["price_currency"],
            tax_basis=self._basis,
            revision=record["date_updated"],
            updated_at=record["date_updated"],
            read_at=datetime.now(UTC),
        )

    def _storefront(self, ref: TargetRef, scope: PriceScope) -> PriceState:
        shown = self._shop.read("GET", f"{self._base}/api/products/{ref.parent}/price/").body
        gross = scope.tax_basis is TaxBasis.INCLUSIVE
        return PriceState(
            ref=ref,
            amount=from_text(shown["incl_tax" if gross else "excl_tax"]),
            currency=shown["currency"] or "",
            tax_basis=scope.tax_basis,
            read_at=datetime.now(UTC),
            view=View.STOREFRONT,
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        # A price write does not change the currency of a stock record: another one is refused.
        before = self._before(command)
        if not isinstance(before, PriceState):
            return before
        answer = self._http.send(
            "PATCH",
            f"{self._base}/api/admin/stockrecords/{command.ref.id}/",
            json_body={"price": format(command.amount, "f")},
            timeout=command.timeout_s,
        )
        return Applied(revision=answer.body["date_updated"]) if isinstance(answer, Answer) else answer
