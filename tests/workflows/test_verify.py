"""Second looks at what was published, while other prices come and go in its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.pricing.ports import Applied, PriceKindAtTarget, Rejected, TargetUnavailable, WritePrice
from pricecrawl.pricing.states import State
from pricecrawl.workflows import adopt, letters, publish, verify
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def later(stall: Stall, current: str, market: str) -> str:
    """Another decision, some time after the last one."""
    stall.clock.now += timedelta(minutes=1)
    of = stall.decide({"K-7": (current, market)}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    return of


def test_what_failed_and_was_overtaken(stall: Stall, shelf: Shelf) -> None:
    """The price that took its place is nobody else's: no incident, and the old one is settled."""
    first = stall.one("20.00", "19.40")
    shelf.answers.append(Applied())
    assert stall.publish(first).status is State.VERIFICATION_FAILED
    second = later(stall, "20.00", "19.30")
    assert stall.publish(second).status is State.VERIFIED
    pub, name = stall.publisher(), stall.publication(first).publication_id
    [open_one] = stall.letters("incident")
    found = verify.again(pub, name, now=stall.clock())
    assert (found.ok, found.status) == (True, State.VERIFICATION_FAILED)
    assert "took its place" in found.detail
    assert stall.letters("incident") == [open_one]
    letters.replay(pub, open_one.id, now=stall.clock())
    assert stall.letters() == []


def test_while_the_next_price_is_written(stall: Stall, shelf: Shelf) -> None:
    """What the shop has then is ours already, though it is not verified yet."""
    first = stall.one("20.00", "19.40")
    assert stall.publish(first).status is State.VERIFIED
    pub = stall.publisher()
    name = publish.request(pub, later(stall, "19.40", "19.00"), "shelf", now=stall.clock())
    publish.step(pub, name, now=stall.clock())
    assert shelf.prices["K-7"] == Decimal("19.00")
    found = verify.again(pub, stall.publication(first).publication_id, now=stall.clock())
    assert found.ok
    assert "is being written" in found.detail
    assert stall.letters() == []


@pytest.mark.parametrize("steps", [1, 2])
def test_the_next_price_comes_while_we_look(stall: Stall, shelf: Shelf, steps: int) -> None:
    """It is written, or verified too, after the look began."""
    first = stall.one("20.00", "19.40")
    assert stall.publish(first).status is State.VERIFIED
    pub = stall.publisher()
    second, listen, due = later(stall, "19.40", "19.00"), shelf._listen, [steps]

    def meanwhile() -> None:
        if due:
            more = due.pop()
            name = publish.request(pub, second, "shelf", now=stall.clock())
            for _ in range(more):
                publish.step(pub, name, now=stall.clock())
        listen()

    shelf._listen = meanwhile  # type: ignore[method-assign]
    assert [found.ok for found in verify.patrol(pub, "shelf", now=stall.clock())] == [True]
    assert due == []
    assert stall.letters() == []


def test_taken_over_while_we_look(stall: Stall, shelf: Shelf) -> None:
    """Somebody takes the shop's price over between our reading and our saying that it is another."""
    assert stall.publish(stall.one()).status is State.VERIFIED
    shelf.put("K-7", "18.00")
    pub, read, due = stall.publisher(), shelf.read, ["ann"]

    def meanwhile(*given: Any, **more: Any) -> Any:
        state = read(*given, **more)
        if due:
            adopt.adopt(pub, "shelf", "K-7", reason="a sale", by=due.pop(), now=stall.clock())
        return state

    shelf.read = meanwhile  # type: ignore[method-assign]
    [found] = verify.patrol(pub, "shelf", now=stall.clock())
    assert (found.ok, found.detail, stall.letters()) == (True, "taken over by ann", [])


