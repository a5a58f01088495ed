"""Who may do what: every endpoint with every role, without a token, with a wrong one, with a revoked one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from pricecrawl.cli.main import build
from pricecrawl.db.tables import api_token, approval, audit_event, publication
from pricecrawl.db.tokens import TokenStore
from pricecrawl.domain.roles import Role
from pricecrawl.web.app import bare_app
from pricecrawl.web.limits import MAX_BODY
from pricecrawl.web.permissions import ALLOWED, REVIEWERS, Endpoint, as_table
from pricecrawl.workflows import tokens
from tests.factories import NOON
from tests.web.api import Api, problem

DOCS = Path(__file__).resolve().parents[2] / "docs"

NAMES = {
    "decision_id": "0" * 36,
    "publication_id": "0" * 36,
    "review_id": "price:0",
    "sku": "K-0",
    "slug": "nobody",
}
EVERYTHING = [(endpoint, role) for endpoint in Endpoint for role in Role]


def ask(api: Api, endpoint: Endpoint, **more: Any) -> Any:
    method, _, path = endpoint.value.partition(" ")
    path = re.sub(r"\{(\w+)\}", lambda match: NAMES[match[1]], path)
    body = {"json": {}} if method == "POST" else {}
    return api.ask(method, path, **body, **more)


def test_the_table_holds_for_every_endpoint_and_role(lite: Api) -> None:
    """403 says no for those whom the table leaves out; for the others it never does."""
    for endpoint, role in EVERYTHING:
        answer = ask(lite, endpoint, role=role)
        if role in ALLOWED[endpoint]:
            assert answer.status_code in {200, 404, 422}, (endpoint, role, answer.text)
        else:
            found = problem(answer, 403, "role_not_allowed")
            assert role.value in found["detail"]


@pytest.mark.parametrize("endpoint", Endpoint)
def test_without_a_good_token_there_is_nothing(lite: Api, endpoint: Endpoint) -> None:
    none = ask(lite, endpoint, role=None)
    problem(none, 401, "no_token")
    assert none.headers["www-authenticate"] == "Bearer"
    for wrong in ("x", "Bearer", lite.secrets[Role.OWNER][:-1], lite.secrets[Role.OWNER] + "x"):
        answer = ask(lite, endpoint, role=None, headers={"Authorization": f"Bearer {wrong}"})
        assert answer.status_code == 401
        problem(answer, 401, answer.json()["code"])
    basic = ask(lite, endpoint, role=None, headers={"Authorization": "Basic b3duZXI6eA=="})
    problem(basic, 401, "no_token")
    for role in sorted(ALLOWED[endpoint]):
        name, token = lite.new_token(role)
        assert ask(lite, endpoint, token=token).status_code != 401
        tokens.revoke(TokenStore(lite.street.engine), name, by="tests", now=NOON)
        problem(ask(lite, endpoint, token=token), 401, "bad_token")


def test_a_token_of_a_role_that_is_none_of_ours_opens_nothing(lite: Api) -> None:
    with lite.street.engine.begin() as conn:
        conn.execute(update(api_token).where(api_token.c.name == "owner").values(role="emperor"))
    for endpoint in Endpoint:
        found = problem(ask(lite, endpoint, role=Role.OWNER), 401, "bad_token")
        assert "role that is not known" in found["detail"]


def test_an_event_that_nothing_of_ours_wrote_is_told_of(lite: Api) -> None:
    (first, *_) = lite.street.rows(audit_event)
    with lite.street.engine.begin() as conn:
        conn.exec_driver_sql("DROP TRIGGER audit_event_no_update")
        conn.execute(update(audit_event).where(audit_event.c.id == first.id).values(event_type="price.given"))
    found = problem(lite.get("/events", role=Role.AUDITOR), 503, "storage_unavailable")
    assert f"event {first.id} has a type" in found["detail"]


def test_only_the_publisher_writes_a_price() -> None:
    for endpoint in (Endpoint.PUBLISH, Endpoint.VERIFY, Endpoint.ROLL_BACK):
        assert ALLOWED[endpoint] == {Role.PUBLISHER}
    for endpoint in (Endpoint.APPROVE, Endpoint.REJECT, Endpoint.PROPOSE_POLICY, Endpoint.COMPUTE_DECISIONS):
        assert Role.PUBLISHER not in ALLOWED[endpoint]


def test_who_brings_observations_in_settles_no_review() -> None:
    for role in ALLOWED[Endpoint.RECORD_OBSERVATION]:
        assert not any(role in roles for roles in REVIEWERS.values())


def test_every_route_is_in_the_table_and_the_other_way_round() -> None:
    routed = {
        f"{method.upper()} {path.removeprefix('/v1')}"
        for path, operations in bare_app().openapi()["paths"].items()
        for method in operations
    }
    assert routed == {endpoint.value for endpoint in Endpoint} == {endpoint.value for endpoint in ALLOWED}


def test_a_kind_of_review_is_settled_by_its_own_roles(lite: Api) -> None:
    for kind, roles in REVIEWERS.items():
        for role in ALLOWED[Endpoint.APPROVE]:
            for verb in ("approve", "reject"):
                answer = lite.post(f"/reviews/{kind}:1/{verb}", {"reason": "so be it"}, role=role)
                problem(answer, *((404, "no_such_review") if role in roles else (403, "role_not_allowed")))


def test_a_refusal_leaves_nothing_behind(lite: Api) -> None:
    of = lite.priced("11.00")
    before = len(lite.street.rows(audit_event))
    for role in Role:
        if role not in ALLOWED[Endpoint.APPROVE]:
            problem(lite.post(f"/reviews/{of}/approve", {"reason": "x"}, role=role), 403, "role_not_allowed")
        if role is not Role.PUBLISHER:
            asked = lite.post("/publications", {"price_decision_id": of}, role=role)
            problem(asked, 403, "role_not_allowed")
    assert lite.street.rows(approval) == lite.street.rows(publication) == []
    assert len(lite.street.rows(audit_event)) == before
    assert lite.street.decision().status == "REVIEW_REQUIRED"


def test_no_answer_and_no_event_holds_a_secret(lite: Api) -> None:
    lite.priced()
    secrets = list(lite.secrets.values())
    said = "".join(
        ask(lite, endpoint, role=role).text + str(ask(lite, endpoint, token=secret + "x").text)
        for endpoint in (Endpoint.EVENTS, Endpoint.STATUS, Endpoint.TRACE, Endpoint.PUBLISH)
        for role, secret in lite.secrets.items()
    )
    stored = "".join(str(tuple(row)) for table in (api_token, audit_event) for row in lite.street.rows(table))
    assert not any(secret in said + stored for secret in secrets)


def test_what_is_not_there_or_too_large_or_no_json_is_a_problem_document(lite: Api) -> None:
    problem(lite.get("/nothing"), 404, "not_found")
    assert problem(lite.ask("PUT", "/holds"), 405, "method_not_allowed")
    json = {"Content-Type": "application/json"}
    problem(lite.ask("POST", "/holds", content=b"{not json", headers=json), 400, "no_json")
    large = b'{"reason": "' + b"x" * MAX_BODY + b'"}'
    problem(lite.ask("POST", "/holds", content=large), 413, "too_large")
    problem(lite.ask("POST", "/holds", content=iter([large[:1000], large[1000:]])), 413, "too_large")
    deep = b"[" * 100_000
    assert lite.ask("POST", "/holds", content=deep, headers=json).status_code == 400


def test_the_documentation_has_the_table_as_it_is() -> None:
    assert as_table() in (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_committed_description_is_the_current_one(capsys: pytest.CaptureFixture[str]) -> None:
    build()(args=["openapi"], standalone_mode=False)
    current = capsys.readouterr().out
    kept = (DOCS / "openapi.json").read_text(encoding="utf-8")
    assert kept == current, "run `pricecrawl openapi > docs/openapi.json`"
