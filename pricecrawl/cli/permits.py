"""`pricecrawl sources permit` and `identity`: what a shop agreed to, and as whom we therefore go out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import out, print_json
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.moments import in_utc

if TYPE_CHECKING:
    from pricecrawl.db.permissions import PermissionStore, StoredPermission

_MODES = {"declared": "declared", "browser": "browser_like", "browser_like": "browser_like"}
Slug = Annotated[str, typer.Argument(help="Name of the source.", show_default=False)]
By = Annotated[str, typer.Option("--by", help="Who writes this down; your login name if left out.")]


def permit(
    slug: Slug,
    *,
    agreed_by: Annotated[str, typer.Option("--agreed-by", help="Who agreed, for the shop.")] = "",
    how: Annotated[str, typer.Option("--how", help="Mail, contract, call: where it can be looked up.")] = "",
    purpose: Annotated[str, typer.Option("--purpose", help="What for.")] = "",
    agreed_at: Annotated[
        str, typer.Option("--agreed-at", help="When, as 2026-03-01 or with a time and zone; now if left out.")
    ] = "",
    identity: Annotated[
        str, typer.Option("--identity", help="Also switch to: declared or browser.", show_default=False)
    ] = "",
    revoke: Annotated[bool, typer.Option("--revoke", help="End every permission of this source.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why it is revoked.")] = "",
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Store a shop's agreement, or end it. Only with one may a source use a browser-like identity."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.domain.identity import IdentityMode, PermissionRecord

    now, who = datetime.now(UTC), current_user(by)
    mode = _mode(identity) if identity else None
    if not revoke and not (agreed_by.strip() and how.strip() and purpose.strip()):
        raise UsageProblem("A permission says who agreed, how and what for: --agreed-by, --how, --purpose.")
    if revoke and (agreed_by or how or purpose or agreed_at or identity):
        raise UsageProblem("--revoke ends what there is; it takes no more than a --reason.")
    with _store(slug) as store:
        if revoke:
            ended = store.revoke(slug, by=who, reason=reason, now=now)
        else:
            given = _when(agreed_at) if agreed_at else now
            store.record(PermissionRecord(slug, agreed_by, given, how, purpose), by=who, now=now)
            if mode is not None:
                store.set_identity(slug, IdentityMode(mode), by=who, now=now)
        data = _standing(store, slug, now)
    if as_json:
        print_json(data)
    elif revoke:
        some = "no permission" if not ended else "1 permission" if ended == 1 else f"{ended} permissions"
        out.print(f"{slug} had {some} to end; it goes out under our declared name.", markup=False)
    else:
        out.print(
            f"{slug}: the agreement of {agreed_by} is stored; it goes out as {data['identity_mode']}.",
            markup=False,
            soft_wrap=True,
        )


def identity(
    slug: Slug,
    mode: Annotated[str, typer.Argument(help="declared or browser.", show_default=False)],
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """As whom a source goes out; browser needs a permission record in force (exit code 3 without)."""
    from pricecrawl.cli.actor import current_user
    from pricecrawl.domain.identity import IdentityMode

    now = datetime.now(UTC)
    wanted = IdentityMode(_mode(mode))
    with _store(slug) as store:
        store.set_identity(slug, wanted, by=current_user(by), now=now)
        data = _standing(store, slug, now)
    if as_json:
        print_json(data)
    else:
        out.print(f"{slug} goes out as {data['identity_mode']} from its next run on.", markup=False)


def permissions_of(store: PermissionStore, slug: str, now: datetime) -> list[dict[str, Any]]:
    """Every permission of a source as plain data, newest first."""
    return [_plain(item, slug, now) for item in store.of(slug)]


def permission_lines(permissions: list[dict[str, Any]]) -> list[str]:
    """The same for a person."""
    return [
        f"permission of {item['agreed_by']}, {item['agreed_at']:%Y-%m-%d}, {item['how']}: {item['purpose']}"
        + ("" if item["in_force"] else f" (revoked {item['revoked_at']:%Y-%m-%d})")
        for item in permissions
    ]


def _plain(item: StoredPermission, slug: str, now: datetime) -> dict[str, Any]:
    record = item.record
    return {
        "id": item.id,
        "agreed_by": record.agreed_by,
        "agreed_at": record.agreed_at,
        "how": record.how,
        "purpose": record.purpose,
        "recorded_by": item.recorded_by,
        "recorded_at": item.recorded_at,
        "revoked_at": record.revoked_at,
        "in_force": record.covers(slug, now),
    }


def _standing(store: PermissionStore, slug: str, now: datetime) -> dict[str, Any]:
    from pricecrawl.db.crawl import CrawlStore

    state = CrawlStore(store.engine).source_state(slug)
    return {
        "slug": slug,
        "identity_mode": state.identity_mode,
        "permissions": permissions_of(store, slug, now),
    }


def _mode(text: str) -> str:
    if text not in _MODES:
        raise UsageProblem(f"There is no identity {text!r}: it is declared or browser.")
    return _MODES[text]


def _when(text: str) -> datetime:
    try:
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise UsageProblem(
            f"--agreed-at {text!r} is no date such as 2026-03-01 or 2026-03-01T09:30+01:00."
        ) from None


@contextmanager
def _store(slug: str) -> Iterator[PermissionStore]:
    """The permission store with the source's row in place."""
    from pricecrawl.db.crawl import CrawlStore
    from pricecrawl.db.engine import open_engine
    from pricecrawl.db.permissions import PermissionStore
    from pricecrawl.sources.catalog import Catalog, unknown

    config = Config.load()
    # Read without the platforms' own keys: a permission ends for a row that has a mistake in it too.
    catalog = Catalog.load(config)
    known = {mistake.slug: mistake.file.stem for mistake in catalog.mistakes if mistake.slug}
    known |= {entry.source.slug: entry.platform for entry in catalog}
    engine = open_engine(config.database_url)
    try:
        store = CrawlStore(engine)
        if slug in known:
            store.sync_sources([(slug, known[slug])])
        try:
            store.source_state(slug)
        except UsageProblem:
            raise UsageProblem(unknown("source", slug, known)) from None
        yield PermissionStore(engine)
    finally:
        engine.dispose()
