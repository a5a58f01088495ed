"""Starting and stopping the job engine of this process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbos import DBOS, DBOSConfig

from pricecrawl import __version__
from pricecrawl.db.engine import database_url

PUBLISH_QUEUE = "publish"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`executor` names this worker, the same after every restart and no other's at the same time.

    `writers` is how many publications one worker works on at once, `polling` how often, in seconds,
    it looks for more.
    """

    database: str
    executor: str
    writers: int = 4
    polling: float = 1.0
    version: str = __version__


def system_url(database: str) -> str:
    """Where the engine keeps its own tables: beside a SQLite file, in a schema `dbos` on PostgreSQL."""
    url = database_url(database)
    if url.get_backend_name() == "sqlite":
        path = Path(url.database or "pricecrawl.db")
        return f"sqlite:///{path.with_name(f'{path.stem}.jobs.db')}"
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


@contextmanager
def running(settings: EngineSettings) -> Iterator[None]:
    """The engine, launched; workflows of this executor that were cut off go on at once."""
    config: DBOSConfig = {
        "name": "pricecrawl",
        "system_database_url": system_url(settings.database),
        "application_version": settings.version,
        "executor_id": settings.executor,
        "log_level": "ERROR",
        "enable_otlp": False,
        "notification_listener_polling_interval_sec": min(settings.polling, 1.0),
    }
    with warnings.catch_warnings():
        # SQLite is what we mean on one machine; the engine would rather be asked for PostgreSQL.
        warnings.simplefilter("ignore")
        DBOS(config=config)
        DBOS.launch()
    try:
        DBOS.register_queue(
            PUBLISH_QUEUE, worker_concurrency=settings.writers, polling_interval_sec=settings.polling
        )
        yield
    finally:
        DBOS.destroy(workflow_completion_timeout_sec=5)
        # Its handler writes to the stream that was the console when it started.
        log = logging.getLogger("dbos")
        for handler in tuple(log.handlers):
            log.removeHandler(handler)
