"""How a chain of evidence and a review look on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

if TYPE_CHECKING:
    from pricecrawl.workflows.trace import Trace

_VERDICT = {"ALLOW": "green", "REVIEW": "yellow", "BLOCK": "red"}
_ROLE = {"winner": "bold green", "eligible": "green", "excluded": "dim"}


def trace_tree(found: Trace) -> Tree:
    """The chain as a tree, the price at the root and the bytes at the leaves."""
    ours, made = found.sku, found.decision
    tree = Tree(f"[bold]{escape(ours['sku'])}[/] {escape(ours['name'])}")
    for row in found.publications:
        style = "green" if row["status"] == "VERIFIED" else "yellow"
        tree.add(
            f"published to {escape(row['target'])}: [bold]{money(row['amount'])} {row['currency']}[/] "
            f"[{style}]{escape(row['verdict'] or row['status'])}[/] [dim]{row['publication_id']}[/]"
        )
    if made is not None:
        branch = tree.add(
            f"decision [{_VERDICT[made['verdict']]}]{made['verdict']}[/] {made['status']}: "
            f"{money(made['current_price'])} to [bold]{money(made['proposed_price'])} {made['currency']}[/] "
            f"[dim]{made['decision_id']} at {made['created_at']:%Y-%m-%d %H:%M} UTC[/]"
        )
        _add_decision(branch, found, made)
    if found.missing:
        gaps = tree.add("[red]missing links[/]")
        for gap in found.missing:
            gaps.add(f"[red]{escape(gap)}[/]")
    else:
        tree.add("[green]the chain is complete and every stored page has its digest[/]")
    return tree


def _add_decision(branch: Tree, found: Trace, made: Mapping[str, Any]) -> None:
    steps = branch.add("computed")
    for name, amount, words in made["steps"]["values"]:
        if amount is not None:
            steps.add(f"{name.replace('_', ' ')} [bold]{amount}[/] [dim]{escape(words)}[/]")
    if made["findings"]:
        findings = branch.add("guardrails")
        for item in made["findings"]:
            findings.add(f"[{_VERDICT[item['verdict']]}]{item['code']}[/] {escape(item['detail'])}")
    else:
        branch.add("guardrails [green]had nothing to say[/]")
    for row in found.approvals:
        branch.add(f"{row['action']} by [bold]{escape(row['actor'])}[/]: {escape(row['reason'])}")
    policy = found.policy
    if policy is not None:
        branch.add(
            f"policy {escape(made['policy_version'])} "
            f"[dim]by {escape(policy['author'])}, approved by {escape(policy['approved_by'] or 'nobody')}[/]"
        )
    if found.snapshot is not None:
        taken = found.snapshot
        offers = branch.add(
            f"market price [bold]{money(taken['market_price'])} {taken['currency']}[/] "
            f"[dim]snapshot {taken['id']}, {taken['freshness']}[/]"
        )
        for offer in found.offers:
            _add_offer(offers, offer, taken["currency"])
    events = branch.add(f"{len(found.events)} events")
    for row in found.events:
        events.add(f"{row['event_type']} [dim]{row['event_id']}[/]")


def _add_offer(parent: Tree, offer: Mapping[str, Any], currency: str) -> None:
    why = f" [red]{', '.join(offer['reasons'])}[/]" if offer.get("reasons") else ""
    landed = "" if offer["landed"] is None else f" landed [bold]{offer['landed']} {currency}[/]"
    branch = parent.add(
        f"[{_ROLE[offer['role']]}]{offer['role']}[/] {escape(offer['source'])}/{escape(offer['source_sku'])}"
        f"{landed}{why}"
    )
    if way := _way_to_landed(offer):
        branch.add(way)
    if offer.get("promotion"):
        branch.add(f"promotion ({offer['promotion']['kind']}): {escape(offer['promotion']['text'])}")
    if offer.get("fx"):
        rate = offer["fx"]
        branch.add(f"rate {rate['factor']} of {rate['day']} [dim]{escape(rate['source'])}[/]")
    pair = offer["mapping"]
    if pair is not None:
        branch.add(
            f"mapping {pair['id']} {pair['status']} by {pair['method']} "
            f"[dim]{escape(str(pair['evidence'].get('identifier', '')))}[/]"
        )
    seen = offer["observation"]
    if seen is not None:
        branch.add(
            f"observation {seen['observation_id']}: {money(seen['price'])} {seen['currency'] or '?'} "
            f"{seen['availability']} by {seen['method'] or 'nothing'} "
            f"[dim]run {seen['run_id']} {seen['outcome']} {seen['coverage'] or ''} "
            f"at {seen['observed_at']:%Y-%m-%d %H:%M:%S}[/]"
        )
    page = offer.get("evidence")
    if page:
        good = "[green]bytes verified[/]" if page["verified"] else f"[red]{escape(page['problem'])}[/]"
        branch.add(f"{escape(page['digest'])} {good} [dim]{escape(page['warc'])} at {page['offset']}[/]")


def _way_to_landed(offer: Mapping[str, Any]) -> str:
    """What was added to an item price and taken off it; empty where it is the landed price as it stands."""
    parts = []
    if offer["shipping"] is not None and Decimal(offer["shipping"]):
        parts.append(f"+ {offer['shipping']} delivery")
    if off := (offer.get("promotion") or {}).get("off"):
        parts.append(f"- {off} promotion")
    if tax := offer.get("tax"):
        parts.append(f"{'-' if tax['basis'] == 'incl' else '+'} tax of {Decimal(tax['rate']) * 100:f} %")
    return " ".join([f"{offer['item_price']} {offer['currency']}", *parts]) if parts else ""


def review_view(found: Mapping[str, Any]) -> Iterator[Any]:
    """One review, part by part."""
    kind = str(found["kind"])
    if kind == "price":
        yield from _price_view(found)
    elif kind == "mapping":
        yield from _mapping_view(found)
    elif kind == "candidate":
        yield from _candidate_view(found)
    else:
        yield f"policy [bold]{escape(found['version'])}[/] by {escape(found['author'])}"
        yield _fields({"from": found["valid_from"], "approved by": found["approved_by"] or "nobody"})


def _price_view(found: Mapping[str, Any]) -> Iterator[Any]:
    yield (
        f"[bold]{escape(found['sku'])}[/]: {money(found['current_price'])} to "
        f"[bold]{money(found['proposed_price'])} {found['currency']}[/] "
        f"[{_VERDICT[found['verdict']]}]{found['verdict']}[/] {found['status']}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("computed")
    table.add_column("", justify="right")
    table.add_column("")
    for name, amount, words in found["steps"]["values"]:
        table.add_row(name.replace("_", " "), amount or "-", f"[dim]{escape(words)}[/]")
    yield table
    for item in found["findings"]:
        yield f"[{_VERDICT[item['verdict']]}]{item['code']}[/] {escape(item['detail'])}"
    taken = found["snapshot"]
    if taken:
        yield _offers(taken)
    for row in found["approvals"]:
        yield f"{row['action']} by {escape(row['actor'])}: {escape(row['reason'])}"
    yield f"[dim]`pricecrawl trace {found['decision_id']}` goes down to the stored pages[/]"


def _offers(taken: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("offer", "item", "shipping", "landed", "left out because"):
        table.add_column(heading, justify="left" if heading in {"offer", "left out because"} else "right")
    for item in (*taken["eligible"], *taken["excluded"]):
        table.add_row(
            escape(f"{item['source']}/{item['source_sku']}"),
            f"{item['item_price'] or '-'} {item['currency'] or '?'}",
            item["shipping"] or "-",
            item["landed"] or "-",
            ", ".join(item.get("reasons", ())),
        )
    return table


def _mapping_view(found: Mapping[str, Any]) -> Iterator[Any]:
    yield f"[bold]{escape(found['sku'])}[/] is {escape(found['source'])}/{escape(found['source_sku'])}?"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "ours", "theirs"):
        table.add_column(heading, overflow="fold")
    table.add_row("name", escape(found["sku_name"]), escape(found["listing_name"]))
    table.add_row("brand", escape(found["sku_brand"]), escape(found["listing_brand"]))
    table.add_row("pack", str(found["sku_pack"]), str(found["listing_pack"]))
    yield table
    yield _fields(
        {
            "method": found["method"],
            "identifier": found["evidence"].get("identifier"),
            "status": found["status"],
            "page": found["url"],
        }
    )
    for line in found["evidence"].get("contradictions", ()):
        yield f"[yellow]{escape(line)}[/]"


def _candidate_view(found: Mapping[str, Any]) -> Iterator[Any]:
    yield f"[bold]{escape(found['listing_name'])}[/] {escape(found['url'])}"
    yield _fields(
        {
            "accepted price": f"{money(found['accepted_price'])} {found['accepted_currency'] or ''}",
            "suggested": f"{money(found['suggested_price'])} {found['suggested_currency'] or ''}",
            "stock": found["availability"],
            "seen": f"{found['observed_at']:%Y-%m-%d %H:%M} UTC",
            "status": found["status"],
            "doubts": ", ".join(found["reasons"]),
        }
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("no", "kind", "amount", "read by", "where", "text"):
        table.add_column(heading, overflow="fold")
    for number, item in enumerate(found["candidates"], 1):
        table.add_row(
            str(number),
            item["kind"],
            f"{item['amount']} {item['currency'] or '?'}",
            item["method"],
            escape(item["selector"]),
            escape(item["text"]),
        )
    if found["candidates"]:
        yield table
    else:
        yield "no reading gives a price"
    for sentence in found["trace"]:
        yield f"[dim]·[/] {escape(sentence)}"


def _fields(values: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in values.items():
        table.add_row(name, escape("-" if value is None else str(value)))
    return table


def money(amount: Decimal | None) -> str:
    """An amount, or a dash."""
    return "-" if amount is None else f"{amount:f}"
