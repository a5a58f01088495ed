"""`pricecrawl crawl`: several sources at once, a process each, with progress bars and true exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

from pricecrawl.cli.options import AsJson
from pricecrawl.domain.run import EXIT_DONE, EXIT_FAILED, EXIT_PROBLEMS, EXIT_REFUSED, EXIT_USAGE

# What one exit code can say of many runs: the worst, in this order.
_WORST_FIRST = (EXIT_USAGE, EXIT_FAILED, EXIT_REFUSED, EXIT_PROBLEMS, EXIT_DONE)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("crawl")(crawl)


def crawl(  # noqa: PLR0917  (typer calls it by name)
    sources: Annotated[
        list[str] | None, typer.Argument(help="Sources by name; all if none is named.")
    ] = None,
    due: Annotated[bool, typer.Option("--due", help="Only sources whose next run is due.")] = False,
    tier: Annotated[str | None, typer.Option("--tier", help="Only sources of this tier: A, B or C.")] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Sources crawled at the same time.")] = 4,
    as_json: AsJson = False,
    progress_fd: Annotated[int, typer.Option("--progress-fd", hidden=True)] = -1,
) -> None:
    """Crawl sources: each in a process of its own, sources on one host one after the other.

    Exit code: 0 finished, 1 failed, 2 could not start, 3 refused by a shop, 4 unexpected number of listings.
    """
    if progress_fd >= 0:
        from pricecrawl.cli.crawl_process import crawl_here

        raise typer.Exit(crawl_here((sources or [""])[0], progress_fd))

    from pricecrawl.cli.crawl_many import choose, crawl_all, show

    chosen = choose(sources or [], due=due, tier=tier)
    results = crawl_all(chosen, parallel=parallel, quiet=as_json)
    show(results, as_json=as_json)
    codes = {result.exit_code for result in results}
    raise typer.Exit(next((code for code in _WORST_FIRST if code in codes), EXIT_DONE))
