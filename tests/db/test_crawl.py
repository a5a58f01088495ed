"""The crawl store on both databases: runs, batches, history, misses and the gone streak."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, Table, func, insert, select, text, update
from sqlalchemy.exc import DataError

from pricecrawl.db.audit import verify_observations
from pricecrawl.db.crawl import CrawlStore, MissedListing, RejectionRow
from pricecrawl.db.events import verify_chain
from pricecrawl.db.runs import HEARTBEAT_STALE, process_alive
from pricecrawl.db.tables import (
    candidate_review,
    evidence,
    hold,
    listing,
    observation,
    price_history,
    rejection,
    run,
    skip_count,
    stock_history,
)
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Candidate, Method, PriceKind
from pricecrawl.domain.errors import SourceBusy, UsageProblem
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.preference import Preference
from pricecrawl.domain.run import CoverageReason, RunOutcome
from pricecrawl.domain.sanity import Anchor
from tests.factories import NOON, an_evidence_row, an_observation, crawl, finish, open_run
from tests.shared import examples

HOUR = timedelta(hours=1)
HELD_PROCESS = "import time; print('up', flush=True); time.sleep(60)"


@pytest.fixture
def store(engine: Engine) -> CrawlStore:
    return CrawlStore(engine)


def rows(store: CrawlStore, table: Table) -> list[Any]:
    with store.engine.connect() as conn:
        return list(conn.execute(select(table).order_by(*table.primary_key)))


def the_listing(store: CrawlStore, sku: str = "A-1") -> Any:
    with store.engine.connect() as conn:
        return conn.execute(select(listing).where(listing.c.source_sku == sku)).one()


def set_listing(store: CrawlStore, sku: str = "A-1", **values: Any) -> None:
    with store.engine.begin() as conn:
        conn.execute(update(listing).where(listing.c.source_sku == sku).values(**values))


def a_dead_process() -> int:
    """The number of a process that has ended and was reaped."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


# --- sources -----------------------------------------------------------------------------------


def test_syncing_sources_leaves_their_switches(store: CrawlStore) -> None:
    store.sync_sources([("kettles", "retailer"), ("mugs", "shopify")])
    store.set_enabled("kettles", False, by="ann", reason="they asked us to stop", now=NOON)
    store.sync_sources([("kettles", "oscar"), ("mugs", "shopify")])
    state = store.source_state("kettles")
    assert not state.enabled
    assert not state.may_run
    assert (state.disabled_reason, state.changed_by, state.changed_at) == (
        "they asked us to stop",
        "ann",
        NOON,
    )
    store.set_enabled("kettles", True, by="ann", reason="they agreed", now=NOON)
    assert store.source_state("kettles").may_run
    assert store.source_state("kettles").disabled_reason is None
    store.sync_sources([])


def test_an_unknown_source_is_a_usage_problem(store: CrawlStore) -> None:
    for call in (
        lambda: store.source_state("nope"),
        lambda: store.set_enabled("nope", True, by="ann", reason="", now=NOON),
        lambda: store.open_run(source="nope", platform="x", host="h", job=None, pid=1, now=NOON),
    ):
        with pytest.raises(UsageProblem, match="no source nope"):
            call()


# --- runs --------------------------------------------------------------------------------------


def test_one_run_per_source_and_per_host(store: CrawlStore) -> None:
    first = open_run(store, host="shop.example")
    with pytest.raises(SourceBusy, match="kettles is being crawled already"):
        open_run(store, host="elsewhere.example")
    with pytest.raises(SourceBusy, match="kettles is being crawled on the same host"):
        open_run(store, source="mugs", host="shop.example")
    other = open_run(store, source="pans", host="")
    open_run(store, source="lids", host="")
    assert finish(store, first)
    assert open_run(store, source="mugs", host="shop.example") > other


