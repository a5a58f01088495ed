"""Which product of a page's structured data is the page's own, and which variant of it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, RawPrice
from pricecrawl.extraction.address import same_path
from pricecrawl.extraction.asked import GTINS, Option, absolute, asked_for, is_asked, tokens
from pricecrawl.extraction.names import name_key
from pricecrawl.extraction.offers import (
    OfferContext,
    OfferReading,
    bare_amount,
    in_force,
    offers_in,
    raw_price,
    read_offer,
)
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.things import (
    ELEMENT,
    Found,
    Node,
    as_list,
    fields,
    text_of,
    types_of,
    walk,
)

PRODUCT_TYPES = frozenset(
    (
        *("product", "productgroup", "productmodel", "individualproduct", "someproducts", "vehicle", "car"),
        *("motorcycle", "book", "audiobook", "musicalbum", "musicrelease", "movie", "tvseries", "game"),
        *("videogame", "softwareapplication", "mobileapplication", "webapplication", "drug", "menuitem"),
        *("service", "financialproduct", "course", "dietarysupplement", "diamond", "offerforpurchase"),
    )
)
_OFFER_TYPES = frozenset(("offer", "aggregateoffer", "offerforpurchase", "offerforlease", "demand"))
OTHER_VARIANT = "another variant than the one asked for"


@dataclass(slots=True)
class Structured:
    """What one syntax says of the page's product.

    `options` are offers between which nothing in the page's address decides; while there are any,
    `prices` is empty. `own` is False where nothing ties the data to this page; `asked` tells
    that `prices` are those of the variant that the address or the page has chosen, `expired` that their
    stated time has passed. `set_aside` are
    (price, reason) pairs of amounts that are no price of the product.
    """

    method: Method
    name: str = ""
    brand: str = ""
    gtin: str = ""
    mpn: str = ""
    sku: str = ""
    size: str = ""
    variant: str = ""
    image: str = ""
    category: str = ""
    condition: str = ""
    seller: str = ""
    shipping: str = ""
    prices: list[RawPrice] = field(default_factory=list)
    stock: list[StockReading] = field(default_factory=list)
    options: list[OfferReading] = field(default_factory=list)
    set_aside: list[tuple[RawPrice, str]] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    own: bool = True
    asked: bool = False
    expired: bool = False
    comparable: bool = False
    likeness: float = 0.0
    currency: str = ""


def read_structured(nodes: Sequence[Node], method: Method, subject: Subject) -> Structured | None:
    """The page's own product among `nodes`; None where they hold no product at all."""
    found = list(walk(nodes))
    products = [item for item in found if _is_product(item.node)]
    if not products:
        return _loose_offers(found, method, subject)
    ranked = sorted(
        ((_score(item, subject), -place, item) for place, item in enumerate(products)),
        key=lambda entry: entry[:2],
        reverse=True,
    )
    score, _, best = ranked[0]
    reading = Structured(method)
    node = fields(best.node)
    reading.likeness = subject.names_it(text_of(node.get("name")))
    reading.comparable = subject.could_name(text_of(node.get("name")))
    rivals = [item for value, _, item in ranked[1:] if value == score]
    group = _group_of(best, products)
    if len(group) == 1 and rivals and score < 5 and _is_elsewhere(best):
        rivals = []
    reading.own = _is_own(best, score, rivals, group, subject)
    if len(products) > 1:
        reading.trace.append(
            f"The {method.value} data names {len(products)} products; “{text_of(node.get('name'))[:60]}” is"
            " taken" + (" as this page's own." if reading.own else ", but nothing ties it to this page.")
        )
    reading.asked = len(products) > 1 and is_asked(best, products, subject)
    _describe(reading, node)
    variants = _variants(node, group)
    options = [
        option
        for place, variant in enumerate(variants)
        for option in _options_of(variant, node, method, subject, place if len(variants) > 1 else None)
    ]
    _choose(reading, options, subject, single=len(variants) == 1)
    others = [item for item in products if item not in group and not _below(item, best)]
    if reading.asked:
        sisters = [item for item in others if item.path[:-1] == best.path[:-1]]
        _set_others_aside(reading, sisters, method, subject, OTHER_VARIANT)
        others = [item for item in others if item not in sisters]
    _set_others_aside(reading, others, method, subject)
    _set_rest_aside(reading, found, method)
    return reading


