"""Reviews: what waits, what a person may decide about it, and what follows from that.

Four kinds share one queue; an id says which it is: `price:<decision>`, `mapping:<n>`,
`candidate:<n>`, `policy:<version>`. A bare name is a price: a decision's id, the first characters
of one, or a SKU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pricecrawl.db.learning import LearningStore
from pricecrawl.db.mappings import MappingStore
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.domain.errors import PricecrawlError, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.domain.said import same_name, says_something
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows import candidates, policies
from pricecrawl.workflows.candidates import Confirmed, KnownRules
from pricecrawl.workflows.events import event

WHOLE, SHORTEST, SHOWN = 36, 6, 8
"""Characters of a decision id: all of them, the fewest that name one, and how many a table shows."""


class Kind(StrEnum):
    """What is reviewed."""

    PRICE = "price"
    MAPPING = "mapping"
    CANDIDATE = "candidate"
    POLICY = "policy"


class NotReviewable(PricecrawlError):
    """What was named is blocked, expired or settled: there is nothing for a reviewer to decide."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the queue."""

    id: str
    kind: Kind
    subject: str
    summary: str
    reasons: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None


def queue(
    store: ReviewStore, *, kind: Kind | None = None, limit: int = 200, now: datetime | None = None
) -> list[Item]:
    """What waits for a person, prices first, each kind oldest first; what has expired by `now` last."""
    items: list[Item] = []
    with store.engine.connect() as conn:
        if kind in {None, Kind.PRICE}:
            items += [_price_item(row) for row in store.open_prices(conn, limit, now=now)]
        if kind in {None, Kind.MAPPING}:
            items += [_mapping_item(row) for row in store.open_mappings(conn, limit)]
        if kind in {None, Kind.CANDIDATE}:
            items += [_candidate_item(row) for row in store.open_candidates(conn, limit)]
        if kind in {None, Kind.POLICY}:
            items += [_policy_item(row) for row in store.open_policies(conn, limit)]
    return items


def show(store: ReviewStore, review: str) -> dict[str, Any]:
    """Everything that a reviewer needs to decide.

    Raises:
        UsageProblem: there is no such review.
    """
    kind, name = parse(review)
    with store.engine.connect() as conn:
        if kind is Kind.PRICE:
            name = full_id(store, conn, name)
            row = _need(store.decision(conn, name), review)
            return {
                "kind": kind,
                **row,
                "snapshot": store.snapshot(conn, row["snapshot_id"]),
                "approvals": store.approvals(conn, name),
            }
        if kind is Kind.MAPPING:
            return {"kind": kind, **_need(store.mapping(conn, _number(name)), review)}
        if kind is Kind.CANDIDATE:
            return {"kind": kind, **_need(store.candidate(conn, _number(name)), review)}
        policy = PolicyStore(store.engine).get(conn, name)
        if policy is None:
            raise _unknown(review)
        return {"kind": kind, **{field: getattr(policy, field) for field in policy.__slots__}}


def approve(
    store: ReviewStore,
    review: str,
    *,
    by: str,
    reason: str,
    now: datetime,
    role: str = "reviewer",
    choice: int | None = None,
    amount: Decimal | None = None,
    rules: Mapping[str, KnownRules] | None = None,
) -> Confirmed | None:
    """Say yes; gives what a confirmed reading did.

    `choice` is the number (from 1) of the candidate that is right, `amount` what it reads (a crawl may
    have refreshed the list since it was looked at), `rules` what each source's row says of prices, which
    a confirmed reading joins.

    Raises:
        UsageProblem: there is no such review, no reason, no choice, another amount, or `by` wrote the policy.
        NotReviewable: it is blocked, expired or settled.
    """
    kind, name = parse(review)
    _need_reason(reason)
    if kind is Kind.PRICE:
        _settle_price(store, name, yes=True, by=by, role=role, reason=reason, now=now)
    elif kind is Kind.MAPPING:
        _settle_mapping(store, _number(name), MappingStatus.HUMAN_ACCEPTED, by=by, reason=reason, now=now)
    elif kind is Kind.CANDIDATE:
        known = rules or {}
        return _confirm(store, _number(name), choice, amount, known, by=by, reason=reason, now=now)
    else:
        policies.approve(PolicyStore(store.engine), name, by=by, reason=reason, now=now)
    return None


def reject(
    store: ReviewStore, review: str, *, by: str, reason: str, now: datetime, role: str = "reviewer"
) -> None:
    """Say no. A rejected price is blocked, a rejected pair is never matched again, a policy never holds.

    Raises:
        UsageProblem: there is no such review, or no reason.
        NotReviewable: it is blocked, expired or settled.
    """
    kind, name = parse(review)
    _need_reason(reason)
    if kind is Kind.PRICE:
        _settle_price(store, name, yes=False, by=by, role=role, reason=reason, now=now)
    elif kind is Kind.MAPPING:
        _settle_mapping(store, _number(name), MappingStatus.REJECTED, by=by, reason=reason, now=now)
    elif kind is Kind.CANDIDATE:
        candidates.reject(LearningStore(store.engine), _number(name), by=by, reason=reason, now=now)
    else:
        policies.reject(PolicyStore(store.engine), name, by=by, reason=reason, now=now)


