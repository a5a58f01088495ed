"""Every way to send a request, walked by a spider that tries to go out as somebody else."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scrapy import Request
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from sqlalchemy import Engine

from pricecrawl.cli.crawl_process import project_settings
from pricecrawl.rendering.job import RenderJob
from pricecrawl.sources.model import Source
from pricecrawl.spiders.base import PlatformSpider
from tests.crawl.whole import IN_PROCESS, Done, FeedShop, row, run
from tests.egress.test_pool import agree
from tests.rendering.site import Listener, Site, html, moved
from tests.rendering.test_crawl import server

PACKAGE = Path(__file__).resolve().parents[2] / "pricecrawl"
OUR_NAME = "PricecrawlBot/0.1.0 (+bot@prices.example)"
WAYS = {
    *("/start", "/from-start", "/callback", "/errback", "/followed", "/crawled", "/downloaded", "/posted"),
    *("/redirect", "/redirected", "/fails", "/too-fast", "/one"),
}


class Sly(PlatformSpider[Source]):
    """Puts another name, a session and another way out on every request that it makes."""

    platform = "sly"
    source_model = Source
    other = 0

    def sly(self, path: str, **more: Any) -> Request:
        meta = {
            "proxy": f"http://127.0.0.1:{self.other}",
            "egress": "proxy:1",
            "dont_obey_robotstxt": True,
            "playwright": True,
            "playwright_context_kwargs": {"user_agent": "Mozilla/5.0 (sly)"},
            "pricecrawl_render": RenderJob(
                self.source.url(path), self.source.base_url, headers=(("User-Agent", "Mozilla/5.0 (sly)"),)
            ),
        }
        headers = {
            "User-Agent": "Mozilla/5.0 (sly)",
            "From": "somebody@else.example",
            "sec-ch-ua": '"Sly";v="1"',
            "Sec-Fetch-Mode": "navigate",
            "Cookie": "session=1",
            "Authorization": "Basic c2x5",
            "Proxy-Authorization": "Basic c2x5",
        }
        options = {
            "headers": headers,
            "meta": {**meta, **more.pop("meta", {})},
            "errback": self.failed,
            **more,
        }
        return Request(self.source.url(path), dont_filter=True, **options)

    async def start(self) -> AsyncIterator[Any]:
        if self.only_sku:
            async for request in super().start():
                yield request
            return
        yield self.sly("start", callback=self.walk_on)
        yield Request(self.source.url("from-start"), headers={"User-Agent": "sly"}, callback=self.ignore)

    def read_one(self, source_sku: str, url: str) -> Request:
        return self.sly("one", callback=self.ignore)

    def ignore(self, response: Response) -> Iterable[Request]:
        return []

    async def walk_on(self, response: Response) -> AsyncIterator[Request]:
        yield self.sly("callback", callback=self.ignore)
        yield self.sly("missing", callback=self.ignore, errback=self.go_on)
        yield response.follow("followed", callback=self.ignore, headers={"User-Agent": "sly"})
        yield self.sly("redirect", callback=self.ignore)
        yield self.sly("fails", callback=self.ignore)
        yield self.sly("too-fast", callback=self.ignore)
        yield self.sly("posted", method="POST", body=b"{}", callback=self.ignore)
        assert self.crawler.engine is not None
        self.crawler.engine.crawl(self.sly("crawled", callback=self.ignore))
        await self.crawler.engine.download_async(self.sly("downloaded", callback=NO_CALLBACK))

    def go_on(self, failure: object) -> Iterator[Request]:
        yield self.sly("errback", callback=self.ignore)


def answers(ways: set[str]) -> dict[str, Any]:
    """Each way gives a page at last; two of them only at the second try."""
    tried: set[str] = set()
    page = html("<h1>A kettle</h1><p>" + "A page with enough words on it. " * 9 + "</p>")

    def second(status: int, headers: dict[str, str]) -> Any:
        def answer(request: web.Request) -> web.StreamResponse:
            if request.path in tried:
                return page(request)
            tried.add(request.path)
            return web.Response(status=status, headers=headers, text="later")

        return answer

    made: dict[str, Any] = dict.fromkeys(ways, page)
    made["/redirect"] = moved("/redirected")
    made["/fails"] = second(500, {})
    made["/too-fast"] = second(429, {"Retry-After": "0"})
    return made


def walked(db: Engine, monkeypatch: pytest.MonkeyPatch, *, render: bool) -> tuple[Site, Listener]:
    """The whole shop and one listing, with settings that would name us otherwise."""
    monkeypatch.setenv("PRICECRAWL_CONTACT", "bot@prices.example")
    shop, other = Site(answers(WAYS)), Listener()

    async def crawl() -> list[Done]:
        values = {**row(FeedShop(origin=shop.url.rstrip("/"))), "render": render}
        Sly.other = other.port
        kind = Sly.bound(Source.model_validate(values))
        named = {"USER_AGENT": "Mozilla/5.0 (set)", "DEFAULT_REQUEST_HEADERS": {"User-Agent": "set"}}
        done = []
        for arguments in ({}, {"only_sku": "1"}):
            runner = AsyncCrawlerRunner(project_settings({**IN_PROCESS, **named}))
            done.append(await run(runner.create_crawler(kind), **arguments))
        return done

    async def story() -> list[Done]:
        async with shop, other:
            if not render:
                return await crawl()
            async with server(monkeypatch):
                return await crawl()

    assert [done.exit_code for done in asyncio.run(story())] == [0, 0]
    return shop, other


@pytest.mark.parametrize(
    "render",
    [
        pytest.param(False, id="text"),
        pytest.param(True, id="drawn", marks=[pytest.mark.browser, pytest.mark.xdist_group("browser")]),
    ],
)
def test_without_a_permission_no_second_identity_is_ever_sent(
    db: Engine, monkeypatch: pytest.MonkeyPatch, render: bool
) -> None:
    shop, other = walked(db, monkeypatch, render=render)
    # The server's log is the proof.
    assert {"/robots.txt", *WAYS} <= set(shop.paths)
    assert shop.paths.count("/fails") == shop.paths.count("/too-fast") == 2
    assert {asked.agent for asked in shop.log} == {OUR_NAME}
    assert {asked.headers.get("From") for asked in shop.log} == {"bot@prices.example"}
    names = {name.lower() for asked in shop.log for name in asked.headers}
    assert not names & {"cookie", "authorization", "proxy-authorization", "sec-ch-ua"}
    assert not [asked for asked in shop.log if "sly" in repr(asked.headers).lower()]
    assert other.log == [], "nothing leaves by another way either"


@pytest.mark.parametrize(
    "render",
    [
        pytest.param(False, id="text"),
        pytest.param(True, id="drawn", marks=[pytest.mark.browser, pytest.mark.xdist_group("browser")]),
    ],
)
def test_with_a_permission_there_is_one_identity_and_it_stays(
    db: Engine, monkeypatch: pytest.MonkeyPatch, render: bool
) -> None:
    agree(db)
    shop, other = walked(db, monkeypatch, render=render)
    assert {"/robots.txt", *WAYS} <= set(shop.paths)
    (agent,) = {asked.agent for asked in shop.log}
    assert agent.startswith("Mozilla/5.0 (")
    assert "sly" not in agent
    headers = [{name.lower(): value for name, value in asked.headers.items()} for asked in shop.log]
    (hints,) = {sent.get("sec-ch-ua", "") for sent in headers}
    assert bool(hints) == (" Chrome/" in agent)
    assert "Sly" not in hints
    (languages,) = {sent["accept-language"] for sent in headers}
    assert languages.startswith("de")
    assert not [sent for sent in headers if "from" in sent]
    assert other.log == []


# --- and no way around the middlewares --------------------------------------------------------------


def calls(name: str) -> list[str]:
    """Modules of the package that call something of this name."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
    }
    return sorted(found)


def test_a_browser_like_identity_is_made_in_one_place() -> None:
    assert calls("browser_like") == ["egress/passage.py"]
    assert calls("Identity") == ["domain/identity.py"]
    assert calls("identity") == ["middlewares/identity.py", "middlewares/render.py"]


CLIENTS = {"requests", "httpx", "aiohttp", "urllib3", "http", "curl_cffi", "playwright", "socket"}


def test_the_crawl_side_has_no_http_client_of_its_own() -> None:
    for folder in ("spiders", "middlewares", "pipelines", "extensions", "extraction"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module]
                assert not [name for name in names if name.split(".")[0] in CLIENTS], path
                assert "urllib.request" not in names, path
                # The downloader's handlers are behind the middlewares.
                assert getattr(node, "attr", "") not in {"download_request_async", "download_request"}, path
