"""Teaching a source a selector by hand, and the stored pages that proposals are tried on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pricecrawl.db.learning import LearningStore
from pricecrawl.db.replay import ReplayStore
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.domain.events import EventType
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selectors import parse_rule
from pricecrawl.learning.statistics import LearnedSelector, promote
from pricecrawl.workflows.candidates import KnownRules
from pricecrawl.workflows.events import event


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored product page with the price that is known of it (None: none or a doubtful one)."""

    source_sku: str
    url: str
    document: Document
    price: Decimal | None


def stored_pages(
    engine: Any,
    evidence: EvidenceStore,
    source: str,
    *,
    limit: int,
    first: str | None = None,
    price: Decimal | None = None,
) -> list[StoredDocument]:
    """The last stored page of up to `limit` listings of a source.

    The listing `first`, or one that was last seen at `price`, or a doubtful one, comes first. A page
    that gave many listings is a feed or a shelf and teaches nothing about a product's page.
    """
    latest: dict[str, Any] = {}
    for page in ReplayStore(engine).pages(source, latest=True):
        if len(page.observations) == 1:
            latest[page.observations[0].source_sku] = page

    def place(item: tuple[str, Any]) -> tuple[bool, bool, bool, str]:
        sku, page = item
        seen = page.observations[0]
        at_price = price is not None and seen.price is not None and agree(seen.price, price, seen.currency)
        return (sku != first, not at_price, not seen.needs_review, sku)

    found: list[StoredDocument] = []
    for sku, page in sorted(latest.items(), key=place):
        if len(found) >= limit:
            break
        try:
            stored = evidence.read(page.ref)
            document = Document.from_bytes(stored.body, url=stored.url, headers=stored.headers)
        except PricecrawlError:
            continue
        seen = page.observations[0]
        found.append(StoredDocument(sku, page.ref.url, document, None if seen.needs_review else seen.price))
    return found


def teach(
    engine: Any,
    source: str,
    kind: PriceKind,
    rule: str,
    *,
    by: str,
    now: datetime,
    rules: KnownRules | None = None,
    sku: str | None = None,
) -> tuple[LearnedSelector, ...]:
    """Put a rule at the top of a source's learned ones, as a person confirmed it.

    A rule for the price itself also becomes the saved preference of the listing `sku` that it was
    confirmed on, and of listings whose saved choice it takes over.

    Raises:
        RuleError: the rule is wrong.
        UsageProblem: the source is not in the database.
    """
    parsed = parse_rule(rule)
    known = rules or KnownRules()
    store = LearningStore(engine)
    with store.begin() as tx:
        store.lock(tx, source)
        after = promote(
            store.selectors(source, tx).get(kind, ()),
            LearnedSelector(kind, rule, created_by=by),
            shop_rules=known.shop.get(kind, ()),
            global_rules=known.general.get(kind, ()),
            now=now,
        )
        store.save_selectors(tx, source, kind, after, now)
        if kind is PriceKind.STANDARD and after and after[0].selector == rule:
            store.prefer(tx, source, parsed.method, rule, sku)
        payload = {"source": source, "kind": kind.value, "selector": rule, "by": by}
        taught = event(
            EventType.SELECTOR_TAUGHT,
            f"source:{source}",
            payload,
            now=now,
            correlation=f"source:{source}",
            producer="selectors",
            key=now.isoformat(),
        )
        store.append(tx, [taught])
    return after
