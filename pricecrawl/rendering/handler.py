"""Scrapy's side of rendering: a download handler that draws what the render middleware marked.

Everything else of a run (robots, sitemaps, feeds) goes through Scrapy's own handler, as it would without a
browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from uuid import uuid4

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.utils.misc import build_from_crawler
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from pricecrawl.config import Config
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.middlewares.verdicts import RenderFailed
from pricecrawl.rendering.chromium import find_chromium, launch_options
from pricecrawl.rendering.client import RemoteRenderer
from pricecrawl.rendering.job import FLAG, JOB, RESULT, Rendered, RenderJob
from pricecrawl.rendering.wall import Wall
from pricecrawl.rendering.watch import Watch


def response_of(request: Request, done: Rendered) -> Response:
    """A drawn page as Scrapy hands responses over; its body is what the browser made of it."""
    request.meta[RESULT] = done
    request.meta["download_latency"] = done.seconds
    if done.redirects:
        request.meta["redirect_urls"] = [*request.meta.get("redirect_urls", []), *done.redirects]
    headers = {name: value for name, value in done.headers.items() if name.lower() not in _NOT_OF_THE_DRAWN}
    return HtmlResponse(
        done.final_url,
        status=done.status,
        headers=headers,
        body=done.html,
        encoding="utf-8",
        request=request,
        flags=[FLAG],
    )


_NOT_OF_THE_DRAWN = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-type"})


class InProcessHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # the library has no types
    """Draws in a browser of this process, through scrapy-playwright."""

    # The browser's driver is started for the first page, not for a run that draws none.
    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._rules: str | None = None
        self._watches: dict[str, Watch] = {}

    async def download_request(self, request: Request) -> Response:
        """A drawn page for a marked request, else Scrapy's own download."""
        job = request.meta.get(JOB)
        if not isinstance(job, RenderJob):
            response: Response = await super().download_request(request)
            return response
        try:
            return await self._draw(request, job)
        except (PricecrawlError, PlaywrightError, TimeoutError) as problem:
            raise RenderFailed(str(problem).splitlines()[0] if str(problem) else "it took too long") from None

    async def _draw(self, request: Request, job: RenderJob) -> Response:
        began = monotonic()
        watch = Watch(job, Wall.of(job))
        await self._ready(watch)
        async with self._meta(request, watch) as name:
            try:
                async with asyncio.timeout(job.timeout * 2 + job.settle_ms / 1000):
                    response: Response = await super().download_request(request)
            except PlaywrightError as problem:
                raise watch.problem(problem) from None
            except TimeoutError:
                raise watch.problem(None) from None
            finally:
                await watch.close()
                await self._forget(name)
            done = Rendered(
                url=job.url,
                final_url=response.url,
                status=response.status,
                headers={
                    key.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
                    for key, values in response.headers.items()
                },
                html=response.text.encode("utf-8", "replace"),
                calls=watch.calls,
                stopped=watch.stopped,
                console=watch.console,
                found=watch.found,
                seconds=monotonic() - began,
            )
        return response_of(request, done)

    @asynccontextmanager
    async def _meta(self, request: Request, watch: Watch) -> AsyncIterator[str]:
        """The library's keys on a request while it is drawn, and not a moment longer."""
        name = f"render-{uuid4().hex}"
        self._watches[name] = watch
        request.meta.update(
            playwright=True,
            playwright_include_page=True,  # else the library logs a traceback for each page that fails
            playwright_context=name,
            playwright_context_kwargs=watch.context_options(),
            playwright_page_init_callback=_attach(watch),
            playwright_page_goto_kwargs={
                "wait_until": "domcontentloaded",
                "timeout": watch.job.timeout * 1000,
            },
        )
        try:
            yield name
        finally:
            del self._watches[name]
            for key in [key for key in request.meta if key.startswith("playwright")]:
                del request.meta[key]

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        """Instead of methods from a request's meta: wait as the row says, and nothing else."""
        await self._watches[request.meta["playwright_context"]].drawn(page)

    async def _ready(self, watch: Watch) -> None:
        """Driver started and the browser's wall known, before the first page."""
        async with self.context_launch_lock:
            if self._rules is None:
                rules = await watch.resolver_rules()
                program = find_chromium(Config.load())
                self.config.launch_options = launch_options(program, rules)
                await self._launch()
                self._rules = rules

    async def _forget(self, name: str) -> None:
        wrapper = self.context_wrappers.get(name)
        if wrapper is not None:
            try:
                await wrapper.context.close()
            except PlaywrightError:
                self.context_wrappers.pop(name, None)


def _attach(watch: Watch) -> Any:
    async def attach(page: Page, request: Request) -> None:  # noqa: ARG001  (the library passes both)
        await watch.attach(page)

    return attach


class ServerHandler:
    """Draws on a render server; downloads everything else itself."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        if crawler.settings.getbool("TWISTED_REACTOR_ENABLED"):
            self._plain: Any = build_from_crawler(HTTP11DownloadHandler, crawler)
        else:
            from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler

            self._plain = build_from_crawler(AiohttpDownloadHandler, crawler)
        config = Config.load()
        self._renderer = RemoteRenderer(config.render_url, config.render_token)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ServerHandler:
        """Built by Scrapy."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """A drawn page for a marked request, else a plain download."""
        job = request.meta.get(JOB)
        if not isinstance(job, RenderJob):
            response: Response = await self._plain.download_request(request)
            return response
        try:
            return response_of(request, await self._renderer.render(job))
        except PricecrawlError as problem:
            raise RenderFailed(str(problem)) from None

    async def close(self) -> None:
        """Let go of connections."""
        await self._renderer.close()
        await self._plain.close()
