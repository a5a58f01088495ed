"""`pricecrawl match`: which listing is which SKU of ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Product identity: which listing is which SKU.")
    group.command("run")(run)
    app.add_typer(group, name="match")


def run(
    source: Annotated[str | None, typer.Option("--source", help="Listings of one source only.")] = None,
    as_json: AsJson = False,
) -> None:
    """Map listings to SKUs by exact identifiers; what contradicts itself goes to review."""
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.mappings import MappingStore
    from pricecrawl.workflows import mapping

    with database() as engine:
        store = MappingStore(engine)
        done = mapping.run(store, now=datetime.now(UTC), source=source)
        totals = store.counts()
    if as_json:
        print_json({**{name: getattr(done, name) for name in done.__slots__}, "totals": totals})
        return
    out.print(
        f"{done.listings} listings with an identifier, {done.listings - done.unmatched} of them name a SKU"
    )
    if not totals:
        out.print("no mapping yet; `pricecrawl catalog import` brings the SKUs, a crawl the listings")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("mapping")
    for heading in ("new", "changed", "in all"):
        table.add_column(heading, justify="right")
    for status, count in sorted(totals.items()):
        new, changed = done.added.get(status, 0), done.changed.get(status, 0)
        table.add_row(
            f"[{_STYLE.get(status, 'white')}]{status}[/]", str(new or ""), str(changed or ""), str(count)
        )
    out.print(table)
    if totals.get("REVIEW_REQUIRED"):
        out.print("`pricecrawl review list --kind mapping` shows what waits")


_STYLE = {
    "AUTO_ACCEPTED": "green",
    "HUMAN_ACCEPTED": "green",
    "REVIEW_REQUIRED": "yellow",
    "REJECTED": "red",
}
