"""`pricecrawl targets`: the shops that prices are written to, and what they have."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

_Name = Annotated[str, typer.Argument(metavar="TARGET", help="As in PRICECRAWL_TARGET_<TARGET>_KIND.")]
_Sku = Annotated[str, typer.Argument(help="Our SKU.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Shops that prices are written to.")
    group.command("list")(list_targets)
    group.command("kinds")(kinds)
    group.command("read")(read)
    group.command("adopt")(adopt)
    app.add_typer(group, name="targets")


def list_targets(as_json: AsJson = False) -> None:
    """Show the configured targets and what their platforms can do; sends nothing."""
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.commerce.configured import placements
    from pricecrawl.config import Config

    config = Config.load()
    found = placements(config.targets)
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "kind": config.targets[name]["kind"].get_secret_value(),
            "channel": placed.channel,
            "price_list": placed.price_list,
            "capabilities": placed.target.capabilities,
        }
        for name, placed in sorted(found.items())
    ]
    if as_json:
        print_json([{**row, "capabilities": _seconds(row["capabilities"])} for row in rows])
        return
    if not rows:
        out.print(
            "no target is configured; `pricecrawl targets kinds` shows what can be, docs/targets.md how"
        )
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("target", "kind", "where", "can do", "settles after"):
        table.add_column(heading)
    for row in rows:
        where = " ".join(part for part in (row["channel"], row["price_list"]) if part) or "-"
        can = row["capabilities"]
        table.add_row(
            row["name"],
            row["kind"],
            where,
            ", ".join(_abilities(can)) or "-",
            f"{can.settle_time.total_seconds():g} s",
        )
    out.print(table)


def kinds(as_json: AsJson = False) -> None:
    """Show every platform and its settings."""
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.commerce.configured import KINDS, settings_of

    rows = {kind: settings_of(kind) for kind in KINDS}
    if as_json:
        print_json({kind: {"needs": needs, "takes": takes} for kind, (needs, takes) in rows.items()})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("kind", "needs", "takes"):
        table.add_column(heading, overflow="fold")
    for kind, (needs, takes) in rows.items():
        table.add_row(kind, " ".join(map(str.upper, needs)), " ".join(map(str.upper, takes)))
    out.print(table)
    out.print("each is PRICECRAWL_TARGET_<NAME>_<KEY>, with KIND itself and, for all, SETTLE_SECONDS and")
    out.print("TIMEOUT_SECONDS")


def read(target: _Name, sku: _Sku, *, as_json: AsJson = False) -> None:
    """Show what a target has for a SKU; changes nothing."""
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import publisher
    from pricecrawl.workflows.adopt import look

    with publisher() as pub:
        state = look(pub, target, sku)
        with pub.store.engine.connect() as conn:
            ours = pub.store.subject(conn, sku)
    if as_json:
        print_json({"state": state, "current_price": ours.current_price})
        return
    out.print(
        f"{target} has {escape(sku)} at [bold]{state.amount}[/] {state.currency}, {state.tax_basis.value}"
    )
    if state.amount != ours.current_price:
        out.print(
            f"[yellow]the catalogue says {ours.current_price}[/]: no decision goes out until they agree"
        )


def adopt(
    target: _Name,
    sku: _Sku,
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; kept for good.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Make the shop's price the current one of a SKU, after somebody changed it there."""
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import publisher
    from pricecrawl.workflows import adopt as taking

    with publisher(by) as pub:
        amount = taking.adopt(pub, target, sku, reason=reason, by=pub.by.name, now=datetime.now(UTC))
    if as_json:
        print_json({"sku": sku, "target": target, "current_price": amount})
    else:
        out.print(f"{escape(sku)} goes out from [bold]{amount}[/] from now on")


def _seconds(can: Any) -> dict[str, Any]:
    """Capabilities with times in seconds."""
    return {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in asdict(can).items()
    }


def _abilities(can: Any) -> list[str]:
    named = {
        "compare-and-set": can.cas.value != "none",
        "later": can.asynchronous,
        "dates": can.effective_window,
        "storefront": can.storefront_view,
        "replaces siblings": can.replaces_siblings,
        "staged": can.staged,
    }
    return [name for name, has in named.items() if has]
