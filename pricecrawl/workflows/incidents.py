"""Something in a shop that nobody of ours did: written down once, and shown until somebody looks."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from pricecrawl.domain.events import EventType
from pricecrawl.pricing.ports import PriceState
from pricecrawl.workflows.publisher import Fields, Publisher, state_json, told

LETTER = "incident"


def left(row: Fields) -> Decimal:
    """The price that stands in the shop with our consent: what we wrote, or took over since."""
    taken = (row["outcome"] or {}).get("adopted")
    amount: Decimal = row["amount"]
    return amount if taken is None else Decimal(taken["amount"])


def close(pub: Publisher, tx: Any, target: str, sku: str, *, scope: str | None = None, now: datetime) -> int:
    """Somebody has looked: close every incident about a SKU's price in a shop; returns how many."""
    letters = pub.letters.of_price(tx, LETTER, target, sku, scope)
    for letter in letters:
        pub.letters.close(tx, letter["id"], now=now)
    return len(letters)


def open_since(pub: Publisher, conn: Any, row: Fields) -> str | None:
    """A later publication of the price that an incident is open about: what the shop has is known of."""
    later = pub.store.of_price(conn, row["target"], row["sku"], row["scope"], after=row["sequence"])
    names = {other["publication_id"] for other in later}
    for letter in pub.letters.of_price(conn, LETTER, row["target"], row["sku"], row["scope"]):
        if letter["publication_id"] in names:
            return str(letter["publication_id"])
    return None


def foreign_write(pub: Publisher, tx: Any, row: Fields, state: PriceState, *, now: datetime) -> None:
    """The shop has a price that is not the one we left there."""
    detail = f"the shop has {state.amount}, ours is {left(row)}"
    incident(pub, tx, row, "foreign_write", detail=detail, state=state, now=now)


def incident(
    pub: Publisher, tx: Any, row: Fields, what: str, *, detail: str, state: PriceState, now: datetime
) -> bool:
    """Raise an incident about a publication, unless the very same is open; True if it is new."""
    found = state_json(state)
    payload = {"publication_id": row["publication_id"], "what": what, "found": found["amount"]}
    if any(letter["payload"] == payload for letter in pub.letters.of(tx, LETTER, row["decision_id"])):
        return False
    pub.letters.add(tx, LETTER, row["decision_id"], payload, f"{row['sku']}: {detail}", attempts=1, now=now)
    raised = told(
        EventType.INCIDENT_RAISED, row, now=now, by=pub.by.name, what=what, detail=detail, found=found
    )
    pub.store.append(tx, [raised])
    return True
