"""`pricecrawl db`: the schema's version, its health, and what is thrown away with time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="The database: upgrade its schema, check it, prune it.")
    group.command("upgrade")(upgrade)
    group.command("check")(check)
    group.command("prune")(prune)
    group.command("revision", hidden=True)(revision)
    app.add_typer(group, name="db")


def upgrade(as_json: AsJson = False) -> None:
    """Bring the database's schema to this version of pricecrawl: all of it, or nothing is changed."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.config import Config
    from pricecrawl.db import errors, migrate
    from pricecrawl.db.engine import connect_engine

    engine = connect_engine(Config.load().database_url)
    try:
        with engine.connect() as conn:
            before = migrate.current(conn)
        after = migrate.upgrade(engine)
        place = errors.label(engine.url)
    finally:
        engine.dispose()
    if as_json:
        print_json({"database": place, "from": before, "to": after, "changed": before != after})
    elif before == after:
        out.print(f"{place} is at revision {after}, the newest.", markup=False)
    else:
        out.print(f"{place} went from revision {before or 'none'} to {after}.", markup=False)


def check(as_json: AsJson = False) -> None:
    """Compare the schema with this version, look for damage and for rows that point nowhere.

    Exit code 4 if anything is wrong; nothing is written.
    """
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.config import Config
    from pricecrawl.db.health import examine
    from pricecrawl.domain.errors import ProblemsFound

    found = examine(Config.load().database_url)
    if as_json:
        print_json(found)
    else:
        out.print(found.database, markup=False, soft_wrap=True)
        out.print(f"  {found.server}, revision {found.revision} of {found.newest}", markup=False)
        for problem in found.problems:
            out.print(f"  {problem}", style="red", markup=False, soft_wrap=True)
        for note in found.notes:
            out.print(f"  {note}", style="yellow", markup=False, soft_wrap=True)
        if not found.problems:
            out.print("  schema, guards and references are as they should be", style="green")
    if found.problems:
        raise ProblemsFound(f"{len(found.problems)} problem(s) with {found.database}")


def prune(
    days: Annotated[int, typer.Option("--days", min=1, help="Days that log rows are kept.")] = 14,
    evidence_days: Annotated[
        int | None,
        typer.Option(
            "--evidence-days",
            min=1,
            help="Also delete evidence files older than this, if nothing that is kept stands on them. "
            "Without it evidence is kept for good.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--check", help="Only print what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete old log rows (rejections, skips, request keys); observations, decisions and events stay."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.config import Config
    from pricecrawl.db.engine import open_engine
    from pricecrawl.db.evidence_index import EvidenceIndex
    from pricecrawl.db.retention import tidy
    from pricecrawl.evidence.store import EvidenceStore
    from pricecrawl.workflows import retention

    config = Config.load()
    engine = open_engine(config.database_url)
    try:
        pruned = retention.prune(
            EvidenceIndex(engine),
            EvidenceStore(config.evidence_url) if evidence_days else None,
            policy=retention.Policy(days, evidence_days),
            now=datetime.now(UTC),
            write=not dry_run,
        )
        if not dry_run:
            tidy(engine)
    finally:
        engine.dispose()
    if as_json:
        print_json(pruned)
        return
    verb = "would go" if dry_run else "deleted"
    for table, count in pruned.rows.items():
        out.print(f"{count:>8} rows of {table} {verb}", markup=False)
    if evidence_days:
        out.print(f"{len(pruned.files):>8} evidence files {verb}", markup=False)


def revision(message: Annotated[str, typer.Argument(help="What changed, in a few words.")]) -> None:
    """Write a draft migration for the difference between the tables in code and the newest revision."""
    from tempfile import TemporaryDirectory

    from pricecrawl.cli.output import out
    from pricecrawl.db import migrate
    from pricecrawl.db.engine import open_engine

    with TemporaryDirectory() as folder:
        engine = open_engine(f"sqlite:///{folder}/draft.db")
        try:
            path = migrate.revise(engine, message)
        finally:
            engine.dispose()
    out.print(f"{path}: read it, correct it, and run the tests of tests/db", markup=False, soft_wrap=True)
