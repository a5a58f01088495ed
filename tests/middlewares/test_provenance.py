"""In which order what a callback gives is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pricecrawl.domain.listing import RawListing
from pricecrawl.middlewares import provenance
from pricecrawl.middlewares.provenance import _handfuls


async def gives(*outputs: Any) -> AsyncIterator[Any]:
    for output in outputs:
        if isinstance(output, Exception):
            raise output
        yield output


def passed_on(*outputs: Any) -> list[tuple[list[str], list[Any]]]:
    async def collect() -> list[tuple[list[str], list[Any]]]:
        return [
            ([listing.source_sku for listing in listings], list(others))
            async for listings, others in _handfuls(gives(*outputs))
        ]

    return [both for both in asyncio.run(collect()) if any(both)]


def listing(sku: str) -> RawListing:
    return RawListing(sku, "https://kettles.example/")


def test_requests_wait_for_the_listings_before_them() -> None:
    """Else a walk would fetch page after page while the database holds the first one's listings back."""
    assert passed_on("first", listing("1"), "next", listing("2"), "last") == [
        ([], ["first"]),
        (["1", "2"], ["next", "last"]),
    ]


def test_a_full_handful_goes_on_with_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "HANDFUL", 2)
    given = passed_on(listing("1"), "a", listing("2"), "b", listing("3"), "c")
    assert given == [(["1", "2"], ["a"]), ([], ["b"]), (["3"], ["c"])]


def test_what_was_given_before_a_failure_counts() -> None:
    seen: list[Any] = []

    async def collect() -> None:
        async for listings, others in _handfuls(gives(listing("1"), "next", ValueError("a bug"))):
            seen.append(([one.source_sku for one in listings], others))

    with pytest.raises(ValueError, match="a bug"):
        asyncio.run(collect())
    assert seen == [(["1"], ["next"])]
