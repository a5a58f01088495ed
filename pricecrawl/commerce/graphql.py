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
    first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
    extensions = first.get("extensions")
    code = str(extensions.get("code", "")) if isinstance(extensions, dict) else ""
    message = str(first.get("message", ""))[:300]
    if code == "THROTTLED" or message == "Throttled":
        return Throttled(_restored(body))
    if code in _CRASHED:
        return Unknown(f"graphql: {code}")
    return Rejected(code.lower() or "graphql_error", message)


def _restored(body: dict[str, Any]) -> float | None:
    """Seconds until a cost bucket holds what the call asks for; None where it does not say."""
    try:
        cost = body["extensions"]["cost"]
        status = cost["throttleStatus"]
        missing = Decimal(cost["requestedQueryCost"]) - Decimal(status["currentlyAvailable"])
        return max(0.0, float(missing / Decimal(status["restoreRate"])))
    except (KeyError, TypeError, ArithmeticError):
        return None
