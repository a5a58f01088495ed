"""What the database says when it cannot go on, as one sentence that names the place and the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import URL, Engine, ExceptionContext, event
from sqlalchemy.exc import DBAPIError

from pricecrawl.domain.errors import PricecrawlError, StorageBusy, StorageProblem, disk_problem


def label(url: URL) -> str:
    """The database in words: a file, or server and name; never a password."""
    if url.get_backend_name() == "sqlite":
        return f"the database {url.database or ':memory:'}"
    host = url.host or str(url.query.get("host", "")) or "localhost"
    port = f":{url.port}" if url.port else ""
    user = f"{url.username}@" if url.username else ""
    return f"the PostgreSQL database {user}{host}{port}/{url.database or ''}"


def translate(error: BaseException, place: str) -> PricecrawlError | None:
    """The error for people, or None when it is a bug of ours and deserves its traceback."""
    if isinstance(error, PricecrawlError):
        return error
    if isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    if isinstance(error, sqlite3.Error):
        return _sqlite(error, place)
    if isinstance(error, psycopg.Error):
        return _postgres(error, place)
    if isinstance(error, OSError):
        return disk_problem(error, str(error.filename) if error.filename else "the disk")
    return None


def _sqlite(error: sqlite3.Error, place: str) -> PricecrawlError | None:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StorageBusy(
            f"{place} is locked: another program is writing to it. Wait for it to finish and try again."
        )
    sentences = {
        "SQLITE_FULL": "cannot grow: the disk is full. Free some space and run the command again; "
        "what was committed before is safe.",
        "SQLITE_READONLY": "cannot be written: the file or its folder is read-only for this user.",
        "SQLITE_CANTOPEN": "cannot be opened: check that its folder exists and "
        "that this user may write there.",
        "SQLITE_NOTADB": "is not a database: the file holds something else. "
        "Name another file in PRICECRAWL_DATABASE_URL.",
        "SQLITE_CORRUPT": "is damaged: restore it from a backup, "
        "or name another file in PRICECRAWL_DATABASE_URL.",
        "SQLITE_IOERR": "cannot be read or written: the disk reports an error or has no space left.",
    }
    for start, sentence in sentences.items():
        if name.startswith(start):
            return StorageProblem(f"{place} {sentence}")
    return None


_SQLSTATES = {
    "28P01": "refused the password. Check the user and password in PRICECRAWL_DATABASE_URL.",
    "28000": "refused this user. Check the user in PRICECRAWL_DATABASE_URL and the server's pg_hba.conf.",
    "3D000": "does not exist on that server. Create it, or correct the name in PRICECRAWL_DATABASE_URL.",
    "42501": "does not allow this user to do that. Grant it the rights on the schema.",
    "53100": "cannot grow: the server's disk is full. Free some space; what was committed before is safe.",
    "53200": "has no memory left for this. Try again later.",
    "53300": "accepts no more connections. Stop some clients or raise max_connections.",
    "57P01": "is being shut down by its operator. Try again when it is back.",
    "57P02": "was stopped by its operator. Try again when it is back.",
    "57P03": "is starting or stopping and takes no connections yet. Try again in a moment.",
    "25006": "is read-only (a standby?). Name the primary server in PRICECRAWL_DATABASE_URL.",
}
# libpq gives a failed connection no SQLSTATE, only its text.
_CONNECTION_TEXTS = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("does not exist", "3D000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)


def _postgres(error: psycopg.Error, place: str) -> PricecrawlError | None:
    state = error.sqlstate
    if state in {"55P03", "40P01", "40001"}:
        return StorageBusy(
            f"{place} is locked: another program is writing the same rows. Try again in a moment."
        )
    if state is None and isinstance(error, psycopg.OperationalError):
        text = str(error)
        state = next((code for needle, code in _CONNECTION_TEXTS if needle in text), None)
        if state is None:
            return StorageProblem(
                f"{place} cannot be reached. Check that the server runs and that host and port in "
                "PRICECRAWL_DATABASE_URL are right."
            )
    sentence = _SQLSTATES.get(state or "")
    return StorageProblem(f"{place} {sentence}") if sentence else None


def install(engine: Engine, place: str) -> None:
    """Make every statement of `engine` raise the sentence itself, wherever it is run from."""

    @event.listens_for(engine, "handle_error")
    def _say(context: ExceptionContext) -> BaseException | None:
        # A pooled connection that died is replaced by the pool, which must see its own exception.
        return None if context.is_pre_ping else translate(context.original_exception, place)


@contextmanager
def translated(where: Engine | URL | str = "the database") -> Iterator[None]:
    """Turn database and disk errors inside the block into one sentence; others pass unchanged.

    Engines of `open_engine` do this by themselves; the block is for edges that also touch files.
    """
    place = where if isinstance(where, str) else label(where.url if isinstance(where, Engine) else where)
    try:
        yield
    except (DBAPIError, sqlite3.Error, psycopg.Error, OSError) as error:
        said = translate(error, place)
        if said is None:
            raise
        raise said from error
