"""The same against real shops, and a publisher that is really killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from pricecrawl.db.engine import open_engine
from pricecrawl.db.tables import dead_letter, publication
from pricecrawl.pricing.states import State
from pricecrawl.workflows import publish, verify
from pricecrawl.workflows.publisher import Boundary, Timings
from tests.commerce.benches import Bench, oscar_bench, vendure_bench
from tests.shared import examples
from tests.shops.fault_proxy import Fault, http_reply
from tests.shops.running import Oscar, Vendure
from tests.workflows.shelf import WallClock
from tests.workflows.stall import Stall
from tests.workflows.street import Street

ROOT = Path(__file__).resolve().parents[2]
COUNT = 100
TIMINGS = Timings(
    lease=timedelta(seconds=120),
    write_timeout=8.0,
    backoff=(timedelta(milliseconds=200), timedelta(seconds=2)),
    settle=timedelta(seconds=1),
)

VENDURE = pytest.param("vendure", marks=pytest.mark.xdist_group("vendure"))
OSCAR = pytest.param("oscar", marks=pytest.mark.xdist_group("oscar"))

pytestmark = pytest.mark.shop


@pytest.fixture(params=[VENDURE, OSCAR])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A real shop behind a proxy."""
    making = {"vendure": vendure_bench, "oscar": oscar_bench}[request.param]
    with making(request.getfixturevalue(request.param)) as bench:
        bench.target = bench.make(timeout=TIMINGS.write_timeout)
        yield bench


@pytest.fixture
def stall(sqlite_url: str, tmp_path: Path, bench: Bench) -> Iterator[Stall]:
    engine = open_engine(sqlite_url)
    yield a_stall(engine, tmp_path, bench)
    engine.dispose()


def a_stall(engine: Engine, folder: Path, bench: Bench) -> Stall:
    stall = Stall(
        Street(engine, folder),
        bench.target,
        clock=WallClock(),
        currency=bench.scope.currency,
        tax_basis=bench.scope.tax_basis.value,
        timings=TIMINGS,
    )
    stall.open_breaker()
    return stall


def decide(stall: Stall, bench: Bench, count: int) -> dict[str, str]:
    """Decisions to lower `count` prices by one per cent, for SKUs of the shop."""
    prices: dict[str, tuple[Decimal | str, Decimal | str]] = {}
    for _ in range(count):
        sku = bench.shop.take()
        now = bench.price(sku)
        prices[sku] = (now, (now * Decimal("0.99")).quantize(Decimal("0.01")))
    made = stall.decide(prices, at=datetime.now(UTC) - timedelta(minutes=21))
    assert {stall.decision(of).status for of in made.values()} == {"APPROVED"}
    return made


def writes(bench: Bench) -> int:
    assert bench.proxy
    return bench.proxy.count(bench.write)


def wanted(stall: Stall, of: str) -> Decimal:
    price: Decimal = stall.decision(of).proposed_price
    return price


class TestHundred:
    def test_published_read_back_and_watched(self, stall: Stall, bench: Bench) -> None:
        """100 decisions; an independent client finds every price; one is changed behind our back."""
        made = decide(stall, bench, COUNT)
        pub = stall.publisher()
        for of in made.values():
            assert stall.publish(of, pub).status is State.VERIFIED
        assert writes(bench) == COUNT
        for sku, of in made.items():
            assert bench.price(sku) == wanted(stall, of)
        assert stall.unbroken()
        assert all(found.ok for found in verify.patrol(pub, bench.target.name, now=stall.clock()))
        victim = next(iter(made))
        bench.set_price(victim, Decimal("0.01"))
        found = [item for item in verify.patrol(pub, bench.target.name, now=stall.clock()) if not item.ok]
        assert [item.publication_id for item in found] == [stall.publication(made[victim]).publication_id]
        letter = stall.letters("incident")[0]
        assert (letter.payload["what"], letter.payload["found"]) == ("foreign_write", "0.01")
        assert stall.events(made[victim])[-1] == "incident.raised"
        # Watching is not meddling: what somebody set stays set.
        assert bench.price(victim) == Decimal("0.01")


