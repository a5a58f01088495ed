"""The way out of a crawl: a pool of real proxies on loopback, its health, and what a 403 may lead to."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from aiohttp import web
from sqlalchemy import Engine, update

from pricecrawl.db import tables
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.permissions import PermissionStore
from pricecrawl.db.proxies import ProxyHealth, ProxyStore
from pricecrawl.domain.egress import Proxy
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.identity import IdentityMode, PermissionRecord
from tests.crawl.fixtures import both, db, home
from tests.crawl.whole import Done, FeedShop, background, crawl, everything, products, row
from tests.egress.proxies import HttpProxy, SocksProxy

__all__ = ["both", "db", "home"]

NOW = datetime(2026, 3, 4, tzinfo=UTC)
OUR_NAME = "PricecrawlBot/0.1.0"


def no(request: web.Request) -> web.Response:
    return web.Response(status=403, text="Forbidden")


def agree(engine: Engine, slug: str = "kettles", *, browser: bool = True) -> None:
    CrawlStore(engine).sync_sources([(slug, "shopify")])
    store = PermissionStore(engine)
    given = datetime.now(UTC) - timedelta(days=1)
    store.record(PermissionRecord(slug, "M. Gull", given, "mail", "prices"), by="ada", now=datetime.now(UTC))
    if browser:
        store.set_identity(slug, IdentityMode.BROWSER_LIKE, by="ada", now=datetime.now(UTC))


def health(engine: Engine) -> dict[int, ProxyHealth]:
    return {item.proxy.id: item for item in ProxyStore(engine).all()}


def pooled(engine: Engine, shop: FeedShop, proxies: list[HttpProxy], **more: object) -> Done:
    async def story() -> Done:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(shop)
            store = ProxyStore(engine)
            for proxy in proxies:
                await stack.enter_async_context(proxy)
                user, _, word = proxy.login.partition(":")
                kind = "socks5" if isinstance(proxy, SocksProxy) else "http"
                store.add(Proxy(0, "127.0.0.1", proxy.port, kind, "DE", user or None, word or None))
            return await crawl(row(shop, egress="pool", **more))

    return asyncio.run(story())


# --- a refusal -----------------------------------------------------------------------------------


def test_without_a_permission_a_403_is_a_refusal_at_once(both: Engine) -> None:
    shop, proxies = FeedShop(products(3)), [HttpProxy() for _ in range(4)]
    shop.special["/meta.json"] = no
    done = pooled(both, shop, proxies)
    assert done.exit_code == 3
    # The server's log is the proof: one request after robots, and no second identity.
    assert shop.paths == ["/robots.txt", "/meta.json"]
    assert {asked.agent for asked in shop.log} == {OUR_NAME}
    assert [len(proxy.log) for proxy in proxies] == [2, 0, 0, 0]
    (run,) = everything(both, tables.run)
    assert (run.outcome, run.identity_mode) == ("blocked", "declared")


def test_with_a_permission_a_403_is_asked_again_three_times_through_different_proxies(both: Engine) -> None:
    agree(both)
    shop, proxies = FeedShop(products(3)), [HttpProxy() for _ in range(6)]
    shop.special["/meta.json"] = no
    done = pooled(both, shop, proxies)
    assert done.exit_code == 3
    assert shop.paths == ["/robots.txt", *["/meta.json"] * 4]
    assert [len(proxy.log) for proxy in proxies] == [2, 1, 1, 1, 0, 0]
    agents = [asked.agent for asked in shop.log]
    assert agents[0] == agents[1], "the identity stays until the egress changes"
    assert all(one != other for one, other in pairwise(agents[1:]))
    assert all(agent.startswith("Mozilla/5.0 (") for agent in agents)
    found = health(both)
    assert [item.failures for item in found.values()] == [1, 1, 1, 1, 0, 0]
    assert {item.last_error for item in list(found.values())[:4]} == {"HTTP 403 from 127.0.0.1"}
    (run,) = everything(both, tables.run)
    assert (run.outcome, run.identity_mode) == ("blocked", "browser_like")


def test_a_permitted_shop_that_answers_the_second_egress_is_read(db: Engine) -> None:
    agree(db)
    shop, proxies = FeedShop(products(3)), [HttpProxy(), HttpProxy()]
    answers = iter([403, 200])

    def meta(request: web.Request) -> web.Response:
        if next(answers) == 403:
            return no(request)
        return web.json_response({"currency": "EUR", "published_products_count": 3})

    shop.special["/meta.json"] = meta
    done = pooled(db, shop, proxies)
    assert (done.exit_code, len(done.items)) == (0, 3)
    assert [len(proxy.log) for proxy in proxies] == [2, 2]
    found = list(health(db).values())
    assert [(item.successes, item.failures) for item in found] == [(1, 1), (2, 0)]
    assert all(item.average_ms is not None for item in found)


def test_a_permission_without_another_way_out_changes_nothing(db: Engine) -> None:
    agree(db)
    shop = FeedShop(products(3))
    shop.special["/meta.json"] = no

    async def story() -> Done:
        async with shop:
            return await crawl(row(shop))

    assert asyncio.run(story()).exit_code == 3
    assert shop.paths == ["/robots.txt", "/meta.json"]


@pytest.mark.parametrize("end", ["revoked", "other source", "no row"])
def test_a_mode_without_a_permission_in_force_is_our_own_name(db: Engine, end: str) -> None:
    """Even if somebody writes the mode into the table by hand."""
    CrawlStore(db).sync_sources([("kettles", "shopify"), ("gull", "shopify")])
    if end == "revoked":
        agree(db)
        PermissionStore(db).revoke("kettles", by="ada", reason="", now=datetime.now(UTC))
    elif end == "other source":
        agree(db, "gull")
    with db.begin() as conn:
        conn.execute(
            update(tables.source)
            .where(tables.source.c.slug == "kettles")
            .values(identity_mode="browser_like")
        )
    shop, proxies = FeedShop(products(3)), [HttpProxy() for _ in range(3)]
    shop.special["/products.json"] = no
    assert pooled(db, shop, proxies).exit_code == 3
    assert {asked.agent for asked in shop.log} == {OUR_NAME}
    assert shop.paths.count("/products.json?limit=250&page=1") == 1


# --- health --------------------------------------------------------------------------------------


def test_the_fifth_failure_takes_a_proxy_out_and_an_operator_brings_it_back(engine: Engine) -> None:
    store = ProxyStore(engine)
    number = store.add(Proxy(0, "proxy.example", 8080, "http", "DE", "u", "secret"))
    with pytest.raises(UsageProblem, match="already"):
        store.add(Proxy(0, "proxy.example", 8080, "http", "DE", "u", "other"))
    store.succeeded(number, 3, 300.0, NOW)
    store.succeeded(number, 1, 500.0, NOW)
    assert [store.failed(number, "timed out", NOW) for _ in range(6)] == [False] * 4 + [True, False]
    assert store.active("DE") == []
    (item,) = store.all()
    assert (item.successes, item.failures, item.average_ms, item.active) == (4, 6, 200, False)
    assert "secret" not in repr(item)
    assert store.restore(["proxy.example:8080"]) == [number]
    assert [proxy.id for proxy in store.active("DE")] == [number]
    assert store.all()[0].failures == 0
    with pytest.raises(UsageProblem, match="There is no proxy"):
        store.restore(["99"])


def test_runs_take_turns_among_proxies_of_their_market(db: Engine) -> None:
    store = ProxyStore(db)
    ids = [store.add(Proxy(0, "127.0.0.1", 1000 + n, "http", country)) for n, country in enumerate("DDF")]
    with db.begin() as conn:
        conn.execute(update(tables.proxy).values(country="DE").where(tables.proxy.c.id.in_(ids[:2])))
    taken = []
    for turn in range(4):
        taken.append(store.active("DE")[0].id)
        store.used(taken[-1], NOW + timedelta(seconds=turn))
    assert taken == [ids[0], ids[1], ids[0], ids[1]]


def test_a_pool_without_a_proxy_of_the_market_refuses_to_start(db: Engine) -> None:
    ProxyStore(db).add(Proxy(0, "127.0.0.1", 9, "http", "FR"))
    shop = FeedShop(products(3))
    done = pooled(db, shop, [])
    assert (done.exit_code, done.reason) == (1, "refused_to_start")
    assert shop.log == []
    assert everything(db, tables.run) == []


def test_a_dead_proxy_is_left_for_the_next_even_for_robots(db: Engine) -> None:
    shop, proxies = FeedShop(products(3)), [HttpProxy(broken=True), HttpProxy(login="u:wrong"), HttpProxy()]
    proxies[1].login = "u:right"

    async def story() -> Done:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(shop)
            for proxy in proxies:
                await stack.enter_async_context(proxy)
                ProxyStore(db).add(Proxy(0, "127.0.0.1", proxy.port, "http", "DE", "u", "wrong"))
            return await crawl(row(shop, egress="pool"))

    done = asyncio.run(story())
    assert (done.exit_code, len(done.items)) == (0, 3)
    found = list(health(db).values())
    assert [item.failures for item in found] == [1, 1, 0]
    assert found[0].last_error is not None
    assert "broke off" in found[0].last_error
    assert found[1].last_error is not None
    assert "407" in found[1].last_error
    assert {asked.agent for asked in shop.log} == {OUR_NAME}


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_a_proxys_password_reaches_the_proxy_and_nothing_else(
    db: Engine, kind: type[HttpProxy], caplog: pytest.LogCaptureFixture
) -> None:
    canary = "c4n4ry-p4ssw0rd"
    caplog.set_level("DEBUG")
    shop, proxies = FeedShop(products(3)), [kind(login=f"u:{canary}")]
    seen: list[str] = []

    def meta(request: web.Request) -> web.Response:
        seen.append(repr(dict(request.headers)))
        return web.json_response({"currency": "EUR", "published_products_count": 3})

    shop.special["/meta.json"] = meta
    done = pooled(db, shop, proxies)
    assert (done.exit_code, len(done.items)) == (0, 3)
    assert len(proxies[0].log) == 3
    assert canary not in caplog.text
    assert seen
    assert not [text for text in seen if canary in text or "roxy" in text]
    with db.connect() as conn:
        for table in tables.metadata.tables.values():
            if table.name != "proxy":
                assert canary not in repr(list(conn.execute(table.select())))


def test_a_permission_that_is_revoked_ends_the_run_that_goes_by_it(db: Engine) -> None:
    agree(db)
    shop = FeedShop(products(600), robots="User-agent: *\nCrawl-delay: 5\n")
    asked = asyncio.Event()

    def meta(request: web.Request) -> web.Response:
        asked.set()
        return web.json_response({"currency": "EUR", "published_products_count": 600})

    shop.special["/meta.json"] = meta

    async def revoke() -> None:
        await asked.wait()
        PermissionStore(db).revoke("kettles", by="ada", reason="asked", now=datetime.now(UTC))

    async def story() -> Done:
        async with shop, background(revoke()):
            return await crawl(row(shop))

    assert asyncio.run(story()).exit_code != 0
    (run,) = everything(db, tables.run)
    assert run.outcome == "held"
    assert "revoked" in run.detail
    assert "/products.json?limit=250&page=2" not in shop.paths
