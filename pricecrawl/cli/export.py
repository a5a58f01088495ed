"""`pricecrawl export`: tables for analysts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="listings, history, decisions or snapshots.")],
    form: Annotated[
        str | None,
        typer.Option("--format", "-f", help="csv, json, jsonl or parquet; else by the file's name."),
    ] = None,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="A file instead of stdout.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="A day (2026-02-01), a time, or a span back (36h, 7d).")
    ] = None,
) -> None:
    """Write listings, price history, decisions or market price snapshots."""
    import os
    import sys

    from pricecrawl.cli.output import err
    from pricecrawl.cli.session import database
    from pricecrawl.db.exports import EXTRACTS, ExportStore
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.workflows.export import write
    from pricecrawl.workflows.times import since as read_since

    if what not in EXTRACTS:
        raise UsageProblem(f"there is no table {what!r} to export; choose {', '.join(EXTRACTS)}.")
    suffix = out_file.suffix.lstrip(".").lower() if out_file else ""
    chosen = form or {"jsonl": "jsonl", "json": "json", "parquet": "parquet"}.get(suffix, "csv")
    start = None if since is None else read_since(since)
    with database() as engine:
        rows = ExportStore(engine).rows(what, start)
        try:
            count = write(rows, list(EXTRACTS[what].columns), chosen, to=out_file or sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:  # `| head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
    if out_file:
        err.print(f"{count} {what} in {out_file}", markup=False)
