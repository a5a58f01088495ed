"""From what a shop wrote (RawListing) to types (Listing), or a recorded rejection.

Bad data is an answer, never an exception: each way in which a listing can be unfit has a reason and a
sentence. What merely cannot be told (a size, a condition) stays unknown and does not cost the listing
its price.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from urllib.parse import urlsplit

from pricecrawl.domain.availability import Availability, decide
from pricecrawl.domain.building import builder_of
from pricecrawl.domain.candidate import Candidate, PriceKind, PriceUnit, RawPrice, confidence_of, weight_of
from pricecrawl.domain.condition import read_condition
from pricecrawl.domain.delivery import UNKNOWN, read_charge
from pricecrawl.domain.identifiers import read_gtin
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.measure import (
    Agreement,
    Size,
    compare,
    is_implausible,
    read_pack,
    read_size,
    states_nothing,
)
from pricecrawl.domain.money import amount_of, read_price
from pricecrawl.domain.money_locale import written_decimals
from pricecrawl.domain.reasons import RejectionReason
from pricecrawl.domain.seller import is_shop

MAX_SKU, MAX_NAME, MAX_URL, MAX_FIELD = 255, 1000, 2048, 500
# Nothing that a shop lists costs more; a larger number is an identifier or two numbers run together.
CEILING = Decimal(10_000_000)
CEILING_WITHOUT_DECIMALS = Decimal(10_000_000_000)
# The variants of a product share its name.
_read_condition = lru_cache(maxsize=4096)(read_condition)
_build_listing, _build_candidate = builder_of(Listing), builder_of(Candidate)
_IDENTIFIER = re.compile(r"\d{8,14}", re.ASCII)
_PRIMARY = (PriceKind.STANDARD, PriceKind.SALE, PriceKind.PRE_ORDER)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A listing that must not enter the data: why, and a sentence with what was seen."""

    reason: RejectionReason
    detail: str


KnownSizes = Mapping[str, tuple[Decimal, str]]
"""GTIN-14 → whole content and its base unit, as already held from other observations."""


def normalize(
    raw: RawListing,
    *,
    source: str,
    market: Market,
    now: datetime,
    known_sizes: KnownSizes | None = None,
    sold_by: Sequence[str] = (),
) -> Listing | Rejected:
    """The typed listing, or why there is none. Pure; never raises for bad data.

    `sold_by` are names under which the shop itself sells: a seller of that name, or of the shop's address,
    is no marketplace seller.

    `now` stands in where the raw listing carries no time of its own. `known_sizes` lets a GTIN be
    refused that elsewhere belongs to another size: a wrong barcode joins two products, which no later
    step can undo.
    """
    sku, name, url = _line(raw.source_sku), _line(raw.name), str(raw.url or "").strip()
    unfit = _unfit_text(sku, name) or _unfit_url(url)
    if unfit is not None:
        return unfit
    stock = tuple(raw.stock or ())
    availability = stock[0].value if len(stock) == 1 else decide(stock).value
    candidates, hints, refused = _candidates(raw, market, sku)
    unfit = _unfit_prices(candidates, refused, availability, market)
    if unfit is not None:
        return unfit
    gtin = read_gtin(raw.gtin_text)
    size, pack, size_hints = _size(raw, name, market)
    if gtin.gtin14 and size is not None and size.base_quantity is not None and size.base_unit is not None:
        held = (known_sizes or {}).get(gtin.gtin14)
        mine = (size.base_quantity, size.base_unit)
        if held is not None and compare(held, mine) is Agreement.CONTRADICT:
            return Rejected(
                RejectionReason.GTIN_SIZE_VETO,
                f"GTIN {gtin.gtin14} is known as {held[0]} {held[1]}, here it stands on {mine[0]} {mine[1]}.",
            )
    mpn = _line(raw.mpn_text)[:MAX_FIELD]
    seller = _line(raw.seller)[:MAX_FIELD]
    return _build_listing(
        source=source,
        source_sku=sku,
        url=url,
        name=name,
        brand=_line(raw.brand)[:MAX_FIELD],
        gtin=gtin.gtin14,
        mpn=mpn if mpn and mpn != gtin.text else None,
        variant=_line(raw.variant_text)[:MAX_FIELD],
        category=_line(raw.category)[:MAX_FIELD],
        pack=pack,
        base_quantity=size.base_quantity if size else None,
        base_unit=size.base_unit if size else None,
        condition=_read_condition(_line(raw.condition_text), name),
        seller="" if not seller or is_shop(seller, url, sold_by) else seller,
        candidates=candidates,
        availability=availability,
        stock=stock,
        tax_basis=raw.tax_basis if raw.tax_basis is not TaxBasis.UNKNOWN else market.tax_basis,
        observed_at=_aware(raw.observed_at or now),
        evidence=raw.evidence,
        shipping=read_charge(shipping, market) if (shipping := _line(raw.shipping_text)) else UNKNOWN,
        promotion_text=_line(raw.promotion_text)[:MAX_FIELD],
        image_url=str(raw.image_url or "").strip()[:MAX_URL],
        review_hints=tuple(dict.fromkeys((*(raw.review_hints or ()), *hints, *size_hints)))
        if raw.review_hints or hints or size_hints
        else (),
        leftovers=tuple(raw.leftovers or ()),
        extra=dict(raw.extra or {}),
    )


