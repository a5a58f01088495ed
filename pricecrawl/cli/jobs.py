"""`pricecrawl jobs`: what is under way, and what was put aside until somebody looks at it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson, By

_Number = Annotated[int, typer.Argument(metavar="LETTER", help="As `jobs list` numbers it.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Work under way, and dead letters.")
    group.command("list")(list_jobs)
    group.command("show")(show)
    group.command("replay")(replay)
    group.command("cancel")(cancel)
    app.add_typer(group, name="jobs")


def list_jobs(
    everything: Annotated[bool, typer.Option("--all", help="Also letters that were replayed.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Show publications under way, and every dead letter and incident that waits."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.dead_letters import DeadLetterStore
    from pricecrawl.db.publications import PublicationStore

    with database() as engine, engine.connect() as conn:
        letters = DeadLetterStore(engine).all(conn, replayed=everything)
        under_way = PublicationStore(engine).open(conn)
    if as_json:
        print_json({"letters": letters, "publications": under_way})
        return
    if under_way:
        table = Table(box=None, pad_edge=False, header_style="bold", title="under way", title_justify="left")
        for heading in ("publication", "SKU", "target", "status", "attempts", "next", "why"):
            table.add_column(heading, overflow="fold")
        for row in under_way:
            at = "" if row["next_check_at"] is None else f"{row['next_check_at']:%m-%d %H:%M:%S}"
            status = row["status"].replace("_", " ").lower()
            cells = (row["publication_id"], row["sku"], row["target"], status, str(row["attempts"]), at)
            table.add_row(*map(escape, cells), escape(row["verdict_detail"]))
        out.print(table)
    if not letters:
        out.print("no dead letter waits")
        return
    table = Table(box=None, pad_edge=False, header_style="bold", title="dead letters", title_justify="left")
    for heading in ("letter", "kind", "since", "attempts", "what happened"):
        table.add_column(heading, overflow="fold")
    for letter in letters:
        style = "dim" if letter["replayed_at"] else "red" if letter["kind"] == "incident" else "yellow"
        table.add_row(
            str(letter["id"]),
            f"[{style}]{letter['kind']}[/]",
            f"{letter['failed_at']:%Y-%m-%d %H:%M}",
            str(letter["attempts"]),
            escape(letter["error"]),
        )
    out.print(table)


def show(letter: _Number, *, as_json: AsJson = False) -> None:
    """Show one letter with its publication: both reads, every call that was made, every answer."""
    from rich.pretty import Pretty

    from pricecrawl.cli.output import out, plain, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.dead_letters import DeadLetterStore
    from pricecrawl.db.publications import PublicationStore
    from pricecrawl.domain.errors import UsageProblem

    with database() as engine, engine.connect() as conn:
        found = DeadLetterStore(engine).get(conn, letter)
        if found is None:
            raise UsageProblem(f"there is no dead letter {letter}; `pricecrawl jobs list` shows them.")
        of = found["payload"].get("publication_id")
        publication = None if of is None else PublicationStore(engine).get(conn, of)
    if as_json:
        print_json({"letter": found, "publication": publication})
    else:
        out.print(Pretty(plain({"letter": found, "publication": publication}), expand_all=True))


def replay(
    letter: _Number,
    *,
    wait: Annotated[int, typer.Option("--wait", min=0, help="Seconds to wait for a shop.")] = 120,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Give a letter another chance, through every gate; an incident is closed if the price is ours again."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import outcome, outcomes_table, publisher
    from pricecrawl.domain.errors import ProblemsFound, Refused
    from pricecrawl.pricing.ports import TargetUnavailable
    from pricecrawl.workflows import letters, publish

    def clock() -> datetime:
        return datetime.now(UTC)

    with publisher(by) as pub:
        try:
            done = letters.replay(pub, letter, now=clock())
        except TargetUnavailable as problem:
            raise Refused(f"the shop cannot be read: {problem}.") from None
        rows = []
        if done.again:
            after = publish.run(pub, done.publication_id, clock=clock, patience=timedelta(seconds=wait))
            rows = [outcome(pub, done.publication_id, after)]
        with pub.store.engine.connect() as conn:
            still = pub.letters.get(conn, letter)
    if as_json:
        print_json({"replayed": done, "publications": rows})
    elif rows:
        out.print(outcomes_table(rows))
    else:
        out.print(done.detail, soft_wrap=True)
    if any(row["status"] != "VERIFIED" for row in rows) or (
        still is not None and still["replayed_at"] is None
    ):
        raise ProblemsFound("it is not settled yet.")


def cancel(
    publication: Annotated[str, typer.Argument(help="A publication that is not written yet.")],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; kept for good.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw a publication before it is written."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import publisher
    from pricecrawl.workflows import publish

    with publisher(by) as pub:
        publish.withdraw(pub, publication, by=pub.by.name, reason=reason, now=datetime.now(UTC))
    if as_json:
        print_json({"publication_id": publication, "status": "STALE"})
    else:
        out.print(f"withdrawn: {publication}")
