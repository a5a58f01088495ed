"""The whole way of an item against the same spider with no pipelines; memory; the share of evidence."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.figure import Figure

ROUNDS = 3


@contextlib.contextmanager
def shop(kind: str, listings: int) -> Iterator[str]:
    """Address of a shop in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.shop", kind, str(listings)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def crawl(platform: str, mode: str, origin: str) -> dict[str, Any]:
    """One crawl in a process of its own, with an empty database."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", "bench.crawl", platform, mode, origin, home],
            capture_output=True,
            text=True,
            check=True,
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    result["per_second"] = result["items"] / result["seconds"]
    return result


def compare(
    kind: str, platform: str, listings: int, at_least: float | None
) -> tuple[Figure, list[dict[str, Any]]]:
    """Both in turns, so that a busy machine is busy for both."""
    runs: dict[str, list[dict[str, Any]]] = {"bare": [], "whole": []}
    with shop(kind, listings) as origin:
        for _ in range(ROUNDS):
            for mode, results in runs.items():
                results.append(crawl(platform, mode, origin))
    for results in runs.values():
        assert {result["items"] for result in results} == {listings}, results
    speed = {mode: median(result["per_second"] for result in results) for mode, results in runs.items()}
    figure = Figure(
        name=f"items/s of the whole way, {kind}",
        value=speed["whole"] / speed["bare"],
        how=f"{speed['whole']:.0f}/s against {speed['bare']:.0f}/s of the same spider without pipelines",
        at_least=at_least,
        raw={
            **speed,
            "cpu_seconds": {m: median(r["cpu_seconds"] for r in results) for m, results in runs.items()},
        },
    )
    return figure, runs["whole"]


def run() -> list[Figure]:
    """All figures of the crawl side."""
    figures = []
    pages, whole_pages = compare("pages", "retailer", 400, 0.7)
    # The hard one: a feed hands over 250 listings for one request, which a bare spider has in its hands
    # before it has read any of their prices.
    feed, whole_feed = compare("feed", "shopify", 5000, 0.7)
    figures += [pages, feed]
    for kind, results in (("pages", whole_pages), ("feed", whole_feed)):
        share = median(result["evidence_seconds"] / result["seconds"] for result in results)
        figures.append(
            Figure(
                f"evidence's share of the time, {kind}",
                share,
                "time in the writer, syncs of the disk included",
                at_most=0.15,
            )
        )
    with shop("feed", 50_000) as origin:
        large = crawl("shopify", "whole", origin)
    assert large["items"] == 50_000
    small = median(result["peak_mib"] for result in whole_feed)
    figures.append(
        Figure(
            "peak memory, feed of 50,000 against 5,000",
            large["peak_mib"] / small,
            f"{large['peak_mib']:.0f} MiB against {small:.0f} MiB",
            at_most=1.3,
            raw={"large": large, "small_mib": small},
        )
    )
    return figures
