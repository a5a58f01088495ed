"""Writes that land late, waits that the shop asks for, and what else stays of an earlier attempt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from pricecrawl.db.holds import HoldStore
from pricecrawl.pricing.ports import (
    Accepted,
    Applied,
    OperationRef,
    Rejected,
    TargetRef,
    TargetUnavailable,
    Throttled,
    Unknown,
    WritePrice,
)
from pricecrawl.pricing.states import State
from pricecrawl.workflows import holds, letters, publish
from tests.workflows.shelf import SETTLE, Shelf
from tests.workflows.stall import QUICK, Stall
from tests.workflows.street import Street


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def test_a_write_later_than_the_settle_time(stall: Stall, shelf: Shelf) -> None:
    """It lands between the last look and the second write: ours, and no one else's."""
    first = stall.one("20.00", "19.40")
    assert stall.publish(first).status is State.VERIFIED
    stall.clock.now += timedelta(minutes=1)
    of = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    late: list[WritePrice] = []

    def swallow(command: WritePrice) -> Unknown:
        late.append(command)
        return Unknown("timeout")

    shelf.answers.append(swallow)
    pub = stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    while not late or stall.publication(of).status != "PUBLISH_PENDING":
        after = publish.step(pub, name, now=stall.clock())
        stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
    shelf.apply(late[0])
    after = stall.run(name)
    assert after.status is State.VERIFIED
    assert len(shelf.writes) == 2
    assert stall.current("K-7") == Decimal("19.00")
    assert stall.letters() == []


@pytest.mark.parametrize("replayed", [False, True])
def test_an_earlier_decision_does_not_go_before_one_that_waits(
    stall: Stall, shelf: Shelf, replayed: bool
) -> None:
    """It was on its way when the later one was asked for, and came to nothing: its next attempt is none."""
    first, pub = stall.one("20.00", "19.40"), stall.publisher()
    one = publish.request(pub, first, "shelf", now=stall.clock())
    shelf.answers.append(Unknown("lost"))
    publish.step(pub, one, now=stall.clock())
    second = again(stall, "19.30")
    two = publish.request(pub, second, "shelf", now=stall.clock())
    if replayed:
        tired = stall.publisher(timings=replace(QUICK, max_attempts=1))
        assert stall.run(one, tired).status is State.PUBLISH_FAILED
        letters.replay(pub, stall.letters("publication")[0].id, now=stall.clock())
    assert stall.run(one).status is State.STALE
    assert stall.run(two).status is State.VERIFIED
    assert (shelf.prices["K-7"], len(shelf.writes)) == (Decimal("19.30"), 2)
    assert stall.letters() == []


def test_a_late_write_and_a_hold(stall: Stall, shelf: Shelf) -> None:
    """A hold lets nothing be written; it does not make what is there somebody else's."""
    of, late = stall.one(), list[WritePrice]()

    def swallow(command: WritePrice) -> Unknown:
        late.append(command)
        return Unknown("timeout")

    shelf.answers.append(swallow)
    pub = stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    while stall.publication(of).status != "PUBLISH_PENDING" or not late:
        after = publish.step(pub, name, now=stall.clock())
        stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
    shelf.apply(late[0])
    holds.place(HoldStore(stall.street.engine), "sku", "K-7", reason="storm", by="ann", now=stall.clock())
    assert stall.run(name).status is State.VERIFIED
    assert (len(shelf.writes), stall.current("K-7")) == (1, Decimal("19.40"))


def test_lag_counts_from_the_last_write(stall: Stall, shelf: Shelf) -> None:
    shelf.capabilities = replace(shelf.capabilities, read_lag=SETTLE)
    of = stall.one()
    late: list[WritePrice] = []

    def lagging(command: WritePrice) -> Applied:
        late.append(command)
        return Applied()

    shelf.answers += [Unknown("lost"), lagging]
    pub = stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    while not late:
        after = publish.step(pub, name, now=stall.clock())
        stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
    for _ in range(3):
        after = publish.step(pub, name, now=stall.clock())
        stall.clock.sleep(1)
    assert after.status is State.VERIFYING, after
    shelf.apply(late[0])
    assert stall.run(name).status is State.VERIFIED


