"""As whom and through what the requests of one run leave.

Decided in one place, because the two belong together: an identity stays until the egress changes, and the
egress changes only when a proxy failed, or, with the shop's permission, when the shop refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

from pricecrawl import __version__
from pricecrawl.config import Config
from pricecrawl.domain.egress import REFUSED_RETRIES, EgressKind, Proxy
from pricecrawl.domain.errors import PricecrawlError, Refused
from pricecrawl.domain.identity import Identity, IdentityMode, PermissionRecord, browser_like, declared
from pricecrawl.domain.market import Market
from pricecrawl.egress.relay import Allow, Relay
from pricecrawl.egress.zyte import zyte_proxy

if TYPE_CHECKING:
    from pricecrawl.db.proxies import ProxyStore
    from pricecrawl.sources.model import Source

logger = logging.getLogger("pricecrawl.egress")

# Answers that are counted together before the table hears of them.
_FLUSH = 20
# Enough to meet another browser than the one before, of the few that there are.
_TURNS = 32


class NoEgress(PricecrawlError):
    """The row asks for a way out that there is not."""


class Passage:
    """The way out of one run.

    `egress` names it for the identity, for the run's log and for the answer that came through it: `direct`,
    `proxy:7`, `zyte:0`. Methods that write to the database do it in a thread.
    """

    def __init__(
        self,
        source: Source,
        config: Config,
        pool: ProxyStore,
        *,
        mode: IdentityMode,
        permission: PermissionRecord | None,
        now: datetime,
    ) -> None:
        """Blocking: reads the pool.

        Raises:
            NoEgress: the row wants a pool without an active proxy of its market, or Zyte without a key.
            Refused: the row wants Zyte, whose exits rotate, and the shop gave no permission.
        """
        self.kind = EgressKind(source.egress)
        self.relay = Relay()
        self._slug, self._country = source.slug, source.country
        self._market: Market = source.market
        self._store = pool
        self._permission = permission
        self._mode = mode if permission is not None else IdentityMode.DECLARED
        self._declared = declared(config.bot_name, __version__, config.contact, source.market)
        self._identity: Identity | None = None
        self._named_for = ""
        self._current: Proxy | None = None
        self._turn = 0
        self._rendered = source.render
        self._tried: dict[bytes, set[str]] = defaultdict(set)
        self._unsaved: dict[int, list[float]] = defaultdict(list)
        self._moving = asyncio.Lock()
        if self.kind is EgressKind.POOL:
            self._take(self._pool(), now)
        elif self.kind is EgressKind.ZYTE:
            self._current = zyte_proxy(config, self._slug)
            if permission is None:
                raise Refused(
                    f"{self._slug} leaves through Zyte, whose exits rotate, and the shop gave no permission: "
                    f"`pricecrawl sources permit {self._slug}` stores one."
                )

    # --- what it is ----------------------------------------------------------------------------

    @property
    def egress(self) -> str:
        """The way out as of now."""
        if self.kind is EgressKind.ZYTE:
            return f"zyte:{self._turn}"
        return f"proxy:{self._current.id}" if self._current is not None else "direct"

    def permission(self, now: datetime) -> PermissionRecord | None:
        """The shop's permission, if it is in force."""
        found = self._permission
        return found if found is not None and found.covers(self._slug, now) else None

    def identity(self, now: datetime) -> Identity:
        """As whom a request goes out; the same until the egress changes."""
        permission = self.permission(now)
        if self._mode is not IdentityMode.BROWSER_LIKE or permission is None:
            return self._declared
        if self._identity is None or self._named_for != self.egress:
            self._identity, self._named_for = self._another(permission, now), self.egress
        return self._identity

    def _another(self, permission: PermissionRecord, now: datetime) -> Identity:
        """The identity of this egress, and not the one of the egress before."""
        before = self._identity.user_agent if self._identity is not None else None
        for turn in range(_TURNS):
            found = browser_like(
                permission,
                source=self._slug,
                now=now,
                market=self._market,
                egress=f"{self.egress}/{turn}" if turn else self.egress,
            )
            # What Chromium draws can only call itself Chromium.
            fits = not self._rendered or " Chrome/" in found.user_agent
            if found.user_agent != before and fits:
                break
        return found

    @property
    def mode(self) -> IdentityMode:
        """The kind of identity that the run began with."""
        return self._mode

    @property
    def is_proxied(self) -> bool:
        """True if nothing may leave but through a proxy."""
        return self.kind is not EgressKind.DIRECT

    async def start(self) -> None:
        """Begin to serve the relay, where the run needs one."""
        if self.is_proxied:
            await self.relay.start()

    def route(self, allow: Allow | None = None) -> tuple[str, bytes] | None:
        """The proxy for a request and the Proxy-Authorization for it; None for a direct one.

        Both are the relay's: they hold no credential of a proxy. `allow` is the wall of a page that is
        rendered; it has a way of its own, `<egress>/page`.
        """
        if self._current is None:
            return None
        key = self.egress if allow is None else f"{self.egress}/page"
        self.relay.offer(key, self._current, allow)
        return self.relay.url, self.relay.authorization(key)

    # --- what became of a request --------------------------------------------------------------

    async def answered(self, egress: str, seconds: float, now: datetime) -> None:
        """An answer came through; counted, and written down with the next handful."""
        number = _number(egress)
        if number is None:
            return
        self._unsaved[number].append(seconds * 1000)
        if len(self._unsaved[number]) >= _FLUSH:
            await self.flush(now)

    async def broke(self, egress: str, error: str, now: datetime) -> None:
        """A proxy did not do its work: one failure more, and the run takes another if there is one."""
        found = self.relay.take_problem(egress) or self.relay.take_problem(f"{egress}/page")
        await self._fail(egress, found or error, now)
        await self._move(egress, {egress}, now)

    def broke_a_page(self, egress: str) -> bool:
        """Whether it was the proxy that failed a page that could not be drawn, and not the page itself."""
        return bool(self.relay.problem(f"{egress}/page"))

    async def refused(
        self, egress: str, fingerprint: bytes, error: str, permission: PermissionRecord, now: datetime
    ) -> bool:
        """The shop answered 403 although it agreed to us: True if the request may be asked again.

        At most three times, each time through an egress that this request has not seen; the identity changes
        with it. Needs the permission itself, not a word that there is one.
        """
        if not isinstance(permission, PermissionRecord) or not permission.covers(self._slug, now):
            return False
        await self._fail(egress, error, now)
        tried = self._tried[fingerprint]
        tried.add(egress)
        if len(tried) > REFUSED_RETRIES:
            return False
        return await self._move(egress, tried, now)

    async def flush(self, now: datetime) -> None:
        """Write down the answers that are not in the table yet."""
        unsaved, self._unsaved = self._unsaved, defaultdict(list)
        for number, times in unsaved.items():
            await asyncio.to_thread(self._store.succeeded, number, len(times), sum(times), now)

    async def close(self, now: datetime) -> None:
        """The run is over."""
        await self.flush(now)
        await self.relay.close()

    async def _fail(self, egress: str, error: str, now: datetime) -> None:
        number = _number(egress)
        if number is not None and await asyncio.to_thread(self._store.failed, number, error, now):
            logger.warning("%s is out after its failures, the last: %s", egress, error)

    async def _move(self, since: str, not_these: set[str], now: datetime) -> bool:
        """Leave through another egress from now on; False if there is none that is not in `not_these`."""
        async with self._moving:
            if self.egress != since and self.egress not in not_these:
                return True  # another request moved us on already
            if self.kind is EgressKind.ZYTE:
                self._turn += 1
                return True
            if self.kind is not EgressKind.POOL:
                return False
            pool = await asyncio.to_thread(self._store.active, self._country)
            left = [proxy for proxy in pool if f"proxy:{proxy.id}" not in not_these]
            if not left:
                return False
            await asyncio.to_thread(self._take, left, now)
            logger.info("leaving through %s now", self.egress)
            return True

    def _pool(self) -> list[Proxy]:
        found = self._store.active(self._country)
        if not found:
            raise NoEgress(
                f"{self._slug} leaves through the pool, and it has no active proxy of {self._country}: "
                "`pricecrawl proxies list` shows the pool, `proxies add` and `proxies restore` fill it."
            )
        return found

    def _take(self, pool: list[Proxy], now: datetime) -> None:
        self._current = pool[0]
        self._store.used(pool[0].id, now)


def _number(egress: str) -> int | None:
    kind, _, number = egress.partition(":")
    return int(number) if kind == "proxy" and number.isdigit() else None
