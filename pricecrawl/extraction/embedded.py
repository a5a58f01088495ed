"""State that a page carries for its own scripts: Next, Nuxt, Apollo, Redux, shop variables, data attributes.

Whatever the framework, the state is JSON somewhere in a script or an attribute, and a product in it is
an object with a price, recognised as the page's own by its name, id, article number or address. Only
scripts that mention a price are parsed, within a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.money_locale import currency_codes
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.offers import OfferContext, raw_price
from pricecrawl.extraction.products import OTHER_VARIANT, Structured
from pricecrawl.extraction.states import states
from pricecrawl.extraction.stock_words import schema_availability, state_of
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.things import Node, as_list, short, text_of
from pricecrawl.extraction.variants import Choice, asked_choice, chosen_variants, preset_choice, variants_of

MAX_OBJECTS = 6_000

_CURRENT = (
    *(
        "saleprice",
        "sale_price",
        "sale",
        "sales",
        "specialprice",
        "special_price",
        "finalprice",
        "final_price",
        "currentprice",
    ),
    *(
        "current_price",
        "current",
        "discountedprice",
        "discounted_price",
        "discountprice",
        "offerprice",
        "promoprice",
        "nowprice",
    ),
    *(
        "sellingprice",
        "display_price",
        "price_amount",
        "price",
        "productprice",
        "unitprice",
        "pricevalue",
        "price_value",
        "amount",
        "value",
        "now",
        "final",
    ),
)
_BEFORE = (
    *(
        "compare_at_price",
        "compareatprice",
        "originalprice",
        "original_price",
        "original",
        "listprice",
        "list_price",
        "list",
    ),
    *(
        "display_regular_price",
        "regular_price_amount",
        "price_without_reduction",
        "regularprice",
        "regular_price",
        "regular",
        "wasprice",
        "was_price",
        "was",
        "msrp",
        "rrp",
        "retailprice",
        "oldprice",
        "old_price",
    ),
    *(
        "baseprice",
        "strikeprice",
        "strikethroughprice",
        "highprice",
        "fullprice",
        "pricebefore",
        "pricebeforediscount",
    ),
)
_NET = frozenset(
    (
        "pricewithouttax",
        "priceexcludingtax",
        "pricenet",
        "netprice",
        "price_excl_tax",
        "pricewithoutvat",
        "pretaxprice",
        "price_tax_exc",
    )
)
_MINOR = frozenset(
    ("price_in_cents", "priceincents", "centamount", "cent_amount", "pricecents", "price_cents")
)
# Keys of prices with their rank; words that mean a price only inside a price object are apart.
_PRICE_PARTS = {key: rank for rank, key in enumerate((*_CURRENT, *_BEFORE, *_MINOR, *_NET))}
_ONLY_INSIDE = frozenset(
    (
        *("sale", "sales", "current", "original", "list", "regular", "was", "now", "final", "amount"),
        *("value", "unitprice", "pricevalue", "price_value"),
    )
)
_PRICE_KEYS = {key: rank for key, rank in _PRICE_PARTS.items() if key not in _ONLY_INSIDE}
_CURRENCY = (
    "currency",
    "currencycode",
    "currency_code",
    "pricecurrency",
    "currencyiso",
    "currencyisocode",
    "currencyid",
)
_NAMES = (
    "name",
    "title",
    "productname",
    "product_name",
    "displayname",
    "product_title",
    "shortname",
    "short_name",
    "item_name",
)
_IDS = (
    "id",
    "sku",
    "productid",
    "product_id",
    "variantid",
    "variant_id",
    "code",
    "itemid",
    "handle",
    "slug",
    "urlkey",
    "url_key",
    "partnumber",
    "item_id",
)
_STOCK = (
    *("available", "instock", "in_stock", "isinstock", "is_in_stock", "availability", "availabilitystatus"),
    *("stockstatus", "stock_status", "inventorystatus", "availableforsale", "available_for_sale"),
    *("isavailable", "is_available"),
)
_LISTS = re.compile(
    r"related|recommend|similar|upsell|cross|recent|bundle|accessor|also|cart|basket|wishlist|carousel|"
    r"suggest|compare|search|collection|family|look",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Holder:
    """One object with a price: where it was found, and how well it fits the page."""

    node: Node
    path: tuple[str, ...]
    source: str
    fit: float = 0.0
    order: int = 0
    known: Node = field(init=False)

    def __post_init__(self) -> None:
        self.known = {short(key): value for key, value in self.node.items()}


def read_embedded(document: Document, subject: Subject) -> Structured | None:
    """The page's own product in its embedded state; None where no object is clearly it."""
    holders: list[_Holder] = []
    named: dict[str, set[str]] = {}
    for source, value, element in states(document):
        if isinstance(value, list) and element is not None and not subject.aside(element):
            holders += _own_variants(value, source, len(holders))
        for node, path in _objects(value):
            named.setdefault(source, set()).update(_codes_in(node))
            if "ric" not in "\n".join(node) and "variants" not in node and "offers" not in node:
                continue
            holder = _Holder(node, path, source, order=len(holders))
            if "variants" in holder.known or "offers" in holder.known or _prices_of(holder):
                holder.fit = _fit(holder, subject)
                holders.append(holder)
    fitting = [holder for holder in holders if holder.fit >= 3]
    if not fitting:
        return None
    best = max(fitting, key=lambda holder: (holder.fit, -holder.order))
    equals = [holder for holder in fitting if holder.fit == best.fit]
    reading = _reading(best, equals, subject, asked_choice(subject), preset_choice(document, subject))
    codes = named.get(best.source, set())
    if reading is not None and len(codes) == 1 and not any(price.currency for price in reading.prices):
        # The state names one currency, beside its prices and not at them.
        reading.currency = codes.pop()
        reading.prices = [replace(price, currency=reading.currency) for price in reading.prices]
    return reading


