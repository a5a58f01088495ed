"""`pricecrawl catalog`: our own SKUs, and what they cost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pricecrawl.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Callable

    from pricecrawl.workflows.catalogue import Imported

_File = Annotated[Path, typer.Argument(metavar="CSV", help="Encoding and delimiter are found by themselves.")]
_Mark = Annotated[
    str | None,
    typer.Option("--decimal", help="Decimal mark of the file, '.' or ',', where it does not show."),
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Our own SKUs, their costs and restrictions.")
    group.command("import")(import_skus)
    group.command("costs")(import_costs)
    app.add_typer(group, name="catalog")


def import_skus(file: _File, decimal: _Mark = None, *, as_json: AsJson = False) -> None:
    """Add or update SKUs.

    Needed columns: sku, name, currency. Read as well: brand, category, gtin, mpn, pack, size, country,
    tax_basis, current_price, protected, tier, active.
    """
    from pricecrawl.workflows import catalogue

    _run(catalogue.import_skus, file, decimal, "SKUs", as_json=as_json)


def import_costs(file: _File, decimal: _Mark = None, *, as_json: AsJson = False) -> None:
    """Add dated costs and restrictions of SKUs that are in the catalogue.

    Needed columns: sku, cogs. Read as well: currency, fulfilment, payment, map_price, regulatory_floor,
    map_required, regulatory_required, valid_from, valid_to.
    """
    from pricecrawl.workflows import catalogue

    _run(catalogue.import_costs, file, decimal, "cost rows", as_json=as_json)


def _run(load: Callable[..., Imported], file: Path, decimal: str | None, what: str, *, as_json: bool) -> None:
    from rich.markup import escape

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.config import Config
    from pricecrawl.db.catalogue import CatalogueStore
    from pricecrawl.db.engine import open_engine
    from pricecrawl.domain.errors import UsageProblem

    if decimal not in {None, ".", ","}:
        raise UsageProblem(f"--decimal {decimal!r} is no decimal mark; give '.' or ','.")
    engine = open_engine(Config.load().database_url)
    try:
        done = load(CatalogueStore(engine), file, now=datetime.now(UTC), by=current_user(), decimal=decimal)
    finally:
        engine.dispose()
    for note in done.notes:
        err.print(f"{file}: {note}", style="yellow", markup=False, soft_wrap=True)
    if as_json:
        print_json(done)
    else:
        counts = f"{done.added} added, {done.changed} updated"
        out.print(f"[green]{done.rows} {what}[/] from {escape(str(file))}: {counts}")
