from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import insert, update

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import approval, mapping, price_decision, sku_cost
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.workflows import exceptions, policies, review
from tests.factories import NOON
from tests.workflows.street import COSTS, NOW, SKUS, Street, codes

LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def waiting(street: Street) -> Street:
    """A SKU whose price moves too far to be allowed."""
    street.catalogue()
    street.observe("18.00")
    street.match()
    street.price()
    assert street.decision().status == "REVIEW_REQUIRED"
    return street


def test_the_queue_shows_every_kind_with_its_reasons(waiting: Street) -> None:
    waiting.observe("9.90", source="mugs", pack=6)
    waiting.observe("9.90", source="pots", needs_review=True, review_reasons=("tie",))
    waiting.match()
    body = {"version": "v2", "valid_from": "2026-03-01"}
    policies.propose(PolicyStore(waiting.engine), policies.read_policy(body), by="ann", now=NOON)
    items = review.queue(ReviewStore(waiting.engine))
    assert [item.kind for item in items] == ["price", "mapping", "candidate", "policy"]
    assert items[0].summary == "20.50 to 18.00 EUR (-12.2 %)"
    assert "down 12.2 %" in items[0].reasons[0]
    assert items[1].reasons == ("a pack of 6 there, of 1 here",)
    assert items[2].reasons == ("tie",)
    only = review.queue(ReviewStore(waiting.engine), kind=review.Kind.MAPPING)
    assert [item.id for item in only] == [items[1].id]
    for item in items:
        assert review.show(ReviewStore(waiting.engine), item.id)["kind"] == item.kind


def test_what_expired_does_not_stand_before_what_can_be_approved(street: Street) -> None:
    line = "\nK-2,Brewster Mug,Brewster,mugs,,BM-2,1,,EUR,DE,incl,20.50,no,B\n"
    street.catalogue(SKUS.rstrip() + line, COSTS.rstrip() + "\nK-2,10.00,1.00,0.50,,,2026-01-01\n")
    street.observe("18.00")
    street.match()
    street.price("K-1")
    later = NOON + timedelta(hours=24)
    street.observe("18.00", at=later, sku="M-2", name="Brewster Mug", gtin=None, mpn="BM-2")
    street.match(now=later)
    street.price("K-2", now=later + timedelta(minutes=1))
    store = ReviewStore(street.engine)
    assert [item.subject for item in review.queue(store)] == ["K-1", "K-2"]
    assert [item.subject for item in review.queue(store, now=later)] == ["K-1", "K-2"]
    assert [item.subject for item in review.queue(store, limit=1, now=later + timedelta(hours=1))] == ["K-2"]


def test_approving_a_price_keeps_who_and_why(waiting: Street) -> None:
    of = waiting.decision().decision_id
    assert review.show(ReviewStore(waiting.engine), "K-1")["decision_id"] == of
    review.approve(ReviewStore(waiting.engine), of[:8], by="ann", reason="we follow", now=LATER)
    with pytest.raises(UsageProblem, match="there is no review K-1"):
        review.show(ReviewStore(waiting.engine), "K-1")  # nothing of it waits any more
    made = waiting.decision()
    assert made.status == "APPROVED"
    assert made.expires_at == LATER + timedelta(hours=24)
    (row,) = waiting.rows(approval)
    assert (row.decision_id, row.action, row.actor, row.reason) == (of, "approve", "ann", "we follow")
    assert waiting.events("sku:K-1")[-1] == "price.approved"


def test_rejecting_a_price_blocks_it(waiting: Street) -> None:
    store = ReviewStore(waiting.engine)
    of = waiting.decision().decision_id
    review.reject(store, f"price:{of}", by="ann", reason="too low", now=LATER)
    assert waiting.decision().status == "BLOCKED"
    assert waiting.events("sku:K-1")[-1] == "price.rejected"
    with pytest.raises(review.NotReviewable, match="was rejected already"):
        review.approve(store, of, by="bob", reason="no", now=LATER)


