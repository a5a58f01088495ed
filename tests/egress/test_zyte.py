"""A paid egress: its key reaches the paid proxy and nothing else, and nothing leaves without one."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from tests.crawl.fixtures import both, db, home
from tests.crawl.whole import Done, FeedShop, crawl, everything, products, row
from tests.egress.proxies import HttpProxy
from tests.egress.test_pool import agree, no

__all__ = ["both", "db", "home"]
CANARY = "c4n4ryc4n4ryc4n4ryc4n4ry"


def zyte(shop: FeedShop, proxy: HttpProxy, monkeypatch: pytest.MonkeyPatch, **settings: object) -> Done:
    async def story() -> Done:
        async with shop, proxy:
            monkeypatch.setenv("PRICECRAWL_ZYTE_URL", f"http://127.0.0.1:{proxy.port}")
            return await crawl(row(shop, egress="zyte"), **settings)

    return asyncio.run(story())


def test_without_a_key_nothing_leaves(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(db)
    shop, proxy = FeedShop(products(3)), HttpProxy()
    done = zyte(shop, proxy, monkeypatch)
    assert (done.exit_code, done.reason) == (1, "refused_to_start")
    assert shop.log == []
    assert proxy.log == []


def test_without_a_permission_nothing_leaves(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICECRAWL_ZYTE_KEY", CANARY)
    shop, proxy = FeedShop(products(3)), HttpProxy()
    done = zyte(shop, proxy, monkeypatch)
    assert (done.exit_code, done.reason) == (3, "refused_to_start")
    assert proxy.log == []


def test_the_key_reaches_the_paid_proxy_and_nothing_else(
    db: Engine,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("PRICECRAWL_ZYTE_KEY", CANARY)
    agree(db, browser=False)
    shop, proxy = FeedShop(products(3)), HttpProxy(login=f"{CANARY}:")
    seen: list[str] = []

    def look(request: web.Request) -> web.Response:
        seen.append(repr(dict(request.headers)))
        return web.json_response({"currency": "EUR", "published_products_count": 3})

    shop.special["/meta.json"] = look
    done = zyte(shop, proxy, monkeypatch, JOBDIR=str(tmp_path / "job"))
    assert (done.exit_code, len(done.items)) == (0, 3)
    assert len(proxy.log) == 3, "robots too"
    assert all(b"X-Crawlera-Profile: pass" in head for head in proxy.heads)
    assert all(b"User-Agent: PricecrawlBot/" in head for head in proxy.heads)
    forms = {CANARY, CANARY[:7], base64.b64encode(f"{CANARY}:".encode()).decode()}
    kept = caplog.text + "".join(seen) + repr(done.stats) + repr(done.crawler.settings.copy_to_dict())
    for path in [*home.rglob("*"), *(tmp_path / "job").rglob("*")]:
        if path.is_file():
            kept += path.read_bytes().decode("latin-1")
    with db.connect() as conn:
        for table in tables.metadata.tables.values():
            kept += repr(list(conn.execute(table.select())))
    assert not [form for form in forms if form in kept]


def test_a_pace_is_kept_through_a_paid_proxy(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICECRAWL_ZYTE_KEY", CANARY)
    agree(db)
    shop = FeedShop(products(3), robots="User-agent: *\nCrawl-delay: 0.5\n")
    zyte(shop, HttpProxy(), monkeypatch)
    assert len(shop.log) == 3
    assert min(later.at - earlier.at for earlier, later in zip(shop.log, shop.log[1:], strict=False)) >= 0.495


@pytest.mark.parametrize("how", ["shop", "paid proxy"])
def test_a_refusal_through_a_paid_proxy_is_one(db: Engine, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setenv("PRICECRAWL_ZYTE_KEY", CANARY)
    agree(db)
    shop = FeedShop(products(3))
    headers = {"X-Crawlera-Error": "banned", "X-Crawlera-Version": "1"}
    shop.special["/meta.json"] = (
        no if how == "shop" else lambda request: web.Response(status=503, headers=headers)
    )
    done = zyte(shop, HttpProxy(), monkeypatch)
    assert done.exit_code == 3
    assert shop.paths == ["/robots.txt", *["/meta.json"] * 4]
    (run,) = everything(db, tables.run)
    assert run.outcome == "blocked"
