"""`pricecrawl replay`: today's extraction on stored evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson

if TYPE_CHECKING:
    from pricecrawl.config import Config
    from pricecrawl.workflows.replay import Change, Replay


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    source: Annotated[str | None, typer.Option("--source", "-s", help="Only this source.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only what was observed since this day or time (ISO 8601).")
    ] = None,
    *,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Store the changed readings of pages that are still the last word."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read stored pages again, without asking any shop, and show what would change."""
    from pricecrawl.cli.output import print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.workflows.replay import append, to_apply

    config = Config.load()
    with database(config) as engine:
        result = _run(engine, config, source, _moment(since), quiet=as_json)
        wanted = to_apply(result.changes)
        stored = append(engine, wanted, job="replay", now=datetime.now(UTC)) if apply else 0
    if as_json:
        print_json(_json(result, wanted=len(wanted), stored=stored))
    else:
        _show(result, wanted=len(wanted), stored=stored, applied=apply)


def _moment(text: str | None) -> datetime | None:
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.domain.moments import in_utc

    if text is None:
        return None
    try:
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise UsageProblem(
            f"--since {text!r} is no day or time; write 2026-03-31 or 2026-03-31T12:00."
        ) from None


def _run(engine: Any, config: Config, source: str | None, since: datetime | None, *, quiet: bool) -> Replay:
    from itertools import chain

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from pricecrawl import __version__
    from pricecrawl.cli.output import err
    from pricecrawl.cli.stored import StoredPages
    from pricecrawl.db.replay import ReplayStore
    from pricecrawl.workflows.replay import Replay
    from pricecrawl.workflows.replay import replay as replay_pages

    read = StoredPages(engine, config, source).read
    store = ReplayStore(engine)
    result = Replay()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    silent = {page.ref: page for page in store.priceless(source, since=since).values()}
    pages = chain(store.pages(source, since), silent.values())
    with Progress(*columns, console=err, transient=True, disable=quiet) as progress:
        task = progress.add_task("pages", total=store.count(source, since) + len(silent))
        for _, result in replay_pages(pages, read, version=__version__):
            progress.update(task, completed=result.pages)
    return result


def _json(result: Replay, *, wanted: int, stored: int) -> dict[str, Any]:
    return {
        "pages": result.pages,
        "observations": result.observations,
        "added": result.added,
        **{effect.value: count for effect, count in result.counts.items()},
        "applicable": wanted,
        "stored": stored,
        "changes": [
            {
                "source": change.source,
                "source_sku": change.source_sku,
                "url": change.url,
                "observed_at": change.seen_at,
                "effect": change.effect,
                "fields": {name: {"before": a, "after": b} for name, (a, b) in change.fields.items()},
                "reason": change.reason,
                "trace": change.observation.trace if change.observation else [],
            }
            for change in result.changes
        ],
    }


_SHOWN = 200


def _show(result: Replay, *, wanted: int, stored: int, applied: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out
    from pricecrawl.workflows.replay import Effect

    if result.changes:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("source", "sku", "seen", "what would change", "why"):
            table.add_column(name, overflow="fold", no_wrap=name == "seen")
        for change in result.changes[:_SHOWN]:
            table.add_row(
                change.source,
                escape(change.source_sku),
                f"{change.seen_at:%m-%d %H:%M}",
                _difference(change),
                escape(change.reason),
            )
        out.print(table)
        if len(result.changes) > _SHOWN:
            out.print(f"… and {len(result.changes) - _SHOWN} more; --json prints all")
    counts = result.counts
    out.print(
        f"{result.pages} pages, {result.observations} observations: {counts[Effect.SAME]} the same, "
        f"{counts[Effect.CHANGED]} different, {counts[Effect.LOST]} not found, "
        f"{counts[Effect.UNREADABLE]} unreadable, {result.added} listings that were not read before, "
        f"{counts[Effect.NEW]} with a price where none was read"
    )
    if applied:
        out.print(f"{stored} new observations stored")
    elif wanted:
        out.print(f"nothing was written; --apply would store {wanted} new observations")


def _difference(change: Change) -> str:
    from rich.markup import escape

    if not change.fields:
        return change.effect.value
    return "\n".join(
        f"{name}: {escape(_word(before))} → {escape(_word(after))}"
        for name, (before, after) in change.fields.items()
    )


def _word(value: object) -> str:
    from pricecrawl.cli.output import plain

    found = plain(value)
    return (
        {None: "none", True: "yes", False: "no"}.get(found, str(found)) if not isinstance(found, list) else ""
    )
