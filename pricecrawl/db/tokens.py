"""Bearer tokens of the HTTP interface. Only a digest is stored: a copy of the database opens nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from pricecrawl.db.store import Store
from pricecrawl.db.tables import api_token


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token without its secret. `role` is a value of `domain.roles.Role`."""

    name: str
    role: str
    created_at: datetime
    revoked_at: datetime | None


_COLUMNS = (api_token.c.name, api_token.c.role, api_token.c.created_at, api_token.c.revoked_at)


def digest_of(token: str) -> str:
    """What is stored of a token: it is 256 random bits, so one round of SHA-256 hides it."""
    return f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"


class TokenStore(Store):
    """Reading and writing of `api_token`."""

    def by_secret(self, token: str) -> TokenRow | None:
        """The token, revoked or not; None where it is unknown."""
        query = select(*_COLUMNS).where(api_token.c.token_digest == digest_of(token))
        with self.engine.connect() as conn:
            row = conn.execute(query).one_or_none()
        return None if row is None else TokenRow(*row)

    def all(self) -> Sequence[TokenRow]:
        """Every token ever made, by name."""
        with self.engine.connect() as conn:
            return [TokenRow(*row) for row in conn.execute(select(*_COLUMNS).order_by(api_token.c.name))]

    def get(self, conn: Connection, name: str) -> TokenRow | None:
        """The token of that name."""
        row = conn.execute(select(*_COLUMNS).where(api_token.c.name == name)).one_or_none()
        return None if row is None else TokenRow(*row)

    def add(self, tx: Connection, name: str, role: str, token: str, *, now: datetime) -> None:
        """Store a new one; its name must be free."""
        tx.execute(
            insert(api_token).values(name=name, role=role, token_digest=digest_of(token), created_at=now)
        )

    def revoke(self, tx: Connection, name: str, *, now: datetime) -> None:
        """Make a token worthless from now on."""
        tx.execute(update(api_token).where(api_token.c.name == name).values(revoked_at=now))
