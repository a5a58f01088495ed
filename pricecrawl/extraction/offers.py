"""One offer in schema.org's vocabulary, read into prices and stock.

Sources: schema.org Offer, AggregateOffer, PriceSpecification and its kinds (list, strike-through,
sale, member, unit, instalment, delivery), and the ways in which shops bend them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.market import TaxBasis
from pricecrawl.extraction.stock_words import schema_availability
from pricecrawl.extraction.things import Human, Node, as_list, fields, short, text_of, types_of

# No program writes an exponent behind a dot without digits: "84.e3" is damage, not eighty-four thousand.
_MACHINE = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?|\d+\.|\.\d+)\Z", re.ASCII)
_ISO = re.compile(r"[A-Za-z]{3}\Z")

_LIST_TYPES = frozenset(("listprice", "strikethroughprice", "srp", "msrp", "regularprice", "originalprice"))
_SALE_TYPES = frozenset(("saleprice", "discountedprice", "clearanceprice"))
_OTHER_TYPES = frozenset(
    ("invoiceprice", "minimumadvertisedprice", "costprice", "downpayment", "installment")
)
_LIST_KEYS = ("listprice", "originalprice", "regularprice", "msrp", "strikethroughprice", "compareatprice")
_NO_PRICE_SPECS = frozenset(("deliverychargespecification", "paymentchargespecification"))
_MEASURES = frozenset(
    (
        *(
            "kgm",
            "kg",
            "grm",
            "g",
            "mgm",
            "mg",
            "ltr",
            "l",
            "mlt",
            "ml",
            "clt",
            "cl",
            "dlt",
            "lbr",
            "lb",
            "onz",
        ),
        *(
            "oz",
            "mtr",
            "m",
            "cmt",
            "cm",
            "mtk",
            "m2",
            "mtq",
            "gli",
            "gll",
            "fot",
            "ft",
            "stk",
            "100g",
            "100ml",
        ),
    )
)


@dataclass(slots=True, eq=False)
class OfferReading:
    """What one offer says. `notes` are (price, why it is no price of the thing) pairs."""

    prices: list[RawPrice] = field(default_factory=list)
    stock: StockReading | None = None
    notes: list[tuple[RawPrice, str]] = field(default_factory=list)
    node: Node = field(default_factory=dict)
    aggregate: bool = False
    starts: datetime | None = None
    ends: datetime | None = None
    seller: str = ""
    shipping: str = ""
    condition: str = ""

    @property
    def standard(self) -> list[RawPrice]:
        """The prices that may be the price."""
        return [p for p in self.prices if p.kind in (PriceKind.STANDARD, PriceKind.SALE, PriceKind.PRE_ORDER)]

    def past(self, now: datetime | None) -> bool:
        """Whether the offer's stated time is over."""
        return now is not None and self.ends is not None and _aware(self.ends, now) <= now


@dataclass(slots=True)
class OfferContext:
    """How an offer is to be read: by which syntax, under which path, with the currency stated above it.

    `country` is where the shop's customer is, empty where nobody said.
    """

    method: Method
    selector: str
    currency: str = ""
    zone: tzinfo | None = None
    country: str = ""


def _aware(moment: datetime, now: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)


def raw_price(value: object, currency: object, context: OfferContext, kind: PriceKind) -> RawPrice | None:
    """An amount with its currency, each as the page wrote it; None where there is none."""
    text = text_of(value)
    if not text or len(text) > 80 or not any(character.isdigit() for character in text):
        return None
    stated = text_of(currency) or context.currency
    code = stated.upper() if _ISO.match(stated) else None
    human = isinstance(value, Human) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Human)
    )
    machine = bool(_MACHINE.match(text)) and not human
    unit = PriceUnit.MAJOR if machine else PriceUnit.TEXT
    if stated and code is None and len(stated) <= 8:
        # A sign where a code belongs: it is read with the amount.
        text, unit = f"{text} {stated}", PriceUnit.TEXT
    return RawPrice(kind, text, context.method, context.selector, currency=code, unit=unit)