def full_id(store: ReviewStore, conn: Any, name: str) -> str:
    """The decision whose id starts so, or that waits for the SKU of that name; else `name` itself.

    Raises:
        UsageProblem: two decisions start so.
    """
    if len(name) >= WHOLE:
        return name
    found = store.starting_with(conn, name) if len(name) >= SHORTEST else []
    if len(found) > 1:
        raise UsageProblem(f"more than one decision starts with {name}; give more of the id.")
    return found[0] if found else store.waiting_for(conn, name) or name


def parse(review: str) -> tuple[Kind, str]:
    """Kind and name of a review id; a bare id is a price decision's."""
    kind, mark, name = review.partition(":")
    if not mark:
        return Kind.PRICE, review
    try:
        return Kind(kind), name
    except ValueError:
        raise UsageProblem(
            f"{review!r} is no review: ids start with {', '.join(f'{k.value}:' for k in Kind)}."
        ) from None


def _settle_price(
    store: ReviewStore, of: str, *, yes: bool, by: str, role: str, reason: str, now: datetime
) -> None:
    expired = False
    with store.begin() as tx:
        of = full_id(store, tx, of)
        row = _need(store.decision(tx, of, lock=True), f"price:{of}")
        if row["status"] != State.REVIEW_REQUIRED.value:
            raise NotReviewable(_why_not(row))
        if yes and wrote(row, by):
            raise UsageProblem(f"{by} asked for this rollback: somebody else must approve it.")
        expired = row["expires_at"] is not None and row["expires_at"] <= now
        if expired:
            status = advance(row["status"], State.STALE, what=f"decision {of}")
            store.settle_decision(tx, of, status.value, expires=row["expires_at"], now=now)
            store.append(tx, [_price_event(EventType.PRICE_REJECTED, row, "pricecrawl", "expired", now)])
        else:
            status = advance(row["status"], State.APPROVED if yes else State.BLOCKED, what=f"decision {of}")
            # An approval holds as long as the review was open for.
            holds = row["expires_at"] - row["created_at"] if yes and row["expires_at"] else None
            expires = None if holds is None else now + holds
            store.settle_decision(tx, of, status.value, expires=expires, now=now)
            action = "approve" if yes else "reject"
            store.add_approval(tx, of, action, by=by, role=role, reason=reason, now=now)
            kind = EventType.PRICE_APPROVED if yes else EventType.PRICE_REJECTED
            store.append(tx, [_price_event(kind, row, by, reason, now, role=role)])
            if yes:
                _accept_first_uses(store, tx, row)
    if expired:
        raise NotReviewable(
            f"decision {of} expired on {row['expires_at']:%Y-%m-%d %H:%M} UTC; "
            f"run `pricecrawl price run --sku {row['sku']}` for a new one."
        )


def wrote(row: Mapping[str, Any], by: str) -> bool:
    """True where `by` is who wrote what is reviewed, under whatever spelling of the name."""
    who = author(row)
    return who is not None and same_name(who, by)


def author(row: Mapping[str, Any]) -> str | None:
    """Who wrote what is reviewed: proposed the policy, or asked for the rollback; None for other prices."""
    if "author" in row:
        return str(row["author"])
    by = ((row.get("steps") or {}).get("rollback") or {}).get("by")
    return None if by is None else str(by)


def _why_not(row: Mapping[str, Any]) -> str:
    of, status = row["decision_id"], row["status"]
    if status == State.BLOCKED.value:
        blocks = [item["code"] for item in row["findings"] if item["verdict"] == "BLOCK"]
        if blocks:
            return (
                f"decision {of} is blocked ({', '.join(blocks)}) and a reviewer cannot lift a block: "
                "mend what blocks it and run `pricecrawl price run` again."
            )
        return f"decision {of} was rejected already."
    return f"decision {of} is {status} and waits for nobody."


def _accept_first_uses(store: ReviewStore, tx: Any, row: Mapping[str, Any]) -> None:
    codes = {item["code"] for item in row["findings"]}
    if FindingCode.FIRST_PROBABILISTIC_USE.value not in codes:
        return
    snapshot = store.snapshot(tx, row["snapshot_id"])
    numbers = [item["mapping_id"] for item in snapshot["eligible"]] if snapshot else []
    mappings = MappingStore(store.engine)
    by_model = [
        number
        for number in numbers
        if (found := mappings.get(tx, number)) is not None and found.method is MappingMethod.MODEL
    ]
    mappings.accept_first_use(tx, by_model)


