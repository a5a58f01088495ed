"""`pricecrawl status`: how every source stands."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from pricecrawl.db.status import SourceStatus
    from pricecrawl.sources.catalog import Catalog

_STYLE = {
    "finished": "green",
    "running": "cyan",
    "blocked": "red",
    "error": "red",
    "unavailable": "yellow",
    "held": "yellow",
    "interrupted": "yellow",
}
# A column that would be empty is left out.
_NUMBERS = ("missing", "gone", "refusals", "reviews")
_EVERY_SECONDS = 2.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Stay, and redraw every two seconds.")] = False,
) -> None:
    """Show every source: last run, outcome, coverage, listings, misses, refusals, freshness, next due."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.config import Config
    from pricecrawl.db.engine import open_engine
    from pricecrawl.sources.catalog import Catalog

    config = Config.load()
    catalog = Catalog.load(config)
    limits = {entry.source.slug: entry.source.freshness for entry in catalog}
    engine = open_engine(config.database_url)
    try:
        if as_json:
            now = datetime.now(UTC)
            print_json([_as_json(row, limits, now) for row in _rows(engine, catalog)])
        elif watch:
            from time import sleep

            from rich.live import Live

            with Live(console=out, refresh_per_second=4, screen=False) as live:
                while True:
                    live.update(_table(_rows(engine, catalog), limits, datetime.now(UTC)))
                    sleep(_EVERY_SECONDS)
        else:
            rows = _rows(engine, catalog)
            if rows:
                out.print(_table(rows, limits, datetime.now(UTC)))
            else:
                out.print("there is no source yet; `pricecrawl sources add` makes one")
    except KeyboardInterrupt:
        raise typer.Exit from None
    finally:
        engine.dispose()


def _rows(engine: Any, catalog: Catalog) -> list[SourceStatus]:
    """Sources of the database, then those of the rows that were never crawled."""
    from pricecrawl.db.status import never_crawled, source_status

    known = source_status(engine)
    names = {row.source for row in known}
    return known + [
        never_crawled(entry.source.slug, entry.platform)
        for entry in catalog
        if entry.source.slug not in names
    ]


def _is_fresh(row: SourceStatus, limits: Mapping[str, timedelta], now: datetime) -> bool | None:
    limit = limits.get(row.source)
    return None if row.fresh_at is None or limit is None else now - row.fresh_at <= limit


def _as_json(row: SourceStatus, limits: Mapping[str, timedelta], now: datetime) -> dict[str, Any]:
    age = int((now - row.fresh_at).total_seconds()) if row.fresh_at else None
    return {**asdict(row), "age_seconds": age, "fresh": _is_fresh(row, limits, now)}


def _table(rows: list[SourceStatus], limits: Mapping[str, timedelta], now: datetime) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    numbers = [name for name in _NUMBERS if any(getattr(row, name) for row in rows)]
    for heading in ("source", "last run", "outcome", "coverage"):
        table.add_column(heading, no_wrap=True)
    for heading in ("listings", *numbers):
        table.add_column(heading, justify="right")
    for heading in ("freshness", "next due"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        fresh = _is_fresh(row, limits, now)
        age = _span(now - row.fresh_at) if row.fresh_at else ""
        coverage = row.coverage if row.coverage == "complete" else row.coverage_reason
        table.add_row(
            row.source,
            _span(now - row.started_at) if row.started_at else "never",
            _outcome(row),
            coverage or "",
            str(row.listings),
            *(str(getattr(row, name) or "") for name in numbers),
            age if fresh is None else f"[{'green' if fresh else 'yellow'}]{age}[/]",
            _due(row, now),
        )
    return table


def _outcome(row: SourceStatus) -> str:
    if row.outcome is None:
        return ""
    style = _STYLE.get(row.outcome, "white")
    few = " [yellow](count!)[/]" if row.expectations_met is False else ""
    return f"[{style}]{row.outcome}[/]{few}"


def _due(row: SourceStatus, now: datetime) -> str:
    if row.held_reason is not None:
        return "[yellow]held[/]"
    if not row.enabled:
        return "[yellow]disabled[/]"
    if row.next_due is None:
        return "now"
    return "now" if row.next_due <= now else f"in {_span(row.next_due - now)}"


def _span(span: timedelta) -> str:
    """A time span in its largest unit, as a person says it."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
