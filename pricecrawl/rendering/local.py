"""A browser of our own, in this process: what the render server and the tests use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from time import monotonic
from typing import Protocol, Self

from playwright.async_api import Browser, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response as PageResponse

from pricecrawl.rendering.chromium import launch_options
from pricecrawl.rendering.job import Rendered, RenderJob, RenderProblem
from pricecrawl.rendering.wall import NOTHING_ELSE, Resolve, Wall
from pricecrawl.rendering.watch import Watch, first_line

logger = logging.getLogger("pricecrawl.render")

# A wall is a browser's own: shops that are read at the same time have one each.
_BROWSERS = 2


class Renderer(Protocol):
    """What draws a page: this process or a server."""

    async def render(self, job: RenderJob) -> Rendered:
        """The page as drawn.

        Raises:
            Refused: the job asks for what no page may have.
            RenderProblem: the page could not be drawn.
        """
        ...


class LocalRenderer:
    """Draws pages in Chromium, each in a context of its own that is thrown away."""

    def __init__(self, program: Path, *, at_once: int = 2, resolve: Resolve | None = None) -> None:
        self._program, self._resolve = program, resolve
        self._playwright: Playwright | None = None
        self._browsers: dict[str, Browser] = {}
        self._using: dict[str, int] = {}
        self._lock = asyncio.Lock()
        self._room = asyncio.Semaphore(at_once)
        self.drawn = 0

    async def __aenter__(self) -> Self:
        self._playwright = await async_playwright().start()
        return self

    async def __aexit__(self, *problem: object) -> None:
        for browser in self._browsers.values():
            with contextlib.suppress(PlaywrightError):
                await browser.close()
        if self._playwright is not None:
            await self._playwright.stop()

    async def version(self) -> str:
        """The browser's own version; starts one that may reach nothing."""
        browser = await self._browser(NOTHING_ELSE)
        return browser.version

    async def render(self, job: RenderJob) -> Rendered:
        """See `Renderer`."""
        watch = Watch(job, Wall.of(job))
        rules = await watch.resolver_rules(self._resolve)
        async with self._room:
            browser = await self._browser(rules)
            self._using[rules] = self._using.get(rules, 0) + 1
            try:
                return await draw(browser, watch)
            finally:
                self._using[rules] -= 1
                self.drawn += 1

    async def _browser(self, rules: str) -> Browser:
        """The browser with this wall; one that nobody uses makes room for it."""
        async with self._lock:
            known = self._browsers.get(rules)
            if known is not None and known.is_connected():
                return known
            for other in list(self._browsers):
                if len(self._browsers) >= _BROWSERS and not self._using.get(other):
                    await self._browsers.pop(other).close()
            assert self._playwright is not None
            try:
                options = launch_options(self._program, rules)
                browser = await self._playwright.chromium.launch(**options)
            except PlaywrightError as problem:
                raise RenderProblem(f"Chromium did not start: {first_line(problem)}") from None
            self._browsers[rules] = browser
            return browser


async def draw(browser: Browser, watch: Watch) -> Rendered:
    """One page in a fresh context.

    Raises:
        RenderProblem: it could not be drawn in its time.
    """
    began, job = monotonic(), watch.job
    context = await browser.new_context(**watch.context_options())
    try:
        page = await context.new_page()
        await watch.attach(page)
        async with asyncio.timeout(job.timeout * 2 + job.settle_ms / 1000):
            response = await page.goto(job.url, wait_until="domcontentloaded", timeout=job.timeout * 1000)
            await watch.drawn(page)
            return await _result(page, response, watch, monotonic() - began)
    except PlaywrightError as problem:
        raise watch.problem(problem) from None
    except TimeoutError:
        raise watch.problem(None) from None
    finally:
        await watch.close()
        with contextlib.suppress(PlaywrightError):
            await context.close()


async def _result(page: Page, response: PageResponse | None, watch: Watch, seconds: float) -> Rendered:
    if response is None:
        raise RenderProblem(f"{watch.job.url} gave no page.")
    hops: list[str] = []
    request = response.request.redirected_from
    while request is not None:
        hops.insert(0, request.url)
        request = request.redirected_from
    return Rendered(
        url=watch.job.url,
        final_url=page.url,
        status=response.status,
        headers={
            name: value
            for name, value in (await response.all_headers()).items()
            if name != "content-encoding"
        },
        html=(await page.content()).encode("utf-8", "replace"),
        calls=watch.calls,
        stopped=watch.stopped,
        console=watch.console,
        found=watch.found,
        redirects=hops,
        seconds=seconds,
    )
