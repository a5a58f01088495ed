"""What only one platform does: each is a hazard that was met on the real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.commerce.vendure import VendureTarget
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Accepted,
    Applied,
    Conflict,
    PriceScope,
    Rejected,
    TargetRef,
    Throttled,
    Unknown,
    View,
    WritePrice,
)
from tests.commerce import benches
from tests.commerce.benches import Bench
from tests.commerce.test_contract import command
from tests.shops.fault_proxy import Fault, http_reply
from tests.shops.running import Vendure

vendure_marks = [pytest.mark.shop, pytest.mark.xdist_group("vendure")]


@pytest.fixture
def commercetools() -> Iterator[Bench]:
    with benches.commercetools_bench() as bench:
        yield bench


@pytest.fixture
def shopify() -> Iterator[Bench]:
    with benches.shopify_bench() as bench:
        yield bench


@pytest.fixture
def medusa() -> Iterator[Bench]:
    with benches.medusa_bench() as bench:
        yield bench


@pytest.fixture
def adobe() -> Iterator[Bench]:
    with benches.adobe_bench(bulk=True) as bench:
        yield bench


@pytest.fixture
def woocommerce() -> Iterator[Bench]:
    with benches.woocommerce_bench() as bench:
        yield bench


@pytest.fixture
def bigcommerce() -> Iterator[Bench]:
    with benches.bigcommerce_bench() as bench:
        yield bench


class TestVendure:
    pytestmark = vendure_marks

    def target(self, vendure: Vendure, key: str | None = None) -> VendureTarget:
        return VendureTarget(vendure.shop.admin_url, key or vendure.key, shop_url=vendure.shop.shop_url)

    def test_a_channel_with_tax(self, vendure: Vendure) -> None:
        """Written with tax it reads back with tax, though the variant's own field is without."""
        shop = vendure.shop
        sku = vendure.take()
        zone = shop.admin("{ zones { items { id } } }")["zones"]["items"][0]["id"]
        shop.admin(
            "mutation($i: CreateChannelInput!) { createChannel(input: $i) { ... on Channel { id }"
            " ... on LanguageNotAvailableError { message } } }",
            i={
                "code": "taxed",
                "token": "taxed-token",
                "defaultLanguageCode": "en",
                "pricesIncludeTax": True,
                "currencyCode": "USD",
                "defaultTaxZoneId": zone,
                "defaultShippingZoneId": zone,
            },
        )
        channels = shop.admin("{ channels { items { id code } } }")["channels"]["items"]
        channel = next(row["id"] for row in channels if row["code"] == "taxed")
        shop.admin(
            "mutation($i: AssignProductVariantsToChannelInput!)"
            " { assignProductVariantsToChannel(input: $i) { id } }",
            i={"productVariantIds": [vendure.variant(sku)], "channelId": channel},
        )
        target = self.target(vendure, shop.service_key("taxed", [channel], token="taxed-token"))
        scope = PriceScope("USD", TaxBasis.INCLUSIVE, channel="taxed-token")
        ref = target.resolve(sku, scope)
        assert isinstance(ref, TargetRef)
        before = vendure.price(sku)
        pre = target.read(ref, scope)
        assert pre.tax_basis is TaxBasis.INCLUSIVE
        order = WritePrice("p", "d", 1, ref, scope, Decimal("999.00"), expected_amount=pre.amount)
        assert isinstance(target.write(order), Applied)
        assert target.read(ref, scope).amount == Decimal("999.00")
        assert target.read(ref, scope, View.STOREFRONT).amount == Decimal("999.00")
        assert vendure.price(sku) == before
        net = replace(order, scope=replace(scope, tax_basis=TaxBasis.EXCLUSIVE))
        assert target.write(net).code == "tax_basis"  # type: ignore[union-attr]

    def test_a_refusal_is_http_200(self, vendure: Vendure) -> None:
        """A key that may only read: FORBIDDEN comes with status 200 and the price stays."""
        sku = vendure.take()
        shop = vendure.shop
        key = shop.service_key("reader", permissions=["ReadCatalog"])
        target, scope = self.target(vendure, key), PriceScope("USD", TaxBasis.EXCLUSIVE)
        ref = target.resolve(sku, scope)
        assert isinstance(ref, TargetRef)
        before = vendure.price(sku)
        outcome = target.write(WritePrice("p", "d", 1, ref, scope, Decimal("9.99")))
        assert isinstance(outcome, Rejected)
        assert outcome.code == "forbidden"
        assert vendure.price(sku) == before

    def test_no_price_is_added(self, vendure: Vendure) -> None:
        """One variant with a currency that others lack breaks the product in the storefront."""
        sku = vendure.take()
        target, scope = self.target(vendure), PriceScope("EUR", TaxBasis.EXCLUSIVE)
        ref = target.resolve(sku, scope)
        assert isinstance(ref, TargetRef)
        outcome = target.write(WritePrice("p", "d", 1, ref, scope, Decimal("9.99")))
        assert isinstance(outcome, Rejected)
        assert outcome.code == "not_priced"
        assert set(vendure.all_prices(sku)) == {"USD"}

    @pytest.mark.parametrize(("currency", "kept", "amount"), [("JPY", 118000, "1180"), ("KWD", 7250, "72.5")])
    def test_digits_are_those_of_the_server(
        self, vendure: Vendure, currency: str, kept: int, amount: str
    ) -> None:
        """Two for every currency, whether it has none or three of its own; a third one is refused."""
        sku = vendure.take()
        codes = ["USD", "EUR", "JPY", "KWD"]
        vendure.shop.admin(
            "mutation($i: UpdateChannelInput!) { updateChannel(input: $i) { ... on Channel { id } } }",
            i={"id": "1", "availableCurrencyCodes": codes},
        )
        vendure.update(sku, prices=[{"currencyCode": currency, "price": kept}])
        target, scope = self.target(vendure), PriceScope(currency, TaxBasis.EXCLUSIVE)
        ref = target.resolve(sku, scope)
        assert isinstance(ref, TargetRef)
        assert target.read(ref, scope, View.STOREFRONT).amount == Decimal(amount)
        assert target.read(ref, scope).amount == Decimal(amount)
        order = WritePrice("p", "d", 1, ref, scope, Decimal(amount) - 1)
        assert isinstance(target.write(order), Applied)
        assert target.read(ref, scope).amount == Decimal(amount) - 1
        assert vendure.all_prices(sku)[currency] == (Decimal(amount) - 1)
        if currency == "KWD":
            outcome = target.write(replace(order, amount=Decimal("71.255")))
            assert isinstance(outcome, Rejected)
            assert outcome.code == "off_quantum"

    def test_a_fraction_that_the_shop_stored(self, vendure: Vendure) -> None:
        """The shop itself takes half a cent; what it holds is read as it is, not as it is shown."""
        sku = vendure.take()
        vendure.update(sku, price=1250.5)
        target, scope = self.target(vendure), PriceScope("USD", TaxBasis.EXCLUSIVE)
        ref = target.resolve(sku, scope)
        assert isinstance(ref, TargetRef)
        assert target.read(ref, scope).amount == Decimal("12.505")


