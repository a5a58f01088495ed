"""A shop whose pages are drawn by scripts, and a server next door that nobody may reach. Both keep a log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from tests.crawl.whole import Asked, monotonic

Answer = Callable[[web.Request], web.StreamResponse]


def html(body: str, status: int = 200) -> Answer:
    return lambda request: web.Response(text=body, content_type="text/html", status=status)


@dataclass
class Site:
    """Answers `pages` by path; `log` has every request, WebSocket handshakes too."""

    pages: dict[str, Answer] = field(default_factory=dict)
    robots: str = "User-agent: *\nDisallow: /private\n"
    log: list[Asked] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.log]

    @property
    def headers(self) -> Mapping[str, str]:
        """Of the last request."""
        return self.log[-1].headers

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        agent = request.headers.get("User-Agent", "")
        self.log.append(Asked(request.path_qs, agent, dict(request.headers), monotonic()))
        if request.path == "/robots.txt":
            return web.Response(text=self.robots)
        answer = self.pages.get(request.path)
        return answer(request) if answer else web.Response(status=404, text="not here")


@dataclass
class Listener:
    """Takes anything on one port, TCP and UDP, and only notes that it came: a bare connection counts."""

    log: list[str] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: _Datagrams(self.log), ("127.0.0.1", self.port)
        )
        return self

    async def __aexit__(self, *problem: object) -> None:
        self._udp.close()
        self._server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.log.append("a connection")
        writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, log: list[str]) -> None:
        self._log = log

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._log.append("a datagram")


def moved(to: str) -> Answer:
    return lambda request: web.Response(status=302, headers={"Location": to})
