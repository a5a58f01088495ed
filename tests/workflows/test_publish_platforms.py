"""The whole way into each platform that has no server of its own here: written, done later, watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from pricecrawl.db.engine import open_engine
from pricecrawl.pricing.states import State
from pricecrawl.workflows import publish, verify
from tests.commerce import benches
from tests.commerce.benches import Bench
from tests.shops.fault_proxy import Fault
from tests.workflows.shelf import WallClock
from tests.workflows.stall import Stall
from tests.workflows.street import Street
from tests.workflows.test_publish_shops import TIMINGS

PLATFORMS = (
    "adobe",
    "adobe-bulk",
    "bigcommerce",
    "commercetools",
    "file",
    "medusa",
    "shopify",
    "woocommerce",
)


ONE_SCOPE = {"file", "woocommerce"}


def opened(name: str, folder: Path) -> AbstractContextManager[Bench]:
    if name == "file":
        (folder / "drop").mkdir()
        return benches.file_bench(folder / "drop")
    if name == "adobe-bulk":
        return benches.adobe_bench(bulk=True)
    made: AbstractContextManager[Bench] = getattr(benches, f"{name}_bench")()
    return made


@pytest.fixture(params=PLATFORMS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with opened(request.param, tmp_path) as bench:
        yield bench


@pytest.fixture
def stall(sqlite_url: str, tmp_path: Path, bench: Bench) -> Iterator[Stall]:
    engine = open_engine(sqlite_url)
    stall = Stall(
        Street(engine, tmp_path),
        bench.target,
        clock=WallClock(),
        currency=bench.scope.currency,
        tax_basis=bench.scope.tax_basis.value,
        timings=TIMINGS,
    )
    yield stall
    engine.dispose()


def decide(stall: Stall, bench: Bench, *skus: str) -> list[str]:
    prices: dict[str, tuple[Decimal | str, Decimal | str]] = {
        sku: (bench.price(sku), bench.price(sku) - Decimal("0.20")) for sku in skus
    }
    made = stall.decide(prices, at=datetime.now(UTC) - timedelta(minutes=21))
    return [made[sku] for sku in skus]


def run(stall: Stall, bench: Bench, of: str) -> State:
    """Step to the end; a shop that does things later does them whenever we wait."""
    pub = stall.publisher()
    name = publish.request(pub, of, bench.target.name, now=stall.clock())
    while not (after := publish.step(pub, name, now=stall.clock())).done:
        if after.at is not None and after.at > stall.clock():
            bench.work()
            stall.clock.sleep((after.at - stall.clock()).total_seconds())
    return after.status


def test_written_verified_and_watched(stall: Stall, bench: Bench) -> None:
    sku = bench.take()
    before, siblings = bench.price(sku), bench.siblings(sku)
    [of] = decide(stall, bench, sku)
    assert run(stall, bench, of) is State.VERIFIED
    assert (bench.price(sku), bench.siblings(sku)) == (before - Decimal("0.20"), siblings)
    pub = stall.publisher()
    assert all(found.ok for found in verify.patrol(pub, bench.target.name, now=stall.clock()))
    bench.set_price(sku, Decimal("0.05"))
    assert not all(found.ok for found in verify.patrol(pub, bench.target.name, now=stall.clock()))
    assert stall.letters("incident")[0].payload["found"] == "0.05"


@pytest.mark.parametrize("bench", [name for name in PLATFORMS if name not in ONE_SCOPE], indirect=True)
def test_another_scope_is_watched_too(sqlite_url: str, tmp_path: Path, bench: Bench) -> None:
    """A price list, a country, a store view, another currency: what was verified there stays verified."""
    scope = bench.other_scope
    assert scope
    assert bench.other_price
    engine = open_engine(sqlite_url)
    stall = Stall(
        Street(engine, tmp_path),
        bench.target,
        clock=WallClock(),
        currency=scope.currency,
        tax_basis=scope.tax_basis.value,
        timings=TIMINGS,
        places={"channel": scope.channel, "price_list": scope.price_list},
    )
    sku = bench.take()
    base, price = bench.price(sku), bench.other_price(sku)
    made = stall.decide({sku: (price, price - Decimal("0.20"))}, at=datetime.now(UTC) - timedelta(minutes=21))
    assert run(stall, bench, made[sku]) is State.VERIFIED
    assert (bench.other_price(sku), bench.price(sku)) == (price - Decimal("0.20"), base)
    [found] = verify.patrol(stall.publisher(), bench.target.name, now=stall.clock())
    assert (found.ok, stall.letters()) == (True, [])
    engine.dispose()


@pytest.mark.parametrize("bench", [name for name in PLATFORMS if name != "file"], indirect=True)
def test_the_answer_is_lost(stall: Stall, bench: Bench) -> None:
    """Also where the answer would have been the number of an operation that is done later."""
    assert bench.proxy
    sku = bench.take()
    before = bench.price(sku)
    [of] = decide(stall, bench, sku)
    bench.proxy.faults.append(Fault("drop", bench.write))
    assert run(stall, bench, of) is State.VERIFIED
    assert bench.price(sku) == before - Decimal("0.20")
    assert bench.proxy.count(bench.write) == 1