def _codes_in(node: Node) -> set[str]:
    """Currency codes that an object states."""
    found = {
        text_of(value) for key, value in node.items() if isinstance(value, str) and short(key) in _CURRENCY
    }
    return {code for code in found if code in currency_codes()}


def _own_variants(value: list[Any], source: str, order: int) -> list[_Holder]:
    """A list of priced variants in an attribute of the product's own area belongs to the product."""
    variants = [item for item in value if isinstance(item, dict)]
    if len(variants) != len(value) or not all(
        _prices_of(_Holder(item, (), source)) for item in variants[:500]
    ):
        return []
    return [_Holder({"variants": variants}, (), source, fit=3, order=order)]


def _objects(value: Any) -> Iterator[tuple[Node, tuple[str, ...]]]:
    todo: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    count = 0
    while todo and count < MAX_OBJECTS:
        item, path = todo.pop()
        if len(path) > 16:
            continue
        if isinstance(item, list):
            todo.extend((child, path) for child in reversed(item[:400]) if isinstance(child, dict | list))
        elif isinstance(item, dict):
            count += 1
            yield item, path
            todo.extend(
                (child, (*path, str(key)))
                for key, child in reversed(item.items())
                if isinstance(child, dict | list)
            )


def _fit(holder: _Holder, subject: Subject) -> float:
    """How surely an object is the page's own product."""
    known = holder.known
    fit = 0.0
    names = [text_of(known[key]) for key in _NAMES if key in known]
    like = max((subject.names_it(name) for name in names if name), default=0.0)
    fit += 4 if like >= 0.95 else 3 if like >= 0.85 else 0
    ids = {
        text_of(known[key]).lower()
        for key in _IDS
        if key in known and not isinstance(known[key], dict | list)
    }
    link = text_of(known.get("url") or known.get("link") or known.get("permalink"))
    words = set(subject.address.words)
    if any(
        len(identity) > 3 and (identity in words or identity in subject.address.wanted) for identity in ids
    ):
        fit += 3
    if link and subject.address.path and subject.address.path in link.lower():
        fit += 3
    path = "/".join(holder.path)
    if _LISTS.search(path):
        fit -= 4
    if any(
        part.lower()
        in ("product", "productdetails", "productdata", "pdp", "currentproduct", "initialproduct")
        for part in holder.path[-3:]
    ):
        fit += 1
    return fit


