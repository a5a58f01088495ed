"""`pricecrawl audit`: is what is stored still what was written?"""

from __future__ import annotations

import typer

from pricecrawl.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(as_json: AsJson = False) -> None:
    """Check events, decisions, snapshots and observations against each other; no network is used."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.audit_pricing import AuditStore
    from pricecrawl.domain.run import EXIT_PROBLEMS
    from pricecrawl.workflows import audit as check

    with database() as engine:
        found = check.run(AuditStore(engine))
    if as_json:
        problems = [dict(zip(("table", "row", "problem"), item, strict=True)) for item in found.problems]
        print_json({"checked": found.counts, "problems": problems})
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("table", "row", "problem"):
            table.add_column(heading, overflow="fold")
        for where, row, problem in found.problems:
            table.add_row(where, f"[red]{escape(row)}[/]", escape(problem))
        if found.problems:
            out.print(table)
        seen = ", ".join(f"{count} of {name}" for name, count in found.counts.items())
        style = "red" if found.problems else "green"
        out.print(f"[{style}]{len(found.problems) or 'no'} problems[/] in {seen}")
    if found.problems:
        raise typer.Exit(EXIT_PROBLEMS)
