"""What the commands that write prices share: the publisher of this process, and how results look."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from pricecrawl.workflows.publisher import Next, Publisher

STYLES = {
    "VERIFIED": "green",
    "PUBLISH_PENDING": "yellow",
    "PUBLISHING": "yellow",
    "PUBLISHED": "yellow",
    "VERIFYING": "yellow",
    "ROLLED_BACK": "dim",
    "STALE": "dim",
}


@contextmanager
def publisher(by: str | None = None, *, owner: str | None = None) -> Iterator[Publisher]:
    """The publisher service as this process: it has the targets' credentials, so it acts in its name.

    `by` is the person behind it, who stands in events; the right to write comes from the credentials.
    """
    from pricecrawl.cli.actor import current_user
    from pricecrawl.cli.session import database
    from pricecrawl.commerce.configured import placements
    from pricecrawl.config import Config
    from pricecrawl.db.publications import PublicationStore
    from pricecrawl.domain.roles import Principal, Role
    from pricecrawl.workflows.publisher import Publisher

    config = Config.load()
    targets = placements(config.targets)
    with database(config) as engine:
        yield Publisher(
            store=PublicationStore(engine),
            placements=targets,
            by=Principal(current_user(by), Role.PUBLISHER),
            owner=owner or f"cli:{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}",
        )


def target_of(pub: Publisher, name: str | None) -> str:
    """The named target, or the only one.

    Raises:
        UsageProblem: it is not configured, or there is more than one and none is named.
    """
    from pricecrawl.domain.errors import UsageProblem

    if name is not None:
        pub.placement(name)
        return name
    if len(pub.placements) == 1:
        return next(iter(pub.placements))
    if not pub.placements:
        raise UsageProblem(
            "no target is configured: set PRICECRAWL_TARGET_<NAME>_KIND and its other settings "
            "(docs/targets.md)."
        )
    raise UsageProblem(f"say which with --target: {', '.join(sorted(pub.placements))}.")


def outcome(pub: Publisher, of: str, after: Next) -> dict[str, Any]:
    """A publication as it stands, for people and programs."""
    with pub.store.engine.connect() as conn:
        row = pub.store.get(conn, of)
    assert row is not None
    return {
        "publication_id": of,
        "decision_id": row["decision_id"],
        "target": row["target"],
        "sku": row["sku"],
        "before": (row["pre_state"] or {}).get("amount"),
        "amount": row["amount"],
        "currency": row["currency"],
        "status": row["status"],
        "verdict": row["verdict"],
        "attempts": row["attempts"],
        "detail": row["verdict_detail"] or after.why,
        "next_check_at": row["next_check_at"],
    }


def outcomes_table(rows: list[dict[str, Any]]) -> Any:
    """Publications as a table."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SKU", no_wrap=True)
    table.add_column("target", no_wrap=True)
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("price", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("publication", no_wrap=True)
    table.add_column("detail", overflow="fold")
    for row in rows:
        style = STYLES.get(row["status"], "red")
        table.add_row(
            escape(row["sku"]),
            escape(row["target"]),
            row["before"] or "-",
            f"[bold]{row['amount']:f}[/] {row['currency']}",
            f"[{style}]{row['status'].replace('_', ' ').lower()}[/]",
            row["publication_id"],
            escape(row["detail"] or row["verdict"] or ""),
        )
    return table
