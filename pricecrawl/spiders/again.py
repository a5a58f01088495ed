"""Stored pages through the spiders' own reading: no engine, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scrapy import Request
from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.store import StoredResponse
from pricecrawl.sources.catalog import Catalog
from pricecrawl.spiders.loader import platforms


class StoredReader:
    """Reads stored responses as the spiders of the catalogue would read them today."""

    def __init__(
        self, catalog: Catalog, learned: Mapping[str, Mapping[PriceKind, Sequence[str]]] | None = None
    ) -> None:
        self._catalog = catalog
        self._learned = learned or {}
        self._platforms = platforms()
        self._classes: dict[str, Any] = {}

    def read(
        self, slug: str, stored: StoredResponse, ref: EvidenceRef, currency: str | None
    ) -> tuple[list[RawListing], Market]:
        """Listings of one stored page; `currency` is what the shop's was when its row does not say.

        Raises:
            UsageProblem: the source has no row any more, or its platform cannot read stored pages.
        """
        spider = self._spider(slug, currency)
        found = [
            replace(item, evidence=ref, observed_at=item.observed_at or ref.fetched_at)
            for item in spider.reread(response_of(stored))
            if isinstance(item, RawListing)
        ]
        return found, spider.market

    def _spider(self, slug: str, currency: str | None) -> Any:
        """A fresh spider for every page: none remembers what another page gave."""
        bound = self._classes.get(slug)
        if bound is None:
            entry = self._catalog.get(slug)
            platform = self._platforms.get(entry.platform)
            if platform is None:
                raise UsageProblem(f"{slug}: there is no platform {entry.platform}.")
            bound = self._classes[slug] = platform.bound(entry.source)
        spider = bound()
        spider.teach(self._learned.get(slug, {}))
        if spider.market.currency is None and currency is not None:
            spider.set_currency(currency, "stored observations")
        return spider


def response_of(stored: StoredResponse) -> Response:
    """A stored response as Scrapy would have handed it over."""
    headers = {name: value for name, value in stored.headers.items() if name != "content-encoding"}
    kind = responsetypes.from_args(
        headers={name.encode(): value.encode("latin-1", "replace") for name, value in headers.items()},
        url=stored.url,
        body=stored.body,
    )
    return kind(
        stored.url, status=stored.status, headers=headers, body=stored.body, request=Request(stored.url)
    )
