"""`pricecrawl worker`: brings publications to their end, whoever asked for them."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import Annotated

import typer


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
    by: Annotated[
        str | None, typer.Option("--by", help="Who; the account that runs this by default.")
    ] = None,
) -> None:
    """Take up what was asked for or left by a dead worker, and watch the shops; ends on Ctrl-C."""
    from pricecrawl.cli.output import err
    from pricecrawl.cli.publishing import publisher, target_of
    from pricecrawl.config import Config
    from pricecrawl.jobs import engine, publication

    executor = f"worker:{name or socket.gethostname()}"
    config = Config.load()
    with publisher(by, owner=executor) as pub:
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
