"""Many prices at once: canaries first, and a breaker over what moves within a window."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import price_decision
from pricecrawl.domain.errors import Refused
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.pricing.policy import read_policy
from pricecrawl.pricing.ports import Accepted, Applied, OperationRef, Rejected, TargetRef
from pricecrawl.pricing.states import State
from pricecrawl.workflows import batch, policies, publish, review
from pricecrawl.workflows.batch import Batch
from pricecrawl.workflows.publisher import Next
from tests.factories import NOON
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street

COUNT = 60


def of_id(of: str) -> Any:
    return price_decision.c.decision_id == of


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
    assert batch.waiting(stall.publisher(), "shelf", now=stall.clock()) == []


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


def in_portions(stall: Stall, shelf: Shelf) -> list[str]:
    """Decided ten at a time, hours apart, under a policy that lets offers grow old."""
    body = {
        "version": "patient",
        "valid_from": "2026-01-01",
        "default": {"freshness_cap_minutes": 100_000, "cadence_minutes": {"B": 50_000}},
    }
    store = PolicyStore(stall.street.engine)
    policies.propose(store, read_policy(body), by="ann", now=NOON)
    policies.approve(store, "patient", by="bob", reason="a test", now=NOON)
    decisions = []
    for part in range(0, COUNT, 10):
        names = NAMES[part : part + 10]
        for name in names:
            shelf.put(name, "20.00")
        made = stall.decide(dict.fromkeys(names, ("20.00", "19.90")), at=stall.clock())
        decisions += [made[name] for name in names]
        stall.clock.sleep(3 * 3600)
    return decisions


def test_too_much_moves_one_by_one(stall: Stall, shelf: Shelf) -> None:
    """Asked for singly, as over HTTP, they are counted all the same: 20 of 60 SKUs are too many."""
    decisions = in_portions(stall, shelf)
    for of in decisions[:19]:
        assert stall.publish(of).status is State.VERIFIED
    one = decisions[19]
    with pytest.raises(Refused, match="waits for review: too much moved within 60 minutes"):
        stall.publish(one)
    row = stall.decision(one)
    assert (row.status, row.findings[-1]["code"]) == ("REVIEW_REQUIRED", "mass_change")
    assert stall.street.events(f"sku:{row.sku}")[-1] == "approval.requested"
    assert len(shelf.writes) == 19
    # What a person has seen goes out, and an hour later the window has moved on.
    review.approve(ReviewStore(stall.street.engine), one, by="bob", reason="fine", now=stall.clock())
    assert stall.publish(one).status is State.VERIFIED
    stall.clock.sleep(3601)
    assert stall.publish(decisions[20]).status is State.VERIFIED


def test_what_waits_to_be_written_counts_too(stall: Stall, shelf: Shelf) -> None:
    decisions = in_portions(stall, shelf)
    pub = stall.publisher()
    for of in decisions[:19]:
        publish.request(pub, of, "shelf", now=stall.clock())
    with pytest.raises(Refused, match="too much moved"):
        publish.request(pub, decisions[19], "shelf", now=stall.clock())


def test_what_is_not_approved_is_refused_by_name_when_too_much_moves(stall: Stall, shelf: Shelf) -> None:
    decisions = in_portions(stall, shelf)
    with stall.street.engine.begin() as tx:
        tx.execute(price_decision.update().values(status="STALE").where(of_id(decisions[0])))
    done = go(stall, decisions)
    assert len(done.recalled) == COUNT - 1
    assert "is stale" in done.refused[decisions[0]]


def test_no_canary_could_be_written(stall: Stall, shelf: Shelf) -> None:
    """All of them went out from another price than the shop has: nothing is proven, so nothing follows."""
    decisions = prepare(stall, shelf)
    first = batch.plan(stall.publisher(), decisions, "shelf", now=stall.clock()).first
    for of in first:
        shelf.put(stall.decision(of).sku, "2000")
    done = go(stall, decisions)
    assert (done.verified, shelf.writes, done.recalled) == (0, [], {})
    assert len(done.refused) == COUNT - 3
    assert "none of the 3 prices that went first could be written" in next(iter(done.refused.values()))
    # Those that are left are still approved: others go first the next time.
    assert go(stall, list(done.refused)).verified == COUNT - 3


def test_a_price_that_stays_is_not_published(stall: Stall, shelf: Shelf) -> None:
    """Every quarter of an hour most prices stay: the shop is not asked about each of them."""
    decisions = prepare(stall, shelf, moved=10)
    assert {stall.decision(of).status for of in decisions} == {"APPROVED"}
    assert set(batch.waiting(stall.publisher(), "shelf", now=stall.clock())) == set(decisions[:10])


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


def test_canaries_that_are_still_on_their_way(stall: Stall, shelf: Shelf) -> None:
    """A shop that takes its time has refused nothing: the rest waits, and nobody has to review it."""
    decisions = prepare(stall, shelf)
    operation = OperationRef("op", TargetRef("K", "id-K"))
    shelf.answers += [Accepted(operation)] * 3
    shelf.polls += [Accepted(operation)] * 100
    pub = stall.publisher()

    def patiently(of: str) -> Next:
        patience = timedelta(seconds=30)
        return publish.run(pub, of, clock=stall.clock, sleep=stall.clock.sleep, patience=patience)

    done = batch.publish_batch(pub, decisions, "shelf", run=patiently, clock=stall.clock)
    assert (len(shelf.writes), done.recalled) == (3, {})
    assert "3 of 3 prices that went first are still on their way" in next(iter(done.refused.values()))
    assert {stall.decision(of).status for of in done.refused} == {"APPROVED"}


@pytest.mark.parametrize("missing", [1, 3])
def test_a_canary_that_the_shop_does_not_have(stall: Stall, shelf: Shelf, missing: int) -> None:
    """It says nothing against the other prices; where none of them is there, the rest is not tried."""
    decisions = prepare(stall, shelf)
    first = batch.plan(stall.publisher(), decisions, "shelf", now=stall.clock()).first
    for of in first[:missing]:
        del shelf.prices[stall.decision(of).sku]
    done = go(stall, decisions)
    assert done.recalled == {}
    assert [letter.correlation_id for letter in stall.letters("publication")] == list(first[:missing])
    if missing == 1:
        assert (done.verified, done.refused) == (COUNT - 1, {})
    else:
        assert (done.verified, len(done.refused)) == (0, COUNT - 3)
