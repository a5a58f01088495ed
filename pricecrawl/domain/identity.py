"""As whom a request goes out: our declared name, or, only with the shop's permission, as a browser.

There are exactly two ways to an `Identity`. `declared` needs nothing: name, version and contact, so that a
shop can see who reads it and reach us. `browser_like` needs the shop's recorded permission, of the same
source and not revoked; an identity of that kind cannot be built without one, by any path.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from babel.core import get_global
from babel.languages import get_official_languages

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.market import Market

_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{0,60}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,40}")
_CONTACT = re.compile(r"(?:https?://[!-'*-~]+|[!-'*-;=?-~]+@[!-'*-;=?-~]+)")

_PAGE_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8"


class IdentityMode(StrEnum):
    """What a source's `identity_mode` may be."""

    DECLARED = "declared"
    BROWSER_LIKE = "browser_like"


@dataclass(frozen=True, slots=True)
class PermissionRecord:
    """A shop's agreement: who agreed, when, how (mail, contract, call) and for what.

    `source` is the slug that it covers and no other. `revoked_at` ends it.
    """

    source: str
    agreed_by: str
    agreed_at: datetime
    how: str
    purpose: str
    revoked_at: datetime | None = None

    def covers(self, source: str, now: datetime) -> bool:
        """True for its own source, from the moment it was given until it is revoked."""
        complete = all(text.strip() for text in (self.agreed_by, self.how, self.purpose))
        in_force = self.agreed_at <= now and (self.revoked_at is None or now < self.revoked_at)
        return complete and in_force and self.source == source


@dataclass(frozen=True, slots=True)
class Identity:
    """The headers that say who asks, in the order they are sent.

    `permission` is set exactly for a browser-like identity; `egress` is what the identity sticks to.
    """

    mode: IdentityMode
    headers: tuple[tuple[str, str], ...]
    permission: PermissionRecord | None = None
    egress: str = ""

    def __post_init__(self) -> None:
        if (self.mode is IdentityMode.BROWSER_LIKE) != isinstance(self.permission, PermissionRecord):
            raise Refused("A browser-like identity exists only with the shop's permission record.")

    @property
    def user_agent(self) -> str:
        """The User-Agent header."""
        return dict(self.headers)["User-Agent"]


def declared(bot_name: str, version: str, contact: str | None, market: Market | None = None) -> Identity:
    """Our own name: `PricecrawlBot/1.0 (+https://example.org/bot)`, with the languages of the market.

    `contact` is an e-mail address or a URL; None only for a shop on this machine. Raises UsageProblem for
    a name, version or contact that cannot stand in a header.
    """
    if not _NAME.fullmatch(bot_name):
        raise UsageProblem(f"The bot name {bot_name!r} must be letters, hyphens and underscores only.")
    if not _VERSION.fullmatch(version):
        raise UsageProblem(f"The version {version!r} cannot stand in a User-Agent.")
    if contact is not None and not _CONTACT.fullmatch(contact):
        raise UsageProblem(f"The contact {contact!r} must be an e-mail address or an http address.")
    agent = f"{bot_name}/{version}" + (f" (+{contact})" if contact else "")
    headers = [("User-Agent", agent), ("Accept", _PAGE_ACCEPT)]
    languages = accept_language(market)
    if languages:
        headers.append(("Accept-Language", languages))
    if contact and "@" in contact and not contact.startswith("http"):
        headers.append(("From", contact))
    return Identity(IdentityMode.DECLARED, tuple(headers))


@dataclass(frozen=True, slots=True)
class _Browser:
    """One browser on one system; `brands` is empty where the browser sends no client hints."""

    agent: str
    platform: str
    brands: str
    accept: str
    encoding: str


_BLINK_ACCEPT = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
_PLAIN_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGE_ACCEPTS = frozenset({_PAGE_ACCEPT, _BLINK_ACCEPT, _PLAIN_ACCEPT})
"""The Accept values of our identities: anything else was asked for by a spider."""

_WINDOWS, _MAC, _LINUX = (
    "Windows NT 10.0; Win64; x64",
    "Macintosh; Intel Mac OS X 10_15_7",
    "X11; Linux x86_64",
)
_CHROME, _FIREFOX, _SAFARI = 156, 153, "26.4"


