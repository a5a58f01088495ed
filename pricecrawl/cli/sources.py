"""`pricecrawl sources`: the rows, their mistakes, a new one, the kill switch and permissions of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import err, out, print_json
from pricecrawl.cli.permits import identity, permission_lines, permissions_of, permit
from pricecrawl.config import Config
from pricecrawl.domain.errors import ProblemsFound, UsageProblem

if TYPE_CHECKING:
    from pricecrawl.db.crawl_types import SourceState
    from pricecrawl.sources.catalog import Catalog, Entry

Slug = Annotated[str, typer.Argument(help="Name of the source.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the change.")]
By = Annotated[str, typer.Option("--by", help="Who; your login name if left out.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Shops as rows: list, check, add, switch off.")
    group.command("list")(list_sources)
    group.command()(show)
    group.command()(check)
    group.command()(add)
    group.command()(enable)
    group.command()(disable)
    group.command()(permit)
    group.command()(identity)
    app.add_typer(group, name="sources")


def list_sources(
    platform: Annotated[str, typer.Option("--platform", help="Only this platform's.")] = "",
    as_json: AsJson = False,
) -> None:
    """Every source, whether it is switched on, and how often it is due."""
    from rich.markup import escape
    from rich.table import Table

    config = Config.load()
    catalog = _catalog(config)
    states = _states(config, catalog)
    rows = [_summary(e, states.get(e.source.slug)) for e in catalog if platform in ("", e.platform)]
    if as_json:
        print_json({"sources": rows, "mistakes": [_mistake(m) for m in catalog.mistakes]})
        return
    if rows:
        table = Table(box=None, pad_edge=False)
        for name in ("source", "platform", "retailer", "market", "every", "enabled"):
            table.add_column(name, overflow="fold", no_wrap=name in ("source", "enabled"))
        for row in rows:
            market = " ".join(filter(None, (row["country"], row["currency"])))
            switch = "yes" if row["enabled"] else f"no: {row['disabled_reason'] or 'held'}"
            cells = (row["slug"], row["platform"], row["retailer"], market, row["every"], switch)
            table.add_row(*map(escape, cells))
        out.print(table)
    else:
        out.print(
            "There are no sources yet. `pricecrawl sources add --help` makes one; PRICECRAWL_SOURCES names "
            "the folder of your own rows."
        )
    _warn(catalog)


def show(slug: Slug, as_json: AsJson = False) -> None:
    """One source: its row with every default, where it stands, and its switch."""
    config = Config.load()
    catalog = _catalog(config)
    entry = catalog.get(slug)
    state = _states(config, catalog).get(slug)
    data = {
        **_summary(entry, state),
        "file": str(entry.file),
        "line": entry.line,
        "row": entry.source.model_dump(mode="json", exclude={"slug"}),
        "identity_mode": "declared" if state is None else state.identity_mode,
        "permissions": _permissions(config, slug),
    }
    if as_json:
        print_json(data)
        return
    out.print(f"[bold]{slug}[/bold]  ({entry.platform}, {entry.file}:{entry.line})", soft_wrap=True)
    width = max(len(key) for key in data["row"])
    for key, value in data["row"].items():
        if _short(value):
            out.print(f"  {key:<{width}}  {_short(value)}", markup=False, soft_wrap=True)
    switch = "enabled" if data["enabled"] else f"switched off: {data['disabled_reason'] or 'held'}"
    out.print(f"  {switch}; due every {data['every']}", markup=False, soft_wrap=True)
    out.print(f"  goes out as {data['identity_mode']}", markup=False, soft_wrap=True)
    for line in permission_lines(data["permissions"]) or ["no permission record: only our declared identity"]:
        out.print(f"  {line}", markup=False, soft_wrap=True)


def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Row files or folders; all that are in use if none is named.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check all rows; every mistake with its file, line and key. Exit code 4 if there is one."""
    from pricecrawl.sources.catalog import Catalog
    from pricecrawl.spiders.loader import load_catalog, row_models

    if paths:
        files: list[Path] = []
        for path in paths:
            if not path.exists():
                raise UsageProblem(f"{path} does not exist; name a row file (*.toml) or a folder of them.")
            files += sorted(path.glob("*.toml")) if path.is_dir() else [path]
        catalog = Catalog.read(files, row_models())
    else:
        catalog = load_catalog(Config.load())
    if as_json:
        print_json(
            {
                "files": [str(file) for file in catalog.files],
                "sources": list(catalog.entries),
                "mistakes": [_mistake(mistake) for mistake in catalog.mistakes],
            }
        )
    else:
        for mistake in catalog.mistakes:
            out.print(str(mistake), markup=False, soft_wrap=True)
    good, bad = len(catalog.entries), len(catalog.mistakes)
    if bad:
        problems = "1 mistake" if bad == 1 else f"{bad} mistakes"
        raise ProblemsFound(
            f"{problems} in {len({m.file for m in catalog.mistakes})} of {len(catalog.files)} files."
        )
    if not as_json:
        out.print(f"{good} {'source' if good == 1 else 'sources'} in {len(catalog.files)} files, no mistake.")


