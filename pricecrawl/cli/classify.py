"""`pricecrawl classify`: is a saved response the page, a gate, an outage, or a page that is gone?"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Annotated, Any

import typer

from pricecrawl.cli.batch import BatchInput, run_batch
from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import out, print_json
from pricecrawl.cli.robots import headers_of
from pricecrawl.domain.challenge import Classification, PageKind, ResponseFacts, classify
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import Market


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("classify")(classify_file)


def classify_file(
    source: Annotated[Path | None, typer.Argument(metavar="FILE", help="A saved page.")] = None,
    *,
    status: Annotated[int | None, typer.Option(help="HTTP status that it came with.")] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="A response header, as Name:Value.")
    ] = None,
    url: Annotated[str, typer.Option(help="The address that was asked for.")] = "",
    final_url: Annotated[str | None, typer.Option(help="Where redirects ended.")] = None,
    batch: Annotated[Path | None, typer.Option(help="A file of cases, one JSON object a line.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell a challenge, an outage or a page that is gone from a page, and name the rule."""
    if batch is not None:
        raise typer.Exit(run_batch(batch, answer))
    if source is None:
        raise UsageProblem("Name a saved page, or give --batch FILE.")
    facts = ResponseFacts(status, headers_of(header or []), _read(source), url, final_url)
    found = _classified(facts, Market())
    if as_json:
        print_json(_keys(found))
        return
    colour = {PageKind.PAGE: "green", PageKind.CHALLENGE: "red"}.get(found.page, "yellow")
    vendor = f" of {found.vendor}" if found.vendor else ""
    blocked = ", the shop refuses us" if found.blocked else ""
    out.print(f"[{colour}]{found.page.value}[/]{vendor} (rule {found.rule}){blocked}")


def answer(given: BatchInput) -> dict[str, Any]:
    """The classification of one batch line; nothing is fetched."""
    facts = ResponseFacts(given.status, given.headers, given.body or b"", given.url or "", given.final_url)
    return _keys(_classified(facts, given.market))


def _classified(facts: ResponseFacts, market: Market) -> Classification:
    """Success first: a page that looks like a gate is read for a price before it is believed."""
    found = classify(facts)
    suspected = (
        found.page is PageKind.CHALLENGE and facts.body and (facts.status is None or facts.status < 300)
    )
    return classify(facts, credible_price=True) if suspected and _has_price(facts, market) else found


def _has_price(facts: ResponseFacts, market: Market) -> bool:
    from pricecrawl.extraction.document import Document
    from pricecrawl.extraction.reader import read_page
    from pricecrawl.extraction.rules import Rules

    document = Document.from_bytes(facts.body, url=facts.url, status=facts.status, headers=facts.headers)
    reading = read_page(document, rules=Rules(), market=market)
    return reading.is_product and bool(reading.listing.prices)


def _keys(found: Classification) -> dict[str, Any]:
    return {"page": found.page.value, "blocked": found.blocked, "vendor": found.vendor, "rule": found.rule}


def _read(source: Path) -> bytes:
    try:
        body = source.read_bytes()
        return gzip.decompress(body) if source.suffix == ".gz" else body
    except (OSError, EOFError, zlib.error) as problem:
        raise UsageProblem(f"{source} cannot be read: {problem}.") from problem
