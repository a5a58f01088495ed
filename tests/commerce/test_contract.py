"""What every adapter promises, run against every platform: real servers, one vendor's own, simulators."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import replace
from decimal import Decimal

import pytest

from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Accepted,
    Ambiguous,
    Applied,
    Cas,
    Conflict,
    Effective,
    NotFound,
    NotSent,
    PriceScope,
    Rejected,
    TargetRef,
    TargetUnavailable,
    Throttled,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)
from tests.commerce.benches import TIMEOUT, Bench
from tests.factories import NOON
from tests.shops.fault_proxy import Fault, http_reply

MUTATIONS = ("productVariantsBulkUpdate", "priceListFixedPricesAdd", "updateProductVariants")


def command(bench: Bench, sku: str, amount: str | Decimal, **more: object) -> WritePrice:
    scope = more.pop("scope", bench.scope)
    assert isinstance(scope, PriceScope)
    ref = bench.target.resolve(sku, scope)
    assert isinstance(ref, TargetRef), ref
    made = WritePrice(f"pub-{sku}", f"dec-{sku}", 17, ref, scope, Decimal(amount), timeout_s=TIMEOUT)
    return replace(made, **more)  # type: ignore[arg-type]


def finish(bench: Bench, outcome: WriteOutcome) -> WriteOutcome:
    """The outcome of an accepted write, once the shop has done it."""
    if not isinstance(outcome, Accepted):
        return outcome
    assert bench.target.capabilities.asynchronous
    assert isinstance(bench.target.poll(outcome.operation), Accepted)
    bench.work()
    return bench.target.poll(outcome.operation)


def writes(bench: Bench) -> int:
    assert bench.proxy is not None
    return bench.proxy.count(bench.write)


def test_write_then_read(bench: Bench) -> None:
    """The price is set, the shop itself has it, and everything near it is as it was."""
    sku = bench.take()
    before, siblings = bench.price(sku), bench.siblings(sku)
    ref = bench.target.resolve(sku, bench.scope)
    assert isinstance(ref, TargetRef)
    pre = bench.target.read(ref, bench.scope)
    assert (pre.amount, pre.currency, pre.tax_basis) == (
        before,
        bench.scope.currency,
        bench.scope.tax_basis,
    )
    wanted = before - Decimal("0.37")
    outcome = finish(bench, bench.target.write(command(bench, sku, wanted, expected_amount=before)))
    assert isinstance(outcome, Applied), outcome
    assert bench.price(sku) == wanted
    post = bench.target.read(ref, bench.scope)
    assert post.amount == wanted
    assert (post.ref, post.effective, post.kind) == (pre.ref, Effective(), pre.kind)
    assert post.siblings_digest == pre.siblings_digest
    assert bench.siblings(sku) == siblings
    if bench.target.capabilities.revision_moves_on_price:
        assert post.revision != pre.revision


def test_whole_amounts_and_one_digit(bench: Bench) -> None:
    """7.00 and 7.1 arrive as what they are."""
    sku = bench.take()
    for amount in ("7.00", "7.1", "1234567.89"):
        order = command(bench, sku, amount, sequence=time.time_ns())
        assert isinstance(finish(bench, bench.target.write(order)), Applied)
        assert bench.price(sku) == Decimal(amount)
        assert bench.target.read(command(bench, sku, amount).ref, bench.scope).amount == Decimal(amount)


@pytest.mark.needs("storefront")
def test_storefront(bench: Bench) -> None:
    sku = bench.take()
    wanted = bench.price(sku) - Decimal("0.11")
    order = command(bench, sku, wanted)
    assert isinstance(bench.target.write(order), Applied)
    shown = bench.target.read(order.ref, bench.scope, View.STOREFRONT)
    assert (shown.amount, shown.currency, shown.view) == (wanted, bench.scope.currency, View.STOREFRONT)


@pytest.mark.parametrize("amount", ["0", "-5", "12.345", "0.001", "NaN", "Infinity", "1e15"])
def test_amounts_that_are_no_prices(bench: Bench, amount: str) -> None:
    """Refused here, before anything is sent: the platforms would take some of them."""
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, amount)
    seen = len(bench.proxy.seen) if bench.proxy else 0
    outcome = bench.target.write(order)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.code in {"non_positive", "off_quantum", "too_large"}
    assert bench.price(sku) == before
    if bench.proxy:
        assert len(bench.proxy.seen) == seen


def test_the_other_tax_basis_is_refused(bench: Bench) -> None:
    sku = bench.take()
    before = bench.price(sku)
    other = TaxBasis.EXCLUSIVE if bench.scope.tax_basis is TaxBasis.INCLUSIVE else TaxBasis.INCLUSIVE
    order = command(bench, sku, "9.99")
    outcome = bench.target.write(replace(order, scope=replace(bench.scope, tax_basis=other)))
    assert isinstance(outcome, Rejected), outcome
    assert outcome.code == "tax_basis"
    assert bench.price(sku) == before


def test_a_currency_that_is_not_there(bench: Bench) -> None:
    """A price that does not exist is not made: one currency alone can break a product."""
    sku = bench.take()
    siblings = bench.siblings(sku)
    scope = replace(bench.scope, currency="CHF")
    outcome = bench.target.write(replace(command(bench, sku, "9.99"), scope=scope))
    assert isinstance(outcome, Rejected | NotSent), outcome
    assert bench.siblings(sku) == siblings


def test_a_scope_that_cannot_be_written(bench: Bench) -> None:
    """A part of the scope that the platform does not know is refused, never left out."""
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, "9.99")
    for name in ("channel", "price_list", "customer_group"):
        if name in type(bench.target).places:  # type: ignore[attr-defined]
            continue
        outcome = bench.target.write(replace(order, scope=replace(bench.scope, **{name: "friends"})))
        assert isinstance(outcome, Rejected), name
        assert outcome.code == "scope"
    assert bench.price(sku) == before


@pytest.mark.needs("no_dates")
def test_dates_only_where_there_are_any(bench: Bench) -> None:
    order = command(bench, bench.take(), "9.99", effective=Effective(start=NOON))
    outcome = bench.target.write(order)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "effective_window"


def test_unknown_sku(bench: Bench) -> None:
    assert isinstance(bench.target.resolve("NO-SUCH-SKU", bench.scope), NotFound)


def test_a_sku_is_no_pattern(bench: Bench) -> None:
    """Neither part of a SKU, nor another case, nor characters of a query language find it."""
    sku = bench.take()
    for wrong in (sku[:-1], sku.lower(), f'{sku}"', f"{sku},X", f"{sku}%", "*"):
        found = bench.target.resolve(wrong, bench.scope)
        assert isinstance(found, NotFound), (wrong, found)


@pytest.mark.needs("twin")
def test_ambiguous_sku(bench: Bench) -> None:
    assert bench.twin
    found = bench.make().resolve(bench.twin(), bench.scope)
    assert isinstance(found, Ambiguous)
    assert len(found.ids) == 2


def test_a_vanished_price(bench: Bench) -> None:
    """An address that is no longer there is an outage of the read, and nothing is written."""
    order = command(bench, bench.take(), "9.99")
    gone = replace(order.ref, id="999999", parent="999999", sku="GONE")
    with pytest.raises(TargetUnavailable):
        bench.target.read(gone, bench.scope)
    assert isinstance(bench.target.write(replace(order, ref=gone)), NotSent | Rejected | Conflict)


def test_changed_behind_our_back(bench: Bench) -> None:
    """A write that expects another amount than the shop has is not sent."""
    sku = bench.take()
    order = command(bench, sku, "9.99", expected_amount=bench.price(sku))
    bench.set_price(sku, Decimal("8.88"))
    assert isinstance(bench.target.write(order), Conflict)
    assert bench.price(sku) == Decimal("8.88")


@pytest.mark.needs("cas")
def test_compare_and_set(bench: Bench) -> None:
    assert bench.target.capabilities.cas is Cas.REVISION
    sku = bench.take()
    order = command(bench, sku, "9.99")
    first = bench.target.read(order.ref, bench.scope)
    assert isinstance(bench.target.write(replace(order, expected_revision=first.revision)), Applied)
    stale = replace(order, amount=Decimal("8.88"), expected_revision=first.revision)
    outcome = bench.target.write(stale)
    assert isinstance(outcome, Conflict)
    assert bench.price(sku) == Decimal("9.99")


@pytest.mark.needs("other_scope")
def test_another_scope(bench: Bench) -> None:
    """A price list, a country or a store view is written without the base price noticing."""
    assert bench.other_scope
    assert bench.other_price
    sku = bench.take()
    base = bench.price(sku)
    order = command(bench, sku, "7.77", scope=bench.other_scope)
    before = bench.target.read(order.ref, bench.other_scope)
    assert before.amount == bench.other_price(sku)
    assert isinstance(finish(bench, bench.target.write(order)), Applied)
    after = bench.target.read(order.ref, bench.other_scope)
    assert (after.amount, bench.other_price(sku), bench.price(sku)) == (
        Decimal("7.77"),
        Decimal("7.77"),
        base,
    )
    assert after.siblings_digest == before.siblings_digest


@pytest.mark.needs("proxy")
def test_reply_dropped_after_the_write(bench: Bench) -> None:
    assert bench.proxy
    sku = bench.take()
    order = command(bench, sku, "9.99")
    bench.proxy.faults.append(Fault("drop", bench.write))
    outcome = bench.target.write(order)
    assert isinstance(outcome, Unknown), outcome
    bench.work()
    assert bench.price(sku) == Decimal("9.99")
    assert writes(bench) == 1


@pytest.mark.needs("proxy")
def test_reset_before_the_write(bench: Bench) -> None:
    """Bytes left this machine: whether they arrived is not for us to say."""
    assert bench.proxy
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, "9.99")
    bench.proxy.faults.append(Fault("reset", bench.write))
    assert isinstance(bench.target.write(order), Unknown)
    assert bench.price(sku) == before
    assert writes(bench) == 1


@pytest.mark.needs("proxy")
def test_late_answer(bench: Bench) -> None:
    assert bench.proxy
    order = command(bench, bench.take(), "9.99", timeout_s=0.5)
    bench.proxy.faults.append(Fault("delay", bench.write, seconds=2.0))
    started = time.monotonic()
    assert isinstance(bench.target.write(order), Unknown)
    assert time.monotonic() - started < 2.0 + 4.0
    assert writes(bench) == 1


@pytest.mark.needs("proxy")
def test_too_late_to_be_sent(bench: Bench) -> None:
    """What is read before the write took so long that somebody else may be writing by now."""
    assert bench.proxy
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, "9.99", within_s=0.3)
    bench.proxy.faults.append(Fault("delay", b"", seconds=0.6))
    assert isinstance(bench.target.write(order), NotSent)
    assert (bench.price(sku), writes(bench)) == (before, 0)
    assert isinstance(finish(bench, bench.target.write(replace(order, within_s=60.0))), Applied)


@pytest.mark.needs("proxy")
@pytest.mark.parametrize(("header", "wait"), [("Retry-After: 7\r\n", 7.0), ("", None)])
def test_throttled(bench: Bench, header: str, wait: float | None) -> None:
    assert bench.proxy
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, "9.99")
    reply = http_reply("429 Too Many Requests", "{}", header)
    bench.proxy.faults.append(Fault("answer", bench.write, reply=reply))
    assert bench.target.write(order) == Throttled(wait)
    assert bench.price(sku) == before


@pytest.mark.needs("proxy")
def test_throttled_before_the_write(bench: Bench) -> None:
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    bench.proxy.faults.append(
        Fault("answer", b"", times=9, reply=http_reply("429 Too Many Requests", "", "Retry-After: 3\r\n"))
    )
    assert bench.target.write(order) == Throttled(3.0)
    with pytest.raises(TargetUnavailable) as caught:
        bench.target.read(order.ref, bench.scope)
    assert (caught.value.throttled, caught.value.retry_after_s) == (True, 3.0)
    assert writes(bench) == 0


@pytest.mark.parametrize(
    "status", ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable"]
)
@pytest.mark.needs("proxy")
def test_server_errors_prove_nothing(bench: Bench, status: str) -> None:
    """Some platforms answer 500 to a validation error, others after they wrote."""
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    reply = http_reply(status, '{"message": "price is invalid"}', "Retry-After: 5\r\n")
    bench.proxy.faults.append(Fault("answer", bench.write, reply=reply))
    assert isinstance(bench.target.write(order), Unknown)


@pytest.mark.parametrize(
    "body", ["<html>please log in</html>", "{}", "[]", "null", '"ok"', '{"data": {}}', ""]
)
@pytest.mark.needs("proxy")
def test_answers_of_another_shape(bench: Bench, body: str) -> None:
    """HTTP 200 with something else in it neither raises nor counts as anything but unknown or done."""
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    bench.proxy.faults.append(Fault("answer", bench.write, reply=http_reply("200 OK", body)))
    outcome = bench.target.write(order)
    assert isinstance(outcome, Unknown | Applied), outcome
    bench.proxy.faults[:] = [Fault("answer", b"", times=9, reply=http_reply("200 OK", body))]
    with pytest.raises(TargetUnavailable):
        bench.target.read(order.ref, bench.scope)


@pytest.mark.needs("proxy")
def test_forbidden(bench: Bench) -> None:
    assert bench.proxy
    sku = bench.take()
    before, order = bench.price(sku), command(bench, sku, "9.99")
    reply = http_reply("403 Forbidden", '{"message": "no"}')
    bench.proxy.faults.append(Fault("answer", bench.write, reply=reply))
    outcome = bench.target.write(order)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "http_403"
    assert bench.price(sku) == before


@pytest.mark.needs("proxy")
def test_redirects_are_not_followed(bench: Bench) -> None:
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    reply = http_reply("307 Temporary Redirect", "", f"Location: {bench.proxy.url}/elsewhere\r\n")
    bench.proxy.faults.append(Fault("answer", bench.write, reply=reply))
    assert isinstance(bench.target.write(order), Unknown)
    assert bench.proxy.count(b"/elsewhere") == 0


@pytest.mark.needs("proxy")
def test_nobody_there(bench: Bench) -> None:
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    # Port 1 is nobody's.
    away = bench.make("http://127.0.0.1:1")
    assert isinstance(away.write(order), NotSent)
    with pytest.raises(TargetUnavailable):
        away.read(order.ref, bench.scope)
    with pytest.raises(TargetUnavailable):
        away.resolve("S-999", bench.scope)


@pytest.mark.needs("proxy")
def test_no_secret_is_shown(bench: Bench) -> None:
    """Not in an outcome, not in what is kept as evidence, even when the shop repeats it."""
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    reply = http_reply("400 Bad Request", f'{{"message": "key {bench.secret} is not allowed"}}')
    bench.proxy.faults.append(Fault("answer", bench.write, reply=reply))
    outcome = bench.target.write(order)
    assert isinstance(outcome, Rejected)
    kept = bench.target.exchanges()
    assert kept
    assert "not allowed" in outcome.detail
    assert "not allowed" in str(kept)
    assert bench.secret not in f"{outcome}{kept}"
    assert bench.target.exchanges() == ()


@pytest.mark.needs("proxy")
def test_no_secret_is_shown_whatever_the_status(bench: Bench) -> None:
    """A refusal within HTTP 200, of any platform's shape, and a read that is refused."""
    assert bench.proxy
    said = f"key {bench.secret} is not allowed"
    for body in (
        {"errors": [{"message": said}]},
        {"errors": [{"message": said, "extensions": {"code": bench.secret}}]},
        {"errors": said},
        {"data": {name: {"userErrors": [{"message": said}]} for name in MUTATIONS}},
        [{"message": said, "parameters": [bench.secret]}],
        {"request_items": [{"status": "rejected", "error_message": said}]},
    ):
        order = command(bench, bench.take(), "9.99")
        reply = http_reply("200 OK", json.dumps(body))
        bench.proxy.faults[:] = [Fault("answer", bench.write, reply=reply)]
        assert bench.secret not in f"{bench.target.write(order)}{bench.target.exchanges()}"
        bench.proxy.faults[:] = [Fault("answer", b"", times=9, reply=reply)]
        with pytest.raises(TargetUnavailable) as caught:
            bench.target.read(order.ref, bench.scope)
        assert bench.secret not in f"{caught.value!r}{caught.value.__cause__!r}{bench.target.exchanges()}"
        bench.proxy.faults.clear()


@pytest.mark.needs("proxy")
def test_who_calls_stands_in_no_address(bench: Bench) -> None:
    """A password before the host, as for a shop behind one more door."""
    assert bench.proxy
    order = command(bench, bench.take(), "9.99")
    behind = bench.make(bench.proxy.url.replace("//", "//staging:canary-door@"))
    with contextlib.suppress(TargetUnavailable):
        behind.read(order.ref, bench.scope)
    outcome = behind.write(order)
    kept = behind.exchanges()
    assert kept
    assert "canary-door" not in f"{outcome}{kept}"
    assert "127.0.0.1" in kept[0].request


def test_two_writes_of_one_publication(bench: Bench) -> None:
    """Sending the same again changes nothing more."""
    sku = bench.take()
    order = command(bench, sku, "9.99")
    assert isinstance(finish(bench, bench.target.write(order)), Applied)
    siblings = bench.siblings(sku)
    again = bench.target.write(order)
    assert isinstance(again, Applied | Accepted)
    bench.work()
    assert (bench.price(sku), bench.siblings(sku)) == (Decimal("9.99"), siblings)
