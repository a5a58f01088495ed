"""One page or feed answered whole: what it is, its price by consensus, its stock, its facts, and why.

This is what `pricecrawl extract` prints and what the case files are scored on. Pure: nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from pricecrawl import __version__
from pricecrawl.domain.availability import Availability, decide
from pricecrawl.domain.candidate import Candidate, RawPrice, confidence_of, weight_of
from pricecrawl.domain.challenge import Classification, PageKind, ResponseFacts, classify
from pricecrawl.domain.consensus import Consensus, observe, settle
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.measure import read_size
from pricecrawl.domain.money import amount_of
from pricecrawl.domain.normalize import Rejected, normalize
from pricecrawl.domain.reasons import RejectionReason, ReviewReason
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import PageReading, read_page
from pricecrawl.extraction.rules import Rules

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_ADDRESS = "https://page.invalid/"


@dataclass(frozen=True, slots=True)
class Facts:
    """A response with what is known about it; `observed_at` is ISO 8601, `zone` an IANA name."""

    kind: str = ""
    body: bytes = b""
    text: str | None = None
    url: str = ""
    final_url: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    locale: str | None = None
    currency: str | None = None
    platform: str | None = None
    market: Market = field(default_factory=Market)
    observed_at: str = ""
    zone: str = ""
    rules: Rules | None = None


def answer_page(facts: Facts) -> dict[str, Any]:
    """Everything that one page or feed says, JSON-ready but for amounts, which are Decimals."""
    if _is_feed(facts):
        from pricecrawl.extraction.feeds import answer_feed

        return answer_feed(facts)
    body = facts.body
    is_data = facts.kind == "json_ld" or _is_json_ld(body)
    if is_data:
        # A JSON-LD body alone: its page is nothing but the script.
        body = (
            b'<html><head><script type="application/ld+json">'
            + body.replace(b"</", b"<\\/")
            + b"</script></head></html>"
        )
    response = ResponseFacts(facts.status, facts.headers, body, facts.url, facts.final_url)
    found = classify(response) if not is_data else Classification(PageKind.PAGE, False, None, "json-ld")
    if found.page in (PageKind.GONE, PageKind.UNAVAILABLE):
        return _nothing(found)
    document = Document.from_bytes(
        body,
        url=facts.url,
        final_url=facts.final_url,
        status=facts.status,
        headers=facts.headers,
        locale=facts.locale,
    )
    reading = read_page(
        document,
        rules=facts.rules,
        market=facts.market,
        now=moment(facts.observed_at),
        zone=zone(facts.zone),
        explain=True,
    )
    if found.page is PageKind.CHALLENGE:
        if not (reading.is_product and reading.listing.prices and _is_success(facts.status)):
            return _nothing(found)
        found = classify(response, credible_price=True)
    answer = answer_listing(
        reading.listing,
        market=reading.market,
        given=facts.market,
        reading=reading,
        bare=is_data,
    )
    answer["page"] = "product"
    answer["rule"] = found.rule
    answer["trace"] = [f"The response is the page ({found.rule}).", *answer["trace"]]
    return answer


def _is_json_ld(body: bytes) -> bool:
    """A body that is a JSON-LD document itself, as some shops answer to those who ask for it."""
    head = body[:400].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head[:1] in (b"{", b"[") and (b'"@context"' in head or b'"@type"' in head)


def _is_success(status: int | None) -> bool:
    return status is None or status < 300


def _is_feed(facts: Facts) -> bool:
    if facts.kind == "feed_json" or facts.platform:
        return True
    kind = next((value for name, value in facts.headers.items() if name.lower() == "content-type"), "")
    if "json" in kind.lower() and "ld+json" not in kind.lower() and facts.kind != "json_ld":
        return True
    head = facts.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    return facts.kind == "" and head[:1] in (b"{", b"[") and not _is_json_ld(facts.body)


def moment(text: str) -> datetime | None:
    """An aware instant from ISO 8601; None where there is none."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def zone(name: str) -> tzinfo | None:
    """A time zone by its IANA name; None where it is unknown."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _nothing(found: Classification) -> dict[str, Any]:
    """The answer for a response that is no product page."""
    gone = found.page is PageKind.GONE
    answer = empty_answer()
    answer["availability"] = Availability.NOT_AVAILABLE if gone else Availability.UNKNOWN
    answer["page"] = found.page.value
    answer["rule"] = found.rule
    answer["vendor"] = found.vendor
    answer["trace"] = [
        f"The response is no product page: {found.page.value} by rule {found.rule}; nothing is read from it."
    ]
    return answer


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
    from pricecrawl.domain.identifiers import read_gtin

    found = read_gtin(raw.gtin_text)
    return (found.text or found.gtin14) if found.valid and found.gtin14 else None
