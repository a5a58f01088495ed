"""The publisher's three endpoints: a decision's id goes in, never a price."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, update

from pricecrawl.db.engine import open_engine
from pricecrawl.db.tables import audit_event, idempotency_key, price_decision, publication
from pricecrawl.domain.roles import Role
from pricecrawl.pricing.ports import Placement, Unknown
from pricecrawl.pricing.states import OPEN, State
from pricecrawl.web.call import REPLAYED
from pricecrawl.web.routes import publications as routes
from tests.web.api import Api, open_api, problem
from tests.workflows.shelf import Shelf
from tests.workflows.street import NOW


@pytest.fixture
def shelf() -> Shelf:
    made = Shelf()
    made.put("K-1", "20.50")
    return made


@pytest.fixture
def api(
    engine: Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: Shelf
) -> Iterator[Api]:
    with open_api(engine, database_url, tmp_path, monkeypatch, {"shelf": Placement(shelf)}) as made:
        yield made


def publish(api: Api, of: str, **more: Any) -> httpx.Response:
    return api.post("/publications", {"price_decision_id": of}, role=Role.PUBLISHER, **more)


def test_an_approved_decision_is_published_and_read_back_once(api: Api, shelf: Shelf) -> None:
    of = api.priced()
    done = publish(api, of)
    assert done.status_code == 201, done.text
    (made,) = done.json()["publications"]
    assert (made["status"], made["amount"], made["currency"]) == ("VERIFIED", "20.00", "EUR")
    assert (made["decision_id"], made["target"], made["verdict"]) == (of, "shelf", "verified")
    assert shelf.prices["K-1"] == Decimal("20.00")
    again = publish(api, of)
    assert (again.content, again.headers[REPLAYED]) == (done.content, "true")
    (kept,) = api.street.rows(idempotency_key)
    assert (kept.key, kept.principal) == (of, "publisher")
    other = publish(api, of, key="another")
    assert other.json() == done.json()
    assert len(shelf.writes) == len(api.street.rows(publication)) == 1
    told = [row.payload["by"] for row in api.street.rows(audit_event, event_type="price.published")]
    assert told == ["publisher"]
    trace = api.get("/skus/K-1/decision-trace", role=Role.VIEWER).json()
    assert trace["missing"] == []
    assert trace["publications"][0]["publication_id"] == made["publication_id"]


def test_there_is_no_way_to_give_a_price(api: Api, shelf: Shelf) -> None:
    of = api.priced()
    for more in ({"amount": "1.00"}, {"price": "1.00"}, {"sku": "K-1"}, {"target": "shelf"}):
        body = {"price_decision_id": of} | more
        problem(api.post("/publications", body, role=Role.PUBLISHER), 422, "invalid")
    problem(api.post("/publications", {"sku": "K-1"}, role=Role.PUBLISHER), 422, "invalid")
    assert shelf.writes == []


def test_what_is_not_approved_is_not_published(api: Api, shelf: Shelf) -> None:
    problem(publish(api, "0" * 36), 404, "no_such_decision")
    of = api.priced("11.00")
    found = problem(publish(api, of), 409, "not_publishable")
    assert "waits for review" in found["detail"]
    api.post(f"/reviews/{of}/reject", {"reason": "too low"}, role=Role.REVIEWER)
    problem(publish(api, of), 409, "not_publishable")
    assert (shelf.writes, api.street.rows(publication)) == ([], [])


def test_a_hold_is_read_when_the_price_is_written_and_the_key_is_free_after_it(
    api: Api, shelf: Shelf
) -> None:
    of = api.priced()
    api.post("/holds", {"scope": "target", "value": "shelf", "reason": "storm"}, role=Role.OPERATOR)
    assert "storm" in problem(publish(api, of), 409, "not_publishable")["detail"]
    assert shelf.writes == []
    api.ask("DELETE", "/holds", params={"scope": "target", "value": "shelf", "reason": "over"})
    assert publish(api, of).status_code == 201


def test_an_approval_that_ran_out_is_none(api: Api, shelf: Shelf) -> None:
    of = api.priced()
    api.now = NOW + timedelta(hours=25)
    problem(publish(api, of), 409, "not_publishable")
    assert shelf.writes == []


def test_many_requests_for_one_decision_write_once(api: Api, shelf: Shelf) -> None:
    of = api.priced()
    answers: list[httpx.Response] = []
    gate = threading.Barrier(6)

    def ask(number: int) -> None:
        gate.wait()
        answers.append(publish(api, of, key=None if number % 2 else f"key-{number}"))

    api.ticking = True
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        assert answer.status_code in {201, 409}, answer.text
    assert len(shelf.writes) == 1
    assert shelf.prices["K-1"] == Decimal("20.00")
    assert publish(api, of).json()["publications"][0]["status"] == "VERIFIED"


def test_what_is_not_settled_is_asked_for_again_under_its_key(
    api: Api, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the write is lost: the first answer says so, a later one under the same key is better."""
    of = api.priced()
    shelf.answers.append(Unknown("the line went dead"))
    monkeypatch.setattr(routes, "PATIENCE", timedelta(seconds=0))
    api.ticking = True
    (first,) = publish(api, of).json()["publications"]
    assert first["status"] == "PUBLISHING"
    api.now += timedelta(minutes=5)
    (later,) = publish(api, of).json()["publications"]
    for _ in range(5):
        if later["status"] == "VERIFIED":
            break
        api.now += timedelta(minutes=5)
        (later,) = publish(api, of).json()["publications"]
    assert later["status"] == "VERIFIED"
    assert shelf.applied == [("K-1", Decimal("20.00"))]
    assert len(api.street.rows(publication)) == 1