def test_runs_that_begin_at_the_same_moment(store: CrawlStore) -> None:
    store.sync_sources([("kettles", "retailer")])
    opened: list[int] = []
    refused: list[SourceBusy] = []
    barrier = threading.Barrier(6)

    def begin() -> None:
        barrier.wait()
        try:
            opened.append(open_run(store))
        except SourceBusy as error:
            refused.append(error)

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1
    assert len(refused) == 5


def test_a_run_whose_process_is_dead_is_interrupted(store: CrawlStore) -> None:
    process = subprocess.Popen([sys.executable, "-c", HELD_PROCESS], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    first = open_run(store, pid=process.pid)
    with pytest.raises(SourceBusy):
        open_run(store)
    process.send_signal(signal.SIGKILL)
    while process_alive(process.pid):  # dead before it is reaped, too
        time.sleep(0.01)
    second = open_run(store, now=NOON + timedelta(seconds=1))
    process.wait()
    process.stdout.close()
    old, new = rows(store, run)
    assert (old.id, old.outcome, old.coverage, old.finished_at) == (
        first,
        "interrupted",
        "partial",
        NOON + timedelta(seconds=1),
    )
    assert (new.id, new.outcome) == (second, "running")
    # The old process may still be about to write: it must not.
    with pytest.raises(SourceBusy, match="no longer open"):
        store.save_batch(first, [an_observation()], [])
    assert rows(store, observation) == rows(store, listing) == []
    assert not store.heartbeat(first, NOON + HOUR)
    assert not finish(store, first)
    assert store.last_complete_listings("kettles") is None
    with pytest.raises(ValueError, match="may not count misses"):
        store.count_misses(first, NOON)


def test_a_run_that_gave_no_sign_of_life_is_interrupted(store: CrawlStore) -> None:
    first = open_run(store)
    assert store.heartbeat(first, NOON + HOUR)
    with pytest.raises(SourceBusy):
        open_run(store, now=NOON + HOUR + HEARTBEAT_STALE)
    open_run(store, now=NOON + HOUR + HEARTBEAT_STALE + timedelta(seconds=1))
    assert rows(store, run)[0].outcome == "interrupted"


def test_on_another_machine_only_the_heartbeat_tells(store: CrawlStore) -> None:
    first = open_run(store, pid=a_dead_process())
    with store.engine.begin() as conn:
        conn.execute(update(run).values(machine="another"))
    with pytest.raises(SourceBusy, match="on another"):
        open_run(store)
    assert store.heartbeat(first, NOON)


def test_a_dead_run_of_the_same_host_is_interrupted_too(store: CrawlStore) -> None:
    open_run(store, source="mugs", host="shop.example", pid=a_dead_process())
    open_run(store, host="shop.example")
    assert [row.outcome for row in rows(store, run)] == ["interrupted", "running"]


def test_the_heartbeat_hears_the_kill_switch_and_holds(store: CrawlStore) -> None:
    run_id = open_run(store)
    assert store.heartbeat(run_id, NOON)
    for scope, value, stops in [
        ("source", "mugs", False),
        ("sku", "kettles", False),
        ("source", "kettles", True),
        ("everything", "", True),
    ]:
        with store.engine.begin() as conn:
            conn.execute(
                insert(hold).values(scope=scope, value=value, reason="a test", set_by="ann", set_at=NOON)
            )
        assert store.heartbeat(run_id, NOON) is not stops
        assert store.source_state("kettles").held_reason == ("a test" if stops else None)
        with store.engine.begin() as conn:
            conn.execute(update(hold).values(cleared_at=NOON, cleared_by="ann"))
        assert store.heartbeat(run_id, NOON)
    store.set_enabled("kettles", False, by="ann", reason="stop", now=NOON)
    assert not store.heartbeat(run_id, NOON)


def test_a_finished_run_has_its_numbers(store: CrawlStore) -> None:
    run_id = open_run(store)
    store.save_batch(run_id, [an_observation("A"), an_observation("B"), an_observation("A")], [])
    finish(store, run_id, pages=7, expectations_met=True, robots_digest="sha256:1", retries=2)
    (row,) = rows(store, run)
    assert (row.outcome, row.coverage, row.coverage_reason) == ("finished", "complete", "exhausted")
    assert (row.listings, row.pages, row.expectations_met, row.robots_digest) == (2, 7, True, "sha256:1")
    assert row.counts == {"retries": 2}
    assert store.listings_seen(run_id) == 2
    assert store.last_complete_listings("kettles") == 2
    assert [found.run_id for found in store.recent_runs("kettles")] == [run_id]


def test_the_last_complete_run_is_remembered(store: CrawlStore) -> None:
    crawl(store, an_observation("A"), an_observation("B"))
    crawl(store, an_observation("A"), now=NOON + HOUR, reason=CoverageReason.SHRUNK)
    crawl(store, an_observation("A"), now=NOON + 2 * HOUR, outcome=RunOutcome.ERROR)
    assert store.last_complete_listings("kettles") == 2


# --- batches -----------------------------------------------------------------------------------


def test_a_first_look_makes_every_row(store: CrawlStore) -> None:
    run_id = open_run(store)
    pages = [an_evidence_row(1), an_evidence_row(2, kind="robots", status=404)]
    seen = an_observation(original_price=Decimal("24.99"), evidence=pages[0].ref)
    result = store.save_batch(run_id, [seen], pages)
    assert (result.inserted, result.listings, result.new_listings) == (1, 1, 1)
    assert (result.price_changes, result.stock_changes, result.reviews) == (1, 1, 0)
    row = the_listing(store)
    assert (row.price, row.currency, row.original_price) == (Decimal("19.99"), "EUR", Decimal("24.99"))
    assert (row.availability, row.first_seen_at, row.last_seen_at) == ("in_stock", NOON, NOON)
    (fact,) = rows(store, observation)
    page, robots = rows(store, evidence)
    assert (fact.evidence_id, row.last_observation_id, row.last_seen_run) == (page.id, fact.id, run_id)
    assert (page.digest, page.offset, page.source, page.run_id) == (
        pages[0].ref.digest,
        1000,
        "kettles",
        run_id,
    )
    assert (robots.kind, robots.status) == ("robots", 404)
    assert [(row.price, row.observation_id) for row in rows(store, price_history)] == [
        (Decimal("19.99"), fact.id)
    ]
    assert [(row.availability, row.previous, row.cause) for row in rows(store, stock_history)] == [
        ("in_stock", None, "observed")
    ]


def test_one_page_may_stand_behind_listings_of_several_batches(store: CrawlStore) -> None:
    run_id = open_run(store)
    page = an_evidence_row(5)
    store.save_batch(run_id, [an_observation("A", evidence=page.ref)], [page])
    store.save_batch(run_id, [an_observation("B", evidence=page.ref)], [])
    # Another process, which does not remember the page, and one that was never indexed.
    again = CrawlStore(store.engine)
    unknown = an_evidence_row(6)
    again.save_batch(
        run_id, [an_observation("C", evidence=page.ref), an_observation("D", evidence=unknown.ref)], [page]
    )
    assert [row.offset for row in rows(store, evidence)] == [5000, 6000]
    ids = [row.evidence_id for row in rows(store, observation)]
    assert ids[0] == ids[1] == ids[2] != ids[3]


@pytest.mark.parametrize(
    ("change", "is_price", "is_stock"),
    [
        ({}, False, False),
        ({"price": Decimal("19.990")}, False, False),
        ({"name": "Kettle, blue", "url": "https://kettles.example/new"}, False, False),
        ({"price": Decimal("19.98")}, True, False),
        ({"currency": "CHF"}, True, False),
        ({"original_price": Decimal(25)}, True, False),
        ({"member_price": Decimal(18)}, True, False),
        ({"availability": Availability.OUT_OF_STOCK}, False, True),
        ({"availability": Availability.UNKNOWN}, False, False),
        ({"price": None, "currency": None}, False, False),
        ({"price": None, "availability": Availability.OUT_OF_STOCK}, False, True),
        ({"price": Decimal(1), "needs_review": True, "review_reasons": ("tie",)}, False, False),
    ],
)
def test_history_has_changes_only(
    store: CrawlStore, change: dict[str, Any], is_price: bool, is_stock: bool
) -> None:
    crawl(store, an_observation())
    run_id = open_run(store, now=NOON + HOUR)
    later = an_observation(**change, observed_at=NOON + HOUR)
    result = store.save_batch(run_id, [later], [])
    assert (result.price_changes, result.stock_changes) == (int(is_price), int(is_stock))
    assert len(rows(store, price_history)) == 1 + is_price
    assert len(rows(store, stock_history)) == 1 + is_stock
    assert len(rows(store, observation)) == 2
    row = the_listing(store)
    assert (row.first_seen_at, row.last_seen_at) == (NOON, NOON + HOUR)
    assert row.name == later.name
    if not is_price:
        assert (row.price, row.currency) == (Decimal("19.99"), "EUR")
    if is_stock:
        assert rows(store, stock_history)[-1].previous == "in_stock"


def test_a_listing_seen_twice_in_a_batch_is_folded_in_order(store: CrawlStore) -> None:
    run_id = open_run(store)
    prices = ["10", "11", "11", "10"]
    result = store.save_batch(run_id, [an_observation("A", price) for price in prices], [])
    assert (result.inserted, result.listings, result.price_changes) == (4, 1, 3)
    assert [row.price for row in rows(store, price_history)] == [10, 11, 10]
    assert the_listing(store, "A").price == 10


def test_nothing_of_a_bad_batch_is_kept(store: CrawlStore) -> None:
    run_id = open_run(store)
    with pytest.raises(TypeError, match="time zone"):
        store.save_batch(
            run_id,
            [an_observation("A"), an_observation("B", observed_at=NOON.replace(tzinfo=None))],
            [an_evidence_row(1)],
        )
    with pytest.raises(ValueError, match="one source"):
        store.save_batch(run_id, [an_observation("A"), an_observation("B", source="mugs")], [])
    assert rows(store, listing) == rows(store, observation) == rows(store, evidence) == []
    assert store.save_batch(run_id, [], []).inserted == 0
    assert store.save_batch(run_id, [], [an_evidence_row(1)]).inserted == 0
    assert len(rows(store, evidence)) == 1


def test_text_that_no_database_takes_is_made_storable(store: CrawlStore) -> None:
    run_id = open_run(store)
    store.save_batch(run_id, [an_observation(name="Kett\x00le \ud800 – ☕", variant="a\x00")], [])
    assert the_listing(store).name == "Kettle ? – ☕"
    assert the_listing(store).variant == "a"


# --- doubt -------------------------------------------------------------------------------------


def doubtful(price: str | None = "1.00", **changes: Any) -> Observation:
    found = Candidate(PriceKind.STANDARD, Decimal("1.00"), "EUR", Method.GENERIC_CSS, ".price", text="1 €")
    values: dict[str, Any] = {
        "needs_review": True,
        "review_reasons": ("implausible_move",),
        "candidates": (found,),
        "trace": ("moved by 95 %",),
    }
    return an_observation(price=price, **(values | changes))


def test_doubt_opens_one_review_and_leaves_the_price(store: CrawlStore) -> None:
    crawl(store, an_observation())
    run_id = open_run(store, now=NOON + HOUR)
    assert store.save_batch(run_id, [doubtful(), doubtful("2.00")], []).reviews == 1
    assert store.save_batch(run_id, [doubtful("3.00", review_reasons=("tie",))], []).reviews == 0
    (review,) = rows(store, candidate_review)
    assert (review.status, review.reasons, review.trace) == ("open", ["tie"], ["moved by 95 %"])
    assert review.observation_id == rows(store, observation)[-1].id
    assert review.candidates[0] | {"amount": "1.00", "method": "generic-css"} == review.candidates[0]
    assert the_listing(store).price == Decimal("19.99")
    assert the_listing(store).needs_review
    assert rows(store, run)[-1].reviews == 1
    # A later read without doubt answers the question, and the next doubt asks a new one.
    store.save_batch(run_id, [an_observation(price="18.00")], [])
    assert [row.status for row in rows(store, candidate_review)] == ["superseded"]
    assert (the_listing(store).price, the_listing(store).needs_review) == (18, False)
    assert store.save_batch(run_id, [an_observation(price="17.00"), doubtful()], []).reviews == 1
    assert [row.status for row in rows(store, candidate_review)] == ["superseded", "open"]
    assert the_listing(store).price == 17


def test_a_listing_that_began_in_doubt_has_no_price(store: CrawlStore) -> None:
    run_id = open_run(store)
    result = store.save_batch(run_id, [doubtful()], [])
    assert (result.reviews, result.price_changes) == (1, 0)
    assert the_listing(store).price is None
    assert store.anchors("kettles", ["A-1"])["A-1"][0].price is None


def test_a_decided_review_is_history(store: CrawlStore) -> None:
    run_id = open_run(store)
    store.save_batch(run_id, [doubtful()], [])
    with store.engine.begin() as conn:
        conn.execute(update(candidate_review).values(status="approved"))
    assert store.save_batch(run_id, [doubtful()], []).reviews == 1
    assert [row.status for row in rows(store, candidate_review)] == ["approved", "open"]


def test_anchors(store: CrawlStore) -> None:
    crawl(store, an_observation("A", "19.99"), an_observation("B", None, currency=None))
    set_listing(store, "A", preferred_method="custom-css", preferred_selector=".now")
    found = store.anchors("kettles", ["A", "B", "C"])
    assert found == {
        "A": (
            Anchor(Decimal("19.99"), "EUR", Availability.IN_STOCK),
            Preference(Method.CUSTOM_CSS, ".now"),
        ),
        "B": (Anchor(None, None, Availability.IN_STOCK), None),
    }
    assert store.anchors("mugs", ["A"]) == {}
    assert store.anchors("kettles", []) == {}
    assert len(store.anchors("kettles", ["A", *(f"X{n}" for n in range(2000)), "B"])) == 2


# --- rejections and skips ----------------------------------------------------------------------


def test_rejections_and_skips_are_rows_and_counts(store: CrawlStore) -> None:
    run_id = open_run(store)
    page = an_evidence_row(3)
    store.save_rejections(
        run_id,
        [
            RejectionRow("A", "https://x.example/a", "no_name", "", NOON, page.ref),
            RejectionRow("", "", "no_source_sku", "s" * 900, NOON),
        ],
    )
    store.save_skips(run_id, {"gift_card": (2, "GC-1"), "no_price": (1, "P")})
    store.save_skips(run_id, {"gift_card": (5, "GC-9")})
    store.save_rejections(run_id, [])
    store.save_skips(run_id, {})
    assert [(row.reason, row.source_sku) for row in rows(store, rejection)] == [
        ("no_name", "A"),
        ("no_source_sku", ""),
    ]
    assert rows(store, rejection)[0].evidence_id == rows(store, evidence)[0].id
    assert [(row.reason, row.count, row.example) for row in rows(store, skip_count)] == [
        ("gift_card", 5, "GC-9"),
        ("no_price", 1, "P"),
    ]
    (row,) = rows(store, run)
    assert (row.rejections, row.skips) == (2, 6)


# --- misses ------------------------------------------------------------------------------------


def counters(store: CrawlStore) -> dict[str, tuple[int, str]]:
    return {row.source_sku: (row.consecutive_misses, row.availability) for row in rows(store, listing)}


def test_three_complete_runs_without_it_make_it_out_of_stock(store: CrawlStore) -> None:
    crawl(store, an_observation("A"), an_observation("B"))
    for number in (1, 2):
        crawl(store, an_observation("A"), now=NOON + number * HOUR)
        assert counters(store) == {"A": (0, "in_stock"), "B": (number, "in_stock")}
    run_id = crawl(store, an_observation("A"), now=NOON + 3 * HOUR)
    assert counters(store) == {"A": (0, "in_stock"), "B": (3, "out_of_stock")}
    last = rows(store, stock_history)[-1]
    assert (last.availability, last.previous, last.cause, last.run_id) == (
        "out_of_stock",
        "in_stock",
        "missing",
        run_id,
    )
    assert last.changed_at == NOON + 3 * HOUR + timedelta(minutes=5)
    assert rows(store, run)[-1].misses == 1
    crawl(store, an_observation("A"), now=NOON + 4 * HOUR)
    assert counters(store)["B"] == (4, "out_of_stock")
    assert len(rows(store, stock_history)) == 3
    crawl(store, an_observation("A"), an_observation("B"), now=NOON + 5 * HOUR)
    assert counters(store) == {"A": (0, "in_stock"), "B": (0, "in_stock")}


def test_counting_returns_who_is_out_and_counts_once_per_run(store: CrawlStore) -> None:
    crawl(store, an_observation("A"), an_observation("B"))
    set_listing(store, "B", consecutive_misses=2)
    run_id = open_run(store, now=NOON + HOUR)
    store.save_batch(run_id, [an_observation("A")], [])
    with pytest.raises(ValueError, match="may not count misses"):
        store.count_misses(run_id, NOON)
    finish(store, run_id)
    out = store.count_misses(run_id, NOON + HOUR)
    assert out == [MissedListing(the_listing(store, "B").id, "B", "in_stock")]
    assert store.count_misses(run_id, NOON + HOUR) == []
    assert counters(store) == {"A": (0, "in_stock"), "B": (3, "out_of_stock")}


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (outcome, reason)
        for outcome in RunOutcome
        for reason in CoverageReason
        if outcome is not RunOutcome.RUNNING
    ],
)
def test_no_other_ending_moves_a_counter(
    sqlite_url: str, outcome: RunOutcome, reason: CoverageReason
) -> None:
    from pricecrawl.db.engine import open_engine

    store = CrawlStore(open_engine(sqlite_url))
    crawl(store, an_observation("A"), an_observation("B"))
    run_id = crawl(store, an_observation("A"), now=NOON + HOUR, outcome=outcome, reason=reason)
    if outcome is RunOutcome.FINISHED and reason in {CoverageReason.COUNTED, CoverageReason.EXHAUSTED}:
        store.count_misses(run_id, NOON)
        assert counters(store)["B"][0] == 1
    else:
        with pytest.raises(ValueError, match="may not count misses"):
            store.count_misses(run_id, NOON)
        assert counters(store)["B"][0] == 0
    store.engine.dispose()


