"""What never reaches evidence: credentials of ours, in headers or in URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit, urlunsplit

HIDDEN = "REDACTED"

_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "set-cookie2",
        "x-api-key",
        "api-key",
        "x-auth-token",
        "x-access-token",
        "x-csrf-token",
        "x-xsrf-token",
        "x-amz-security-token",
        "zyte-api-key",
    }
)
_HEADER_WORDS = re.compile(r"(?:^|-)(?:token|secret|password|apikey|auth|crawlera|zyte)(?:-|$)")

# Names that always hold a secret, and names that hold one if the value looks like one.
_SURE = re.compile(
    r"(?:.*[_-])?(?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|refresh[_-]?token|client[_-]?secret"
    r"|secret|passw(?:or)?d|pwd|session[_-]?id|sessid|phpsessid|jsessionid|signature|x-amz-credential"
    r"|x-amz-signature|x-amz-security-token)",
    re.IGNORECASE,
)
_MAYBE = re.compile(r"(?:.*[_-])?(?:key|token|auth|sid|session|sig|code|jwt|credential)", re.IGNORECASE)
_NOT_IN_URLS = re.compile(r"[^\x21-\x7e]")
_LOOKS_SECRET = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9._~+/=%-]{16,}")


def safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """`headers` without any that may hold a secret; order and spelling stay."""
    return {name: value for name, value in headers.items() if not _is_secret(name.lower())}


def _is_secret(name: str) -> bool:
    return name in _HEADERS or _HEADER_WORDS.search(name) is not None


def safe_url(url: str) -> str:
    """`url` in ASCII, without user and password, and with secret-looking query values hidden."""
    url = _NOT_IN_URLS.sub(lambda found: quote(found[0].encode("utf-8", "replace"), safe=""), url)
    parts = urlsplit(url)
    netloc = parts.netloc.rpartition("@")[2]
    query = parts.query
    if "=" in query:
        query = "&".join(_safe_pair(pair) for pair in query.split("&"))
    if (netloc, query) == (parts.netloc, parts.query):
        return url
    return urlunsplit((parts.scheme, netloc, parts.path, query, parts.fragment))


def _safe_pair(pair: str) -> str:
    name, mark, value = pair.partition("=")
    if not value:
        return pair
    if _SURE.fullmatch(name) or (_MAYBE.fullmatch(name) and _LOOKS_SECRET.fullmatch(value)):
        return f"{name}{mark}{HIDDEN}"
    return pair
