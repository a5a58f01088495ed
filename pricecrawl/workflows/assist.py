"""What a model may add to stored pages, when it may be asked at all, and what follows from its answer.

Suggested rules are shown to a person; a doubt becomes a new observation of the same page that waits for
review. No answer ever becomes a price.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pricecrawl.db.model_calls import ModelCallStore
from pricecrawl.db.replay import Before, StoredPage
from pricecrawl.domain.availability import Availability, decide
from pricecrawl.domain.challenge import PageKind, ResponseFacts, classify
from pricecrawl.domain.confirmed import answered
from pricecrawl.domain.consensus import observe, settle
from pricecrawl.domain.consensus_groups import money
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.observation import Observation
from pricecrawl.evidence.store import StoredResponse
from pricecrawl.extraction.document import Document
from pricecrawl.gateway.calls import Purpose
from pricecrawl.gateway.gateway import Gateway, Suggestion, joined
from pricecrawl.gateway.triggers import AiStatus, ShopConfig, Verdict, may_auto_map, may_verify


@dataclass(frozen=True, slots=True)
class Item:
    """One stored page of one listing, read by today's rules; `before` is what was stored of it, if any."""

    page: StoredPage
    stored: StoredResponse
    raw: RawListing
    market: Market
    before: Before | None = None

    @property
    def correlation(self) -> str:
        """What the model's call is filed under."""
        if self.before is not None:
            return f"observation:{self.before.observation_id}"
        return self.page.ref.digest[:80]

    def document(self) -> Document:
        """The page, parsed anew."""
        return Document.from_bytes(
            self.stored.body, url=self.stored.url, status=self.stored.status, headers=self.stored.headers
        )

    def reading(self, version: str) -> Observation | None:
        """Today's observation of it; None if it is rejected."""
        seen_at = self.before.observed_at if self.before is not None else self.page.ref.fetched_at
        listing = normalize(self.raw, source=self.page.source, market=self.market, now=seen_at)
        if isinstance(listing, Rejected):
            return None
        consensus = settle(
            listing.candidates,
            availability=listing.availability,
            anchor=self.before.anchor if self.before is not None else None,
            preference=self.before.preference if self.before is not None else None,
            market=self.market,
        )
        seen = observe(listing, consensus, extractor_version=version)
        if self.before is not None:
            seen = answered(seen, self.before.confirmed)
        return replace(seen, observed_at=seen_at)


@dataclass(frozen=True, slots=True)
class Assisted:
    """What became of one page: whether the model was asked and why, and what it said."""

    source_sku: str
    url: str
    verdict: Verdict
    suggestion: Suggestion | None = None
    status: AiStatus | None = None
    doubted: Observation | None = None
    trace: tuple[str, ...] = ()


def suggest(
    gateway: Gateway, items: Iterable[Item], *, config: ShopConfig | None, version: str, enabled: bool = True
) -> list[Assisted]:
    """Ask for rules where a shop has none and its healthy page gave no standard price."""
    found: list[Assisted] = []
    for item in items:
        made = item.reading(version)
        facts = ResponseFacts(item.stored.status, item.stored.headers, item.stored.body, item.stored.url)
        page = classify(facts)
        is_gone = page.page is PageKind.GONE
        verdict = may_auto_map(
            enabled=enabled,
            config=config,
            challenged=page.blocked,
            availability=Availability.NOT_AVAILABLE if is_gone else decide(item.raw.stock).value,
            standard_price=made.price if made is not None else None,
        )
        suggestion = None
        if verdict.ask:
            suggestion = gateway.auto_map(
                item.document(),
                market=item.market,
                source=item.page.source,
                correlation_id=item.correlation,
            )
        trace = suggestion.trace if suggestion else ()
        if suggestion is not None and suggestion.candidates:
            trace += _preview(replace(item, raw=joined(item.raw, suggestion)), version)
        found.append(Assisted(item.raw.source_sku, item.page.ref.url, verdict, suggestion, trace=trace))
    return found


def _preview(item: Item, version: str) -> tuple[str, ...]:
    """What the page would say with the suggested candidates beside its own."""
    made = item.reading(version)
    if made is None or made.price is None:
        return ("With these rules the page would still give no price.",)
    return (
        f"With these rules the page would say {money(made.price, made.currency)}, for a person to confirm.",
    )


def verify(
    gateway: Gateway,
    items: Iterable[Item],
    *,
    statuses: Mapping[str, AiStatus],
    actor: str,
    version: str,
    enabled: bool = True,
    skip: bool = False,
) -> list[Assisted]:
    """Ask whether prices are right that nobody checked yet; a disagreement gives a doubted observation."""
    found: list[Assisted] = []
    for item in items:
        made = item.reading(version)
        verdict = may_verify(
            enabled=enabled,
            price=made.price if made is not None else None,
            html=item.stored.body.decode("utf-8", "replace"),
            actor=actor,
            ai_status=statuses.get(item.correlation),
            skip=skip,
        )
        checked = None
        if verdict.ask and made is not None and made.price is not None:
            checked = gateway.verify(
                item.document(),
                price=made.price,
                currency=made.currency,
                market=item.market,
                source=item.page.source,
                correlation_id=item.correlation,
            )
        doubted = None
        if checked is not None and checked.reason is not None and made is not None:
            reasons = tuple(dict.fromkeys((*made.review_reasons, checked.reason.value)))
            trace = (*made.trace, *checked.trace)
            doubted = replace(made, needs_review=True, review_reasons=reasons, trace=trace)
        found.append(
            Assisted(
                item.raw.source_sku,
                item.page.ref.url,
                verdict,
                status=checked.status if checked else None,
                doubted=doubted,
                trace=checked.trace if checked else (),
            )
        )
    return found


def known_statuses(store: ModelCallStore, items: Sequence[Item]) -> dict[str, AiStatus]:
    """What is known already of items, by correlation: a person's word, else a model's."""
    said = store.verdicts(Purpose.VERIFICATION, [item.correlation for item in items])
    found = {name: AiStatus.VERIFIED if agrees else AiStatus.CORRECTED for name, agrees in said.items()}
    numbers = [item.before.observation_id for item in items if item.before is not None]
    return found | {f"observation:{number}": AiStatus.CONFIRMED for number in store.confirmed(numbers)}


def as_json(item: Assisted) -> dict[str, Any]:
    """For a command's output."""
    return {
        "source_sku": item.source_sku,
        "url": item.url,
        "asked": item.verdict.ask,
        "reason": item.verdict.reason,
        "rules": dict(item.suggestion.rules) if item.suggestion else {},
        "candidates": [
            {"kind": c.kind, "text": c.text, "selector": c.selector}
            for c in (item.suggestion.candidates if item.suggestion else ())
        ],
        "status": item.status,
        "trace": list(item.trace),
    }