def test_commercetools_changes_what_is_live(commercetools: Bench) -> None:
    """The platform would stage the change; ours is live, and what was carried along is still there."""
    sku = commercetools.take()
    product = commercetools.shop.product(sku)
    order = command(commercetools, sku, "9.99")
    assert isinstance(commercetools.target.write(order), Applied)
    after = commercetools.shop.product(sku)
    assert after["version"] == product["version"] + 1
    assert after["masterData"]["hasStagedChanges"] is False
    shown = commercetools.target.read(order.ref, commercetools.scope, View.STOREFRONT)
    assert shown.amount == Decimal("9.99")


def test_commercetools_conflict_at_the_last_moment(commercetools: Bench) -> None:
    """Somebody saves the product between our reading and our writing: 409, and nothing is lost."""
    assert commercetools.proxy
    sku = commercetools.take()
    order = command(commercetools, sku, "9.99")
    body = '{"statusCode": 409, "errors": [{"code": "ConcurrentModification", "currentVersion": 7}]}'
    fault = Fault("answer", commercetools.write, reply=http_reply("409 Conflict", body))
    commercetools.proxy.faults.append(fault)
    assert isinstance(commercetools.target.write(order), Conflict)


def test_commercetools_discounts_and_seasons_mask_the_price(commercetools: Bench) -> None:
    """Ours is written and verified; what shoppers are asked for is what the platform would pick."""
    target, scope = commercetools.target, commercetools.scope
    sku = commercetools.take()
    order = command(commercetools, sku, "9.99")
    assert isinstance(target.write(order), Applied)
    [own] = [row for row in commercetools.shop.prices(sku) if row["value"]["centAmount"] == 999]
    now = datetime.now(UTC)

    def seen() -> tuple[Decimal | None, str, Decimal | None, str]:
        shown = target.read(order.ref, scope, View.STOREFRONT)
        state = target.read(order.ref, scope)
        return shown.amount, shown.kind.value, state.amount, state.kind.value

    assert seen() == (Decimal("9.99"), "base", Decimal("9.99"), "base")
    own["discounted"] = {
        "value": {**own["value"], "centAmount": 500},
        "discount": {"typeId": "product-discount", "id": "d"},
    }
    assert seen() == (Decimal("5.00"), "sale", Decimal("9.99"), "base")
    season = {**own, "id": "season", "value": {**own["value"], "centAmount": 700}, "discounted": None}
    commercetools.shop.prices(sku).append(season)
    for start, end, amount in (
        (now - timedelta(days=1), now + timedelta(days=1), "7.00"),
        (now - timedelta(days=1), None, "7.00"),
        (None, now + timedelta(days=1), "7.00"),
        (now + timedelta(days=1), None, "5.00"),
        (None, now - timedelta(days=1), "5.00"),
    ):
        season["validFrom"], season["validUntil"] = (at and at.isoformat() for at in (start, end))
        assert seen() == (Decimal(amount), "sale", Decimal("9.99"), "base")