def test_a_later_price_that_came_to_trouble(stall: Stall, shelf: Shelf) -> None:
    """What the shop has is known of: one incident, until somebody settles it; then anew if it changes."""
    assert stall.publish(stall.one("20.00", "19.40")).status is State.VERIFIED

    def clumsy(command: WritePrice) -> Applied:
        shelf.siblings["K-7"] = Decimal(3)
        return shelf.apply(command)

    shelf.answers.append(clumsy)
    assert stall.publish(later(stall, "19.40", "19.00")).status is State.VERIFICATION_FAILED
    pub = stall.publisher()
    [known] = stall.letters("incident")
    [found] = verify.patrol(pub, "shelf", now=stall.clock())
    assert not found.ok
    assert "its incident is open" in found.detail
    assert stall.letters("incident") == [known]
    assert stall.publish(later(stall, "19.40", "18.90")).status is State.STALE
    assert stall.letters("incident") == [known]
    with stall.street.engine.begin() as tx:
        pub.letters.close(tx, known.id, now=stall.clock())
    verify.patrol(pub, "shelf", now=stall.clock())
    assert [letter.payload["what"] for letter in stall.letters("incident")] == ["foreign_write"]


def test_a_kind_of_price_that_was_verified(stall: Stall, shelf: Shelf) -> None:
    """A price that was on sale when we wrote it is not "changed" at every later look."""
    read = shelf.read

    def on_sale(*given: object, **more: object) -> object:
        return replace(read(*given, **more), kind=PriceKindAtTarget.SALE)  # type: ignore[arg-type]

    shelf.read = on_sale  # type: ignore[method-assign,assignment]
    assert stall.publish(stall.one()).status is State.VERIFIED
    assert [found.ok for found in verify.patrol(stall.publisher(), "shelf", now=stall.clock())] == [True]
    assert stall.letters() == []


def test_a_shop_that_is_away(stall: Stall, shelf: Shelf) -> None:
    """Nothing is judged, it is said, and the shop is not asked about each of its prices."""
    names = [f"K-{number}" for number in range(8)]
    for name in names:
        shelf.put(name, "20.00")
    pub = stall.publisher()
    for of in stall.decide(dict.fromkeys(names, ("20.00", "19.40"))).values():
        assert stall.publish(of, pub).status is State.VERIFIED
    shelf.deaf = 2
    found = verify.patrol(pub, "shelf", now=stall.clock())
    assert [item.read for item in found].count(False) == 2
    asked = 0

    def away() -> None:
        nonlocal asked
        asked += 1
        raise TargetUnavailable("no answer")

    shelf._listen = away  # type: ignore[method-assign]
    found = verify.patrol(pub, "shelf", now=stall.clock())
    assert [(item.ok, item.read) for item in found] == [(True, False)] * len(names)
    assert asked == 3
    assert verify.patrol(pub, "shelf", now=stall.clock(), stop=lambda: True) == []


def test_what_stands_is_found_without_its_history(stall: Stall, shelf: Shelf) -> None:
    """A price that moves daily has hundreds of publications in a year, of which the last are read."""
    decisions = [stall.one("20.00", "19.40")]
    assert stall.publish(decisions[0]).status is State.VERIFIED
    for current, market in (("19.40", "19.20"), ("19.20", "19.10"), ("19.10", "19.00")):
        decisions.append(later(stall, current, market))
        assert stall.publish(decisions[-1]).status is State.VERIFIED
    shelf.answers.append(Rejected("forbidden", "no"))
    decisions.append(later(stall, "19.00", "18.90"))
    assert stall.publish(decisions[-1]).status is State.PUBLISH_FAILED
    rows = [stall.publication(of) for of in decisions]
    store, place = stall.store, ("shelf", "K-7", rows[0].scope)
    with stall.street.engine.connect() as conn:

        def names(found: list[Any]) -> list[int]:
            return [decisions.index(row["decision_id"]) for row in found]

        assert names(store.standing(conn, "shelf")) == [3]
        assert names(store.standing(conn, "other")) == []
        assert names(store.of_price(conn, *place, after=rows[2].sequence)) == [4, 3]
        assert names(store.of_price(conn, *place, among=("PUBLISH_FAILED",))) == [4]
        assert names(store.of_price(conn, *place, after=rows[3].sequence, among=("VERIFIED",))) == [
            4,
            3,
            2,
            1,
            0,
        ]
        assert names(store.of_price(conn, *place)) == []
        last = store.last_verified(conn, *place)
        other = store.last_verified(conn, *place, but=rows[3].publication_id)
        assert names([last, other]) == [3, 2]
        assert store.last_verified(conn, "other", *place[1:]) is None
        assert [store.verified_after(conn, "K-7", row.sequence) for row in rows] == [
            *(True, True, True, False, False)
        ]
