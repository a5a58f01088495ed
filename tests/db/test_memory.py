"""Memory does not grow with the source: ten times the listings, the same peak."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import Server

_CRAWL = """
import resource, sys
from datetime import timedelta
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import open_engine
from pricecrawl.evidence.store import EvidenceStore
from tests.evidence.test_store import a_page
from tests.factories import NOON, an_evidence_row, an_observation, finish, open_run
from dataclasses import replace
from sqlalchemy import text
url, folder, listings = sys.argv[1], sys.argv[2], int(sys.argv[3])
store, files = CrawlStore(open_engine(url)), EvidenceStore(folder)
run_id = open_run(store)
with files.writer("kettles", run_id) as writer:
    for start in range(0, listings, 200):
        ref = writer.write(a_page(start, body=b"x" * 100_000))
        batch = [an_observation(f"S{n}", f"{n + 1}", evidence=ref) for n in range(start, start + 200)]
        store.anchors("kettles", [item.source_sku for item in batch])
        store.save_batch(run_id, batch, [replace(an_evidence_row(), ref=ref)])
finish(store, run_id)
with store.engine.begin() as conn:
    conn.execute(text("UPDATE listing SET consecutive_misses = 2 WHERE id % 100 <> 0"))
second = open_run(store, now=NOON + timedelta(hours=1))
finish(store, second)
store.count_misses(second, NOON)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _peak(url: str, folder: Path, listings: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _CRAWL, url, str(folder), str(listings)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_on_sqlite(tmp_path: Path) -> None:
    small = _peak(f"sqlite:///{tmp_path}/small.db", tmp_path / "small", 5_000)
    large = _peak(f"sqlite:///{tmp_path}/large.db", tmp_path / "large", 50_000)
    assert large <= 1.3 * small


@pytest.mark.postgres
def test_on_postgresql(tmp_path: Path, pg_server: Server) -> None:
    with pg_server.database() as url:
        small = _peak(url, tmp_path / "small", 2_000)
    with pg_server.database() as url:
        large = _peak(url, tmp_path / "large", 20_000)
    assert large <= 1.3 * small
