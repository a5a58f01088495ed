"""A proxy of our own on loopback, between the crawl and the proxies of the pool.

It exists for three reasons. Scrapy and Chromium speak to plain HTTP proxies alone, so it speaks HTTPS and
SOCKS5 for them. They would hold a proxy's password in `meta`, in a job folder and in error texts, so it adds
the password itself, and they know only a token that dies with the run. And a browser resolves nothing that
goes through a proxy, so here stands the wall for what a rendered page asks for.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import re
import secrets
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from pricecrawl.domain.egress import Proxy
from pricecrawl.egress.upstream import CONNECT_SECONDS, Streams, UpstreamProblem, authorization, dial, tunnel

logger = logging.getLogger("pricecrawl.egress")

Allow = Callable[[str, int], bool]
MARK = "X-Pricecrawl-Relay"
"""A header of answers that the relay itself gives; its value is the run's own, so no shop can forge it."""

_HEAD_LIMIT = 64 * 1024
_CHUNK = 64 * 1024
_HOP_HEADERS = frozenset({b"proxy-authorization", b"proxy-connection", b"connection", b"keep-alive"})
_LINE = re.compile(rb"([A-Z]{1,20}) (\S{1,60000}) HTTP/1\.[01]")


@dataclass(slots=True)
class _Way:
    proxy: Proxy
    allow: Allow | None
    problem: str = ""


class Relay:
    """Serves on 127.0.0.1 from `start` to `close`; one per run."""

    def __init__(self, trust: ssl.SSLContext | None = None) -> None:
        self.token = secrets.token_urlsafe(24)
        self.mark = secrets.token_urlsafe(24)
        self.refused: list[tuple[str, int]] = []
        self._trust = trust
        self._ways: dict[str, _Way] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to serve on a port that the system chooses."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD_LIMIT)

    async def close(self) -> None:
        """Stop serving; what is under way is cut."""
        if self._server is None:
            return
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._server = None

    @property
    def url(self) -> str:
        """Address of the relay, without the token."""
        if self._server is None:
            raise RuntimeError("the relay is not running")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def offer(self, key: str, proxy: Proxy, allow: Allow | None = None) -> None:
        """Let clients that sign in as `key` leave through `proxy`, to where `allow` says yes."""
        way = self._ways.get(key)
        if way is None or way.proxy != proxy:
            self._ways[key] = _Way(proxy, allow)
        else:
            way.allow = allow

    def authorization(self, key: str) -> bytes:
        """The Proxy-Authorization of a client that leaves as `key`."""
        return b"Basic " + base64.b64encode(f"{key}:{self.token}".encode())

    def problem(self, key: str) -> str:
        """What last went wrong with the proxy behind `key`, empty if nothing did."""
        way = self._ways.get(key)
        return way.problem if way else ""

    def take_problem(self, key: str) -> str:
        """The same, and forget it."""
        found = self.problem(key)
        if found:
            self._ways[key].problem = ""
        return found

    # --- one connection ------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError):
            pass  # the client went away or never spoke HTTP
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), CONNECT_SECONDS)
        first, *lines = head[:-4].split(b"\r\n")
        match = _LINE.fullmatch(first)
        if match is None:
            await self._say(writer, "400 Bad Request")
            return
        way = self._way(lines)
        if way is None:
            await self._say(
                writer, "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="r"'
            )
            return
        method, target = match[1], match[2].decode("latin-1")
        try:
            parts = urlsplit(f"//{target}" if method == b"CONNECT" else target)
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            host, port = "", 0
        if not host or (way.allow is not None and not way.allow(host, port)):
            self.refused.append((host, port))
            await self._say(writer, "403 Forbidden")
            return
        try:
            if method == b"CONNECT":
                there = await tunnel(way.proxy, host, port, self._trust)
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._pipe((reader, writer), there)
            else:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                await self._forward(way.proxy, match, lines, (host, port, path), (reader, writer))
        except UpstreamProblem as problem:
            way.problem = str(problem)
            logger.info("%s", problem)
            await self._say(writer, "502 Bad Gateway")

    def _way(self, lines: list[bytes]) -> _Way | None:
        """The way of a client that knows the token, else None."""
        for line in lines:
            name, _, value = line.partition(b":")
            if name.strip().lower() != b"proxy-authorization":
                continue
            with contextlib.suppress(ValueError):
                key, _, token = base64.b64decode(value.strip().partition(b" ")[2]).decode().rpartition(":")
                if secrets.compare_digest(token.encode(), self.token.encode()):
                    return self._ways.get(key)
        return None

    async def _forward(
        self,
        proxy: Proxy,
        match: re.Match[bytes],
        lines: list[bytes],
        place: tuple[str, int, str],
        client: Streams,
    ) -> None:
        """One plain HTTP request and its answer; the connection ends with it."""
        kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _HOP_HEADERS]
        host, port, path = place
        target = match[2]
        if proxy.protocol == "socks5":
            there, target = await tunnel(proxy, host, port), path.encode("latin-1")
        else:
            there = await dial(proxy, self._trust)
            value = authorization(proxy)
            if value is not None:
                kept.append(b"Proxy-Authorization: " + value)
        kept.append(b"Connection: close")
        reader, writer = there
        writer.write(b"\r\n".join([match[1] + b" " + target + b" HTTP/1.1", *kept]) + b"\r\n\r\n")
        upload = asyncio.create_task(_copy(client[0], writer))
        try:
            first = await reader.readline()
            if not first:
                raise UpstreamProblem(f"{proxy} broke off without an answer")
            if first.split(b" ", 2)[1:2] == [b"407"]:
                raise UpstreamProblem(f"{proxy} does not accept our credentials (407)")
            client[1].write(first)
            await _copy(reader, client[1])
        except (OSError, ValueError):
            raise UpstreamProblem(f"{proxy} broke off without an answer") from None
        finally:
            upload.cancel()
            writer.close()

    async def _pipe(self, one: Streams, other: Streams) -> None:
        """Bytes in both directions until one side ends."""
        both = {
            asyncio.create_task(_copy(one[0], other[1])),
            asyncio.create_task(_copy(other[0], one[1])),
        }
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            other[1].close()

    async def _say(self, writer: asyncio.StreamWriter, status: str, *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", *headers, f"{MARK}: {self.mark}", "Content-Length: 0"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        with contextlib.suppress(OSError):
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