def test_commercetools_asks_for_a_new_token(commercetools: Bench) -> None:
    assert commercetools.proxy
    order = command(commercetools, commercetools.take(), "9.99")
    reply = http_reply("401 Unauthorized", '{"message": "invalid_token"}')
    commercetools.proxy.faults.append(Fault("answer", commercetools.write, reply=reply))
    asked = commercetools.proxy.count(b"/oauth/token")
    assert isinstance(commercetools.target.write(order), Rejected)
    assert isinstance(commercetools.target.write(order), Applied)
    assert commercetools.proxy.count(b"/oauth/token") == asked + 1


def test_shopify_bucket(shopify: Bench) -> None:
    """Throttled with status 200; the wait follows from the cost and the rate of the bucket."""
    order = command(shopify, shopify.take(), "9.99")
    shopify.shop.available, shopify.shop.restore = 4.0, 2.0
    assert shopify.target.write(order) == Throttled(3.0)


def test_shopify_user_errors(shopify: Bench) -> None:
    sku = shopify.take()
    order = command(shopify, sku, "9.99")
    row = next(row for row in shopify.shop.variants.values() if row["sku"] == sku)
    before = row["price"]
    errors = '{"field": ["variants"], "message": "Product is suspended", "code": "PRODUCT_SUSPENDED"}'
    body = f'{{"data": {{"productVariantsBulkUpdate": {{"userErrors": [{errors}]}}}}}}'
    assert shopify.proxy
    shopify.proxy.faults.append(Fault("answer", shopify.write, reply=http_reply("200 OK", body)))
    outcome = shopify.target.write(order)
    assert isinstance(outcome, Rejected)
    assert (outcome.code, row["price"]) == ("product_suspended", before)