def add(
    slug: Slug,
    *,
    platform: Annotated[
        str, typer.Option("--platform", help="The shop's software; `retailer` reads any shop.")
    ],
    retailer: Annotated[str, typer.Option("--retailer", help="Who sells, as people write it.")],
    url: Annotated[str, typer.Option("--url", help="Address of the shop.")],
    country: Annotated[str, typer.Option("--country", help="ISO 3166 code, such as DE.")],
    currency: Annotated[str, typer.Option("--currency", help="ISO 4217 code, such as EUR.")] = "",
    locale: Annotated[str, typer.Option("--locale", help="CLDR name, such as de_DE.")] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A further key as TOML, such as 'tier=\"A\"'. May be repeated."),
    ] = None,
    dry: Annotated[bool, typer.Option("--print", help="Only print the table, write nothing.")] = False,
) -> None:
    """Make a row: checked, then added to `<platform>.toml` in the folder PRICECRAWL_SOURCES names.

    Without such a folder the table is printed, to be pasted.
    """
    from pydantic import ValidationError

    from pricecrawl.sources.catalog import Catalog, unknown
    from pricecrawl.sources.toml_text import append_table, to_table
    from pricecrawl.spiders.loader import row_models

    config, models = Config.load(), row_models()
    if platform not in models:
        raise UsageProblem(unknown("platform", platform, models))
    catalog = Catalog.load(config, models)
    if slug in catalog.entries:
        taken = catalog.entries[slug]
        raise UsageProblem(f"There is a source {slug!r} already, at {taken.file}:{taken.line}.")
    row: dict[str, Any] = {"slug": slug, "retailer": retailer, "base_url": url, "country": country}
    row |= {key: value for key, value in (("currency", currency), ("locale", locale)) if value}
    row |= dict(_setting(text) for text in settings or [])
    try:
        models[platform].model_validate(row)
    except ValidationError as problem:
        faults = [
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].removeprefix('Value error, ')}"
            for e in problem.errors(include_url=False)
        ]
        raise UsageProblem("This row has mistakes: " + "; ".join(faults) + ".") from None
    table = to_table(row)
    if dry or config.sources is None:
        out.print(table, markup=False, end="", soft_wrap=True)
        if config.sources is None:
            err.print(
                f"Put this into {platform}.toml in a folder of yours and name it in PRICECRAWL_SOURCES."
            )
        return
    file = config.sources / f"{platform}.toml"
    append_table(file, table)
    out.print(f"Added {slug} to {file}. Next: pricecrawl crawl {slug}", markup=False, soft_wrap=True)


def enable(slug: Slug, reason: Reason = "", by: By = "", as_json: AsJson = False) -> None:
    """Switch a source on again."""
    _switch(slug, True, reason, by, as_json)


