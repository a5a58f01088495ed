"""One page of a shop, fetched once for a person who looks at it, through the gates that a crawl passes.

Contact, holds, kill switch, robots.txt with its pace, our declared name, and no way into this network or
around a refusal. Nothing is stored and nothing is asked again.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pricecrawl.cli.output import err
from pricecrawl.cli.robots import fetch_robots
from pricecrawl.domain.errors import PricecrawlError, Refused, UsageProblem
from pricecrawl.domain.robots import RobotsAnswer, RobotsKind, judge_fetch
from pricecrawl.domain.urls import host_key, is_loopback, is_public_address, is_public_url

if TYPE_CHECKING:
    from requests import Session

    from pricecrawl.config import Config
    from pricecrawl.sources.model import Source

_HOPS = 5
_TIMEOUT_SECONDS = 30.0
_PACE_SECONDS = 1.0
"""The floor between two requests to a public host, as in crawls."""

_MAX_BYTES = 32 * 1024 * 1024
_TOLD_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class OnePage:
    """The response at the end of the redirects, decompressed."""

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class _Way:
    """What the hops to one page share."""

    session: Session
    bot_name: str
    own: bool
    row_delay: float
    answers: dict[str, RobotsAnswer] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)


def fetch_page(address: str, config: Config, rows: Sequence[Source]) -> OnePage:
    """The page at an address; `rows` are those of its shop.

    Raises:
        UsageProblem: no contact is configured, or the address is none.
        Refused: a hold, robots.txt or a redirect into a network forbids it.
        SourceBusy: the host is being crawled.
        PricecrawlError: the shop cannot be reached, or the page is too large.
    """
    import requests

    from pricecrawl import __version__
    from pricecrawl.domain.identity import declared

    host = urlsplit(address).hostname or ""
    if not host:
        raise UsageProblem(f"{address} is no address of a page.")
    if not is_loopback(host) and config.contact is None:
        raise UsageProblem("Set PRICECRAWL_CONTACT first: the shop must be able to reach whoever asks.")
    last = _gate(address, config, rows)
    identity = declared(config.bot_name, __version__, config.contact, rows[0].market if rows else None)
    with requests.Session() as session:
        session.trust_env = False
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # a visitor without a session
        session.headers.clear()
        session.headers.update(dict(identity.headers))
        delay = max((float(row.delay_seconds) for row in rows), default=0.0)
        way = _Way(session, config.bot_name, is_loopback(host), delay)
        if last is not None:
            way.asked_at[host_key(address)] = last
        url = address
        for _ in range(_HOPS + 1):
            page, location = _hop(way, address, url)
            if location is None:
                return page
            url = urljoin(url, location)
    raise PricecrawlError(f"{address} redirects more than {_HOPS} times.")


def _gate(address: str, config: Config, rows: Sequence[Source]) -> float | None:
    """Ask holds, kill switch and open runs; gives the time until which the host has to rest, monotonic."""
    from pricecrawl.cli.session import database
    from pricecrawl.db.before import in_the_way, last_on_host

    now, host = datetime.now(UTC), host_key(address)
    with database(config) as engine:
        for slug in [row.slug for row in rows] or [""]:
            problem = in_the_way(engine, slug=slug, host=host, now=now)
            if problem is not None:
                raise problem
        last = last_on_host(engine, host)
    return None if last is None else time.monotonic() - (now - last.ended_at).total_seconds() + last.delay


def _hop(way: _Way, address: str, url: str) -> tuple[OnePage, str | None]:
    """One request, after robots.txt of its origin allowed it; the page, and where it redirects to."""
    import requests

    _check_place(way, url)
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    if origin not in way.answers:
        _rest(way, url, 0.0)
        got = fetch_robots(origin + "/")
        way.answers[origin] = judge_fetch(got.status, got.headers, got.body, got.url, got.final_url)
        way.asked_at[host_key(url)] = time.monotonic()
    answer = way.answers[origin]
    if answer.kind is RobotsKind.UNAVAILABLE:
        raise PricecrawlError(f"{origin} cannot be asked now: {answer.reason}.")
    verdict = answer.strict(way.bot_name, url)
    if not verdict.allowed:
        line = f", line {verdict.line_number}: {verdict.line}" if verdict.line else f": {answer.reason}"
        raise Refused(f"robots.txt of {origin} does not let us read {url}{line}")
    floor = 0.0 if way.own else _PACE_SECONDS
    _rest(way, url, max(floor, way.row_delay, answer.file.delay(way.bot_name) or 0.0))
    try:
        with way.session.get(url, allow_redirects=False, timeout=_TIMEOUT_SECONDS, stream=True) as response:
            way.asked_at[host_key(url)] = time.monotonic()
            body = bytearray()
            for chunk in response.iter_content(65536):
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise PricecrawlError(f"{url} is larger than {_MAX_BYTES >> 20} MB and is not read.")
            headers = {
                name.lower(): value
                for name, value in response.headers.items()
                if name.lower() not in ("content-encoding", "content-length", "set-cookie")
            }
            location = response.headers.get("Location") if response.is_redirect else None
            return OnePage(address, url, response.status_code, headers, bytes(body)), location
    except requests.RequestException as problem:
        raise PricecrawlError(f"{url} cannot be reached ({type(problem).__name__}).") from None


def _check_place(way: _Way, url: str) -> None:
    """Only public places, or this machine for an address on this machine."""
    host = urlsplit(url).hostname or ""
    if way.own and is_loopback(host):
        return
    if urlsplit(url).scheme not in ("http", "https") or not is_public_url(url):
        raise Refused(f"{url} is no public http address.")
    try:
        found = {str(item[4][0]) for item in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        raise PricecrawlError(f"{host} cannot be found.") from None
    inside = sorted(place for place in found if not is_public_address(place))
    if inside:
        raise Refused(f"{host} leads to {inside[0]}, which is inside of a network: it is not fetched.")


def _rest(way: _Way, url: str, delay: float) -> None:
    """Wait until the host may be asked again."""
    last = way.asked_at.get(host_key(url))
    left = 0.0 if last is None else last + delay - time.monotonic()
    if left > _TOLD_SECONDS:
        err.print(f"waiting {left:.0f} s for the pace of {urlsplit(url).hostname}", markup=False)
    if left > 0:
        time.sleep(left)
