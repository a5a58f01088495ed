"""Rows that somebody with all rights on the database wrote: none of them brings a price to a shop."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Connection, insert, text, update

from pricecrawl.db.tables import approval, audit_event, price_decision, publication
from pricecrawl.domain.errors import Refused
from pricecrawl.pricing.states import State
from pricecrawl.workflows import publish
from tests.factories import NOON
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def stall(street: Street, shelf: Shelf) -> Stall:
    return Stall(street, shelf)


def forge(street: Street, *statements: Any) -> None:
    """Write rows past the guards of the database."""
    with street.engine.begin() as conn:
        _unguard(conn)
        for statement in statements:
            assert conn.execute(statement).rowcount


def _unguard(conn: Connection) -> None:
    if conn.dialect.name == "sqlite":
        for action in ("update", "delete"):
            conn.execute(text(f"DROP TRIGGER IF EXISTS audit_event_no_{action}"))
    else:
        conn.execute(text("SET LOCAL session_replication_role = replica"))


def of_decision(of: str) -> Any:
    return update(price_decision).where(price_decision.c.decision_id == of)


def the_amount(of: str) -> list[Any]:
    return [of_decision(of).values(proposed_price=Decimal("19.00"))]


def the_floor(of: str) -> list[Any]:
    return [of_decision(of).values(allowed_floor=Decimal("1.00"))]


def an_event(of: str) -> list[Any]:
    told = audit_event.c
    where = (told.correlation_id == of, told.event_type == "price.approved")
    return [update(audit_event).where(*where).values(payload={"decision_id": of, "by": "cleo"})]


def an_approval(of: str) -> list[Any]:
    return [
        insert(approval).values(
            decision_id=of, action="approve", actor="cleo", role="reviewer", reason="x", decided_at=NOON
        )
    ]


FORGED: dict[str, Callable[[str], list[Any]]] = {
    "another amount": the_amount,
    "a lower floor": the_floor,
    "another event": an_event,
    "an approval": an_approval,
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_row_is_refused_when_a_price_is_asked_for(stall: Stall, shelf: Shelf, what: str) -> None:
    of = stall.one("20.00", "19.40")
    forge(stall.street, *FORGED[what](of))
    with pytest.raises(Refused, match="somebody changed rows, and `pricecrawl audit` names them"):
        publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    assert shelf.writes == []
    assert stall.decision(of).status == "BLOCKED"
    assert stall.street.rows(publication) == []


@pytest.mark.parametrize("what", FORGED)
def test_and_again_right_before_it_is_written(stall: Stall, shelf: Shelf, what: str) -> None:
    of = stall.one("20.00", "19.40")
    asked = publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    forge(stall.street, *FORGED[what](of))
    assert stall.run(asked).status is State.BLOCKED
    assert shelf.writes == []
    assert shelf.prices["K-7"] == Decimal("20.00")


def test_a_review_that_nobody_held(stall: Stall, shelf: Shelf) -> None:
    shelf.put("K-7", "20.00")
    of = stall.decide({"K-7": ("20.00", "15.00")})["K-7"]
    assert stall.decision(of).status == "REVIEW_REQUIRED"
    forge(stall.street, *an_approval(of), of_decision(of).values(status="APPROVED"))
    with pytest.raises(Refused, match=r"no event price\.approved stands behind that"):
        publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    assert shelf.writes == []


def test_a_verdict_and_findings_that_were_wiped(stall: Stall, shelf: Shelf) -> None:
    shelf.put("K-7", "20.00")
    of = stall.decide({"K-7": ("20.00", "15.00")})["K-7"]
    forge(stall.street, of_decision(of).values(status="APPROVED", verdict="ALLOW", findings=[]))
    with pytest.raises(Refused, match="somebody changed rows"):
        publish.request(stall.publisher(), of, "shelf", now=stall.clock())
    assert shelf.writes == []