def disable(
    slug: Slug, reason: Reason = "switched off by hand", by: By = "", as_json: AsJson = False
) -> None:
    """Switch a source off: it is not crawled, and a crawl that is running stops within seconds."""
    _switch(slug, False, reason, by, as_json)


def _switch(slug: str, enabled: bool, reason: str, by: str, as_json: bool) -> None:
    import getpass
    from datetime import UTC, datetime

    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.db.engine import open_engine
    from pricecrawl.sources.catalog import Catalog

    config = Config.load()
    # Read without the platforms' own keys: the kill switch works for a row that has a mistake in it too.
    catalog = Catalog.load(config)
    known = {mistake.slug: mistake.file.stem for mistake in catalog.mistakes if mistake.slug}
    known |= {entry.source.slug: entry.platform for entry in catalog}
    engine = open_engine(config.database_url)
    try:
        store = CrawlStore(engine)
        if slug in known:
            store.sync_sources([(slug, known[slug])])
        try:
            store.set_enabled(slug, enabled, by=by or getpass.getuser(), reason=reason, now=datetime.now(UTC))
        except UsageProblem:
            from pricecrawl.sources.catalog import unknown

            raise UsageProblem(unknown("source", slug, known)) from None
        state = store.source_state(slug)
    finally:
        engine.dispose()
    if as_json:
        print_json({"slug": slug, "enabled": state.enabled, "reason": reason, "by": state.changed_by})
    else:
        what = "on" if enabled else "off; a crawl that is running stops within seconds"
        out.print(f"{slug} is switched {what}.", markup=False)


def _catalog(config: Config) -> Catalog:
    from pricecrawl.spiders.loader import load_catalog

    return load_catalog(config)


def _states(config: Config, catalog: Catalog) -> dict[str, SourceState]:
    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.db.engine import open_engine

    engine = open_engine(config.database_url)
    try:
        store = CrawlStore(engine)
        store.sync_sources([(entry.source.slug, entry.platform) for entry in catalog])
        return {slug: store.source_state(slug) for slug in catalog.entries}
    finally:
        engine.dispose()


def _permissions(config: Config, slug: str) -> list[dict[str, Any]]:
    from datetime import UTC, datetime

    from pricecrawl.db.engine import open_engine
    from pricecrawl.db.permissions import PermissionStore

    engine = open_engine(config.database_url)
    try:
        return permissions_of(PermissionStore(engine), slug, datetime.now(UTC))
    finally:
        engine.dispose()


def _summary(entry: Entry, state: SourceState | None) -> dict[str, Any]:
    source = entry.source
    return {
        "slug": source.slug,
        "platform": entry.platform,
        "retailer": source.retailer,
        "location": source.location,
        "country": source.country,
        "currency": source.currency,
        "base_url": source.base_url,
        "tier": source.tier.value,
        "every": _minutes(source.every.total_seconds()),
        "enabled": state is None or state.may_run,
        "disabled_reason": None if state is None else state.disabled_reason or state.held_reason,
        "next_due": None if state is None else state.next_due,
    }


def _minutes(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes % 1440 == 0:
        return f"{minutes // 1440} d"
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"


def _mistake(mistake: Any) -> dict[str, Any]:
    return {
        "file": str(mistake.file),
        "line": mistake.line,
        "key": mistake.key,
        "slug": mistake.slug,
        "message": mistake.message,
    }


def _warn(catalog: Catalog) -> None:
    if catalog.mistakes:
        err.print(
            f"{len(catalog.mistakes)} mistakes in rows; `pricecrawl sources check` shows them.",
            style="yellow",
        )


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(
            f"{key} = {_short(item)}" for key, item in value.items() if item not in (None, "", [], {})
        )
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _setting(text: str) -> tuple[str, Any]:
    """`key=value`, the value as TOML or else as plain text."""
    import tomllib

    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageProblem(f"--set {text!r} is no key=value.")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value.strip()
