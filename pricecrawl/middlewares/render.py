"""Which pages are drawn by a browser, and what becomes of what a browser saw.

Innermost: what it marks has passed robots, pace and identity, and what is drawn passes the challenge rule and
evidence like any other page. A run has a budget; when it is spent, the run has seen a part of the shop.
"""

from __future__ import annotations

from dataclasses import replace

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse

from pricecrawl.extensions.current import CurrentRun, current_run, now
from pricecrawl.middlewares.robots import RobotsMiddleware
from pricecrawl.middlewares.verdicts import BudgetSpent
from pricecrawl.rendering.job import FLAG, JOB, RESULT, Rendered, RenderJob
from pricecrawl.rendering.wall import Wall

_PAGE_SECONDS = 30.0


class RenderMiddleware:
    """Downloader middleware of runs whose row says `render = true`."""

    def __init__(self, run: CurrentRun) -> None:
        self._run = run
        self._left = int(run.source.render_budget)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RenderMiddleware:
        """Built by Scrapy."""
        run = current_run(crawler)
        if not run.source.render:
            raise NotConfigured
        return cls(run)

    def process_request(self, request: Request) -> None:
        """Mark a page to be drawn; `meta["render"] = False` is for what is no page, such as a sitemap."""
        if self._run.is_own(request) or request.meta.get("render") is False or request.method != "GET":
            return
        if self._left < 1:
            raise BudgetSpent(f"the render budget of {self._run.source.render_budget} pages is spent")
        self._left -= 1
        self._run.counts.leftovers["rendered"] += 1
        request.meta[JOB] = self._job(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Say what was stopped and what the page complained of; keep the JSON that it asked for."""
        done = request.meta.get(RESULT)
        request.meta.pop(JOB, None)
        if not isinstance(done, Rendered) or FLAG not in response.flags:
            return response
        for stopped in done.stopped:
            self._run.counts.leftovers["render/stopped"] += 1
            self._run.note(f"{request.url} asked for {stopped.url} ({stopped.kind}): {stopped.why}")
        for line in done.console:
            self._run.counts.leftovers["render/console"] += 1
            self._run.note(f"{request.url} says: {line}")
        if done.found is False:
            self._run.note(f"{request.url} never showed {self._run.source.wait_for}")
        for call in done.calls:
            headers = {"Content-Type": call.content_type}
            kept = TextResponse(
                call.url, status=call.status, headers=headers, body=call.body, request=Request(call.url)
            )
            await self._run.keep(kept, kind="call")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A job is for one try: it must not travel with a retry."""
        request.meta.pop(JOB, None)

    def _job(self, request: Request) -> RenderJob:
        source, passage = self._run.source, self._run.passage
        assert passage is not None
        job = RenderJob(
            url=request.url,
            home=source.base_url,
            asset_hosts=tuple(source.asset_hosts),
            disallow=self._disallow(request.url),
            headers=passage.identity(now()).headers,
            locale=self._run.spider.market.locale,
            wait_for=source.wait_for,
            settle_ms=source.settle_ms,
            timeout=_PAGE_SECONDS,
        )
        route = passage.route(Wall.of(job).allows)
        if route is None:
            return job
        address, _ = route
        return replace(job, proxy=(address, f"{passage.egress}/page", passage.relay.token))

    def _disallow(self, url: str) -> tuple[str, ...]:
        """The rules of the origin's robots file, which the robots middleware has read for this request."""
        found: RobotsMiddleware | None = next(
            (
                item
                for item in self._run.crawler.engine.downloader.middleware.middlewares
                if isinstance(item, RobotsMiddleware)
            ),
            None,
        )
        assert found is not None
        return found.disallowed(url)
