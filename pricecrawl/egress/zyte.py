"""Zyte's proxy as one more upstream. Its key stays in the relay: Scrapy never holds it."""

from __future__ import annotations

from urllib.parse import urlsplit

from pricecrawl.config import Config
from pricecrawl.domain.egress import Proxy
from pricecrawl.domain.errors import PricecrawlError, UsageProblem


class NoKey(PricecrawlError):
    """There is no key for a paid egress that a row asks for."""


def zyte_proxy(config: Config, slug: str) -> Proxy:
    """Zyte as a proxy that takes the key for a user name.

    Raises:
        NoKey: no key is set; nothing leaves another way instead.
        UsageProblem: the address is none.
    """
    key = config.zyte_key.get_secret_value().strip() if config.zyte_key else ""
    if not key:
        raise NoKey(
            f"{slug} leaves through Zyte and PRICECRAWL_ZYTE_KEY is not set: set it, or give the row another "
            "`egress`."
        )
    try:
        parts = urlsplit(config.zyte_url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 8011)
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme not in ("http", "https"):
        raise UsageProblem("PRICECRAWL_ZYTE_URL must be an address such as http://proxy.zyte.com:8011.")
    return Proxy(0, host, port, parts.scheme, username=key, password="")