def _is_product(node: Node) -> bool:
    types = types_of(node)
    if not PRODUCT_TYPES.isdisjoint(types):
        # A work or service without offers is what the page is about, not something it sells.
        return (
            "product" in types or "productgroup" in types or "offers" in fields(node) or "hasVariant" in node
        )
    if types and not _OFFER_TYPES.isdisjoint(types):
        return False
    known = fields(node)
    offers = known.get("offers")
    if isinstance(offers, dict | list) and offers:
        return True
    return not types and ELEMENT not in node and "price" in known and "name" in known


def _score(item: Found, subject: Subject) -> int:
    node = fields(item.node)
    score = 0
    link = text_of(node.get("url")) or text_of(node.get("@id"))
    if link and any(same_path(absolute(link, subject), own) for own in subject.addresses):
        score += 6
    name = text_of(node.get("name"))
    like = subject.names_it(name)
    score += (
        5 if like >= 1 else 4 if like >= 0.9 else 2 if like >= 0.5 else -2 if name and subject.names else 0
    )
    named = tokens(node, subject)
    if named & subject.address.wanted or any(len(t) > 3 and t in subject.address.words for t in named):
        score += 3
    if node.get("offers") or node.get("hasvariant") or node.get("price"):
        score += 3
    score += 2 if item.main else 0
    score -= 6 if item.related else 0
    score -= 3 if item.listed else 0
    element = item.node.get(ELEMENT)
    if element is not None and subject.aside(element):
        score -= 6
    if not PRODUCT_TYPES.isdisjoint(types_of(item.node)):
        score += 1
    return score


def _is_elsewhere(item: Found) -> bool:
    return item.related or item.listed


def _is_own(best: Found, score: int, rivals: list[Found], group: list[Found], subject: Subject) -> bool:
    """Whether the best product is the page's: something ties it to the page, or nothing rivals it."""
    node = fields(best.node)
    like = subject.names_it(text_of(node.get("name")))
    if like >= 0.5 or score >= 7:
        return True
    if best.related or best.listed:
        return False
    return not [rival for rival in rivals if rival not in group]


def _below(item: Found, best: Found) -> bool:
    """Whether a product hangs below another one of the same block (a variant, an offered item)."""
    return item.path[: len(best.path)] == best.path and len(item.path) > len(best.path) and not item.related


def _group_of(best: Found, products: list[Found]) -> list[Found]:
    """The product with its variants that stand beside it as products of their own."""
    node = fields(best.node)
    if node.get("hasvariant"):
        return [best]
    group_id = text_of(node.get("inproductgroupwithid")) or _id_of(node.get("isvariantof"))
    key = name_key(text_of(node.get("name")))
    own = [best]
    for item in products:
        if item is best or item.related:
            continue
        other = fields(item.node)
        other_group = text_of(other.get("inproductgroupwithid")) or _id_of(other.get("isvariantof"))
        same_group = bool(group_id) and group_id == other_group
        same_name = bool(key) and key == name_key(text_of(other.get("name"))) and not _below(item, best)
        if same_group or (same_name and _sells(other)):
            own.append(item)
    return own


def _sells(node: Node) -> bool:
    return bool(node.get("offers") or node.get("price"))


def _id_of(value: object) -> str:
    for item in as_list(value):
        if isinstance(item, dict):
            known = fields(item)
            return text_of(known.get("productgroupid") or known.get("@id") or known.get("name"))
        return text_of(item)
    return ""


def _variants(node: Node, group: list[Found]) -> list[Node]:
    """The variants to choose between; the product itself where it has none."""
    below = [fields(item) for item in _flat(node.get("hasvariant")) if isinstance(item, dict)]
    below = [item for item in below if _sells(item)]
    if below:
        return below
    if len(group) > 1:
        return [fields(item.node) for item in group]
    models = [fields(item) for item in _flat(node.get("model")) if isinstance(item, dict)]
    models = [item for item in models if _sells(item)]
    return models if models and not _sells(node) else [node]


