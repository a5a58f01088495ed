"""One request on its way: who asks, when, under which key, and with what the service has."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.responses import Response

from pricecrawl.config import Config
from pricecrawl.db.idempotency import Claim, IdempotencyStore
from pricecrawl.db.publications import PublicationStore
from pricecrawl.db.tokens import TokenStore
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.pricing.ports import Placement
from pricecrawl.sources.catalog import Catalog
from pricecrawl.web import bodies
from pricecrawl.web.permissions import ALLOWED, Endpoint
from pricecrawl.web.problems import Problem, responses
from pricecrawl.workflows.publisher import Publisher

REPLAYED = "Idempotency-Replayed"

_bearer = HTTPBearer(auto_error=False, description="A token of `pricecrawl tokens add`.")


@dataclass(frozen=True, slots=True)
class Services:
    """What every request uses. `clock` is asked once per request, so that all its steps agree on the time."""

    config: Config
    engine: Any
    evidence: EvidenceStore
    catalog: Catalog
    clock: Callable[[], datetime]
    placements: Mapping[str, Placement]
    _publishers: dict[str, Publisher] = field(default_factory=dict)

    def publisher(self, by: Principal) -> Publisher:
        """The publisher that writes in this principal's name, the same one for all its requests."""
        made = self._publishers.get(by.name)
        if made is None:
            owner = f"api:{socket.gethostname()}:{os.getpid()}:{uuid4()}"
            made = Publisher(PublicationStore(self.engine), self.placements, by, owner[-100:])
            made = self._publishers.setdefault(by.name, made)
        return made

    @property
    def countries(self) -> dict[str, str]:
        """The country of every source."""
        return {entry.source.slug: entry.source.country for entry in self.catalog}


@dataclass(frozen=True, slots=True)
class Call:
    """A request that may be made. `key` is its Idempotency-Key, `address` its method, path and query."""

    services: Services
    caller: Principal
    now: datetime
    address: str
    body: bytes = b""
    url: str = ""
    key: str | None = None

    def once(
        self,
        asked: BaseModel | None,
        work: Callable[[], BaseModel],
        *,
        status: int = 200,
        stands: Callable[[Any], bool] = lambda _: True,
    ) -> Response:
        """Do the work, or give the answer that the same request under the same key got before.

        Whatever depends on how things stand (what is there, what is held) belongs into `work`: asked again,
        the request is answered as it was, however things stand by then. What failed, or gave an answer that
        does not stand (`stands`), may be asked for again under its key.

        Raises:
            Problem: the key came with another request before (422), or such a request is under way (409).
        """
        if self.key is None:
            return _json(work().model_dump_json(), status)
        store = IdempotencyStore(self.services.engine)
        told = asked.model_dump_json() if asked is not None else ""
        digest = hashlib.sha256(f"{self.address}\n{told}".encode()).hexdigest()
        claimed = store.claim(self.key, self.caller.name, f"sha256:{digest}", now=self.now)
        if claimed.claim is Claim.ANSWERED:
            return _json(claimed.body, claimed.status, {REPLAYED: "true"})
        if claimed.claim is Claim.OTHER_REQUEST:
            raise Problem(
                422,
                "idempotency_key_reused",
                "This Idempotency-Key came with another request before: use a new key for a new request.",
            )
        if claimed.claim is Claim.BUSY:
            raise Problem(
                409,
                "in_progress",
                "The same request is being worked on at this moment: ask again shortly for its answer.",
                headers={"Retry-After": "1"},
            )
        try:
            result = work()
        except BaseException:
            store.reopen(self.key, self.caller.name)
            raise
        body = result.model_dump_json()
        if stands(result):
            store.answer(self.key, self.caller.name, status, body)
        else:
            store.reopen(self.key, self.caller.name)
        return _json(body, status)


def _json(body: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body.encode(), status, dict(headers or {}), "application/json")


def reading(endpoint: Endpoint, *query: str) -> Any:
    """The dependency of an endpoint that only reads and takes these query keys and no others."""

    def call(request: Request, token: Annotated[Any, Depends(_bearer)]) -> Call:
        return _call(endpoint, request, token, query)

    return Depends(call)


async def _body(request: Request) -> bytes:
    return await request.body()


def writing(endpoint: Endpoint, *query: str) -> Any:
    """The dependency of an endpoint that writes and takes these query keys and no others."""

    def call(
        request: Request,
        token: Annotated[Any, Depends(_bearer)],
        sent: Annotated[bytes, Depends(_body)],
        idempotency_key: Annotated[
            str | None,
            Header(
                alias="Idempotency-Key",
                pattern=r"^[!-~]{1,200}$",
                description="The same key with the same request gives the same answer, done once.",
            ),
        ] = None,
    ) -> Call:
        return _call(endpoint, request, token, query, key=idempotency_key, body=sent)

    return Depends(call)


def _call(
    endpoint: Endpoint,
    request: Request,
    token: HTTPAuthorizationCredentials | None,
    takes: tuple[str, ...],
    *,
    key: str | None = None,
    body: bytes = b"",
) -> Call:
    services: Services = request.app.state.services
    caller = _caller(services, token)
    if caller.role not in ALLOWED[endpoint]:
        raise Problem(
            403, "role_not_allowed", f"The role {caller.role.value} of this token may not {endpoint.value}."
        )
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in takes:
            known = ", ".join(takes) or "none"
            raise Problem(422, "invalid", f"The query has an unknown key {_short(name)!r}; known: {known}.")
        if names.count(name) > 1:
            raise Problem(422, "invalid", f"The query has {name} more than once.")
    if body:
        bodies.check(body, request.headers.get("content-type"))
    query = f"?{request.url.query}" if request.url.query else ""
    return Call(
        services=services,
        caller=caller,
        now=services.clock(),
        address=f"{request.method} {request.url.path}{query}",
        body=body,
        url=str(request.url),
        key=key,
    )


def _short(name: str) -> str:
    return name.encode("ascii", "replace").decode()[:60]


def _caller(services: Services, token: HTTPAuthorizationCredentials | None) -> Principal:
    challenge = {"WWW-Authenticate": "Bearer"}
    if token is None:
        raise Problem(
            401,
            "no_token",
            "A token is needed: send it as 'Authorization: Bearer TOKEN'.",
            headers=challenge,
        )
    found = TokenStore(services.engine).by_secret(token.credentials)
    if found is None:
        raise _bad_token("This token is not known here.")
    if found.revoked_at is not None:
        raise _bad_token("This token was revoked.")
    if found.role not in set(Role):
        raise _bad_token("This token has a role that is not known here.")
    return Principal(found.name, Role(found.role))


def _bad_token(detail: str) -> Problem:
    return Problem(401, "bad_token", detail, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})


_READ = (400, 401, 403, 404, 409, 422, 503)
_WRITTEN = (*_READ, 413, 415)


def endpoint(
    router: APIRouter, which: Endpoint, *, gives: type[BaseModel], status: int = 200
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Register a handler under the address that the table of permissions gives it."""
    method, _, path = which.value.partition(" ")
    return router.api_route(
        path,
        methods=[method],
        status_code=status,
        response_model=gives,
        response_class=JSONResponse,
        operation_id=which.name.lower(),
        responses=responses(*(_READ if method == "GET" else _WRITTEN)),
    )
