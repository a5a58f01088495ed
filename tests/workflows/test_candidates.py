"""Confirming and rejecting doubtful prices, on both databases, and what each teaches."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import Engine, select, update

from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.events import EventLog
from pricecrawl.db.learning import LearningStore
from pricecrawl.db.tables import candidate_review, listing, price_history, run
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method, PriceKind, Tier
from pricecrawl.domain.consensus import Preference, settle
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.observation import Observation
from pricecrawl.learning.statistics import LearnedSelector
from pricecrawl.workflows.candidates import KnownRules, confirm, reject
from tests.domain.consensus_cases import read
from tests.factories import NOON, an_observation, open_run

LATER = NOON + timedelta(hours=1)
NOW_RULE, OLD_RULE = ".buy .now", ".buy .was"


@pytest.fixture
def crawl(engine: Engine) -> CrawlStore:
    return CrawlStore(engine)


@pytest.fixture
def store(engine: Engine) -> LearningStore:
    return LearningStore(engine)


def open_run_of(crawl: CrawlStore) -> int:
    with crawl.engine.connect() as conn:
        return conn.execute(select(run.c.id)).scalar_one()


def doubtful() -> Observation:
    """JSON-LD and the page disagree, and there is a member's price."""
    candidates = settle(
        [
            read("29.99", Method.CUSTOM_CSS, NOW_RULE, tier=Tier.ROW),
            read("49.99", Method.JSON_LD),
            read("25.00", Method.MEMBER_PRICE, ".club"),
        ]
    ).candidates
    return an_observation(
        price="49.99",
        needs_review=True,
        review_reasons=("sources_disagree",),
        candidates=candidates,
        trace=("…",),
    )


@pytest.fixture
def number(crawl: CrawlStore) -> int:
    opened = open_run(crawl)
    crawl.save_batch(opened, [an_observation(price="30.00")], [])
    crawl.save_batch(opened, [doubtful()], [])
    with crawl.engine.connect() as conn:
        return conn.execute(select(candidate_review.c.id)).scalar_one()


def place(store: LearningStore, number: int, method: Method) -> int:
    return 1 + [c.method for c in store.review(number).candidates].index(method)


def the_listing(store: LearningStore):
    with store.engine.connect() as conn:
        return conn.execute(select(listing)).one()


def test_a_review_shows_every_candidate_with_member_and_list_prices(
    store: LearningStore, number: int
) -> None:
    (review,) = store.open_reviews()
    assert (review.id, review.reasons, review.source_sku) == (number, ("sources_disagree",), "A-1")
    assert {c.kind for c in review.candidates} == {PriceKind.STANDARD, PriceKind.MEMBER}
    assert store.open_reviews("elsewhere") == []


