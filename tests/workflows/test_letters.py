"""Dead letters: what they hold, and what happens to them when somebody says go on."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pricecrawl.db.tables import audit_event
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.pricing.ports import Applied, Rejected, Unknown
from pricecrawl.pricing.states import State
from pricecrawl.workflows import adopt, letters, verify
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def failed(stall: Stall, shelf: Shelf) -> tuple[str, int]:
    of = stall.one()
    shelf.answers.append(Rejected("forbidden", "no"))
    assert stall.publish(of).status is State.PUBLISH_FAILED
    return of, stall.letters("publication")[0].id


def test_a_failed_publication_starts_over(stall: Stall, shelf: Shelf) -> None:
    of, number = failed(stall, shelf)
    pub = stall.publisher()
    done = letters.replay(pub, number, now=stall.clock())
    assert (done.again, stall.letters()) == (True, [])
    assert stall.run(done.publication_id).status is State.VERIFIED
    assert [command.decision_id for command in shelf.writes] == [of, of]
    with pytest.raises(UsageProblem, match="already"):
        letters.replay(pub, number, now=stall.clock())
    with pytest.raises(UsageProblem, match="no dead letter"):
        letters.replay(pub, 999, now=stall.clock())


def test_the_gates_are_asked_again(stall: Stall, shelf: Shelf) -> None:
    of, number = failed(stall, shelf)
    stall.open_breaker()
    done = letters.replay(stall.publisher(), number, now=stall.clock())
    assert stall.run(done.publication_id).status is State.STALE
    assert len(shelf.writes) == 1
    assert stall.decision(of).status == "STALE"


def test_it_may_fail_again(stall: Stall, shelf: Shelf) -> None:
    _, number = failed(stall, shelf)
    shelf.answers.append(Rejected("forbidden", "still no"))
    done = letters.replay(stall.publisher(), number, now=stall.clock())
    assert stall.run(done.publication_id).status is State.PUBLISH_FAILED
    assert [row.id for row in stall.letters("publication")] == [number + 1]


def test_an_incident_is_closed_when_the_price_is_ours_again(stall: Stall, shelf: Shelf) -> None:
    of = stall.one()
    pub = stall.publisher()
    stall.publish(of, pub)
    shelf.put("K-7", "1.00")
    verify.patrol(pub, "shelf", now=stall.clock())
    number = stall.letters("incident")[0].id
    assert "1.00" in letters.replay(pub, number, now=stall.clock()).detail
    assert [row.id for row in stall.letters("incident")] == [number]
    shelf.put("K-7", "19.40")
    letters.replay(pub, number, now=stall.clock())
    assert stall.letters() == []


def quarantined(stall: Stall, shelf: Shelf) -> int:
    """A write without an answer, and somebody else's price after it; the number of the incident."""
    of = stall.one("20.00", "19.40")

    def meanwhile(_: object) -> Unknown:
        shelf.put("K-7", "12.00")
        return Unknown("timeout")

    shelf.answers.append(meanwhile)
    assert stall.publish(of).status is State.QUARANTINED
    return int(stall.letters("incident")[0].id)


def test_an_incident_of_a_quarantined_price(stall: Stall, shelf: Shelf) -> None:
    """Settled when the shop has again what decisions go out from, or by taking over what it has."""
    number = quarantined(stall, shelf)
    pub = stall.publisher()
    done = letters.replay(pub, number, now=stall.clock())
    assert "the shop has 12.00 and the catalogue says 20.00" in done.detail
    assert [row.id for row in stall.letters("incident")] == [number]
    shelf.put("K-7", "20.00")
    assert "as the catalogue says" in letters.replay(pub, number, now=stall.clock()).detail
    assert stall.letters() == []


def test_an_incident_of_a_quarantined_price_is_taken_over(stall: Stall, shelf: Shelf) -> None:
    quarantined(stall, shelf)
    adopt.adopt(stall.publisher(), "shelf", "K-7", reason="ours now", by="ann", now=stall.clock())
    assert stall.letters() == []
    assert stall.current("K-7") == Decimal("12.00")


