"""A browser in a process of its own: `GET /health`, `POST /render`.

It holds no database, no key and no pool, so it can run where a page that breaks out of the browser finds
nothing. It trusts its callers with the identity and the robots rules of a page, so it wants a token from
anybody who is not on this machine.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from aiohttp import web

from pricecrawl import __version__
from pricecrawl.domain.errors import PricecrawlError, Refused, UsageProblem
from pricecrawl.rendering.job import RenderJob
from pricecrawl.rendering.local import LocalRenderer

logger = logging.getLogger("pricecrawl.render")

_JOB_LIMIT = 256 * 1024


def application(renderer: LocalRenderer, token: str = "") -> web.Application:
    """The server's routes; with a token only callers that know it may render."""

    async def health(_: web.Request) -> web.Response:
        try:
            browser = await renderer.version()
        except PricecrawlError as problem:
            return web.json_response({"ok": False, "error": str(problem)}, status=503)
        return web.json_response(
            {"ok": True, "version": __version__, "browser": browser, "drawn": renderer.drawn}
        )

    async def render(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and not secrets.compare_digest(given.encode(), token.encode()):
            return _error(401, "This render server wants its token: set PRICECRAWL_RENDER_TOKEN.")
        try:
            job = RenderJob.from_json(await _json(request))
            done = await renderer.render(job)
        except UsageProblem as problem:
            return _error(400, str(problem))
        except Refused as problem:
            return _error(403, str(problem))
        except PricecrawlError as problem:
            logger.info("%s", problem)
            return _error(502, str(problem))
        logger.info("%s drawn in %.1f s, %d requests stopped", job.url, done.seconds, len(done.stopped))
        return web.json_response(done.to_json())

    made = web.Application(client_max_size=_JOB_LIMIT)
    made.router.add_get("/health", health)
    made.router.add_post("/render", render)
    return made


async def serve(renderer: LocalRenderer, host: str, port: int, token: str) -> web.AppRunner:
    """Begin to serve; the runner's `addresses` tell where, its `cleanup` ends it."""
    runner = web.AppRunner(application(renderer, token), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


async def _json(request: web.Request) -> Any:
    try:
        return await request.json()
    except ValueError:
        raise UsageProblem("A render job is a JSON object.") from None


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)
