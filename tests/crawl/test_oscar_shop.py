"""A real django-oscar shop over HTTP: listings, prices, stock, misses and history, on both databases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pricecrawl.db import tables
from tests.crawl.whole import everything
from tests.shops.oscar.server import OscarShop

ROOT = Path(__file__).resolve().parents[2]
COUNT = 200

pytestmark = [pytest.mark.shop, pytest.mark.xdist_group("oscar")]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[OscarShop]:
    with OscarShop(tmp_path / "shop", COUNT) as running:
        yield running


@pytest.fixture
def rows(tmp_path: Path, shop: OscarShop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shop as a row of one's own folder."""
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "oscar.toml").write_text(
        '[[source]]\nslug = "test-shop"\nretailer = "Test shop"\n'
        f'base_url = "{shop.url}/"\ncountry = "GB"\ncurrency = "GBP"\n'
    )
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(folder))
    return folder


def crawl(source: str = "test-shop") -> subprocess.CompletedProcess[str]:
    """`pricecrawl crawl <source>` as an operator types it."""
    return subprocess.run(
        [sys.executable, "-m", "pricecrawl", "crawl", source],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def last_run(engine: Engine) -> tuple[str, str, str]:
    run = max(everything(engine, tables.run), key=lambda row: row.id)
    return run.outcome, run.coverage, run.coverage_reason


def misses(engine: Engine) -> dict[str, int]:
    return {row.source_sku: row.consecutive_misses for row in everything(engine, tables.listing)}


def test_whole_shop_misses_and_history(both: Engine, shop: OscarShop, rows: Path) -> None:
    done = crawl()
    assert done.returncode == 0, done.stdout + done.stderr
    assert last_run(both) == ("finished", "complete", "counted")
    articles = {str(article.id): article for article in shop.articles().values()}
    listings = {row.source_sku: row for row in everything(both, tables.listing)}
    assert len(listings) == COUNT
    assert {sku: (row.price, row.currency, row.availability, row.gtin) for sku, row in listings.items()} == {
        sku: (article.price, "GBP", "in_stock" if article.stock else "out_of_stock", article.upc.zfill(14))
        for sku, article in articles.items()
    }
    assert len(everything(both, tables.price_history)) == COUNT

    # Seven prices change: seven new history rows, of exactly those products.
    changed = {article.upc: article.price + Decimal("1.11") for article in list(articles.values())[10:80:10]}
    shop.reprice(changed)
    assert crawl().returncode == 0
    history = everything(both, tables.price_history)
    by_id = {row.id: sku for sku, row in listings.items()}
    new = {by_id[row.listing_id]: row.price for row in history[COUNT:]}
    assert len(history) == COUNT + 7
    assert new == {str(shop.articles()[upc].id): price for upc, price in changed.items()}

    # Five products leave. A refused and a partial run move nothing, three complete ones settle it.
    leaving = [article for article in articles.values() if article.stock][::30][:5]
    assert len(leaving) == 5
    gone = {str(article.id) for article in leaving}
    shop.remove([article.upc for article in leaving])

    (shop.state / "refuse").touch()
    assert crawl().returncode == 3
    assert last_run(both) == ("blocked", "partial", "refused")
    (shop.state / "refuse").unlink()
    assert set(misses(both).values()) == {0}

    # Ten shelves say as much about what is missing as two hundred product pages, in less time.
    table = (rows / "oscar.toml").read_text() + "product_pages = false\n"
    (rows / "oscar.toml").write_text(table + "max_pages = 3\n")
    assert crawl().returncode == 0
    assert last_run(both) == ("finished", "partial", "capped")
    assert set(misses(both).values()) == {0}
    (rows / "oscar.toml").write_text(table)

    for count in (1, 2, 3):
        assert crawl().returncode == 0
        assert last_run(both) == ("finished", "complete", "counted")
        assert misses(both) == {sku: count if sku in gone else 0 for sku in listings}
    after = {row.source_sku: row.availability for row in everything(both, tables.listing)}
    before = {sku: row.availability for sku, row in listings.items()}
    assert {sku for sku in after if after[sku] != before[sku]} == gone
    assert {after[sku] for sku in gone} == {"out_of_stock"}
