"""The record of calls to models."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import func, insert, select

from pricecrawl.db.sql import storable
from pricecrawl.db.store import Store
from pricecrawl.db.tables import model_call
from pricecrawl.gateway.calls import ModelCall


@dataclass(frozen=True, slots=True)
class ModelUse:
    """How often one model was asked for one purpose; `cost` is the sum of what is known."""

    model: str
    purpose: str
    calls: int
    failed: int
    cost: Decimal


class ModelCallStore(Store):
    """Append-only; a gateway's recorder."""

    def record(self, call: ModelCall) -> None:
        """Keep one record."""
        with self.begin() as tx:
            tx.execute(
                insert(model_call).values(
                    correlation_id=call.correlation_id,
                    purpose=call.purpose.value,
                    source=call.source,
                    provider=call.provider,
                    model=call.model,
                    model_version=call.model_version[:200],
                    prompt_version=call.prompt_version,
                    prompt_digest=call.prompt_digest,
                    parameters=dict(call.parameters),
                    input_schema=dict(call.input_schema),
                    answer_schema=dict(call.answer_schema),
                    outcome=call.outcome.value,
                    attempts=call.attempts,
                    latency_ms=call.latency_ms,
                    input_tokens=call.input_tokens,
                    output_tokens=call.output_tokens,
                    cost=call.cost,
                    cost_currency=call.cost_currency,
                    answer=dict(call.answer) if call.answer is not None else None,
                    error=storable(call.error),
                    called_at=call.called_at,
                )
            )

    def use(self) -> list[ModelUse]:
        """Calls, failures and cost per model and purpose."""
        columns = (model_call.c.model, model_call.c.purpose, model_call.c.outcome, model_call.c.cost)
        found: dict[tuple[str, str], ModelUse] = {}
        with self.engine.connect() as conn:
            for row in conn.execute(select(*columns).order_by(model_call.c.id)):
                key = (row.model, row.purpose)
                old = found.get(key, ModelUse(row.model, row.purpose, 0, 0, Decimal(0)))
                found[key] = ModelUse(
                    row.model,
                    row.purpose,
                    old.calls + 1,
                    old.failed + (row.outcome != "ok"),
                    old.cost + (row.cost or 0),
                )
        return list(found.values())

    def count(self) -> int:
        """How many calls were ever made."""
        with self.engine.connect() as conn:
            return int(conn.execute(select(func.count()).select_from(model_call)).scalar_one())