def _settle_mapping(
    store: ReviewStore, number: int, status: MappingStatus, *, by: str, reason: str, now: datetime
) -> None:
    with store.begin() as tx:
        row = _need(store.mapping(tx, number), f"mapping:{number}")
        # An accepted pair may be rejected later and a rejected one accepted: people learn.
        if row["status"] == status.value:
            raise NotReviewable(f"mapping {number} is {status.value} already.")
        store.settle_mapping(tx, number, status.value, by=by, reason=reason, now=now)
        payload = {
            "mapping_id": number,
            "listing_id": row["listing_id"],
            "sku": row["sku"],
            "method": row["method"],
            "status": status.value,
            "by": by,
            "reason": reason,
        }
        store.append(
            tx,
            [
                event(
                    EventType.MAPPING_EVALUATED,
                    f"mapping:{number}",
                    payload,
                    now=now,
                    correlation=f"mapping:{number}",
                    producer="review",
                    key=now.isoformat(),
                )
            ],
        )


def _confirm(
    store: ReviewStore,
    number: int,
    choice: int | None,
    amount: Decimal | None,
    rules: Mapping[str, KnownRules],
    *,
    by: str,
    reason: str,
    now: datetime,
) -> Confirmed:
    learning = LearningStore(store.engine)
    waiting = learning.review(number)
    if not waiting.candidates:
        raise UsageProblem(
            f"candidate:{number} has no reading to confirm: reject it, or teach the shop a rule with "
            f"`pricecrawl selectors induce {waiting.source} --sku {waiting.source_sku} --price …`."
        )
    if choice is None and len(waiting.candidates) == 1:
        choice = 1
    if choice is None:
        raise UsageProblem(
            f"candidate:{number} has {len(waiting.candidates)} readings; say which is right with --choose "
            f"(`pricecrawl review show candidate:{number}` lists them)."
        )
    known = rules.get(waiting.source)
    return candidates.confirm(
        learning, number, choice, amount=amount, by=by, reason=reason, now=now, rules=known
    )


def _price_event(
    kind: EventType, row: Mapping[str, Any], by: str, reason: str, now: datetime, **more: str
) -> Event:
    return event(
        kind,
        f"sku:{row['sku']}",
        {"decision_id": row["decision_id"], "by": by, "reason": reason, **more},
        now=now,
        correlation=row["decision_id"],
        producer="review",
        key=now.isoformat(),
    )


def _need(row: Mapping[str, Any] | None, review: str) -> Mapping[str, Any]:
    if row is None:
        raise _unknown(review)
    return row


def _unknown(review: str) -> UsageProblem:
    return UsageProblem(f"there is no review {review}; `pricecrawl review list` shows what waits.")


def _need_reason(reason: str) -> None:
    if not says_something(reason):
        raise UsageProblem('a decision needs a reason: give it with --reason "...".')


def _number(name: str) -> int:
    if not name.isascii() or not name.isdecimal() or len(name) > 18:  # what the databases count up to
        raise UsageProblem(f"{name!r} is no number of a review; `pricecrawl review list` shows them.")
    return int(name)


def _price_item(row: Mapping[str, Any]) -> Item:
    change = row["change_pct"]
    moved = "" if change is None else f" ({change * 100:+.1f} %)"
    return Item(
        id=f"price:{row['decision_id']}",
        kind=Kind.PRICE,
        subject=row["sku"],
        summary=f"{row['current_price'] or 'no price'} to {row['proposed_price']} {row['currency']}{moved}",
        reasons=tuple(item["detail"] for item in row["findings"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
    )


def _mapping_item(row: Mapping[str, Any]) -> Item:
    return Item(
        id=f"mapping:{row['id']}",
        kind=Kind.MAPPING,
        subject=row["sku"],
        summary=f"{row['source']}/{row['source_sku']}: {row['listing_name']}",
        reasons=tuple(row["evidence"].get("contradictions", ())) or (f"found by {row['method']}",),
        created_at=row["created_at"],
    )


def _candidate_item(row: Mapping[str, Any]) -> Item:
    amounts = ", ".join(f"{item['amount']} {item['currency'] or '?'}" for item in row["candidates"][:4])
    return Item(
        id=f"candidate:{row['id']}",
        kind=Kind.CANDIDATE,
        subject=f"{row['source']}/{row['source_sku']}",
        summary=f"{row['listing_name']}: {amounts or 'no reading'}",
        reasons=tuple(row["reasons"]),
        created_at=row["created_at"],
    )


def _policy_item(row: Mapping[str, Any]) -> Item:
    return Item(
        id=f"policy:{row['version']}",
        kind=Kind.POLICY,
        subject=row["version"],
        summary=f"written by {row['author']}, from {row['valid_from']:%Y-%m-%d}",
        reasons=("a policy is approved by somebody else than its author",),
        created_at=row["created_at"],
    )