def test_confirming_sets_the_price_the_preference_and_the_leading_rule(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    rules = KnownRules(
        shop={PriceKind.STANDARD: [".row-rule", NOW_RULE]}, general={PriceKind.STANDARD: [".price"]}
    )
    done = confirm(
        store,
        number,
        place(store, number, Method.CUSTOM_CSS),
        by="ann",
        reason="buy box",
        now=LATER,
        rules=rules,
    )
    assert (done.candidate.amount, done.promoted) == (Decimal("29.99"), NOW_RULE)
    kept = the_listing(store)
    assert (kept.price, kept.method, kept.needs_review) == (Decimal("29.99"), "custom-css", False)
    assert (kept.preferred_method, kept.preferred_selector) == ("custom-css", NOW_RULE)
    learned = store.selectors("kettles")[PriceKind.STANDARD]
    assert [(e.selector, e.match_count, e.created_by) for e in learned] == [
        (NOW_RULE, 1, "ann"), (".row-rule", 0, "row"),
    ]  # fmt: skip
    assert crawl.anchors("kettles", ["A-1"])["A-1"][1] == Preference(Method.CUSTOM_CSS, NOW_RULE)
    with store.engine.connect() as conn:
        review = conn.execute(select(candidate_review)).one()
        prices = conn.execute(select(price_history.c.price).order_by(price_history.c.id)).scalars().all()
    assert (review.status, review.decided_by, review.chosen["amount"]) == ("approved", "ann", "29.99")
    assert prices == [Decimal("30.00"), Decimal("29.99")]
    assert store.open_reviews() == []
    (said,) = EventLog(store.engine).of_aggregate(f"listing:{review.listing_id}")
    assert said.event_type.value == "candidate.confirmed"


def test_v4_a_confirmation_clears_the_doubt_and_the_next_read_honours_it(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    confirm(store, number, place(store, number, Method.CUSTOM_CSS), by="ann", reason="buy box", now=LATER)
    anchor, preference = crawl.anchors("kettles", ["A-1"])["A-1"]
    again = settle(doubtful().candidates, anchor=anchor, preference=preference)
    assert (again.price, again.by_preference, again.needs_review) == (Decimal("29.99"), True, False)


def test_what_a_person_confirmed_is_known_while_it_is_the_accepted_price(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    assert crawl.confirmed("kettles", ["A-1"]) == {}
    confirm(store, number, place(store, number, Method.CUSTOM_CSS), by="ann", reason="buy box", now=LATER)
    said = crawl.confirmed("kettles", ["A-1", "B-2"])["A-1"]
    assert (said.price, said.currency, said.availability) == (Decimal("29.99"), "EUR", Availability.IN_STOCK)
    assert (said.reasons, said.confirmed_at) == (frozenset({"sources_disagree"}), LATER)
    assert crawl.confirmed("mugs", ["A-1"]) == {}
    crawl.save_batch(open_run_of(crawl), [an_observation(price="25.00")], [])
    assert crawl.confirmed("kettles", ["A-1"]) == {}


def test_a_confirmed_members_price_says_nothing_of_the_price(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    confirm(store, number, place(store, number, Method.MEMBER_PRICE), by="ann", reason="club", now=LATER)
    assert crawl.confirmed("kettles", ["A-1"]) == {}


def test_a_rule_takes_over_the_choices_that_it_replaces(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    """With a rule for the price the page is no longer read by looks, so nobody's choice may point there."""
    crawl.save_batch(open_run_of(crawl), [an_observation("B-2"), an_observation("C-3")], [])
    with store.begin() as tx:
        for sku, method in (("B-2", "buy-box"), ("C-3", "json-ld")):
            values = {"preferred_method": method, "preferred_selector": "p.x"}
            tx.execute(update(listing).where(listing.c.source_sku == sku).values(values))
    confirm(store, number, place(store, number, Method.CUSTOM_CSS), by="ann", reason="buy box", now=LATER)
    kept = crawl.anchors("kettles", ["B-2", "C-3"])
    assert kept["B-2"][1] == Preference(Method.CUSTOM_CSS, NOW_RULE)
    assert kept["C-3"][1] == Preference(Method.JSON_LD, "p.x")


def test_confirming_structured_data_promotes_nothing(store: LearningStore, number: int) -> None:
    done = confirm(store, number, place(store, number, Method.JSON_LD), by="ann", reason="right", now=LATER)
    assert done.promoted is None
    assert store.selectors("kettles") == {}
    assert the_listing(store).preferred_method == "json-ld"


def test_confirming_a_members_price_never_makes_it_the_price(store: LearningStore, number: int) -> None:
    done = confirm(
        store, number, place(store, number, Method.MEMBER_PRICE), by="ann", reason="club", now=LATER
    )
    kept = the_listing(store)
    assert (kept.price, kept.member_price, kept.preferred_method) == (Decimal(30), Decimal(25), None)
    assert done.promoted == ".club"
    assert list(store.selectors("kettles")) == [PriceKind.MEMBER]


def test_rejecting_all_keeps_the_accepted_price_and_teaches_nothing(
    store: LearningStore, number: int
) -> None:
    reject(store, number, by="ann", reason="the page is broken", now=LATER)
    kept = the_listing(store)
    assert (kept.price, kept.needs_review, kept.preferred_method) == (Decimal(30), False, None)
    assert store.selectors("kettles") == {}


def test_what_was_rejected_is_not_asked_again_until_the_page_says_something_else(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    reject(store, number, by="ann", reason="the page is broken", now=LATER)
    opened = open_run_of(crawl)
    assert crawl.save_batch(opened, [doubtful()], []).reviews == 0
    assert store.open_reviews() == []
    assert (the_listing(store).price, the_listing(store).needs_review) == (Decimal(30), True)
    other = replace(doubtful(), review_reasons=("sources_disagree", "tie"))
    assert crawl.save_batch(opened, [other], []).reviews == 1
    (review,) = store.open_reviews()
    reject(store, review.id, by="ann", reason="still broken", now=LATER)
    dearer = replace(doubtful(), candidates=(read("59.99", Method.JSON_LD), *doubtful().candidates[1:]))
    assert crawl.save_batch(opened, [dearer], []).reviews == 1
    crawl.save_batch(opened, [an_observation(price="30.00")], [])
    assert crawl.save_batch(opened, [dearer], []).reviews == 1


@pytest.mark.parametrize(
    ("choice", "reason", "problem"),
    [(9, "x", "candidates 1 to 3"), (0, "x", "candidates 1 to 3"), (1, " ", "--reason")],
)
def test_an_impossible_confirmation_changes_nothing(
    store: LearningStore, number: int, choice: int, reason: str, problem: str
) -> None:
    with pytest.raises(UsageProblem, match=problem):
        confirm(store, number, choice, by="ann", reason=reason, now=LATER)
    assert store.review(number).status == "open"
    assert the_listing(store).price == Decimal(30)


def test_a_list_that_was_refreshed_meanwhile_confirms_nothing_else(
    crawl: CrawlStore, store: LearningStore, number: int
) -> None:
    seen = place(store, number, Method.CUSTOM_CSS)
    newer = replace(doubtful(), candidates=doubtful().candidates[1:] + doubtful().candidates[:1])
    crawl.save_batch(open_run_of(crawl), [newer], [])
    with pytest.raises(UsageProblem, match=r"reads 25\.00, not 29\.99: the page may have been read again"):
        confirm(store, number, seen, amount=Decimal("29.99"), by="ann", reason="x", now=LATER)
    assert store.review(number).status == "open"
    again = place(store, number, Method.CUSTOM_CSS)
    done = confirm(store, number, again, amount=Decimal("29.99"), by="ann", reason="x", now=LATER)
    assert done.candidate.amount == Decimal("29.99")


def test_an_amount_without_a_sign_keeps_the_currency_it_was_settled_in(
    crawl: CrawlStore, store: LearningStore
) -> None:
    bare = replace(read("29.99", Method.CUSTOM_CSS, NOW_RULE), currency=None)
    doubted = replace(doubtful(), candidates=(bare,), currency="EUR")
    crawl.save_batch(open_run(crawl), [doubted], [])
    (review,) = store.open_reviews()
    confirm(store, review.id, 1, by="ann", reason="x", now=LATER)
    assert (the_listing(store).price, the_listing(store).currency) == (Decimal("29.99"), "EUR")
    with store.engine.connect() as conn:
        assert conn.execute(select(candidate_review.c.chosen)).scalar_one()["currency"] == "EUR"


def test_a_review_is_decided_once(store: LearningStore, number: int) -> None:
    reject(store, number, by="ann", reason="broken", now=LATER)
    with pytest.raises(UsageProblem, match="rejected already"):
        confirm(store, number, 1, by="bob", reason="late", now=LATER)
    with pytest.raises(UsageProblem, match="No candidate review 999"):
        reject(store, 999, by="ann", reason="x", now=LATER)


def learned(rule: str, amount: str) -> Observation:
    candidates = (read(amount, Method.CUSTOM_CSS, rule, tier=Tier.LEARNED), read(amount, Method.JSON_LD))
    return an_observation(price=amount, candidates=candidates)


def test_settled_observations_count_for_and_against_learned_rules(
    crawl: CrawlStore, store: LearningStore
) -> None:
    open_run(crawl)
    rules = [LearnedSelector(PriceKind.STANDARD, rule) for rule in (OLD_RULE, NOW_RULE, ".third")]
    with store.begin() as tx:
        store.save_selectors(tx, "kettles", PriceKind.STANDARD, rules, NOON)
    assert store.learn("kettles", [learned(NOW_RULE, "20"), doubtful(), an_observation()], LATER) == 1
    after = store.selectors("kettles")[PriceKind.STANDARD]
    assert [(e.selector, e.match_count, e.consecutive_failures) for e in after] == [
        (NOW_RULE, 1, 0), (OLD_RULE, 0, 1), (".third", 0, 1),
    ]  # fmt: skip
    assert after[0].last_matched_at == LATER
    assert store.learn("kettles", [an_observation()], LATER) == 0


def test_a_source_that_is_unknown_is_said(store: LearningStore) -> None:
    with pytest.raises(UsageProblem, match="No source “nowhere”"), store.begin() as tx:
        store.lock(tx, "nowhere")
