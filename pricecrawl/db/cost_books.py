"""A running sum over every cost, told by each event of the catalogue.

The sum of a SHA-256 per row does not depend on their order, and what an import takes away and puts in
changes it by that alone: so each import can vouch for the whole table after having read its own SKUs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, select

from pricecrawl.db.events import lock_chains
from pricecrawl.db.sql import among, chunks
from pricecrawl.db.tables import audit_event, sku_cost

AGGREGATE = "catalogue"
STATE = "costs_state"
"""Key of the payload."""

_MODULUS = 1 << 256
_FACTS = [
    *(sku_cost.c.sku, sku_cost.c.currency, sku_cost.c.cogs, sku_cost.c.fulfilment, sku_cost.c.payment),
    *(sku_cost.c.map_price, sku_cost.c.regulatory_floor, sku_cost.c.map_required),
    *(sku_cost.c.regulatory_required, sku_cost.c.valid_from, sku_cost.c.valid_to, sku_cost.c.imported_at),
]


@dataclass(slots=True)
class Books:
    """The sum as hex digits, once what changed it has been written."""

    state: str = ""


@contextmanager
def kept(tx: Connection, skus: Sequence[str]) -> Iterator[Books]:
    """Follow what the block does to the costs of `skus`, and to no others; nobody else does meanwhile."""
    lock_chains(tx, [AGGREGATE])
    books, known = Books(), last(tx)
    before = 0 if known is None else _of(tx, skus)
    yield books
    # The first event that tells of a sum reads the whole table.
    after = total(tx) if known is None else (int(known, 16) - before + _of(tx, skus)) % _MODULUS
    books.state = f"{after:064x}"


def last(conn: Connection) -> str | None:
    """The sum that the newest event of the catalogue tells of; None before there was one."""
    log = audit_event.c
    query = select(log.payload).where(log.aggregate == AGGREGATE).order_by(log.aggregate_seq.desc()).limit(1)
    told = conn.execute(query).scalar_one_or_none()
    return None if told is None else told.get(STATE)


def total(conn: Connection) -> int:
    """The sum over every cost that is there."""
    found = 0
    for row in conn.execute(select(*_FACTS), execution_options={"yield_per": 1000}):
        found += _number(row)
    return found % _MODULUS


def _of(conn: Connection, skus: Sequence[str]) -> int:
    found = 0
    for some in chunks(sorted(set(skus))):
        for row in conn.execute(select(*_FACTS).where(among(conn, sku_cost.c.sku, some))):
            found += _number(row)
    return found % _MODULUS


def _number(row: Row[Any]) -> int:
    text = json.dumps(list(map(_plain, row)), separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def _plain(value: Any) -> Any:
    """The same for a value from either database."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return value.isoformat() if isinstance(value, datetime) else value