def read_offer(node: Node, context: OfferContext) -> OfferReading:
    """All prices of one offer (aggregate or single) and its stock."""
    offer = fields(node)
    types = types_of(node)
    found = OfferReading(node=offer, aggregate="aggregateoffer" in types or "lowprice" in offer)
    currency = text_of(offer.get("pricecurrency") or offer.get("currency")) or context.currency
    context = replace(context, currency=currency)
    tax = _tax(offer)
    kind = PriceKind.MEMBER if _for_members(offer) else PriceKind.STANDARD
    for price in _plain_prices(offer, context, kind):
        found.prices.append(price if tax is price.tax_basis else replace(price, tax_basis=tax))
    for key in ("highprice", "maxprice"):
        if key not in offer:
            continue
        high = raw_price(offer.get(key), None, _at(context, key), kind)
        if high is not None:
            found.notes.append((high, "the upper end of a range"))
    for key in _LIST_KEYS:
        if key not in offer:
            continue
        listed = raw_price(offer.get(key), None, _at(context, key), PriceKind.LIST)
        if listed is not None:
            found.prices.append(listed)
    for specification in _specifications(offer.get("pricespecification")):
        _read_specification(specification, context, tax, found)
    found.prices = _distinct(found.prices)
    found.stock = _stock(offer, context)
    found.starts = _moment(
        text_of(offer.get("validfrom") or offer.get("availabilitystarts")), context.zone, end=False
    )
    found.ends = _moment(
        text_of(offer.get("pricevaliduntil") or offer.get("validthrough")), context.zone, end=True
    )
    found.seller = text_of(offer.get("seller") or offer.get("offeredby"))
    found.condition = text_of(offer.get("itemcondition"))
    found.shipping = _shipping(offer, context.country)
    return found


def _at(context: OfferContext, key: str) -> OfferContext:
    return replace(context, selector=f"{context.selector}.{key}")


def _plain_prices(offer: Node, context: OfferContext, kind: PriceKind) -> list[RawPrice]:
    """The offer's own price, else the low end of its range, marked as such."""
    for key in ("price", "lowprice", "minprice"):
        if key not in offer:
            continue
        price = raw_price(offer.get(key), offer.get("pricecurrency"), _at(context, key), kind)
        if price is None:
            continue
        if key == "price":
            return [price]
        high = text_of(offer.get("highprice") or offer.get("maxprice"))
        same = not high or high == text_of(offer.get(key))
        return [price if same else replace(price, context=f"lowest of a range up to {high}")]
    return []


def _specifications(value: object, depth: int = 0) -> Iterator[Node]:
    for item in as_list(value)[:40]:
        if isinstance(item, dict):
            specification = fields(item)
            specification["@type"] = types_of(item)
            if "price" not in specification and depth < 3:
                yield from _specifications(specification.get("pricecomponent"), depth + 1)
            yield specification
        elif isinstance(item, list) and depth < 3:
            yield from _specifications(item, depth + 1)


def _read_specification(spec: Node, context: OfferContext, tax: TaxBasis, found: OfferReading) -> None:
    """One price specification: the price, another kind of price, or no price of the thing at all."""
    context = _at(context, "priceSpecification")
    types = spec.get("@type") or ()
    own = _tax(spec)
    price = raw_price(
        spec.get("price") or spec.get("minprice"), spec.get("pricecurrency"), context, PriceKind.STANDARD
    )
    if price is None:
        return
    price = replace(price, tax_basis=own if own is not TaxBasis.UNKNOWN else tax)
    price_types = {short(text_of(item)) for item in as_list(spec.get("pricetype"))}
    reason = _no_price(spec, types, price_types)
    if reason:
        found.notes.append((price, reason))
    elif price_types & _LIST_TYPES:
        found.prices.append(replace(price, kind=PriceKind.LIST, selector=f"{context.selector}[list]"))
    elif _for_members(spec):
        found.prices.append(replace(price, kind=PriceKind.MEMBER, selector=f"{context.selector}[member]"))
    elif price_types & _SALE_TYPES:
        found.prices.append(replace(price, kind=PriceKind.SALE, selector=f"{context.selector}[sale]"))
    else:
        found.prices.append(price)


