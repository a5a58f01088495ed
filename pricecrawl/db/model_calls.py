"""The record of calls to models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import func, insert, select

from pricecrawl.db.sql import chunks, storable
from pricecrawl.db.store import Store
from pricecrawl.db.tables import candidate_review, model_call
from pricecrawl.gateway.calls import ModelCall, Purpose


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

    def verdicts(self, purpose: Purpose, correlations: Sequence[str]) -> dict[str, bool]:
        """The last answered verification of each: whether the model agreed."""
        found: dict[str, bool] = {}
        columns = (model_call.c.correlation_id, model_call.c.answer)
        with self.engine.connect() as conn:
            for some in chunks(list(correlations)):
                query = select(*columns).where(
                    model_call.c.purpose == purpose.value,
                    model_call.c.outcome == "ok",
                    model_call.c.correlation_id.in_(some),
                )
                for row in conn.execute(query.order_by(model_call.c.id)):
                    found[row.correlation_id] = bool((row.answer or {}).get("agrees"))
        return found

    def confirmed(self, observations: Sequence[int]) -> set[int]:
        """Those of the observations that a person confirmed a candidate of."""
        found: set[int] = set()
        with self.engine.connect() as conn:
            for some in chunks(list(observations)):
                query = select(candidate_review.c.observation_id).where(
                    candidate_review.c.status == "approved", candidate_review.c.observation_id.in_(some)
                )
                found.update(conn.execute(query).scalars())
        return found

    def count(self) -> int:
        """How many calls were ever made."""
        with self.engine.connect() as conn:
            return int(conn.execute(select(func.count()).select_from(model_call)).scalar_one())
