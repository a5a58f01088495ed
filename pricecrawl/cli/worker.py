"""`pricecrawl worker`: brings publications to their end, whoever asked for them."""

from __future__ import annotations

import fcntl
import hashlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from pricecrawl.cli.options import By

LONGEST = 100
"""Characters of an owner in a lease."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    name: Annotated[
        str | None,
        typer.Option("--name", help="This worker's own, the same after a restart; the host's by default."),
    ] = None,
    *,
    writers: Annotated[int, typer.Option("--writers", min=1, max=32, help="Publications at once.")] = 4,
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between looks for work.")] = 5.0,
    patrol: Annotated[
        int,
        typer.Option("--patrol", min=0, help="Minutes between looks at what we left in the shops; 0: never."),
    ] = 15,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is left to do.")] = False,
    by: By = None,
) -> None:
    """Take up what was asked for or left by a dead worker, and watch the shops; ends on Ctrl-C."""
    from pricecrawl.cli.output import err
    from pricecrawl.cli.publishing import publisher, target_of
    from pricecrawl.config import Config
    from pricecrawl.jobs import engine, publication

    executor = f"worker:{name or socket.gethostname()}"
    config = Config.load()
    with alone(config.home, executor), publisher(by, owner=executor) as pub:
        if not pub.placements:
            target_of(pub, None)
        settings = engine.EngineSettings(
            config.database_url, executor, writers=writers, polling=min(every, 1.0)
        )
        with publication.serving(pub), engine.running(settings):
            err.print(f"worker {executor} writes to {', '.join(sorted(pub.placements))}", style="dim")
            publication.work(
                pub, every=every, once=once, patrol=timedelta(minutes=patrol) if patrol else None
            )


@contextmanager
def alone(home: Path, executor: str) -> Iterator[None]:
    """Hold the name for this process: two workers of one name would take each other's work for their own.

    Raises:
        UsageProblem: another process has it, or it is too long for a lease.
    """
    from pricecrawl.domain.errors import UsageProblem

    if len(executor) > LONGEST:
        raise UsageProblem(f"a worker's name has at most {LONGEST - len('worker:')} characters.")
    folder = home / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    # A digest, because a name may hold anything, a slash too.
    path = folder / f"{hashlib.sha256(executor.encode()).hexdigest()[:16]}.lock"
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageProblem(f"{executor} runs here already: give this one a --name of its own.") from None
        yield
