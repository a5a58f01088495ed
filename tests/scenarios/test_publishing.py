"""The named situations that need a shop to write to: from the stored page to the price in real Vendure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pricecrawl.commerce.vendure import VendureTarget
from pricecrawl.db.tables import price_decision, publication
from pricecrawl.pricing.findings import Verdict
from pricecrawl.workflows import publish, rollback
from pricecrawl.workflows.publisher import Timings
from tests.shops.fault_proxy import Fault, FaultProxy
from tests.shops.running import Vendure
from tests.workflows.stall import Stall
from tests.workflows.street import Street

pytestmark = [pytest.mark.shop, pytest.mark.xdist_group("vendure")]

WRITE = b"updateProductVariants"
SETTLE = timedelta(seconds=4)


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def proxy(vendure: Vendure) -> Iterator[FaultProxy]:
    with FaultProxy(vendure.shop.port) as running:
        yield running


@pytest.fixture
def stall(engine: Engine, tmp_path: Path, vendure: Vendure, proxy: FaultProxy) -> Stall:
    """Our prices in dollars without tax, as the shop has them, written through the proxy."""
    target = VendureTarget(f"{proxy.url}/admin-api", vendure.key, shop_url=vendure.shop.shop_url)
    timings = Timings(
        write_timeout=1.5, settle=SETTLE, backoff=(timedelta(seconds=0.3), timedelta(seconds=1))
    )
    street = Street(engine, tmp_path)
    return Stall(street, target, now, currency="USD", tax_basis="excl", timings=timings)


def decided(stall: Stall, vendure: Vendure, share: str = "0.98") -> tuple[str, str, Decimal]:
    """A SKU of the shop, an approved decision for it, and the price that is in the shop."""
    sku = vendure.take()
    price = vendure.price(sku)
    market = (price * Decimal(share)).quantize(Decimal("0.01"))
    of = stall.decide({sku: (price, market)}, at=now() - timedelta(minutes=21))[sku]
    assert stall.row(price_decision, decision_id=of).status == "APPROVED"
    return sku, of, price


def written(stall: Stall, of: str) -> publish.Next:
    pub = stall.publisher()
    name = publish.request(pub, of, stall.target.name, now=now())
    return publish.run(pub, name, clock=now, patience=timedelta(seconds=60))


def test_publication_timeout(stall: Stall, vendure: Vendure, proxy: FaultProxy) -> None:
    """The answer to a write never comes though the shop wrote: it is looked up, and not written again."""
    sku, of, price = decided(stall, vendure)
    proxy.faults.append(Fault("drop", WRITE))
    done = written(stall, of)
    assert done.status == "VERIFIED"
    row = stall.publication(of)
    assert vendure.price(sku) == row.amount < price
    assert proxy.count(WRITE) == 1
    assert row.attempts == 1
    assert "publish.uncertain" in stall.events(of)
    assert stall.unbroken()


def test_duplicate_event(stall: Stall, vendure: Vendure, proxy: FaultProxy) -> None:
    """The same request delivered again, to the same publisher and to another one, writes once."""
    sku, of, _ = decided(stall, vendure)
    assert written(stall, of).status == "VERIFIED"
    assert written(stall, of).status == "VERIFIED"
    other = stall.publisher("publisher-b")
    name = publish.request(other, of, stall.target.name, now=now())
    assert publish.run(other, name, clock=now).done
    assert proxy.count(WRITE) == 1
    assert len(stall.street.rows(publication, decision_id=of)) == 1
    assert vendure.price(sku) == stall.publication(of).amount
    assert stall.events(of).count("price.published") == 1


def test_rollback(stall: Stall, vendure: Vendure) -> None:
    """Back to the last price that was verified before, by a new decision through the same gates."""
    sku, first, price = decided(stall, vendure, "0.98")
    assert written(stall, first).status == "VERIFIED"
    good = vendure.price(sku)
    seen = stall.street.rows(price_decision, sku=sku)[0].market_price * Decimal("0.98")
    second = stall.decide(
        {sku: (good, seen.quantize(Decimal("0.01")))}, at=now() - timedelta(minutes=20, seconds=1)
    )[sku]
    assert second != first
    assert written(stall, second).status == "VERIFIED"
    bad = vendure.price(sku)
    assert bad < good < price
    back = rollback.request(
        stall.publisher(), sku, stall.target.name, reason="a typing error", by="otto", now=now()
    )
    assert (back.verdict, back.to, back.amount) == (Verdict.ALLOW, first, good)
    assert written(stall, back.decision_id).status == "VERIFIED"
    assert vendure.price(sku) == good
    assert stall.publication(second).status == "ROLLED_BACK"
    assert stall.publication(back.decision_id).rollback_of == stall.publication(second).publication_id
    assert stall.current(sku) == good
    assert stall.unbroken()
