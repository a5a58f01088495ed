"""The same request under the same key is done once, whatever happens in between."""

from __future__ import annotations

import threading
from datetime import timedelta

import httpx
import pytest

from pricecrawl.db.idempotency import IdempotencyStore
from pricecrawl.db.tables import approval, idempotency_key, observation, price_decision, run
from pricecrawl.domain.roles import Role
from pricecrawl.web.call import REPLAYED
from pricecrawl.workflows import price
from tests.web.api import Api, problem
from tests.web.test_prices import SEEN
from tests.workflows.street import NOW


def test_asked_twice_it_is_done_once_and_answered_the_same(api: Api) -> None:
    first = api.post("/observations", SEEN, role=Role.OPERATOR, key="k-1")
    api.now += timedelta(hours=1)
    again = api.post("/observations", SEEN, role=Role.OPERATOR, key="k-1")
    assert (again.status_code, again.content) == (201, first.content)
    assert (first.headers.get(REPLAYED), again.headers.get(REPLAYED)) == (None, "true")
    assert len(api.street.rows(observation)) == len(api.street.rows(run)) == 1


def test_the_order_of_keys_in_the_body_is_no_other_request(lite: Api) -> None:
    first = lite.post("/observations", SEEN, role=Role.OPERATOR, key="k-1")
    again = lite.post("/observations", dict(reversed(SEEN.items())), role=Role.OPERATOR, key="k-1")
    assert again.content == first.content


def test_the_same_key_with_another_request_is_refused(api: Api) -> None:
    api.post("/observations", SEEN, role=Role.OPERATOR, key="k-1")
    other = api.post("/observations", SEEN | {"source_sku": "A-2"}, role=Role.OPERATOR, key="k-1")
    problem(other, 422, "idempotency_key_reused")
    elsewhere = api.post("/mappings/evaluate", {}, role=Role.OPERATOR, key="k-1")
    problem(elsewhere, 422, "idempotency_key_reused")
    assert len(api.street.rows(observation)) == 1


def test_a_key_belongs_to_who_brings_it(lite: Api) -> None:
    _, token = lite.new_token(Role.OPERATOR)
    assert lite.post("/observations", SEEN, role=Role.OPERATOR, key="k-1").status_code == 201
    mine = lite.post("/observations", SEEN | {"source_sku": "A-2"}, token=token, key="k-1")
    assert mine.status_code == 201
    assert len(lite.street.rows(observation)) == 2


def test_of_many_at_the_same_time_one_is_done(api: Api) -> None:
    of = api.priced("11.00")
    body = {"reason": "we follow them down"}
    answers: list[httpx.Response] = []
    gate = threading.Barrier(8)

    def ask() -> None:
        gate.wait()
        answers.append(api.post(f"/reviews/{of}/approve", body, role=Role.REVIEWER, key="race"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [answer for answer in answers if answer.is_success]
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "in_progress")
            assert answer.headers["retry-after"] == "1"
    assert done
    assert len({answer.content for answer in done}) == 1
    assert sum(REPLAYED not in answer.headers for answer in done) == 1
    assert len(api.street.rows(approval)) == 1
    late = api.post(f"/reviews/{of}/approve", body, role=Role.REVIEWER, key="race")
    assert late.content == done[0].content


def test_while_one_is_at_it_the_other_waits(lite: Api) -> None:
    """A request that is being worked on is told so; a failed one may be tried again under its key."""
    lite.street.catalogue()
    held = {"scope": "sku", "value": "K-9", "reason": "recall"}
    problem(lite.post("/holds", held, key="k"), 422, "not_possible")
    (row,) = lite.street.rows(idempotency_key)
    assert (row.status, row.response, row.principal) == (0, None, "owner")
    store = IdempotencyStore(lite.street.engine)
    store.claim("k", "owner", row.request_digest, now=NOW)
    problem(lite.post("/holds", held, key="k"), 409, "in_progress")
    store.reopen("k", "owner")
    problem(lite.post("/holds", held, key="k"), 422, "not_possible")
    problem(lite.post("/holds", held | {"value": "K-1"}, key="k"), 422, "idempotency_key_reused")


def test_a_process_that_died_after_deciding_finds_its_decisions_again(
    lite: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    lite.street.catalogue()
    lite.street.observe("20.00")
    lite.street.match()
    whole = price.run

    def dies(*arguments: object, **more: object) -> object:
        whole(*arguments, **more)  # type: ignore[arg-type]
        raise KeyError("the process is gone")

    monkeypatch.setattr(price, "run", dies)
    # The server drops the connection of a request that failed so.
    drops = {"Connection": "close"}
    failed = lite.post("/price-decisions/compute", {"skus": ["K-1"]}, key="k", headers=drops)
    problem(failed, 500, "internal")
    monkeypatch.setattr(price, "run", whole)
    lite.now += timedelta(seconds=30)
    done = lite.post("/price-decisions/compute", {"skus": ["K-1"]}, key="k").json()
    (kept,) = lite.street.rows(price_decision)
    assert [item["decision_id"] for item in done["decisions"]] == [kept.decision_id]


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ä"])
def test_a_key_is_one_short_word(lite: Api, key: str) -> None:
    answer = lite.post("/mappings/evaluate", {}, headers={"Idempotency-Key": key.encode()})
    problem(answer, 422, "invalid")
