"""The main job on the bundled high street: two days of crawling, then prices, and one whole trace."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path
from time import monotonic

from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table

from pricecrawl.cli.crawl_many import RunReport, choose, crawl_all, show
from pricecrawl.cli.output import out
from pricecrawl.cli.session import database
from pricecrawl.config import PREFIX, Config
from pricecrawl.db.changes import changes_since
from pricecrawl.demo.rows import SOURCES, write_rows
from pricecrawl.demo.shops import Street, open_street
from pricecrawl.domain.errors import PricecrawlError, UsageProblem
from pricecrawl.domain.run import Coverage, RunOutcome

SHOWN_SKU = "W-001"
MARK = ".demo"


def run(home: Path) -> None:
    """Run the demo with all its state in `home`, which is emptied first.

    Raises:
        UsageProblem: `home` holds something else.
        PricecrawlError: a crawl did not end well, or a step of the pricing side failed.
    """
    _own_environment(home)
    started = monotonic()
    with open_street() as street:
        write_rows(home / "rows", street.urls)
        _catalogue()
        _day(street, 1)
        between = datetime.now(UTC)
        _day(street, 2)
        _what_changed(between)
    _prices()
    _next(home, monotonic() - started)


def _own_environment(home: Path) -> None:
    # The demo must never touch a database, folder or shop that the user's own settings name.
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]
    if home.exists() and any(home.iterdir()) and not (home / MARK).exists():
        raise UsageProblem(f"{home} holds something that is not a demo's; name an empty folder with --home.")
    shutil.rmtree(home, ignore_errors=True)
    (home / "rows").mkdir(parents=True)
    (home / MARK).touch()
    os.environ[f"{PREFIX}HOME"] = str(home)
    os.environ[f"{PREFIX}SOURCES"] = str(home / "rows")


def _heading(text: str) -> None:
    out.print()
    out.print(Rule(f"[bold]{text}", align="left", style="cyan"))


def _catalogue() -> None:
    from pricecrawl.cli import catalog

    _heading("Our own catalogue and its costs")
    for name, load in (("catalogue.csv", catalog.import_skus), ("costs.csv", catalog.import_costs)):
        with as_file(files("pricecrawl.demo") / name) as path:
            load(path)


def _day(street: Street, day: int) -> None:
    _heading(f"Day {day}: crawl three shops")
    street.day = day
    reports = crawl_all(choose(list(SOURCES), due=False, tier=None), parallel=len(SOURCES), quiet=False)
    show(reports, as_json=False)
    bad = [report for report in reports if not _well(report)]
    if bad:
        raise PricecrawlError(
            f"The demo's crawl of {bad[0].source} ended as {bad[0].outcome} "
            f"({bad[0].detail or bad[0].coverage}); its log is {bad[0].log}."
        )


def _well(report: RunReport) -> bool:
    return report.outcome == RunOutcome.FINISHED and report.coverage == Coverage.COMPLETE


def _what_changed(since: datetime) -> None:
    _heading("What changed between the days")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("source", "listing", "what", "before", "after"):
        table.add_column(heading)
    with database() as engine:
        for change in changes_since(engine, since):
            table.add_row(change.source, change.name, change.what, change.before, change.after)
    out.print(table)


def _prices() -> None:
    from pricecrawl.cli import match, price, trace

    _heading("Whose product is it? Matching by article number")
    match.run(None)
    _heading("Prices: proposed, to review, or blocked, and why")
    price.run(None)
    _heading(f"One price traced back to the stored bytes ({SHOWN_SKU})")
    trace.trace(SHOWN_SKU)


def _next(home: Path, seconds: float) -> None:
    place = os.path.relpath(home)
    out.print()
    out.print(
        Panel(
            f"export PRICECRAWL_HOME={place} PRICECRAWL_SOURCES={place}/rows\n"
            ". .venv/bin/activate\n"
            "pricecrawl status                      # how each shop's last crawl went\n"
            "pricecrawl review list                 # what waits for you\n"
            "pricecrawl review show W-002           # one of them, with its offers\n"
            "pricecrawl trace W-008                 # why a price was blocked\n"
            "pricecrawl export history --format csv # for your own tools\n"
            "pricecrawl sources add --help          # your first shop",
            title=f"Done in {seconds:.0f} s. Now type",
            title_align="left",
            border_style="cyan",
        )
    )
    assert Config.load().home == home.absolute()
