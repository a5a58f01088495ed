"""A raw listing together with the page it was read from, on its way through the pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response

from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.observation import EvidenceRef, Observation

if TYPE_CHECKING:
    from pricecrawl.domain.confirmed import Confirmed
    from pricecrawl.domain.consensus import Anchor, Preference
    from pricecrawl.domain.normalize import KnownSizes, Rejected
    from pricecrawl.evidence.store import Fetched, Parcel

# Headers that could carry a secret never reach evidence, whoever set them.
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


@dataclass(slots=True, eq=False)
class Packing:
    """A page on its way to evidence; `parcel` is what was made ready of it beforehand, if that went well."""

    fetched: Fetched
    parcel: Parcel | None = None


@dataclass(slots=True, eq=False)
class Page:
    """One response, shared by all listings read from it; `ref` is set once it was written to evidence.

    `response` is None for a listing that a spider made without a page of its own. `packing` is under way
    where listings are expected.
    """

    response: Response | None
    fetched_at: datetime
    ref: EvidenceRef | None = None
    packing: Packing | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier runs know of one listing.

    `sizes` is what its GTIN contains at all other listings, `confirmed` what a person said of its price.
    """

    anchor: Anchor | None = None
    preference: Preference | None = None
    sizes: KnownSizes | None = None
    confirmed: Confirmed | None = None


NOTHING_KNOWN = Known()


@dataclass(slots=True, eq=False)
class Handful:
    """Listings that left one page together, with what is known of them by `source_sku`.

    Scrapy sends items through the pipelines one by one. A stage does its work for the whole handful when
    its first item arrives and hands out the results: the same code over like data runs twice as fast that
    way. `understood` and `observed` are those results, in the order of `raws`; an exception among them is
    raised for its own listing alone.
    """

    page: Page
    raws: list[RawListing]
    known: Mapping[str, Known] = field(default_factory=dict)
    understood: list[Listing | Rejected | Exception] | None = None
    observed: list[Observation | Exception | None] | None = None


@dataclass(slots=True, eq=False)
class Collected:
    """One listing of a handful, on its way: the one at `place`."""

    handful: Handful
    place: int

    @property
    def raw(self) -> RawListing:
        """The listing as its spider made it."""
        return self.handful.raws[self.place]


def plain_headers(headers: Headers) -> dict[str, str]:
    """Header names in lower case with their values joined; without any that may hold a secret."""
    plain = {
        key.decode("latin-1").lower(): ", ".join(value.decode("latin-1") for value in values)
        for key, values in headers.items()
    }
    return {name: value for name, value in plain.items() if name not in _SECRET_HEADERS}


def headers_of(response: Response) -> dict[str, str]:
    """A response's headers for the pure rules."""
    return plain_headers(response.headers)


def fetched_from(response: Response, *, kind: str, fetched_at: datetime) -> Fetched:
    """A response as the evidence store takes it."""
    from pricecrawl.evidence.store import Fetched

    request = response.request
    return Fetched(
        url=response.url,
        status=response.status,
        headers=headers_of(response),
        body=response.body,
        request_headers=plain_headers(request.headers) if request is not None else {},
        fetched_at=fetched_at,
        kind=kind,
    )
