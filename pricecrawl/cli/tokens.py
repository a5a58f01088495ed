"""`pricecrawl tokens`: who may use the HTTP interface, and as what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson, By
from pricecrawl.domain.roles import Role

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Who holds it: a person or a service.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Tokens of the HTTP interface.")
    group.command("add")(add)
    group.command("list")(list_tokens)
    group.command("revoke")(revoke)
    app.add_typer(group, name="tokens")


def add(
    name: _Name,
    *,
    role: Annotated[Role, typer.Option("--role", help="What it may do.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Make a token; it is shown once and cannot be read again."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.tokens import TokenStore
    from pricecrawl.workflows import tokens

    with database() as engine:
        token = tokens.issue(TokenStore(engine), name, role, by=current_user(by), now=datetime.now(UTC))
    if as_json:
        print_json({"name": name, "role": role, "token": token})
        return
    err.print(f"[green]made[/]: {name} as {role.value}. This is shown once; keep it in a secret store:")
    out.print(token, soft_wrap=True)


def list_tokens(as_json: AsJson = False) -> None:
    """Show every token ever made, without its secret."""
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.tokens import TokenStore

    with database() as engine:
        rows = TokenStore(engine).all()
    if as_json:
        print_json(rows)
        return
    if not rows:
        out.print("there is no token; `pricecrawl tokens add NAME --role ROLE` makes one")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("token", "role", "made", "revoked"):
        table.add_column(heading)
    for row in rows:
        revoked = "" if row.revoked_at is None else f"[red]{row.revoked_at:%Y-%m-%d %H:%M}[/]"
        table.add_row(row.name, row.role, f"{row.created_at:%Y-%m-%d %H:%M}", revoked)
    out.print(table)


def revoke(name: _Name, *, by: By = None, as_json: AsJson = False) -> None:
    """Make a token worthless at once."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.tokens import TokenStore
    from pricecrawl.workflows import tokens

    with database() as engine:
        tokens.revoke(TokenStore(engine), name, by=current_user(by), now=datetime.now(UTC))
    if as_json:
        print_json({"name": name, "result": "revoked"})
    else:
        out.print(f"[red]revoked[/] {name}")
