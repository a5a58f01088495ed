"""Permission records: which shop agreed to what, and as whom a source may therefore go out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, insert, select, update

from pricecrawl.db.events import append_events
from pricecrawl.db.tables import permission_record, source
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.identity import IdentityMode, PermissionRecord


@dataclass(frozen=True, slots=True)
class StoredPermission:
    """A permission record as the table has it, with who wrote it down and when."""

    id: int
    record: PermissionRecord
    recorded_by: str
    recorded_at: datetime


class PermissionStore:
    """Reading and writing of `permission_record`. Every call is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def record(self, permission: PermissionRecord, *, by: str, now: datetime) -> StoredPermission:
        """Store what a shop agreed to.

        Raises:
            UsageProblem: the source does not exist, a text is empty or the date lies in the future.
        """
        for name in ("agreed_by", "how", "purpose"):
            if not getattr(permission, name).strip():
                raise UsageProblem(f"A permission needs --{name.replace('_', '-')}: it is empty.")
        if permission.agreed_at > now:
            raise UsageProblem("A permission cannot have been given in the future: check --agreed-at.")
        values = {
            "source": permission.source,
            "agreed_by": permission.agreed_by.strip(),
            "agreed_at": permission.agreed_at,
            "how": permission.how.strip(),
            "purpose": permission.purpose.strip(),
            "recorded_by": by,
            "recorded_at": now,
        }
        with self.engine.begin() as conn:
            _require(conn, permission.source)
            number = int(
                conn.execute(
                    insert(permission_record).values(values).returning(permission_record.c.id)
                ).scalar_one()
            )
            told = {
                "permission": number,
                **{name: values[name] for name in ("agreed_by", "how", "purpose")},
                "agreed_at": permission.agreed_at.isoformat(),
            }
            _tell(conn, permission.source, {"change": "permission recorded", **told, "by": by}, now)
        return StoredPermission(number, permission, by, now)

    def revoke(self, slug: str, *, by: str, reason: str, now: datetime) -> int:
        """End every permission of a source, and its browser-like identity with them; how many ended.

        Raises:
            UsageProblem: the source does not exist.
        """
        with self.engine.begin() as conn:
            _require(conn, slug)
            ended = conn.execute(
                update(permission_record)
                .where(permission_record.c.source == slug, permission_record.c.revoked_at.is_(None))
                .values(revoked_at=now)
            ).rowcount
            conn.execute(
                update(source).where(source.c.slug == slug).values(identity_mode=IdentityMode.DECLARED.value)
            )
            if ended:
                payload = {"change": "permission revoked", "ended": ended, "by": by, "reason": reason}
                _tell(conn, slug, payload, now)
        return int(ended)

    def of(self, slug: str) -> list[StoredPermission]:
        """Every permission of a source, revoked ones too, newest first."""
        query = (
            select(permission_record)
            .where(permission_record.c.source == slug)
            .order_by(permission_record.c.id.desc())
        )
        with self.engine.connect() as conn:
            return [
                StoredPermission(
                    row.id,
                    PermissionRecord(
                        row.source, row.agreed_by, row.agreed_at, row.how, row.purpose, row.revoked_at
                    ),
                    row.recorded_by,
                    row.recorded_at,
                )
                for row in conn.execute(query)
            ]

    def live(self, slug: str, now: datetime) -> PermissionRecord | None:
        """The newest permission that is in force, or None."""
        return next((item.record for item in self.of(slug) if item.record.covers(slug, now)), None)

    def set_identity(self, slug: str, mode: IdentityMode, *, by: str, now: datetime) -> None:
        """As whom a source goes out from its next run on.

        Raises:
            UsageProblem: the source does not exist.
            Refused: browser-like is asked for, and no permission of the shop is in force.
        """
        if mode is IdentityMode.BROWSER_LIKE and self.live(slug, now) is None:
            with self.engine.connect() as conn:
                _require(conn, slug)
            raise Refused(
                f"{slug} has no permission record in force, so only our declared identity may be used; "
                f"`pricecrawl sources permit {slug}` stores what its owner agreed to."
            )
        with self.engine.begin() as conn:
            changed = conn.execute(
                update(source).where(source.c.slug == slug).values(identity_mode=mode.value)
            ).rowcount
            if not changed:
                _require(conn, slug)
            _tell(conn, slug, {"change": "identity", "identity_mode": mode.value, "by": by}, now)


def _require(conn: Connection, slug: str) -> None:
    if conn.execute(select(source.c.slug).where(source.c.slug == slug)).one_or_none() is None:
        raise UsageProblem(f"there is no source {slug}: `pricecrawl sources list` names them.")


def _tell(conn: Connection, slug: str, payload: Mapping[str, Any], now: datetime) -> None:
    event = Event(
        event_id=str(uuid4()),
        event_type=EventType.SOURCE_CHANGED,
        aggregate=f"source:{slug}",
        correlation_id=f"source:{slug}",
        causation_id=None,
        occurred_at=now,
        producer="operator",
        payload=dict(payload),
    )
    append_events(conn, [event])