def test_looking_again_finds_what_somebody_else_wrote(api: Api, shelf: Shelf) -> None:
    of = api.priced()
    (made,) = publish(api, of).json()["publications"]
    path = f"/publications/{made['publication_id']}/verify"
    well = api.post(path, role=Role.PUBLISHER).json()
    assert (well["ok"], well["found"], well["mismatches"]) == (True, "20.00", [])
    shelf.put("K-1", "1.00")
    found = api.post(path, role=Role.PUBLISHER).json()
    assert (found["ok"], found["found"]) == (False, "1.00")
    assert "amount" in found["mismatches"]
    assert api.street.rows(audit_event, event_type="incident.raised")
    shelf.deaf = 10
    trouble = api.post(path, role=Role.PUBLISHER)
    problem(trouble, 503, "target_unavailable")
    assert trouble.headers["retry-after"] == "10"
    problem(api.post(f"/publications/{'0' * 36}/verify", role=Role.PUBLISHER), 404, "no_such_publication")


def test_back_to_the_last_verified_price(api: Api, shelf: Shelf) -> None:
    body = {"sku": "K-1", "reason": "a typing error of theirs"}
    problem(api.post("/rollbacks", body, role=Role.PUBLISHER), 404, "no_such_sku")
    first = api.priced()
    problem(api.post("/rollbacks", body, role=Role.PUBLISHER), 409, "nothing_to_roll_back")
    publish(api, first)
    problem(api.post("/rollbacks", body, role=Role.PUBLISHER), 409, "nothing_to_roll_back")
    api.street.observe("19.80", at=NOW)
    api.now = NOW + timedelta(minutes=1)
    (second,) = api.post("/price-decisions/compute", {"skus": ["K-1"]}, role=Role.OPERATOR).json()[
        "decisions"
    ]
    assert second["status"] == "APPROVED"
    (bad,) = publish(api, second["decision_id"]).json()["publications"]
    assert shelf.prices["K-1"] == Decimal("19.80")
    api.now += timedelta(minutes=1)
    problem(api.post("/rollbacks", body | {"reason": " "}, role=Role.PUBLISHER), 422, "invalid")
    problem(api.post("/rollbacks", body | {"target": "nowhere"}, role=Role.PUBLISHER), 404, "no_such_target")
    shelf.deaf = 1  # the shop is away for a moment: ask again, it is not the last word
    problem(api.post("/rollbacks", body, role=Role.PUBLISHER, key="back"), 503, "target_unavailable")
    done = api.post("/rollbacks", body, role=Role.PUBLISHER, key="back")
    assert done.status_code == 201, done.text
    back = done.json()
    assert (back["verdict"], back["to_decision_id"], back["takes_back"]) == (
        "ALLOW", first, bad["publication_id"]
    )  # fmt: skip
    assert back["publication"]["status"] == "VERIFIED"
    assert shelf.prices["K-1"] == Decimal("20.00")
    again = api.post("/rollbacks", body, role=Role.PUBLISHER, key="back")
    assert (again.content, again.headers[REPLAYED]) == (done.content, "true")
    assert len(shelf.writes) == 3
    assert len(api.street.rows(price_decision)) == 3


