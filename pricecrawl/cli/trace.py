"""`pricecrawl trace`: from a price back to the stored bytes of the page."""

from __future__ import annotations

from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trace")(trace)


def trace(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A SKU, a decision or a publication.")],
    as_json: AsJson = False,
) -> None:
    """Show the whole chain behind a price, and verify the stored bytes of every page in it."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.cli.views import trace_tree
    from pricecrawl.config import Config
    from pricecrawl.db.trace import TraceStore
    from pricecrawl.domain.run import EXIT_PROBLEMS
    from pricecrawl.evidence.store import EvidenceStore
    from pricecrawl.workflows import trace as chain

    config = Config.load()
    with database(config) as engine:
        found = chain.trace(TraceStore(engine), EvidenceStore(config.evidence_url), name)
    if as_json:
        print_json(chain.as_json(found))
    else:
        out.print(trace_tree(found))
    if not found.complete:
        raise typer.Exit(EXIT_PROBLEMS)
