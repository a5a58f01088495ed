"""django-oscar with its REST interface: decimal strings, one price per stock record, no tax window.

Learned from the server: it takes -1.00; it refuses a third decimal with 400; `date_updated` moves
on every save of the stock record, so also when only the stock count changed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pricecrawl.commerce.amounts import checked, from_text
from pricecrawl.commerce.http import Answer, Http
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    NotFound,
    OperationRef,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    View,
    WriteOutcome,
    WritePrice,
)

_PAGE = 100


class OscarTarget:
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
        settle_time: timedelta = timedelta(seconds=30),
        timeout: float = 20.0,
    ) -> None:
        self.name = name
        self.capabilities = Capabilities(
            revision_moves_on_price=True,
            storefront_view=True,
            tax_bases=(tax_basis,),
            settle_time=settle_time,
        )
        self._base = base_url.rstrip("/")
        self._basis = tax_basis
        self._http = Http(auth=(user, password), timeout=timeout)
        self._shop = Http(timeout=timeout)
        self._index: dict[str, list[TargetRef]] = {}

    def _load_index(self) -> None:
        # The interface has no filter by SKU: read the list once, page by page.
        index: dict[str, list[TargetRef]] = {}
        offset = 0
        while True:
            params = {"limit": str(_PAGE), "offset": str(offset)}
            rows = self._http.read("GET", f"{self._base}/api/admin/products/", params=params).body
            rows = rows["results"] if isinstance(rows, dict) else rows
            for product in rows:
                for record in product.get("stockrecords") or ():
                    record_id = record["url"].rstrip("/").rsplit("/", 1)[-1]
                    ref = TargetRef(record["partner_sku"], record_id, str(product["id"]))
                    index.setdefault(ref.sku, []).append(ref)
            offset += len(rows)
            if len(rows) < _PAGE:
                break
        self._index = index

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """The stock record with this partner SKU; the list is read again before NotFound is said."""
        if sku not in self._index:
            self._load_index()
        refs = self._index.get(sku, [])
        if not refs:
            return NotFound(sku)
        return refs[0] if len(refs) == 1 else Ambiguous(sku, tuple(ref.id for ref in refs))

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """The stock record, or the price that the storefront would show."""
        now = datetime.now(UTC)
        if view is View.STOREFRONT:
            shown = self._shop.read("GET", f"{self._base}/api/products/{ref.parent}/price/").body
            gross = scope.tax_basis is TaxBasis.INCLUSIVE
            amount = from_text(shown.get("incl_tax" if gross else "excl_tax"))
            return PriceState(
                ref, amount, shown.get("currency") or "", scope.tax_basis, read_at=now, view=view
            )
        record = self._http.read("GET", f"{self._base}/api/admin/stockrecords/{ref.id}/").body
        return PriceState(
            ref=TargetRef(record["partner_sku"], ref.id, ref.parent),
            amount=from_text(record["price"]),
            currency=record["price_currency"],
            tax_basis=self._basis,
            revision=record["date_updated"],
            updated_at=record["date_updated"],
            read_at=now,
        )

    def write(self, command: WritePrice) -> WriteOutcome:
        """Set the stock record's price; its currency is not changed by a price write."""
        wrong = checked(command.amount, command.scope.currency)
        if wrong is not None:
            return wrong
        if command.scope.tax_basis is not self._basis:
            return Rejected("tax_basis", f"the shop stores {self._basis.value} prices")
        answer = self._http.send(
            "PATCH",
            f"{self._base}/api/admin/stockrecords/{command.ref.id}/",
            json_body={"price": format(command.amount, "f")},
            timeout=command.timeout_s,
        )
        return Applied(revision=answer.body["date_updated"]) if isinstance(answer, Answer) else answer

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """Writes are answered at once, so there is nothing to poll."""
        raise NotImplementedError(f"{self.name} does not accept writes for later")
