"""Schema versions: which one a database has, bringing it up to date, and finding drift.

The migrations live in `migrations/` beside the package, where a person looks for them in a clone;
`pricecrawl/migrations` is a link to that folder, so that a built wheel carries the same files inside
the package and both find them in one place, relative to this module, without an `alembic.ini`.

A migration is one file `NNNN_what_changed.py` whose revision is its number, in one line of descent.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from pricecrawl.db import guards, partitions
from pricecrawl.db.sql import pragma
from pricecrawl.db.tables import metadata
from pricecrawl.domain.errors import StorageProblem

if TYPE_CHECKING:
    from alembic.config import Config

_PACKAGE = Path(__file__).resolve().parent.parent
_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.py")
# Any number does, as long as every pricecrawl uses the same one.
_UPGRADE_LOCK = 7241_5501


class SchemaState(Enum):
    """What a database's schema is to this version of pricecrawl."""

    EMPTY = "empty"
    BEHIND = "behind"
    CURRENT = "current"
    NEWER = "newer"
    FOREIGN = "foreign"


def folder() -> Path:
    """The migrations that came with this package."""
    for place in (_PACKAGE / "migrations", _PACKAGE.parent / "migrations"):
        if (place / "env.py").is_file():
            return place
    raise StorageProblem("this installation of pricecrawl lacks its migrations: install it again.")


def revisions() -> list[str]:
    """All revisions, oldest first."""
    names = (_FILE.fullmatch(path.name) for path in (folder() / "versions").iterdir())
    return sorted(match.group(1) for match in names if match)


def head() -> str:
    """The revision that this version of pricecrawl works with."""
    return revisions()[-1]


def current(conn: Connection) -> str | None:
    """The database's revision, or None when it has no pricecrawl schema."""
    if not inspect(conn).has_table("alembic_version"):
        return None
    found = conn.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


def schema_state(conn: Connection) -> SchemaState:
    """How the database's schema stands to this version's. Reads the version table only."""
    revision = current(conn)
    if revision is None:
        tables = inspect(conn).get_table_names()
        return SchemaState.FOREIGN if set(tables) - {"alembic_version"} else SchemaState.EMPTY
    known = revisions()
    if revision == known[-1]:
        return SchemaState.CURRENT
    return SchemaState.BEHIND if revision in known else SchemaState.NEWER


def refuse(state: SchemaState, place: str, *, behind: bool = True) -> None:
    """Raise the sentence for a schema that this version must not touch (or not `behind` ones)."""
    if behind and state is SchemaState.BEHIND:
        raise StorageProblem(f"{place} has an older schema: run `pricecrawl db upgrade`.")
    if state is SchemaState.NEWER:
        raise StorageProblem(
            f"{place} was written by a newer version of pricecrawl: upgrade pricecrawl, "
            "or name another database in PRICECRAWL_DATABASE_URL."
        )
    if state is SchemaState.FOREIGN:
        raise StorageProblem(
            f"{place} belongs to another program: it has tables but no pricecrawl schema. "
            "Name another database in PRICECRAWL_DATABASE_URL."
        )


def upgrade(engine: Engine, target: str = "head") -> str:
    """Run what is missing up to `target`, all of it or nothing; returns the revision it is then at.

    Safe to call from several processes at once: they do it one after the other.
    """
    from alembic import command

    from pricecrawl.db import errors

    place = errors.label(engine.url)
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as conn:
        if sqlite:
            # A rebuilt table would take its children with it; the keys are checked below instead.
            pragma(conn, "foreign_keys=OFF")
            conn.execution_options(pricecrawl_writes=True)
        try:
            with conn.begin():
                if not sqlite:
                    conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
                state = schema_state(conn)
                refuse(state, place, behind=False)
                if state is not SchemaState.CURRENT:
                    command.upgrade(_config(conn), target)
                guards.install(conn)
                partitions.prepare(conn)
                if sqlite:
                    _check_keys(conn, place)
                now = current(conn)
        finally:
            if sqlite:
                pragma(conn, "foreign_keys=ON")
    return now or head()


def drift(engine: Engine) -> list[str]:
    """Differences between the database and the tables in code, one line each; empty is good."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with engine.connect() as conn:
        context = MigrationContext.configure(
            conn,
            opts={
                "compare_type": True,
                "compare_server_default": False,
                "include_name": _include_name,
            },
        )
        found = [repr(change) for change in compare_metadata(context, metadata)]
        found += [f"missing guard: {name}" for name in guards.missing(conn)]
    return found


def revise(engine: Engine, message: str) -> Path:
    """Write a draft migration from the difference between `engine`'s schema and the tables in code."""
    from alembic import command

    number = f"{int(head()) + 1:04d}" if revisions() else "0001"
    with engine.connect() as conn:
        script = command.revision(_config(conn), message, autogenerate=True, rev_id=number)
    if script is None or isinstance(script, list) or script.path is None:
        raise StorageProblem("the draft migration could not be written.")
    return Path(script.path)


def _config(conn: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder()).replace("%", "%%"))
    config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = conn
    config.attributes["include_name"] = _include_name
    return config


def _include_name(name: str | None, kind: str, _parents: object) -> bool:
    """Ignore what is not ours: partitions, and tables of other programs in the same database."""
    return kind != "table" or (name in metadata.tables)


def _check_keys(conn: Connection, place: str) -> None:
    """Foreign keys were off during the upgrade; nothing may point nowhere after it."""
    if conn.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise StorageProblem(f"{place} has rows that point nowhere: it was not upgraded.")