def _prices_of(holder: _Holder) -> list[tuple[str, Any, str]]:
    """(key, value, currency) of every price of an object, its price object opened."""
    known = holder.known
    found: list[tuple[str, Any, str]] = []
    currency = next((text_of(known[key]) for key in _CURRENCY if isinstance(known.get(key), str)), "")
    for key in _in_order(_PRICE_KEYS, known):
        value = known.get(key)
        if isinstance(value, dict):
            found += _price_object(key, value, currency)
        elif value is not None and not isinstance(value, bool | list):
            found.append((key, value, currency))
    prices = known.get("prices") or known.get("pricing") or known.get("priceinfo") or known.get("price_range")
    for item in as_list(prices)[:1]:
        if isinstance(item, dict):
            found += _price_object("prices", item, currency)
    return found


def _in_order(wanted: Mapping[str, int], known: Node) -> list[str]:
    """The wanted keys that are there, the most telling first."""
    return sorted(wanted.keys() & known.keys(), key=wanted.__getitem__)


def _price_object(name: str, value: Node, currency: str) -> list[tuple[str, Any, str]]:
    known = {short(key): item for key, item in value.items()}
    own = next((text_of(known[key]) for key in _CURRENCY if isinstance(known.get(key), str)), currency)
    found: list[tuple[str, Any, str]] = []
    for key in _in_order(_PRICE_PARTS, known):
        item = known.get(key)
        if isinstance(item, dict):
            inner = {short(inner_key): inner_value for inner_key, inner_value in item.items()}
            amount = inner.get("value", inner.get("amount", inner.get("price")))
            code = next((text_of(inner[k]) for k in _CURRENCY if isinstance(inner.get(k), str)), own)
            if amount is not None and not isinstance(amount, dict | list | bool):
                found.append((f"{name}.{key}", amount, code))
        elif item is not None and not isinstance(item, bool | list):
            found.append((f"{name}.{key}", item, own))
    return found


def _reading(
    best: _Holder, equals: list[_Holder], subject: Subject, asked: Choice, preset: Choice
) -> Structured | None:
    reading = Structured(Method.EMBEDDED)
    known = best.known
    reading.name = next((text_of(known[key]) for key in _NAMES if key in known), "")
    reading.likeness = subject.names_it(reading.name)
    reading.sku = next(
        (text_of(known[key]) for key in ("sku", "id", "productid", "code") if key in known), ""
    )
    reading.brand = text_of(known.get("brand") or known.get("vendor"))
    reading.gtin = text_of(
        known.get("gtin") or known.get("gtin13") or known.get("ean") or known.get("barcode")
    )
    chosen = _variant(reading, known, asked, preset) or best
    for price in _raw_prices(chosen):
        if price not in reading.prices:
            reading.prices.append(price)
    others = {
        price.text for holder in equals for price in _raw_prices(holder) if price.kind is PriceKind.STANDARD
    }
    mine = {price.text for price in reading.prices if price.kind is PriceKind.STANDARD}
    if len({_plain(text) for text in others | mine}) > 1 and chosen is best:
        # Several states of one product disagree: the page alone cannot say which is shown.
        for price in reading.prices:
            reading.set_aside.append((price, "one of several prices in the page's state"))
        reading.prices = []
    stock = _stock(chosen.known, chosen)
    if stock is not None:
        # The chosen variant's own stock says more than that of the product as a whole (0.90).
        reading.stock.append(replace(stock, confidence=0.92) if reading.asked else stock)
    reading.currency = next((p.currency for p in reading.prices if p.currency), "") or ""
    return reading if reading.prices or reading.stock or reading.set_aside else None


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _variant(reading: Structured, known: Node, asked: Choice, preset: Choice) -> _Holder | None:
    """The variant that the address asks for, else the one preselected, else any if all cost the same."""
    variants = variants_of(known)
    if not variants:
        return None
    holders = {id(item): _Holder(item, ("variants",), "variant") for item in variants}
    for choice in (asked, preset):
        chosen = [holders[id(item)] for item in chosen_variants(variants, choice)]
        if not chosen or len(_amounts_of(chosen)) > 1:
            continue
        rest = [holder for holder in holders.values() if holder not in chosen]
        reading.set_aside += [(price, OTHER_VARIANT) for holder in rest for price in _raw_prices(holder)]
        reading.asked = True
        names = ", ".join(value for value in (text_of(v) for v in _labels(chosen[0])) if value)[:60]
        how = "The address asks for" if choice is asked else "The page has chosen"
        reading.trace.append(f"{how} the variant “{names}” of {len(variants)} in the page's state.")
        return chosen[0]
    everyone = list(holders.values())
    return everyone[0] if len(_amounts_of(everyone)) == 1 else None