@pytest.mark.parametrize(("seconds", "writes"), [(59, 1), (61, 0), (121, 0)])
def test_a_shop_that_takes_long_to_say_what_it_has(
    stall: Stall, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, seconds: float, writes: int
) -> None:
    """The lease runs meanwhile: past the half of it nothing is sent any more."""
    ticks, listen = [100.0], shelf._listen
    monkeypatch.setattr("pricecrawl.workflows.publish.time.monotonic", lambda: ticks[0])
    of, pub = stall.one(), stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())

    def slowly() -> None:
        ticks[0] += seconds / 2  # it is asked twice
        listen()

    shelf._listen = slowly  # type: ignore[method-assign]
    publish.step(pub, name, now=stall.clock())
    assert len(shelf.writes) == writes
    shelf._listen = listen  # type: ignore[method-assign]
    assert stall.run(name).status is State.VERIFIED
    assert len(shelf.writes) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.5, None])
def test_throttled_for_a_moment(stall: Stall, shelf: Shelf, seconds: float | None) -> None:
    """A shop that asks for no pause gets ours: five attempts at once would be the end of it."""
    of = stall.one()
    shelf.answers += [Throttled(seconds)] * 4
    began = stall.clock()
    assert stall.publish(of).status is State.VERIFIED
    assert stall.clock() - began >= timedelta(seconds=2 + 4 + 8 + 16)


@pytest.mark.parametrize("seconds", [QUICK.patience.total_seconds() + 1, 999_999_999.0])
def test_asked_to_come_back_in_a_generation(stall: Stall, shelf: Shelf, seconds: float) -> None:
    """Before the write, and when we look afterwards."""
    of, pub = stall.one(), stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    listen = shelf._listen

    def busy() -> None:
        raise TargetUnavailable("busy", throttled=True, retry_after_s=seconds)

    shelf._listen = busy  # type: ignore[method-assign]
    after = publish.step(pub, name, now=stall.clock())
    assert after.at == stall.clock() + QUICK.patience
    stall.clock.now = after.at
    shelf._listen = listen  # type: ignore[method-assign]
    publish.step(pub, name, now=stall.clock())
    shelf._listen = busy  # type: ignore[method-assign]
    after = publish.step(pub, name, now=stall.clock())
    assert (after.status, after.at) == (State.VERIFYING, stall.clock() + QUICK.patience)


def test_the_lease_of_another_publication(stall: Stall, shelf: Shelf) -> None:
    """One that failed is closed for good while another one of the same price is at work."""
    first, pub = stall.one("20.00", "19.40"), stall.publisher()
    one = publish.request(pub, first, "shelf", now=stall.clock())
    shelf.answers.append(Accepted(OperationRef("op-1", TargetRef("K-7", "id-K-7"))))
    publish.step(pub, one, now=stall.clock())
    second = again(stall, "19.30")
    two = publish.request(pub, second, "shelf", now=stall.clock())
    shelf.polls.append(Rejected("forbidden", "no"))
    assert stall.run(one).status is State.PUBLISH_FAILED
    third = again(stall, "19.20")

    def meanwhile(command: WritePrice) -> Applied:
        publish.request(stall.publisher("publisher-b"), third, "shelf", now=stall.clock())
        return shelf.apply(command)

    shelf.answers.append(meanwhile)
    assert stall.run(two).status is State.VERIFIED
    assert stall.publication(first).status == "STALE"
    # The answer was taken down: its authorship needs no proof.
    assert stall.publication(second).verdict_detail == ""


def test_nobody_is_asked_about_what_was_overtaken(stall: Stall, shelf: Shelf) -> None:
    first = stall.one("20.00", "19.40")
    shelf.answers.append(Rejected("forbidden", "no"))
    assert stall.publish(first).status is State.PUBLISH_FAILED
    assert len(stall.letters("publication")) == 1
    assert stall.publish(again(stall, "19.30")).status is State.VERIFIED
    assert (stall.publication(first).status, stall.letters()) == ("STALE", [])


def test_an_adapter_that_breaks_when_it_is_asked(stall: Stall, shelf: Shelf) -> None:
    """About a write that the shop has taken that says nothing: it is asked again."""
    operation = OperationRef("op-1", TargetRef("K-7", "id-K-7"))
    sent: list[WritePrice] = []

    def take(command: WritePrice) -> Accepted:
        sent.append(command)
        return Accepted(operation)

    shelf.answers.append(take)
    of, pub = stall.one(), stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    publish.step(pub, name, now=stall.clock())
    for _ in range(2):  # there is no answer for it to give
        stall.clock.sleep(60)
        assert publish.step(pub, name, now=stall.clock()).status is State.PUBLISHING
    shelf.polls.append(shelf.apply(sent[0]))
    stall.clock.sleep(60)
    assert stall.run(name).status is State.VERIFIED


def again(stall: Stall, market: str) -> str:
    """Another decision from 20.00, some time after the last one."""
    stall.clock.now += timedelta(minutes=1)
    of = stall.decide({"K-7": ("20.00", market)}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    return of
