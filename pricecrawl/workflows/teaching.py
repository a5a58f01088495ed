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
from pricecrawl.domain.errors import PricecrawlError, UsageProblem
from pricecrawl.domain.events import Event, EventType
from pricecrawl.evidence.store import EvidenceStore
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selectors import parse_rule
from pricecrawl.learning.statistics import FROM_ROW, LearnedSelector, canonical, promote
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

    The listing `first`, or one that was last seen at `price`, or a doubtful one, or one whose page gave
    no price, comes first. A page that gave many listings is a feed or a shelf and teaches nothing about
    a product's page.
    """
    store = ReplayStore(engine)
    silent = store.priceless(source, None, limit)
    if first is not None:
        silent |= store.priceless(source, first, 1)
    latest: dict[str, Any] = {sku: page for (_, sku), page in silent.items()}
    for page in store.pages(source, latest=True):
        if len(page.observations) == 1:
            latest[page.observations[0].source_sku] = page

    def place(item: tuple[str, Any]) -> tuple[bool, bool, bool, str]:
        sku, page = item
        if not page.observations:
            return (sku != first, True, False, sku)
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
        known = next((seen.price for seen in page.observations if not seen.needs_review), None)
        found.append(StoredDocument(sku, page.ref.url, document, known))
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
        UsageProblem: the rule gives a stock status, or the source is not in the database.
    """
    parsed = parse_rule(rule)
    if parsed.asserts:
        raise UsageProblem(
            f"{rule} gives a stock status and no price; put it under `stock` in the source's row."
        )
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
        store.append(tx, [_told(EventType.SELECTOR_TAUGHT, source, payload, now)])
    return after


def forget(
    engine: Any,
    source: str,
    rule: str,
    *,
    by: str,
    now: datetime,
    kind: PriceKind | None = None,
) -> tuple[LearnedSelector, ...]:
    """Take a rule out of what a source learned, of one kind or of all, and out of saved preferences.

    Where nothing learned is left of a kind, the row's rules apply again, else the defaults. Gives what was
    taken out.

    Raises:
        UsageProblem: the source did not learn this rule, or is not in the database.
    """
    name = canonical(rule)
    store = LearningStore(engine)
    with store.begin() as tx:
        store.lock(tx, source)
        gone: list[LearnedSelector] = []
        for of, entries in store.selectors(source, tx).items():
            if kind not in (None, of):
                continue
            left = tuple(entry for entry in entries if canonical(entry.selector) != name)
            if len(left) < len(entries):
                gone += [entry for entry in entries if entry not in left]
                # The row's own came along with the first that was learned; without any they add nothing.
                if all(entry.created_by == FROM_ROW for entry in left):
                    left = ()
                store.save_selectors(tx, source, of, left, now)
        if not gone:
            raise UsageProblem(
                f"{source} has not learned {rule}; `pricecrawl selectors list {source}` shows what it has."
            )
        for selector in {entry.selector for entry in gone}:
            store.unprefer(tx, source, selector)
        kinds = [entry.kind.value for entry in gone]
        payload = {"source": source, "kinds": kinds, "selector": gone[0].selector, "by": by}
        store.append(tx, [_told(EventType.SELECTOR_FORGOTTEN, source, payload, now)])
    return tuple(gone)


def _told(kind: EventType, source: str, payload: dict[str, Any], now: datetime) -> Event:
    """The event of one change to what a source has learned."""
    about = f"source:{source}"
    return event(kind, about, payload, now=now, correlation=about, producer="selectors", key=now.isoformat())
