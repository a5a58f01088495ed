"""Writing prices: the publisher's three endpoints. None of them takes a price."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.pricing.findings import Verdict
from pricecrawl.pricing.ports import TargetUnavailable
from pricecrawl.pricing.states import State
from pricecrawl.web.call import Call, endpoint, writing
from pricecrawl.web.permissions import Endpoint
from pricecrawl.web.problems import Problem
from pricecrawl.web.routes.prices import known_skus
from pricecrawl.web.schemas import (
    DecisionId,
    PublicationOut,
    PublicationsOut,
    PublishIn,
    RollbackIn,
    RollbackOut,
    VerificationOut,
)
from pricecrawl.workflows import batch, rollback, verify
from pricecrawl.workflows import publish as publishing
from pricecrawl.workflows.publisher import Publisher

router = APIRouter(tags=["publications"])

PATIENCE = timedelta(seconds=25)
"""How long a request waits for its publication to be verified; a worker goes on after that."""

_UNDER_WAY = frozenset({State.PUBLISH_PENDING, State.PUBLISHING, State.PUBLISHED, State.VERIFYING})


@endpoint(router, Endpoint.PUBLISH, gives=PublicationsOut, status=201)
def publish(asked: PublishIn, call: Call = writing(Endpoint.PUBLISH)) -> Response:
    """Publish an approved decision and read it back. Without a key, its id is the Idempotency-Key."""
    of = asked.price_decision_id
    pub = call.services.publisher(call.caller)

    def work() -> PublicationsOut:
        with pub.store.engine.connect() as conn:
            if pub.store.decision(conn, of) is None:
                raise Problem(404, "no_such_decision", f"There is no decision {of}.")
        _targets(pub)
        try:
            names, refused = batch.request_everywhere(pub, of, now=call.now)
        except Refused as problem:
            raise Problem(409, "not_publishable", str(problem)) from None
        return PublicationsOut(
            publications=tuple(_published(call, pub, name) for name in names), refused=refused
        )

    def stands(made: PublicationsOut) -> bool:
        return not made.refused and all(map(_settled, made.publications))

    call = replace(call, key=call.key or of)
    return call.once(asked, work, status=201, stands=stands)


@endpoint(router, Endpoint.VERIFY, gives=VerificationOut)
def verify_publication(
    publication_id: Annotated[DecisionId, Path()], call: Call = writing(Endpoint.VERIFY)
) -> Response:
    """Read a published price again; that the shop has another one is an incident."""
    pub = call.services.publisher(call.caller)

    def work() -> VerificationOut:
        with pub.store.engine.connect() as conn:
            if pub.store.get(conn, publication_id) is None:
                raise Problem(404, "no_such_publication", f"There is no publication {publication_id}.")
        try:
            found = verify.again(pub, publication_id, now=call.now)
        except UsageProblem as problem:
            raise Problem(409, "not_verifiable", str(problem)) from None
        except TargetUnavailable as trouble:
            raise _unreachable(trouble) from None
        return VerificationOut(
            publication=_out(pub, publication_id),
            ok=found.ok,
            detail=found.detail,
            mismatches=tuple(item.value for item in found.mismatches),
            found=found.state.amount if found.state is not None else None,
            shown=found.storefront.amount if found.storefront is not None else None,
        )

    return call.once(None, work)


@endpoint(router, Endpoint.ROLL_BACK, gives=RollbackOut, status=201)
def roll_back(asked: RollbackIn, call: Call = writing(Endpoint.ROLL_BACK)) -> Response:
    """Go back to an earlier verified price, through the same gates as any other."""
    pub = call.services.publisher(call.caller)

    def work() -> RollbackOut:
        known_skus(call, asked.sku)
        target = _target(pub, asked.target)
        try:
            made = rollback.request(
                pub,
                asked.sku,
                target,
                reason=asked.reason,
                by=call.caller.name,
                now=call.now,
                to=asked.to_decision_id,
            )
            publication = None
            if made.verdict is Verdict.ALLOW:
                name = publishing.request(pub, made.decision_id, target, now=call.now)
                publication = _published(call, pub, name)
        except rollback.ShopAway as problem:
            raise Problem(503, "target_unavailable", str(problem), headers={"Retry-After": "10"}) from None
        except (Refused, UsageProblem) as problem:
            raise Problem(409, "nothing_to_roll_back", str(problem)) from None
        return RollbackOut(
            decision_id=made.decision_id,
            sku=made.sku,
            target=made.target,
            takes_back=made.publication_id,
            to_decision_id=made.to,
            amount=made.amount,
            verdict=made.verdict.value,
            reasons=made.reasons,
            publication=publication,
        )

    return call.once(
        asked, work, status=201, stands=lambda made: made.publication is None or _settled(made.publication)
    )


def _targets(pub: Publisher) -> list[str]:
    found = sorted(pub.placements)
    if not found:
        raise Problem(
            409, "no_target", "No target is configured: set PRICECRAWL_TARGET_<NAME>_KIND and its settings."
        )
    return found


def _target(pub: Publisher, named: str | None) -> str:
    """The target of that name, or the only one."""
    targets = _targets(pub)
    if named is not None and named not in targets:
        raise Problem(404, "no_such_target", f"There is no target {named}.")
    if named is None and len(targets) > 1:
        raise Problem(422, "which_target", f"Name one of the targets: {', '.join(targets)}.")
    return named or targets[0]


def _published(call: Call, pub: Publisher, name: str) -> PublicationOut:
    """The publication after it was worked on for a while."""
    publishing.run(pub, name, clock=call.services.clock, patience=PATIENCE)
    return _out(pub, name)


def _out(pub: Publisher, name: str) -> PublicationOut:
    with pub.store.engine.connect() as conn:
        row = pub.store.get(conn, name)
    assert row is not None
    return PublicationOut(**{field: row[field] for field in PublicationOut.model_fields})


def _settled(made: PublicationOut) -> bool:
    return State(made.status) not in _UNDER_WAY


def _unreachable(trouble: TargetUnavailable) -> Problem:
    detail = f"The shop cannot be read at the moment ({trouble})."
    return Problem(503, "target_unavailable", detail, headers={"Retry-After": "10"})
