"""The settings that keep a crawl harmless, as Scrapy really applies them."""

from __future__ import annotations

import asyncio
import zlib

import pytest
from aiohttp import web
from scrapy import Request
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.exceptions import NotSupported
from sqlalchemy import Engine

from pricecrawl.cli.crawl_process import project_settings
from pricecrawl.db import tables
from pricecrawl.extensions.current import current_run
from tests.crawl.whole import FeedShop, crawl, crawler_of, everything, products, row


def test_tls_is_verified_and_no_port_is_opened() -> None:
    settings = project_settings()
    assert settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") is True
    for name in ("REMOTE_CONTROL_ENABLED", "TELNETCONSOLE_ENABLED", "COOKIES_ENABLED", "HTTPPROXY_ENABLED"):
        assert settings.getbool(name) is False, name
    assert settings.getint("DOWNLOAD_MAXSIZE") == 32 * 1024 * 1024
    assert settings.getint("DOWNLOAD_TIMEOUT") == 30
    assert settings.getint("REDIRECT_MAX_TIMES") == 5
    stock = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert stock["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"] is None
    assert stock["scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware"] is None


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://shop.example/x", "s3://bucket/x", "data:,hello"]
)
def test_no_other_protocol_is_spoken(db: Engine, url: str) -> None:
    async def story() -> None:
        crawler = crawler_of(row(FeedShop(origin="http://127.0.0.1:1")))
        crawler.spider = crawler.spidercls.from_crawler(crawler)
        crawler._apply_settings()
        handlers = DownloadHandlers(crawler)
        with pytest.raises(NotSupported):
            await handlers.download_request_async(Request(url))
        await handlers._close()
        current_run(crawler).close()

    asyncio.run(story())


def crawl_with(db: Engine, answer: web.Response, **settings: object) -> tuple[int, list[str]]:
    async def story() -> tuple[int, list[str]]:
        async with FeedShop(products(3)) as shop:
            shop.special["/products.json"] = lambda request: web.Response(
                body=answer.body, headers=dict(answer.headers), status=answer.status
            )
            await crawl(row(shop), RETRY_TIMES=0, **settings)
            (run,) = everything(db, tables.run)
            return run.listings, [run.outcome, run.coverage]

    return asyncio.run(story())


def test_a_body_that_grows_when_unpacked_is_dropped(db: Engine) -> None:
    packed = zlib.compress(b" " * (40 * 1024 * 1024), 9)
    assert len(packed) < 100_000
    bomb = web.Response(
        body=packed, headers={"Content-Encoding": "deflate", "Content-Type": "application/json"}
    )
    assert crawl_with(db, bomb) == (0, ["finished", "partial"])


def test_a_body_that_is_too_large_is_dropped(db: Engine) -> None:
    large = web.Response(body=b" " * 2_000_000, headers={"Content-Type": "application/json"})
    assert crawl_with(db, large, DOWNLOAD_MAXSIZE=1_000_000) == (0, ["finished", "partial"])


def test_redirects_end(db: Engine) -> None:
    async def story() -> list[str]:
        async with FeedShop(products(3)) as shop:
            shop.special["*"] = lambda request: web.Response(
                status=302, headers={"Location": f"/{len(shop.log)}"}
            )
            await crawl(row(shop))
            return shop.paths

    assert len(asyncio.run(story())) <= 2 + 3 * 6