def _no_price(spec: Node, types: tuple[str, ...], price_types: set[str]) -> str:
    """Why a specification is not what the thing costs; empty when it is."""
    if _NO_PRICE_SPECS.intersection(types):
        return "a charge beside the price"
    if price_types & _OTHER_TYPES:
        return "a price of another kind"
    if spec.get("billingduration") or spec.get("billingincrement") or spec.get("billingperiod"):
        return "an instalment or subscription"
    reference = spec.get("referencequantity")
    units = {text_of(spec.get("unitcode")).lower(), text_of(spec.get("unittext")).lower()}
    if isinstance(reference, dict):
        amount = fields(reference)
        units |= {text_of(amount.get("unitcode")).lower(), text_of(amount.get("unittext")).lower()}
    if units & _MEASURES:
        return "a unit price"
    eligible = spec.get("eligiblequantity")
    if isinstance(eligible, dict):
        least = text_of(fields(eligible).get("minvalue") or fields(eligible).get("value"))
        if least and least not in ("1", "1.0", "0"):
            return "a price for a larger quantity"
    return ""


def _for_members(node: Node) -> bool:
    return any(
        key in node for key in ("validformembertier", "eligiblecustomertype", "membershippointsearned")
    ) and ("validformembertier" in node or "member" in text_of(node.get("eligiblecustomertype")).lower())


def _tax(node: Node) -> TaxBasis:
    stated = node.get("valueaddedtaxincluded")
    word = str(stated).strip().lower() if isinstance(stated, bool | str) else text_of(stated).lower()
    if word in ("true", "1", "yes"):
        return TaxBasis.INCLUSIVE
    if word in ("false", "0", "no"):
        return TaxBasis.EXCLUSIVE
    return TaxBasis.UNKNOWN


def bare_amount(price: RawPrice) -> str:
    """The amount as written, without zeros that add nothing: 36.00, 36.0 and 36 are one."""
    amount = price.text.strip()
    if price.unit is PriceUnit.MAJOR and "." in amount and "e" not in amount.lower():
        return amount.rstrip("0").rstrip(".")
    return amount


def _distinct(prices: list[RawPrice]) -> list[RawPrice]:
    """Each amount of a kind once: an offer and its specification often repeat each other."""
    found: dict[tuple[PriceKind, str, str | None], RawPrice] = {}
    for price in prices:
        key = (price.kind, bare_amount(price), price.currency)
        known = found.get(key)
        if known is None:
            found[key] = price
        elif known.tax_basis is TaxBasis.UNKNOWN:
            found[key] = replace(known, tax_basis=price.tax_basis)
    return list(found.values())


def _stock(offer: Node, context: OfferContext) -> StockReading | None:
    texts = [text_of(item) for item in as_list(offer.get("availability"))]
    for text in texts:
        value = schema_availability(text)
        if value is not Availability.UNKNOWN:
            return StockReading(
                value, context.method.value, 0.90, f"{context.selector}.availability", text[:80]
            )
    level = offer.get("inventorylevel")
    amount = text_of(fields(level).get("value")) if isinstance(level, dict) else text_of(level)
    if _MACHINE.match(amount):
        value = Availability.IN_STOCK if float(amount) > 0 else Availability.OUT_OF_STOCK
        return StockReading(value, context.method.value, 0.90, f"{context.selector}.inventoryLevel", amount)
    if any(texts):
        return StockReading(
            Availability.UNKNOWN, context.method.value, 0.0, f"{context.selector}.availability", texts[0][:80]
        )
    return None


