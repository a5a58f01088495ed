"""What the events of a row say of it: every word that does not agree with the row is a problem.

Rows change as a price goes its way, and each change was written with an event. A row that is further on
than its events, says another thing than they do, or has none, was changed behind our back, or its events
were removed. Each function gives sentences without a subject, and takes events in their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pricecrawl.domain.events import EventType
from pricecrawl.pricing.findings import Verdict
from pricecrawl.pricing.states import State

Fields = Mapping[str, Any]
Events = Sequence[Fields]

SOLD = frozenset(
    {
        *(State.APPROVED, State.PUBLISH_PENDING, State.PUBLISHING),
        *(State.PUBLISHED, State.VERIFYING, State.VERIFIED),
    }
)
"""States of a decision whose price is, or may become, one that we ask for."""

_ASKED, _YES, _NO = EventType.APPROVAL_REQUESTED, EventType.PRICE_APPROVED, EventType.PRICE_REJECTED

_STANDS_ON = {
    State.PUBLISH_PENDING: EventType.PUBLISH_REQUESTED,
    State.PUBLISHING: EventType.PUBLISH_STARTED,
    State.PUBLISHED: EventType.PRICE_PUBLISHED,
    State.VERIFYING: EventType.PRICE_PUBLISHED,
    State.VERIFIED: EventType.PUBLISH_VERIFIED,
    State.VERIFICATION_FAILED: EventType.VERIFICATION_FAILED,
    State.PUBLISH_FAILED: EventType.PUBLISH_FAILED,
}
"""The event without which a publication, or the decision with it, does not come to a state."""

_TOLD_OF_PUBLICATION = ("decision_id", "sku", "target", "amount", "currency")


def decision(row: Fields, events: Events) -> Iterator[str]:
    """Where a decision stands, and what its guardrails found. Its figures have a digest of their own."""
    judged = next((item for item in events if item["event_type"] == EventType.POLICY_EVALUATED.value), None)
    if judged is None:
        yield "has no event policy.evaluated"
    else:
        told = judged["payload"]
        lost = set(told["findings"]) - {item["code"] for item in row["findings"]}
        if lost:
            yield f"does not have the finding {', '.join(sorted(lost))} that event policy.evaluated tells of"
        order = [verdict.value for verdict in Verdict]
        if order.index(row["verdict"]) < order.index(told["verdict"]):
            yield f"is {row['verdict']}, and event policy.evaluated tells of {told['verdict']}"
    state = State(row["status"])
    words = [item["event_type"] for item in events if item["event_type"] in {_ASKED, _YES, _NO}]
    last = words[-1] if words else None
    if state in SOLD and last != _YES.value:
        yield f"is {state.value}, and no event price.approved stands behind that"
    if state is State.REVIEW_REQUIRED and last != _ASKED.value:
        yield f"is {state.value}, and no event approval.requested stands behind that"
    yield from _moved(state, events)


def approvals(rows: Sequence[Fields], events: Events) -> Iterator[tuple[int | None, str]]:
    """What people decided, beside the events that tell of it; with the id of the row, if there is one."""
    said = [item for item in events if _by_a_person(item)]
    for row in rows:
        kind = _NO if row["action"] == "reject" else _YES
        mine = next(
            (
                item
                for item in said
                if item["event_type"] == kind.value and item["occurred_at"] == row["decided_at"]
            ),
            None,
        )
        if mine is None:
            yield row["id"], f"has no event {kind.value} that tells of it"
            continue
        said.remove(mine)
        told = mine["payload"]
        for name, key in (("actor", "by"), ("reason", "reason"), ("role", "role")):
            if key in told and told[key] != row[name]:
                yield row["id"], f"has another {name} than event {kind.value} tells of"
    for item in said:
        by = item["payload"]["by"]
        yield None, f"is not there, and event {item['event_id']} tells of one by {by}"


def _by_a_person(item: Fields) -> bool:
    kind = item["event_type"]
    if item["producer"] != "review" or kind not in {_YES.value, _NO.value}:
        return False
    return not (kind == _NO.value and item["payload"]["by"] == "pricecrawl")  # it expired


def override(row: Fields, events: Events) -> Iterator[str]:
    """A request to lift a block by exception, and who granted it."""
    lifted = [item for item in events if item["payload"].get("exception")]
    halves = [(_ASKED, row["requested_by"])]
    if row["approved_by"] is not None:
        halves.append((_YES, row["approved_by"]))
    for kind, by in halves:
        if not any(item["event_type"] == kind.value and item["payload"]["by"] == by for item in lifted):
            yield f"has no event {kind.value} that tells of {by}"


def publication(row: Fields, made: Fields, events: Events) -> Iterator[str]:
    """What was written to a target and how it stands, beside its events and its decision (`made`)."""
    yield from _moved(State(row["status"]), events)
    if not any(item["event_type"] == EventType.PUBLISH_REQUESTED.value for item in events):
        yield "has no event publish.requested"
    of = row["publication_id"]
    for item in events:
        told = item["payload"]
        if told.get("publication_id") != of:
            continue
        wrong = [name for name in _TOLD_OF_PUBLICATION if told[name] != _text(row[name])]
        if "scope" in told and told["scope"] != row["scope"]:
            wrong.append("scope")
        if wrong:
            yield f"has another {', '.join(wrong)} than event {item['event_type']} tells of"
            break
    for name, theirs in (
        *(("amount", "proposed_price"), ("currency", "currency"), ("tax_basis", "tax_basis")),
        ("sequence", "sequence"),
    ):
        if row[name] != made[theirs]:
            yield f"has another {name} than its decision"


def _moved(state: State, events: Events) -> Iterator[str]:
    kind = _STANDS_ON.get(state)
    if kind is not None and not any(item["event_type"] == kind.value for item in events):
        yield f"is {state.value}, and no event {kind.value} stands behind that"


def costs(rows: Sequence[Fields], made: Fields) -> Iterator[tuple[int | None, str]]:
    """The costs that a decision stood on, if none were brought in since; with the id of the row."""
    stood_on = made["steps"].get("cost")
    if stood_on is None:
        return
    row = next((row for row in rows if _text(row["valid_from"]) == stood_on["valid_from"]), None)
    if row is None:
        yield (
            None,
            f"has no costs from {stood_on['valid_from']} on, on which decision {made['decision_id']} stands",
        )
        return
    wrong = [name for name in ("cogs", "fulfilment", "payment") if row[name] != Decimal(stood_on[name])]
    wrong += [name for name in ("map_price", "regulatory_floor") if made[name] != row[name]]
    if wrong:
        yield row["id"], f"has another {', '.join(wrong)} than decision {made['decision_id']} stands on"


# --- rows that are an aggregate of their own ----------------------------------------------------


def hold(row: Fields, events: Events) -> Iterator[str]:
    """A kill switch: what it is on, who set it, and who cleared it."""
    told = _changes(events)
    if "set" not in told:
        yield "has no event that tells of it"
        return
    facts = (("scope", "scope"), ("value", "value"), ("reason", "reason"), ("set_by", "by"))
    yield from _differs(row, told["set"], (*facts, ("set_at", "at")))
    cleared = told.get("cleared")
    if cleared is not None and row["cleared_at"] is None:
        yield "is on, and was cleared"
    elif cleared is not None:
        yield from _differs(row, cleared, (("cleared_by", "by"), ("cleared_at", "at")))
    elif row["cleared_at"] is not None or row["cleared_by"] is not None:
        yield "was cleared without an event"


def token(row: Fields, events: Events) -> Iterator[str]:
    """Who may use the interface, and as what."""
    told = _changes(events)
    if "added" not in told:
        yield "has no event that tells of it"
        return
    yield from _differs(row, told["added"], (("role", "role"), ("created_at", "at")))
    if "mark" in told["added"] and told["added"]["mark"] != mark(row["token_digest"]):
        yield "is another token than its event tells of"
    revoked = told.get("revoked")
    if revoked is not None and row["revoked_at"] is None:
        yield "is in use, and was revoked"
    elif revoked is not None:
        yield from _differs(row, revoked, (("revoked_at", "at"),))
    elif row["revoked_at"] is not None:
        yield "was revoked without an event"


def mark(token_digest: str) -> str:
    """What an event keeps of a token: enough to tell one from another, of no use to anybody else."""
    return hashlib.sha256(token_digest.encode()).hexdigest()[:16]


def policy(row: Fields, events: Events) -> Iterator[str]:
    """A version of the policy: its words, who wrote it, who approved or rejected it."""
    told = _changes(events)
    first = told.get("proposed") or told.get("installed")
    if first is None:
        yield "has no event that tells of it"
        return
    yield from _differs(row, first, (("author", "by"), ("created_at", "at")))
    if "sha256" in first and first["sha256"] != body_digest(row["body"]):
        yield "has another body than its event tells of"
    if "valid_from" in first and first["valid_from"] != _text(row["valid_from"]):
        yield "has another valid_from than its event tells of"
    if "installed" in told:
        return
    for change in ("approved", "rejected"):
        by, settled = row[f"{change}_by"], told.get(change)
        if settled is not None and by is None:
            yield f"is not {change}, and was by {settled['by']}"
        elif settled is not None:
            yield from _differs(row, settled, ((f"{change}_by", "by"), (f"{change}_at", "at")))
        elif by is not None or row[f"{change}_at"] is not None:
            yield f"was {change} by {by}, and no event tells of it"


def body_digest(body: Any) -> str:
    """SHA-256 over a policy's body, the same whether it was just written or read back from the database."""
    # JSON numbers come back as the database writes them; a policy's amounts are texts.
    return hashlib.sha256(repr(_sorted(body)).encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [[str(key), _sorted(value[key])] for key in sorted(value)]
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return str(value)


def source(row: Fields, events: Events) -> Iterator[str]:
    """The switch of a source."""
    told = [item["payload"] for item in events if "enabled" in item["payload"]]
    enabled = told[-1]["enabled"] if told else True
    if row["enabled"] is not enabled:
        yield f"is switched {'on' if row['enabled'] else 'off'}, and no event tells of it"


def mapping(row: Fields, events: Events) -> Iterator[str]:
    """Whose SKU a listing is, and who says so."""
    told = [item["payload"] for item in events if item["event_type"] == EventType.MAPPING_EVALUATED.value]
    if not told:
        yield "has no event that tells of it"
        return
    yield from _differs(row, told[-1], (("status", "status"), ("sku", "sku"), ("listing_id", "listing_id")))
    if "by" in told[-1]:
        yield from _differs(row, told[-1], (("reviewed_by", "by"), ("review_reason", "reason")))


def run(row: Fields, events: Events) -> Iterator[str]:
    """A crawl: that it began, and how it ended."""
    told = {item["event_type"]: item["payload"] for item in events}
    if EventType.COLLECTION_REQUESTED.value not in told:
        yield "has no event that tells of it"
    ended = told.get(EventType.COLLECTION_FINISHED.value)
    if row["finished_at"] is not None and ended is None:
        yield "ended, and no event tells of it"
    if ended is not None:
        yield from _differs(row, ended, (("outcome", "outcome"), ("coverage", "coverage")))


def candidate_review(row: Fields, events: Events) -> Iterator[str]:
    """A reading that a person confirmed or turned down."""
    kind = {"approved": EventType.CANDIDATE_CONFIRMED, "rejected": EventType.CANDIDATE_REJECTED}.get(
        row["status"]
    )
    told = {
        item["event_type"]: item["payload"] for item in events if item["payload"].get("review") == row["id"]
    }
    if kind is None:
        if told and row["status"] == "open":
            yield "is open, and was decided"
        return
    if kind.value not in told:
        yield f"is {row['status']}, and no event tells of it"
        return
    facts = (("decided_by", "by"), ("decision_reason", "reason"), ("chosen", "chosen"))
    yield from _differs(row, {"chosen": None, **told[kind.value]}, facts)


OWN: Mapping[str, Callable[[Fields, Events], Iterator[str]]] = {
    "hold": hold,
    "api_token": token,
    "pricing_policy": policy,
    "source": source,
    "mapping": mapping,
    "run": run,
    "candidate_review": candidate_review,
}
"""What looks at the rows of a table that are aggregates of their own."""


def _changes(events: Events) -> dict[str, Fields]:
    """What each event of an aggregate that is changed by word tells, and `at` which time, by the change."""
    return {item["payload"]["change"]: {**item["payload"], "at": item["occurred_at"]} for item in events}


def _differs(row: Fields, told: Fields, facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    wrong = [name for name, key in facts if key in told and told[key] != row[name]]
    if wrong:
        yield f"has another {', '.join(wrong)} than its event tells of"


def _text(value: Any) -> str:
    """A value as an event has it."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return value if isinstance(value, str) else format(value, "f")