def _blink(system: str, platform: str, name: str) -> _Browser:
    agent = (
        f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{_CHROME}.0.0.0 Safari/537.36"
    )
    if name == "Microsoft Edge":
        agent += f" Edg/{_CHROME}.0.0.0"
    brands = f'"Chromium";v="{_CHROME}", "{name}";v="{_CHROME}", "Not)A;Brand";v="24"'
    return _Browser(agent, platform, brands, _BLINK_ACCEPT, "gzip, deflate, br")


def _gecko(system: str) -> _Browser:
    agent = f"Mozilla/5.0 ({system}; rv:{_FIREFOX}.0) Gecko/20100101 Firefox/{_FIREFOX}.0"
    return _Browser(agent, "", "", _PLAIN_ACCEPT, "gzip, deflate, br")


_BROWSERS: tuple[_Browser, ...] = (
    _blink(_WINDOWS, "Windows", "Google Chrome"),
    _blink(_MAC, "macOS", "Google Chrome"),
    _blink(_LINUX, "Linux", "Google Chrome"),
    _blink(_WINDOWS, "Windows", "Microsoft Edge"),
    _gecko(_WINDOWS),
    _gecko("Macintosh; Intel Mac OS X 10.15"),
    _Browser(
        f"Mozilla/5.0 ({_MAC}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{_SAFARI} Safari/605.1.15",
        "",
        "",
        _PLAIN_ACCEPT,
        "gzip, deflate, br",
    ),
)


def browser_like(
    permission: PermissionRecord,
    *,
    source: str,
    now: datetime,
    market: Market | None = None,
    time_zone: str | None = None,
    egress: str = "",
) -> Identity:
    """The header set of one current desktop browser, all parts agreeing with each other.

    The same source and `egress` (the address that requests leave from) always give the same identity, and
    another egress may give another: it stays until the egress changes. Accept-Language follows the market,
    else the country of `time_zone`. Raises Refused when the permission is missing, of another source, not
    yet or no longer in force.
    """
    if not isinstance(permission, PermissionRecord) or not permission.covers(source, now):
        raise Refused(f"{source} has no permission record in force: only our declared identity may be used.")
    digest = hashlib.sha256(f"{source}\0{egress}".encode()).digest()
    browser = _BROWSERS[int.from_bytes(digest[:8], "big") % len(_BROWSERS)]
    languages = accept_language(market, time_zone) or "en-US,en;q=0.9"
    headers: list[tuple[str, str]] = []
    if browser.brands:
        headers += [
            ("sec-ch-ua", browser.brands),
            ("sec-ch-ua-mobile", "?0"),
            ("sec-ch-ua-platform", f'"{browser.platform}"'),
        ]
    headers += [
        ("Upgrade-Insecure-Requests", "1"),
        ("User-Agent", browser.agent),
        ("Accept", browser.accept),
        ("Sec-Fetch-Site", "none"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-User", "?1"),
        ("Sec-Fetch-Dest", "document"),
        ("Accept-Encoding", browser.encoding),
        ("Accept-Language", languages),
    ]
    return Identity(IdentityMode.BROWSER_LIKE, tuple(headers), permission, egress)


def accept_language(market: Market | None, time_zone: str | None = None) -> str:
    """The languages of a market in order of weight: `de-CH,de;q=0.9,en;q=0.8`; empty where nothing is known.

    From the market's locale, else the first official language of its country, else of the country that the
    time zone lies in (CLDR's data).
    """
    locale = (market.locale if market else None) or ""
    country = (market.country if market else None) or ""
    if not country and time_zone:
        country = get_global("zone_territories").get(time_zone, "")
    parts = [part for part in re.split(r"[-_]", locale.partition("@")[0].partition(".")[0]) if part]
    language = parts[0].lower() if parts else ""
    region = next((part.upper() for part in parts[1:] if len(part) == 2 and part.isalpha()), country.upper())
    if not language and region:
        official = get_official_languages(region, de_facto=True)
        language = official[0].partition("_")[0] if official else ""
    if not re.fullmatch(r"[a-z]{2,3}", language):
        return ""
    wanted = [f"{language}-{region}"] if re.fullmatch(r"[A-Z]{2}", region) else []
    wanted += [language] + (["en"] if language != "en" else [])
    return ",".join(tag if place == 0 else f"{tag};q=0.{10 - place}" for place, tag in enumerate(wanted))
