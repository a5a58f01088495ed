"""`pricecrawl sources permit` and `identity`: nothing but a stored agreement changes who we are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select

from pricecrawl.db import tables
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.permissions import PermissionStore
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.identity import IdentityMode, PermissionRecord
from tests.cli.test_sources import GOOD, Shell, shell

__all__ = ["shell"]

AGREED = ("--agreed-by", "M. Gull", "--how", "mail of 3 March", "--purpose", "price comparison")
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_permit_switch_show_and_revoke(shell: Shell) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD)
    refused = shell("identity", "tern", "browser")
    assert refused.returncode == 3
    assert refused.stderr.count("\n") == 1
    assert "no permission record" in refused.stderr
    assert "no permission record" in shell("show", "tern").stdout

    stored = shell("permit", "tern", *AGREED, "--agreed-at", "2026-03-03", "--by", "ada")
    assert stored.returncode == 0, stored.stderr
    shown = json.loads(shell("show", "tern", "--json").stdout)
    assert shown["identity_mode"] == "declared", "a permission alone switches nothing"
    (permission,) = shown["permissions"]
    assert (permission["agreed_by"], permission["recorded_by"], permission["in_force"]) == (
        "M. Gull",
        "ada",
        True,
    )
    assert permission["agreed_at"] == "2026-03-03T00:00:00+00:00"

    assert shell("identity", "tern", "browser").returncode == 0
    text = shell("show", "tern").stdout
    assert "browser_like" in text
    assert "M. Gull" in text

    ended = json.loads(shell("permit", "tern", "--revoke", "--reason", "they asked", "--json").stdout)
    assert ended["identity_mode"] == "declared"
    assert [item["in_force"] for item in ended["permissions"]] == [False]
    assert shell("identity", "tern", "browser").returncode == 3
    assert shell("identity", "tern", "declared").returncode == 0


def test_permit_can_switch_at_once(shell: Shell) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD)
    done = json.loads(shell("permit", "tern", *AGREED, "--identity", "browser", "--json").stdout)
    assert done["identity_mode"] == "browser_like"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("permit", "tern"), "--agreed-by"),
        (("permit", "tern", *AGREED[:-1], " "), "--purpose"),
        (("permit", "tern", *AGREED, "--agreed-at", "soon"), "2026-03-01"),
        (("permit", "tern", *AGREED, "--agreed-at", "0001-01-01T00:00+05:00"), "2026-03-01"),
        (("permit", "tern", *AGREED, "--agreed-at", "2999-01-01"), "future"),
        (("permit", "tern", *AGREED, "--revoke"), "--revoke"),
        (("permit", "nobody", *AGREED), "no source 'nobody'"),
        (("identity", "tern", "firefox"), "declared or browser"),
    ],
)
def test_mistakes_are_one_sentence(shell: Shell, arguments: tuple[str, ...], words: str) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD)
    done = shell(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0


def given(engine: Engine, *, at: datetime = NOW) -> PermissionStore:
    CrawlStore(engine).sync_sources([("tern", "shopify"), ("gull", "shopify")])
    store = PermissionStore(engine)
    store.record(PermissionRecord("tern", "M. Gull", at, "mail", "prices"), by="ada", now=NOW)
    return store


def test_a_permission_is_for_one_source_and_from_its_moment_on(engine: Engine) -> None:
    store = given(engine)
    assert store.live("tern", NOW) is not None
    assert store.live("tern", NOW - timedelta(seconds=1)) is None
    assert store.live("gull", NOW) is None
    with pytest.raises(Refused):
        store.set_identity("gull", IdentityMode.BROWSER_LIKE, by="ada", now=NOW)
    with pytest.raises(UsageProblem):
        store.set_identity("nobody", IdentityMode.BROWSER_LIKE, by="ada", now=NOW)


def test_every_change_leaves_an_event(engine: Engine) -> None:
    store = given(engine)
    store.set_identity("tern", IdentityMode.BROWSER_LIKE, by="ada", now=NOW)
    assert store.revoke("tern", by="bo", reason="asked", now=NOW) == 1
    assert store.revoke("tern", by="bo", reason="asked", now=NOW) == 0
    with engine.connect() as conn:
        events = list(conn.execute(select(tables.audit_event.c.payload).order_by(tables.audit_event.c.id)))
        changes = [
            (json.loads(e.payload) if isinstance(e.payload, str) else e.payload)["change"] for e in events
        ]
        assert changes == ["permission recorded", "identity", "permission revoked"]
        (mode,) = conn.execute(
            select(tables.source.c.identity_mode).where(tables.source.c.slug == "tern")
        ).scalars()
        assert mode == "declared"
        assert conn.execute(select(func.count()).select_from(tables.permission_record)).scalar_one() == 1
