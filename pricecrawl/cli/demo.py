"""`pricecrawl demo`: the whole way on three small shops of one's own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    home: Annotated[Path, typer.Option("--home", help="Folder for the demo's state; emptied first.")] = Path(
        "var/demo"
    ),
) -> None:
    """Serve three shops on loopback, crawl them on two days, price a catalogue, and trace one price."""
    from pricecrawl.demo.run import run

    run(home)