def test_a_decision_is_settled_once(waiting: Street) -> None:
    store, of = ReviewStore(waiting.engine), waiting.decision().decision_id
    review.approve(store, of, by="ann", reason="yes", now=LATER)
    for act in (review.approve, review.reject):
        with pytest.raises(review.NotReviewable, match="is APPROVED and waits for nobody"):
            act(store, of, by="bob", reason="again", now=LATER)
    assert len(waiting.rows(approval)) == 1


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reason_is_mandatory(waiting: Street, reason: str) -> None:
    store, of = ReviewStore(waiting.engine), waiting.decision().decision_id
    for act in (review.approve, review.reject):
        with pytest.raises(UsageProblem, match="needs a reason"):
            act(store, of, by="ann", reason=reason, now=LATER)
    assert waiting.decision().status == "REVIEW_REQUIRED"


def test_an_expired_review_is_stale(waiting: Street) -> None:
    of = waiting.decision().decision_id
    tomorrow = NOW + timedelta(hours=24)
    with pytest.raises(review.NotReviewable, match="expired"):
        review.approve(ReviewStore(waiting.engine), of, by="ann", reason="late", now=tomorrow)
    assert waiting.decision().status == "STALE"
    assert waiting.rows(approval) == []


def test_a_block_cannot_be_approved(street: Street) -> None:
    street.catalogue(costs="")
    street.observe("20.00")
    street.match()
    street.price()
    of = street.decision().decision_id
    with pytest.raises(review.NotReviewable, match=r"blocked \(cost_missing\) and a reviewer cannot lift"):
        review.approve(ReviewStore(street.engine), of, by="ann", reason="please", now=LATER)
    assert street.decision().status == "BLOCKED"


