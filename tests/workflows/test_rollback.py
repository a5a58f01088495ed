"""Back to an earlier verified price, through the same gates."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from pricecrawl.db.audit_pricing import AuditStore
from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.holds import HoldStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import price_decision, publication
from pricecrawl.db.trace import TraceStore
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.pricing.findings import Verdict
from pricecrawl.pricing.ports import Rejected, Throttled, Unknown
from pricecrawl.pricing.states import State
from pricecrawl.workflows import audit, batch, catalogue, evaluate, holds, publish, review, rollback
from pricecrawl.workflows.trace import trace
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street, codes


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def two_prices(stall: Stall) -> tuple[str, str]:
    """20.00 to 19.40, then to 19.00; both verified."""
    first = stall.one("20.00", "19.40")
    assert stall.publish(first).status is State.VERIFIED
    stall.clock.now += timedelta(minutes=1)
    second = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    assert stall.publish(second).status is State.VERIFIED
    stall.clock.now += timedelta(minutes=1)
    return first, second


def back(stall: Stall, **more: str) -> rollback.RolledBack:
    return rollback.request(
        stall.publisher(), "K-7", "shelf", reason="a wrong feed", by="ann", now=stall.clock(), **more
    )


def test_back_to_the_last_verified(stall: Stall, shelf: Shelf) -> None:
    first, second = two_prices(stall)
    found = back(stall)
    assert (found.to, found.amount, found.verdict) == (first, Decimal("19.40"), Verdict.ALLOW)
    assert found.publication_id == stall.publication(second).publication_id
    assert stall.decision(second).status == "VERIFIED"
    assert stall.publish(found.decision_id).status is State.VERIFIED
    assert shelf.prices["K-7"] == stall.current("K-7") == Decimal("19.40")
    assert (stall.decision(second).status, stall.publication(second).status) == ("ROLLED_BACK",) * 2
    made = stall.decision(found.decision_id)
    assert (made.decision_reason, made.steps["rollback"]["reason"]) == ("rollback", "a wrong feed")
    assert made.snapshot_id == stall.decision(first).snapshot_id
    assert stall.publication(found.decision_id).rollback_of == found.publication_id
    assert stall.unbroken()


def test_it_can_be_traced(stall: Stall) -> None:
    """Down to the page that the price came from the first time."""
    two_prices(stall)
    found = back(stall)
    stall.publish(found.decision_id)
    chain = trace(TraceStore(stall.street.engine), stall.street.evidence, found.decision_id)
    assert chain.missing == []
    kinds = [row["event_type"] for row in chain.events]
    assert kinds[:4] == ["rollback.requested", "price.computed", "policy.evaluated", "price.approved"]
    assert audit.run(AuditStore(stall.street.engine)).problems == []


def test_asked_twice_is_one_decision(stall: Stall) -> None:
    two_prices(stall)
    assert back(stall).decision_id == back(stall).decision_id
    rows = stall.street.rows(price_decision, decision_reason="rollback")
    assert len(rows) == 1


def test_to_a_decision_by_name(stall: Stall, shelf: Shelf) -> None:
    first, second = two_prices(stall)
    assert back(stall, to=first).amount == Decimal("19.40")
    with pytest.raises(UsageProblem, match="not verified"):
        back(stall, to=second)


def test_under_todays_floor_a_person_decides(stall: Stall, shelf: Shelf) -> None:
    """Never silent: it waits for review, and only what was reviewed is let through."""
    two_prices(stall)
    raise_floor(stall, "19.70")
    found = back(stall)
    assert found.verdict is Verdict.REVIEW
    assert any("under the floor" in reason for reason in found.reasons)
    with pytest.raises(UsageProblem, match="ann asked for this rollback: somebody else must approve it"):
        review.approve(
            ReviewStore(stall.street.engine), found.decision_id, by="ann", reason="mine", now=stall.clock()
        )
    with pytest.raises(Refused, match="waits for review"):
        stall.publish(found.decision_id)
    review.approve(
        ReviewStore(stall.street.engine),
        f"price:{found.decision_id}",
        by="bob",
        reason="the lesser evil",
        now=stall.clock(),
    )
    assert stall.publish(found.decision_id).status is State.VERIFIED
    assert shelf.prices["K-7"] == Decimal("19.40")
    assert audit.run(AuditStore(stall.street.engine)).problems == []


def test_a_floor_that_rose_after_the_review(stall: Stall, shelf: Shelf) -> None:
    """What was approved was this price under that floor, and no other."""
    two_prices(stall)
    raise_floor(stall, "19.70")
    found = back(stall)
    review.approve(
        ReviewStore(stall.street.engine), found.decision_id, by="bob", reason="fine", now=stall.clock()
    )
    raise_floor(stall, "25.00")
    with pytest.raises(Refused, match="under the floor"):
        stall.publish(found.decision_id)
    assert shelf.prices["K-7"] == Decimal("19.00")


def test_a_large_step_back_is_reviewed_too(stall: Stall, shelf: Shelf) -> None:
    two_prices(stall)
    shelf.put("K-7", "12.00")
    found = back(stall)
    assert found.verdict is Verdict.REVIEW
    assert stall.decision(found.decision_id).current_price == Decimal("12.00")


def test_held(stall: Stall) -> None:
    two_prices(stall)
    holds.place(HoldStore(stall.street.engine), "sku", "K-7", reason="look", by="ann", now=stall.clock())
    assert back(stall).verdict is Verdict.BLOCK


def test_what_came_to_nothing_may_be_asked_for_again(stall: Stall, shelf: Shelf) -> None:
    """A hold that was cleared since, a review that ended, a shop that refused: none is the last word."""
    two_prices(stall)
    held = HoldStore(stall.street.engine)
    holds.place(held, "sku", "K-7", reason="look", by="ann", now=stall.clock())
    blocked = back(stall)
    holds.clear(held, "sku", "K-7", reason="looked", by="ann", now=stall.clock())
    stall.clock.now += timedelta(seconds=1)
    raise_floor(stall, "19.70")
    waiting = back(stall)
    assert (blocked.verdict, waiting.verdict) == (Verdict.BLOCK, Verdict.REVIEW)
    assert back(stall).decision_id == waiting.decision_id
    raise_floor(stall, "1.00")
    stall.clock.now += timedelta(hours=25)
    raise_floor(stall, "1.00")
    again = back(stall)
    assert (again.verdict, stall.decision(waiting.decision_id).status) == (Verdict.ALLOW, "STALE")
    shelf.answers.append(Rejected("forbidden", "no"))
    assert stall.publish(again.decision_id).status is State.PUBLISH_FAILED
    stall.clock.now += timedelta(seconds=1)
    last = back(stall)
    assert len({made.decision_id for made in (blocked, waiting, again, last)}) == 4
    assert stall.publish(last.decision_id).status is State.VERIFIED
    assert shelf.prices["K-7"] == Decimal("19.40")


def test_a_source_that_is_held_does_not_keep_a_wrong_price_out_there(stall: Stall, shelf: Shelf) -> None:
    """Hold the source that misled us, then take back what it did."""
    two_prices(stall)
    held = HoldStore(stall.street.engine)
    holds.place(held, "source", "kettles", reason="a wrong feed", by="ann", now=stall.clock())
    assert stall.publish(back(stall).decision_id).status is State.VERIFIED
    assert shelf.prices["K-7"] == Decimal("19.40")


def test_the_same_price_does_not_come_back_by_itself(stall: Stall, shelf: Shelf) -> None:
    """The evidence that misled us is still there a quarter of an hour later: a person looks first."""
    two_prices(stall)
    stall.publish(back(stall).decision_id)
    stall.clock.now += timedelta(minutes=1)
    again = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    row = stall.decision(again)
    assert (row.status, codes(row)) == ("REVIEW_REQUIRED", {"taken_back"})
    assert "a wrong feed" in row.findings[0]["detail"]
    stall.clock.now += timedelta(minutes=21)
    review.approve(
        ReviewStore(stall.street.engine), again, by="bob", reason="it was right", now=stall.clock()
    )
    assert stall.publish(again).status is State.VERIFIED
    # From here on prices move on their own again.
    stall.clock.now += timedelta(minutes=1)
    third = stall.decide({"K-7": ("19.00", "18.80")}, at=stall.clock())["K-7"]
    assert stall.decision(third).status == "APPROVED"


def test_a_price_that_stays_where_it_was_taken_back_to_is_no_move(stall: Stall) -> None:
    two_prices(stall)
    stall.publish(back(stall).decision_id)
    stall.clock.now += timedelta(minutes=1)
    same = stall.decide({"K-7": ("19.40", "19.40")}, at=stall.clock())["K-7"]
    assert stall.decision(same).status == "APPROVED"


def test_a_rollback_that_waits_is_not_decided_away(stall: Stall, shelf: Shelf) -> None:
    """A pricing run a quarter of an hour later neither ends the review nor moves the price meanwhile."""
    two_prices(stall)
    raise_floor(stall, "19.70")
    found = back(stall)
    assert found.verdict is Verdict.REVIEW
    raise_floor(stall, "1.00")
    stall.clock.now += timedelta(minutes=1)
    run = stall.decide({"K-7": ("19.00", "18.90")}, at=stall.clock())["K-7"]
    row = stall.decision(run)
    assert (row.status, codes(row)) == ("REVIEW_REQUIRED", {"taken_back"})
    assert row.findings[0]["detail"] == "the price is about to be taken back: a rollback waits"
    assert stall.decision(found.decision_id).status == "REVIEW_REQUIRED"
    stall.clock.now += timedelta(minutes=21)
    reviews = ReviewStore(stall.street.engine)
    review.approve(reviews, found.decision_id, by="bob", reason="back", now=stall.clock())
    assert stall.publish(found.decision_id).status is State.VERIFIED
    assert shelf.prices["K-7"] == Decimal("19.40")


def test_a_rollback_that_nobody_took_ends_with_its_time(stall: Stall) -> None:
    two_prices(stall)
    raise_floor(stall, "19.70")
    found = back(stall)
    raise_floor(stall, "1.00")
    stall.clock.now += timedelta(hours=25)
    run = stall.decide({"K-7": ("19.00", "18.90")}, at=stall.clock())["K-7"]
    assert stall.decision(run).status == "APPROVED"
    assert stall.decision(found.decision_id).status == "STALE"


def test_a_rollback_is_held_against_todays_policy_and_not_the_market(stall: Stall) -> None:
    two_prices(stall)
    found = back(stall)
    store = PricingStore(stall.street.engine)
    seen = evaluate.evaluate(store, found.decision_id, by="ann", now=stall.clock(), countries={})
    assert (seen.status, seen.current) == ("APPROVED", True)
    raise_floor(stall, "19.70")
    seen = evaluate.evaluate(store, found.decision_id, by="ann", now=stall.clock(), countries={})
    assert (seen.status, seen.verdict) == ("REVIEW_REQUIRED", Verdict.REVIEW)


def test_out_of_quarantine(stall: Stall, shelf: Shelf) -> None:
    """A price that somebody else overwrote in between can be taken back from where it is."""
    first = stall.one("20.00", "19.40")
    stall.publish(first)
    stall.clock.now += timedelta(minutes=1)
    second = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)

    def meanwhile(command: object) -> Unknown:
        shelf.put("K-7", "19.90")
        return Unknown("timeout")

    shelf.answers.append(meanwhile)
    assert stall.publish(second).status is State.QUARANTINED
    stall.clock.now += timedelta(minutes=1)
    found = back(stall)
    assert (found.to, found.verdict) == (first, Verdict.ALLOW)
    assert stall.letters("incident")
    assert stall.publish(found.decision_id).status is State.VERIFIED
    assert stall.letters() == []
    assert (shelf.prices["K-7"], stall.decision(second).status) == (Decimal("19.40"), "ROLLED_BACK")


def test_a_rollback_that_fails(stall: Stall, shelf: Shelf) -> None:
    _, second = two_prices(stall)
    found = back(stall)
    shelf.answers.append(Rejected("forbidden", "no"))
    assert stall.publish(found.decision_id).status is State.PUBLISH_FAILED
    assert stall.publication(second).status == "QUARANTINED"
    assert shelf.prices["K-7"] == Decimal("19.00")


def test_nothing_to_go_back_to(stall: Stall, shelf: Shelf) -> None:
    with pytest.raises(UsageProblem, match="nothing of ours"):
        back(stall)
    stall.publish(stall.one("20.00", "19.40"))
    with pytest.raises(UsageProblem, match="no earlier verified price"):
        back(stall)
    with pytest.raises(UsageProblem, match="reason"):
        rollback.request(stall.publisher(), "K-7", "shelf", reason=" ", by="ann", now=stall.clock())


def test_not_to_what_was_rolled_back(stall: Stall) -> None:
    two_prices(stall)
    stall.publish(back(stall).decision_id)
    stall.clock.now += timedelta(minutes=1)
    with pytest.raises(UsageProblem, match="no earlier verified price"):
        back(stall)


def test_a_shop_that_cannot_be_read(stall: Stall, shelf: Shelf) -> None:
    two_prices(stall)
    shelf.deaf = 3
    with pytest.raises(Refused, match="cannot be read"):
        back(stall)
    assert len(stall.street.rows(publication)) == 2


def test_a_rollback_that_is_stopped_on_its_way(stall: Stall, shelf: Shelf) -> None:
    """Held between two attempts: the price that it takes back is still there, and not pending for ever."""
    _, second = two_prices(stall)
    found, pub = back(stall), stall.publisher()
    shelf.answers.append(Throttled(5))
    name = publish.request(pub, found.decision_id, "shelf", now=stall.clock())
    publish.step(pub, name, now=stall.clock())
    assert stall.publication(second).status == "ROLLBACK_PENDING"
    store = HoldStore(stall.street.engine)
    holds.place(store, "sku", "K-7", reason="wait", by="ann", now=stall.clock())
    stall.clock.sleep(5)
    assert publish.step(pub, name, now=stall.clock()).status is State.BLOCKED
    assert stall.publication(second).status == "QUARANTINED"
    holds.clear(store, "sku", "K-7", reason="go on", by="ann", now=stall.clock())
    assert stall.publish(back(stall).decision_id).status is State.VERIFIED
    assert stall.publication(second).status == "ROLLED_BACK"


def test_while_another_price_is_on_its_way(stall: Stall, shelf: Shelf) -> None:
    """From what we would go back is not known yet; what was not written yet is overtaken."""
    two_prices(stall)
    third = stall.decide({"K-7": ("19.00", "18.90")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    pub = stall.publisher()
    name = publish.request(pub, third, "shelf", now=stall.clock())
    shelf.answers.append(Unknown("lost"))
    publish.step(pub, name, now=stall.clock())
    with pytest.raises(Refused, match="is PUBLISHING"):
        back(stall)
    assert stall.run(name).status is State.VERIFIED
    stall.clock.now += timedelta(minutes=1)
    assert back(stall).amount == Decimal("19.00")


def test_asked_again_while_it_is_on_its_way(stall: Stall, shelf: Shelf) -> None:
    two_prices(stall)
    found, pub = back(stall), stall.publisher()
    shelf.answers.append(Unknown("lost"))
    name = publish.request(pub, found.decision_id, "shelf", now=stall.clock())
    publish.step(pub, name, now=stall.clock())
    assert back(stall) == found


def test_a_rollback_is_for_one_target(stall: Stall, shelf: Shelf, street: Street) -> None:
    """Nobody asked for the other shop's price, though it is the same one there."""
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    second = Stall(street, other, clock=stall.clock)
    for of in two_prices(stall):
        assert second.publish(of).status is State.VERIFIED
    found = back(stall)
    with pytest.raises(Refused, match="takes back a price of shelf"):
        second.publish(found.decision_id)
    assert stall.decision(found.decision_id).status == "APPROVED"
    assert batch.waiting(second.publisher(), "other", now=stall.clock()) == []
    assert batch.waiting(stall.publisher(), "shelf", now=stall.clock()) == [found.decision_id]
    assert stall.publish(found.decision_id).status is State.VERIFIED
    assert batch.waiting(second.publisher(), "other", now=stall.clock()) == []
    assert other.prices["K-7"] == Decimal("19.00")
    own = rollback.request(
        second.publisher(), "K-7", "other", reason="there too", by="ann", now=stall.clock()
    )
    assert second.publish(own.decision_id).status is State.VERIFIED
    assert other.prices["K-7"] == Decimal("19.40")


def raise_floor(stall: Stall, amount: str) -> None:
    header = "sku,cogs,fulfilment,payment,map_price,regulatory_floor,valid_from"
    path = stall.street.file(
        f"{header}\nK-7,1.00,0.10,0.10,{amount},,{stall.clock():%Y-%m-%d}\n", "costs.csv"
    )
    catalogue.import_costs(CatalogueStore(stall.street.engine), path, now=stall.clock(), by="ann")
    stall.clock.now += timedelta(seconds=1)
