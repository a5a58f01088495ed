"""Fixtures that any test may use. `engine` and `database_url` run a test on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.nodeid import coerce_node_id
from sqlalchemy import Engine

from pricecrawl.db.engine import open_engine, upgrade
from tests import plans, postgres
from tests.shops.running import oscar, vendure

__all__ = ["oscar", "vendure"]


plans.install()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of an `xdist_group` on one worker.

    pytest-xdist 3.8 writes the group into `_nodeid`, which pytest reads no more since 9.2: without this
    the groups are ignored in silence, and each worker starts a shop of its own.
    """
    for item in items:
        grouped = getattr(item, "_nodeid", None)
        if grouped is not None and grouped != item.nodeid:
            item._id = coerce_node_id(grouped)


@pytest.fixture(autouse=True)
def no_walks() -> Iterator[None]:
    """Fail the test whose code first walks through a table that grows; see `tests.plans`."""
    plans.found.clear()
    yield
    assert not plans.found, "\n\n".join(plans.found)


@pytest.fixture(scope="session")
def pg_server() -> Iterator[postgres.Server]:
    """The real PostgreSQL of this session."""
    with postgres.running() as server:
        yield server


@pytest.fixture
def pg_url(pg_server: postgres.Server) -> Iterator[str]:
    """URL of a PostgreSQL database of one's own, with the schema."""
    with pg_server.database() as url:
        yield url


@pytest.fixture
def empty_pg_url(pg_server: postgres.Server) -> Iterator[str]:
    """URL of a PostgreSQL database of one's own, without any table."""
    with pg_server.database(empty=True) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """URL of a SQLite database of one's own, with the schema."""
    path = tmp_path / "pricecrawl.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(
    params=[
        pytest.param("sqlite_url", id="sqlite"),
        pytest.param("pg_url", id="postgres", marks=pytest.mark.postgres),
    ]
)
def database_url(request: pytest.FixtureRequest) -> str:
    """URL of a database of one's own with the schema, once SQLite and once PostgreSQL."""
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An open engine on `database_url`."""
    made = open_engine(database_url)
    yield made
    made.dispose()
