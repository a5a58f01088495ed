"""The mass-change breaker where prices are written: what moved in the window, and who goes back to review.

Pricing counts what it decides; this counts what was written and what is about to be, so that neither prices
decided in quiet portions nor prices asked for one by one get past it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.publications import PublicationStore
from pricecrawl.pricing.breaker import Moved, tripped
from pricecrawl.pricing.findings import Finding
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows.decision_rows import review_requested
from pricecrawl.workflows.policies import in_force

Fields = Mapping[str, Any]


def default_settings(store: PublicationStore, tx: Any, now: datetime) -> Settings:
    """What the policy in force says of everything; the built-in settings where it cannot be read."""
    policy = in_force(PolicyStore(store.engine), tx, now)
    return policy.default if policy else Settings()


def too_much(
    store: PublicationStore, tx: Any, rows: Iterable[Fields], settings: Settings, *, now: datetime
) -> Finding | None:
    """The breaker over what was written in the window, what waits to be, and `rows` (decisions), by currency.

    Every move of a SKU adds to the value that moved; the SKU counts once.
    """
    moves: dict[str, dict[str, Decimal]] = {}

    def add(currency: str, sku: str, before: Decimal | None, after: Decimal | None) -> None:
        if before is not None and after is not None and before != after:
            moved = moves.setdefault(currency, {})
            moved[sku] = moved.get(sku, Decimal(0)) + abs(after - before)

    counted = set()
    for row in store.moved_since(tx, now - timedelta(minutes=settings.breaker_window_minutes)):
        counted.add(row.decision_id)
        read = (row.pre_state or {}).get("amount")
        add(row.currency, row.sku, row.current_price if read is None else Decimal(read), row.amount)
    for made in rows:
        if made["decision_id"] not in counted:
            add(made["currency"], made["sku"], made["current_price"], made["proposed_price"])
    if all(len(moved) < max(settings.breaker_min_moves, 1) for moved in moves.values()):
        return None
    totals = PricingStore(store.engine).totals(tx)
    for currency, moved in sorted(moves.items()):
        count, total = totals.get(currency, (0, Decimal(0)))
        if found := tripped(Moved(len(moved), sum(moved.values(), Decimal(0)), count, total), settings):
            return found
    return None


def spoken_for(store: PublicationStore, tx: Any, made: Fields) -> bool:
    """Whether a person stands behind a decision: they approved it, or asked for it as a rollback."""
    return made["decision_reason"] == "rollback" or bool(store.approvals(tx, made["decision_id"]))


def recall(store: PublicationStore, tx: Any, made: Fields, finding: Finding, *, now: datetime) -> None:
    """Send an approved decision to review."""
    of = made["decision_id"]
    expires = now + timedelta(hours=default_settings(store, tx, now).review_hours)
    becomes = advance(made["status"], State.REVIEW_REQUIRED, what=f"decision {of}")
    store.move_decision(tx, of, made["status"], becomes.value, now=now)
    prices = PricingStore(store.engine)
    prices.recall(tx, [of], finding.plain(), verdict="REVIEW", expires_at=expires)
    key = f"recalled {now.isoformat()}"
    prices.append(tx, [review_requested(of, made["sku"], [finding], expires, now=now, key=key)])
