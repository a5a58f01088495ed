"""Many crawls at once: which, in which order, how far they are, and how they ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from pricecrawl.cli.output import err, out, print_json
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.run import EXIT_FAILED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pricecrawl.sources.catalog import Entry

_STYLE = {"finished": "green", "blocked": "red", "error": "red", "unavailable": "yellow", "held": "yellow"}


@dataclass(slots=True)
class RunReport:
    """How one crawl ended, as its process told."""

    source: str
    exit_code: int
    run: int | None = None
    outcome: str = "error"
    coverage: str = ""
    reason: str = ""
    detail: str = ""
    pages: int = 0
    listings: int = 0
    rejections: int = 0
    skips: int = 0
    reviews: int = 0
    missing: int = 0
    price_changes: int = 0
    stock_changes: int = 0
    seconds: float = 0.0
    log: str = ""


def choose(names: Sequence[str], *, due: bool, tier: str | None) -> list[Entry]:
    """The rows to crawl, each once; unknown names and tiers are refused with a sentence."""
    from pricecrawl.extensions.run_record import require_contact
    from pricecrawl.spiders.loader import load_catalog

    config = Config.load()
    catalog = load_catalog(config)
    entries = [catalog.get(name) for name in dict.fromkeys(names)] if names else list(catalog)
    if tier is not None:
        if tier.upper() not in {"A", "B", "C"}:
            raise UsageProblem(f"There is no tier {tier!r}; there are A, B and C.")
        entries = [entry for entry in entries if entry.source.tier.value == tier.upper()]
    if due or not names:
        entries = _enabled(config, entries, due=due)
    for entry in entries:
        require_contact(config, entry.source.host)
    return entries


def _enabled(config: Config, entries: Sequence[Entry], *, due: bool) -> list[Entry]:
    """Those that may run, and with `due` those whose time has come; disabled ones are named."""
    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.db.engine import open_engine

    engine = open_engine(config.database_url)
    try:
        store, now = CrawlStore(engine), datetime.now(UTC)
        store.sync_sources([(entry.source.slug, entry.platform) for entry in entries])
        chosen = []
        for entry in entries:
            state = store.source_state(entry.source.slug)
            if not state.enabled:
                err.print(f"{entry.source.slug} is disabled and left out", style="yellow", markup=False)
            elif not due or state.next_due is None or state.next_due <= now:
                chosen.append(entry)
        return chosen
    finally:
        engine.dispose()


def crawl_all(entries: Sequence[Entry], *, parallel: int, quiet: bool) -> list[RunReport]:
    """Crawl all, `parallel` at a time; sources on one host take turns. Reports are in the order given."""
    by_host: dict[str, list[Entry]] = {}
    for entry in entries:
        by_host.setdefault(_host_key(entry), []).append(entry)
    reports: dict[str, RunReport] = {}
    running: set[subprocess.Popen[bytes]] = set()
    with _bars(quiet) as bars, ThreadPoolExecutor(parallel) as pool:
        tasks = {e.source.slug: bars.add_task(e.source.slug, total=None, status="waiting") for e in entries}

        def crawl_host(group: list[Entry]) -> None:
            for entry in group:
                slug = entry.source.slug
                reports[slug] = _crawl_one(slug, bars, tasks[slug], running)

        futures = [pool.submit(crawl_host, group) for group in by_host.values()]
        try:
            for future in futures:
                future.result()
        except KeyboardInterrupt:
            err.print("ending the crawls; what was read so far is kept", style="yellow")
            for future in futures:
                future.cancel()
            for process in list(running):
                process.terminate()
            pool.shutdown(wait=True)
    return [reports[e.source.slug] for e in entries if e.source.slug in reports]


def _host_key(entry: Entry) -> str:
    from pricecrawl.domain.urls import host_key

    return host_key(entry.source.base_url)


@contextmanager
def _bars(quiet: bool) -> Iterator[Progress]:
    with Progress(
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}"),
        TimeElapsedColumn(),
        console=err,
        disable=quiet,
    ) as bars:
        yield bars


def _crawl_one(slug: str, bars: Progress, task: Any, running: set[subprocess.Popen[bytes]]) -> RunReport:
    started = datetime.now(UTC)
    log = _log_file(slug)
    read_end, write_end = os.pipe()
    with log.open("ab") as stderr:
        process = subprocess.Popen(  # noqa: S603  (our own interpreter, and a slug that is in the catalog)
            [sys.executable, "-m", "pricecrawl", "crawl", slug, "--progress-fd", str(write_end)],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            pass_fds=(write_end,),
        )
    running.add(process)
    os.close(write_end)
    last: dict[str, Any] = {}
    with os.fdopen(read_end, "rb") as pipe:
        for last in _lines(pipe):
            _draw(bars, task, last)
    code = process.wait()
    running.discard(process)
    report = RunReport(slug, code if code >= 0 else EXIT_FAILED, log=str(log))
    for name in (
        "run",
        "outcome",
        "coverage",
        "reason",
        "detail",
        "pages",
        "listings",
        "rejections",
        "skips",
    ):
        if last.get(name) is not None:
            setattr(report, name, last[name])
    for name in ("reviews", "missing", "price_changes", "stock_changes"):
        setattr(report, name, last.get(name, 0))
    if last.get("event") != "end":
        report.detail = _last_words(log) or f"the crawl's process ended with code {code}"
    report.seconds = round((datetime.now(UTC) - started).total_seconds(), 1)
    bars.update(task, status=f"[{_STYLE.get(report.outcome, 'white')}]{report.outcome}")
    bars.stop_task(task)
    return report


def _lines(pipe: IO[bytes]) -> Iterator[dict[str, Any]]:
    for line in pipe:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _draw(bars: Progress, task: Any, state: dict[str, Any]) -> None:
    total = state.get("expected")
    done = state.get("listings", 0)
    bars.update(
        task,
        completed=done,
        total=max(total, done) if total else None,
        status=f"{state.get('pages', 0)} pages",
    )


def _log_file(slug: str) -> Path:
    folder = Config.load().home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{slug}.log"


def _last_words(log: Path) -> str:
    """The last line that a process wrote before it ended without a report."""
    try:
        lines = log.read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


# Heading, field; a column that would hold only zeros is left out.
_NUMBERS = (
    ("prices changed", "price_changes"),
    ("stock changed", "stock_changes"),
    ("missing", "missing"),
    ("skipped", "skips"),
    ("rejected", "rejections"),
    ("reviews", "reviews"),
)


def _table(reports: Sequence[RunReport]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("source", "outcome", "coverage"):
        table.add_column(heading, no_wrap=True)
    numbers = [(heading, name) for heading, name in _NUMBERS if any(getattr(r, name) for r in reports)]
    for heading in ("listings", *(heading for heading, _ in numbers), "time"):
        table.add_column(heading, justify="right")
    for report in reports:
        style = _STYLE.get(report.outcome, "white")
        coverage = f"{report.coverage} ({report.reason})" if report.run is not None else ""
        table.add_row(
            report.source,
            f"[{style}]{report.outcome}[/]",
            coverage,
            str(report.listings),
            *(str(getattr(report, name)) for _, name in numbers),
            f"{report.seconds:.0f} s",
        )
    return table


def show(reports: Sequence[RunReport], *, as_json: bool) -> None:
    """The table or the JSON document of all runs."""
    if as_json:
        print_json([asdict(report) for report in reports])
        return
    if not reports:
        out.print("nothing to crawl")
        return
    out.print(_table(reports))
    for report in reports:
        if report.detail:
            out.print(f"{report.source}: {report.detail}", markup=False, soft_wrap=True)
        if report.exit_code == EXIT_FAILED and report.outcome == "error":
            out.print(f"{report.source}: the log is {report.log}", markup=False, soft_wrap=True)
