"""`pricecrawl hold`: kill switches on everything, a target, a source or a SKU."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson, By

_Scope = Annotated[str, typer.Argument(metavar="SCOPE", help="everything, target, source or sku.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Which target, source or SKU.")]
_Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; whoever finds it must know.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Kill switches, read when prices are decided and written.")
    group.command("set")(set_hold)
    group.command("clear")(clear)
    group.command("list")(list_holds)
    app.add_typer(group, name="hold")


def set_hold(
    scope: _Scope, name: _Name = "", *, reason: _Reason, by: By = None, as_json: AsJson = False
) -> None:
    """Hold something: no price of it is decided or written, a running crawl of it stops."""
    from rich.markup import escape

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.holds import HoldStore
    from pricecrawl.workflows import holds

    config = Config.load()
    with database(config) as engine:
        number = holds.place(
            HoldStore(engine),
            scope,
            name,
            reason=reason,
            by=current_user(by),
            now=datetime.now(UTC),
            targets=config.targets,
        )
    if as_json:
        print_json({"id": number, "scope": scope, "value": name, "reason": reason})
    else:
        out.print(f"[yellow]held[/]: {escape(f'{scope} {name}'.strip())} (hold {number})")


def clear(
    scope: _Scope, name: _Name = "", *, reason: _Reason, by: By = None, as_json: AsJson = False
) -> None:
    """End a hold."""
    from rich.markup import escape

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.holds import HoldStore
    from pricecrawl.workflows import holds

    with database() as engine:
        count = holds.clear(
            HoldStore(engine), scope, name, reason=reason, by=current_user(by), now=datetime.now(UTC)
        )
    if as_json:
        print_json({"cleared": count, "scope": scope, "value": name})
    else:
        out.print(f"[green]cleared[/]: {escape(f'{scope} {name}'.strip())}")


def list_holds(as_json: AsJson = False) -> None:
    """Show what is held."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.holds import HoldStore
    from pricecrawl.workflows import holds

    with database() as engine:
        rows = holds.active(HoldStore(engine))
    if as_json:
        print_json(rows)
        return
    if not rows:
        out.print("nothing is held")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("hold", "on", "since", "by", "reason"):
        table.add_column(heading)
    for row in rows:
        on = escape(f"{row.scope} {row.value}".strip())
        told = (f"{row.set_at:%Y-%m-%d %H:%M}", escape(row.set_by), escape(row.reason))
        table.add_row(str(row.id), f"[yellow]{on}[/]", *told)
    out.print(table)