def _line(text: object) -> str:
    """One line: inner blanks folded, control characters gone."""
    if not text:
        return ""
    # Most texts are one line already: to be printable is to have no blank but the plain one.
    if isinstance(text, str) and text.isprintable() and text == text.strip() and "  " not in text:
        return text
    return " ".join(re.sub(r"[\x00-\x1f\x7f\u200b\ufeff]", " ", str(text or "")).split())


def _unfit_text(sku: str, name: str) -> Rejected | None:
    if not sku:
        return Rejected(RejectionReason.NO_SOURCE_SKU, "The listing has no id of the shop.")
    if len(sku) > MAX_SKU:
        return Rejected(RejectionReason.FIELD_TOO_LONG, f"source_sku has {len(sku)} characters: {sku[:60]}…")
    if not name:
        return Rejected(RejectionReason.NO_NAME, f"{sku} has no name.")
    if len(name) > MAX_NAME:
        return Rejected(RejectionReason.FIELD_TOO_LONG, f"The name of {sku} has {len(name)} characters.")
    return None


# Scheme and host of almost every address; what does not look like this is taken apart.
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d*)?(?:[/?#]|\Z)", re.ASCII)


def _unfit_url(url: str) -> Rejected | None:
    if len(url) > MAX_URL:
        return Rejected(RejectionReason.FIELD_TOO_LONG, f"The address has {len(url)} characters: {url[:60]}…")
    if _PLAIN_URL.match(url):
        return None
    try:
        parts = urlsplit(url)
        fit = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fit = False
    return None if fit else Rejected(RejectionReason.BAD_URL, f"{url[:100]!r} is no http address.")


def _candidates(
    raw: RawListing, market: Market, sku: str
) -> tuple[tuple[Candidate, ...], list[str], list[Rejected]]:
    found: list[Candidate] = []
    hints: list[str] = []
    refused: list[Rejected] = []
    for price in raw.prices or ():
        got = _candidate(price, market, raw, sku)
        if isinstance(got, Rejected):
            refused.append(got)
            continue
        found.append(got)
        if price.unit is PriceUnit.TEXT:
            reading = read_price(price.text, market=market)
            if reading.low is not None and reading.high is not None:
                hints.append(f"price_range:{reading.low}-{reading.high}")
    return tuple(found), hints, refused


def _candidate(price: RawPrice, market: Market, raw: RawListing, sku: str) -> Candidate | Rejected:
    text = _line(price.text)
    if len(text) >= 8 and _is_identifier(text, raw, sku):
        return _refused(RejectionReason.UNREADABLE_PRICE, price, text, "is an identifier, not a price")
    got = amount_of(price, market)
    if got is None:
        return _refused(RejectionReason.UNREADABLE_PRICE, price, text, "has no readable amount")
    amount, currency = got
    if amount <= 0:
        return _refused(RejectionReason.NON_POSITIVE_PRICE, price, text, f"is {amount}")
    if amount >= (CEILING_WITHOUT_DECIMALS if written_decimals(currency) == 0 else CEILING):
        return _refused(RejectionReason.PRICE_TOO_LARGE, price, text, "is more than anything costs")
    return _build_candidate(
        kind=price.kind,
        amount=amount,
        currency=currency,
        method=price.method,
        selector=price.selector,
        confidence=confidence_of(price.method) if price.confidence is None else price.confidence,
        weight=weight_of(price.method),
        tier=price.tier,
        tax_basis=price.tax_basis if price.tax_basis is not TaxBasis.UNKNOWN else raw.tax_basis,
        text=text[:MAX_FIELD],
        context=_line(price.context)[:MAX_FIELD],
    )


def _refused(reason: RejectionReason, price: RawPrice, text: str, why: str) -> Rejected:
    return Rejected(reason, f"{price.method.value} {text[:80]!r} {why}.")


def _is_identifier(text: str, raw: RawListing, sku: str) -> bool:
    """Digits shaped like an identifier: those of this very listing, or twelve and more with a check digit."""
    if not _IDENTIFIER.fullmatch(text):
        return False
    if text in (sku, _line(raw.mpn_text)) or text == read_gtin(raw.gtin_text).text:
        return True
    return len(text) >= 12 and read_gtin(text).valid


def _unfit_prices(
    candidates: Sequence[Candidate], refused: Sequence[Rejected], availability: Availability, market: Market
) -> Rejected | None:
    if not candidates:
        told = availability not in (Availability.UNKNOWN, Availability.IN_STOCK)
        empty = all(item.reason is RejectionReason.NON_POSITIVE_PRICE for item in refused)
        if told and empty:
            return None  # a sold-out page that shows no price says something all the same
        if refused:
            return refused[0]
        return Rejected(RejectionReason.NO_CANDIDATE, "No price was found.")
    if market.currency is None:
        return None
    for candidate in candidates:
        if candidate.currency == market.currency and candidate.kind in _PRIMARY:
            return None
    primary = [c for c in candidates if c.kind in _PRIMARY] or list(candidates)
    currencies = {c.currency for c in primary}
    if market.currency in currencies:
        return None
    if currencies == {None}:
        return Rejected(
            RejectionReason.CURRENCY_UNKNOWN, f"{primary[0].text[:80]!r} is in no currency of ISO 4217."
        )
    seen = ", ".join(sorted(code for code in currencies if code))
    return Rejected(
        RejectionReason.CURRENCY_MISMATCH, f"The shop sells in {market.currency}, the page shows {seen}."
    )


@dataclass(frozen=True, slots=True)
class _Content:
    """What one text says of the content: `pack` also where it states no size."""

    size: Size | None = None
    pack: int = 1
    implausible: bool = False


_SILENT = _Content()


@lru_cache(maxsize=4096)
def _content(text: str, locale: str | None) -> _Content:
    """Remembered, for a shop writes the same few sizes on thousands of listings."""
    if states_nothing(text):
        return _SILENT
    size = read_size(text, locale=locale)
    return _Content(size, read_pack(text), size is not None and is_implausible(size))


def _size(raw: RawListing, name: str, market: Market) -> tuple[Size | None, int, list[str]]:
    """Size and pack: the size field first, then the variant, then the name; unknown where two contradict."""
    contents: list[_Content] = []
    for text in (_line(raw.size_text), _line(raw.variant_text), name):
        content = _content(text, market.locale) if text else _SILENT
        # The option and the variant often have one text: what was read of it is then one object.
        if content is not _SILENT and not (contents and content is contents[0]):
            contents.append(content)
    if not contents:
        return None, 1, []
    sizes = [content.size for content in contents if content.size is not None]
    measured = [size for size in sizes if size.base_quantity is not None]
    pack = next((pack for pack in (*(s.pack for s in sizes), *(c.pack for c in contents)) if pack > 1), 1)
    if not measured:
        return (sizes[0] if sizes else None), pack, []
    first = measured[0]
    if any(content.implausible for content in contents if content.size is first):
        return None, pack, ["size_implausible"]
    for other in measured[1:]:
        if _contradict(first, other):
            return None, pack, ["size_contradiction"]
    if first.pack == 1 and pack > 1:
        whole = (first.base_quantity or Decimal(0)) * pack
        agrees = any(other.pack == pack and other.base_quantity == first.base_quantity for other in measured)
        first = Size(
            first.amount, first.unit, pack, first.base_quantity if agrees else whole, first.base_unit
        )
    return first, pack, []


def _contradict(one: Size, other: Size) -> bool:
    """Different contents whether the packs are counted in or not.

    `330 ml` and `6 x 330 ml` do not contradict.
    """
    if one.base_unit != other.base_unit or one.base_quantity is None or other.base_quantity is None:
        return False
    mine = {one.base_quantity, one.base_quantity / one.pack}
    theirs = {other.base_quantity, other.base_quantity / other.pack}
    return all(
        compare((a, str(one.base_unit)), (b, str(other.base_unit))) is not Agreement.AGREE
        for a in mine
        for b in theirs
    )


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