def _flat(value: object) -> Iterable[object]:
    for item in as_list(value)[:1_000]:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def _options_of(
    variant: Node, product: Node, method: Method, subject: Subject, place: int | None
) -> list[Option]:
    base = "Product" if place is None else f"Product.hasVariant[{place}]"
    nodes = list(offers_in(variant.get("offers")))
    if not nodes and variant is not product:
        nodes = list(offers_in(product.get("offers")))
    currency = text_of(variant.get("pricecurrency") or product.get("pricecurrency"))
    options = []
    for number, node in enumerate(nodes):
        where = f"{base}.offers" if len(nodes) == 1 else f"{base}.offers[{number}]"
        context = OfferContext(method, where, currency, subject.zone, subject.country)
        options.append(Option(read_offer(node, context), variant))
    if not any(option.offer.prices for option in options) and variant.get("price") is not None:
        # A price on the product itself: not the vocabulary's way, but a common one.
        context = OfferContext(method, base, currency, subject.zone, subject.country)
        own = read_offer({**variant, "@type": "Offer"}, context)
        options.append(Option(own, variant))
    return options


def _choose(reading: Structured, options: list[Option], subject: Subject, *, single: bool) -> None:
    """Settle on the offer that the address asks for, or keep the open options."""
    if not options:
        return
    options = _new_first(reading, options)
    offers, past = in_force([option.offer for option in options], subject.now)
    for offer in past:
        _put_aside(reading, offer, "an offer that does not hold at this time")
    options = [option for option in options if option.offer in offers]
    asked = asked_for(options, subject)
    if asked:
        for option in options:
            if option not in asked:
                _put_aside(reading, option.offer, OTHER_VARIANT)
        named = text_of(asked[0].variant.get("name") or asked[0].offer.node.get("name"))
        reading.trace.append(f"The address asks for the variant “{named or asked[0].offer.node.get('sku')}”.")
        options = asked
        reading.asked = True
    if len({id(option.variant) for option in options}) == 1 and not single:
        _describe(reading, options[0].variant, variant=True)
    priced = [option for option in options if option.offer.standard]
    amounts = {(p.text, p.currency) for option in priced for p in option.offer.standard}
    reading.currency = next((p.currency for o in priced for p in o.offer.prices if p.currency), "") or ""
    if len(priced) > 1 and len(amounts) > 1 and not all(len(o.offer.standard) > 1 for o in priced):
        reading.options = [option.offer for option in options]
        return
    take(reading, [option.offer for option in options], subject.now)
    chosen = priced[0] if priced else options[0]
    for key, value in chosen.offer.node.items():
        if key in GTINS and not reading.gtin:
            reading.gtin = text_of(value)
    reading.sku = reading.sku or text_of(chosen.offer.node.get("sku"))
    reading.mpn = reading.mpn or text_of(chosen.offer.node.get("mpn"))


_CONDITIONS = ("used", "refurbished", "damaged", "open box", "openbox")


def _new_first(reading: Structured, options: list[Option]) -> list[Option]:
    """Without used and refurbished offers, where new ones stand beside them."""

    def is_used(option: Option) -> bool:
        return any(word in option.offer.condition.lower() for word in _CONDITIONS)

    left = [option for option in options if not is_used(option)]
    if not left or len(left) == len(options) or not any(option.offer.condition for option in left):
        return options
    for option in options:
        if is_used(option):
            _put_aside(reading, option.offer, "an offer of used goods")
    return left


def take(reading: Structured, offers: Sequence[OfferReading], now: datetime | None = None) -> None:
    """Accept offers as the product's: their prices, and their stock where they agree on it."""
    reading.options = []
    for offer in offers:
        reading.prices += offer.prices
        reading.set_aside += offer.notes
    first = next((offer for offer in offers if offer.standard), offers[0])
    reading.expired = all(offer.past(now) for offer in offers if offer.standard)
    reading.seller = reading.seller or first.seller
    reading.shipping = reading.shipping or first.shipping
    reading.condition = reading.condition or first.condition
    readings = [offer.stock for offer in offers if offer.stock is not None]
    known = {stock.value for stock in readings if stock.value is not Availability.UNKNOWN}
    if len(known) == 1:
        reading.stock.append(next(stock for stock in readings if stock.value in known))
    elif Availability.IN_STOCK in known and len({bare_amount(p) for o in offers for p in o.standard}) == 1:
        # Sizes at one price, some sold out: the product can be bought.
        reading.stock.append(next(s for s in readings if s.value is Availability.IN_STOCK))
    elif known:
        # Several offers, some sold out: the one whose price is taken speaks, with less certainty.
        speaks = first.stock or readings[0]
        reading.stock.append(replace(speaks, confidence=0.5))
        reading.trace.append(f"Offers differ in stock; {speaks.value.value} is the first one's.")
    else:
        reading.stock += readings[:1]


