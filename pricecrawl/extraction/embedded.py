"""State that a page carries for its own scripts: Next, Nuxt, Apollo, Redux, shop variables, data attributes.

Whatever the framework, the state is JSON somewhere in a script or an attribute, and a product in it is
an object with a price, recognised as the page's own by its name, id, article number or address. Only
scripts that mention a price are parsed, within a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.market import TaxBasis
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.lenient_json import parse_at
from pricecrawl.extraction.offers import OfferContext, raw_price
from pricecrawl.extraction.products import Structured
from pricecrawl.extraction.stock_words import schema_availability
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.things import Node, as_list, short, text_of

BUDGET = 900_000
"""Characters of scripts that are parsed for one page."""

MAX_OBJECTS = 6_000

_ASSIGNED = re.compile(r"(?:=|:|\(|,|return)\s*(?=[{\[])|^\s*(?=[{\[])")
_PRICE_KEY = re.compile(r"\\?[\"']?\w{0,20}[pP]rice\w{0,20}\\?[\"']?\s*:")
_STRING_JSON = re.compile(r"JSON\.parse\(\s*([\"'])")
_attributes = etree.XPath("descendant::*/@*[starts-with(normalize-space(.), '{') and contains(., 'rice')]")

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
    )
)
_MINOR = frozenset(
    ("price_in_cents", "priceincents", "centamount", "cent_amount", "pricecents", "price_cents")
)
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


def read_embedded(document: Document, subject: Subject) -> Structured | None:
    """The page's own product in its embedded state; None where no object is clearly it."""
    holders: list[_Holder] = []
    for source, value in _states(document):
        for node, path in _objects(value):
            holder = _Holder(node, path, source, order=len(holders))
            if _prices_of(holder) or any(short(key) in ("variants", "offers") for key in node):
                holder.fit = _fit(holder, subject)
                holders.append(holder)
    fitting = [holder for holder in holders if holder.fit >= 3]
    if not fitting:
        return None
    best = max(fitting, key=lambda holder: (holder.fit, -holder.order))
    equals = [holder for holder in fitting if holder.fit == best.fit]
    return _reading(best, equals, subject)


def _states(document: Document) -> Iterator[tuple[str, Any]]:
    """(where, value) of every piece of JSON that mentions a price, within the budget."""
    left = BUDGET
    for number, script in enumerate(document.tree.iter("script")):
        kind = (script.get("type") or "").lower()
        body = script.text
        if not body or "rice" not in body or "ld+json" in kind or "template" in kind or left <= 0:
            continue
        if _PRICE_KEY.search(body) is None:
            continue
        where = f"script#{script.get('id')}" if script.get("id") else f"script[{number}]"
        if "json" in kind:
            body = body[:left]
            left -= len(body)
            start = min((place for place in (body.find("{"), body.find("[")) if place >= 0), default=-1)
            if start >= 0:
                value, _ = parse_at(body, start)
                yield where, _devalued(value)
            continue
        for value, length in _assigned(body, left):
            left -= length
            yield where, value
            if left <= 0:
                break
    if left > 0:
        for attribute in _attributes(document.tree)[:40]:  # type: ignore[index]
            text = str(attribute)
            if len(text) > left:
                break
            left -= len(text)
            if _PRICE_KEY.search(text):
                name = getattr(attribute, "attrname", "data")
                yield f"@{name}", parse_at(text, text.find("{"))[0]


def _assigned(body: str, left: int) -> Iterator[tuple[Any, int]]:
    """Objects that a script assigns or passes on, largest pieces first come first served."""
    for match in _STRING_JSON.finditer(body):
        quote = match[1]
        end = _string_end(body, match.end(), quote)
        if end > 0 and "rice" in body[match.end() : end] and end - match.end() <= left:
            text = _unescape(body[match.end() : end])
            start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
            if start >= 0:
                yield parse_at(text, start)[0], len(text)
    position = 0
    spent = 0
    for match in _ASSIGNED.finditer(body):
        if match.end() < position or spent > left:
            continue
        ahead = _PRICE_KEY.search(body, match.end())
        if ahead is None:
            return
        if body[match.end()] == "{" and not _looks_like_data(body, match.end()):
            continue
        value, end = parse_at(body[: match.end() + left], match.end())
        spent += max(1, end - match.end())
        if isinstance(value, dict | list) and "rice" in body[match.end() : end]:
            position = end
            yield value, end - match.end()
        else:
            position = max(position, match.end() + 1)