def test_misses_of_one_source_leave_the_others(store: CrawlStore) -> None:
    crawl(store, an_observation("A"))
    run_id = open_run(store, source="mugs")
    finish(store, run_id)
    store.count_misses(run_id, NOON)
    assert counters(store) == {"A": (0, "in_stock")}


def test_a_listing_that_was_seen_but_not_understood_is_not_missing(store: CrawlStore) -> None:
    crawl(store, an_observation("A"), an_observation("B"), an_observation("C"))
    set_listing(store, "A", consecutive_misses=2)
    run_id = open_run(store, now=NOON + HOUR)
    store.save_rejections(run_id, [RejectionRow("A", "", "unreadable_price", "", NOON)])
    store.mark_seen(run_id, ["B"])
    finish(store, run_id)
    store.count_misses(run_id, NOON + HOUR)
    assert {sku: misses for sku, (misses, _) in counters(store).items()} == {"A": 0, "B": 0, "C": 1}


def test_an_unknown_stock_ends_only_what_absence_made(store: CrawlStore) -> None:
    """Out of stock by absence ends when it is seen; out of stock by its page stays."""
    crawl(store, an_observation("A"), an_observation("B", availability=Availability.OUT_OF_STOCK))
    for number in (1, 2, 3):
        stay = [an_observation("B", availability=Availability.OUT_OF_STOCK)]
        crawl(store, *stay, now=NOON + number * HOUR)
    assert counters(store) == {"A": (3, "out_of_stock"), "B": (0, "out_of_stock")}
    unknown = [an_observation(sku, availability=Availability.UNKNOWN) for sku in ("A", "B")]
    crawl(store, *unknown, now=NOON + 4 * HOUR)
    assert counters(store) == {"A": (0, "unknown"), "B": (0, "out_of_stock")}
    assert rows(store, stock_history)[-1].cause == "seen_again"


