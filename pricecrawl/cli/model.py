"""`pricecrawl model`: what a model may add, where the configuration switches it on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

if TYPE_CHECKING:
    from pricecrawl.cli.stored import StoredPages
    from pricecrawl.config import Config
    from pricecrawl.gateway.gateway import Gateway
    from pricecrawl.workflows.assist import Item

_Source = Annotated[str, typer.Argument(help="The source.")]
_Sku = Annotated[str | None, typer.Option("--sku", help="Only this listing.")]
_Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many pages.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="An optional model: it suggests and doubts, no more.")
    group.command("suggest")(suggest)
    group.command("verify")(verify)
    group.command("usage")(usage)
    app.add_typer(group, name="model")


def suggest(source: _Source, *, sku: _Sku = None, limit: _Limit = 1, as_json: AsJson = False) -> None:
    """Ask for rules of a shop that has none and whose stored pages gave no price."""
    from pricecrawl import __version__
    from pricecrawl.cli.session import database
    from pricecrawl.cli.stored import StoredPages
    from pricecrawl.config import Config
    from pricecrawl.gateway.triggers import ShopConfig
    from pricecrawl.spiders.loader import load_catalog
    from pricecrawl.workflows import assist

    config = Config.load()
    with database(config) as engine:
        gateway = _gateway(config, engine)
        pages = StoredPages(engine, config, source)
        shop = ShopConfig.of(load_catalog(config).get(source).source.rules, pages.learned.get(source, {}))
        items = [*_rejected(engine, pages, source, sku, limit), *_items(engine, pages, source, sku, limit)]
        found = assist.suggest(
            gateway, items, config=shop, version=__version__, enabled=config.ai_auto_mapping
        )
    _print(found, as_json=as_json)


def verify(
    source: _Source, *, sku: _Sku = None, limit: _Limit = 5, by: By = None, as_json: AsJson = False
) -> None:
    """Ask whether stored prices are right; where the model disagrees, a review is opened."""
    from pricecrawl import __version__
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.session import database
    from pricecrawl.cli.stored import StoredPages
    from pricecrawl.config import Config
    from pricecrawl.db.model_calls import ModelCallStore
    from pricecrawl.workflows import assist
    from pricecrawl.workflows.replay import append

    config = Config.load()
    with database(config) as engine:
        gateway = _gateway(config, engine)
        items = list(_items(engine, StoredPages(engine, config, source), source, sku, limit))
        statuses = assist.known_statuses(ModelCallStore(engine), items)
        found = assist.verify(
            gateway,
            items,
            statuses=statuses,
            actor=current_user(by),
            version=__version__,
            enabled=config.ai_verification,
        )
        doubted = [item.doubted for item in found if item.doubted is not None]
        append(engine, doubted, job="verification", now=datetime.now(UTC))
    _print(found, as_json=as_json)


def usage(*, as_json: AsJson = False) -> None:
    """Show how often models were asked, and what it cost."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.model_calls import ModelCallStore

    with database() as engine:
        found = ModelCallStore(engine).use()
    if as_json:
        print_json(found)
        return
    if not found:
        out.print("no model was ever asked")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "purpose", "calls", "failed", "known cost"):
        table.add_column(name, justify="left" if name in ("model", "purpose") else "right")
    for item in found:
        table.add_row(
            escape(item.model), item.purpose, str(item.calls), str(item.failed), format(item.cost, "f")
        )
    out.print(table)


def _gateway(config: Config, engine: Any) -> Gateway:
    from pricecrawl.db.model_calls import ModelCallStore
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.gateway.setup import gateway_of

    gateway = gateway_of(config, ModelCallStore(engine))
    if gateway is None:
        raise UsageProblem(
            "No model is switched on: set PRICECRAWL_AI_URL, PRICECRAWL_AI_MODEL and one of "
            "PRICECRAWL_AI_AUTO_MAPPING and PRICECRAWL_AI_VERIFICATION, or use `pricecrawl selectors induce`."
        )
    return gateway


def _items(engine: Any, pages: StoredPages, source: str, sku: str | None, limit: int) -> Iterator[Item]:
    """The last stored page of each listing; a page of many listings is a feed and is left out."""
    from pricecrawl.db.replay import ReplayStore
    from pricecrawl.domain.errors import PricecrawlError
    from pricecrawl.workflows.assist import Item

    given = 0
    for page in ReplayStore(engine).pages(source, latest=True):
        if given >= limit:
            return
        if len(page.observations) != 1 or sku not in (None, page.observations[0].source_sku):
            continue
        try:
            stored = pages.response(page)
            listings, market = pages.read(page)
        except PricecrawlError:
            continue
        raw = next((item for item in listings if item.source_sku == page.observations[0].source_sku), None)
        if raw is not None:
            given += 1
            yield Item(page, stored, raw, market, page.observations[0])


def _rejected(engine: Any, pages: StoredPages, source: str, sku: str | None, limit: int) -> Iterator[Item]:
    """Stored pages that gave a listing without any price."""
    from pricecrawl.db.replay import ReplayStore
    from pricecrawl.domain.errors import PricecrawlError
    from pricecrawl.workflows.assist import Item

    for page in ReplayStore(engine).priceless(source, sku, limit).values():
        try:
            stored = pages.response(page)
            listings, market = pages.read(page)
        except PricecrawlError:
            continue
        yield from (Item(page, stored, raw, market) for raw in listings[:1])


def _print(found: list[Any], *, as_json: bool) -> None:
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.workflows.assist import as_json as told

    if as_json:
        print_json([told(item) for item in found])
        return
    if not found:
        out.print("no stored page of this source fits")
    for item in found:
        asked = "asked" if item.verdict.ask else "not asked"
        status = f", {item.status.value}" if item.status else ""
        out.print(f"[bold]{escape(item.source_sku)}[/]  {asked} ({item.verdict.reason}){status}")
        for sentence in item.trace:
            out.print(f"    {escape(sentence)}")
        for category, rules in (item.suggestion.rules if item.suggestion else {}).items():
            out.print(f"    {category} = {escape(', '.join(rules))}")
