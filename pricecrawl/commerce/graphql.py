"""GraphQL over HTTP: a refusal, a throttle or a crash usually comes as HTTP 200 with `errors`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pricecrawl.commerce.http import Answer, Failure, answered
from pricecrawl.pricing.ports import Rejected, Throttled, Unknown

# The server failed at it: whether before or after it wrote, nobody can tell.
_CRASHED = {"INTERNAL_SERVER_ERROR", "INTERNAL_ERROR", "TIMEOUT", "SERVICE_UNAVAILABLE"}


def unwrap(answer: Answer | Failure) -> Answer | Failure:
    """An answer with its `data` as body, or what its `errors` mean."""
    if not isinstance(answer, Answer):
        return answer
    body = answer.body if isinstance(answer.body, dict) else {}
    errors = body.get("errors")
    if errors:
        return _failure(errors, body)
    if not isinstance(body.get("data"), dict):
        return Unknown("graphql: an answer without data")
    return Answer(answer.status, body["data"], answer.headers)


def data(answer: Answer | Failure) -> Any:
    """The `data` of a query, or TargetUnavailable."""
    return answered(unwrap(answer)).body


def _failure(errors: Any, body: dict[str, Any]) -> Failure:
    rows = [row for row in errors if isinstance(row, dict)] if isinstance(errors, list) else []
    codes, first = [_code(row) for row in rows], rows[0] if rows else {"message": errors}
    message = str(first.get("message", ""))[:300]
    if "THROTTLED" in codes or message == "Throttled":
        return Throttled(_restored(body))
    if crashed := _CRASHED.intersection(codes):
        return Unknown(f"graphql: {', '.join(sorted(crashed))}")
    if _ran(rows, body.get("data")):
        return Unknown(f"graphql: it failed while it answered: {message}")
    return Rejected(next(filter(None, codes), "graphql_error").lower(), message)


def _code(error: dict[str, Any]) -> str:
    extensions = error.get("extensions")
    return str(extensions.get("code", "")) if isinstance(extensions, dict) else ""


def _ran(errors: list[Any], answer: Any) -> bool:
    """Whether a mutation was carried out and only its answer is broken (GraphQL 2021, 7.1.2: `path`).

    An error further down than the mutation itself, or beside a part of the answer, came after it.
    """
    paths = [row.get("path") for row in errors]
    if any(isinstance(path, list) and len(path) > 1 for path in paths):
        return True
    return isinstance(answer, dict) and any(value is not None for value in answer.values())


def _restored(body: dict[str, Any]) -> float | None:
    """Seconds until a cost bucket holds what the call asks for; None where it does not say."""
    try:
        cost = body["extensions"]["cost"]
        status = cost["throttleStatus"]
        missing = Decimal(cost["requestedQueryCost"]) - Decimal(status["currentlyAvailable"])
        return max(0.0, float(missing / Decimal(status["restoreRate"])))
    except (KeyError, TypeError, ArithmeticError):
        return None
