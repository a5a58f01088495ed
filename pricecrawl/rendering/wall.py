"""Where a rendered page may reach: its shop, the asset hosts that the row names, and nothing else.

Kept twice. Every request and every redirect is judged here before it leaves. And the browser resolves no
name but those: whatever slips past (a WebSocket, a worker, a prefetch) finds no address.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from pricecrawl.domain.errors import Refused
from pricecrawl.domain.robots import RobotsFile
from pricecrawl.domain.urls import is_loopback, is_public_address, is_public_host
from pricecrawl.rendering.job import RenderJob

Place = tuple[str, int]
Resolve = Callable[[str, int], Awaitable[list[str]]]

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
# Made by the page itself: nothing leaves for them.
_INNER = frozenset({"data", "blob", "about", "javascript"})
_NOBODY = "*"
NOTHING_ELSE = "MAP * ~NOTFOUND"
"""The resolver rule that ends every list: no other name, and no address, is found."""


@dataclass(frozen=True, slots=True)
class Wall:
    """The rules of one page."""

    home: frozenset[Place]
    assets: frozenset[Place]
    robots: RobotsFile

    @classmethod
    def of(cls, job: RenderJob) -> Wall:
        """The wall around a job.

        Raises:
            Refused: its home or an asset host is an address inside of a network, or its page is not at home.
        """
        home = urlsplit(job.home)
        host, port = (home.hostname or "").lower(), _port(home.scheme, home.port)
        if home.scheme not in ("http", "https") or not (is_public_host(host) or is_loopback(host)):
            raise Refused(f"{job.home} is not an address that may be rendered.")
        places = {(host, port)}
        if not is_loopback(host) and home.port is None:
            twin = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
            places |= {(name, number) for name in (host, twin) for number in (80, 443)}
        for name in job.asset_hosts:
            if not is_public_host(name):
                raise Refused(f"{name} is not a public host name: no page may load from there.")
        lines = [b"User-agent: *", *(b"Disallow: " + rule.encode("latin-1") for rule in job.disallow)]
        wall = cls(
            frozenset(places),
            frozenset((name.lower(), number) for name in job.asset_hosts for number in (80, 443)),
            RobotsFile.parse(b"\n".join(lines)),
        )
        why = wall.why_not(job.url, navigation=True)
        if why is not None:
            raise Refused(f"{job.url} may not be rendered: {why}.")
        return wall

    @property
    def places(self) -> frozenset[Place]:
        """Every host and port that may be reached."""
        return self.home | self.assets

    def allows(self, host: str, port: int) -> bool:
        """Whether a connection may go there at all."""
        return (host.lower(), port) in self.places

    def why_not(self, url: str, *, navigation: bool = False) -> str | None:
        """Why a request may not leave, None if it may."""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower().rstrip("."), _port(parts.scheme, parts.port)
        except ValueError:
            return "no address"
        if parts.scheme in _INNER:
            return None
        if parts.scheme not in _PORTS:
            return f"the scheme {parts.scheme}"
        if (host, port) in self.home:
            verdict = self.robots.strict(_NOBODY, url)
            return None if verdict.allowed else f"robots.txt: {verdict.line}"
        if not is_public_host(host):
            return "an address inside of a network"
        if navigation:
            return "not the shop's own host"
        return None if (host, port) in self.assets else "a host that the row does not name"


async def resolver_rules(wall: Wall, resolve: Resolve | None = None) -> str:
    """Chromium's `--host-resolver-rules`: each place pinned to one checked address, all else not found.

    Pinned, because a name that is asked for twice may answer with another address the second time. A name
    that does not resolve is left out.

    Raises:
        Refused: a public name leads to an address inside of a network.
    """
    rules = []
    for host, port in sorted(wall.places):
        address = await _address(host, port, resolve or _resolve)
        if address is not None:
            rules.append(f"MAP {host}:{port} {address}:{port}")
    return ", ".join([*rules, NOTHING_ELSE])


async def _address(host: str, port: int, resolve: Resolve) -> str | None:
    if is_loopback(host):
        # Only ever the home of a source on this machine.
        return host if host != "localhost" else "127.0.0.1"
    found = await resolve(host, port)
    for address in found:
        if not is_public_address(address):
            raise Refused(f"{host} leads to {address}, which is inside of a network: it is not fetched.")
    best = next((address for address in found if ":" not in address), found[0] if found else None)
    return f"[{best}]" if best is not None and ":" in best else best


async def _resolve(host: str, port: int) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(item[4][0]) for item in found))


def _port(scheme: str, port: int | None) -> int:
    return port if port is not None else _PORTS.get(scheme, 0)
