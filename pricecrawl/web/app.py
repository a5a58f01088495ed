"""The application: routes, errors, limits, and the document that describes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, FastAPI

from pricecrawl import __version__
from pricecrawl.config import Config
from pricecrawl.db.engine import open_engine
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.pricing.ports import Placement
from pricecrawl.sources.catalog import Catalog
from pricecrawl.web import problems
from pricecrawl.web.call import Services
from pricecrawl.web.limits import BodyLimit
from pricecrawl.web.requests import RequestId
from pricecrawl.web.routes import observations, operations, prices, publications, reviews

OPENAPI = "/v1/openapi.json"

_ABOUT = """\
Prices with evidence, from an observation to a verified publication.

Amounts are decimal strings. Every write takes an `Idempotency-Key`. Errors are RFC 9457 problem documents.\
"""


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


def create_app(
    config: Config, placements: Mapping[str, Placement], *, clock: Callable[[], datetime] = now
) -> FastAPI:
    """The application on the configured database, evidence and sources; prices go to `placements`.

    Raises:
        StorageProblem: the database or the evidence cannot be used.
    """
    services = Services(
        config=config,
        engine=open_engine(config.database_url),
        evidence=EvidenceStore(config.evidence_url),
        catalog=Catalog.load(config),
        clock=clock,
        placements=placements,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        services.engine.dispose()

    app = bare_app(lifespan=lifespan)
    app.state.services = services
    return app


def bare_app(**options: Any) -> FastAPI:
    """Routes and schema without a database: enough to write the OpenAPI document."""
    app = FastAPI(
        title="pricecrawl",
        version=__version__,
        description=_ABOUT,
        openapi_url=OPENAPI,
        # The pages of FastAPI load scripts from other people's servers.
        docs_url=None,
        redoc_url=None,
        # What is asked for under another address than its own is not there; a redirect behind a proxy
        # would lead from TLS to none.
        redirect_slashes=False,
        **options,
    )
    v1 = APIRouter(prefix="/v1")
    for module in (observations, prices, reviews, publications, operations):
        v1.include_router(module.router)
    app.include_router(v1)
    app.add_middleware(BodyLimit)
    app.add_middleware(RequestId)
    problems.install(app)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_problems(describe())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the documented way to extend the schema
    return app


def _with_problems(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with errors under the media type that they have."""
    for operations_of in schema["paths"].values():
        for operation in operations_of.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    content = response["content"]
                    response["content"] = {problems.MEDIA_TYPE: content.pop("application/json")}
    return schema
