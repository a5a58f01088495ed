"""Decisions that wait to be published, made by the real way there: catalogue, crawl, match, price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from pricecrawl.db.events import verify_chain
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.publications import PublicationStore
from pricecrawl.db.tables import dead_letter, price_decision, publication, sku
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.pricing.policy import read_policy
from pricecrawl.pricing.ports import CommerceTarget, Placement
from pricecrawl.workflows import policies, publish
from pricecrawl.workflows.publisher import Next, Publisher, Timings
from tests.factories import NOON, an_observation
from tests.workflows.shelf import Clock
from tests.workflows.street import NOW, Street

SERVICE = Principal("publisher-1", Role.PUBLISHER)
QUICK = Timings(lease=timedelta(seconds=120), write_timeout=4.0, patience=timedelta(minutes=10))


def gtin(number: int) -> str:
    """A valid GTIN-13 of the range that GS1 keeps for examples."""
    body = f"952{number:09d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return f"{body}{-total % 10}"


@dataclass
class Stall:
    """A street whose SKUs are decided and published."""

    street: Street
    target: CommerceTarget
    clock: Clock | Callable[[], datetime] = field(default_factory=Clock)
    currency: str = "EUR"
    tax_basis: str = "incl"
    owner: str = "publisher-a"
    timings: Timings = QUICK
    more: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> PublicationStore:
        return PublicationStore(self.street.engine)

    def publisher(self, owner: str | None = None, **more: Any) -> Publisher:
        return Publisher(
            store=self.store,
            placements={self.target.name: Placement(self.target, **self.places)},
            by=more.pop("by", SERVICE),
            owner=owner or self.owner,
            timings=more.pop("timings", self.timings),
            **more,
        )

    def open_breaker(self, canary_min_batch: int = 100_000) -> None:
        """A policy under which everything may move at once."""
        body = {
            "version": "all-at-once",
            "valid_from": "2026-01-01",
            "default": {"breaker_min_moves": 100_000, "canary_min_batch": canary_min_batch},
        }
        store = PolicyStore(self.street.engine)
        policies.propose(store, read_policy(body), by="ann", now=NOON)
        policies.approve(store, "all-at-once", by="bob", reason="a test", now=NOON)

    def decide(
        self, prices: Mapping[str, tuple[Decimal | str, Decimal | str]], *, at: datetime = NOON
    ) -> dict[str, str]:
        """Decision ids by SKU, for (our price, the market's)."""
        lines = [
            "sku,name,brand,category,gtin,mpn,pack,size,currency,country,tax_basis,current_price,protected,tier"
        ]
        costs = ["sku,cogs,fulfilment,payment,map_price,regulatory_floor,valid_from"]
        seen = []
        for number, (name, (current, market)) in enumerate(sorted(prices.items()), 1):
            code = gtin(abs(hash_of(name)) % 10**8)
            lines.append(
                f"{name},Kettle {name} 1 l,Brewster,kettles,{code},,1,1 l,{self.currency},DE,"
                f"{self.tax_basis},{current},no,B"
            )
            costs.append(f"{name},1.00,0.10,0.10,,,2026-01-01")
            base = an_observation(f"k-{name}", str(market), currency=self.currency)
            values: dict[str, Any] = {
                "name": f"Kettle {name} 1 l",
                "gtin": f"0{code}",
                "observed_at": at,
                "tax_basis": type(base.tax_basis)(self.tax_basis),
            }
            seen.append(replace(base, **values))
            del number
        self.street.catalogue("\n".join(lines) + "\n", "\n".join(costs) + "\n", now=at)
        self.street.save(*seen, at=at)
        self.street.match(now=at + timedelta(seconds=5))
        self.street.price(*sorted(prices), now=at + timedelta(minutes=20))
        return {name: self.street.decision(name).decision_id for name in prices}

    def one(self, current: str = "20.00", market: str = "19.40", name: str = "K-7") -> str:
        """One approved decision; the shop has the price it goes out from."""
        if hasattr(self.target, "put"):
            self.target.put(name, current)
        of = self.decide({name: (current, market)})[name]
        assert self.row(price_decision, decision_id=of).status == "APPROVED"
        return of

    def publish(self, decision: str, pub: Publisher | None = None) -> Next:
        """All the way, on the stall's own clock."""
        pub = pub or self.publisher()
        of = publish.request(pub, decision, self.target.name, now=self.clock())
        return self.run(of, pub)

    def run(self, of: str, pub: Publisher | None = None) -> Next:
        assert isinstance(self.clock, Clock)
        return publish.run(pub or self.publisher(), of, clock=self.clock, sleep=self.clock.sleep)

    def row(self, table: Any, **where: Any) -> Any:
        return self.street.rows(table, **where)[0]

    def publication(self, decision: str) -> Any:
        return self.row(publication, decision_id=decision)

    def decision(self, of: str) -> Any:
        return self.row(price_decision, decision_id=of)

    def current(self, name: str) -> Decimal:
        with self.street.engine.connect() as conn:
            price: Decimal = conn.execute(select(sku.c.current_price).where(sku.c.sku == name)).scalar_one()
        return price

    def events(self, decision: str) -> list[str]:
        """Types of the events of a decision's publication, in order."""
        of = self.publication(decision).publication_id
        return self.street.events(f"publication:{of}")

    def letters(self, kind: str | None = None) -> list[Any]:
        rows = self.street.rows(dead_letter)
        return [row for row in rows if row.replayed_at is None and kind in {None, row.kind}]

    def unbroken(self) -> bool:
        with self.street.engine.connect() as conn:
            return verify_chain(conn) == []


def hash_of(name: str) -> int:
    """The same number for a name in every process."""
    return int.from_bytes(name.encode()[-6:], "big")


__all__ = ["NOW", "QUICK", "SERVICE", "Stall", "gtin"]
