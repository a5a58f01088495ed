"""Making and revoking the tokens of the HTTP interface."""

from __future__ import annotations

import re
import secrets
from datetime import datetime

from pricecrawl.db.tokens import TokenStore, digest_of
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.roles import Role
from pricecrawl.workflows.events import event
from pricecrawl.workflows.vouching import mark

PREFIX = "pct_"
"""Marks a token as one, so that scanners of code and logs can tell what they found."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")


def issue(store: TokenStore, name: str, role: Role, *, by: str, now: datetime) -> str:
    """Make a token and return it: the only time that it can be seen.

    Raises:
        UsageProblem: the name is none, or was used before: events tell by name who did what.
    """
    if not _NAME.fullmatch(name):
        raise UsageProblem(
            f"{name!r} cannot name a token: use up to 100 letters, digits, '.', '_', '@' and '-'."
        )
    token = PREFIX + secrets.token_urlsafe(32)
    with store.begin() as tx:
        if store.get(tx, name) is not None:
            raise UsageProblem(
                f"a token {name} exists or existed; choose another name, for events tell by it who did what."
            )
        store.add(tx, name, role.value, token, now=now)
        store.append(tx, [_changed(name, "added", role.value, by, now, mark=mark(digest_of(token)))])
    return token


def revoke(store: TokenStore, name: str, *, by: str, now: datetime) -> None:
    """Make a token worthless from now on.

    Raises:
        UsageProblem: there is no such token, or it is revoked already.
    """
    with store.begin() as tx:
        row = store.get(tx, name)
        if row is None:
            raise UsageProblem(f"there is no token {name}; `pricecrawl tokens list` shows all.")
        if row.revoked_at is not None:
            raise UsageProblem(f"token {name} was revoked on {row.revoked_at:%Y-%m-%d %H:%M} UTC already.")
        store.revoke(tx, name, now=now)
        store.append(tx, [_changed(name, "revoked", row.role, by, now)])


def _changed(name: str, change: str, role: str, by: str, now: datetime, **more: str) -> Event:
    return event(
        EventType.ACCESS_CHANGED,
        f"token:{name}",
        {"name": name, "change": change, "role": role, "by": by, **more},
        now=now,
        correlation=f"token:{name}",
        producer="operations",
        key=change,
    )
