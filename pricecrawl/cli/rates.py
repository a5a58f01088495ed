"""`pricecrawl rates`: exchange rates, fetched or shown."""

from __future__ import annotations

from datetime import UTC, datetime

import typer

from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import err, out, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(rates)


def rates(as_json: AsJson = False) -> None:
    """Fetch the European Central Bank's reference rates of the day and keep them."""
    from pricecrawl.config import Config
    from pricecrawl.db.engine import open_engine
    from pricecrawl.db.rates import RateStore
    from pricecrawl.workflows.rates import refresh

    engine = open_engine(Config.load().database_url)
    try:
        done = refresh(RateStore(engine), now=datetime.now(UTC))
    finally:
        engine.dispose()
    if as_json:
        print_json(done)
        return
    if done.problem:
        err.print(f"{done.problem}: the bundled rates of {done.day} stand in", style="yellow", markup=False)
    out.print(f"{done.new} new rates of {done.day} ({done.source})", markup=False)
