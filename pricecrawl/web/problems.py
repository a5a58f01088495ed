"""Errors as RFC 9457 problem documents: one clear sentence in `detail`, a word for machines in `code`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from pricecrawl.domain.errors import (
    PricecrawlError,
    Refused,
    Settled,
    SourceBusy,
    StorageBusy,
    StorageProblem,
    UsageProblem,
)
from pricecrawl.pricing.states import IllegalTransition
from pricecrawl.web.permissions import methods
from pricecrawl.web.requests import HEADER, request_id
from pricecrawl.workflows.intake import Outdated
from pricecrawl.workflows.review import NotReviewable

logger = logging.getLogger("pricecrawl.web")

MEDIA_TYPE = "application/problem+json"


class Mistake(BaseModel):
    """One thing that is wrong with a request; `at` is where, such as `body/prices/0/text`."""

    model_config = ConfigDict(extra="forbid")

    at: str
    problem: str


class ProblemDocument(BaseModel):
    """RFC 9457, with `code` and, for a request that is wrong, `errors`."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(default="about:blank", description="Always about:blank: `code` tells problems apart.")
    title: str = Field(description="The words of the status.")
    status: int
    detail: str = Field(description="One sentence that says what is wrong and what to do.")
    instance: str = Field(description="This very request: urn:uuid: and its X-Request-ID.")
    code: str = Field(description="A word for programs.")
    errors: list[Mistake] | None = None


class Problem(Exception):
    """An answer that is no success. `detail` is one sentence for people."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[Mistake] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.headers, self.errors = headers, errors


_BY_TYPE: tuple[tuple[type[PricecrawlError], int, str], ...] = (
    (Refused, 403, "refused"),
    (NotReviewable, 409, "not_reviewable"),
    (Settled, 409, "settled"),
    (IllegalTransition, 409, "illegal_transition"),
    (Outdated, 409, "outdated"),
    (SourceBusy, 409, "source_busy"),
    (StorageBusy, 503, "storage_busy"),
    (StorageProblem, 503, "storage_unavailable"),
    (UsageProblem, 422, "not_possible"),
    (PricecrawlError, 409, "conflict"),
)
_WAIT = {"Retry-After": "2"}


def of_error(error: PricecrawlError) -> Problem:
    """The problem that an error of ours is."""
    kind, status, code = next(line for line in _BY_TYPE if isinstance(error, line[0]))
    return Problem(status, code, str(error), headers=_WAIT if kind in {SourceBusy, StorageBusy} else None)


def answer(scope: Scope, problem: Problem) -> JSONResponse:
    """A problem as the response to the request of `scope`."""
    name = request_id(scope)
    document = ProblemDocument(
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=_printable(problem.detail),
        instance=f"urn:uuid:{name}",
        code=problem.code,
        errors=problem.errors,
    )
    return JSONResponse(
        document.model_dump(exclude_none=True),
        status_code=problem.status,
        headers={HEADER: name, **(problem.headers or {})},
        media_type=MEDIA_TYPE,
    )


def install(app: FastAPI) -> None:
    """Turn every error of `app` into a problem document."""

    @app.exception_handler(Problem)
    async def _problem(request: Request, problem: Problem) -> JSONResponse:
        return answer(request.scope, problem)

    @app.exception_handler(PricecrawlError)
    async def _ours(request: Request, error: PricecrawlError) -> JSONResponse:
        return answer(request.scope, of_error(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        mistakes = [_mistake(item) for item in error.errors()]
        if any(item["type"] == "json_invalid" for item in error.errors()):
            made = Problem(400, "no_json", "The body is no JSON document.", errors=mistakes)
            return answer(request.scope, made)
        first = f"{mistakes[0].at}: {mistakes[0].problem}" if mistakes else "the request is not valid"
        return answer(
            request.scope, Problem(422, "invalid", f"The request is not valid: {first}.", errors=mistakes)
        )

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == HTTPStatus.BAD_REQUEST:  # the one way in which reading a request fails
            return answer(request.scope, Problem(400, "no_json", "The body is no JSON document."))
        known = {
            404: "There is nothing at this address.",
            405: "This address does not take that method.",
        }
        detail = known.get(error.status_code, f"{error.detail}".rstrip(".") + ".")
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # A route names its own method alone.
            headers["Allow"] = ", ".join(methods(request.url.path)) or headers.get("allow", "")
        return answer(request.scope, Problem(error.status_code, code, detail, headers=headers))

    @app.exception_handler(Exception)
    async def _bug(request: Request, error: Exception) -> JSONResponse:
        name, path = request_id(request.scope), _printable(request.url.path)
        logger.error("%s %s failed (request %s)", request.method, path, name, exc_info=error)
        return answer(
            request.scope,
            Problem(500, "internal", "The service failed at this request; its log has the details."),
        )


def _mistake(item: Any) -> Mistake:
    """Where and what; never the value, which may be anything, also what no JSON can carry."""
    place = "/".join(_printable(part) for part in item["loc"])
    return Mistake(at=place[:200], problem=_printable(item["msg"]).removeprefix("Value error, ")[:300])


def _printable(text: object) -> str:
    return str(text).encode("utf-8", "replace").decode()


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of the problems of an endpoint."""
    return {
        status: {"description": HTTPStatus(status).phrase, "model": ProblemDocument} for status in statuses
    }