def test_counting_misses_of_a_large_source_is_a_few_statements(store: CrawlStore) -> None:
    run_id = open_run(store)
    for start in range(0, 3000, 500):
        store.save_batch(run_id, [an_observation(f"S{n}") for n in range(start, start + 500)], [])
    finish(store, run_id)
    with store.engine.begin() as conn:
        conn.execute(update(listing).values(consecutive_misses=2))
    second = open_run(store, now=NOON + HOUR)
    finish(store, second)
    began = time.perf_counter()
    assert len(store.count_misses(second, NOON + HOUR)) == 3000
    assert time.perf_counter() - began < 5
    with store.engine.connect() as conn:
        out = select(func.count()).select_from(stock_history).where(stock_history.c.cause == "missing")
        assert conn.execute(out).scalar_one() == 3000


# --- gone --------------------------------------------------------------------------------------


def test_three_gone_results_pause_a_listing_with_one_notice(store: CrawlStore) -> None:
    crawl(store, an_observation("A"))
    told = []
    for number in (1, 2, 3, 4):
        run_id = open_run(store, now=NOON + number * HOUR)
        result = store.gone("kettles", "A", run_id, NOON + number * HOUR)
        assert result is not None
        repeated = store.gone("kettles", "A", run_id, NOON + number * HOUR)
        assert repeated is not None
        assert (repeated.streak, repeated.newly_paused) == (number, False)
        told.append(result.newly_paused)
        expected = "not_available" if number >= 3 else "in_stock"
        row = the_listing(store, "A")
        assert (row.gone_streak, row.availability, row.checking_paused) == (number, expected, number >= 3)
        finish(store, run_id)
    assert told == [False, False, True, False]
    assert [(row.availability, row.cause) for row in rows(store, stock_history)] == [
        ("in_stock", "observed"),
        ("not_available", "gone"),
    ]
    assert store.paused("kettles", ["A", "B"]) == {"A"}
    store.not_gone("kettles", "A")
    assert store.paused("kettles", ["A"]) == set()
    assert store.gone("kettles", "never seen", run_id, NOON) is None