def test_without_a_target_nothing_can_be_published(lite: Api) -> None:
    of = lite.priced()
    found = problem(publish(lite, of), 409, "no_target")
    assert "PRICECRAWL_TARGET_" in found["detail"]


@pytest.mark.parametrize("state", State)
def test_every_step_out_of_every_other_state_is_a_conflict(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: Shelf, state: State
) -> None:
    engine = open_engine(sqlite_url)
    with open_api(engine, sqlite_url, tmp_path, monkeypatch, {"shelf": Placement(shelf)}) as api:
        of = api.priced("11.00")
        with engine.begin() as conn:
            conn.execute(update(price_decision).values(status=state.value))
        reason = {"reason": "so be it"}
        if state is not State.REVIEW_REQUIRED:
            for verb in ("approve", "reject"):
                asked = api.post(f"/reviews/{of}/{verb}", reason, role=Role.REVIEWER)
                problem(asked, 409, "not_reviewable")
        if state is not State.APPROVED:
            problem(publish(api, of), 409, "not_publishable")
        if state not in OPEN:
            asked = api.post(f"/price-decisions/{of}/evaluate-policy", role=Role.OPERATOR)
            problem(asked, 409, "illegal_transition")
        assert api.street.decision().status == state.value
        assert (shelf.writes, api.street.rows(publication)) == ([], [])
    engine.dispose()


@pytest.fixture
def other() -> Shelf:
    made = Shelf(name="other")
    made.put("K-1", "20.50")
    return made


@pytest.fixture
def two(
    engine: Engine,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shelf: Shelf,
    other: Shelf,
) -> Iterator[Api]:
    targets = {"shelf": Placement(shelf), "other": Placement(other)}
    with open_api(engine, database_url, tmp_path, monkeypatch, targets) as made:
        yield made


def test_what_one_of_two_targets_does_not_take(two: Api, shelf: Shelf, other: Shelf) -> None:
    """The other one is written all the same, and which was not is said; asked again, it is caught up with."""
    of = two.priced()
    two.post("/holds", {"scope": "target", "value": "shelf", "reason": "storm"}, role=Role.OPERATOR)
    done = publish(two, of)
    assert done.status_code == 201, done.text
    assert [made["target"] for made in done.json()["publications"]] == ["other"]
    assert "storm" in done.json()["refused"]["shelf"]
    assert (len(shelf.writes), other.prices["K-1"]) == (0, Decimal("20.00"))
    two.ask("DELETE", "/holds", params={"scope": "target", "value": "shelf", "reason": "over"})
    later = publish(two, of).json()
    assert {made["target"]: made["status"] for made in later["publications"]} == {
        "other": "VERIFIED",
        "shelf": "VERIFIED",
    }
    assert later["refused"] == {}
    assert (len(shelf.writes), len(other.writes)) == (1, 1)


def test_a_rollback_goes_to_its_own_target_alone(two: Api, shelf: Shelf, other: Shelf) -> None:
    publish(two, two.priced())
    two.street.observe("19.80", at=NOW)
    two.now = NOW + timedelta(minutes=1)
    made = two.post("/price-decisions/compute", {"skus": ["K-1"]}, role=Role.OPERATOR).json()
    publish(two, made["decisions"][0]["decision_id"])
    assert shelf.prices == other.prices == {"K-1": Decimal("19.80")}
    two.now += timedelta(minutes=1)
    body = {"sku": "K-1", "reason": "a typing error of theirs", "target": "other"}
    back = two.post("/rollbacks", body, role=Role.PUBLISHER).json()
    done = publish(two, back["decision_id"]).json()
    assert ([made["target"] for made in done["publications"]], done["refused"]) == (["other"], {})
    assert (shelf.prices["K-1"], other.prices["K-1"]) == (Decimal("19.80"), Decimal("20.00"))
