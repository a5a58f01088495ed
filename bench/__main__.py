"""`python -m bench [name…]`: run the benchmarks, print them, write `bench/results.json`.

A benchmark is a module `bench/bench_<name>.py` with `def run() -> list[Figure]`.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

import bench

RESULTS = Path(__file__).with_name("results.json")


def main(names: list[str]) -> int:
    """Exit code 1 if a figure misses its limit."""
    console = Console()
    found = {}
    for module in sorted(pkgutil.iter_modules(bench.__path__), key=lambda module: module.name):
        name = module.name.removeprefix("bench_")
        if module.name.startswith("bench_") and (not names or name in names):
            with console.status(f"measuring {name}"):
                found[name] = importlib.import_module(f"bench.{module.name}").run()
    table = Table(box=None, header_style="bold")
    for heading in ("benchmark", "figure", "limit", "", "how"):
        table.add_column(heading)
    for name, figures in found.items():
        for figure in figures:
            verdict = "" if figure.ok is None else "[green]ok[/]" if figure.ok else "[red]missed[/]"
            table.add_row(f"{name}: {figure.name}", f"{figure.value:.3g}", figure.limit, verdict, figure.how)
    console.print(table)
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results = before.get("results", {}) | {
        name: [asdict(figure) | {"ok": figure.ok} for figure in figures] for name, figures in found.items()
    }
    RESULTS.write_text(
        json.dumps(
            {
                "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "python": platform.python_version(),
                "machine": f"{platform.system()} {platform.machine()}",
                "results": results,
            },
            indent=2,
        )
        + "\n",
        encoding="utf-8",
    )
    return int(any(figure.ok is False for figures in found.values() for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
