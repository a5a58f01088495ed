"""Reading a page against merely parsing it, on the saved pages that lie beside the checkout, if any do."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import lxml.html

from bench.figure import Figure
from pricecrawl.domain.consensus import settle
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.market import Market
from pricecrawl.domain.normalize import normalize
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page

ROUNDS = 5
_SHARED = Path(os.environ.get("PRICECRAWL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
_URL = "https://shop.example/p/1"


def _pages() -> list[bytes]:
    folder = _SHARED / "corpora" / "pages" / "product"
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in found]


def _parse(body: bytes) -> None:
    lxml.html.document_fromstring(body)


def _read(body: bytes) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    document = Document.from_bytes(body, url=_URL, status=200, headers={"content-type": "text/html"})
    reading = read_page(document, market=Market(), now=now)
    listing = normalize(reading.listing, source="bench", market=reading.market, now=now)
    if isinstance(listing, Listing):
        settle(listing.candidates, availability=listing.availability, market=reading.market)


def _extruct(body: bytes) -> None:
    import extruct

    extruct.extract(body.decode("utf-8", "replace"), base_url=_URL, errors="ignore")


def _seconds(work: Callable[[bytes], None], pages: list[bytes], rounds: int) -> list[float]:
    """Median seconds per page, after one round that fills the caches."""
    for body in pages:
        work(body)
    times: list[list[float]] = [[] for _ in pages]
    for _ in range(rounds):
        for index, body in enumerate(pages):
            started = perf_counter()
            work(body)
            times[index].append(perf_counter() - started)
    return [median(some) for some in times]


def run() -> list[Figure]:
    """Ratios over all pages together, and the worst page per byte; nothing where there are no pages."""
    pages = _pages()
    if not pages:
        return []
    parse, read = _seconds(_parse, pages, ROUNDS), _seconds(_read, pages, ROUNDS)
    peer = _seconds(_extruct, pages, 1)
    per_byte = [seconds / len(body) for seconds, body in zip(read, pages, strict=True)]
    worst = max(per_byte) / median(per_byte)
    count = len(pages)
    return [
        Figure(
            "reading a page against parsing it",
            sum(read) / sum(parse),
            f"{sum(read) / count * 1000:.1f} against {sum(parse) / count * 1000:.1f} ms, {count} pages",
            at_most=3.0,
        ),
        Figure(
            "extruct with all syntaxes against reading a page",
            sum(peer) / sum(read),
            f"{sum(peer) / count * 1000:.0f} ms a page",
            at_least=10.0,
        ),
        Figure("slowest page per byte against the median", worst, "every page, however small", at_most=10.0),
    ]