def test_a_page_that_is_back_ends_the_streak(store: CrawlStore) -> None:
    crawl(store, an_observation("A"))
    for number in (1, 2, 3):
        run_id = open_run(store, now=NOON + number * HOUR)
        store.gone("kettles", "A", run_id, NOON)
        finish(store, run_id)
    crawl(store, an_observation("A", availability=Availability.UNKNOWN), now=NOON + 4 * HOUR)
    row = the_listing(store, "A")
    assert (row.gone_streak, row.checking_paused, row.availability) == (0, False, "unknown")


def test_a_miss_does_not_overrule_gone(store: CrawlStore) -> None:
    crawl(store, an_observation("A"))
    for number in (1, 2, 3):
        run_id = open_run(store, now=NOON + number * HOUR)
        store.gone("kettles", "A", run_id, NOON)
        finish(store, run_id)
        store.count_misses(run_id, NOON)
    assert counters(store) == {"A": (3, "not_available")}


# --- money -------------------------------------------------------------------------------------

amounts = st.decimals(allow_nan=False, allow_infinity=False, min_value=0, places=3) | st.decimals(
    min_value=Decimal("0.00000001"), max_value=Decimal("1e30"), allow_nan=False, allow_infinity=False
)


@settings(
    max_examples=examples(60, 3000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(money=st.lists(st.none() | amounts, min_size=5, max_size=5))
def test_every_amount_comes_back_as_it_was(store: CrawlStore, money: list[Decimal | None]) -> None:
    if store.listings_seen(1) == 0:
        open_run(store)
    names = ("price", "original_price", "member_price", "pre_order_price", "shipping")
    given_values = dict(zip(names, money, strict=True))
    store.save_batch(1, [an_observation(**given_values)], [])
    with store.engine.connect() as conn:
        row = conn.execute(select(observation).order_by(observation.c.id.desc()).limit(1)).one()
        assert {name: getattr(row, name) for name in names} == given_values
        if money[0] is not None:
            accepted = conn.execute(select(listing)).one()
            assert verify_observations(conn) == []
            assert (accepted.price, accepted.original_price) == (money[0], money[1])


def test_three_decimals_and_huge_amounts(store: CrawlStore) -> None:
    huge = Decimal("123456789012345678901234.123456789")
    run_id = open_run(store)
    store.save_batch(
        run_id, [an_observation("K", "1.250", currency="KWD"), an_observation("H", str(huge))], []
    )
    assert str(the_listing(store, "K").price) == "1.250"
    assert the_listing(store, "H").price == huge


@pytest.mark.parametrize("wrong", [1.1, float("nan"), Decimal("NaN"), Decimal("Infinity"), "1.10", 3])
def test_an_amount_that_is_not_a_finite_decimal_is_a_bug(store: CrawlStore, wrong: Any) -> None:
    run_id = open_run(store)
    with pytest.raises(TypeError, match="finite Decimal"):
        store.save_batch(run_id, [an_observation(shipping=wrong)], [])
    assert rows(store, observation) == []


# --- a process that dies -----------------------------------------------------------------------

_CRAWL_FOREVER = """
import sys
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import open_engine
from tests.factories import NOON, an_observation, an_evidence_row, open_run
store = CrawlStore(open_engine(sys.argv[1]))
run_id, saved = open_run(store), 0
while True:
    page = an_evidence_row(saved)
    batch = [an_observation(f"S{n % 500}", str(n), evidence=page.ref) for n in range(saved, saved + 50)]
    saved += store.save_batch(run_id, batch, [page]).inserted
    print(saved, flush=True)
"""


def test_kill_9_in_the_middle(database_url: str, store: CrawlStore) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _CRAWL_FOREVER, database_url], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(15)]
    os.kill(process.pid, signal.SIGKILL)
    said += [int(line) for line in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    with store.engine.connect() as conn:
        stored = conn.execute(select(func.count()).select_from(observation)).scalar_one()
        # Whole batches only: all that was reported as saved, and at most the one that was not yet.
        assert stored in {said[-1], said[-1] + 50}
        assert conn.execute(select(func.count()).select_from(price_history)).scalar_one() == stored
        assert conn.execute(select(func.count()).select_from(evidence)).scalar_one() == stored // 50
        assert conn.execute(select(func.count()).select_from(listing)).scalar_one() == min(stored, 500)
        assert verify_chain(conn) == []
        twice = text("SELECT source_sku FROM listing GROUP BY source, source_sku HAVING count(*) > 1")
        assert conn.execute(twice).all() == []
    second = open_run(store)
    first = rows(store, run)[0]
    assert (first.outcome, first.misses, first.misses_counted_at) == ("interrupted", 0, None)
    store.save_batch(second, [an_observation("S1", "7")], [])
    assert the_listing(store, "S1").price == 7
    assert {row.consecutive_misses for row in rows(store, listing)} == {0}


@pytest.mark.postgres
def test_text_that_is_too_long_is_refused_not_cut(pg_url: str) -> None:
    from pricecrawl.db.engine import open_engine

    store = CrawlStore(open_engine(pg_url))
    run_id = open_run(store)
    with pytest.raises(DataError, match="too long"):
        store.save_batch(run_id, [an_observation(brand="b" * 501)], [])
    store.engine.dispose()
