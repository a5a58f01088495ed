"""The pool: proxies, how well each does, and which of them are in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    and_,
    case,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from pricecrawl.db.tables import proxy
from pricecrawl.domain.egress import FAILURES_OUT, Proxy
from pricecrawl.domain.errors import UsageProblem

_ERROR_LENGTH = 500


@dataclass(frozen=True, slots=True)
class ProxyHealth:
    """A proxy with its record. `failures` counts since it was added or brought back; times are UTC.

    `average_ms` is the mean time to an answer, None before the first.
    """

    proxy: Proxy
    active: bool
    successes: int
    failures: int
    average_ms: int | None
    last_used_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None


class ProxyStore:
    """Reading and writing of `proxy`. Every call is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, new: Proxy) -> int:
        """Add a proxy, in use from now on; its id is given, that of `new` is not looked at.

        Raises:
            UsageProblem: it is in the pool already.
        """
        values = {
            "host": new.host,
            "port": new.port,
            "protocol": new.protocol,
            # Not null: a database takes two rows without a name for different ones.
            "username": new.username or "",
            "password": new.password,
            "country": new.country,
        }
        try:
            with self.engine.begin() as conn:
                return int(conn.execute(insert(proxy).values(values).returning(proxy.c.id)).scalar_one())
        except IntegrityError:
            raise UsageProblem(f"{new} with this user name is in the pool already.") from None

    def all(self) -> list[ProxyHealth]:
        """Every proxy with its record, by id."""
        with self.engine.connect() as conn:
            return [_health(row) for row in conn.execute(select(proxy).order_by(proxy.c.id))]

    def active(self, country: str) -> list[Proxy]:
        """Proxies of a market that are in use, the one that rested longest first."""
        query = (
            select(proxy)
            .where(proxy.c.is_active, proxy.c.country == country)
            .order_by(case((proxy.c.last_used_at.is_(None), 0), else_=1), proxy.c.last_used_at, proxy.c.id)
        )
        with self.engine.connect() as conn:
            return [_health(row).proxy for row in conn.execute(query)]

    def restore(self, names: Sequence[str]) -> list[int]:
        """Bring proxies back with a clean slate; `names` are ids or host:port. Gives their ids.

        Raises:
            UsageProblem: one of them is not in the pool.
        """
        change = {"is_active": True, "failure_count": 0, "last_error": None}
        return self._change(names, change)

    def disable(self, names: Sequence[str]) -> list[int]:
        """Take proxies out of use; `names` are ids or host:port. Gives their ids.

        Raises:
            UsageProblem: one of them is not in the pool.
        """
        return self._change(names, {"is_active": False})

    def remove(self, names: Sequence[str]) -> list[int]:
        """Forget proxies with their record. Gives their ids.

        Raises:
            UsageProblem: one of them is not in the pool.
        """
        with self.engine.begin() as conn:
            gone = [number for name in names for number in _numbers(conn, name)]
            conn.execute(delete(proxy).where(proxy.c.id.in_(gone)))
        return gone

    def used(self, number: int, now: datetime) -> None:
        """A run leaves through it from now on; the next run takes another."""
        with self.engine.begin() as conn:
            conn.execute(update(proxy).where(proxy.c.id == number).values(last_used_at=now))

    def succeeded(self, number: int, answers: int, total_ms: float, now: datetime) -> None:
        """So many answers came through, in so many milliseconds together."""
        if answers < 1:
            return
        with self.engine.begin() as conn:
            row = conn.execute(select(proxy).where(proxy.c.id == number).with_for_update()).one_or_none()
            if row is None:
                return
            counted = row.success_count if row.avg_response_ms is not None else 0
            known = (row.avg_response_ms or 0) * counted
            change = {
                "success_count": row.success_count + answers,
                "avg_response_ms": round((known + total_ms) / (counted + answers)),
                "last_used_at": now,
            }
            conn.execute(update(proxy).where(proxy.c.id == number).values(change))

    def failed(self, number: int, error: str, now: datetime) -> bool:
        """One failure more; True if this one took the proxy out of use."""
        count = proxy.c.failure_count + 1
        with self.engine.begin() as conn:
            before = conn.execute(
                select(proxy.c.is_active).where(proxy.c.id == number).with_for_update()
            ).scalar_one_or_none()
            change = update(proxy).where(proxy.c.id == number)
            conn.execute(
                change.values(
                    failure_count=count,
                    last_failure_at=now,
                    last_used_at=now,
                    last_error=error[:_ERROR_LENGTH],
                    is_active=and_(proxy.c.is_active, count < FAILURES_OUT),
                )
            )
            after = conn.execute(select(proxy.c.is_active).where(proxy.c.id == number)).scalar_one_or_none()
        return bool(before) and not after

    def _change(self, names: Sequence[str], values: Mapping[str, object]) -> list[int]:
        with self.engine.begin() as conn:
            changed: list[int] = []
            for name in names:
                found = _numbers(conn, name)
                conn.execute(update(proxy).where(proxy.c.id.in_(found)).values(values))
                changed += found
        return changed


def _numbers(conn: Connection, name: str) -> list[int]:
    found = list(conn.execute(select(proxy.c.id).where(_is(name)).order_by(proxy.c.id)).scalars())
    if not found:
        raise UsageProblem(f"There is no proxy {name!r}: `pricecrawl proxies list` shows ids and addresses.")
    return found


def _is(name: str) -> ColumnElement[bool]:
    if name.isdigit():
        return proxy.c.id == int(name)
    host, _, port = name.rpartition("://")[2].rpartition(":")
    return and_(proxy.c.host == host.strip("[]"), proxy.c.port == (int(port) if port.isdigit() else -1))


def _health(row: Row[Any]) -> ProxyHealth:
    return ProxyHealth(
        proxy=Proxy(
            row.id, row.host, row.port, row.protocol, row.country, row.username or None, row.password or None
        ),
        active=row.is_active,
        successes=row.success_count,
        failures=row.failure_count,
        average_ms=row.avg_response_ms,
        last_used_at=row.last_used_at,
        last_failure_at=row.last_failure_at,
        last_error=row.last_error,
    )