def _shipping(offer: Node, country: str) -> str:
    """What delivery to the country costs at least: "4.95 EUR"; empty where the offer does not settle it.

    Details for other destinations say nothing of ours. Where the country is unknown, or none is named, only a
    rate that all details share is one.
    """
    rates: list[tuple[str, set[str]]] = []
    for item in as_list(offer.get("shippingdetails"))[:40]:
        detail = fields(item) if isinstance(item, dict) else {}
        rate = detail.get("shippingrate")
        known = fields(rate) if isinstance(rate, dict) else {}
        amount = text_of(known.get("value") or known.get("price") or known.get("maxvalue"))
        if amount:
            stated = f"{amount} {text_of(known.get('currency'))}".strip()
            rates.append((stated, _destinations(detail.get("shippingdestination"))))
    own = [stated for stated, places in rates if country and country in places]
    own = own or [stated for stated, places in rates if not places or not country]
    if country and len(own) > 1:
        return min(own, key=_rate)
    return own[0] if len(set(own)) == 1 else ""


def _rate(stated: str) -> Decimal:
    number = stated.split(maxsplit=1)[0]
    return Decimal(number) if _MACHINE.match(number) else Decimal("Infinity")


def _destinations(regions: object) -> set[str]:
    """Country codes of the places that a detail speaks of, empty for everywhere."""
    found: set[str] = set()
    for region in as_list(regions)[:300]:
        if isinstance(region, dict):
            for value in as_list(fields(region).get("addresscountry"))[:300]:
                name = fields(value).get("name") if isinstance(value, dict) else value
                found.add(text_of(name).upper())
    return found - {""}


_DATE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)


def _moment(text: str, zone: tzinfo | None, *, end: bool) -> datetime | None:
    """An instant; a bare date is the start of that day in the shop's zone, or its end."""
    match = _DATE.match(text)
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if match[4] is None:
            start = datetime.combine(day, time(), tzinfo=zone)
            return start + timedelta(days=1) if end else start
        moment = datetime.combine(day, time(int(match[4]), int(match[5]), int(match[6] or 0)), tzinfo=zone)
        if match[7]:
            offset = match[7].replace("Z", "+00:00")
            offset = offset if ":" in offset else f"{offset[:3]}:{offset[3:]}"
            moment = datetime.fromisoformat(moment.replace(tzinfo=None).isoformat() + offset)
    except (ValueError, OverflowError):
        return None
    return moment


def in_force(
    offers: list[OfferReading], now: datetime | None
) -> tuple[list[OfferReading], list[OfferReading]]:
    """(offers that hold at `now`, the others); without a time, or where none holds, all of them do."""
    if now is None or now.tzinfo is None or len(offers) < 2:
        return offers, []

    def holds(offer: OfferReading) -> bool:
        starts, ends = (
            moment.replace(tzinfo=now.tzinfo) if moment is not None and moment.tzinfo is None else moment
            for moment in (offer.starts, offer.ends)
        )
        return (starts is None or starts <= now) and (ends is None or now < ends)

    current = [offer for offer in offers if holds(offer)]
    if not current:
        return offers, []
    return current, [offer for offer in offers if offer not in current]


def offers_in(value: Any, depth: int = 0) -> Iterator[Node]:
    """Every single offer of an `offers` value; an aggregate gives its own offers where they have prices."""
    for item in as_list(value)[:2_000]:
        if isinstance(item, list):
            if depth < 4:
                yield from offers_in(item, depth + 1)
            continue
        if not isinstance(item, dict):
            continue
        known = fields(item)
        inner = [
            child
            for child in as_list(known.get("offers"))
            if isinstance(child, dict)
            and any(key in fields(child) for key in ("price", "pricespecification"))
        ]
        if inner and depth < 4:
            above = {
                key: value
                for key, value in known.items()
                if key in ("pricecurrency", "availability", "seller", "itemcondition")
            }
            for child in inner[:2_000]:
                yield {**above, **fields(child), "@type": child.get("@type", "Offer")}
        else:
            yield item
