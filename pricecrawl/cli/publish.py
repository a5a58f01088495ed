"""`pricecrawl publish`, `verify` and `rollback`: prices into a shop, looked at again, and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson, By

if TYPE_CHECKING:
    from pricecrawl.workflows.publisher import Publisher

_Target = Annotated[str | None, typer.Option("--target", "-t", help="Which target; the only one by default.")]
_Wait = Annotated[
    int, typer.Option("--wait", min=0, help="Seconds to wait for a shop; a worker goes on after that.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("publish")(publish)
    app.command("verify")(verify)
    app.command("rollback")(rollback)


def publish(
    decisions: Annotated[
        list[str] | None, typer.Argument(metavar="DECISION...", help="Decisions, as `price run` names them.")
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Every approved decision that moves a price, a few of them first.")
    ] = False,
    sku: Annotated[list[str] | None, typer.Option("--sku", help="Approved decisions of this SKU.")] = None,
    target: _Target = None,
    wait: _Wait = 120,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Write approved prices to a shop and read them back. A decision is named, never a price."""
    from rich.markup import escape

    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.cli.publishing import outcome, outcomes_table, publisher, target_of
    from pricecrawl.domain.errors import ProblemsFound, UsageProblem
    from pricecrawl.workflows import batch

    if sum(map(bool, (decisions, everything, sku))) != 1:
        raise UsageProblem("name decisions, or --sku, or --all.")
    with publisher(by) as pub:
        to = target_of(pub, target)
        names = decisions or batch.waiting(pub, to, sku or (), now=datetime.now(UTC))
        done = batch.publish_batch(
            pub, names, to, run=lambda of: _run(pub, of, wait), clock=lambda: datetime.now(UTC)
        )
        rows = [outcome(pub, of, after) for of, after in done.results.items()]
    well = all(row["status"] == "VERIFIED" for row in rows)
    if as_json:
        print_json({"publications": rows, "refused": done.refused, "recalled": done.recalled})
    else:
        if rows:
            out.print(outcomes_table(rows))
        elif not done.refused and not done.recalled:
            out.print("no approved decision waits; `pricecrawl price run` makes some")
        for text in done.refused.values():
            err.print(f"[red]refused[/]: {escape(text)}", soft_wrap=True)
        if done.recalled:
            why = next(iter(done.recalled.values()))
            err.print(f"[yellow]{len(done.recalled)} prices went to review[/]: {escape(why)}", soft_wrap=True)
    if not well or done.refused or done.recalled:
        raise ProblemsFound("not every price is in the shop and verified.")


def verify(
    publication: Annotated[
        str | None, typer.Argument(help="A publication; without one, every price that we left in the shop.")
    ] = None,
    *,
    target: _Target = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Read published prices again. A price that somebody else changed is an incident."""
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import publisher, target_of
    from pricecrawl.domain.errors import ProblemsFound, Refused
    from pricecrawl.pricing.ports import TargetUnavailable
    from pricecrawl.workflows import verify as look

    now = datetime.now(UTC)
    with publisher(by) as pub:
        if publication is None:
            found = look.patrol(pub, target_of(pub, target), now=now)
        else:
            try:
                found = [look.again(pub, publication, now=now)]
            except TargetUnavailable as problem:
                raise Refused(f"the shop cannot be read: {problem}.") from None
    wrong = [item for item in found if not item.ok]
    unread = [item for item in found if not item.read]
    if as_json:
        verified = len(found) - len(wrong) - len(unread)
        print_json(
            {"verified": verified, "wrong": len(wrong), "not_read": len(unread), "publications": found}
        )
    else:
        for item in found if publication is not None else wrong:
            mark = "[green]as it should be[/]" if item.ok else "[red]not as it should be[/]"
            out.print(f"{item.publication_id}: {mark} ({escape(item.detail)})", soft_wrap=True)
        if publication is None:
            seen = len(found) - len(unread)
            out.print(f"{seen} prices looked at, {len(wrong)} of them are not as we left them")
    if wrong:
        raise ProblemsFound("somebody else changed a price: `pricecrawl jobs list` shows the incidents.")
    if unread:
        raise Refused(f"{len(unread)} prices could not be read: {unread[0].detail}.")


def rollback(
    sku: Annotated[str, typer.Argument(help="Our SKU.")],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; kept for good.")],
    to: Annotated[str | None, typer.Option("--to", help="An earlier verified decision.")] = None,
    target: _Target = None,
    wait: _Wait = 120,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Go back to an earlier verified price, through the same gates as any other."""
    from rich.markup import escape

    from pricecrawl.cli.output import out, print_json
    from pricecrawl.cli.publishing import outcome, outcomes_table, publisher, target_of
    from pricecrawl.domain.errors import ProblemsFound
    from pricecrawl.pricing.findings import Verdict
    from pricecrawl.workflows import publish as writing
    from pricecrawl.workflows import rollback as back

    now = datetime.now(UTC)
    with publisher(by) as pub:
        name = target_of(pub, target)
        made = back.request(pub, sku, name, reason=reason, by=pub.by.name, now=now, to=to)
        rows: list[dict[str, Any]] = []
        if made.verdict is Verdict.ALLOW:
            of = writing.request(pub, made.decision_id, name, now=now)
            rows = [outcome(pub, of, _run(pub, of, wait))]
    if as_json:
        print_json({"rollback": made, "publications": rows})
    elif rows:
        out.print(outcomes_table(rows))
    else:
        out.print(f"{escape(sku)} goes back to {made.amount}: [yellow]{made.verdict.value}[/]")
        for text in made.reasons:
            out.print(f"  {escape(text)}", soft_wrap=True)
    if made.verdict is Verdict.REVIEW:
        raise ProblemsFound(
            f"somebody else must look at it: `pricecrawl review approve price:{made.decision_id} "
            f"--reason ...`, then `pricecrawl publish {made.decision_id}`."
        )
    if made.verdict is Verdict.BLOCK or any(row["status"] != "VERIFIED" for row in rows):
        raise ProblemsFound("the earlier price is not back.")


def _run(pub: Publisher, of: str, wait: int) -> Any:
    from pricecrawl.workflows import publish as writing

    return writing.run(pub, of, clock=lambda: datetime.now(UTC), patience=timedelta(seconds=wait))
