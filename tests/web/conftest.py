"""The application on a database with a priced street, and a token for every role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.web.api import Api, open_api


@pytest.fixture
def api(engine: Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """On both databases."""
    with open_api(engine, database_url, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def lite(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """On SQLite alone, for what does not depend on the database."""
    from pricecrawl.db.engine import open_engine

    engine = open_engine(sqlite_url)
    with open_api(engine, sqlite_url, tmp_path, monkeypatch) as made:
        yield made
    engine.dispose()
