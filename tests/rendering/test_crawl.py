"""Rendered pages on the whole way: pace, robots, challenge, evidence, extraction, in both modes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.config import Config
from pricecrawl.db import tables
from pricecrawl.db.proxies import ProxyStore
from pricecrawl.domain.egress import Proxy
from pricecrawl.extensions.current import current_run
from pricecrawl.rendering.chromium import find_chromium
from pricecrawl.rendering.local import LocalRenderer
from pricecrawl.rendering.server import serve
from tests.crawl.fixtures import both, db, home
from tests.crawl.whole import Done, FeedShop, crawl, crawler_of, everything, row
from tests.egress.proxies import HttpProxy
from tests.rendering.site import Listener, Site, html

__all__ = ["both", "db", "home"]

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PRODUCT = """<!DOCTYPE html><title>Kettle {n}</title><h1>Kettle {n}</h1><main><div id="buy"></div></main>
<img src="http://127.0.0.1:{next_door}/pixel.gif"><img src="/private/x">
<script>fetch("/api/{n}.json").then((r) => r.json()).then((d) => {{
  document.querySelector("#buy").innerHTML =
    '<p class="price">' + d.price + '</p><button>Add to basket</button><p class="sku">' + d.sku + "</p>";
}}); console.error("complaint {n}");</script>"""


def furnish(shop: Site, next_door: int) -> None:
    for n in (1, 2):
        shop.pages[f"/kettle-{n}"] = html(PRODUCT.format(n=n, next_door=next_door))
        price = {"price": f"€ {n}9.90", "sku": f"K{n}"}
        shop.pages[f"/api/{n}.json"] = lambda request, price=price: web.json_response(price)  # type: ignore[misc]


def rendered(shop: Site, **more: Any) -> dict[str, Any]:
    return {
        **row(FeedShop(origin=shop.url.rstrip("/"))),
        "product_urls": ["kettle-1", "kettle-2"],
        "render": True,
        "wait_for": ".price",
        "rules": {"price": [".price"], "source_sku": [".sku"]},
        **more,
    }


def toml(values: dict[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return repr(value).replace("'", '"')

    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = ["[[source]]", *(f"{k} = {text(v)}" for k, v in values.items() if k not in tables)]
    for name, table in tables.items():
        lines += [f"[source.{name}]", *(f"{k} = {text(v)}" for k, v in table.items())]
    return "\n".join(lines)


async def by_command(rows: Path, values: dict[str, Any]) -> tuple[int, str]:
    (rows / "retailer.toml").write_text(toml(values), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scrapy", "crawl", "kettles"),
        cwd=ROOT,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    _, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode is not None
    return process.returncode, err.decode()


@asynccontextmanager
async def server(monkeypatch: pytest.MonkeyPatch, token: str = "") -> AsyncIterator[str]:
    async with LocalRenderer(find_chromium(Config.load())) as renderer:
        runner = await serve(renderer, "127.0.0.1", 0, token)
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        monkeypatch.setenv("PRICECRAWL_RENDER_URL", url)
        if token:
            monkeypatch.setenv("PRICECRAWL_RENDER_TOKEN", token)
        try:
            yield url
        finally:
            await runner.cleanup()


def check(db: Engine, shop: Site, other: Listener, log: str) -> None:
    prices = {item.source_sku: (str(item.price), item.currency) for item in everything(db, tables.listing)}
    assert prices == {"K1": ("19.90", "EUR"), "K2": ("29.90", "EUR")}
    kinds = sorted(record.kind for record in everything(db, tables.evidence))
    assert kinds == ["call", "call", "page", "page", "robots"]
    assert other.log == []
    assert shop.paths[0] == "/robots.txt"
    assert not [path for path in shop.paths if path.startswith("/private")]
    assert {asked.agent for asked in shop.log} == {"PricecrawlBot/0.1.0"}
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.counts["leftovers/rendered"]) == ("finished", 2)
    assert run.counts["leftovers/render/stopped"] == 4
    for words in (
        f"{other.port}/pixel.gif",
        "an address inside of a network",
        "Disallow: /private",
        "complaint 1",
    ):
        assert words in log


def test_in_this_process_through_scrapy_playwright(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    (tmp_path / "rows").mkdir()
    shop, other = Site(), Listener()

    async def story() -> str:
        async with shop, other:
            furnish(shop, other.port)
            code, err = await by_command(tmp_path / "rows", rendered(shop))
            assert code == 0, err
            assert "Traceback" not in err
            return err

    log = asyncio.run(story())
    check(db, shop, other, log)
    assert "without its sandbox" in log or "root" not in log


def test_through_a_render_server(
    db: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shop, other = Site(), Listener()

    async def story() -> Done:
        async with shop, other, server(monkeypatch, "t0k3n"):
            furnish(shop, other.port)
            return await crawl(rendered(shop), "retailer")

    assert asyncio.run(story()).exit_code == 0
    check(db, shop, other, caplog.text)
    assert "t0k3n" not in caplog.text


def test_a_pool_is_left_through_and_its_wall_holds(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    (tmp_path / "rows").mkdir()
    shop, other, proxy = Site(), Listener(), HttpProxy(login="u:c4n4ry")

    async def story() -> str:
        async with shop, other, proxy:
            furnish(shop, other.port)
            ProxyStore(db).add(Proxy(0, "127.0.0.1", proxy.port, "http", "DE", "u", "c4n4ry"))
            code, err = await by_command(tmp_path / "rows", rendered(shop, egress="pool"))
            assert code == 0, err
            return err

    log = asyncio.run(story())
    check(db, shop, other, log)
    assert len(proxy.log) >= len(shop.log)
    assert not [target for target in proxy.log if str(shop.port) not in target]
    assert "c4n4ry" not in log


def test_a_gate_in_a_drawn_page_ends_the_run(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Site()

    async def story() -> Done:
        async with shop, server(monkeypatch):
            shop.pages["/kettle-1"] = html("<div id=app></div><script>1</script>")
            shop.pages["/kettle-2"] = html("<h1>no</h1>")
            return await crawl(rendered(shop, wait_for=None), "retailer")

    assert asyncio.run(story()).exit_code == 3
    (run,) = everything(db, tables.run)
    assert run.outcome == "blocked"
    assert "rendered-shell" in run.detail


def test_a_budget_that_is_spent_makes_the_run_capped(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Site()

    async def story() -> Done:
        async with shop, server(monkeypatch), Listener() as other:
            furnish(shop, other.port)
            return await crawl(rendered(shop, render_budget=1), "retailer")

    assert asyncio.run(story()).exit_code == 0
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.coverage_reason, run.listings) == ("finished", "capped", 1)


def test_without_a_browser_the_run_does_not_start(
    db: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    shop = Site()

    async def story() -> Done:
        async with shop:
            crawler = crawler_of(rendered(shop), "retailer", DOWNLOAD_HANDLERS={})
            from tests.crawl.whole import run

            return await run(crawler)

    done = asyncio.run(story())
    assert (done.exit_code, done.reason) == (1, "refused_to_start")
    assert shop.log == []


def test_rendered_pages_of_a_public_shop_come_ten_seconds_apart(db: Engine) -> None:
    shop = {**rendered(Site(port=1)), "base_url": "https://shop.example.com/"}
    crawler = crawler_of(shop, "retailer")
    crawler.spider = crawler.spidercls.from_crawler(crawler)
    crawler._apply_settings()
    current = current_run(crawler)
    assert current.own_delay("shop.example.com") == 10.0
    current.close()
