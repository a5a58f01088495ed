"""From an approved decision to a verified price: the order of things, and everything that may go wrong."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.holds import HoldStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import audit_event, competitor, mapping, price_decision, publication, sku
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.pricing.ports import (
    Accepted,
    Applied,
    Conflict,
    NotSent,
    OperationRef,
    PriceKindAtTarget,
    Rejected,
    TargetRef,
    Throttled,
    Unknown,
    WritePrice,
)
from pricecrawl.pricing.states import State
from pricecrawl.workflows import adopt, batch, catalogue, holds, publish, review, verify
from pricecrawl.workflows.publisher import Boundary
from tests.factories import NOON
from tests.workflows.shelf import SETTLE, Clock, Shelf
from tests.workflows.stall import QUICK, Stall
from tests.workflows.street import Street


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def test_the_whole_way(stall: Stall, shelf: Shelf) -> None:
    of = stall.one("20.00", "19.40")
    after = stall.publish(of)
    assert after.status is State.VERIFIED
    assert shelf.prices["K-7"] == Decimal("19.40")
    row, made = stall.publication(of), stall.decision(of)
    assert (row.status, made.status) == ("VERIFIED", "VERIFIED")
    assert (row.attempts, row.verdict, row.amount) == (1, "verified", Decimal("19.40"))
    assert row.pre_state["amount"] == "20.00"
    assert row.post_state["amount"] == "19.40"
    assert row.storefront_state["view"] == "storefront"
    assert [attempt["outcome"] for attempt in row.outcome["attempts"]] == ["applied"]
    assert stall.current("K-7") == Decimal("19.40")
    assert stall.events(of) == ["publish.requested", "publish.started", "price.published", "publish.verified"]
    assert stall.unbroken()
    command = shelf.writes[0]
    assert (command.decision_id, command.expected_amount) == (of, Decimal("20.00"))


def test_asked_twice_is_one_publication(stall: Stall, shelf: Shelf) -> None:
    of = stall.one()
    pub = stall.publisher()
    first = publish.request(pub, of, "shelf", now=stall.clock())
    assert publish.request(pub, of, "shelf", now=stall.clock()) == first
    stall.run(first)
    assert publish.request(pub, of, "shelf", now=stall.clock()) == first
    assert stall.run(first).status is State.VERIFIED
    assert len(stall.street.rows(publication)) == len(shelf.writes) == 1
    assert stall.events(of).count("publish.requested") == 1


def test_nothing_to_change_is_not_sent(stall: Stall, shelf: Shelf) -> None:
    of = stall.one("20.00", "20.00")
    assert stall.publish(of).status is State.VERIFIED
    assert shelf.writes == []
    assert "nothing was sent" in stall.publication(of).verdict_detail


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PUBLISHER])
def test_only_the_publisher_writes(stall: Stall, role: Role) -> None:
    with pytest.raises(Refused, match="only the publisher"):
        stall.publisher(by=Principal("ann", role))


def test_a_decision_that_is_not_approved(stall: Stall, shelf: Shelf) -> None:
    shelf.put("K-7", "20.00")
    of = stall.decide({"K-7": ("20.00", "15.00")})["K-7"]
    assert stall.decision(of).status == "REVIEW_REQUIRED"
    with pytest.raises(Refused, match="waits for review"):
        publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    with pytest.raises(UsageProblem, match="no decision"):
        publish.request(stall.publisher(), "nothing", "shelf", now=stall.clock())
    with pytest.raises(UsageProblem, match="PRICECRAWL_TARGET_NOWHERE_KIND"):
        publish.request(stall.publisher(), of, "nowhere", now=stall.clock())
    assert stall.street.rows(publication) == []


def test_the_shop_has_another_price(stall: Stall, shelf: Shelf) -> None:
    """The decision goes out from 20.00; at any other price it is about another world."""
    of = stall.one("20.00", "19.40")
    shelf.put("K-7", "21.00")
    after = stall.publish(of)
    assert after.status is State.STALE
    assert shelf.writes == []
    assert shelf.prices["K-7"] == Decimal("21.00")
    assert (stall.decision(of).status, stall.publication(of).pre_state["amount"]) == ("STALE", "21.00")
    assert "`pricecrawl targets adopt shelf K-7 --reason ...`" in after.why
    assert stall.events(of)[-1] == "publish.failed"
    assert stall.letters("incident") == []


def test_somebody_changed_what_we_had_verified(stall: Stall, shelf: Shelf) -> None:
    stall.publish(stall.one("20.00", "19.40"))
    shelf.put("K-7", "12.00")
    later = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    assert stall.publish(later).status is State.STALE
    letter = stall.letters("incident")[0]
    assert letter.payload["found"] == "12.00"
    assert shelf.prices["K-7"] == Decimal("12.00")


class TestGates:
    """Asked when publishing is asked for, and once more with the shop's state in hand."""

    @pytest.mark.parametrize(
        ("scope", "value"),
        [("everything", ""), ("target", "shelf"), ("sku", "K-7"), ("source", "kettles")],
    )
    def test_held_when_asked_for(self, stall: Stall, shelf: Shelf, scope: str, value: str) -> None:
        of = stall.one()
        held = HoldStore(stall.street.engine)
        holds.place(held, scope, value, reason="look", by="ann", now=stall.clock())
        with pytest.raises(Refused, match="held"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert stall.decision(of).status == "APPROVED"
        holds.clear(held, scope, value, reason="looked", by="ann", now=stall.clock())
        assert stall.publish(of).status is State.VERIFIED

    def test_held_at_the_last_moment(self, stall: Stall, shelf: Shelf) -> None:
        """The switch is thrown after the shop was read: nothing is written."""
        of = stall.one()

        def throw(boundary: Boundary, _: str) -> None:
            if boundary is Boundary.READ:
                holds.place(
                    HoldStore(stall.street.engine),
                    "everything",
                    "",
                    reason="stop",
                    by="ann",
                    now=stall.clock(),
                )

        after = stall.publish(of, stall.publisher(on=throw))
        assert after.status is State.BLOCKED
        assert (shelf.writes, stall.decision(of).status) == ([], "BLOCKED")
        assert "hold_active" in {item["code"] for item in stall.decision(of).findings}

    def test_the_source_is_held_at_the_last_moment(self, stall: Stall, shelf: Shelf) -> None:
        """Somebody finds that the shop behind a price is read wrongly: what it decided is not written."""
        of = stall.one()

        def throw(boundary: Boundary, _: str) -> None:
            if boundary is Boundary.READ:
                held = HoldStore(stall.street.engine)
                holds.place(held, "source", "kettles", reason="odd prices", by="ann", now=stall.clock())

        after = stall.publish(of, stall.publisher(on=throw))
        assert (after.status, shelf.writes) == (State.BLOCKED, [])
        assert "source kettles: odd prices" in after.why

    def test_another_source_is_held(self, stall: Stall) -> None:
        of = stall.one()
        stall.street.observe("50.00", source="mugs", gtin=None, sku="M-1")
        held = HoldStore(stall.street.engine)
        holds.place(held, "source", "mugs", reason="odd prices", by="ann", now=stall.clock())
        assert stall.publish(of).status is State.VERIFIED

    def test_the_source_is_switched_off(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        crawl = stall.street.crawl
        crawl.set_enabled("kettles", False, by="ann", reason="a redesign", now=stall.clock())
        with pytest.raises(Refused, match="source kettles, whose offer set this price, is switched off"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert stall.decision(of).status == "APPROVED"
        crawl.set_enabled("kettles", True, by="ann", reason="read again", now=stall.clock())
        assert stall.publish(of).status is State.VERIFIED

    def test_the_mapping_was_rejected(self, stall: Stall, shelf: Shelf) -> None:
        """Decided by an offer that turned out to be another product."""
        of = stall.one()
        name = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        number = stall.row(mapping, sku="K-7").id
        reviews = ReviewStore(stall.street.engine)
        review.reject(reviews, f"mapping:{number}", by="ann", reason="another kettle", now=stall.clock())
        after = stall.run(name)
        assert (after.status, shelf.writes) == (State.STALE, [])
        assert "kettles/k-K-7" in after.why

    def test_the_competitor_was_ruled_out(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        with stall.street.engine.begin() as tx:
            tx.execute(competitor.insert().values(source="kettles", retailer="Kettles", approved=False))
        with pytest.raises(Refused, match="no competitor any more"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert stall.decision(of).status == "STALE"

    def test_the_offer_is_too_old(self, stall: Stall, shelf: Shelf) -> None:
        """A policy's approval holds as long as the offer counts: two hours in tier B, from its reading on."""
        of = stall.one()
        stall.clock.now = NOON + timedelta(hours=2)
        name = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        stall.clock.now += timedelta(seconds=1)
        after = stall.run(name)
        assert (after.status, shelf.writes) == (State.STALE, [])
        assert "more than 120 minutes ago" in after.why

    def test_a_person_has_seen_how_old_it_was(self, stall: Stall, shelf: Shelf) -> None:
        shelf.put("K-7", "20.00")
        of = stall.decide({"K-7": ("20.00", "18.00")})["K-7"]
        review.approve(
            ReviewStore(stall.street.engine), of, by="bob", reason="the market is there", now=stall.clock()
        )
        stall.clock.now = NOON + timedelta(hours=5)
        assert stall.publish(of).status is State.VERIFIED

    def test_another_target_is_held(self, stall: Stall) -> None:
        of = stall.one()
        holds.place(
            HoldStore(stall.street.engine), "target", "elsewhere", reason="-", by="ann", now=stall.clock()
        )
        assert stall.publish(of).status is State.VERIFIED

    def test_the_approval_ended(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        stall.clock.now += timedelta(hours=25)
        with pytest.raises(Refused, match="approval ended"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert stall.decision(of).status == "STALE"

    def test_the_approval_ended_while_waiting(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        stall.clock.now += timedelta(hours=25)
        assert stall.run(name).status is State.STALE
        assert shelf.writes == []

    def test_another_policy(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        name = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        stall.open_breaker()
        assert stall.run(name).status is State.STALE
        assert shelf.writes == []
        assert "all-at-once" in stall.publication(of).verdict_detail

    def test_the_floor_rose(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one("20.00", "19.40")
        name = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        header = "sku,cogs,fulfilment,payment,map_price,regulatory_floor,valid_from"
        path = stall.street.file(f"{header}\nK-7,1.00,0.10,0.10,19.50,,2026-03-01\n", "costs.csv")
        catalogue.import_costs(CatalogueStore(stall.street.engine), path, now=stall.clock(), by="ann")
        assert stall.run(name).status is State.BLOCKED
        assert shelf.writes == []
        assert "under_floor" in {item["code"] for item in stall.decision(of).findings}

    def test_a_sku_that_is_no_longer_sold(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        with stall.street.engine.begin() as tx:
            tx.execute(sku.update().values(active=False))
        with pytest.raises(Refused, match="not active"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert stall.decision(of).status == "BLOCKED"

    def test_a_forged_approval(self, stall: Stall, shelf: Shelf) -> None:
        """The status alone is not enough: a review needs somebody who approved."""
        shelf.put("K-7", "20.00")
        of = stall.decide({"K-7": ("20.00", "15.00")})["K-7"]
        with stall.street.engine.begin() as tx:
            tx.execute(price_decision.update().values(status="APPROVED"))
        with pytest.raises(Refused, match="approved by nobody"):
            publish.request(stall.publisher(), of, "shelf", now=stall.clock())
        assert shelf.writes == []

    def test_wrong_currency_in_the_shop(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.currency = "CHF"
        assert stall.publish(of).status is State.PUBLISH_FAILED
        assert shelf.writes == []
        assert stall.letters("publication")


class TestOrder:
    def test_an_earlier_decision_after_a_later_one(self, stall: Stall, shelf: Shelf) -> None:
        first = stall.one("20.00", "19.40")
        later_at = stall.clock() + timedelta(minutes=1)
        second = stall.decide({"K-7": ("20.00", "19.50")}, at=later_at)["K-7"]
        with stall.street.engine.begin() as tx:
            tx.execute(price_decision.update().values(status="APPROVED"))
        stall.clock.now = later_at + timedelta(minutes=21)
        assert stall.publish(second).status is State.VERIFIED
        with pytest.raises(Refused, match="is later and was published"):
            publish.request(stall.publisher(), first, "shelf", now=stall.clock())
        assert stall.decision(first).status == "STALE"
        assert shelf.applied == [("K-7", Decimal("19.50"))]

    def test_a_later_decision_overtakes_one_that_waits(self, stall: Stall, shelf: Shelf) -> None:
        first = stall.one("20.00", "19.40")
        pub = stall.publisher()
        waiting = publish.request(pub, first, "shelf", now=stall.clock())
        later_at = stall.clock() + timedelta(minutes=1)
        second = stall.decide({"K-7": ("20.00", "19.50")}, at=later_at)["K-7"]
        stall.clock.now = later_at + timedelta(minutes=21)
        assert stall.publish(second).status is State.VERIFIED
        assert stall.run(waiting).status is State.STALE
        assert shelf.applied == [("K-7", Decimal("19.50"))]

    @pytest.mark.parametrize("arrived", [True, False])
    def test_one_at_a_time(self, stall: Stall, shelf: Shelf, arrived: bool) -> None:
        """While a write may be on its way, a later decision waits; then one of the two is stale."""
        first = stall.one("20.00", "19.40")
        shelf.answers.append(shelf.drop if arrived else Unknown("silence"))
        a, b = stall.publisher("a"), stall.publisher("b")
        of = publish.request(a, first, "shelf", now=stall.clock())
        publish.step(a, of, now=stall.clock())
        assert stall.publication(first).status == "PUBLISHING"
        later_at = stall.clock() + timedelta(minutes=1)
        second = stall.decide({"K-7": ("20.00", "19.50")}, at=later_at)["K-7"]
        stall.clock.now = later_at + timedelta(minutes=21)
        other = publish.request(b, second, "shelf", now=stall.clock())
        waits = publish.step(b, other, now=stall.clock())
        assert not waits.done
        assert len(shelf.writes) == 1
        # What never arrived is not sent again in the way of what is later.
        assert stall.run(of, a).status is (State.VERIFIED if arrived else State.STALE)
        assert stall.run(other, b).status is (State.STALE if arrived else State.VERIFIED)
        assert shelf.applied == [("K-7", Decimal("19.40" if arrived else "19.50"))]

    def test_two_publishers_race_for_one_publication(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        a, b = stall.publisher("a"), stall.publisher("b")
        name = publish.request(a, of, "shelf", now=stall.clock())
        seen = []

        def during(boundary: Boundary, _: str) -> None:
            if boundary in {Boundary.READ, Boundary.INTENDED, Boundary.WRITTEN}:
                seen.append(publish.step(b, name, now=stall.clock()))

        a.on = during
        assert stall.run(name, a).status is State.VERIFIED
        assert [after.done for after in seen] == [False, False, False]
        assert all("has the lease" in after.why for after in seen)
        assert len(shelf.writes) == 1
        assert publish.step(b, name, now=stall.clock()).done


class TestAnswers:
    def test_throttled(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers += [Throttled(7.0), Throttled(None)]
        assert stall.publish(of).status is State.VERIFIED
        assert stall.clock.slept[0] == pytest.approx(7.0)
        # Without a figure the pause is ours: it doubles from two seconds on.
        assert stall.clock.slept[1] == pytest.approx(4.0)
        assert (len(shelf.writes), len(shelf.applied), stall.publication(of).attempts) == (3, 1, 3)
        assert stall.events(of).count("publish.failed") == 2

    def test_throttled_for_ever(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers += [Throttled(1.0)] * 9
        assert stall.publish(of).status is State.PUBLISH_FAILED
        assert len(shelf.writes) == QUICK.max_attempts
        letter = stall.letters("publication")[0]
        assert "5 attempts" in letter.error
        assert stall.events(of)[-2:] == ["publish.failed", "workflow.failed"]
        assert stall.decision(of).status == "PUBLISH_FAILED"

    def test_not_sent(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(NotSent("refused"))
        assert stall.publish(of).status is State.VERIFIED
        assert len(shelf.applied) == 1

    def test_rejected(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Rejected("forbidden", "no"))
        assert stall.publish(of).status is State.PUBLISH_FAILED
        assert (len(shelf.writes), shelf.prices["K-7"]) == (1, Decimal("20.00"))
        assert "forbidden" in stall.letters("publication")[0].error

    def test_conflict_without_a_change_of_price(self, stall: Stall, shelf: Shelf) -> None:
        """Somebody saved the product; the price is still the one we know: once more."""
        of = stall.one()
        shelf.answers.append(Conflict("9"))
        assert stall.publish(of).status is State.VERIFIED

    def test_conflict_with_another_price(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()

        def taken(command: WritePrice) -> Conflict:
            shelf.put("K-7", "17.00")
            return Conflict("9")

        shelf.answers.append(taken)
        assert stall.publish(of).status is State.STALE
        assert shelf.prices["K-7"] == Decimal("17.00")

    def test_an_adapter_that_breaks(self, stall: Stall, shelf: Shelf) -> None:
        """A mistake of ours after the bytes left is a write without an answer, not a crash."""
        of = stall.one()

        def crash(command: WritePrice) -> Applied:
            shelf.apply(command)
            raise ZeroDivisionError

        shelf.answers.append(crash)
        assert stall.publish(of).status is State.VERIFIED
        assert len(shelf.writes) == 1


class TestNoAnswer:
    """Reading comes before any second write."""

    def test_reply_lost_after_the_write(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(shelf.drop)
        assert stall.publish(of).status is State.VERIFIED
        assert len(shelf.writes) == 1
        row = stall.publication(of)
        assert "authorship unproven" in row.verdict_detail
        assert stall.events(of) == [
            "publish.requested",
            "publish.started",
            "publish.uncertain",
            "price.published",
            "publish.verified",
        ]

    def test_the_write_never_arrived(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Unknown("reset"))
        began = stall.clock()
        assert stall.publish(of).status is State.VERIFIED
        assert [command.decision_id for command in shelf.writes] == [of, of]
        assert stall.clock() - began >= SETTLE

    def test_no_retry_before_the_settle_time(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Unknown("reset"))
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        publish.step(pub, name, now=stall.clock())
        for _ in range(int(SETTLE.total_seconds())):
            publish.step(pub, name, now=stall.clock())
            stall.clock.sleep(1)
            assert len(shelf.writes) == 1

    def test_a_late_write(self, stall: Stall, shelf: Shelf) -> None:
        """It lands while we wait: reconciled, not repeated."""
        of = stall.one()
        late: list[WritePrice] = []

        def swallow(command: WritePrice) -> Unknown:
            late.append(command)
            return Unknown("timeout")

        shelf.answers.append(swallow)
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        publish.step(pub, name, now=stall.clock())
        publish.step(pub, name, now=stall.clock())
        shelf.apply(late[0])
        assert stall.run(name).status is State.VERIFIED
        assert len(shelf.writes) == 1

    def test_settling_starts_over_while_the_shop_is_silent(self, stall: Stall, shelf: Shelf) -> None:
        """A shop that does not answer may still hold the write: its first answers prove nothing yet."""
        of = stall.one()
        shelf.answers.append(Unknown("timeout"))
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        publish.step(pub, name, now=stall.clock())
        shelf.deaf = 8
        while shelf.deaf:
            after = publish.step(pub, name, now=stall.clock())
            assert after.at
            stall.clock.now = max(stall.clock.now, after.at)
        awake = stall.clock()
        assert stall.run(name).status is State.VERIFIED
        assert stall.clock() - awake >= SETTLE
        assert len(shelf.writes) == 2

    def test_somebody_else_wrote(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()

        def meanwhile(command: WritePrice) -> Unknown:
            shelf.put("K-7", "18.00")
            return Unknown("timeout")

        shelf.answers.append(meanwhile)
        assert stall.publish(of).status is State.QUARANTINED
        assert (len(shelf.writes), shelf.prices["K-7"]) == (1, Decimal("18.00"))
        assert stall.decision(of).status == "QUARANTINED"
        assert stall.events(of)[-1] == "incident.raised"
        assert stall.letters("incident")[0].payload["what"] == "foreign_write"

    def test_there_and_back_is_not_untouched(self, stall: Stall, shelf: Shelf) -> None:
        """The old price under a new revision: something happened that we did not see."""
        of = stall.one()

        def twice(command: WritePrice) -> Unknown:
            shelf.apply(command)
            shelf.put("K-7", "20.00")
            return Unknown("timeout")

        shelf.answers.append(twice)
        after = stall.publish(of)
        assert after.status is State.QUARANTINED
        assert len(shelf.writes) == 1
        assert (
            "the shop has 20.00 as before, but something was changed there since we sent 19.40" in after.why
        )

    def test_never_an_answer(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers += [Unknown("timeout")] * 9
        assert stall.publish(of).status is State.PUBLISH_FAILED
        assert len(shelf.writes) == QUICK.max_attempts
        assert shelf.applied == []

    def test_a_publisher_that_died_in_between(self, stall: Stall, shelf: Shelf) -> None:
        """Intent stored and nothing after it: another publisher reads, waits, and writes once."""
        of = stall.one()
        first = stall.publisher("a", on=_die_at(Boundary.INTENDED))
        name = publish.request(first, of, "shelf", now=stall.clock())
        with pytest.raises(_Died):
            publish.step(first, name, now=stall.clock())
        second = stall.publisher("b")
        waits = publish.step(second, name, now=stall.clock())
        assert "has the lease" in waits.why
        assert stall.run(name, second).status is State.VERIFIED
        assert len(shelf.writes) == 1


class _Died(BaseException):
    """The end of a process, as far as one process can show it."""


def _die_at(boundary: Boundary) -> Callable[[Boundary, str], None]:
    def on(passed: Boundary, _: str) -> None:
        if passed is boundary:
            raise _Died

    return on


@pytest.mark.parametrize("boundary", list(Boundary))
def test_died_at_every_boundary_twice(stall: Stall, shelf: Shelf, boundary: Boundary) -> None:
    """No double write, no lost write, always verified."""
    of = stall.one()
    name = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    for _ in range(2):
        dying = stall.publisher(on=_die_at(boundary))
        with contextlib.suppress(_Died):
            stall.run(name, dying)
    assert stall.run(name).status is State.VERIFIED
    assert shelf.applied == [("K-7", Decimal("19.40"))]
    assert stall.unbroken()
    for kind in ("publish.requested", "price.published", "publish.verified"):
        assert stall.events(of).count(kind) == 1


class TestVerification:
    def test_a_price_that_was_changed_before_we_looked(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()

        def overwritten(command: WritePrice) -> Applied:
            done = shelf.apply(command)
            shelf.put("K-7", "5.00")
            return done

        shelf.answers.append(overwritten)
        assert stall.publish(of).status is State.VERIFICATION_FAILED
        assert stall.letters("incident")[0].payload["found"] == "5.00"
        assert stall.events(of)[-2:] == ["incident.raised", "publish.verification_failed"]
        assert stall.current("K-7") == Decimal("20.00")

    def test_a_shop_that_says_yes_and_does_nothing(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Applied())
        assert stall.publish(of).status is State.VERIFICATION_FAILED
        assert stall.letters("incident")[0].payload["what"] == "not_applied"

    def test_a_read_that_lags(self, stall: Stall, shelf: Shelf) -> None:
        """The old price within the lag of the platform is waited for, not failed."""
        of = stall.one()
        shelf.capabilities = replace(shelf.capabilities, read_lag=timedelta(seconds=30))
        late: list[WritePrice] = []

        def lagging(command: WritePrice) -> Applied:
            late.append(command)
            return Applied()

        shelf.answers.append(lagging)
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        for _ in range(4):
            after = publish.step(pub, name, now=stall.clock())
            stall.clock.sleep(2)
        assert (after.done, after.status) == (False, State.VERIFYING)
        shelf.apply(late[0])
        assert stall.run(name).status is State.VERIFIED
        assert len(shelf.writes) == 1

    def test_everything_is_wrong_at_once(self, stall: Stall, shelf: Shelf) -> None:
        """More words than the column of verdicts takes, on either database; the event has them all."""
        of = stall.one()
        read = shelf.read

        def another_world(*given: Any, **more: Any) -> Any:
            state = read(*given, **more)
            if not shelf.writes:
                return state
            return replace(
                state,
                ref=TargetRef("K-8", state.ref.id),
                amount=Decimal("1.00"),
                currency="CHF",
                tax_basis=TaxBasis.EXCLUSIVE,
                kind=PriceKindAtTarget.SALE,
                siblings_digest="other",
            )

        shelf.read = another_world  # type: ignore[method-assign]
        assert stall.publish(of).status is State.VERIFICATION_FAILED
        assert stall.publication(of).verdict == "sku, currency, tax_basis, amount, ..."
        name = f"publication:{stall.publication(of).publication_id}"
        failed = stall.street.rows(audit_event, aggregate=name, event_type="publish.verification_failed")[0]
        assert len(failed.payload["mismatches"]) == 6

    def test_a_sibling_that_was_lost(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.siblings["K-7"] = Decimal("22.00")

        def clumsy(command: WritePrice) -> Applied:
            shelf.siblings.clear()
            return shelf.apply(command)

        shelf.answers.append(clumsy)
        assert stall.publish(of).status is State.VERIFICATION_FAILED
        assert stall.publication(of).verdict == "siblings"

    def test_a_sale_price_masks_ours(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.shown["K-7"] = Decimal("11.00")
        assert stall.publish(of).status is State.VERIFIED
        row = stall.publication(of)
        assert row.verdict == "verified, storefront differs"
        assert "11.00" in row.verdict_detail

    def test_a_shop_that_is_silent_when_we_look(self, stall: Stall, shelf: Shelf) -> None:
        """After a write somebody must find out, however long it takes; a person is told meanwhile."""
        of = stall.one()

        def then_silence(command: WritePrice) -> Applied:
            shelf.deaf = 14
            return shelf.apply(command)

        shelf.answers.append(then_silence)
        pub = stall.publisher(timings=replace(QUICK, patience=timedelta(seconds=30)))
        told = []
        name = publish.request(pub, of, "shelf", now=stall.clock())
        while not (after := publish.step(pub, name, now=stall.clock())).done:
            told += stall.letters("waiting")
            stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
        assert after.status is State.VERIFIED
        assert told
        assert stall.letters("waiting") == []

    def test_looking_again(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        pub = stall.publisher()
        stall.publish(of, pub)
        name = stall.publication(of).publication_id
        assert verify.again(pub, name, now=stall.clock()).ok
        shelf.put("K-7", "1.00")
        for _ in range(2):
            found = verify.again(pub, name, now=stall.clock())
            assert (found.ok, found.status, found.mismatches) == (False, State.VERIFIED, ("amount",))
        assert len(stall.letters("incident")) == 1
        assert stall.events(of).count("incident.raised") == 1
        shelf.put("K-7", "2.00")
        verify.again(pub, name, now=stall.clock())
        assert len(stall.letters("incident")) == 2

    def test_a_failed_verification_may_pass_later(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Applied())
        pub = stall.publisher()
        stall.publish(of, pub)
        name = stall.publication(of).publication_id
        assert not verify.again(pub, name, now=stall.clock()).ok
        shelf.put("K-7", "19.40")
        assert verify.again(pub, name, now=stall.clock()).ok
        assert stall.decision(of).status == "VERIFIED"

    def test_nothing_to_look_at(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        with pytest.raises(UsageProblem, match="nothing to verify"):
            verify.again(pub, name, now=stall.clock())
        with pytest.raises(UsageProblem, match="no publication"):
            verify.again(pub, "nothing", now=stall.clock())

    def test_patrol(self, stall: Stall, shelf: Shelf) -> None:
        """Every price that we left is looked at; the one that was changed is found."""
        names = [f"K-{number}" for number in range(5)]
        for name in names:
            shelf.put(name, "20.00")
        pub = stall.publisher()
        for of in stall.decide(dict.fromkeys(names, ("20.00", "19.40"))).values():
            assert stall.publish(of, pub).status is State.VERIFIED
        assert all(found.ok for found in verify.patrol(pub, "shelf", now=stall.clock()))
        shelf.put("K-3", "0.01")
        found = verify.patrol(pub, "shelf", now=stall.clock())
        assert [item.ok for item in found].count(False) == 1
        assert len(found) == 5
        assert stall.letters("incident")[0].payload["found"] == "0.01"


class TestLater:
    """A shop that takes a write and does it when it likes."""

    OPERATION = OperationRef("op-1", TargetRef("K-7", "id-K-7"))

    def test_accepted_then_done(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        sent: list[WritePrice] = []

        def take(command: WritePrice) -> Accepted:
            sent.append(command)
            return Accepted(self.OPERATION)

        shelf.answers.append(take)
        shelf.polls += [Accepted(self.OPERATION)] * 3
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        while shelf.polls:
            after = publish.step(pub, name, now=stall.clock())
            stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
        shelf.apply(sent[0])
        shelf.polls.append(Applied())
        assert stall.run(name).status is State.VERIFIED
        assert len(shelf.writes) == 1

    def test_accepted_then_refused(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Accepted(self.OPERATION))
        shelf.polls.append(Rejected("import_failed"))
        assert stall.publish(of).status is State.PUBLISH_FAILED

    def test_accepted_then_lost(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Accepted(self.OPERATION))
        shelf.polls.append(Conflict(detail="in none of the folders"))
        assert stall.publish(of).status is State.VERIFIED
        assert len(shelf.writes) == 2

    def test_accepted_and_never_done(self, stall: Stall, shelf: Shelf) -> None:
        of = stall.one()
        shelf.answers.append(Accepted(self.OPERATION))
        shelf.polls += [Accepted(self.OPERATION)] * 12
        pub = stall.publisher()
        name = publish.request(pub, of, "shelf", now=stall.clock())
        while shelf.polls:
            after = publish.step(pub, name, now=stall.clock())
            stall.clock.now = max(stall.clock.now, after.at or stall.clock.now)
        assert (after.done, len(shelf.writes)) == (False, 1)
        assert "has not done it" in stall.letters("waiting")[0].error


def test_unknown_and_ambiguous_skus(stall: Stall, shelf: Shelf) -> None:
    of = stall.one()
    shelf.twice.add("K-7")
    assert stall.publish(of).status is State.PUBLISH_FAILED
    assert "2 times" in stall.letters("publication")[0].error
    assert shelf.writes == []


def test_a_shop_that_is_away_before_the_write(stall: Stall, shelf: Shelf) -> None:
    """Away for a while: later. Away for good: a dead letter, and nothing was written."""
    of = stall.one()
    shelf.deaf = 3
    assert stall.publish(of).status is State.VERIFIED
    stall.clock.now += timedelta(minutes=1)
    second = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    shelf.deaf = 10_000
    assert stall.publish(second).status is State.PUBLISH_FAILED
    assert len(shelf.writes) == 1


def test_a_publisher_that_slept_does_not_write(
    stall: Stall, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between intent and write for longer than its lease is worth: nothing is sent."""
    of = stall.one()
    ticks = iter([0.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0])
    monkeypatch.setattr("pricecrawl.workflows.publish.time.monotonic", lambda: next(ticks, 1000.0))
    pub = stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    after = publish.step(pub, name, now=stall.clock())
    assert (after.status, shelf.writes) == (State.PUBLISH_PENDING, [])
    assert "held up" in after.why


def test_two_targets(stall: Stall, street: Street) -> None:
    """One decision in two shops: the first publication leads the decision, the second has its own way."""
    of = stall.one()
    assert stall.publish(of).status is State.VERIFIED
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    second = Stall(street, other, clock=stall.clock)
    assert isinstance(stall.clock, Clock)
    assert second.publish(of).status is State.VERIFIED
    assert other.prices["K-7"] == Decimal("19.40")
    assert {row.target: row.status for row in street.rows(publication)} == {
        "shelf": "VERIFIED",
        "other": "VERIFIED",
    }


def test_what_waits_for_the_second_target(stall: Stall, street: Street) -> None:
    """The first one leads the decision; to the second it is as new until its approval ends."""
    of = stall.one()
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    second = Stall(street, other, clock=stall.clock).publisher()
    assert stall.publish(of).status is State.VERIFIED
    assert batch.waiting(stall.publisher(), "shelf", now=stall.clock()) == []
    assert batch.waiting(second, "other", now=stall.clock()) == [of]
    assert batch.waiting(second, "other", ("K-8",), now=stall.clock()) == []
    assert batch.waiting(second, "other", now=stall.clock() + timedelta(hours=25)) == []
    name = publish.request(second, of, "other", now=stall.clock())
    assert batch.waiting(second, "other", now=stall.clock()) == []
    assert stall.run(name, second).status is State.VERIFIED


def test_a_late_second_target_does_not_turn_the_clock_back(stall: Stall, street: Street) -> None:
    first = stall.one("20.00", "19.40")
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    second = Stall(street, other, clock=stall.clock).publisher()
    assert stall.publish(first).status is State.VERIFIED
    name = publish.request(second, first, "other", now=stall.clock())
    stall.clock.now += timedelta(minutes=1)
    later = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
    stall.clock.now += timedelta(minutes=21)
    assert stall.publish(later).status is State.VERIFIED
    assert stall.run(name, second).status is State.VERIFIED
    assert stall.current("K-7") == Decimal("19.00")


def test_a_second_target_that_was_left_behind(stall: Stall, shelf: Shelf, street: Street) -> None:
    """No later decision is written there, for it goes out from another price; how it catches up."""
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    second = Stall(street, other, clock=stall.clock)
    assert stall.publish(stall.one("20.00", "19.40")).status is State.VERIFIED

    def decide(current: str, market: str) -> str:
        stall.clock.now += timedelta(minutes=1)
        of = stall.decide({"K-7": (current, market)}, at=stall.clock())["K-7"]
        stall.clock.now += timedelta(minutes=21)
        return of

    later = decide("19.40", "19.20")
    assert stall.publish(later).status is State.VERIFIED
    assert second.publish(later).status is State.STALE
    assert (other.prices["K-7"], other.writes, stall.letters()) == (Decimal("20.00"), [], [])
    adopt.adopt(second.publisher(), "other", "K-7", reason="catching up", by="ann", now=stall.clock())
    last = decide("20.00", "19.20")
    assert second.publish(last).status is State.VERIFIED
    assert stall.publish(last).status is State.STALE
    assert shelf.prices == other.prices == {"K-7": Decimal("19.20")}
    assert (stall.current("K-7"), stall.letters()) == (Decimal("19.20"), [])


@pytest.mark.parametrize("most", [1, 2])
def test_as_many_writers_at_a_time_as_the_shop_takes(stall: Stall, shelf: Shelf, most: int) -> None:
    """Four threads, and a shop that breaks when more than so many write: nobody finds it broken."""
    shelf.capabilities = replace(shelf.capabilities, max_parallel_writers=most)
    names = [f"K-{number}" for number in range(4)]
    for name in names:
        shelf.put(name, "20.00")
    made = stall.decide(dict.fromkeys(names, ("20.00", "19.90")))
    pub = stall.publisher()
    asked = [publish.request(pub, made[name], "shelf", now=stall.clock()) for name in names]
    inside, worst, guard = 0, 0, threading.Lock()

    def slow(command: WritePrice) -> Applied:
        nonlocal inside, worst
        with guard:
            inside += 1
            worst = max(worst, inside)
        time.sleep(0.3)
        with guard:
            inside -= 1
        return shelf.apply(command)

    shelf.answers += [slow] * 4
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda of: stall.run(of, pub), asked))
    assert {row.status for row in stall.street.rows(publication)} == {"VERIFIED"}
    assert worst == most


def test_a_stale_decision_goes_to_no_other_target(stall: Stall, shelf: Shelf, street: Street) -> None:
    of = stall.one()
    shelf.put("K-7", "21.00")
    assert stall.publish(of).status is State.STALE
    other = Shelf(name="other")
    other.put("K-7", "20.00")
    with pytest.raises(Refused, match="is stale"):
        Stall(street, other, clock=stall.clock).publish(of)
    assert other.writes == []


def test_withdrawn_before_it_is_written(stall: Stall, shelf: Shelf) -> None:
    of = stall.one()
    pub = stall.publisher()
    name = publish.request(pub, of, "shelf", now=stall.clock())
    with pytest.raises(UsageProblem, match="reason"):
        publish.withdraw(pub, name, by="ann", reason="", now=stall.clock())
    publish.withdraw(pub, name, by="ann", reason="a wrong feed", now=stall.clock())
    assert stall.run(name).status is State.STALE
    assert (shelf.writes, stall.decision(of).status) == ([], "STALE")
    with pytest.raises(UsageProblem, match="rollback K-7"):
        publish.withdraw(pub, name, by="ann", reason="again", now=stall.clock())


def test_pauses_double_up_to_a_limit() -> None:
    waits = [QUICK.wait(attempts).total_seconds() for attempts in (1, 2, 3, 20, 10_000)]
    assert waits == [2, 4, 8, 300, 300]