def _labels(holder: _Holder) -> Iterator[Any]:
    known = holder.known
    options = known.get("attributes") or known.get("options")
    yield known.get("title") or known.get("name")
    yield from options.values() if isinstance(options, dict) else as_list(options)
    yield known.get("sku")


def _amounts_of(holders: Iterable[_Holder]) -> set[str]:
    """The standard prices of several objects, as written without idle zeros."""
    return {
        _plain(price.text)
        for holder in holders
        for price in _raw_prices(holder)
        if price.kind is PriceKind.STANDARD and price.tax_basis is not TaxBasis.EXCLUSIVE
    }


def _raw_prices(holder: _Holder) -> list[RawPrice]:
    """Prices of one object: the first current one, what was asked before, and net amounts marked as such."""
    found: list[RawPrice] = []
    current: RawPrice | None = None
    for key, value, currency in _prices_of(holder):
        leaf = key.rpartition(".")[2]
        context = OfferContext(
            Method.EMBEDDED,
            f"{holder.source} {'.'.join(holder.path[-2:])}.{key}".replace(" .", " "),
            currency,
        )
        price = raw_price(value, currency, context, PriceKind.STANDARD)
        if price is None:
            continue
        if leaf in _MINOR:
            if price.unit is PriceUnit.MAJOR and "." not in price.text:
                price = replace(price, unit=PriceUnit.MINOR)
            else:
                continue
        if leaf in _NET:
            found.append(replace(price, tax_basis=TaxBasis.EXCLUSIVE))
        elif leaf in _BEFORE:
            found.append(replace(price, kind=PriceKind.LIST))
        elif current is None:
            current = price
            found.insert(0, price)
    if current is None:
        return []
    return [
        p
        for p in found
        if p is current or p.kind is not PriceKind.LIST or _plain(p.text) != _plain(current.text)
    ]


def _stock(known: Node, holder: _Holder) -> StockReading | None:
    told = text_of(known.get("availability_html") or known.get("availability_text"))
    if told and (state := state_of(told)) in (Availability.OUT_OF_STOCK, Availability.PRE_ORDER):
        return StockReading(state, Method.EMBEDDED.value, 0.80, f"{holder.source} availability", told[:60])
    inner = known.get("inventory") or known.get("stock") or known.get("availability")
    if isinstance(inner, dict):
        known = {**{short(key): value for key, value in inner.items()}, **known}
    for key in _STOCK:
        value = known.get(key)
        if value is None or isinstance(value, dict | list):
            continue
        if isinstance(value, bool):
            state = Availability.IN_STOCK if value else Availability.OUT_OF_STOCK
        else:
            state = schema_availability(str(value))
        if state is not Availability.UNKNOWN:
            return StockReading(state, Method.EMBEDDED.value, 0.80, f"{holder.source} {key}", str(value)[:60])
    return None
