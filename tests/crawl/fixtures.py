"""Every crawl of these tests has a home and a database of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pricecrawl.db.engine import open_engine


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for everything that a crawl keeps; nothing of the developer's own environment."""
    for name in ("CONTACT", "SOURCES", "BOT_NAME", "EVIDENCE_URL", "DATABASE_URL"):
        monkeypatch.delenv(f"PRICECRAWL_{name}", raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("PRICECRAWL_HOME", str(folder))
    return folder


@pytest.fixture
def db(home: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The SQLite database that the crawls of a test write to."""
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", sqlite_url)
    engine = open_engine(sqlite_url)
    yield engine
    engine.dispose()


@pytest.fixture
def both(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The same, once on SQLite and once on PostgreSQL."""
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", database_url)
    engine = open_engine(database_url)
    yield engine
    engine.dispose()