@pytest.mark.parametrize(
    ("error", "answer", "kind"),
    [
        ({"message": "no", "extensions": {"code": "ACCESS_DENIED"}, "path": ["m"]}, None, Rejected),
        ({"message": "no", "extensions": {"code": "ACCESS_DENIED"}}, {"m": None}, Rejected),
        # The mutation ran, and its answer cannot be told in full: whether it wrote is to be read.
        ({"message": "boom", "path": ["m", 0, "updatedAt"]}, None, Unknown),
        ({"message": "boom", "path": ["m", 0, "updatedAt"]}, {"m": None}, Unknown),
        ({"message": "boom", "extensions": {"code": "FORBIDDEN"}, "path": ["m", 0]}, {"m": [None]}, Unknown),
        ({"message": "boom"}, {"m": {"userErrors": []}}, Unknown),
    ],
)
def test_graphql_errors_beside_an_answer(shopify: Bench, error: Any, answer: Any, kind: type) -> None:
    order = command(shopify, shopify.take(), "9.99")
    body = json.dumps({"errors": [error], "data": answer})
    assert shopify.proxy
    shopify.proxy.faults.append(Fault("answer", shopify.write, reply=http_reply("200 OK", body)))
    outcome = shopify.target.write(order)
    assert isinstance(outcome, kind), outcome


def test_graphql_any_of_several_errors(shopify: Bench) -> None:
    """The one that matters may come second."""
    order = command(shopify, shopify.take(), "9.99")
    errors = [
        {"message": "deprecated"},
        {"message": "boom", "extensions": {"code": "INTERNAL_SERVER_ERROR"}},
    ]
    body = json.dumps({"errors": errors, "data": None})
    assert shopify.proxy
    shopify.proxy.faults.append(Fault("answer", shopify.write, reply=http_reply("200 OK", body)))
    assert isinstance(shopify.target.write(order), Unknown)


def test_medusa_sends_all_prices(medusa: Bench) -> None:
    sku = medusa.take()
    before = medusa.siblings(sku)
    assert len(before) == 2
    assert isinstance(medusa.target.write(command(medusa, sku, "9.99")), Applied)
    assert medusa.siblings(sku) == before


def test_medusa_sibling_lost_meanwhile(medusa: Bench) -> None:
    """A sibling that another program changes shows in the digest, which is what the publisher compares."""
    sku = medusa.take()
    order = command(medusa, sku, "9.99")
    pre = medusa.target.read(order.ref, medusa.scope)
    row = next(row for row in medusa.shop.rows.values() if row["sku"] == sku)
    row["prices"] = [price for price in row["prices"] if price["currency_code"] != "eur"]
    assert medusa.target.read(order.ref, medusa.scope).siblings_digest != pre.siblings_digest


def test_adobe_queue_refuses_later(adobe: Bench) -> None:
    """The queue takes everything; what became of it is known when it is asked."""
    sku = adobe.take()
    outcome = adobe.target.write(command(adobe, sku, "9.99"))
    assert isinstance(outcome, Accepted)
    for row in adobe.shop.queue.values():
        row["rows"][0]["sku"] = "DELETED"
    adobe.work()
    assert isinstance(adobe.target.poll(outcome.operation), Rejected)
    adobe.shop.queue[outcome.operation.id].update(status=2, result_message="deadlock")
    assert isinstance(adobe.target.poll(outcome.operation), Unknown)
    assert adobe.proxy
    adobe.proxy.faults.append(Fault("answer", b"detailed-status", reply=http_reply("500 Oops")))
    assert isinstance(adobe.target.poll(outcome.operation), Accepted)


def test_woocommerce_sale_masks_the_price(woocommerce: Bench) -> None:
    """The regular price is written and verified; what shoppers see is the sale price."""
    sku = woocommerce.take()
    row = next(row for row in woocommerce.shop.rows.values() if row["sku"] == sku)
    row["sale_price"] = "5.00"
    order = command(woocommerce, sku, "9.99")
    assert isinstance(woocommerce.target.write(order), Applied)
    assert woocommerce.target.read(order.ref, woocommerce.scope).amount == Decimal("9.99")
    shown = woocommerce.target.read(order.ref, woocommerce.scope, View.STOREFRONT)
    assert (shown.amount, shown.kind) == (Decimal("5.00"), "sale")
    assert row["sale_price"] == "5.00"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ("X-Rate-Limit-Time-Reset-Ms: 15000\r\n", 15.0),
        ("X-Rate-Limit-Time-Reset-Ms: 15000\r\nRetry-After: 4\r\n", 4.0),
        ("X-Rate-Limit-Time-Reset-Ms: 250\r\nRetry-After: soon\r\n", 0.25),
        ("X-Rate-Limit-Time-Reset-Ms: soon\r\n", None),
    ],
)
def test_bigcommerce_says_when_its_window_ends(bigcommerce: Bench, headers: str, wait: float | None) -> None:
    order = command(bigcommerce, bigcommerce.take(), "9.99")
    reply = http_reply("429 Too Many Requests", "{}", headers)
    assert bigcommerce.proxy
    bigcommerce.proxy.faults.append(Fault("answer", bigcommerce.write, reply=reply))
    assert bigcommerce.target.write(order) == Throttled(wait)


