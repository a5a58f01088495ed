"""Today's extraction on yesterday's bytes: what would be read differently, and nothing else.

No shop is asked. Each stored page is read again by today's rules, settled against the price that was
accepted before it, and compared with the observation that it once gave.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.replay import Before, StoredPage
from pricecrawl.domain.availability import decide
from pricecrawl.domain.confirmed import answered
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.observation import Observation
from pricecrawl.domain.run import CoverageReason, RunOutcome, RunResult

COMPARED = ("price", "currency", "original_price", "member_price", "availability", "needs_review")


class Effect(StrEnum):
    """What today's extraction does to one stored observation, or (NEW) to a page without one."""

    SAME = "same"
    CHANGED = "changed"
    LOST = "lost"
    UNREADABLE = "unreadable"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Change:
    """One observation beside what its page says today; `fields` holds (before, after) of what differs.

    `observation` is today's reading, None where the page gives no such listing any more. `before` is None
    for a page on which no price was read at the time; `seen_at` is when the page was fetched or observed.
    """

    source: str
    source_sku: str
    url: str
    effect: Effect
    fields: dict[str, tuple[Any, Any]]
    reason: str
    seen_at: datetime
    before: Before | None
    observation: Observation | None = None


@dataclass(slots=True)
class Replay:
    """Everything that a replay found; `added` counts listings that the pages did not give before."""

    pages: int = 0
    observations: int = 0
    added: int = 0
    counts: dict[Effect, int] = field(default_factory=lambda: dict.fromkeys(Effect, 0))
    changes: list[Change] = field(default_factory=list)


Reader = Callable[[StoredPage], tuple[Iterable[RawListing], Market]]
"""Reads the listings of a stored page by today's rules, and says in which market."""


def replay(pages: Iterable[StoredPage], read: Reader, *, version: str) -> Iterator[tuple[StoredPage, Replay]]:
    """Replay page after page; yields each page with the result so far, for progress."""
    result = Replay()
    for page in pages:
        result.pages += 1
        _replay_page(page, read, result, version)
        yield page, result


def _replay_page(page: StoredPage, read: Reader, result: Replay, version: str) -> None:
    problem = ""
    found: dict[str, RawListing] = {}
    market = Market()
    try:
        listings, market = read(page)
        found = {raw.source_sku: raw for raw in listings}
    except PricecrawlError as error:
        problem = str(error)
    for before in page.observations:
        result.observations += 1
        raw = found.pop(before.source_sku, None)
        if problem:
            change = _change(page, before, Effect.UNREADABLE, reason=problem)
        elif raw is None:
            change = _change(page, before, Effect.LOST, reason="the page gives no such listing today")
        else:
            change = _compare(page, before, raw, market, version)
        result.counts[change.effect] += 1
        if change.effect is not Effect.SAME:
            result.changes.append(change)
    if page.observations:
        result.added += len(found)
        return
    for raw in found.values():
        new = _new(page, raw, market, version)
        if new is not None:
            result.counts[Effect.NEW] += 1
            result.changes.append(new)


def _new(page: StoredPage, raw: RawListing, market: Market, version: str) -> Change | None:
    """What a page on which no price was read gives today; None if that still is nothing."""
    seen_at = page.ref.fetched_at
    listing = normalize(raw, source=page.source, market=market, now=seen_at)
    if isinstance(listing, Rejected):
        return None
    consensus = settle(listing.candidates, availability=listing.availability, market=market)
    after = replace(observe(listing, consensus, extractor_version=version), observed_at=seen_at)
    if after.price is None:
        return None
    fields = {name: (None, getattr(after, name)) for name in COMPARED if getattr(after, name) is not None}
    why = _why(after, fields, listing)
    return Change(page.source, raw.source_sku, page.ref.url, Effect.NEW, fields, why, seen_at, None, after)


def _compare(page: StoredPage, before: Before, raw: RawListing, market: Market, version: str) -> Change:
    listing = normalize(raw, source=page.source, market=market, now=before.observed_at)
    if isinstance(listing, Rejected):
        return _change(page, before, Effect.LOST, reason=f"it is rejected today: {listing.detail}")
    consensus = settle(
        listing.candidates,
        availability=listing.availability,
        anchor=before.anchor,
        preference=before.preference,
        market=market,
    )
    # It was seen when it was seen: reading it again makes it no fresher.
    seen = answered(observe(listing, consensus, extractor_version=version), before.confirmed)
    after = replace(seen, observed_at=before.observed_at)
    fields = {
        name: (getattr(before, name), getattr(after, name))
        for name in COMPARED
        if getattr(before, name) != getattr(after, name)
    }
    if not fields:
        return _change(page, before, Effect.SAME, observation=after)
    return _change(
        page, before, Effect.CHANGED, fields=fields, reason=_why(after, fields, listing), observation=after
    )


_CHOICE = ("distinct sources agree", "a single source", "no price is taken")
_DOUBT = ("a person must", "only a suggestion", "one hundred", "no reading gives a price", "stays unknown")


def _why(after: Observation, fields: Mapping[str, Any], listing: Listing) -> str:
    """The sentences that explain what differs: the choice, the doubts about it, the stock, other prices."""
    told: list[str] = []
    if fields.keys() & {"price", "currency", "needs_review"}:
        told += [text for text in after.trace if any(mark in text for mark in _CHOICE)]
        doubts = [text for text in after.trace if any(mark in text for mark in _DOUBT) and text not in told]
        told += doubts
        if after.needs_review and not doubts:
            told.append(f"A person must look: {', '.join(after.review_reasons)}.")
    for name, start in (("original_price", "The list price"), ("member_price", "The member price")):
        if name in fields:
            said = [text for text in after.trace if text.startswith(start)]
            told += said or [f"{start} is not on the page any more."]
    if "availability" in fields:
        told.append(f"Stock: {decide(listing.stock).reason}")
    return " ".join(dict.fromkeys(told))


def _change(
    page: StoredPage,
    before: Before,
    effect: Effect,
    *,
    fields: dict[str, tuple[Any, Any]] | None = None,
    reason: str = "",
    observation: Observation | None = None,
) -> Change:
    return Change(
        page.source,
        before.source_sku,
        page.ref.url,
        effect,
        fields or {},
        reason,
        before.observed_at,
        before,
        observation,
    )


def to_apply(changes: Sequence[Change]) -> list[Observation]:
    """Observations worth storing: changed readings of pages that are still the last word on a listing.

    A listing that later runs missed stays as it is: storing an old page again must not look like seeing it.
    A page on which no price was read makes no listing either: the next crawl does.
    """
    return [
        change.observation
        for change in changes
        if change.effect is Effect.CHANGED
        and change.observation is not None
        and change.before is not None
        and change.before.is_latest
        and not change.before.is_missed
    ]


def append(engine: Any, observations: Sequence[Observation], *, job: str, now: datetime) -> int:
    """Store observations of stored pages, in a run of their own per source that counts no misses.

    Raises:
        SourceBusy: a crawl of one of the sources is under way.
    """
    store = CrawlStore(engine)
    total = 0
    ordered = sorted(observations, key=lambda item: (item.source, item.source_sku))
    for slug, found in groupby(ordered, key=lambda item: item.source):
        run = store.open_run(source=slug, platform=job, host="", job=job, pid=os.getpid(), now=now)
        done = store.save_batch(run, list(found), [])
        result = RunResult(RunOutcome.FINISHED, CoverageReason.SCOPED, done.listings, detail=job)
        store.finish_run(run, result, {}, now)
        total += done.inserted
    return total
