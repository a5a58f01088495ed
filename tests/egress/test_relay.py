"""Our own proxy on loopback: three protocols, one wall, and nobody without the token."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from pricecrawl.domain.egress import Proxy
from pricecrawl.egress.relay import MARK, Allow, Relay
from tests.crawl.whole import FeedShop, products
from tests.egress.certificates import self_signed
from tests.egress.proxies import HttpProxy, SocksProxy


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls") / "proxy.pem")


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def serving(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@asynccontextmanager
async def relayed(
    proxy: HttpProxy, protocol: str, *, trust: ssl.SSLContext | None = None, allow: Allow | None = None
) -> AsyncIterator[tuple[Relay, aiohttp.ClientSession]]:
    user, _, word = proxy.login.partition(":")
    relay = Relay(trust)
    await relay.start()
    relay.offer("p", Proxy(1, "127.0.0.1", proxy.port, protocol, "DE", user or None, word or None), allow)
    try:
        async with aiohttp.ClientSession() as session:
            yield relay, session
    finally:
        await relay.close()


def way(relay: Relay, key: str = "p", token: str | None = None) -> str:
    return relay.url.replace("//", f"//{key}:{token or relay.token}@")


def proxies(certificate: Path) -> list[tuple[str, HttpProxy]]:
    return [
        ("http", HttpProxy(login="u:w")),
        ("https", HttpProxy(login="u:w", tls=serving(certificate))),
        ("socks5", SocksProxy(login="u:w")),
        ("socks5", SocksProxy()),
    ]


@pytest.mark.parametrize("number", range(4))
def test_plain_requests_go_through_every_protocol(certificate: Path, number: int) -> None:
    protocol, proxy = proxies(certificate)[number]

    async def story() -> None:
        async with FeedShop(products(2)) as shop, proxy:
            async with relayed(proxy, protocol, trust=trusting(certificate)) as (relay, session):
                for _ in range(2):
                    async with session.get(
                        f"{shop.origin}/products.json?limit=2", proxy=way(relay)
                    ) as response:
                        assert response.status == 200
                        assert len((await response.json())["products"]) == 2
                assert relay.problem("p") == ""
            assert len(proxy.log) == 2
            assert not {"Proxy-Authorization", "Proxy-Connection"} & shop.log[0].headers.keys()

    asyncio.run(story())


@pytest.mark.parametrize("number", range(4))
def test_a_tunnel_to_a_tls_shop_goes_through_every_protocol(certificate: Path, number: int) -> None:
    protocol, proxy = proxies(certificate)[number]

    async def hello(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def story() -> None:
        app = web.Application()
        app.router.add_get("/", hello)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving(certificate)).start()
        port = runner.addresses[0][1]
        async with proxy, relayed(proxy, protocol, trust=trusting(certificate)) as (relay, session):
            options = {"proxy": way(relay), "ssl": trusting(certificate)}
            response = await session.get(f"https://localhost:{port}/", **options)
            assert await response.text() == "hello"
        assert proxy.log == [f"localhost:{port}"]
        await runner.cleanup()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("protocol", "words"), [("http", "broke off"), ("socks5", "broke off"), ("https", "TLS failed")]
)
def test_a_proxy_that_fails_is_named_without_its_password(
    certificate: Path, protocol: str, words: str
) -> None:
    # The last one's certificate is not trusted here.
    proxy = HttpProxy(tls=serving(certificate)) if protocol == "https" else HttpProxy(broken=True)

    async def story() -> None:
        async with proxy, relayed(proxy, protocol) as (relay, session):
            relay.offer("p", Proxy(1, "127.0.0.1", proxy.port, protocol, "DE", "u", "c4n4ry"))
            async with session.get("http://shop.example/", proxy=way(relay)) as response:
                assert response.status == 502
                assert response.headers[MARK] == relay.mark
            assert words in relay.problem("p")
            assert str(proxy.port) in relay.problem("p")
            assert "c4n4ry" not in relay.problem("p")

    asyncio.run(story())


def test_nobody_without_the_token_and_nowhere_behind_the_wall() -> None:
    async def story() -> None:
        async with FeedShop(products(2)) as shop, HttpProxy() as proxy:
            port = int(shop.origin.rpartition(":")[2])
            async with relayed(
                proxy, "http", allow=lambda host, at: (host, at) == ("shop.example", port)
            ) as (
                relay,
                session,
            ):
                for guess in (relay.url, way(relay, "p", "guess"), way(relay, "q")):
                    async with session.get(shop.origin, proxy=guess) as response:
                        assert response.status == 407
                        assert relay.token not in repr(response.headers)
                async with session.get(f"http://shop.example:{port}/meta.json", proxy=way(relay)) as response:
                    assert response.status == 200
                for url in ("http://other.example/", f"{shop.origin}/", "http://169.254.169.254/"):
                    async with session.get(url, proxy=way(relay)) as response:
                        assert response.status == 403
                assert relay.refused == [
                    ("other.example", 80),
                    ("127.0.0.1", port),
                    ("169.254.169.254", 80),
                ]
            assert proxy.log == [f"http://shop.example:{port}/meta.json"]
            assert len(shop.log) == 1

    asyncio.run(story())


def test_what_is_no_http_is_hung_up_on() -> None:
    async def story() -> None:
        async with HttpProxy() as proxy, relayed(proxy, "http") as (relay, _):
            port = int(relay.url.rpartition(":")[2])
            for words in (b"hello\r\n\r\n", b"GET nonsense HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(words)
                assert (await asyncio.wait_for(reader.read(), 5)).startswith((b"HTTP/1.1 40", b""))
                writer.close()
            assert proxy.log == []

    asyncio.run(story())
