"""A look at a database that changes nothing: version, drift, damage, references."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, exists, func, select
from sqlalchemy.engine import Engine

from pricecrawl.db import errors, migrate, partitions
from pricecrawl.db.engine import connect_engine, database_url, is_sqlite, server_version
from pricecrawl.db.tables import candidate_review, listing, market_price_snapshot, observation, price_history
from pricecrawl.domain.errors import StorageProblem


@dataclass(slots=True)
class Health:
    """What was found. `problems` need somebody; `notes` are worth knowing."""

    database: str
    server: str
    revision: str | None
    newest: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine(url: str) -> Health:
    """Examine the database at `url`.

    Raises:
        StorageProblem: there is none, or it cannot be read at all.
    """
    address = database_url(url)
    path = address.database
    if address.get_backend_name() == "sqlite" and path and path != ":memory:" and not Path(path).exists():
        # Connecting would make an empty file.
        raise StorageProblem(f"there is no database at {path}: `pricecrawl db upgrade` makes one.")
    engine = connect_engine(address)
    try:
        return _examine(engine)
    finally:
        engine.dispose()


def _examine(engine: Engine) -> Health:
    with engine.connect() as conn:
        server = "SQLite" if is_sqlite(conn) else "PostgreSQL"
        found = Health(
            database=errors.label(engine.url),
            server=f"{server} {server_version(conn)}",
            revision=migrate.current(conn),
            newest=migrate.head(),
        )
        state = migrate.schema_state(conn)
    if state is migrate.SchemaState.EMPTY:
        found.problems.append("it has no tables yet: run `pricecrawl db upgrade`")
    elif state is migrate.SchemaState.BEHIND:
        found.problems.append("its schema is older than this version: run `pricecrawl db upgrade`")
    elif state is not migrate.SchemaState.CURRENT:
        migrate.refuse(state, found.database)
    else:
        found.problems += migrate.drift(engine)
        with engine.connect() as conn:
            found.problems += _damage(conn)
            found.problems += _dangling(conn)
            found.notes += [
                f"{count} rows of {table} are in no month's partition"
                for table, count in partitions.strays(conn).items()
                if count
            ]
    return found


def _damage(conn: Connection) -> list[str]:
    if not is_sqlite(conn):
        return []
    said = [str(row[0]) for row in conn.exec_driver_sql("PRAGMA quick_check(5)") if row[0] != "ok"]
    nowhere = conn.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(5)
    return said + [f"row {row[1]} of {row[0]} points to a missing row of {row[2]}" for row in nowhere]


def _dangling(conn: Connection) -> list[str]:
    """References to observations, which no foreign key can hold on a partitioned table."""
    problems = []
    for column in (
        price_history.c.observation_id,
        candidate_review.c.observation_id,
        market_price_snapshot.c.winning_observation_id,
        listing.c.last_observation_id,
    ):
        there = exists().where(observation.c.id == column)
        query = select(func.count()).where(column.is_not(None), ~there)
        count = conn.execute(query).scalar_one()
        if count:
            problems.append(f"{count} rows of {column.table.name} name an observation that is not there")
    return problems
