"""`pricecrawl review`: prices, mappings, readings and policies that wait for a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

if TYPE_CHECKING:
    from decimal import Decimal

    from pricecrawl.workflows.candidates import Confirmed

_Id = Annotated[str, typer.Argument(metavar="ID", help="As `review list` shows it, or a SKU.")]
_Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; kept for good.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="What waits for a person.")
    group.command("list")(list_reviews)
    group.command("show")(show)
    group.command("approve")(approve)
    group.command("reject")(reject)
    exception = typer.Typer(
        no_args_is_help=True, help="Lift a block by two people, where the policy allows it."
    )
    exception.command("request")(exception_request)
    exception.command("grant")(exception_grant)
    group.add_typer(exception, name="exception")
    app.add_typer(group, name="review")


def list_reviews(
    kind: Annotated[
        str | None, typer.Option("--kind", help="price, mapping, candidate or policy only.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many of each kind.")] = 50,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the queue with every reason."""
    from rich.markup import escape
    from rich.table import Table

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.db.reviews import ReviewStore
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.workflows import review

    try:
        wanted = None if kind is None else review.Kind(kind)
    except ValueError:
        kinds = ", ".join(review.Kind)
        raise UsageProblem(f"--kind {kind!r} is none of {kinds}.") from None
    with database() as engine:
        items = review.queue(ReviewStore(engine), kind=wanted, limit=limit, now=datetime.now(UTC))
    if as_json:
        print_json(items)
        return
    if not items:
        out.print("nothing waits for review")
        return
    now = datetime.now(UTC)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("review", no_wrap=True)
    table.add_column("of", overflow="fold")
    table.add_column("what", overflow="fold", ratio=2)
    table.add_column("why", overflow="fold", ratio=3)
    table.add_column("until", no_wrap=True)
    for item in items:
        until = "" if item.expires_at is None else f"{item.expires_at:%m-%d %H:%M}"
        if item.expires_at is not None and item.expires_at <= now:
            until = "[red]expired[/]"
        why = escape("\n".join(item.reasons))
        kind_name, _, name = item.id.partition(":")
        short = name[: review.SHOWN] if item.kind is review.Kind.PRICE else name
        table.add_row(f"{kind_name}:{escape(short)}", escape(item.subject), escape(item.summary), why, until)
    out.print(table)


def show(review_id: _Id, *, as_json: AsJson = False) -> None:
    """Show one review with all its evidence."""
    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.cli.views import review_view
    from pricecrawl.db.reviews import ReviewStore
    from pricecrawl.workflows import review

    with database() as engine:
        found = review.show(ReviewStore(engine), review_id)
    if as_json:
        print_json(found)
    else:
        for part in review_view(found):
            out.print(part)


def approve(
    review_id: _Id,
    *,
    reason: _Reason,
    choose: Annotated[
        int | None, typer.Option("--choose", min=1, help="Which reading is right, for a candidate.")
    ] = None,
    amount: Annotated[
        str | None, typer.Option("--amount", help="What the chosen reading must read, such as 29.90.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Say yes. A blocked price cannot be approved, nor one's own policy."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out
    from pricecrawl.cli.session import database, price_rules
    from pricecrawl.config import Config
    from pricecrawl.db.policies import PolicyStore
    from pricecrawl.db.reviews import ReviewStore
    from pricecrawl.workflows import policies, review

    config = Config.load()
    rules = price_rules(config) if review_id.startswith("candidate:") else None
    with database(config) as engine:
        done = review.approve(
            ReviewStore(engine),
            review_id,
            by=current_user(by),
            reason=reason,
            now=datetime.now(UTC),
            choice=choose,
            amount=None if amount is None else _amount(amount),
            rules=rules,
        )
        kind, name = review.parse(review_id)
        told = ""
        if kind is review.Kind.POLICY:
            told = policies.standing(PolicyStore(engine), name, now=datetime.now(UTC))
    _done(review_id, "approved", "green", confirmed=done, as_json=as_json)
    if told and not as_json:
        out.print(told, markup=False, soft_wrap=True)


def _amount(text: str) -> Decimal:
    from decimal import Decimal, InvalidOperation

    from pricecrawl.domain.errors import UsageProblem

    try:
        return Decimal(text)
    except InvalidOperation:
        raise UsageProblem(f"--amount {text!r} is no number; write it as 29.90.") from None


def reject(review_id: _Id, *, reason: _Reason, by: By = None, as_json: AsJson = False) -> None:
    """Say no."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.session import database
    from pricecrawl.db.reviews import ReviewStore
    from pricecrawl.workflows import review

    with database() as engine:
        review.reject(
            ReviewStore(engine), review_id, by=current_user(by), reason=reason, now=datetime.now(UTC)
        )
    _done(review_id, "rejected", "red", as_json=as_json)


def exception_request(decision: str, *, reason: _Reason, by: By = None) -> None:
    """Ask for a block to be lifted; somebody else grants it."""
    _exception("request", decision, reason, by)


def exception_grant(decision: str, *, reason: _Reason, by: By = None) -> None:
    """Grant what somebody else asked for."""
    _exception("grant", decision, reason, by)


def _exception(step: str, decision: str, reason: str, by: str | None) -> None:
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.output import out
    from pricecrawl.cli.session import database
    from pricecrawl.db.reviews import ReviewStore
    from pricecrawl.workflows import exceptions

    with database() as engine:
        act = exceptions.request if step == "request" else exceptions.grant
        act(ReviewStore(engine), decision, by=current_user(by), reason=reason, now=datetime.now(UTC))
    out.print("the request is stored; somebody else grants it" if step == "request" else "[green]granted[/]")


def _done(
    review_id: str, word: str, style: str, *, as_json: bool, confirmed: Confirmed | None = None
) -> None:
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json

    result: dict[str, Any] = {"id": review_id, "result": word}
    told = ""
    if confirmed is not None:
        chosen = confirmed.candidate
        amount = format(chosen.amount, "f")
        result["chosen"] = {
            "kind": chosen.kind, "amount": amount, "currency": chosen.currency,
            "method": chosen.method, "selector": chosen.selector, "promoted": confirmed.promoted,
        }  # fmt: skip
        where = f"{chosen.method.value} {chosen.selector}".strip()
        told = f": {amount} {chosen.currency or '(currency unknown)'}, {chosen.kind.value}, by {where}"
        if confirmed.promoted is not None:
            told += f"; {confirmed.promoted} is tried first at {confirmed.review.source} now"
    if as_json:
        print_json(result)
    else:
        out.print(f"[{style}]{word}[/] {escape(review_id + told)}")
