"""From an observation that is handed in to a decision that is settled, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.db.events import verify_chain
from pricecrawl.db.tables import (
    approval,
    audit_event,
    evidence,
    hold,
    market_price_snapshot,
    observation,
    price_decision,
    rejection,
    run,
    source,
)
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.domain.roles import Role
from tests.web.api import Api, problem
from tests.workflows.street import GTIN, NOW

SEEN: dict[str, Any] = {
    "source": "kettles",
    "source_sku": "A-1",
    "url": "https://kettles.example/products/brewster-kettle",
    "name": "Brewster Kettle 1 l",
    "brand": "Brewster",
    "gtin": GTIN,
    "prices": [{"text": "20,00 €"}],
    "availability": "in_stock",
    "tax_basis": "incl",
    "collector": "feed-reader 1.2",
}


def test_an_observation_goes_the_way_of_a_crawled_one(api: Api) -> None:
    api.street.catalogue()
    done = api.post("/observations", SEEN, role=Role.OPERATOR, key="one")
    assert done.status_code == 201, done.text
    made = done.json()
    assert (made["state"], made["price"], made["currency"]) == ("NORMALIZED", "20.00", "EUR")
    assert made["needs_review"] is False
    (row,) = api.street.rows(observation)
    assert (row.id, row.price, row.method, row.selector) == (
        made["observation_id"], Decimal("20.00"), "api", "feed-reader 1.2"
    )  # fmt: skip
    (page,) = api.street.rows(evidence)
    ref = EvidenceRef(page.digest, page.warc, page.offset, page.length, page.url, page.fetched_at)
    assert made["evidence"] == {
        "digest": ref.digest, "warc": ref.warc, "offset": ref.offset, "length": ref.length
    }  # fmt: skip
    kept = api.street.evidence.read(ref)
    assert kept.body == done.request.content
    assert page.kind == "posted"
    (crawl,) = api.street.rows(run)
    assert (crawl.outcome, crawl.coverage_reason, crawl.job) == ("finished", "scoped", "api:operator")

    mapped = api.post("/mappings/evaluate", {"source": "kettles"}, role=Role.OPERATOR)
    assert mapped.json() == {"listings": 1, "unmatched": 0, "added": {"AUTO_ACCEPTED": 1}, "changed": {}}
    market = api.post("/market-prices/compute", {"sku": "K-1"}, role=Role.OPERATOR).json()
    assert (market["market_price"], market["currency"], market["note"]) == ("20.00", "EUR", "")
    assert market["winning_observation_id"] == row.id
    assert api.street.rows(market_price_snapshot) == []

    decided = api.post("/price-decisions/compute", {"skus": ["K-1"]}, role=Role.OPERATOR, key="d")
    (decision,) = decided.json()["decisions"]
    assert (decision["status"], decision["proposed_price"]) == ("APPROVED", "20.00")
    assert decision["allowed_floor"] == "12.78"

    trace = api.get("/skus/K-1/decision-trace", role=Role.VIEWER).json()
    assert trace["complete"] is True
    assert trace["missing"] == []
    assert trace["decision"]["decision_id"] == decision["decision_id"]
    assert trace["offers"][0]["evidence"]["verified"] is True
    with api.street.engine.connect() as conn:
        assert verify_chain(conn) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"prices": [{"text": "ask us"}]}, "unreadable_price"),
        ({"prices": []}, "no_candidate"),
        ({"prices": [{"text": "0,00 €"}]}, "non_positive_price"),
        ({"prices": [{"text": "$20.00", "currency": "USD"}]}, "currency_mismatch"),
        ({"url": "ftp://kettles.example/x"}, "bad_url"),
    ],
)
def test_what_cannot_be_normalized_is_quarantined_with_its_evidence(
    lite: Api, change: dict[str, Any], reason: str
) -> None:
    done = lite.post("/observations", SEEN | change, role=Role.OPERATOR)
    assert done.status_code == 201
    made = done.json()
    assert (made["state"], made["reasons"], made["price"]) == ("QUARANTINED", [reason], None)
    assert lite.street.rows(observation) == []
    (kept,) = lite.street.rows(rejection)
    assert kept.reason == reason
    assert kept.evidence_id == lite.street.rows(evidence)[0].id


def test_a_doubtful_observation_opens_a_review(lite: Api) -> None:
    lite.post("/observations", SEEN, role=Role.OPERATOR)
    far = SEEN | {"prices": [{"text": "2000,00 €"}]}
    made = lite.post("/observations", far, role=Role.OPERATOR).json()
    assert made["needs_review"] is True
    assert "factor_100" in made["reasons"]
    shown = lite.get("/reviews?kind=candidate", role=Role.REVIEWER).json()["reviews"]
    assert [item["review_id"] for item in shown] == [made["review_id"]]
    path = f"/reviews/{made['review_id']}"
    detail = lite.get(path, role=Role.REVIEWER).json()["detail"]
    assert (detail["source"], len(detail["candidates"]) > 0) == ("kettles", True)
    other = {"reason": "so it is", "choice": 1, "amount": "20.00"}
    assert lite.post(f"{path}/approve", other, role=Role.REVIEWER).status_code in {409, 422}
    seen = other | {"amount": "2000"}
    assert lite.post(f"{path}/approve", seen, role=Role.REVIEWER).is_success
    again = lite.post(f"{path}/approve", {"reason": "so it is", "choice": 1}, role=Role.REVIEWER)
    assert again.status_code in {409, 422}


@pytest.mark.parametrize("delta", [timedelta(days=-8), timedelta(minutes=3)])
def test_an_observation_is_of_these_days(lite: Api, delta: timedelta) -> None:
    seen = SEEN | {"observed_at": (NOW + delta).isoformat()}
    problem(lite.post("/observations", seen, role=Role.OPERATOR), 422, "time_out_of_range")
    assert lite.street.rows(run) == []


def test_an_old_observation_does_not_look_like_the_present(lite: Api) -> None:
    assert lite.post("/observations", SEEN, role=Role.OPERATOR).status_code == 201
    old = SEEN | {"observed_at": (NOW - timedelta(hours=1)).isoformat()}
    problem(lite.post("/observations", old, role=Role.OPERATOR), 409, "outdated")
    assert len(lite.street.rows(observation)) == len(lite.street.rows(run)) == 1


def test_a_source_that_is_off_or_unknown_takes_none(lite: Api) -> None:
    problem(
        lite.post("/observations", SEEN | {"source": "nobody"}, role=Role.OPERATOR), 404, "no_such_source"
    )
    off = {"enabled": False, "reason": "their lawyer wrote"}
    assert lite.post("/sources/kettles/enabled", off, role=Role.OPERATOR).json() == {
        "source": "kettles", "enabled": False, "reason": "their lawyer wrote"
    }  # fmt: skip
    found = problem(lite.post("/observations", SEEN, role=Role.OPERATOR), 403, "refused")
    assert "their lawyer wrote" in found["detail"]
    assert lite.street.rows(source)[0].changed_by == "operator"
    on = {"enabled": True, "reason": "settled"}
    assert lite.post("/sources/kettles/enabled", on, role=Role.OPERATOR).json()["enabled"] is True
    assert lite.post("/observations", SEEN, role=Role.OPERATOR).status_code == 201


def test_while_a_crawl_is_under_way_the_source_is_busy(lite: Api) -> None:
    lite.street.crawl.sync_sources([("kettles", "shopify")])
    lite.street.crawl.open_run(source="kettles", platform="shopify", host="h", job=None, pid=1, now=NOW)
    found = lite.post("/observations", SEEN, role=Role.OPERATOR)
    problem(found, 409, "source_busy")
    assert found.headers["retry-after"] == "2"


def test_unknown_keys_and_prices_of_other_shapes_are_refused(lite: Api) -> None:
    for wrong in (
        SEEN | {"amount": "1.00"},
        SEEN | {"prices": [{"text": 20.0}]},
        SEEN | {"name": "a\u0000b"},
    ):
        found = problem(lite.post("/observations", wrong, role=Role.OPERATOR), 422, "invalid")
        assert found["errors"]
    assert lite.street.rows(run) == []


def test_reviews_are_settled_once_with_a_reason(api: Api) -> None:
    of = api.priced("11.00")
    (item,) = api.get("/reviews", role=Role.REVIEWER).json()["reviews"]
    assert item["review_id"] == f"price:{of}"
    shown = api.get(f"/reviews/price:{of}", role=Role.AUDITOR).json()
    assert (shown["kind"], shown["detail"]["decision_id"], shown["detail"]["sku"]) == ("price", of, "K-1")
    (offer,) = shown["offers"]
    assert (offer["role"], offer["evidence"]["verified"], offer["mapping"]["status"]) == (
        "winner", True, "AUTO_ACCEPTED"
    )  # fmt: skip
    problem(api.get("/reviews/price:nothing", role=Role.REVIEWER), 404, "no_such_review")
    for name in ("mapping:x", "mapping:" + "9" * 40, "candidate:" + "9" * 40):
        problem(api.get(f"/reviews/{name}", role=Role.REVIEWER), 404, "no_such_review")
        problem(
            api.post(f"/reviews/{name}/approve", {"reason": "x"}, role=Role.REVIEWER), 404, "no_such_review"
        )
    assert len(item["reasons"]) >= 2
    for empty in ({}, {"reason": ""}, {"reason": " \t"}):
        problem(api.post(f"/reviews/{of}/reject", empty, role=Role.REVIEWER), 422, "invalid")
    yes = {"reason": "we follow them down"}
    done = api.post(f"/reviews/price:{of}/approve", yes, role=Role.REVIEWER)
    assert done.json() == {"review_id": f"price:{of}", "result": "approved", "by": "reviewer"}
    assert api.street.decision().status == "APPROVED"
    (kept,) = api.street.rows(approval)
    assert (kept.actor, kept.role, kept.reason, kept.action) == (
        "reviewer", "reviewer", "we follow them down", "approve"
    )  # fmt: skip
    for verb in ("approve", "reject"):
        problem(api.post(f"/reviews/{of}/{verb}", yes, role=Role.REVIEWER), 409, "not_reviewable")
    problem(api.post("/reviews/price:nothing/approve", yes, role=Role.REVIEWER), 404, "no_such_review")


def test_a_block_is_lifted_by_nobody(api: Api) -> None:
    of = api.priced()
    api.now = NOW + timedelta(seconds=1)
    api.post("/holds", {"scope": "sku", "value": "K-1", "reason": "recall"}, role=Role.OPERATOR)
    api.post("/price-decisions/compute", {"skus": ["K-1"]}, role=Role.OPERATOR)
    blocked = api.street.decision()
    assert (blocked.status, blocked.decision_id != of) == ("BLOCKED", True)
    for role in (Role.REVIEWER, Role.OWNER):
        asked = api.post(f"/reviews/{blocked.decision_id}/approve", {"reason": "please"}, role=role)
        found = problem(asked, 409, "not_reviewable")
        assert "cannot lift a block" in found["detail"]


def test_a_decision_held_against_today_only_gets_stricter(api: Api) -> None:
    of = api.priced()
    path = f"/price-decisions/{of}/evaluate-policy"
    same = api.post(path, role=Role.OPERATOR).json()
    assert (same["verdict"], same["status"], same["current"]) == ("ALLOW", "APPROVED", True)
    api.post("/holds", {"scope": "everything", "reason": "storm"}, role=Role.OPERATOR)
    held = api.post(path, role=Role.OPERATOR).json()
    assert (held["verdict"], held["status"]) == ("BLOCK", "BLOCKED")
    assert [item["code"] for item in held["findings"]] == ["hold_active"]
    stored = api.street.decision()
    assert (stored.status, stored.verdict) == ("BLOCKED", "BLOCK")
    assert api.street.events("sku:K-1")[-2:] == ["policy.evaluated", "policy.evaluated"]
    problem(api.post(path, role=Role.OPERATOR), 409, "illegal_transition")
    problem(
        api.post(f"/price-decisions/{'0' * 36}/evaluate-policy", role=Role.OPERATOR), 404, "no_such_decision"
    )


def test_a_decision_whose_price_would_be_another_goes_stale(api: Api) -> None:
    of = api.priced()
    api.street.observe("19.80", at=NOW)
    api.now = NOW + timedelta(minutes=1)
    found = api.post(f"/price-decisions/{of}/evaluate-policy", role=Role.OPERATOR).json()
    assert (found["current"], found["status"], found["verdict"]) == (False, "STALE", "ALLOW")
    assert api.street.decision().status == "STALE"


def test_an_approval_that_today_would_not_be_given_goes_to_review(api: Api) -> None:
    of = api.priced()
    policy = {"version": "strict", "valid_from": "2026-03-14", "default": {"review_decrease": "0.01"}}
    api.post("/policies", {"policy": policy}, role=Role.POLICY_AUTHOR)
    api.post("/reviews/policy:strict/approve", {"reason": "agreed"})
    found = api.post(f"/price-decisions/{of}/evaluate-policy", role=Role.REVIEWER).json()
    assert (found["verdict"], found["status"], found["policy_version"]) == (
        "REVIEW", "REVIEW_REQUIRED", "strict"
    )  # fmt: skip
    stored = api.street.decision()
    assert (stored.status, stored.verdict) == ("REVIEW_REQUIRED", "REVIEW")
    assert [item["code"] for item in stored.findings] == ["decrease_over_limit"]
    assert api.street.events("sku:K-1")[-2:] == ["policy.evaluated", "approval.requested"]
    assert api.post(f"/reviews/{of}/approve", {"reason": "still"}, role=Role.REVIEWER).is_success
    same = api.post(f"/price-decisions/{of}/evaluate-policy", role=Role.REVIEWER).json()
    assert (same["verdict"], same["status"]) == ("REVIEW", "APPROVED")


def test_holds_are_set_listed_and_cleared(api: Api) -> None:
    api.street.catalogue()
    body = {"scope": "sku", "value": "K-1", "reason": "recall"}
    made = api.post("/holds", body, role=Role.REVIEWER)
    assert made.status_code == 201
    assert made.json()["set_by"] == "reviewer"
    assert api.post("/holds", body, role=Role.OPERATOR).json()["hold_id"] == made.json()["hold_id"]
    assert len(api.get("/holds", role=Role.VIEWER).json()["holds"]) == 1
    problem(api.post("/holds", body | {"value": "K-9"}, role=Role.OPERATOR), 422, "not_possible")
    gone = api.ask("DELETE", "/holds", params={"scope": "sku", "value": "K-1", "reason": "found"})
    assert gone.json() == {"scope": "sku", "value": "K-1", "cleared": 1}
    assert api.street.rows(hold)[0].cleared_by == "owner"
    again = api.ask("DELETE", "/holds", params={"scope": "sku", "value": "K-1", "reason": "found"})
    problem(again, 404, "not_held")


def test_a_policy_is_approved_by_somebody_else(api: Api) -> None:
    policy = {
        "policy": {"version": "2026-03", "valid_from": "2026-01-02", "default": {"required_margin": "0.2"}}
    }
    made = api.post("/policies", policy, role=Role.POLICY_AUTHOR)
    assert made.status_code == 201, made.text
    assert made.json() == {"version": "2026-03", "review_id": "policy:2026-03"}
    problem(api.post("/policies", policy, role=Role.POLICY_AUTHOR), 422, "not_possible")
    yes = {"reason": "agreed"}
    own = api.post("/reviews/policy:2026-03/approve", yes, role=Role.POLICY_AUTHOR)
    problem(own, 403, "own_work")
    problem(api.post("/reviews/policy:2026-03/approve", yes, role=Role.REVIEWER), 403, "role_not_allowed")
    _, other = api.new_token(Role.POLICY_AUTHOR)
    assert api.post("/reviews/policy:2026-03/approve", yes, token=other).is_success
    for version, who in (("2026-05", other), ("2026-06", None)):  # turned down, and taken back by its author
        body = {"policy": {"version": version, "valid_from": "2026-01-03"}}
        assert api.post("/policies", body, role=Role.POLICY_AUTHOR).is_success
        path = f"/reviews/policy:{version}/reject"
        answer = api.post(path, yes, token=who) if who else api.post(path, yes, role=Role.POLICY_AUTHOR)
        assert answer.json()["result"] == "rejected"
        assert f"policy:{version}" not in api.get("/reviews", role=Role.OWNER).text
        problem(api.post(f"/reviews/policy:{version}/approve", yes, token=other), 409, "settled")
    bad = {"policy": {"version": "2026-04", "default": {"required_margn": "0.2"}}}
    assert "required_margn" in problem(api.post("/policies", bad), 422, "not_possible")["detail"]


def test_events_are_followed(api: Api) -> None:
    api.priced()
    first = api.get("/events?limit=3", role=Role.AUDITOR).json()
    assert len(first["events"]) == 3
    rest = api.get(f"/events?after={first['last']}&limit=1000", role=Role.AUDITOR).json()
    everything = first["events"] + rest["events"]
    assert [item["event_id"] for item in everything] == [row.event_id for row in api.street.rows(audit_event)]
    assert api.get(f"/events?after={rest['last']}", role=Role.AUDITOR).json() == {
        "events": [], "last": rest["last"]
    }  # fmt: skip


def test_status_names_every_source(api: Api) -> None:
    api.priced()
    found = api.get("/status", role=Role.VIEWER).json()
    known = {row["source"]: row for row in found["sources"]}
    assert known["kettles"]["listings"] == 1
    assert (known["mugs"]["run_id"], known["mugs"]["enabled"]) == (None, True)


def test_a_sku_without_a_price_has_no_trace(api: Api) -> None:
    problem(api.get("/skus/K-1/decision-trace"), 404, "no_such_sku")
    api.street.catalogue()
    problem(api.get("/skus/K-1/decision-trace"), 404, "never_priced")
    problem(api.post("/market-prices/compute", {"sku": "K-9"}), 404, "no_such_sku")
    problem(api.post("/price-decisions/compute", {"skus": ["K-1", "K-9"]}), 404, "no_such_sku")
    assert api.street.rows(price_decision) == []
