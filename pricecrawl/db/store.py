"""What every store of the pricing side has: one writing transaction, with the events in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from sqlalchemy import Connection, Engine

from pricecrawl.db.events import append_events
from pricecrawl.domain.events import Event


class Store:
    """A side of the database. Methods that take `tx` write, and only inside `begin()`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def begin(self) -> AbstractContextManager[Connection]:
        """One writing transaction: all of it or nothing."""
        return self.engine.begin()

    def append(self, tx: Connection, events: Sequence[Event]) -> None:
        """Append events to their chains, in the transaction that changes what they tell of."""
        append_events(tx, events)
