"""`pricecrawl selectors`: what shops' pages taught, and rules from one confirmed price."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

if TYPE_CHECKING:
    from decimal import Decimal

    from pricecrawl.config import Config
    from pricecrawl.domain.candidate import PriceKind
    from pricecrawl.domain.market import Market
    from pricecrawl.extraction.document import Document
    from pricecrawl.learning.induction import Check, Proposal


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Selectors of shops: learned, induced, tried.")
    group.command("list")(list_selectors)
    group.command("export")(export)
    group.command("induce")(induce)
    group.command("teach")(teach_rule)
    group.command("forget")(forget)
    group.command("test")(try_rule)
    app.add_typer(group, name="selectors")


def list_selectors(
    source: Annotated[str | None, typer.Argument(help="Only this source.")] = None, *, as_json: AsJson = False
) -> None:
    """Show learned selectors with their record, the first tried first."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.learning import LearningStore

    with database() as engine:
        store = LearningStore(engine)
        slugs = [source] if source else store.sources_with_selectors()
        found = [
            (slug, kind, entry)
            for slug in slugs
            for kind, entries in store.selectors(slug).items()
            for entry in entries
        ]
    if as_json:
        print_json([
            {
                "source": slug, "kind": kind, "selector": entry.selector, "score": entry.score,
                "match_count": entry.match_count, "consecutive_failures": entry.consecutive_failures,
                "last_matched_at": entry.last_matched_at, "created_by": entry.created_by,
            }
            for slug, kind, entry in found
        ])  # fmt: skip
        return
    if not found and source is not None:
        _row(Config.load(), source)  # says so if there is no such source
    if not found:
        out.print("no selector has been learned yet; confirming a doubtful price teaches the first")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("source", overflow="fold")
    table.add_column("kind")
    table.add_column("selector", overflow="fold", ratio=1)
    for name in ("score", "matches", "failures"):
        table.add_column(name, justify="right")
    table.add_column("last match", no_wrap=True)
    table.add_column("by")
    for slug, kind, entry in found:
        matched = f"{entry.last_matched_at:%Y-%m-%d %H:%M}" if entry.last_matched_at else "never"
        failures = f"[red]{entry.consecutive_failures}[/]" if entry.consecutive_failures else "0"
        numbers = (str(entry.score), str(entry.match_count), failures)
        table.add_row(slug, kind.value, escape(entry.selector), *numbers, matched, entry.created_by)
    out.print(table)
    for slug in slugs:
        learned = [(kind, entry.selector) for of, kind, entry in found if of == slug]
        for kind, rules in _shadowed(Config.load(), slug, learned).items():
            told = f"{slug}: these rules of its row for {kind.value} are not used, learned ones go first: "
            out.print(told + ", ".join(rules), style="yellow", markup=False)


def _shadowed(
    config: Config, slug: str, learned: Sequence[tuple[PriceKind, str]]
) -> dict[PriceKind, list[str]]:
    """The rules of a source's row that its learned ones keep from being used."""
    from pricecrawl.cli.session import price_rules
    from pricecrawl.learning.statistics import canonical

    known = price_rules(config).get(slug)
    found: dict[PriceKind, list[str]] = {}
    for kind in dict.fromkeys(kind for kind, _ in learned):
        names = {canonical(selector) for of, selector in learned if of is kind}
        rules = [rule for rule in (known.shop.get(kind, ()) if known else ()) if canonical(rule) not in names]
        if rules:
            found[kind] = rules
    return found


def export(source: Annotated[str, typer.Argument(help="The source.")], *, as_json: AsJson = False) -> None:
    """Print the `rules` of a source's row as they are after what was learned, for version control."""
    from pricecrawl.cli.output import print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.learning import LearningStore
    from pricecrawl.domain.candidate import PriceKind
    from pricecrawl.extraction.rules import CATEGORY

    config = Config.load()
    row = _row(config, source)
    with database(config) as engine:
        learned = LearningStore(engine).selectors(source)
    rules: dict[str, list[str]] = {
        name: list(value) for name in type(row.rules).model_fields if (value := getattr(row.rules, name))
    }
    for kind in PriceKind:
        if kind in learned:
            rules[CATEGORY[kind]] = [entry.selector for entry in learned[kind]]
    if as_json:
        print_json({"source": source, "rules": rules})
        return
    typer.echo(f"# {source}: the rules of its row, learned ones first")
    if not rules:
        typer.echo("# nothing is configured and nothing was learned")
        return
    typer.echo("[source.rules]")
    for name, texts in rules.items():
        typer.echo(f"{name} = {toml_list(texts)}")


