"""Real proxies on loopback, in asyncio: HTTP, HTTPS and SOCKS5, each with a log of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


async def pipe(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    other: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    tasks = {asyncio.create_task(copy(one[0], other[1])), asyncio.create_task(copy(other[0], one[1]))}
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    other[1].close()


@dataclass
class HttpProxy:
    """A forward proxy that also opens tunnels. `log` has each target; `heads` the bytes it was asked with.

    `login` is `user:password` if it wants one; `broken` makes it hang up without a word. Every name is taken
    for this machine, so that a test can ask for public names and nothing leaves.
    """

    login: str = ""
    broken: bool = False
    tls: ssl.SSLContext | None = None
    log: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *problem: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            if not self.broken:
                await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        wanted = f"Basic {base64.b64encode(self.login.encode()).decode()}".encode()
        if self.login and wanted not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        self.log.append(target)
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        there = await asyncio.open_connection("127.0.0.1", parts.port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            lines = [f"{method} {path} HTTP/1.1".encode()] + [
                line for line in head[:-4].split(b"\r\n")[1:] if not line.lower().startswith(b"proxy-")
            ]
            there[1].write(b"\r\n".join(lines) + b"\r\n\r\n")
        await pipe((reader, writer), there)


@dataclass
class SocksProxy(HttpProxy):
    """SOCKS5, with or without a log-in."""

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if self.login:
            if 2 not in methods:
                writer.write(b"\x05\xff")
                return
            writer.write(b"\x05\x02")
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            word = await reader.readexactly((await reader.readexactly(1))[0])
            good = f"{user.decode()}:{word.decode()}" == self.login
            writer.write(b"\x01" + (b"\x00" if good else b"\x01"))
            if not good:
                await writer.drain()
                return
        else:
            writer.write(b"\x05\x00")
        await reader.readexactly(4)
        host = await reader.readexactly((await reader.readexactly(1))[0])
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.log.append(f"{host.decode()}:{port}")
        try:
            there = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            await writer.drain()
            return
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await pipe((reader, writer), there)
