"""Opening the database: SQLite by default, PostgreSQL by URL, the same behaviour behind both.

Transactions: `engine.begin()` is for anything that writes (on SQLite it takes the write lock at once,
so that reading first and writing later cannot fail halfway); `engine.connect()` is for reading.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from pricecrawl.db import errors, migrate
from pricecrawl.domain.errors import StorageProblem, UsageProblem

BUSY_TIMEOUT = 15.0
"""Seconds a writer waits for another one before it gives up with `StorageBusy`."""

UPGRADE_TIMEOUT = 120.0
"""Seconds to wait for another process that brings the same database up to date: longer than any write."""

CONNECT_TIMEOUT = 10
"""Seconds to wait for a PostgreSQL server."""

# RETURNING (3.35) is what the bulk writers stand on.
_MIN_SQLITE = (3, 35, 0)
_WRITES = "pricecrawl_writes"


def database_url(url: str | URL) -> URL:
    """The URL with the driver that we ship; `postgres://` and `postgresql://` both mean psycopg 3.

    Raises:
        UsageProblem: it is not a SQLite or PostgreSQL URL. The text never repeats the URL, which may
            hold a password.
    """
    wrong = UsageProblem(
        "PRICECRAWL_DATABASE_URL is not a database address: write sqlite:///path/to/file.db "
        "or postgresql://user:password@host:5432/name."
    )
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise wrong from None
    backend = "postgresql" if parsed.drivername == "postgres" else parsed.get_backend_name()
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite":
        return parsed.set(drivername="sqlite")
    raise wrong


def connect_engine(url: str | URL, *, busy_timeout: float = BUSY_TIMEOUT) -> Engine:
    """An engine with our pragmas and error sentences, whatever state the schema is in."""
    address = database_url(url)
    place = errors.label(address)
    options: dict[str, Any] = {"hide_parameters": True}
    if address.get_backend_name() == "sqlite":
        _prepare_folder(address)
        # isolation_level None: we send BEGIN ourselves, see _open_transaction.
        options["connect_args"] = {"timeout": busy_timeout, "isolation_level": None}
    else:
        options["connect_args"] = {"connect_timeout": CONNECT_TIMEOUT, "application_name": "pricecrawl"}
        options["pool_pre_ping"] = True
    engine = create_engine(address, **options)
    errors.install(engine, place)
    if engine.dialect.name == "sqlite":
        _tune_sqlite(engine, busy_timeout)
    return engine


def open_engine(url: str | URL, *, busy_timeout: float = BUSY_TIMEOUT) -> Engine:
    """An engine on a database whose schema is the one this version knows.

    An empty database gets the schema at once; one that is behind or ahead is refused with a sentence.

    Raises:
        StorageProblem: not a database, unreachable, of a newer version, or not yet upgraded.
    """
    engine = connect_engine(url, busy_timeout=busy_timeout)
    try:
        with engine.connect() as conn:
            state = migrate.schema_state(conn)
        place = errors.label(engine.url)
        migrate.refuse(state, place)
        if state is migrate.SchemaState.EMPTY:
            migrate.upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def upgrade(url: str | URL) -> str:
    """Bring the schema of `url` to this version's; returns the revision it is now at."""
    engine = connect_engine(url, busy_timeout=UPGRADE_TIMEOUT)
    try:
        return migrate.upgrade(engine)
    finally:
        engine.dispose()


def is_sqlite(where: Engine | Connection) -> bool:
    """True on SQLite, False on PostgreSQL."""
    return where.dialect.name == "sqlite"


def _prepare_folder(url: URL) -> None:
    """Make the folder of a SQLite file, so that the default `./var` needs no preparation."""
    if sqlite3.sqlite_version_info < _MIN_SQLITE:
        raise StorageProblem(
            f"this Python comes with SQLite {sqlite3.sqlite_version}, and pricecrawl needs 3.35 or newer: "
            "use a newer Python, or PostgreSQL."
        )
    if not url.database or url.database == ":memory:":
        return
    folder = Path(url.database).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageProblem(
            f"the folder {folder} of the database cannot be made ({error.strerror}): "
            "correct its permissions or name another file in PRICECRAWL_DATABASE_URL."
        ) from None


def _write_ahead(cursor: Any, patience: float) -> None:
    """Switch to write-ahead logging: readers never wait for the writer.

    Of several that switch a new file at once SQLite refuses all but one without waiting, whatever its
    timeout; the refused ones find the switch made when they ask again.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _tune_sqlite(engine: Engine, patience: float) -> None:
    in_memory = not engine.url.database or engine.url.database == ":memory:"

    @event.listens_for(engine, "connect")
    def _pragmas(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        if not in_memory:
            _write_ahead(cursor, patience)
            # A killed process loses nothing that was committed; NORMAL: only a power cut can undo the last
            # commits, and it cannot damage the file.
            cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA temp_store=MEMORY")
        cursor.execute("PRAGMA cache_size=-16000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _open_transaction(conn: Connection) -> None:
        # A deferred transaction that read first can be refused its write lock without waiting
        # (SQLITE_BUSY_SNAPSHOT); IMMEDIATE waits for its turn instead.
        writes = conn.get_execution_options().get(_WRITES, False)
        conn.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    @contextmanager
    def begin() -> Iterator[Connection]:
        with engine.connect() as conn:
            conn.execution_options(**{_WRITES: True})
            with conn.begin():
                yield conn

    # Everybody writes through `engine.begin()`, so that is where the lock is asked for.
    engine.begin = begin  # type: ignore[method-assign]  # one engine, not the class


def table_names(conn: Connection) -> set[str]:
    """Names of the tables in the default schema."""
    return set(inspect(conn).get_table_names())


def server_version(conn: Connection) -> str:
    """Version text of the database that answers."""
    sql = "SELECT sqlite_version()" if is_sqlite(conn) else "SHOW server_version"
    return str(conn.execute(text(sql)).scalar_one())