def toml_list(texts: Sequence[str]) -> str:
    """A TOML array of strings; a literal string where that needs no escapes."""
    import json

    def quoted(text: str) -> str:
        if text.isprintable() and "'" not in text and ("\\" in text or '"' in text):
            return f"'{text}'"
        # TOML knows no pairs of escapes for one character, and no bare DEL.
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    return "[" + ", ".join(quoted(text) for text in texts) + "]"


def induce(
    source: Annotated[str, typer.Argument(help="The source.")],
    *,
    price: Annotated[str, typer.Option("--price", "-p", help="What the product costs, as a person saw it.")],
    sku: Annotated[str | None, typer.Option("--sku", help="Which listing; else any that costs this.")] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="A saved page instead of stored evidence.")
    ] = None,
    check: Annotated[
        list[Path] | None, typer.Option("--check", help="Another saved page of the shop.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", help="standard, sale, member, list or pre_order.")
    ] = "standard",
    confirm: Annotated[int | None, typer.Option("--confirm", min=1, help="Learn this proposal.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Propose the smallest stable selector for a price, tried on other stored pages of the shop."""
    from datetime import UTC, datetime

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database, price_rules
    from pricecrawl.config import Config
    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.learning.induction import induce as propose
    from pricecrawl.spiders.loader import load_catalog
    from pricecrawl.workflows.teaching import teach

    wanted = _kind(kind)
    config = Config.load()
    row = _row(config, source)
    amount = _amount(price, row.market)
    with database(config) as engine:
        document, checks, name, of = _pages(
            engine, config, source, amount, market=row.market, sku=sku, page=page, check=check
        )
        proposals = propose(document, amount, market=row.market, checks=checks)
        if confirm is not None and confirm <= len(proposals):
            rules = price_rules(config).get(source)
            chosen = proposals[confirm - 1].rule
            now = datetime.now(UTC)
            # A shop that was never crawled may be taught from a saved page.
            CrawlStore(engine).sync_sources([(source, load_catalog(config).get(source).platform)])
            teach(engine, source, wanted, chosen, by=current_user(by), now=now, rules=rules, sku=of)
    if as_json:
        print_json({"source": source, "price": amount, "page": name, "proposals": proposals})
    else:
        _show(proposals, name, amount)
    if confirm is not None:
        if confirm > len(proposals):
            raise UsageProblem(f"There are {len(proposals)} proposals, not {confirm}.")
        if not as_json:
            out.print(f"learned for {source}: {proposals[confirm - 1].rule}", markup=False)
    if not proposals:
        raise typer.Exit(4)


def teach_rule(
    source: Annotated[str, typer.Argument(help="The source.")],
    rule: Annotated[str, typer.Argument(help="The rule; `selectors test` tries one on a page.")],
    *,
    kind: Annotated[
        str, typer.Option("--kind", help="standard, sale, member, list or pre_order.")
    ] = "standard",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Put a rule at the top of what a source learned, such as one that a model suggested."""
    from datetime import UTC, datetime

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database, price_rules
    from pricecrawl.config import Config
    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.spiders.loader import load_catalog
    from pricecrawl.workflows.teaching import teach

    wanted, config = _kind(kind), Config.load()
    platform = load_catalog(config).get(source).platform
    with database(config) as engine:
        CrawlStore(engine).sync_sources([(source, platform)])
        rules = price_rules(config).get(source)
        after = teach(engine, source, wanted, rule, by=current_user(by), now=datetime.now(UTC), rules=rules)
    leads = after[0].selector if after else None
    if as_json:
        print_json({"source": source, "kind": wanted, "selectors": [entry.selector for entry in after]})
    elif leads == rule:
        out.print(f"learned for {source}: {wanted.value} {rule}", markup=False)
    else:
        out.print(f"{rule} is one of the default rules: it is not kept as the shop's own", markup=False)


def forget(
    source: Annotated[str, typer.Argument(help="The source.")],
    rule: Annotated[str, typer.Argument(help="The rule, as `selectors list` shows it.")],
    *,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="Only of this kind: standard, sale, member, list or pre_order."),
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Take back a rule that a source learned: the row's rules apply again where nothing else is left."""
    from datetime import UTC, datetime

    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.workflows import teaching

    wanted = None if kind is None else _kind(kind)
    with database() as engine:
        gone = teaching.forget(engine, source, rule, kind=wanted, by=current_user(by), now=datetime.now(UTC))
    if as_json:
        print_json([{"source": source, "kind": entry.kind, "selector": entry.selector} for entry in gone])
    else:
        for entry in gone:
            out.print(f"forgotten for {source}: {entry.kind.value} {entry.selector}", markup=False)


def _kind(text: str) -> PriceKind:
    from pricecrawl.domain.candidate import PriceKind
    from pricecrawl.domain.errors import UsageProblem

    try:
        return PriceKind(text)
    except ValueError:
        raise UsageProblem(f"--kind {text!r} is none of {', '.join(PriceKind)}.") from None


def _row(config: Config, source: str) -> Any:
    from pricecrawl.spiders.loader import load_catalog

    return load_catalog(config).get(source).source


def _amount(text: str, market: Market) -> Decimal:
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.domain.money import read_price

    amount = read_price(text, locale=market.locale, market=market).amount
    if amount is None or amount <= 0:
        raise UsageProblem(f"--price {text!r} is no price; write it as the page does, such as 29.90.")
    return amount


_CHECKS = 5
_SEARCHED = 60
"""Stored pages that are looked through for a price when nobody says which listing has it."""


def _pages(
    engine: Any,
    config: Config,
    source: str,
    amount: Decimal,
    *,
    market: Market,
    sku: str | None,
    page: Path | None,
    check: list[Path] | None,
) -> tuple[Document, list[Check], str, str | None]:
    """The page to learn from, other pages to try on, the first one's name and its listing if known."""
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.evidence.store import EvidenceStore
    from pricecrawl.learning.induction import Check, shows
    from pricecrawl.workflows.teaching import stored_pages

    given = [Check(_document(path)) for path in check or ()]
    searched = _CHECKS + 1 if page is not None or sku is not None else _SEARCHED
    stored = stored_pages(
        engine, EvidenceStore(config.evidence_url), source, limit=searched, first=sku, price=amount
    )
    if page is not None:
        others = [*given, *(Check(item.document, item.price) for item in stored[:_CHECKS])]
        return _document(page), others, str(page), sku
    if not stored:
        raise UsageProblem(f"No page of {source} is stored; crawl it first or give a saved one with --page.")
    # Nobody said which page: the first that shows the price.
    first = stored[0]
    if sku is None:
        first = next((item for item in stored if shows(item.document, amount, market)), first)
    if sku is not None and first.source_sku != sku:
        raise UsageProblem(f"No page of the listing {sku} of {source} is stored.")
    rest = [item for item in stored if item is not first]
    others = [*given, *(Check(item.document, item.price) for item in rest[:_CHECKS])]
    return first.document, others, first.url, first.source_sku


def _document(path: Path) -> Document:
    import gzip
    import zlib

    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.extraction.document import Document

    try:
        body = path.read_bytes()
        return Document.from_bytes(gzip.decompress(body) if path.suffix == ".gz" else body)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageProblem(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _show(proposals: Sequence[Proposal], name: str, amount: Decimal) -> None:
    from rich.markup import escape

    from pricecrawl.cli.output import out

    out.print(f"[bold]{escape(name)}[/]")
    if not proposals:
        out.print(f"the price {amount} stands nowhere on this page")
        return
    for number, proposal in enumerate(proposals, start=1):
        out.print(f"{number:2}  [bold]{escape(proposal.rule)}[/]")
        for sentence in proposal.reasons:
            out.print(f"      {escape(sentence)}")


def try_rule(
    rule: Annotated[str, typer.Argument(help="The rule, as a row has it.")],
    page: Annotated[Path, typer.Argument(help="A saved page.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Try a rule on a saved page with the parser and evaluator that crawls use."""
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.domain.money import read_price
    from pricecrawl.extraction.selectors import likely_attributes, parse_rule

    parsed = parse_rule(rule)
    document = _document(page)
    matches = parsed.matches(document)
    elements = parsed.elements(document)
    prices = [read_price(match.value, locale=document.locale).amount for match in matches]
    empty = [dict(likely_attributes(element)) for element in elements[:20]] if not matches else []
    if as_json:
        print_json({
            "rule": rule, "canonical": parsed.canonical, "kind": parsed.kind, "elements": len(elements),
            "attributes": empty, "matches": [
                {"value": match.value, "status": match.status, "price": price}
                for match, price in zip(matches, prices, strict=True)
            ],
        })  # fmt: skip
    else:
        out.print(f"{parsed.kind.value} {parsed.canonical}: {len(matches)} values", markup=False)
        for match, price in zip(matches, prices, strict=True):
            told = f" → {match.status.value}" if match.status else ""
            amount = f"  ({price})" if price is not None else ""
            out.print(f"  {escape(match.value[:200])}{told}{amount}")
        for attributes in empty:
            listed = ", ".join(f'{name}="{value[:60]}"' for name, value in list(attributes.items())[:6])
            out.print(f"  an element without this value; its attributes: {escape(listed)}")
    if not matches:
        raise typer.Exit(4)
