"""Who may do what over HTTP: one table, an endpoint a line. Nothing else decides.

Only the publisher, a service, writes a price; no role of a person does, the owner's neither. What a
person wrote is approved by somebody else: policy authors approve each other's policies, the service
that brings observations in reviews none, and a block can be lifted by nobody here.
"""

from __future__ import annotations

from enum import StrEnum

from starlette.routing import compile_path

from pricecrawl.domain.roles import Role


class Endpoint(StrEnum):
    """Every endpoint by method and path under `/v1`."""

    RECORD_OBSERVATION = "POST /observations"
    EVALUATE_MAPPINGS = "POST /mappings/evaluate"
    COMPUTE_MARKET_PRICES = "POST /market-prices/compute"
    COMPUTE_DECISIONS = "POST /price-decisions/compute"
    EVALUATE_POLICY = "POST /price-decisions/{decision_id}/evaluate-policy"
    LIST_REVIEWS = "GET /reviews"
    SHOW_REVIEW = "GET /reviews/{review_id}"
    APPROVE = "POST /reviews/{review_id}/approve"
    REJECT = "POST /reviews/{review_id}/reject"
    PROPOSE_POLICY = "POST /policies"
    PUBLISH = "POST /publications"
    VERIFY = "POST /publications/{publication_id}/verify"
    ROLL_BACK = "POST /rollbacks"
    TRACE = "GET /skus/{sku}/decision-trace"
    STATUS = "GET /status"
    EVENTS = "GET /events"
    SWITCH_SOURCE = "POST /sources/{slug}/enabled"
    LIST_HOLDS = "GET /holds"
    SET_HOLD = "POST /holds"
    CLEAR_HOLD = "DELETE /holds"


_ALL = frozenset(Role)
_PUBLISHER = frozenset({Role.PUBLISHER})
_PRICING = frozenset({Role.OPERATOR, Role.OWNER})
_REVIEWS = frozenset({Role.REVIEWER, Role.OWNER})
_POLICIES = frozenset({Role.POLICY_AUTHOR, Role.OWNER})
_OPERATIONS = frozenset({Role.OPERATOR, Role.OWNER})

ALLOWED: dict[Endpoint, frozenset[Role]] = {
    Endpoint.RECORD_OBSERVATION: frozenset({Role.OPERATOR}),
    Endpoint.EVALUATE_MAPPINGS: _PRICING,
    Endpoint.COMPUTE_MARKET_PRICES: _PRICING | _REVIEWS | _POLICIES,
    Endpoint.COMPUTE_DECISIONS: _PRICING,
    Endpoint.EVALUATE_POLICY: _PRICING | _REVIEWS | _PUBLISHER,
    Endpoint.LIST_REVIEWS: _REVIEWS | _POLICIES | {Role.AUDITOR},
    Endpoint.SHOW_REVIEW: _REVIEWS | _POLICIES | {Role.AUDITOR},
    Endpoint.APPROVE: _REVIEWS | _POLICIES,
    Endpoint.REJECT: _REVIEWS | _POLICIES,
    Endpoint.PROPOSE_POLICY: _POLICIES,
    Endpoint.PUBLISH: _PUBLISHER,
    Endpoint.VERIFY: _PUBLISHER,
    Endpoint.ROLL_BACK: _PUBLISHER,
    Endpoint.TRACE: _ALL,
    Endpoint.STATUS: _ALL,
    Endpoint.EVENTS: frozenset({Role.AUDITOR, Role.OPERATOR, Role.PUBLISHER, Role.OWNER}),
    Endpoint.SWITCH_SOURCE: _OPERATIONS,
    Endpoint.LIST_HOLDS: _ALL,
    Endpoint.SET_HOLD: _OPERATIONS | {Role.REVIEWER},
    Endpoint.CLEAR_HOLD: _OPERATIONS,
}

REVIEWERS: dict[str, frozenset[Role]] = {
    "price": _REVIEWS,
    "mapping": _REVIEWS,
    "candidate": _REVIEWS,
    "policy": _POLICIES,
}
"""Who settles a review, by its kind: the two endpoints above let in whoever may settle any."""


def methods(path: str) -> list[str]:
    """Every method that an address takes; empty where there is no endpoint."""
    return [method for method, address in _ADDRESSES if address.match(path)]


_ADDRESSES = [
    (method, compile_path(f"/v1{path}")[0])
    for method, _, path in (endpoint.value.partition(" ") for endpoint in Endpoint)
]


def as_table() -> str:
    """The table as Markdown, for the documentation."""
    lines = [f"| `/v1` | {' | '.join(Role)} |", f"| --- |{' :-: |' * len(Role)}"]
    for endpoint, roles in ALLOWED.items():
        marks = " | ".join("yes" if role in roles else "" for role in Role)
        lines.append(f"| {endpoint} | {marks} |".replace("  ", " "))
    for kind, roles in REVIEWERS.items():
        marks = " | ".join("yes" if role in roles else "" for role in Role)
        lines.append(f"| settle a review of a {kind} | {marks} |".replace("  ", " "))
    return "\n".join(lines)
