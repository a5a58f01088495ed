"""`pricecrawl price`: decide prices, and look after the policy that decides them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

if TYPE_CHECKING:
    from rich.table import Table

    from pricecrawl.pricing.decision import Decision
    from pricecrawl.pricing.policy import Policy
    from pricecrawl.workflows.price import Priced
    from pricecrawl.workflows.simulate import Side, Simulated

STYLE = {"ALLOW": "green", "REVIEW": "yellow", "BLOCK": "red"}


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Decide prices under hard floors.")
    group.command("run")(run)
    group.command("simulate")(simulate)
    policy = typer.Typer(no_args_is_help=True, help="Versions of the pricing policy.")
    policy.command("list")(policy_list)
    policy.command("show")(policy_show)
    policy.command("propose")(policy_propose)
    group.add_typer(policy, name="policy")
    app.add_typer(group, name="price")


def run(
    sku: Annotated[list[str] | None, typer.Option("--sku", help="This SKU only; may be repeated.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Compute market prices and decide: allow, review or block, with every reason."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import countries, database
    from pricecrawl.config import Config
    from pricecrawl.db.pricing import PricingStore
    from pricecrawl.pricing.decision import record
    from pricecrawl.workflows import price

    config = Config.load()
    with database(config) as engine:
        done = price.run(
            PricingStore(engine), now=datetime.now(UTC), countries=countries(config), skus=sku or None
        )
    if as_json:
        print_json(
            {
                "run": done.run_id,
                "policy_version": done.policy_version,
                "skus": done.skus,
                "verdicts": done.verdicts,
                "superseded": done.superseded,
                "recalled": done.recalled,
                "left_out": done.skus - len(done.decisions),
                "decisions": [
                    {"decision_id": of, **record(made), "status": made.state} for of, made in done.decisions
                ],
            }
        )
        return
    if not done.skus:
        out.print("no active SKU in the catalogue; `pricecrawl catalog import` adds some")
        return
    out.print(_table(done))
    _summary(done)


def _table(done: Priced) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SKU", no_wrap=True)
    for heading in ("current", "market", "floor", "proposed", "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("why", overflow="fold")
    for _, made in done.decisions[:100]:
        table.add_row(*_cells(made))
    return table


def _cells(made: Decision) -> tuple[str, ...]:
    from rich.markup import escape

    inputs, computed = made.inputs, made.computed
    style = STYLE[made.verdict.value]
    change = f"{computed.change * 100:+.1f} %" if computed.change else ""
    why = "; ".join(finding.detail for finding in made.findings) or made.reason.value.replace("_", " ")
    return (
        escape(inputs.subject.sku),
        _money(inputs.subject.current_price),
        _money(inputs.market.price),
        _money(computed.floors.allowed if computed.floors else None),
        f"[bold]{_money(computed.proposed)}[/]",
        change,
        f"[{style}]{made.verdict.value}[/]",
        escape(why),
    )


def _money(amount: Any) -> str:
    return "-" if amount is None else f"{amount:f}"


def _summary(done: Priced) -> None:
    from rich.markup import escape

    from pricecrawl.cli.output import out

    parts = [
        f"[{STYLE[verdict]}]{count} {word}[/]"
        for verdict, word in (("ALLOW", "allowed"), ("REVIEW", "to review"), ("BLOCK", "blocked"))
        if (count := done.verdicts.get(verdict, 0))
    ]
    out.print(f"{done.skus} SKUs under policy {escape(done.policy_version)}: {', '.join(parts)}")
    if done.superseded:
        out.print(f"{done.superseded} earlier decisions that nobody had used are stale now")
    if done.recalled:
        out.print(f"[yellow]too much moved[/]: {done.recalled} allowed prices went to review after all")
    if len(done.decisions) > 100:
        out.print("the first 100 are shown; `pricecrawl export decisions` has all")
    if done.verdicts.get("REVIEW"):
        out.print("`pricecrawl review list` shows what waits, `pricecrawl trace <SKU>` why")


def simulate(
    policy: Annotated[Path, typer.Option("--policy", help="A policy file (TOML).")],
    since: Annotated[str, typer.Option("--since", help="A day (2026-02-01) or a span back (30d).")],
    *,
    as_json: AsJson = False,
) -> None:
    """Replay stored observations under another policy, side by side; nothing is written.

    `pricecrawl price policy show builtin-1` prints every setting that a policy file may have.
    """
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import countries, database
    from pricecrawl.config import Config
    from pricecrawl.db.history import HistoryStore
    from pricecrawl.workflows import simulate as replay
    from pricecrawl.workflows.policies import load_file
    from pricecrawl.workflows.times import since as read_since

    candidate = load_file(policy)
    config = Config.load()
    now = datetime.now(UTC)
    with database(config) as engine:
        _warn(engine, candidate)
        done = replay.run(
            HistoryStore(engine), candidate, since=read_since(since), now=now, countries=countries(config)
        )
    if as_json:
        sides = {"current": _side(done.current), "candidate": _side(done.candidate)}
        print_json({"since": done.since, "skus": done.skus, "moments": done.moments} | sides)
    else:
        out.print(replay_table(done))


def replay_table(done: Simulated) -> Table:
    """The two policies side by side."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.title = f"{done.skus} SKUs, {done.moments} moments since {done.since:%Y-%m-%d}"
    table.add_column("")
    for side in (done.current, done.candidate):
        table.add_column(escape(side.version), justify="right")
    for label, name in (
        ("decisions", "decisions"),
        ("price changes", "changes"),
        ("to review", "reviews"),
        ("blocked", "blocks"),
        ("at or under the market", "win_rate"),
    ):
        table.add_row(label, *(_figure(getattr(side, name)) for side in (done.current, done.candidate)))
    currencies = sorted({*done.current.money, *done.candidate.money})
    for currency in currencies:
        of = f" ({currency})" if len(currencies) > 1 else ""
        for label, name in (("margin at the end", "margin"), ("price level", "price_level")):
            sums = (side.money.get(currency) for side in (done.current, done.candidate))
            table.add_row(label + of, *(_figure(getattr(money, name, None)) for money in sums))
    return table


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value * 100:.1f} %" if isinstance(value, Decimal) else str(value)


