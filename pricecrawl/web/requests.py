"""A name for every request, by which its answer is found in the log of the service."""

from __future__ import annotations

from uuid import UUID, uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"
_KEY = "request_id"


class RequestId:
    """Names each request (as the client does, where it sends a UUID) and its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = _given(Headers(scope=scope).get(HEADER, "")) or str(uuid4())
        scope.setdefault("state", {})[_KEY] = name

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = name
            await send(message)

        await self.app(scope, receive, named)


def request_id(scope: Scope) -> str:
    """The name of the request that `scope` is of."""
    name: str = scope["state"][_KEY]
    return name


def _given(text: str) -> str | None:
    """A UUID as one is written; anything else a client sends could be anything."""
    try:
        return text.lower() if str(UUID(text)) == text.lower() else None
    except ValueError:
        return None