class TestAdopting:
    """A price that somebody set in the shop becomes the one that decisions go out from."""

    def test_then_decisions_go_out_again(self, stall: Stall, shelf: Shelf) -> None:
        stale = stall.one("20.00", "19.40")
        shelf.put("K-7", "19.90")
        assert stall.publish(stale).status is State.STALE
        pub = stall.publisher()
        amount = adopt.adopt(pub, "shelf", "K-7", reason="a sale by hand", by="ann", now=stall.clock())
        assert amount == stall.current("K-7") == Decimal("19.90")
        rows = stall.street.rows(audit_event, event_type="price.adopted")
        assert rows[0].payload["before"] == "20.00"
        stall.clock.sleep(60)
        later = stall.decide({"K-7": ("19.90", "19.50")}, at=stall.clock())["K-7"]
        stall.clock.sleep(1300)
        assert stall.publish(later).status is State.VERIFIED

    def test_the_incident_is_settled(self, stall: Stall, shelf: Shelf) -> None:
        """Taken over is looked at: no letter stays, and nobody raises it again the next time round."""
        pub = stall.publisher()
        stall.publish(stall.one("20.00", "19.40"), pub)
        shelf.put("K-7", "18.90")
        verify.patrol(pub, "shelf", now=stall.clock())
        assert stall.letters("incident")
        adopt.adopt(pub, "shelf", "K-7", reason="a sale by hand", by="ann", now=stall.clock())
        assert stall.letters() == []
        (found,) = verify.patrol(pub, "shelf", now=stall.clock())
        assert (found.ok, found.detail) == (True, "taken over by ann")
        assert stall.letters() == []
        # Another hand after that is another incident.
        shelf.put("K-7", "3.00")
        (found,) = verify.patrol(pub, "shelf", now=stall.clock())
        assert "the shop has 3.00 EUR, ours is 18.90" in found.detail
        assert len(stall.letters("incident")) == 1

    def test_a_decision_from_before_is_stale_and_no_incident(self, stall: Stall, shelf: Shelf) -> None:
        pub = stall.publisher()
        stall.publish(stall.one("20.00", "19.40"), pub)
        stall.clock.sleep(60)
        later = stall.decide({"K-7": ("19.40", "19.00")}, at=stall.clock())["K-7"]
        stall.clock.sleep(1300)
        shelf.put("K-7", "18.90")
        adopt.adopt(pub, "shelf", "K-7", reason="a sale by hand", by="ann", now=stall.clock())
        assert stall.publish(later, pub).status is State.STALE
        assert stall.letters() == []

    def test_a_sku_with_a_long_name(self, stall: Stall, shelf: Shelf) -> None:
        """As long as the catalogue takes one, and longer than the log's correlations."""
        name = "K" * 100
        stall.one(name=name)
        shelf.put(name, "18.90")
        adopt.adopt(stall.publisher(), "shelf", name, reason="a sale by hand", by="ann", now=stall.clock())
        (row,) = stall.street.rows(audit_event, event_type="price.adopted")
        assert (row.aggregate, len(row.correlation_id)) == (f"sku:{name}", 80)
        assert stall.unbroken()

    def test_not_without_a_reason_nor_what_cannot_be_ours(self, stall: Stall, shelf: Shelf) -> None:
        stall.one()
        pub = stall.publisher()
        for change, told in (
            ({"reason": " "}, "reason"),
            ({"sku": "K-0"}, "not in the catalogue"),
        ):
            given = {"reason": "why", "sku": "K-7", **change}
            with pytest.raises(UsageProblem, match=told):
                adopt.adopt(pub, "shelf", given["sku"], reason=given["reason"], by="ann", now=stall.clock())
        shelf.put("K-7", "0")
        with pytest.raises(UsageProblem, match="no price"):
            adopt.adopt(pub, "shelf", "K-7", reason="why", by="ann", now=stall.clock())
        shelf.currency = "CHF"
        shelf.put("K-7", "20")
        with pytest.raises(UsageProblem, match="CHF"):
            adopt.adopt(pub, "shelf", "K-7", reason="why", by="ann", now=stall.clock())
        shelf.deaf = 1
        with pytest.raises(Refused, match="cannot be read"):
            adopt.look(pub, "shelf", "K-7")
        shelf.twice.add("K-7")
        with pytest.raises(UsageProblem, match="2 times"):
            adopt.look(pub, "shelf", "K-7")
        assert stall.current("K-7") == Decimal("20.00")


def test_a_letter_is_written_once(stall: Stall, shelf: Shelf) -> None:
    of = stall.one()
    shelf.answers.append(Applied())
    pub = stall.publisher()
    stall.publish(of, pub)
    for _ in range(3):
        verify.again(pub, stall.publication(of).publication_id, now=stall.clock())
    assert len(stall.letters()) == 1
