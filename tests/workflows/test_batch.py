"""Many prices at once: canaries first, and a breaker over what moves within a window."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pricecrawl.db.reviews import ReviewStore
from pricecrawl.domain.errors import Refused
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.pricing.ports import Applied, Rejected
from pricecrawl.workflows import batch, review
from pricecrawl.workflows.batch import Batch
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street

COUNT = 60
NAMES = [f"K-{number:03d}" for number in range(COUNT)]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def prepare(stall: Stall, shelf: Shelf, moved: int = COUNT) -> list[str]:
    """Decisions for all names, the first `moved` of which change a price; so many may."""
    stall.open_breaker(canary_min_batch=50)
    for name in NAMES:
        shelf.put(name, "20.00")
    prices = {name: ("20.00", "19.90" if number < moved else "20.00") for number, name in enumerate(NAMES)}
    made = stall.decide(prices)
    return [made[name] for name in NAMES]


def go(stall: Stall, decisions: list[str]) -> Batch:
    pub = stall.publisher()
    return batch.publish_batch(pub, decisions, "shelf", run=lambda of: stall.run(of, pub), clock=stall.clock)


def test_canaries_first(stall: Stall, shelf: Shelf) -> None:
    decisions = prepare(stall, shelf)
    done = go(stall, decisions)
    assert (done.verified, done.refused, done.recalled) == (COUNT, {}, {})
    # 5 % of 60, before anything else.
    assert len(done.canaries) == 3
    first = [command.decision_id for command in shelf.writes[:3]]
    assert set(first) == set(done.canaries)
    assert batch.waiting(stall.publisher()) == []


def test_a_canary_that_fails_stops_the_rest(stall: Stall, shelf: Shelf) -> None:
    decisions = prepare(stall, shelf)
    shelf.answers.append(Rejected("forbidden", "no"))
    done = go(stall, decisions)
    assert len(done.recalled) == COUNT - 3
    assert {command.decision_id for command in shelf.writes} == set(done.canaries)
    one = next(iter(done.recalled))
    row = stall.decision(one)
    assert row.status == "REVIEW_REQUIRED"
    assert row.findings[-1]["code"] == "canary_failed"
    # A person looked: what they approve goes out, canary or not.
    review.approve(ReviewStore(stall.street.engine), one, by="bob", reason="fine", now=stall.clock())
    assert go(stall, [one]).verified == 1


def test_too_much_moves(stall: Stall, shelf: Shelf) -> None:
    """Decided in quiet portions, published all at once: the window of the publisher counts too."""
    decisions = []
    for part in range(0, COUNT, 10):
        names = NAMES[part : part + 10]
        for name in names:
            shelf.put(name, "20.00")
        at = stall.clock()
        made = stall.decide(dict.fromkeys(names, ("20.00", "19.90")), at=at)
        decisions += [made[name] for name in names]
        stall.clock.sleep(3 * 3600)
    assert {stall.decision(of).status for of in decisions} == {"APPROVED"}
    done = go(stall, decisions)
    assert len(done.recalled) == COUNT
    assert shelf.writes == []
    assert stall.decision(decisions[0]).findings[-1]["code"] == "mass_change"


def test_what_cannot_be_published_does_not_stop_the_rest(stall: Stall, shelf: Shelf) -> None:
    decisions = prepare(stall, shelf, moved=10)
    done = go(stall, [*decisions[:5], "nothing"])
    assert done.verified == 5
    assert "no decision" in done.refused["nothing"]
    assert len(shelf.applied) == 5
    assert shelf.prices[NAMES[0]] == Decimal("19.90")


def test_only_the_publisher(stall: Stall) -> None:
    with pytest.raises(Refused):
        stall.publisher(by=Principal("olga", Role.OWNER))


def test_a_canary_whose_price_did_not_hold(stall: Stall, shelf: Shelf) -> None:
    """The shop says yes and does nothing: found by reading back, before anything else is written."""
    decisions = prepare(stall, shelf)
    shelf.answers += [Applied()] * COUNT
    done = go(stall, decisions)
    assert len(done.recalled) == COUNT - 3
    assert len(shelf.writes) == 3
