"""How much a client may send."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricecrawl.web.problems import Problem, answer

MAX_BODY = 256 * 1024
"""Bytes of one request body; an observation has some two thousand."""

_DRAINED = 16 * 1024 * 1024
"""A client that is still sending does not read the answer: so much more is taken and thrown away."""


class BodyLimit:
    """Refuses a body over `MAX_BODY` bytes, announced or not, before anything reads it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        size = 0
        more = True
        while more and size <= _DRAINED:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client is gone
            part = message.get("body", b"")
            size += len(part)
            if size <= MAX_BODY:
                body += part
            more = message.get("more_body", False)
        if size > MAX_BODY:
            detail = f"A request body has at most {MAX_BODY} bytes."
            await answer(scope, Problem(413, "too_large", detail))(scope, receive, send)
            return
        whole: Message | None = {"type": "http.request", "body": bytes(body), "more_body": False}

        async def replay() -> Message:
            nonlocal whole
            if whole is not None:
                first, whole = whole, None
                return first
            return await receive()

        await self.app(scope, replay, send)
