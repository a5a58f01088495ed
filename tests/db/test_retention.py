"""Index, audit and pruning: what may go goes, what somebody may ask for stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select, text, update

from pricecrawl.db.audit import verify_observations
from pricecrawl.db.crawl import CrawlStore, RejectionRow
from pricecrawl.db.evidence_index import EvidenceIndex
from pricecrawl.db.health import examine
from pricecrawl.db.tables import (
    dead_letter,
    evidence,
    idempotency_key,
    market_price_snapshot,
    observation,
    rejection,
    skip_count,
    sku,
)
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.index import IndexEntry, scan
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.workflows.retention import Policy, prune
from tests.evidence.test_store import a_page
from tests.factories import NOON, an_evidence_row, an_observation, finish, open_run

DAY = timedelta(days=1)


@pytest.fixture
def files(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "evidence"))


def crawl_with_evidence(store: CrawlStore, files: EvidenceStore, day: int, price: str) -> EvidenceRef:
    """One run on a day, with one page behind one listing."""
    now = NOON + day * DAY
    run_id = open_run(store, now=now)
    with files.writer("kettles", run_id) as writer:
        ref = writer.write(a_page(day, fetched_at=now))
    row = replace(an_evidence_row(), ref=ref)
    store.save_batch(run_id, [an_observation("A", price, observed_at=now, evidence=ref)], [row])
    finish(store, run_id, now=now)
    return ref


def test_files_behind_nothing_go_and_the_rest_stays(engine: Engine, files: EvidenceStore) -> None:
    store, index = CrawlStore(engine), EvidenceIndex(engine)
    prices = ["10", "10", "10", "11", "11", "11", "11"]
    refs = [crawl_with_evidence(store, files, day, price) for day, price in enumerate(prices)]
    with engine.begin() as conn:
        conn.execute(insert(sku).values(sku="S", name="Kettle", currency="EUR", imported_at=NOON))
        winner = conn.execute(
            select(observation.c.id).where(observation.c.observed_at == NOON + 4 * DAY)
        ).scalar_one()
        conn.execute(
            insert(market_price_snapshot).values(
                sku="S",
                currency="EUR",
                winning_observation_id=winner,
                eligible=[],
                excluded=[],
                freshness="fresh",
                policy_version="1",
                computed_at=NOON,
            )
        )
    # Day 0 and 3 are price changes, 4 won a market price, 6 is the latest: 1, 2 and 5 may go.
    policy = Policy(evidence_days=1)
    now = NOON + 10 * DAY
    told = prune(index, files, policy=policy, now=now, write=False)
    assert told.files == sorted(refs[day].warc for day in (1, 2, 5))
    assert all(files.verify(ref) for ref in refs)
    gone = prune(index, files, policy=policy, now=now)
    assert (gone.files, gone.records) == (told.files, 3)
    assert [files.verify(ref) for ref in refs] == [True, False, False, True, True, False, True]
    assert [page.ref for page in index.pages()] == [refs[day] for day in (0, 3, 4, 6)]
    with engine.connect() as conn:
        rows = conn.execute(select(evidence).order_by(evidence.c.id)).all()
    assert [row.pruned_at for row in rows] == [None, now, now, None, None, now, None]
    assert rows[1].digest == refs[1].digest
    assert prune(index, files, policy=policy, now=now).files == []
    assert index.counts() == {"records": 4, "files": 4}


def test_a_prune_that_was_cut_off_is_completed_by_the_next(engine: Engine, files: EvidenceStore) -> None:
    store, index = CrawlStore(engine), EvidenceIndex(engine)
    refs = [crawl_with_evidence(store, files, day, "10") for day in range(3)]
    files.delete(refs[1].warc)
    assert prune(index, files, policy=Policy(evidence_days=1), now=NOON + 9 * DAY).records == 1


def test_young_evidence_stays(engine: Engine, files: EvidenceStore) -> None:
    store, index = CrawlStore(engine), EvidenceIndex(engine)
    for day in range(3):
        crawl_with_evidence(store, files, day, "10")
    assert prune(index, files, policy=Policy(evidence_days=30), now=NOON + 9 * DAY).files == []
    assert prune(index, files, policy=Policy(), now=NOON + 900 * DAY).files == []


def test_log_rows_go_after_their_days(engine: Engine, files: EvidenceStore) -> None:
    store, index = CrawlStore(engine), EvidenceIndex(engine)
    for day in (0, 20):
        now = NOON + day * DAY
        run_id = open_run(store, now=now)
        store.save_batch(run_id, [an_observation(observed_at=now)], [])
        store.save_rejections(run_id, [RejectionRow("X", "", "no_name", "", now)])
        store.save_skips(run_id, {"gift_card": (3, "G")})
        finish(store, run_id, now=now)
        with engine.begin() as conn:
            key = {"key": f"k{day}", "principal": "p", "request_digest": "d", "created_at": now}
            conn.execute(insert(idempotency_key).values(key))
            letter = {"kind": "x", "correlation_id": "c", "payload": {}, "error": "e", "failed_at": now}
            conn.execute(insert(dead_letter).values(letter | {"replayed_at": now if day == 0 else None}))
    pruned = prune(index, files, policy=Policy(log_days=14), now=NOON + 21 * DAY)
    assert pruned.rows == {"rejection": 1, "skip_count": 1, "idempotency_key": 1, "dead_letter": 1}
    with engine.connect() as conn:
        for table in (rejection, skip_count, idempotency_key, dead_letter):
            assert len(conn.execute(select(table)).all()) == 1
        assert len(conn.execute(select(observation)).all()) == 2
        assert conn.execute(text("SELECT rejections, skips FROM run ORDER BY id")).all() == [(1, 3)] * 2


def test_the_index_is_rebuilt_from_the_files(engine: Engine, files: EvidenceStore) -> None:
    store, index = CrawlStore(engine), EvidenceIndex(engine)
    refs = [crawl_with_evidence(store, files, day, "10") for day in range(3)]
    with files.writer("kettles", 2) as writer:
        late = [writer.write(a_page(100 + n, kind="feed")) for n in range(1200)]
    with files.writer("elsewhere", 99) as writer:
        stranger = writer.write(a_page(5))

    def found() -> list[IndexEntry]:
        return [entry for entry in scan(files) if isinstance(entry, IndexEntry)]

    assert index.add_missing(found(), write=False) == 1201
    assert len(list(index.pages())) == 3
    assert index.add_missing(found()) == 1201
    assert index.add_missing(found()) == 0
    pages = {page.ref.warc + str(page.ref.offset): page for page in index.pages()}
    assert len(pages) == 1204
    first, other = pages[late[0].warc + str(late[0].offset)], pages[stranger.warc + str(stranger.offset)]
    assert (first.ref, first.run_id, first.kind, first.source, first.status) == (
        late[0],
        2,
        "feed",
        "kettles",
        200,
    )
    assert (other.ref, other.run_id, other.source) == (stranger, None, "elsewhere")
    assert [page.ref for page in index.pages(source="kettles", kind="page")] == refs
    assert [page.ref for page in index.pages(since=NOON + 2 * DAY, kind="page")] == [refs[2]]
    assert index.page(first.evidence_id) == first
    assert index.page(10**9) is None


def test_observations_are_vouched_for(engine: Engine) -> None:
    store = CrawlStore(engine)
    run_id = open_run(store)
    for start in (0, 10, 20):
        batch = [
            an_observation(f"S{n}", f"{n}.10", shipping=Decimal("4.9")) for n in range(start, start + 10)
        ]
        store.save_batch(run_id, batch, [])
    with engine.connect() as conn:
        assert verify_observations(conn) == []
    on = "" if engine.dialect.name == "sqlite" else " ON observation"
    with engine.begin() as conn:
        for action in ("update", "delete"):
            conn.exec_driver_sql(f"DROP TRIGGER observation_no_{action}{on}")
        conn.execute(update(observation).where(observation.c.id == 15).values(price=Decimal("0.01")))
        conn.execute(observation.delete().where(observation.c.id == 25))
    with engine.connect() as conn:
        found = [(row.aggregate_seq, row.problem) for row in verify_observations(conn)]
    # The run's first event, then three for each batch, of which the last one vouches.
    assert found == [
        (7, "tells of other observations than those that are stored"),
        (10, "tells of 10 observations, and there are 9"),
    ]


def test_health_of_a_good_database(database_url: str) -> None:
    found = examine(database_url)
    assert (found.problems, found.notes) == ([], [])
    assert found.revision == found.newest


def test_health_names_what_is_wrong(database_url: str, engine: Engine) -> None:
    store = CrawlStore(engine)
    run_id = open_run(store)
    store.save_batch(run_id, [an_observation()], [])
    on = "" if engine.dialect.name == "sqlite" else " ON observation"
    with engine.begin() as conn:
        conn.exec_driver_sql(f"DROP TRIGGER observation_no_delete{on}")
        conn.execute(observation.delete())
        conn.exec_driver_sql("DROP INDEX ix_listing_gtin")
    problems = "\n".join(examine(database_url).problems)
    assert "ix_listing_gtin" in problems
    assert "missing guard: observation_no_delete" in problems
    assert "1 rows of price_history name an observation that is not there" in problems
    assert "1 rows of listing name an observation that is not there" in problems


def test_health_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageProblem, match="there is no database"):
        examine(f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()


def test_health_of_an_empty_database(empty_pg_url: str) -> None:
    assert examine(empty_pg_url).problems == ["it has no tables yet: run `pricecrawl db upgrade`"]