def test_approving_the_first_use_of_a_models_mapping_is_remembered(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    with street.engine.begin() as conn:
        values = {"method": "model", "confidence": 0.999, "first_use_reviewed": False}
        conn.execute(update(mapping).values(**values))
    street.price()
    assert codes(street.decision()) == {"first_probabilistic_use"}
    of = street.decision().decision_id
    review.approve(ReviewStore(street.engine), of, by="ann", reason="same kettle", now=LATER)
    street.price(now=LATER)
    assert street.decision().status == "APPROVED"


def test_names_that_are_no_review_are_refused(waiting: Street) -> None:
    store = ReviewStore(waiting.engine)
    for name in ("price:nothing-of-the-kind", "mapping:99", "candidate:99", "policy:none"):
        with pytest.raises(UsageProblem, match=r"(?i)(there is )?no .*review|there is no policy"):
            review.approve(store, name, by="ann", reason="x", now=LATER)
    for name in ("mapping:x", "shelf:1"):
        with pytest.raises(UsageProblem):
            review.approve(store, name, by="ann", reason="x", now=LATER)


# --- the exception for two people ---------------------------------------------------------------


def stale_cost(street: Street, *, allowed: bool) -> str:
    street.catalogue()
    street.observe("20.00")
    street.match()
    with street.engine.begin() as conn:
        conn.execute(update(sku_cost).values(valid_to=NOON))
    if allowed:
        store = PolicyStore(street.engine)
        body = {"version": "v2", "valid_from": "2026-03-01", "default": {"allow_exceptions": True}}
        policies.propose(store, policies.read_policy(body), by="ann", now=NOON)
        policies.approve(store, "v2", by="bob", reason="agreed", now=NOON)
    street.price()
    assert codes(street.decision()) == {"cost_stale"}
    of: str = street.decision().decision_id
    return of


def test_the_exception_is_off_by_default(street: Street) -> None:
    of = stale_cost(street, allowed=False)
    with pytest.raises(Refused, match="has no exceptions"):
        exceptions.request(ReviewStore(street.engine), of, by="ann", reason="season", now=LATER)


def test_an_exception_takes_two_people(street: Street) -> None:
    store, of = ReviewStore(street.engine), stale_cost(street, allowed=True)
    with pytest.raises(UsageProblem, match="nobody has asked"):
        exceptions.grant(store, of, by="bob", reason="fine", now=LATER)
    exceptions.request(store, of, by="ann", reason="season", now=LATER)
    with pytest.raises(UsageProblem, match="somebody else must grant it"):
        exceptions.grant(store, of, by="ann", reason="fine", now=LATER)
    assert street.decision().status == "BLOCKED"
    exceptions.grant(store, of, by="bob", reason="fine", now=LATER)
    assert street.decision().status == "APPROVED"
    assert street.events("sku:K-1")[-2:] == ["approval.requested", "price.approved"]
    # It holds as long as a review is open, and not for good.
    assert street.decision().expires_at == LATER + timedelta(hours=24)


@pytest.mark.parametrize("spelling", ["Ann", " ann", "ANN ", "a\u200bnn", "ａｎｎ"])
def test_one_person_under_two_spellings_is_one_person(street: Street, spelling: str) -> None:
    store, of = ReviewStore(street.engine), stale_cost(street, allowed=True)
    exceptions.request(store, of, by="ann", reason="season", now=LATER)
    with pytest.raises(UsageProblem, match="somebody else must grant it"):
        exceptions.grant(store, of, by=spelling, reason="fine", now=LATER)
    rules = PolicyStore(street.engine)
    body = {"version": "v3", "valid_from": "2026-03-02"}
    policies.propose(rules, policies.read_policy(body), by="ann", now=LATER)
    with pytest.raises(UsageProblem, match="somebody else must approve it"):
        review.approve(store, "policy:v3", by=spelling, reason="fine", now=LATER)


@pytest.mark.parametrize("version", ["a b", "a\0b", "a+b", "ä", "a/b", "-a", "policy:a", "a\n"])
def test_a_policys_version_is_a_word_that_can_name_it_everywhere(street: Street, version: str) -> None:
    policy = policies.read_policy({"version": version, "valid_from": "2026-03-02"})
    with pytest.raises(UsageProblem, match="cannot name a version"):
        policies.propose(PolicyStore(street.engine), policy, by="ann", now=LATER)


def test_an_exception_is_for_the_newest_decision_while_it_is_young(street: Street) -> None:
    store, old = ReviewStore(street.engine), stale_cost(street, allowed=True)
    exceptions.request(store, old, by="ann", reason="season", now=LATER)
    with pytest.raises(UsageProblem, match="was made on 2026-03-14 12:20 UTC"):
        exceptions.grant(store, old, by="bob", reason="fine", now=NOW + timedelta(hours=24))
    street.price(now=LATER)
    with pytest.raises(UsageProblem, match="overtaken by a newer one of SKU K-1"):
        exceptions.grant(store, old, by="bob", reason="fine", now=LATER)
    assert street.rows(price_decision, decision_id=old)[0].status == "BLOCKED"


def test_what_stands_for_arithmetic_or_a_kill_switch_is_never_lifted(street: Street) -> None:
    of = stale_cost(street, allowed=True)
    from pricecrawl.db.tables import hold

    with street.engine.begin() as conn:
        conn.execute(insert(hold).values(scope="everything", reason="stop", set_by="ann", set_at=NOON))
    street.price(now=LATER)
    of = street.decision().decision_id
    with pytest.raises(Refused, match="blocked for good: hold_active"):
        exceptions.request(ReviewStore(street.engine), of, by="ann", reason="season", now=LATER)


def test_an_allowed_price_sold_under_todays_floor_needs_a_new_decision(waiting: Street) -> None:
    """Approval is of this decision: another price is another decision with a review of its own."""
    store, of = ReviewStore(waiting.engine), waiting.decision().decision_id
    review.approve(store, of, by="ann", reason="yes", now=LATER)
    waiting.observe("17.00", at=NOON + timedelta(minutes=40))
    waiting.price(now=NOON + timedelta(minutes=41))
    made = waiting.decision()
    assert (made.proposed_price, made.status) == (Decimal("17.00"), "REVIEW_REQUIRED")
