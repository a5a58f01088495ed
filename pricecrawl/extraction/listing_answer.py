"""One listing answered whole: its price by consensus, its stock, its facts, each candidate, and why. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pricecrawl import __version__
from pricecrawl.domain.availability import Availability, decide
from pricecrawl.domain.candidate import Candidate, RawPrice, confidence_of, weight_of
from pricecrawl.domain.consensus import Consensus, observe, settle
from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.measure import read_size
from pricecrawl.domain.money import amount_of
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.reasons import RejectionReason, ReviewReason
from pricecrawl.extraction.reader import PageReading

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_ADDRESS = "https://page.invalid/"


def empty_answer() -> dict[str, Any]:
    """Every key with nothing in it."""
    return {
        "page": "product",
        "source_sku": None,
        "url": None,
        "name": None,
        "brand": None,
        "variant": None,
        "price": None,
        "currency": None,
        "availability": Availability.UNKNOWN,
        "original_price": None,
        "member_price": None,
        "pre_order_price": None,
        "price_kind": None,
        "method": None,
        "selector": None,
        "tax_basis": None,
        "agreement": None,
        "gtin": None,
        "mpn": None,
        "size": None,
        "seller": None,
        "needs_review": False,
        "review_reasons": [],
        "candidates": [],
        "stock": [],
        "trace": [],
    }


def answer_listing(
    raw: RawListing,
    *,
    market: Market,
    given: Market,
    reading: PageReading | None = None,
    now: datetime | None = None,
    bare: bool = False,
) -> dict[str, Any]:
    """One raw listing through normalization and consensus, with every key of the contract.

    `market` is what amounts are read by; `given` is what the caller knew. `bare` tells that there is no page
    around the data: then nothing could corroborate a price while out of stock, and it is told with a review
    instead of being withheld.
    """
    filled = replace(
        raw,
        source_sku=raw.source_sku or "page",
        name=raw.name or "(no name)",
        url=raw.url if raw.url.startswith(("http://", "https://")) else _NO_ADDRESS,
    )
    listing = normalize(filled, source="page", market=market, now=now or _EPOCH)
    answer = empty_answer()
    answer["source_sku"] = raw.source_sku or None
    answer["url"] = raw.url or None
    answer["name"] = raw.name or None
    answer["brand"] = raw.brand or None
    answer["variant"] = raw.variant_text or None
    answer["mpn"] = raw.mpn_text or None
    answer["seller"] = raw.seller or None
    answer["size"] = _size(raw, market)
    answer["gtin"] = _gtin(raw)
    answer["stock"] = [_stock_row(stock) for stock in raw.stock]
    trace = list(reading.trace) if reading is not None else []
    aside = [(price, reason, market) for price, reason in (reading.set_aside if reading is not None else ())]
    if isinstance(listing, Rejected):
        answer["availability"] = decide(raw.stock).value
        trace.append(f"No price can be taken: {listing.detail}")
        told = list(raw.review_hints)
        if listing.reason not in (RejectionReason.NO_CANDIDATE, RejectionReason.NON_POSITIVE_PRICE):
            told.insert(0, listing.reason.value)
        elif decide(raw.stock).value in (Availability.IN_STOCK, Availability.PRE_ORDER):
            told.append(ReviewReason.NO_CONSENSUS.value)
            trace.append("The item can be bought, but no reading gives a price.")
        answer["needs_review"] = bool(told)
        answer["review_reasons"] = told
        aside += [(price, listing.reason.value, market) for price in raw.prices]
        answer["candidates"] = _aside_rows(aside)
        answer["trace"] = trace
        return answer
    market = replace(market, currency=given.currency or market.currency)
    consensus = settle(listing.candidates, availability=listing.availability, market=market)
    if bare and consensus.price is None:
        doubts = consensus.review_reasons
        consensus = settle(listing.candidates, market=market)
        consensus = replace(consensus, needs_review=True, review_reasons=doubts)
    observed = observe(listing, consensus, extractor_version=__version__)
    answer.update(_chosen(listing, consensus))
    answer["needs_review"] = observed.needs_review
    answer["review_reasons"] = list(observed.review_reasons)
    unused = [
        (price, "no readable amount above zero", market) for price in raw.prices if not _used(price, listing)
    ]
    answer["candidates"] = [_row(c) for c in consensus.candidates] + _aside_rows([*unused, *aside])
    answer["trace"] = [*trace, *observed.trace]
    return answer


def _chosen(listing: Listing, consensus: Consensus) -> dict[str, Any]:
    return {
        "price": consensus.price,
        "currency": consensus.currency if consensus.price is not None else None,
        "availability": listing.availability,
        "original_price": consensus.original_price,
        "member_price": consensus.member_price,
        "pre_order_price": consensus.pre_order_price,
        "price_kind": consensus.kind.value if consensus.kind else None,
        "method": consensus.method,
        "selector": consensus.selector or None,
        "tax_basis": consensus.tax_basis.value,
        "agreement": consensus.agreement.value,
    }


def _used(price: RawPrice, listing: Listing) -> bool:
    return any(
        c.method is price.method and c.kind is price.kind and c.text == " ".join(price.text.split())
        for c in listing.candidates
    )


def _row(candidate: Candidate) -> dict[str, Any]:
    return {
        "kind": candidate.kind.value,
        "amount": candidate.amount,
        "currency": candidate.currency,
        "method": candidate.method.value,
        "selector": candidate.selector,
        "confidence": candidate.confidence,
        "weight": candidate.weight,
        "tier": candidate.tier.value,
        "tax_basis": candidate.tax_basis.value,
        "text": candidate.text,
        "context": candidate.context,
    }


def _aside_rows(aside: Sequence[tuple[RawPrice, str, Market]]) -> list[dict[str, Any]]:
    """Amounts that did not vote, each once, with the reason why."""
    rows: list[dict[str, Any]] = []
    seen: set[tuple[Any, ...]] = set()
    for price, reason, market in aside:
        got = amount_of(price, market)
        if got is None:
            continue
        amount, currency = got
        key = (amount, price.method, reason, price.kind)
        if key in seen or len(rows) >= 100:
            continue
        seen.add(key)
        rows.append(
            {
                "kind": price.kind.value,
                "amount": amount,
                "currency": price.currency or currency,
                "method": price.method.value,
                "selector": price.selector,
                "confidence": confidence_of(price.method) if price.confidence is None else price.confidence,
                "weight": weight_of(price.method),
                "tier": price.tier.value,
                "tax_basis": price.tax_basis.value,
                "text": price.text,
                "context": price.context,
                "excluded": reason,
            }
        )
    return rows


def _stock_row(stock: Any) -> dict[str, Any]:
    return {
        "value": stock.value.value,
        "method": stock.method,
        "confidence": stock.confidence,
        "selector": stock.selector,
        "text": stock.text,
    }


_WRITTEN = re.compile(r"(\d+)(?:[.,](\d{1,3}))?\s*([^\W\d_]{1,8})\.?")


def _size(raw: RawListing, market: Market) -> str | None:
    """The size as the shop writes it ("0.75 l"), else amount and unit as read from the variant or name."""
    written = _WRITTEN.fullmatch(raw.size_text.strip())
    if written is not None:
        return f"{written[1]}{f'.{written[2]}' if written[2] else ''} {written[3]}"
    for text in (raw.size_text, raw.variant_text, raw.name):
        found = read_size(text, locale=market.locale) if text else None
        if found is not None and found.amount is not None:
            pack = f"{found.pack} x " if found.pack and found.pack > 1 else ""
            return f"{pack}{format(found.amount.normalize(), 'f')} {found.unit}"
    return raw.size_text or None


def _gtin(raw: RawListing) -> str | None:
    """The identifier as the shop writes it, if its check digit holds."""
    found = read_gtin(raw.gtin_text)
    return (found.text or found.gtin14) if found.valid and found.gtin14 else None
