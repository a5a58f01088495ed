"""Through what a request leaves: from this machine, through a proxy of a pool, or through a paid service."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

FAILURES_OUT = 5
"""So many failures take a proxy out, until an operator brings it back."""

REFUSED_RETRIES = 3
"""With the shop's permission, a 403 is asked again so often at most, each time through another egress."""

PROTOCOLS = ("http", "https", "socks5")


class EgressKind(StrEnum):
    """What a row's `egress` may be."""

    DIRECT = "direct"
    POOL = "pool"
    ZYTE = "zyte"


@dataclass(frozen=True, slots=True)
class Proxy:
    """One way out. `protocol` is how we speak to it: http, https or socks5.

    `str()` and `repr()` show neither user name nor password.
    """

    id: int
    host: str
    port: int
    protocol: str = "http"
    country: str | None = None
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """The address without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}:{self.port}"