_DATA = re.compile(r"\{\s*(?:\\?[\"'][^\"'\\]{0,80}\\?[\"']|[\w$]+)\s*:")


def _looks_like_data(body: str, place: int) -> bool:
    """An object literal and not a block of code."""
    return _DATA.match(body, place) is not None


def _string_end(body: str, start: int, quote: str) -> int:
    place = start
    while True:
        place = body.find(quote, place)
        if place < 0:
            return -1
        slashes = 0
        while body[place - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return place
        place += 1


def _unescape(text: str) -> str:
    """A JavaScript string's content; JSON within it keeps its own escapes."""
    if "\\" not in text:
        return text
    return (
        re.sub(
            r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)",
            lambda m: (
                chr(int(m[1][1:], 16)) if len(m[1]) > 1 else {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1])
            ),
            text,
            flags=re.DOTALL,
        )
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )


def _devalued(value: Any) -> Any:
    """Nuxt 3 writes its state as one flat list whose objects hold places in the list."""
    if not (
        isinstance(value, list)
        and len(value) > 3
        and isinstance(value[0], dict | list)
        and len(value) < 60_000
    ):
        return value
    sample = [item for item in value[:200] if isinstance(item, dict)]
    if not sample or not all(str(place).isdigit() for item in sample[:5] for place in item.values()):
        return value
    built: list[Any] = []
    for item in value:
        if not isinstance(item, dict):
            continue
        node: Node = {}
        for key, place in item.items():
            target = _at(value, place)
            if isinstance(target, dict):
                # One level is enough to see a price object inside a product.
                target = {inner: _at(value, where) for inner, where in target.items()}
            node[key] = target
        built.append(node)
    return built


def _at(values: list[Any], place: Any) -> Any:
    text = str(place)
    if not text.isdigit() or int(text) >= len(values):
        return None
    return values[int(text)]


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
    known = {short(key): value for key, value in holder.node.items()}
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
    known = {short(key): value for key, value in holder.node.items()}
    found: list[tuple[str, Any, str]] = []
    currency = next((text_of(known[key]) for key in _CURRENCY if isinstance(known.get(key), str)), "")
    for key in (*_CURRENT[:20], *_BEFORE, *_MINOR, *_NET):
        if key in (
            "sale",
            "sales",
            "current",
            "original",
            "list",
            "regular",
            "was",
            "now",
            "final",
            "amount",
            "value",
        ):
            continue
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


def _price_object(name: str, value: Node, currency: str) -> list[tuple[str, Any, str]]:
    known = {short(key): item for key, item in value.items()}
    own = next((text_of(known[key]) for key in _CURRENCY if isinstance(known.get(key), str)), currency)
    found: list[tuple[str, Any, str]] = []
    for key in (*_CURRENT, *_BEFORE, *_MINOR, *_NET):
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


def _reading(best: _Holder, equals: list[_Holder], subject: Subject) -> Structured | None:
    reading = Structured(Method.EMBEDDED)
    known = {short(key): value for key, value in best.node.items()}
    reading.name = next((text_of(known[key]) for key in _NAMES if key in known), "")
    reading.likeness = subject.names_it(reading.name)
    reading.sku = next(
        (text_of(known[key]) for key in ("sku", "id", "productid", "code") if key in known), ""
    )
    reading.brand = text_of(known.get("brand") or known.get("vendor"))
    reading.gtin = text_of(
        known.get("gtin") or known.get("gtin13") or known.get("ean") or known.get("barcode")
    )
    chosen = _variant(known, subject) or best
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
    stock = _stock({short(key): value for key, value in chosen.node.items()}, chosen)
    if stock is not None:
        reading.stock.append(stock)
    reading.currency = next((p.currency for p in reading.prices if p.currency), "") or ""
    return reading if reading.prices or reading.stock or reading.set_aside else None


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _variant(known: Node, subject: Subject) -> _Holder | None:
    """The variant that the address asks for, among those of the product."""
    for item in as_list(known.get("variants") or known.get("skus") or known.get("items"))[:500]:
        if not isinstance(item, dict):
            continue
        ids = {
            text_of(item.get(key)).lower()
            for key in ("id", "sku", "variantId", "variant_id", "code")
            if key in item
        }
        if ids & subject.address.wanted:
            return _Holder(item, ("variants",), "variant")
    return None


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
