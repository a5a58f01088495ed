"""Requests that were asked for under a key: asked twice, they are done once.

A key belongs to a principal and to the digest of the first request that came with it. Its row is in one
of three states: being worked on (no status), open again (status 0: the last attempt gave nothing that
stands), or answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import and_, or_, select, update

from pricecrawl.db.sql import upsert
from pricecrawl.db.store import Store
from pricecrawl.db.tables import idempotency_key

ABANDONED = timedelta(minutes=10)
"""After so long a request without an answer is taken for one whose process died."""

_OPEN = 0


class Claim(StrEnum):
    """What a key says to a request."""

    OURS = "ours"
    ANSWERED = "answered"
    BUSY = "busy"
    OTHER_REQUEST = "other_request"


@dataclass(frozen=True, slots=True)
class Claimed:
    """The verdict; `status` and `body` are the stored answer of an ANSWERED one."""

    claim: Claim
    status: int = 0
    body: str = ""


class IdempotencyStore(Store):
    """Reading and writing of `idempotency_key`."""

    def claim(self, key: str, principal: str, digest: str, *, now: datetime) -> Claimed:
        """Take the key for this request, or say why not. Of two at the same time one gets it."""
        with self.begin() as tx:
            added = tx.execute(
                upsert(tx, idempotency_key)
                .values(key=key, principal=principal, request_digest=digest, created_at=now)
                .on_conflict_do_nothing(index_elements=[idempotency_key.c.key, idempotency_key.c.principal])
                .returning(idempotency_key.c.key)
            ).one_or_none()
            if added is not None:
                return Claimed(Claim.OURS)
            mine = and_(idempotency_key.c.key == key, idempotency_key.c.principal == principal)
            row = tx.execute(select(idempotency_key).where(mine)).one()
            if row.request_digest != digest:
                return Claimed(Claim.OTHER_REQUEST)
            if row.status:
                return Claimed(Claim.ANSWERED, row.status, row.response)
            free = or_(idempotency_key.c.status == _OPEN, idempotency_key.c.created_at <= now - ABANDONED)
            taken = tx.execute(
                update(idempotency_key).where(mine, free).values(status=None, created_at=now)
            ).rowcount
        return Claimed(Claim.OURS if taken else Claim.BUSY)

    def answer(self, key: str, principal: str, status: int, body: str) -> None:
        """Keep the answer; every later request with this key gets it."""
        self._set(key, principal, status=status, response=body)

    def reopen(self, key: str, principal: str) -> None:
        """Let the same request be tried again under the key: this attempt changed nothing that stands."""
        self._set(key, principal, status=_OPEN, response=None)

    def _set(self, key: str, principal: str, **values: object) -> None:
        with self.begin() as tx:
            tx.execute(
                update(idempotency_key)
                .where(idempotency_key.c.key == key, idempotency_key.c.principal == principal)
                .values(**values)
            )
