"""A raw listing together with the page it was read from, on its way through the pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response

from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.observation import EvidenceRef

if TYPE_CHECKING:
    from pricecrawl.evidence.store import Fetched

# Headers that could carry a secret never reach evidence, whoever set them.
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


@dataclass(slots=True, eq=False)
class Page:
    """One response, shared by all listings read from it; `ref` is set once it was written to evidence.

    `response` is None for a listing that a spider made without a page of its own.
    """

    response: Response | None
    fetched_at: datetime
    ref: EvidenceRef | None = None


@dataclass(slots=True, eq=False)
class Collected:
    """A raw listing stamped with its page."""

    raw: RawListing
    page: Page


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