def test_bigcommerce_sale_masks_the_price(bigcommerce: Bench) -> None:
    """Of a variant, and of its record in a price list."""
    sku = bigcommerce.take()
    row = next(row for row in bigcommerce.shop.rows.values() if row["sku"] == sku)
    assert bigcommerce.other_scope
    for scope, held in (
        (bigcommerce.scope, row),
        (bigcommerce.other_scope, bigcommerce.shop.records[row["id"]]),
    ):
        held["sale_price"] = Decimal("5.00")
        order = command(bigcommerce, sku, "9.99", scope=scope)
        assert isinstance(bigcommerce.target.write(order), Applied)
        state = bigcommerce.target.read(order.ref, scope)
        shown = bigcommerce.target.read(order.ref, scope, View.STOREFRONT)
        assert (state.amount, state.kind == "sale") == (Decimal("9.99"), False)
        assert (shown.amount, shown.kind, shown.view) == (Decimal("5.00"), "sale", View.STOREFRONT)


def test_shopify_price_list_keeps_what_is_struck_through(shopify: Bench) -> None:
    """A fixed price is replaced as a whole: what it is compared with is sent along, where there is one."""
    assert shopify.other_scope
    for _ in range(2):
        sku = shopify.take()
        before = shopify.siblings(sku)
        order = command(shopify, sku, "9.99", scope=shopify.other_scope)
        assert isinstance(shopify.target.write(order), Applied)
        after = shopify.siblings(sku)
        assert (after[0], after[1], after[2]) == (before[0], Decimal("9.99"), before[2])


def test_a_target_has_its_own_patience(bigcommerce: Bench) -> None:
    """A write waits for its answer as long as the target's setting says, not as long as a publisher may."""
    hasty = bigcommerce.make(timeout=1.0)
    order = command(bigcommerce, bigcommerce.take(), "9.99", timeout_s=60.0)
    assert bigcommerce.proxy
    bigcommerce.proxy.faults.append(Fault("delay", bigcommerce.write, seconds=3.0))
    assert isinstance(hasty.write(order), Unknown)


def test_a_file_that_was_refused_and_comes_again(tmp_path: Path) -> None:
    """The one in `failed/` has the same name: it is the one that waits that is asked about."""
    with benches.file_bench(tmp_path) as bench:
        sku = bench.take()
        order = command(bench, sku, "9.99")
        taken = bench.target.write(order)
        assert isinstance(taken, Accepted)
        [path] = (tmp_path / "in").iterdir()
        path.rename(tmp_path / "failed" / path.name)
        assert isinstance(bench.target.poll(taken.operation), Rejected)
        assert bench.target.write(order) == taken
        assert bench.target.poll(taken.operation) == taken
        bench.work()
        assert isinstance(bench.target.poll(taken.operation), Applied)
        assert bench.price(sku) == Decimal("9.99")


def test_adobe_queue_answers_in_another_shape(adobe: Bench) -> None:
    """About the write that says nothing."""
    taken = adobe.target.write(command(adobe, adobe.take(), "9.99"))
    assert isinstance(taken, Accepted)
    assert adobe.proxy
    for body in ("[]", '{"operations_list": [7]}', _queue('"[\\"no\\"]"'), _queue('"["')):
        adobe.proxy.faults[:] = [Fault("answer", b"detailed-status", reply=http_reply("200 OK", body))]
        assert adobe.target.poll(taken.operation) == taken, body


def _queue(result: str) -> str:
    return f'{{"operations_list": [{{"status": 1, "result_serialized_data": {result}}}]}}'