def test_reply_dropped_after_the_write(stall: Stall, bench: Bench) -> None:
    [(sku, of)] = decide(stall, bench, 1).items()
    assert bench.proxy
    bench.proxy.faults.append(Fault("drop", bench.write))
    assert stall.publish(of).status is State.VERIFIED
    assert (bench.price(sku), writes(bench)) == (wanted(stall, of), 1)
    assert "authorship unproven" in stall.publication(of).verdict_detail


def test_cut_before_the_write(stall: Stall, bench: Bench) -> None:
    """The same symptom as a lost reply, the other truth: read, wait, write once more."""
    [(sku, of)] = decide(stall, bench, 1).items()
    assert bench.proxy
    bench.proxy.faults.append(Fault("reset", bench.write))
    assert stall.publish(of).status is State.VERIFIED
    assert (bench.price(sku), writes(bench)) == (wanted(stall, of), 2)


@pytest.mark.parametrize(("header", "least"), [("Retry-After: 2\r\n", 2.0), ("", 0.2)])
def test_throttled(stall: Stall, bench: Bench, header: str, least: float) -> None:
    [(sku, of)] = decide(stall, bench, 1).items()
    assert bench.proxy
    reply = http_reply("429 Too Many Requests", "", header)
    bench.proxy.faults.append(Fault("answer", bench.write, times=2, reply=reply))
    began = time.monotonic()
    assert stall.publish(of).status is State.VERIFIED
    assert time.monotonic() - began >= 2 * least
    assert (bench.price(sku), writes(bench)) == (wanted(stall, of), 3)


def test_a_server_error_after_the_write(stall: Stall, bench: Bench) -> None:
    """HTTP 500 for a write that was made: found by reading, not by writing again."""
    [(sku, of)] = decide(stall, bench, 1).items()
    assert bench.proxy
    bench.proxy.faults.append(Fault("answer", bench.write, reply=http_reply("500 Oops")))
    publisher = stall.publisher()
    name = publish.request(publisher, of, bench.target.name, now=stall.clock())
    publish.step(publisher, name, now=stall.clock())
    bench.set_price(sku, wanted(stall, of))
    assert stall.run(name).status is State.VERIFIED
    assert writes(bench) == 1


def test_stopped_past_the_timeout(stall: Stall, bench: Bench) -> None:
    """The shop hangs with the write inside it, wakes long after we gave up, and writes late."""
    [(sku, of)] = decide(stall, bench, 1).items()
    pid = bench.shop.shop.pid
    pids = [pid, *_children(pid)]
    pub = stall.publisher(timings=replace(TIMINGS, write_timeout=1.0, settle=timedelta(seconds=3)))
    name = publish.request(pub, of, bench.target.name, now=stall.clock())
    with _StopOnWrite(bench, pids):
        publish.step(pub, name, now=stall.clock())
        assert stall.publication(of).status == "PUBLISHING"
        # The shop stays silent: it cannot be read, and that proves nothing.
        after = publish.step(pub, name, now=stall.clock())
        assert after.status is State.PUBLISHING
        assert "cannot be read" in after.why
    assert stall.run(name, pub).status is State.VERIFIED
    assert (bench.price(sku), writes(bench)) == (wanted(stall, of), 1)


