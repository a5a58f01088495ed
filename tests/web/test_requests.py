"""What a request must look like, whatever it asks for, and what every answer carries."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from pricecrawl.db.tables import candidate_review, hold, idempotency_key
from pricecrawl.domain.roles import Role
from pricecrawl.web.call import REPLAYED
from pricecrawl.web.permissions import Endpoint
from pricecrawl.web.requests import HEADER
from tests.web.api import Api, problem
from tests.web.test_access import NAMES
from tests.web.test_prices import SEEN

JSON = {"Content-Type": "application/json"}
HELD = {"scope": "sku", "value": "K-1", "reason": "recall"}
WRITES = [endpoint for endpoint in Endpoint if not endpoint.value.startswith("GET")]


def send(api: Api, body: bytes, **more: Any) -> Any:
    return api.ask("POST", "/policies", role=Role.POLICY_AUTHOR, content=body, headers=JSON, **more)


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b'"\\ud800"', "no Unicode"),
        (b'"a\\u0000b"', "U+0000"),
        (b'{"\\udc00": 1}', "no Unicode"),
        (b'{"a": 1, "a": 2}', "a key twice"),
        (b'{"a": 1, "\\u0061": 2}', "a key twice"),
        (b"1e999", "too large"),
        (b"-1e999", "too large"),
        (b"[" * 40 + b"]" * 40, "levels deep"),
        (b"[" * 900 + b"]" * 900, "levels deep"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "levels deep"),
    ],
)
def test_a_body_that_means_no_one_thing_is_refused_wherever_it_stands(
    lite: Api, value: bytes, words: str, key: str | None
) -> None:
    for body in (b'{"policy": {"x": %s}}' % value, b'{"policy": {}, "more": [%s]}' % value):
        found = problem(send(lite, body, key=key), 422, "invalid")
        assert words in found["detail"]
        assert found["errors"]


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b'{"policy": NaN}', b'{"policy": -Infinity}', b"{} {}", b"'x'", b"\xff", b'{"x": "\xe9"}'),
        *(b'{"policy": %s}' % (b"9" * 5000), b"[" * 100_000, b'{"a":' * 50_000),
    ],
)
def test_a_body_that_is_no_json_is_told_so(lite: Api, body: bytes) -> None:
    problem(send(lite, body), 400, "no_json")


@pytest.mark.parametrize(
    "kind",
    [
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"),
        *("", None, "application/json; charset=latin-1", "application/jsonx", "application/xml"),
    ],
)
def test_a_body_of_another_kind_is_no_json(lite: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    content = json.dumps(HELD).encode()
    answer = lite.ask("POST", "/holds", content=content, headers=headers)
    problem(answer, 415, "not_json")
    assert answer.headers["accept-post"] == "application/json"
    problem(lite.ask("POST", "/holds", role=None, content=content, headers=headers), 401, "no_token")


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=UTF-8", "application/a+json"]
)
def test_json_by_any_name_is_read(lite: Api, kind: str) -> None:
    lite.street.catalogue()
    content = json.dumps(HELD).encode()
    assert lite.ask("POST", "/holds", content=content, headers={"Content-Type": kind}).status_code == 201


@pytest.mark.parametrize("endpoint", Endpoint)
def test_a_method_that_an_address_does_not_take_is_told_which_it_takes(lite: Api, endpoint: Endpoint) -> None:
    path = endpoint.value.partition(" ")[2]
    takes = sorted(other.value.partition(" ")[0] for other in Endpoint if other.value.endswith(f" {path}"))
    for name, value in NAMES.items():
        path = path.replace(f"{{{name}}}", value)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - set(takes):
        answer = lite.ask(method, path)
        problem(answer, 405, "method_not_allowed")
        assert sorted(answer.headers["allow"].split(", ")) == takes


def test_an_address_has_one_spelling(lite: Api) -> None:
    for path in ("/events/", "//events", "/Events", "/events%2f"):
        problem(lite.get(path, follow_redirects=False), 404, "not_found")


@pytest.mark.parametrize("endpoint", [Endpoint.EVENTS, Endpoint.LIST_REVIEWS, Endpoint.CLEAR_HOLD])
def test_a_query_says_each_thing_once(lite: Api, endpoint: Endpoint) -> None:
    method, _, path = endpoint.value.partition(" ")
    query = {"EVENTS": "after=1&after=2", "LIST_REVIEWS": "limit=5&limit=6"}.get(
        endpoint.name, "scope=sku&value=K-1&value=K-2&reason=x"
    )
    found = problem(lite.ask(method, f"{path}?{query}"), 422, "invalid")
    assert "more than once" in found["detail"]


@pytest.mark.parametrize(
    "reason", ["", " ", "\u00a0", "\u200b", "\u2060\ufeff", "\u202e", "\u3000", "a\u001bb"]
)
def test_a_reason_can_be_read(lite: Api, reason: str) -> None:
    lite.street.catalogue()
    problem(lite.post("/holds", HELD | {"reason": reason}), 422, "invalid")
    assert lite.street.rows(hold) == []


@pytest.mark.parametrize("reason", ["x", "👍", "価格が違う", "Rückruf: zu heiß\nsiehe Brief"])
def test_any_script_is_a_reason(lite: Api, reason: str) -> None:
    lite.street.catalogue()
    assert lite.post("/holds", HELD | {"reason": reason}).json()["reason"] == reason


@pytest.mark.parametrize("enabled", ["off", "no", "false", 0, 1, "true", None, 0.0])
def test_a_switch_is_a_truth_value_and_nothing_like_one(lite: Api, enabled: Any) -> None:
    found = lite.post("/sources/mugs/enabled", {"enabled": enabled, "reason": "x"})
    problem(found, 422, "invalid")


@pytest.mark.parametrize("choice", [True, "1", 1.0, 0])
def test_a_choice_is_a_whole_number(lite: Api, choice: Any) -> None:
    body = {"reason": "x", "choice": choice}
    problem(lite.post("/reviews/candidate:1/approve", body), 422, "invalid")


@pytest.mark.parametrize(
    "at", [1773489600, "1773489600", 1773489600000, "2026-03-14", "2026-03-14T12:00:00", "12:00Z", True]
)
def test_a_time_is_iso_8601_with_an_offset(lite: Api, at: Any) -> None:
    problem(lite.post("/observations", SEEN | {"observed_at": at}, role=Role.OPERATOR), 422, "invalid")


def test_every_answer_has_the_name_of_its_request(lite: Api) -> None:
    mine = str(uuid4())
    for name in (mine, mine.upper(), None, "x", "a" * 36, mine + "x"):
        headers = {} if name is None else {HEADER: name}
        good = lite.get("/status", headers=headers)
        bad = lite.get("/nothing", headers=headers)
        large = lite.ask("POST", "/holds", content=b"x" * 300_000, headers=headers)
        for answer in (good, bad, large):
            told = answer.headers[HEADER]
            assert (told == mine) is (name is not None and name.lower() == mine)
            assert str(UUID(told)) == told
        for answer in (bad, large):
            assert answer.json()["instance"] == f"urn:uuid:{answer.headers[HEADER]}"


def test_a_failure_is_found_in_the_log_by_its_name(
    lite: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyError("pct_secret")

    monkeypatch.setattr("pricecrawl.web.routes.operations.source_status", fails)
    answer = lite.get("/status", headers={"Connection": "close"})
    found = problem(answer, 500, "internal")
    assert "pct_secret" not in answer.text
    assert found["instance"].removeprefix("urn:uuid:") in caplog.text


@pytest.mark.parametrize("endpoint", WRITES)
def test_whatever_is_asked_again_under_a_key_is_a_matter_of_that_key(lite: Api, endpoint: Endpoint) -> None:
    """No write looks at how things stand before it has looked at its key."""
    body = {
        Endpoint.RECORD_OBSERVATION: SEEN | {"source": "nobody"},
        Endpoint.EVALUATE_MAPPINGS: {"source": "nobody"},
        Endpoint.COMPUTE_MARKET_PRICES: {"sku": "K-0"},
        Endpoint.COMPUTE_DECISIONS: {"skus": ["K-0"]},
        Endpoint.APPROVE: {"reason": "x"},
        Endpoint.REJECT: {"reason": "x"},
        Endpoint.PROPOSE_POLICY: {"policy": {}},
        Endpoint.PUBLISH: {"price_decision_id": "0" * 36},
        Endpoint.ROLL_BACK: {"sku": "K-0", "reason": "x"},
        Endpoint.SWITCH_SOURCE: {"enabled": False, "reason": "x"},
        Endpoint.SET_HOLD: HELD,
    }.get(endpoint)
    role = {
        Endpoint.RECORD_OBSERVATION: Role.OPERATOR,
        Endpoint.PUBLISH: Role.PUBLISHER,
        Endpoint.VERIFY: Role.PUBLISHER,
        Endpoint.ROLL_BACK: Role.PUBLISHER,
    }.get(endpoint, Role.OWNER)
    query = "?scope=sku&value=K-0&reason=x" if endpoint is Endpoint.CLEAR_HOLD else ""
    method, _, path = endpoint.value.partition(" ")
    for name, value in NAMES.items():
        path = path.replace(f"{{{name}}}", value)
    first = lite.ask(method, path + query, role=role, key="k", json=body)
    assert first.status_code in {404, 409, 422}, first.text
    (row,) = lite.street.rows(idempotency_key)
    assert (row.key, row.status) == ("k", 0)


def test_a_hold_that_was_cleared_is_cleared_once_and_told_so_again(api: Api) -> None:
    api.street.catalogue()
    path = "/holds?scope=sku&value=K-1&reason=over"
    assert api.post("/holds", HELD).status_code == 201
    first = api.ask("DELETE", path, key="d-1")
    assert first.json() == {"scope": "sku", "value": "K-1", "cleared": 1}
    again = api.ask("DELETE", path, key="d-1")
    assert (again.status_code, again.content, again.headers[REPLAYED]) == (200, first.content, "true")
    problem(api.ask("DELETE", path, key="d-2"), 404, "not_held")
    assert api.post("/holds", HELD).status_code == 201
    assert api.ask("DELETE", path, key="d-1").content == first.content
    assert len(api.get("/holds").json()["holds"]) == 1


def test_what_is_not_there_is_404_and_what_is_settled_409(lite: Api) -> None:
    yes = {"reason": "x"}
    problem(lite.post("/reviews/wish:1/approve", yes), 404, "no_such_review")
    problem(lite.get("/reviews/wish:1"), 404, "no_such_review")
    back = {"sku": "K-0", "reason": "x"}
    problem(lite.post("/rollbacks", back, role=Role.PUBLISHER), 404, "no_such_sku")
    lite.street.observe("20.00")
    doubtful = SEEN | {"prices": [{"text": "2.00 €"}]}
    review = lite.post("/observations", doubtful, role=Role.OPERATOR).json()["review_id"]
    assert review is not None, lite.street.rows(candidate_review)
    assert lite.post(f"/reviews/{review}/reject", yes).is_success
    for verb in ("approve", "reject"):
        problem(lite.post(f"/reviews/{review}/{verb}", yes), 409, "settled")
