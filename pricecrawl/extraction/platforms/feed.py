"""What every platform's feed reader gives back."""

from __future__ import annotations

from dataclasses import dataclass

from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.reasons import SkipReason


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry of a feed that is no listing."""

    reason: SkipReason
    example: str


@dataclass(frozen=True, slots=True)
class Feed:
    """One response of a feed, read.

    `ids` are the platform's product ids of this response in order, skipped ones too: a walk ends
    when a page brings none that is new. `complete` is False when the response itself shows that
    more (or nothing) was to be had; `error` then says why. `asked_for` is the `source_sku` that the
    URL asks for.
    """

    listings: tuple[RawListing, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ids: tuple[str, ...] = ()
    complete: bool = True
    error: str = ""
    asked_for: str = ""