class _StopOnWrite:
    """Stops the shop the moment a write has reached it, and lets it go on at the end."""

    def __init__(self, bench: Bench, pids: list[int]) -> None:
        self._bench, self._pids = bench, pids

    def __enter__(self) -> None:
        assert self._bench.proxy
        self._bench.proxy.on_forwarded = self._stop

    def _stop(self, request: bytes) -> None:
        if re.search(self._bench.write, request, re.DOTALL):
            for pid in self._pids:
                os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        assert self._bench.proxy
        self._bench.proxy.on_forwarded = None
        for pid in self._pids:
            os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_two_publishers_race_on_one_sku(stall: Stall, bench: Bench) -> None:
    """Two processes' worth of publishers on the same publication at the same time: one write."""
    made = decide(stall, bench, 6)
    name = bench.target.name
    first, second = stall.publisher("left"), stall.publisher("right")
    for of in made.values():
        publish.request(first, of, name, now=stall.clock())
    publications = [publish.publication_id(name, of) for of in made.values()]
    ends: dict[str, list[State]] = {"left": [], "right": []}

    def run(pub: Any, order: list[str]) -> None:
        for of in order:
            ends[pub.owner].append(publish.run(pub, of, clock=stall.clock).status)  # type: ignore[arg-type]

    threads = [
        threading.Thread(target=run, args=(first, publications)),
        threading.Thread(target=run, args=(second, publications)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ends["left"] == ends["right"] == [State.VERIFIED] * len(made)
    assert writes(bench) == len(made)
    for sku, of in made.items():
        assert bench.price(sku) == wanted(stall, of)


DATABASES = {"vendure": "sqlite_url", "oscar": "pg_url"}


@pytest.mark.parametrize(
    "shop",
    [
        pytest.param("vendure", marks=pytest.mark.xdist_group("vendure")),
        pytest.param("oscar", marks=[pytest.mark.xdist_group("oscar"), pytest.mark.postgres]),
    ],
)
def test_killed_at_every_boundary_twice(shop: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """kill -9 at each boundary, twice, the publisher as a durable workflow: Vendure with SQLite, Oscar
    with PostgreSQL. No double write, no lost write, all verified.
    """
    running: Vendure | Oscar = request.getfixturevalue(shop)
    url: str = request.getfixturevalue(DATABASES[shop])
    making = {"vendure": vendure_bench, "oscar": oscar_bench}[shop]
    engine = open_engine(url)
    with making(running) as bench:  # type: ignore[operator]
        stall = a_stall(engine, tmp_path, bench)
        # Some boundaries are passed once only, however often a publisher dies: two publications there.
        copies = 2 if shop == "vendure" else examples(1, 2)
        made = decide(stall, bench, copies * len(Boundary))
        pub = stall.publisher()
        names = {of: publish.request(pub, of, bench.target.name, now=stall.clock()) for of in made.values()}
        plan = dict(zip(names.values(), [boundary.value for boundary in Boundary] * copies, strict=True))
        assert bench.proxy
        if shop == "vendure":
            target = {"kind": "vendure", "url": bench.proxy.url, "key": running.key}  # type: ignore[union-attr]
        else:
            target = {"kind": "oscar", "url": bench.proxy.url, "user": "admin", "password": "test-only"}
        job = tmp_path / "job.json"
        deaths = tmp_path / "deaths"
        job.write_text(
            json.dumps(
                {
                    "database": url,
                    "executor": "worker-1",
                    "target": target,
                    "publications": list(names.values()),
                    "plan": plan,
                    "deaths": str(deaths),
                }
            )
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tests.jobs.publisher_process", str(job)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        died = Counter(deaths.read_text().split("\n")[:-1])
        assert set(died) == {f"{of} {boundary}" for of, boundary in plan.items()}
        again = {Boundary.CLAIMED, Boundary.READ, Boundary.INTENDED, Boundary.CHECKED}
        assert {of: count for of, count in died.items() if count == 2}.keys() >= {
            f"{of} {boundary}" for of, boundary in plan.items() if boundary in again
        }
        assert json.loads(done.stdout)["lives"] == died.total() + 1
        rows = stall.street.rows(publication)
        assert {row.status for row in rows} == {"VERIFIED"}
        for sku, of in made.items():
            assert bench.price(sku) == wanted(stall, of)
            assert stall.decision(of).status == "VERIFIED"
            assert _writes_of(bench, running, sku, wanted(stall, of)) == 1
        assert stall.street.rows(dead_letter) == []
        assert stall.unbroken()
    engine.dispose()


def _writes_of(bench: Bench, running: Vendure | Oscar, sku: str, price: Decimal) -> int:
    """How many times this very price was sent."""
    assert bench.proxy
    if isinstance(running, Vendure):
        cents = int(price * 100)
        return bench.proxy.count(
            rb"updateProductVariants.*\"id\": \"%s\".*\"price\": %d\D"
            % (running.variant(sku).encode(), cents)
        )
    ref = bench.target.resolve(sku, bench.scope)
    return bench.proxy.count(rb"^PATCH /api/admin/stockrecords/%s/" % ref.id.encode())  # type: ignore[union-attr]
