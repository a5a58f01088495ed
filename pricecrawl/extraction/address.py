"""What the address of a page asks for: its path, and the variant named in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

# Parameters that say where a visitor came from, never what the page shows.
_TRACKING = ("utm_", "mc_", "pk_", "hsa_", "ga_", "_ga", "_pos", "_sid", "_ss", "_psq", "__")
_TRACKING_NAMES = frozenset(
    (
        *(
            "gclid",
            "fbclid",
            "msclkid",
            "dclid",
            "yclid",
            "ttclid",
            "ref",
            "ref_",
            "referrer",
            "source",
            "src",
        ),
        *(
            "affid",
            "aff",
            "affiliate",
            "campaign",
            "cid",
            "lang",
            "locale",
            "currency",
            "country",
            "sort",
            "page",
        ),
        *(
            "q",
            "query",
            "search",
            "tab",
            "qty",
            "quantity",
            "igshid",
            "srsltid",
            "spm",
            "scm",
            "tag",
            "th",
            "psc",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Address:
    """One address taken apart.

    `path` is decoded, without a trailing slash, lower case; `wanted` are the values of parameters
    and of the fragment that may name a variant; `options` the (name, value) pairs behind them;
    `words` the parts of the path, last first.
    """

    host: str = ""
    path: str = ""
    wanted: frozenset[str] = frozenset()
    options: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = field(default=())

    @property
    def handle(self) -> str:
        """Last part of the path: what most shops name the product by."""
        return self.words[0] if self.words else ""


@lru_cache(maxsize=1024)
def address(url: str) -> Address:
    """An address taken apart; anything unusable gives an empty one."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return Address()
    path = unquote(parts.path).rstrip("/").lower()
    pairs = [(name, value) for name, value in _pairs(parts.query) if value and not _is_tracking(name)]
    fragment = unquote(parts.fragment).strip("/!?")
    if "=" in fragment:
        pairs += [(name, value) for name, value in _pairs(fragment) if value and not _is_tracking(name)]
    elif fragment:
        pairs.append(("#", fragment))
    options = tuple((name.lower(), value.strip().lower()) for name, value in pairs)
    return Address(
        host=host,
        path=path,
        wanted=frozenset(value for _, value in options),
        options=options,
        words=tuple(part for part in reversed(path.split("/")) if part),
    )


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=False, max_num_fields=60)
    except ValueError:
        return []


def _is_tracking(name: str) -> bool:
    low = name.lower()
    return low in _TRACKING_NAMES or low.startswith(_TRACKING)


def same_path(one: str, other: str) -> bool:
    """Both addresses lead to one path; hosts are compared only where both name one."""
    a, b = address(one), address(other)
    if not a.path or not b.path:
        return False
    return a.path == b.path and (not a.host or not b.host or a.host == b.host)
