"""May we fetch this? Reads each origin's robots.txt once a run, keeps it as evidence, and obeys it.

The policy is `domain.robots`: this shell fetches, asks, and acts. A refused robots.txt ends the run as
`blocked`, an unreachable one as `unavailable`; a forbidden path is a refusal of that one request. The check
runs on every request that goes through the downloader, redirects and retries included, and no meta key or
setting lifts it.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.reasons import RefusalReason
from pricecrawl.domain.robots import RobotsAnswer, RobotsKind, judge_fetch
from pricecrawl.domain.run import RunOutcome
from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.extensions.pages import headers_of
from pricecrawl.middlewares.pace import host_of, pin_slot, set_pace
from pricecrawl.middlewares.verdicts import Forbidden, RunEnded

_HOPS = 5  # RFC 9309, 2.3.1.2
_TIMEOUT_SECONDS = 15.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class RobotsMiddleware:
    """Downloader middleware at the place of Scrapy's own."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._bot_name = run.config.bot_name
        self._answers: dict[str, asyncio.Task[RobotsAnswer]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        """Built by Scrapy."""
        return cls(current_run(crawler))

    async def process_request(self, request: Request) -> None:
        """Ignore the request unless its origin's robots.txt, read in this run, allows it."""
        host = pin_slot(request)
        if self._run.is_own(request):
            return
        set_pace(self._run.crawler.engine.downloader, host, self._run.own_delay(host))
        answer = await self._answer(request.url)
        if self._run.stopped is not None:
            raise RunEnded(f"the run has ended: {self._run.stopped.detail}")
        verdict = answer.strict(self._bot_name, request.url)
        if not verdict.allowed:
            detail = f"robots.txt line {verdict.line_number}: {verdict.line}"
            self._run.refuse(RefusalReason.ROBOTS_DISALLOWED, request.url, detail)
            self._run.counts.forbidden += request.errback is None
            raise Forbidden(f"{request.url} is forbidden by {detail}")

    def allows(self, url: str) -> bool | None:
        """Whether an origin that was already read allows a URL; None if it was not read yet."""
        task = self._answers.get(_origin(url))
        if task is None or not task.done() or task.cancelled() or task.exception():
            return None
        return task.result().strict(self._bot_name, url).allowed

    def disallowed(self, url: str) -> tuple[str, ...]:
        """The Disallow values that bind us at an origin that was read, for a browser's sub-requests."""
        return self._answers[_origin(url)].result().file.disallowed_patterns(self._bot_name)

    async def _answer(self, url: str) -> RobotsAnswer:
        origin = _origin(url)
        task = self._answers.get(origin)
        if task is None:
            task = self._answers[origin] = asyncio.create_task(self._read(origin))
        try:
            # Shielded: one request that is dropped must not cancel what the others wait for.
            return await asyncio.shield(task)
        except PricecrawlError as problem:
            # A robots file that cannot be kept as evidence cannot be shown to have been obeyed.
            self._run.stop(RunOutcome.ERROR, str(problem))
            raise RunEnded(str(problem)) from None

    async def _read(self, origin: str) -> RobotsAnswer:
        await self._run.wait_for_turn()
        url = f"{origin}/robots.txt"
        response = await self._fetch(url)
        if response is None:
            answer = judge_fetch(None, {}, b"", url)
        else:
            answer = judge_fetch(response.status, headers_of(response), response.body, url, response.url)
            await self._keep(origin, response, answer)
        host = host_of(origin)
        delay = max(answer.file.delay(self._bot_name) or 0.0, self._run.own_delay(host))
        self._run.delay = max(self._run.delay, set_pace(self._run.crawler.engine.downloader, host, delay))
        if self._run.is_home(origin) and self._run.run_id is not None:
            await self._run.in_database(self._remember, self._run.run_id)
        self._act(url, answer)
        return answer

    def _remember(self, run_id: int) -> None:
        """The pace outlives a run that is killed: the next one keeps its distance by it."""
        from pricecrawl.db.before import remember_pace

        remember_pace(self._run.store.engine, run_id, self._run.delay)

    def _act(self, url: str, answer: RobotsAnswer) -> None:
        if answer.kind is RobotsKind.REFUSED:
            self._run.refuse(answer.refusal or RefusalReason.ROBOTS_FORBIDDEN, url, answer.reason)
            self._run.stop(RunOutcome.BLOCKED, f"{url}: {answer.reason}")
        elif answer.kind is RobotsKind.UNAVAILABLE:
            self._run.counts.outages["robots"] += 1
            self._run.stop(RunOutcome.UNAVAILABLE, f"{url}: {answer.reason}")

    async def _keep(self, origin: str, response: Response, answer: RobotsAnswer) -> None:
        kept = await self._run.keep(response, kind="robots")
        if kept is not None and self._run.is_home(origin):
            self._run.robots_digest, self._run.robots_read_at = kept.digest, now()

    async def _fetch(self, url: str) -> Response | None:
        """The response at the end of at most five redirects; None for a timeout or a broken connection.

        The redirects are followed here, so that a hop to another host keeps that host's pace, and so that
        the last one is judged and never read as a page.
        """
        response: Response | None = None
        for _ in range(_HOPS + 1):
            request = Request(
                url,
                callback=NO_CALLBACK,
                priority=1000,
                dont_filter=True,
                meta={
                    "dont_redirect": True,
                    "dont_retry": True,
                    "handle_httpstatus_all": True,
                    "download_timeout": _TIMEOUT_SECONDS,
                },
            )
            passage = self._run.passage
            egress = passage.egress if passage else ""
            with self._run.own(request):
                try:
                    response = await self._run.crawler.engine.download_async(request)
                except Exception as problem:
                    if passage is not None and passage.egress != egress:
                        continue  # it was the proxy that failed, and there is another
                    self._run.note(f"{url} could not be fetched: {type(problem).__name__}")
                    return None
            location = response.headers.get("Location")
            if response.status not in _REDIRECTS or not location:
                return response
            url = urljoin(url, location.decode("latin-1"))
            if urlsplit(url).scheme not in {"http", "https"}:
                return response
        return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