def _side(side: Side) -> dict[str, Any]:
    """A policy's figures as JSON has them, the shares worked out to a millionth."""
    from pricecrawl.pricing.rounding import KEPT

    def share(value: Decimal | None) -> Decimal | None:
        return None if value is None else value.quantize(KEPT)

    money = {
        currency: {
            "revenue": sums.revenue,
            "cost": sums.cost,
            "start": sums.start,
            "margin": share(sums.margin),
            "price_level": share(sums.price_level),
        }
        for currency, sums in sorted(side.money.items())
    }
    counts = ("version", "decisions", "changes", "reviews", "blocks", "priced", "winning")
    return {name: getattr(side, name) for name in counts} | {
        "win_rate": share(side.win_rate),
        "money": money,
    }


def _warn(engine: Any, policy: Policy) -> None:
    """Say on stderr what the policy names and nobody has."""
    from pricecrawl.cli.output import err
    from pricecrawl.cli.session import countries
    from pricecrawl.config import Config
    from pricecrawl.db.catalogue import CatalogueStore
    from pricecrawl.workflows.policy_names import unheard_of

    for sentence in unheard_of(CatalogueStore(engine), policy, countries(Config.load())):
        err.print(f"policy {policy.version}: {sentence}", style="yellow", markup=False, soft_wrap=True)


def policy_list(as_json: AsJson = False) -> None:
    """Show every version and which one is in force."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.policies import PolicyRow, PolicyStore

    with database() as engine:
        store = PolicyStore(engine)
        rows = store.all()
        with engine.connect() as conn:
            held = store.in_force(conn, datetime.now(UTC))
    if as_json:
        names = [name for name in PolicyRow.__slots__ if name != "body"]
        in_force = None if held is None else held.version
        print_json(
            [
                {name: getattr(row, name) for name in names} | {"in_force": row.version == in_force}
                for row in rows
            ]
        )
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("policy", "from", "author", "approved by", ""):
        table.add_column(heading)
    for row in rows:
        now = "[green]in force[/]" if held is not None and held.version == row.version else ""
        rejected = f"[dim]rejected by {escape(row.rejected_by or '')}[/]" if row.rejected_at else ""
        approved = escape(row.approved_by or "") or rejected or "[yellow]waits for approval[/]"
        table.add_row(escape(row.version), f"{row.valid_from:%Y-%m-%d}", escape(row.author), approved, now)
    out.print(
        table if rows else "no policy is stored yet; the built-in one is stored by the first pricing run"
    )


def policy_show(version: str, as_json: AsJson = False) -> None:  # noqa: ARG001
    """Print one version; as JSON in any case."""
    from pricecrawl.cli.output import print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.policies import PolicyStore
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.pricing.policy import BUILTIN, policy_body

    with database() as engine, engine.connect() as conn:
        row = PolicyStore(engine).get(conn, version)
    if row is not None:
        print_json(row.body)
    elif version == BUILTIN.version:
        print_json(policy_body(BUILTIN))
    else:
        raise UsageProblem(f"there is no policy {version}; `pricecrawl price policy list` shows all.")


def policy_propose(file: Path, *, by: By = None) -> None:
    """Store a policy file as a new version; somebody else approves it with `review approve policy:…`."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out
    from pricecrawl.cli.session import database
    from pricecrawl.db.policies import PolicyStore
    from pricecrawl.workflows import policies

    policy = policies.load_file(file)
    with database() as engine:
        _warn(engine, policy)
        policies.propose(PolicyStore(engine), policy, by=current_user(by), now=datetime.now(UTC))
    out.print(
        f"policy {policy.version} waits: somebody else runs "
        f"`pricecrawl review approve policy:{policy.version} --reason ...`",
        soft_wrap=True,
    )
