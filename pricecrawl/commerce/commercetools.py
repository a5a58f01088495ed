"""commercetools: embedded product prices with a version that every write must name.

A stale version is HTTP 409 with the current one, which makes this the platform where a blind retry
is safe. A price change is *staged* by default: it would not be live until somebody publishes the
product, and publishing would put everything else that is staged live too. So the change is made with
`staged: false`, which is live at once. `changePrice` replaces the whole price, so everything else of
it (country, channel, dates, tiers, custom fields) is carried over.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pricecrawl.commerce.amounts import digest, from_minor, to_minor
from pricecrawl.commerce.base import SETTLE, HttpTarget, one_of
from pricecrawl.commerce.http import Answer, Failure, Http, answered
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Ambiguous,
    Applied,
    Capabilities,
    Cas,
    Conflict,
    Effective,
    MoneyForm,
    NotFound,
    PriceKindAtTarget,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
    View,
    WriteOutcome,
    WritePrice,
)

_CARRIED = ("country", "customerGroup", "channel", "validFrom", "validUntil", "tiers", "custom", "key")
_CONFLICT = 409


class CommercetoolsTarget(HttpTarget):
    """One project, with an API client of scope `manage_products` (OAuth 2 client credentials).

    `scope.channel` is a channel id, `scope.price_list` a country for country prices; empty means the
    price without either. `tax_basis` says what the project's prices contain.
    """

    places = frozenset({"channel", "price_list"})

    def __init__(
        self,
        api_url: str,
        auth_url: str,
        project: str,
        client_id: str,
        client_secret: str,
        *,
        name: str = "commercetools",
        tax_basis: TaxBasis = TaxBasis.INCLUSIVE,
        settle_time: timedelta = SETTLE,
        timeout: float = 20.0,
    ) -> None:
        capabilities = Capabilities(
            cas=Cas.REVISION,
            revision_moves_on_price=True,
            staged=True,
            storefront_view=True,
            money=MoneyForm.MINOR,
            tax_bases=(tax_basis,),
            max_parallel_writers=4,
            settle_time=settle_time,
        )
        super().__init__(name, capabilities, Http(secrets=(client_secret,), timeout=timeout))
        self._products = f"{api_url.rstrip('/')}/{project}/products"
        self._projections = f"{api_url.rstrip('/')}/{project}/product-projections"
        self._token_url = f"{auth_url.rstrip('/')}/oauth/token"
        self._login = Http(auth=(client_id, client_secret), timeout=timeout)
        self._grant = {"grant_type": "client_credentials", "scope": f"manage_products:{project}"}
        self._basis = tax_basis
        self._token, self._token_until = "", 0.0
        self._asking = threading.Lock()

    def _headers(self) -> dict[str, str]:
        with self._asking:
            if time.monotonic() >= self._token_until:
                given = self._login.read("POST", self._token_url, form=self._grant).body
                self._token = self._http.token = given["access_token"]
                # Asked for again a minute early, so that it cannot end between a read and a write.
                self._token_until = time.monotonic() + float(given.get("expires_in", 300)) - 60
            return {"Authorization": f"Bearer {self._token}"}

    def _get(self, url: str, params: Mapping[str, str] | None = None) -> Any:
        return answered(self._known(self._http.send("GET", url, params=params, headers=self._headers()))).body

    def _known(self, answer: Answer | Failure) -> Answer | Failure:
        if isinstance(answer, Rejected) and answer.code == "http_401":
            self._token_until = 0.0  # revoked before its time: ask for another one next time
        return answer

    def _resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        text = json.dumps(sku, ensure_ascii=False)
        where = f"masterData(current(masterVariant(sku={text}) or variants(sku={text})))"
        rows = self._get(self._products, {"where": where, "limit": "3"})["results"]
        found = [
            TargetRef(sku, f"{product['id']}/{variant['id']}", product["id"])
            for product in rows
            for variant in _variants(product["masterData"].get("current"))
            if variant.get("sku") == sku
        ]
        return one_of(sku, found)

    def _read(self, ref: TargetRef, scope: PriceScope, view: View) -> PriceState:
        if view is View.STOREFRONT:
            product = self._get(f"{self._projections}/{ref.parent}", {"staged": "false"})
            variants, version = list(_variants(product)), product["version"]
        else:
            product = self._get(f"{self._products}/{ref.parent}")
            variants, version = list(_variants(product["masterData"]["current"])), product["version"]
        return self._state(ref, scope, variants, version, view)

    def _state(
        self, ref: TargetRef, scope: PriceScope, variants: list[Any], version: int, view: View
    ) -> PriceState:
        variant = _variant(variants, ref)
        prices = variant.get("prices") or []
        price, value = _price(prices, scope), None
        others = [_facts(row) for row in prices if price is None or row["id"] != price["id"]]
        kind = PriceKindAtTarget.LIST if scope.price_list else PriceKindAtTarget.BASE
        if price is not None:
            value = price["value"]
        if view is View.STOREFRONT and (shown := _shown(prices, scope, datetime.now(UTC))) is not None:
            kind = kind if shown == value else PriceKindAtTarget.SALE
            value = shown
        return PriceState(
            ref=TargetRef(variant["sku"], ref.id, ref.parent),
            amount=None if value is None else from_minor(value["centAmount"], scope.currency),
            currency=scope.currency,
            tax_basis=self._basis,
            kind=kind,
            effective=Effective(
                *(_moment(price.get(key) if price else None) for key in ("validFrom", "validUntil"))
            ),
            revision=str(version),
            siblings_digest=digest(others),
            read_at=datetime.now(UTC),
            view=view,
        )

    def _write(self, command: WritePrice) -> WriteOutcome:
        scope, ref = command.scope, command.ref
        product = self._get(f"{self._products}/{ref.parent}")
        version = product["version"]
        if command.expected_revision is not None and str(version) != command.expected_revision:
            return Conflict(str(version), f"the product is at version {version} by now")
        variant = _variant(list(_variants(product["masterData"]["current"])), ref)
        if variant.get("sku") != ref.sku:
            return Conflict(str(version), f"{ref.id} is {variant.get('sku')} by now")
        price = _price(variant.get("prices") or [], scope)
        if price is None:
            return Rejected("not_priced", f"{ref.sku} has no {scope.currency} price to change")
        if price["value"].get("type") == "highPrecision":
            return Rejected("high_precision", f"the price of {ref.sku} has more digits than {scope.currency}")
        if command.expected_amount is not None:
            amount = from_minor(price["value"]["centAmount"], scope.currency)
            if amount != command.expected_amount:
                return Conflict(str(version), f"the price is {amount} by now")
        value = {"currencyCode": scope.currency, "centAmount": to_minor(command.amount, scope.currency)}
        carried = {key: price[key] for key in _CARRIED if price.get(key) is not None}
        action = {
            "action": "changePrice",
            "priceId": price["id"],
            "price": {"value": value, **carried},
            "staged": False,
        }
        answer = self._http.send(
            "POST",
            f"{self._products}/{ref.parent}",
            json_body={"version": version, "actions": [action]},
            headers=self._headers(),
            timeout=command.timeout_s,
        )
        return _outcome(self._known(answer))


def _outcome(answer: Answer | Failure) -> WriteOutcome:
    if isinstance(answer, Answer):
        return Applied(revision=str(answer.body["version"]))
    if isinstance(answer, Rejected) and answer.code == f"http_{_CONFLICT}":
        return Conflict(detail=answer.detail)
    return answer


def _variants(data: Mapping[str, Any] | None) -> Iterator[Any]:
    if data:
        yield data["masterVariant"]
        yield from data.get("variants") or ()


def _variant(variants: list[Any], ref: TargetRef) -> Any:
    number = ref.id.rsplit("/", 1)[-1]
    for variant in variants:
        if str(variant["id"]) == number and variant.get("sku") == ref.sku:
            return variant
    for variant in variants:
        if str(variant["id"]) == number:
            return variant
    raise TargetUnavailable(f"variant {ref.id} is gone")


def _price(prices: list[Any], scope: PriceScope) -> Any:
    """The embedded price of exactly this scope and no dates, as the platform's own selection sees it."""
    rows = (row for row in prices if _in_scope(row, scope))
    return next((row for row in rows if not row.get("validFrom") and not row.get("validUntil")), None)


def _in_scope(row: Mapping[str, Any], scope: PriceScope) -> bool:
    channel = (row.get("channel") or {}).get("id") or ""
    place = (row["value"]["currencyCode"], channel, row.get("country") or "")
    return place == (scope.currency, scope.channel, scope.price_list) and not row.get("customerGroup")


def _shown(prices: list[Any], scope: PriceScope, now: datetime) -> Any:
    """What a shopper is asked for: a price for these days before one for always, and discounted."""
    rows = [row for row in prices if _in_scope(row, scope) and _holds(row, now)]
    rows.sort(key=lambda row: not (row.get("validFrom") or row.get("validUntil")))
    return (rows[0].get("discounted") or rows[0])["value"] if rows else None


def _holds(row: Mapping[str, Any], now: datetime) -> bool:
    start, end = _moment(row.get("validFrom")), _moment(row.get("validUntil"))
    return (start is None or start <= now) and (end is None or now < end)


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row.get(key) for key in ("value", "country", "channel", "validFrom", "validUntil", "tiers")}


def _moment(text: str | None) -> datetime | None:
    return None if not text else datetime.fromisoformat(text)