def _put_aside(reading: Structured, offer: OfferReading, reason: str) -> None:
    reading.set_aside += [(price, reason) for price in offer.prices] + offer.notes


def _describe(reading: Structured, node: Node, *, variant: bool = False) -> None:
    """Fill the facts of identity; a variant's own facts replace those of its group."""
    image = node.get("image")
    found = {
        "name": text_of(node.get("name")),
        "brand": text_of(node.get("brand") or node.get("manufacturer")),
        "gtin": next((text for key in GTINS if (text := text_of(node.get(key)))), ""),
        "mpn": text_of(node.get("mpn")),
        "sku": text_of(node.get("sku") or node.get("productid")),
        "size": text_of(
            node.get("size") or node.get("weight")
            if not isinstance(node.get("weight"), dict)
            else node.get("size")
        ),
        "image": _image(image),
        "category": text_of(node.get("category")),
        "condition": text_of(node.get("itemcondition")),
    }
    if variant and found["name"] and found["name"] != reading.name:
        reading.variant = found["name"]
    for key, value in found.items():
        if value and (variant or not getattr(reading, key)):
            setattr(reading, key, value)


def _image(value: object) -> str:
    for item in as_list(value):
        if isinstance(item, dict):
            known = fields(item)
            text = text_of(known.get("contenturl") or known.get("url") or known.get("@id"))
        else:
            text = text_of(item)
        if text:
            return text
    return ""


def _loose_offers(found: list[Found], method: Method, subject: Subject) -> Structured | None:
    """Offers without a product around them, or any thing that states a price."""
    offers = [item for item in found if not _OFFER_TYPES.isdisjoint(types_of(item.node)) and not item.related]
    reading = Structured(method)
    if offers:
        options = []
        for item in offers:
            node = fields(item.node)
            offered = node.get("itemoffered")
            variant = fields(offered) if isinstance(offered, dict) else {}
            context = OfferContext(method, "Offer", "", subject.zone, subject.country)
            options += [Option(read_offer(child, context), variant) for child in offers_in(item.node)]
        _describe(reading, options[0].variant if options else {})
        reading.likeness = subject.names_it(reading.name)
        reading.own = len(offers) == 1 or reading.likeness >= 0.5
        _choose(reading, options, subject, single=True)
        if reading.prices or reading.options or reading.stock or reading.set_aside:
            return reading
    reading = Structured(method, own=False)
    for item in found:
        node = fields(item.node)
        if "price" not in node and "lowprice" not in node and "minprice" not in node:
            continue
        context = OfferContext(method, types_of(item.node)[0] if types_of(item.node) else "price")
        offer = read_offer(item.node, context)
        loose = "priceCurrency" in item.node or offer.prices
        if not loose:
            continue
        if not types_of(item.node):
            # Properties without an item around them are the page's own as far as anybody can tell.
            reading.own = True
            take(reading, [offer])
        else:
            _put_aside(reading, offer, "no offer of a product")
    return reading if reading.prices or reading.set_aside or reading.stock else None


def _set_rest_aside(reading: Structured, found: list[Found], method: Method) -> None:
    """Amounts that stand elsewhere in the data: told, so that nothing in the markup goes unseen."""
    told = {bare_amount(price) for price in reading.prices}
    told |= {bare_amount(price) for price, _ in reading.set_aside}
    told |= {bare_amount(price) for offer in reading.options for price in offer.prices}
    for item in found:
        if "price" not in item.node or len(reading.set_aside) > 200:
            continue
        where = "/".join(item.path[-3:]) or "price"
        price = raw_price(
            item.node.get("price"),
            item.node.get("priceCurrency"),
            OfferContext(method, where),
            PriceKind.STANDARD,
        )
        if price is not None and bare_amount(price) not in told:
            told.add(bare_amount(price))
            reading.set_aside.append((price, "no offer of the product"))


def _set_others_aside(
    reading: Structured, others: list[Found], method: Method, subject: Subject, reason: str = ""
) -> None:
    for item in others[:60]:
        node = fields(item.node)
        context = OfferContext(method, "/".join(item.path[-4:]) or "Product", "", subject.zone)
        for offer in offers_in(node.get("offers")):
            why = reason or f"of another product, “{text_of(node.get('name'))[:40]}”"
            _put_aside(reading, read_offer(offer, context), why)
