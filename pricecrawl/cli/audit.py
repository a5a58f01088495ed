"""`pricecrawl audit`: is what is stored still what was written?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pricecrawl.cli.options import AsJson

if TYPE_CHECKING:
    from pricecrawl.workflows.audit import Anchor


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


def audit(
    evidence: Annotated[
        bool, typer.Option(help="Also read every stored page and compare its digest.")
    ] = True,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="A mark of the event log: compared if there is one, and written anew if nothing is wrong. "
            "Keep it where nobody who writes the database can.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check events, decisions and what hangs on them, observations and pages against each other; no network.

    Exit code 4 if anything is not as it was written.
    """
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.audit_pricing import AuditStore
    from pricecrawl.db.evidence_index import EvidenceIndex
    from pricecrawl.domain.run import EXIT_PROBLEMS
    from pricecrawl.evidence.store import EvidenceStore
    from pricecrawl.workflows import audit as check

    config = Config.load()
    kept = None if anchor is None else _read(anchor)
    with database(config) as engine, err.status("auditing"):
        store = AuditStore(engine)
        pages = EvidenceIndex(engine) if evidence else None
        found = check.run(store, pages, EvidenceStore(config.evidence_url) if evidence else None)
        if kept is not None:
            check.against(store, kept, found)
        mark = None
        if anchor is not None and not found.problems:
            mark = check.anchor(store)
            _write(anchor, mark)
    if as_json:
        problems = [dict(zip(("table", "row", "problem"), item, strict=True)) for item in found.problems]
        print_json({"checked": found.counts, "problems": problems, "anchor": mark})
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("table", "row", "problem"):
            table.add_column(heading, overflow="fold")
        for where, row, problem in found.problems:
            table.add_row(where, f"[red]{escape(row)}[/]", escape(problem))
        if found.problems:
            out.print(table)
        seen = ", ".join(f"{count:,} of {name}" for name, count in found.counts.items())
        style = "red" if found.problems else "green"
        count = len(found.problems)
        out.print(f"[{style}]{count or 'no'} problem{'' if count == 1 else 's'}[/] in {seen}")
        if mark is not None:
            out.print(f"marked up to event {mark.until} in {anchor}", markup=False, soft_wrap=True)
    if found.problems:
        raise typer.Exit(EXIT_PROBLEMS)


def _read(path: Path) -> Anchor | None:
    """The mark in a file; None where there is no file yet.

    Raises:
        UsageProblem: the file is no mark.
    """
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.workflows.audit import Anchor

    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Anchor(int(kept["until"]), int(kept["events"]), str(kept["sha256"]))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UsageProblem(f"{path} cannot be read ({problem.strerror}).") from None
    except (ValueError, KeyError, TypeError):
        raise UsageProblem(f"{path} is no mark that `pricecrawl audit --anchor` wrote.") from None


def _write(path: Path, mark: Anchor) -> None:
    from dataclasses import asdict

    from pricecrawl.domain.errors import PricecrawlError

    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_text(json.dumps(asdict(mark)) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as problem:
        raise PricecrawlError(f"{path} cannot be written ({problem.strerror}).") from None
