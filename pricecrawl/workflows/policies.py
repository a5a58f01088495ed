"""Which policy is in force, and how a new one gets there: nobody approves their own."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pricecrawl.db.policies import PolicyRow, PolicyStore
from pricecrawl.domain.errors import PricecrawlError, Settled, UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.domain.said import same_name
from pricecrawl.pricing.policy import BUILTIN, Policy, Settings, policy_body, read_overrides, read_policy
from pricecrawl.workflows.events import event
from pricecrawl.workflows.vouching import body_digest

# It stands in addresses and ids, and before a `+` with a digest where a SKU has settings of its own.
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def load_file(path: Path) -> Policy:
    """A policy from a TOML file, or from a JSON file such as `price policy show` prints.

    Raises:
        UsageProblem: naming the file, and the line or key at fault.
    """
    is_json = path.suffix.casefold() == ".json"
    try:
        text = path.read_text(encoding="utf-8")
        body = (json.loads if is_json else tomllib.loads)(text, parse_float=Decimal)
    except OSError as problem:
        raise UsageProblem(
            f"{path} cannot be read ({problem.strerror}): name an existing policy file."
        ) from None
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise UsageProblem(f"{path} is no {'JSON' if is_json else 'TOML'}: {problem}.") from None
    if not isinstance(body, dict):
        raise UsageProblem(f"{path} is no policy: it must be a table of settings.")
    return read_policy(body, place=str(path))


def in_force(store: PolicyStore, tx: Any, now: datetime) -> Policy | None:
    """The policy that holds at `now`; the built-in one, which is then stored, where there is none.

    None where a stored one cannot be read: then nothing may be priced.
    """
    row = store.in_force(tx, now)
    if row is None:
        _store_builtin(store, tx, now)
        return BUILTIN
    try:
        return read_policy(row.body, place=f"policy {row.version}")
    except PricecrawlError:
        return None


def overrides_of(body: Any, sku: str) -> dict[str, Any] | None:
    """Stored settings of one SKU; None where they cannot be read."""
    try:
        return read_overrides(body, place=f"settings of {sku}")
    except PricecrawlError:
        return None


def settings_of(
    policy: Policy | None, sku: str, category: str, overrides: Any | None
) -> tuple[Settings | None, str]:
    """Settings of a SKU and the version that names them; None where they cannot be read.

    Settings stored for the SKU alone are part of the version: `2026-02+<digest>`.
    """
    if policy is None:
        return None, "unavailable"
    if not overrides:
        return policy.resolve(sku, category), policy.version
    own = overrides_of(overrides, sku)
    digest = hashlib.sha256(json.dumps(overrides, sort_keys=True).encode()).hexdigest()[:12]
    settings = None if own is None else policy.resolve(sku, category, own)
    return settings, f"{policy.version}+{digest}"


def propose(store: PolicyStore, policy: Policy, *, by: str, now: datetime) -> None:
    """Store a version that somebody else must approve before it holds.

    Raises:
        UsageProblem: the version is there already, or is no word that can name it everywhere.
    """
    if not _VERSION.fullmatch(policy.version):
        raise UsageProblem(
            f"{policy.version!r} cannot name a version: use letters, digits, '.', '_' and '-', "
            "such as 2026-02."
        )
    row = PolicyRow(policy.version, policy_body(policy), by, now, policy.valid_from, None, None)
    with store.begin() as tx:
        if not store.add(tx, row):
            raise UsageProblem(
                f"policy {policy.version} exists already; a changed policy needs a version of its own."
            )
        facts = {"valid_from": policy.valid_from, "sha256": body_digest(row.body)}
        store.append(tx, [_changed(policy.version, "proposed", by, now, **facts)])


def approve(store: PolicyStore, version: str, *, by: str, reason: str, now: datetime) -> None:
    """Put a proposed version in force from its start on.

    Raises:
        UsageProblem: there is no such version, it is settled already, or `by` is its author.
    """
    with store.begin() as tx:
        row = _proposed(store, tx, version)
        if same_name(row.author, by):
            raise UsageProblem(f"{by} wrote policy {version}: somebody else must approve it.")
        store.approve(tx, version, by=by, now=now)
        store.append(tx, [_changed(version, "approved", by, now, reason=reason)])


def reject(store: PolicyStore, version: str, *, by: str, reason: str, now: datetime) -> None:
    """Turn a proposed version down for good; its author may take it back so.

    Raises:
        UsageProblem: there is no such version, or it is settled already.
    """
    with store.begin() as tx:
        _proposed(store, tx, version)
        store.reject(tx, version, by=by, now=now)
        store.append(tx, [_changed(version, "rejected", by, now, reason=reason)])


def standing(store: PolicyStore, version: str, *, now: datetime) -> str:
    """What an approved version means from now on, in one sentence: a later one may stand before it."""
    with store.engine.connect() as conn:
        row, holds = store.get(conn, version), store.in_force(conn, now)
    if row is None or row.approved_at is None:
        return f"policy {version} is not in force."
    if row.valid_from > now:
        return f"policy {version} holds from {row.valid_from:%Y-%m-%d} on."
    if holds is not None and holds.version != version:
        return (
            f"policy {version} does not hold: {holds.version} starts later ({holds.valid_from:%Y-%m-%d}) "
            "and stands before it; propose a version that starts after that."
        )
    return f"policy {version} is in force now."


def _proposed(store: PolicyStore, tx: Any, version: str) -> PolicyRow:
    row = store.get(tx, version, lock=True)
    if row is None:
        raise UsageProblem(f"there is no policy {version}; `pricecrawl price policy list` shows all.")
    if row.approved_at is not None:
        raise Settled(f"policy {version} was approved by {row.approved_by} already.")
    if row.rejected_at is not None:
        raise Settled(f"policy {version} was rejected by {row.rejected_by}: propose another version.")
    return row


def _store_builtin(store: PolicyStore, tx: Any, now: datetime) -> None:
    row = PolicyRow(
        version=BUILTIN.version,
        body=policy_body(BUILTIN),
        author="pricecrawl",
        created_at=now,
        valid_from=BUILTIN.valid_from,
        approved_by="pricecrawl",
        approved_at=now,
    )
    if store.add(tx, replace(row)):
        sha256 = body_digest(row.body)
        store.append(tx, [_changed(BUILTIN.version, "installed", "pricecrawl", now, sha256=sha256)])


def _changed(version: str, what: str, by: str, now: datetime, **more: Any) -> Any:
    payload = {"version": version, "change": what, "by": by}
    payload |= {
        key: value.isoformat() if isinstance(value, datetime) else value for key, value in more.items()
    }
    return event(
        EventType.POLICY_CHANGED,
        f"policy:{version}",
        payload,
        now=now,
        correlation=f"policy:{version}",
        producer="pricing",
        key=f"{what} {now.isoformat()}",
    )
