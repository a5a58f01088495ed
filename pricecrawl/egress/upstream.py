"""How a proxy is spoken to: HTTP, HTTPS and SOCKS5, with or without a password."""

from __future__ import annotations

import asyncio
import base64
import ssl

from pricecrawl.domain.egress import Proxy

CONNECT_SECONDS = 20.0
_HEAD_LIMIT = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

# RFC 1928, section 6.
_SOCKS_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "time to live expired",
    7: "command not supported",
    8: "address type not supported",
}


class UpstreamProblem(Exception):
    """The proxy itself did not do its work; the text names no credentials."""


async def dial(proxy: Proxy, trust: ssl.SSLContext | None = None) -> Streams:
    """A connection to the proxy.

    Raises:
        UpstreamProblem: it does not answer, or its certificate is not trusted.
    """
    secure = (trust or ssl.create_default_context()) if proxy.protocol == "https" else None
    try:
        return await asyncio.wait_for(
            asyncio.open_connection(proxy.host, proxy.port, ssl=secure, limit=_HEAD_LIMIT), CONNECT_SECONDS
        )
    except ssl.SSLError as problem:
        raise UpstreamProblem(f"{proxy}: TLS failed ({problem.reason or 'certificate'})") from None
    except TimeoutError:
        raise UpstreamProblem(f"{proxy} did not answer in {CONNECT_SECONDS:.0f} s") from None
    except OSError as problem:
        raise UpstreamProblem(
            f"{proxy} cannot be reached ({problem.strerror or type(problem).__name__})"
        ) from None


async def tunnel(proxy: Proxy, host: str, port: int, trust: ssl.SSLContext | None = None) -> Streams:
    """A connection through the proxy to `host`, which the proxy resolves.

    Raises:
        UpstreamProblem: the proxy does not open it.
    """
    reader, writer = await dial(proxy, trust)
    ask = _socks5 if proxy.protocol == "socks5" else _connect
    try:
        await asyncio.wait_for(ask(proxy, reader, writer, host, port), CONNECT_SECONDS)
    except UpstreamProblem:
        writer.close()
        raise
    except (TimeoutError, OSError, EOFError, asyncio.LimitOverrunError):
        writer.close()
        raise UpstreamProblem(f"{proxy} broke off while it opened a way to {host}") from None
    return reader, writer


def authorization(proxy: Proxy) -> bytes | None:
    """The value of Proxy-Authorization, None for a proxy that asks for none."""
    if not proxy.username:
        return None
    return b"Basic " + base64.b64encode(f"{proxy.username}:{proxy.password or ''}".encode())


async def _connect(
    proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
) -> None:
    name = f"[{host}]" if ":" in host else host
    head = f"CONNECT {name}:{port} HTTP/1.1\r\nHost: {name}:{port}\r\n".encode("ascii")
    value = authorization(proxy)
    if value is not None:
        head += b"Proxy-Authorization: " + value + b"\r\n"
    writer.write(head + b"\r\n")
    await writer.drain()
    answer = await reader.readuntil(b"\r\n\r\n")
    status = answer.split(b" ", 2)[1][:3].decode("latin-1") if answer.count(b" ") else ""
    if status == "407":
        raise UpstreamProblem(f"{proxy} does not accept our credentials (407)")
    if not status.startswith("2"):
        raise UpstreamProblem(f"{proxy} opened no way to {host} (status {status or 'unreadable'})")


async def _socks5(
    proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
) -> None:
    """RFC 1928, with the user name and password of RFC 1929."""
    methods = b"\x00\x02" if proxy.username else b"\x00"
    writer.write(bytes([5, len(methods)]) + methods)
    version, method = await reader.readexactly(2)
    if version != 5 or method not in methods:
        raise UpstreamProblem(f"{proxy} is no SOCKS5 proxy or wants another way to sign in")
    if method == 2:
        name, word = (proxy.username or "").encode(), (proxy.password or "").encode()
        writer.write(bytes([1, len(name)]) + name + bytes([len(word)]) + word)
        if (await reader.readexactly(2))[1] != 0:
            raise UpstreamProblem(f"{proxy} does not accept our credentials")
    target = host.encode("idna") if not host.isascii() else host.encode("ascii")
    writer.write(b"\x05\x01\x00\x03" + bytes([len(target)]) + target + port.to_bytes(2, "big"))
    _, reply, _, kind = await reader.readexactly(4)
    if reply != 0:
        raise UpstreamProblem(f"{proxy} opened no way to {host} ({_SOCKS_REPLIES.get(reply, reply)})")
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(length + 2)
