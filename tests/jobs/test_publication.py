"""Publications as durable workflows, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from pricecrawl.db.tables import publication as publication_table
from pricecrawl.jobs import engine as jobs
from pricecrawl.jobs import publication
from pricecrawl.pricing.ports import Rejected, TargetRef
from pricecrawl.pricing.states import State
from pricecrawl.workflows import letters, publish
from pricecrawl.workflows.publisher import Boundary, Publisher, Timings
from tests.workflows.shelf import Shelf, WallClock
from tests.workflows.stall import Stall
from tests.workflows.street import Street

TIMINGS = Timings(
    lease=timedelta(seconds=2),
    backoff=(timedelta(milliseconds=100), timedelta(seconds=1)),
    settle=timedelta(milliseconds=300),
)
NAMES = [f"K-{number:03d}" for number in range(12)]

# One engine a process at a time.
pytestmark = pytest.mark.xdist_group("jobs")


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(engine: Engine, tmp_path: Path, shelf: Shelf) -> Stall:
    stall = Stall(Street(engine, tmp_path), shelf, clock=WallClock(), timings=TIMINGS)
    stall.open_breaker(canary_min_batch=10)
    return stall


def decide(stall: Stall, shelf: Shelf) -> list[str]:
    for name in NAMES:
        shelf.put(name, "20.00")
    at = datetime.now(UTC) - timedelta(minutes=21)
    made = stall.decide(dict.fromkeys(NAMES, ("20.00", "19.80")), at=at)
    return [made[name] for name in NAMES]


@contextmanager
def worker(stall: Stall, url: str, pub: Publisher) -> Iterator[None]:
    settings = jobs.EngineSettings(url, pub.owner, writers=4, polling=0.05)
    with publication.serving(pub), jobs.running(settings):
        yield


def test_a_batch_canaries_first(stall: Stall, shelf: Shelf, database_url: str) -> None:
    decisions = decide(stall, shelf)
    pub = stall.publisher("worker:1")
    with worker(stall, database_url, pub):
        done = publication.start_batch(decisions, "shelf", name="monday").get_result(
            polling_interval_sec=0.05
        )
        again = publication.start_batch(decisions, "shelf", name="monday").get_result(
            polling_interval_sec=0.05
        )
    assert again == done
    assert {item["status"] for item in done["results"].values()} == {"VERIFIED"}
    assert len(done["results"]) == len(shelf.writes) == len(NAMES)
    assert done["canaries"] == [shelf.writes[0].decision_id]
    assert stall.unbroken()


def test_a_canary_that_fails(stall: Stall, shelf: Shelf, database_url: str) -> None:
    decisions = decide(stall, shelf)
    shelf.answers.append(Rejected("forbidden", "no"))
    with worker(stall, database_url, stall.publisher("worker:1")):
        done = publication.start_batch(decisions, "shelf", name="tuesday").get_result(
            polling_interval_sec=0.05
        )
    assert (len(shelf.writes), len(done["recalled"])) == (1, len(NAMES) - 1)
    assert stall.decision(next(iter(done["recalled"]))).status == "REVIEW_REQUIRED"


def test_what_a_dead_worker_left(stall: Stall, shelf: Shelf, database_url: str) -> None:
    """Asked for and never begun, begun and not ended, failed and replayed: a worker finds them all."""
    decisions = decide(stall, shelf)
    dead = stall.publisher("worker:dead", on=_die_at_intent)
    names = [publish.request(dead, of, "shelf", now=stall.clock()) for of in decisions[:3]]
    with pytest.raises(_Died):
        publish.step(dead, names[1], now=stall.clock())
    pub = stall.publisher("worker:2")
    with worker(stall, database_url, pub):
        assert set(publication.resume(pub, now=datetime.now(UTC))) == {names[0], names[2]}
        publication.work(pub, every=0.1, once=True)
        assert {row.status for row in stall.street.rows(publication_table)} == {"VERIFIED"}
        assert len(shelf.writes) == 3
        # A publication that failed for good keeps the name of its workflow; replayed, it is another one.
        shelf.answers.append(Rejected("forbidden", "no"))
        late = publish.request(pub, decisions[3], "shelf", now=stall.clock())
        publication.work(pub, every=0.1, once=True)
        assert stall.publication(decisions[3]).status == "PUBLISH_FAILED"
        letters.replay(pub, stall.letters("publication")[0].id, now=stall.clock())
        publication.work(pub, every=0.1, once=True)
        assert stall.publication(decisions[3]).status == "VERIFIED"
        assert publication.start(late).get_result(polling_interval_sec=0.05)["status"] == "PUBLISH_FAILED"
    assert shelf.prices[NAMES[0]] == Decimal("19.80")


def test_two_workers(stall: Stall, shelf: Shelf, database_url: str) -> None:
    """A publisher outside the engine at the same publications: each price is written once."""
    decisions = decide(stall, shelf)
    pub, other = stall.publisher("worker:3"), stall.publisher("command:1")
    names = [publish.request(pub, of, "shelf", now=stall.clock()) for of in decisions]

    def by_hand() -> None:
        for of in reversed(names):
            publish.run(other, of, clock=stall.clock)

    thread = threading.Thread(target=by_hand)
    with worker(stall, database_url, pub):
        thread.start()
        publication.work(pub, every=0.1, once=True)
        thread.join(60)
    assert len(shelf.applied) == len(names)
    assert {row.status for row in stall.street.rows(publication_table)} == {"VERIFIED"}


def test_a_worker_without_a_target(stall: Stall, shelf: Shelf, database_url: str) -> None:
    """It takes up nothing that it cannot write, and says so if it is asked to."""
    decisions = decide(stall, shelf)
    publish.request(stall.publisher(), decisions[0], "shelf", now=stall.clock())
    stray = Publisher(stall.store, {}, stall.publisher().by, "worker:4")
    with worker(stall, database_url, stray):
        began = time.monotonic()
        publication.work(stray, every=5, once=True)
        assert time.monotonic() - began < 5
    assert shelf.writes == []


class _Died(BaseException):
    """The end of a process, as far as one process can show it."""


def _die_at_intent(boundary: Boundary, _: str) -> None:
    if boundary is Boundary.INTENDED:
        raise _Died


def test_a_worker_outlives_one_bad_look(stall: Stall, shelf: Shelf) -> None:
    """Something breaks while the shop is watched: the next look finds what the first one would have."""
    assert stall.publish(decide(stall, shelf)[0]).status is State.VERIFIED
    shelf.put(NAMES[0], "2.00")
    read, broken = shelf.read, [RuntimeError("a bug in an adapter")]

    def once_broken(*args: Any, **more: Any) -> Any:
        if broken:
            raise broken.pop()
        return read(*args, **more)

    shelf.read = once_broken  # type: ignore[method-assign]
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    publication.work(stall.publisher(), every=0.1, patrol=timedelta(milliseconds=50))
    assert broken == []
    assert [letter.payload["found"] for letter in stall.letters("incident")] == ["2.00"]


def test_prices_go_out_while_the_shops_are_watched(stall: Stall, shelf: Shelf, database_url: str) -> None:
    """A look at thousands of prices takes an hour: what is asked for meanwhile does not wait for its end."""
    decisions = decide(stall, shelf)
    assert stall.publish(decisions[0]).status is State.VERIFIED
    pub = stall.publisher("worker:5")
    read, looking, enough = shelf.read, threading.Event(), threading.Event()

    def slow(ref: TargetRef, *more: Any, **options: Any) -> Any:
        if ref.sku == NAMES[0]:
            looking.set()
            enough.wait(60)
        return read(ref, *more, **options)

    shelf.read = slow  # type: ignore[method-assign]
    seen = []

    def ask() -> None:
        looking.wait(60)
        name = publish.request(pub, decisions[1], "shelf", now=stall.clock())
        for _ in range(600):
            with stall.street.engine.connect() as conn:
                row = stall.store.get(conn, name)
            if row is not None and row["status"] == "VERIFIED":
                seen.append(enough.is_set())
                break
            time.sleep(0.1)
        enough.set()
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask)
    with worker(stall, database_url, pub):
        asking.start()
        publication.work(pub, every=0.1, patrol=timedelta(hours=1))
        asking.join(60)
    assert seen == [False]
