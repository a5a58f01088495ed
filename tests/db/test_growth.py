"""What a pricing run reads per batch does not grow with what earlier batches wrote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from bench import bench_pricing
from pricecrawl.db.engine import open_engine
from pricecrawl.db.pricing import PricingStore
from pricecrawl.workflows import price

BATCHES = 12


@pytest.fixture
def catalogue(pg_url: str) -> Iterator[Engine]:
    """Twelve batches of SKUs with five offers each; PostgreSQL gets no time to gather statistics."""
    engine = open_engine(pg_url)
    bench_pricing._fill(engine, BATCHES * price.BATCH)
    yield engine
    engine.dispose()


def read_rows(engine: Engine) -> dict[str, int]:
    """Rows that were read of the tables a run writes, by scans and by indexes."""
    query = text(
        "SELECT relname, seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables "
        "WHERE relname IN ('price_decision', 'audit_event', 'market_price_snapshot')"
    )
    with engine.connect() as conn:
        conn.execute(text("SELECT pg_stat_force_next_flush()"))
    with engine.connect() as conn:
        return {row.relname: int(row.read or 0) for row in conn.execute(query)}


@pytest.mark.postgres
def test_on_postgresql_a_run_reads_what_it_writes_a_few_times_at_most(catalogue: Engine) -> None:
    skus = BATCHES * price.BATCH
    for turn in range(2):
        before = read_rows(catalogue)
        now = bench_pricing.NOW + turn * bench_pricing.timedelta(minutes=1)
        countries = {f"shop-{place}": "DE" for place in range(bench_pricing.OFFERS)}
        price.run(PricingStore(catalogue), now=now, countries=countries)
        after = read_rows(catalogue)
        read = {name: after[name] - before[name] for name in after}
        # For each SKU it read 4.8 decisions, 0.3 events and 1.3 snapshots when this was written, then 4.1,
        # 1.3 and 2.3. With walks it was 10 and 15 decisions, 60 and 181 events.
        assert read["price_decision"] <= 7 * skus, read
        assert read["audit_event"] <= 3 * skus, read
        assert read["market_price_snapshot"] <= 3 * skus, read
