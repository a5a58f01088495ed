"""One page while it is drawn: what it may ask for, what it asked for, what it said.

No hands: nothing here moves a pointer, presses a key or answers a dialog. A page that opens a dialog and
waits for an answer waits for ever, and its time runs out.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, ConsoleMessage, Dialog, Page, Response, Route, WebSocket
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from pricecrawl.rendering.job import (
    MAX_CALL_BYTES,
    MAX_CALLS,
    MAX_NOTES,
    Call,
    RenderJob,
    RenderProblem,
    Stopped,
)
from pricecrawl.rendering.wall import NOTHING_ELSE, Resolve, Wall, resolver_rules

# Connections that the resolver rules do not see are taken from the page before its first script runs.
_NO_SIDE_DOORS = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
  try { Object.defineProperty(globalThis, name, { value: undefined, configurable: false }); } catch {}
}
"""
_NAMED = frozenset({"user-agent", "accept-language", "from"})
_JSON_SECONDS = 5.0


class Watch:
    """Put on a fresh page before it navigates, asked when it is drawn."""

    def __init__(self, job: RenderJob, wall: Wall) -> None:
        self.job, self.wall = job, wall
        self.calls: list[Call] = []
        self.stopped: list[Stopped] = []
        self.console: list[str] = []
        self.found: bool | None = None
        self.dialog = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._cdp: CDPSession | None = None
        self._identity = {name.lower(): (name, value) for name, value in job.headers}

    def context_options(self) -> dict[str, Any]:
        """For Playwright's `new_context`: nothing kept, no service worker, the run's own name."""
        options: dict[str, Any] = {"service_workers": "block", "accept_downloads": False}
        if "user-agent" in self._identity:
            options["user_agent"] = self._identity["user-agent"][1]
        if self.job.locale:
            options["locale"] = self.job.locale.replace("_", "-")
        if self.job.proxy is not None:
            server, user, password = self.job.proxy
            options["proxy"] = {"server": server, "username": user, "password": password}
        return options

    async def resolver_rules(self, resolve: Resolve | None = None) -> str:
        """What the browser may resolve: through a proxy only the relay, which keeps the wall itself."""
        if self.job.proxy is None:
            return await resolver_rules(self.wall, resolve)
        relay = urlsplit(self.job.proxy[0]).netloc
        return f"MAP {relay} {relay}, {NOTHING_ELSE}"

    async def attach(self, page: Page) -> None:
        """Judge every request of the page from now on, redirects and workers too, and listen to it."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note(f"uncaught: {error}"))
        page.on("websocket", self._socket)
        page.on("response", self._answered)
        page.on("dialog", self._asked)
        page.on("popup", self._popup)
        await page.add_init_script(_NO_SIDE_DOORS)
        # For windows that the page opens; the page's own requests are judged below, redirects included.
        await page.context.route("**", self._routed)
        self._cdp = await page.context.new_cdp_session(page)
        self._cdp.on("Fetch.requestPaused", lambda event: self._spawn(self._paused(event)))
        await self._cdp.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def drawn(self, page: Page) -> None:
        """Wait for what the row waits for, then for the page to settle.

        Raises:
            RenderProblem: the page waits for an answer to a dialog.
        """
        if self.job.wait_for and not self.dialog:
            try:
                await page.wait_for_selector(
                    f"css={self.job.wait_for}", state="attached", timeout=self.job.timeout * 1000
                )
                self.found = True
            except PlaywrightTimeout:
                self.found = False
        await asyncio.sleep(self.job.settle_ms / 1000)
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_JSON_SECONDS)
        if self.dialog:
            raise self.problem(None)

    def problem(self, error: Exception | None) -> RenderProblem:
        """What went wrong with a page that could not be drawn; None for one that took too long."""
        document = self.stopped[0] if self.stopped and self.stopped[0].kind == "Document" else None
        if self.dialog:
            why = f"opened a dialog and waits for an answer that it never gets: {self.dialog}"
        elif document is not None:
            why = f"leads to {document.url}, which is not fetched: {document.why}"
        elif error is None or isinstance(error, PlaywrightTimeout):
            why = f"was not drawn in {self.job.timeout:.0f} s"
        else:
            why = f"could not be drawn: {first_line(error)}"
        return RenderProblem(f"{self.job.url} {why}")

    async def close(self) -> None:
        """Let go of what is still under way."""
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- requests ------------------------------------------------------------------------------

    async def _paused(self, event: dict[str, Any]) -> None:
        assert self._cdp is not None
        request, kind = event["request"], str(event.get("resourceType", "Other"))
        navigation = kind == "Document"
        why = self.wall.why_not(request["url"], navigation=navigation)
        answer: dict[str, Any] = {"requestId": event["requestId"]}
        with contextlib.suppress(PlaywrightError):  # the page may be gone by now
            if why is not None:
                self._stop(request["url"], kind, why)
                await self._cdp.send("Fetch.failRequest", {**answer, "errorReason": "BlockedByClient"})
                return
            answer["headers"] = self._named(request["headers"])
            await self._cdp.send("Fetch.continueRequest", answer)

    def _named(self, headers: dict[str, str]) -> list[dict[str, str]]:
        """The browser's headers with the run's name in place of the engine's own."""
        kept = {
            name: value
            for name, value in headers.items()
            if name.lower() not in _NAMED and not name.lower().startswith("sec-ch-ua")
        }
        for lowered, (name, value) in self._identity.items():
            if lowered in _NAMED or lowered.startswith("sec-ch-ua"):
                kept[name] = value
        return [{"name": name, "value": value} for name, value in kept.items()]

    async def _routed(self, route: Route) -> None:
        why = self.wall.why_not(route.request.url, navigation=route.request.is_navigation_request())
        with contextlib.suppress(PlaywrightError):
            if why is None:
                await route.continue_()
            else:
                self._stop(route.request.url, route.request.resource_type, why)
                await route.abort("blockedbyclient")

    def _socket(self, socket: WebSocket) -> None:
        why = self.wall.why_not(socket.url)
        if why is not None:
            self._stop(socket.url, "WebSocket", why)

    def _popup(self, page: Page) -> None:
        self._note(f"the page opened a window: {page.url}")
        self._spawn(self._shut(page))

    async def _shut(self, page: Page) -> None:
        with contextlib.suppress(PlaywrightError):
            await page.close()

    def _stop(self, url: str, kind: str, why: str) -> None:
        stop = Stopped(url[:2000], kind, why)
        if len(self.stopped) < MAX_NOTES and stop not in self.stopped:
            self.stopped.append(stop)

    # --- what it said --------------------------------------------------------------------------

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.text)

    def _note(self, text: str) -> None:
        if len(self.console) < MAX_NOTES:
            self.console.append(text[:500])

    def _asked(self, dialog: Dialog) -> None:
        # A listener that does nothing is what keeps Playwright from dismissing it.
        self.dialog = self.dialog or f"{dialog.type}: {dialog.message[:200]}"

    def _answered(self, response: Response) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if (kind == "application/json" or kind.endswith("+json")) and len(self.calls) < MAX_CALLS:
            self._spawn(self._keep(response, kind))

    async def _keep(self, response: Response, kind: str) -> None:
        with contextlib.suppress(PlaywrightError):
            body = await response.body()
            if len(body) <= MAX_CALL_BYTES and len(self.calls) < MAX_CALLS:
                self.calls.append(Call(response.url, response.status, kind, body))

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def first_line(problem: Exception) -> str:
    """The first line of an error of Playwright, whose texts have many."""
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
