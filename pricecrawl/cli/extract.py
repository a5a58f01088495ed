"""`pricecrawl extract`: one page or feed through the whole extraction and consensus, with the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.batch import BatchInput, run_batch
from pricecrawl.cli.options import AsJson
from pricecrawl.domain.run import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED

if TYPE_CHECKING:
    from rich.table import Table

    from pricecrawl.extraction.facts import Facts
    from pricecrawl.extraction.rules import Rules
    from pricecrawl.sources.model import Source


MAX_ROWS = 30
"""Candidates and items that a table shows; JSON has all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("extract")(extract)


def answer(given: BatchInput) -> dict[str, Any]:
    """What one batch line's page or feed says; nothing is fetched."""
    from pricecrawl.extraction.answer import answer_page

    return answer_page(_facts(given))


def _facts(given: BatchInput, rules: Rules | None = None) -> Facts:
    from pricecrawl.extraction.facts import Facts

    return Facts(
        kind=given.kind,
        body=given.body or b"",
        text=given.content,
        url=given.url or "",
        final_url=given.final_url,
        status=given.status,
        headers=given.headers,
        locale=given.locale,
        currency=given.currency,
        platform=given.platform,
        market=given.market,
        observed_at=_text(given.extra.get("observed_at")),
        zone=_text(given.extra.get("shop_tz")),
        rules=rules,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def extract(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE-OR-URL", help="A saved page or feed, or a page's address.")
    ] = None,
    *,
    url: Annotated[str, typer.Option(help="The address that was asked for; it names the variant.")] = "",
    final_url: Annotated[str | None, typer.Option(help="Where redirects ended.")] = None,
    shop: Annotated[
        str | None, typer.Option("--source", help="Use the rules, learned or in the row, of this source.")
    ] = None,
    status: Annotated[int | None, typer.Option(help="HTTP status that the page came with.")] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="A response header, as Name:Value.")
    ] = None,
    locale: Annotated[str | None, typer.Option(help="CLDR locale such as de_CH: marks and signs.")] = None,
    currency: Annotated[str | None, typer.Option(help="ISO code of the shop's currency.")] = None,
    platform: Annotated[str | None, typer.Option(help="The feed's platform, such as shopify.")] = None,
    batch: Annotated[Path | None, typer.Option(help="A file of cases, one JSON object a line.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read price, stock and identity from a page, and explain each choice.

    A file never touches the network. An address is fetched once, as robots.txt allows and at its pace, and
    nothing is stored; exit code 3 if the shop refuses.
    """
    from pricecrawl.cli.output import print_json
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.extraction.answer import answer_page

    if batch is not None:
        if source is not None:
            raise UsageProblem("Give a page or --batch FILE, not both.")
        known = _rules_of(shop) if shop else None
        raise typer.Exit(run_batch(batch, lambda line: answer_page(_for_shop(_facts(line), known))))
    if source is None:
        raise UsageProblem("Name a saved page or feed, or a page's address, or give --batch FILE.")
    _check_market(locale, currency)
    given = BatchInput(
        url=url,
        final_url=final_url,
        status=status,
        headers=_headers(header or []),
        locale=locale,
        currency=currency,
        platform=platform,
    )
    if source.startswith(("http://", "https://")):
        if url or final_url or status is not None or header:
            raise UsageProblem("--url, --final-url, --status and --header describe a saved file.")
        homes = _shops_of(source)
        shop = shop or (homes[0] if len(homes) == 1 else None)
        given = _fetched(source, [*homes, *([shop] if shop and shop not in homes else [])], given)
    else:
        given = replace(given, body=_read(source))
    found = answer_page(_for_shop(_facts(given), _rules_of(shop) if shop else None))
    if as_json:
        print_json(found)
    else:
        _show(found)
    if source.startswith(("http://", "https://")):
        raise typer.Exit(_EXITS.get(found.get("page", ""), EXIT_DONE))


_EXITS = {"challenge": EXIT_REFUSED, "unavailable": EXIT_FAILED}


def _check_market(locale: str | None, currency: str | None) -> None:
    """Refuse a locale or currency that nothing would be read by."""
    from babel import Locale, UnknownLocaleError
    from babel.core import get_global

    from pricecrawl.domain.errors import UsageProblem

    if currency is not None and currency not in get_global("all_currencies"):
        raise UsageProblem(f"--currency {currency!r} is no ISO 4217 code, such as EUR.")
    if locale is not None:
        try:
            Locale.parse(locale.replace("-", "_"))
        except (ValueError, UnknownLocaleError):
            raise UsageProblem(f"--locale {locale!r} is no CLDR locale, such as de_CH.") from None


def _shops_of(address: str) -> list[str]:
    """The sources whose shop the address is in."""
    from pricecrawl.config import Config
    from pricecrawl.domain.urls import host_key
    from pricecrawl.sources.catalog import Catalog

    wanted = host_key(address)
    return [
        entry.source.slug
        for entry in Catalog.load(Config.load())
        if host_key(entry.source.base_url) == wanted
    ]


def _fetched(address: str, shops: Sequence[str], given: BatchInput) -> BatchInput:
    """The page at an address, fetched once through the gates that a crawl of these sources passes."""
    from pricecrawl.cli.one_page import fetch_page
    from pricecrawl.cli.output import err
    from pricecrawl.config import Config
    from pricecrawl.sources.catalog import Catalog

    config = Config.load()
    catalog = Catalog.load(config)
    rows = [catalog.get(slug).source for slug in shops]
    page = fetch_page(address, config, rows)
    for row in rows:
        if row.render:
            err.print(f"{row.slug} is drawn by a browser in crawls; this is the page as it was sent.")
    return replace(
        given,
        body=page.body,
        url=address,
        final_url=page.final_url,
        status=page.status,
        headers=page.headers,
    )


def _read(source: str) -> bytes:
    import gzip
    import zlib

    from pricecrawl.domain.errors import UsageProblem

    path = Path(source)
    try:
        body = path.read_bytes()
        return gzip.decompress(body) if path.suffix == ".gz" else body
    except (OSError, EOFError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise UsageProblem(f"{path} cannot be read: {reason}.") from problem


def _headers(lines: list[str]) -> Mapping[str, str]:
    from pricecrawl.cli.robots import headers_of

    return headers_of(lines)


def _rules_of(slug: str) -> tuple[Source, Rules]:
    """A source's row, and its rules: those it learned, else the row's."""
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.learning import LearningStore
    from pricecrawl.extraction.rules import Rules
    from pricecrawl.sources.catalog import Catalog

    config = Config.load()
    row = Catalog.load(config).get(slug).source
    with database(config) as engine:
        learned = LearningStore(engine).selectors(slug)
    rules = Rules.of(
        row.rules, {kind: [entry.selector for entry in found] for kind, found in learned.items()}
    )
    return row, rules


def _for_shop(facts: Facts, known: tuple[Source, Rules] | None) -> Facts:
    """The facts with the market and the rules of a source, where one is named."""
    from pricecrawl.domain.market import Market

    if known is None:
        return facts
    row, rules = known
    market = Market(
        country=row.country,
        currency=facts.currency or row.currency,
        locale=facts.locale or row.locale,
        tax_basis=row.tax_basis,
    )
    return replace(facts, market=market, rules=rules)


def _show(found: Mapping[str, Any]) -> None:
    """The answer as a table of facts, candidates and the trace."""
    from rich.table import Table

    from pricecrawl.cli.output import out, plain

    shown = plain(found)
    facts = Table.grid(padding=(0, 2))
    for key in (
        *("page", "name", "brand", "price", "currency", "original_price", "member_price", "pre_order_price"),
        *("availability", "gtin", "mpn", "size", "seller", "tax_basis", "needs_review", "review_reasons"),
    ):
        value = shown.get(key)
        if value in (None, "", [], False) and key not in ("price", "availability"):
            continue
        value = "none" if value is None else value
        colour = (
            "bold green"
            if key == "price" and value
            else "yellow"
            if key.endswith(("review", "reasons"))
            else ""
        )
        text = ", ".join(value) if isinstance(value, list) else str(value)
        facts.add_row(
            f"[dim]{key.replace('_', ' ')}[/]", f"[{colour}]{_safe(text)}[/]" if colour else _safe(text)
        )
    out.print(facts)
    if shown.get("candidates"):
        out.print(_candidates(shown["candidates"]))
    for item in (shown.get("items") or ())[:MAX_ROWS]:
        price = f"{item['price'] or '-'} {item['currency'] or ''}"
        out.print(_safe(f"{item['source_sku']}  {price}  {item['availability']}  {item['name']}"))
    for sentence in shown.get("trace", ()):
        out.print(f"[dim]·[/] {_safe(sentence)}")


def _candidates(rows: list[Mapping[str, Any]]) -> Table:
    """Candidates that voted first, then those that did not, each with the reason."""
    from rich.table import Table

    from pricecrawl.cli.output import out

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", caption_justify="left")
    room = max(14, out.width - 68)
    table.add_column("kind", no_wrap=True, min_width=9)
    table.add_column("amount", justify="right", no_wrap=True, min_width=12)
    table.add_column("method", no_wrap=True, min_width=13)
    table.add_column("where", no_wrap=True, overflow="ellipsis", max_width=room)
    table.add_column("why it does not vote", overflow="fold")
    for row in rows[:MAX_ROWS]:
        amount = f"{row['amount']} {row['currency'] or '?'}"
        cells = (row["kind"], amount, row["method"], row["selector"], row.get("excluded") or "")
        table.add_row(*map(_safe, cells), style="dim" if row.get("excluded") else "")
    if len(rows) > MAX_ROWS:
        table.caption = f"and {len(rows) - MAX_ROWS} more: see --json"
    return table


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)
