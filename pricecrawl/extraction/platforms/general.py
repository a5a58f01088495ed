"""Product lists of other platforms, told by the shape of their answers.

Magento's GraphQL, SAP Commerce's OCC, Salesforce's Shopper Search and VTEX's search each have their own
way to nest a price; one small reader per shape turns an entry into a listing. Nothing is guessed: an entry
of no known shape is skipped and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.extraction.platforms.feed import Feed, Skipped

Entry = Mapping[str, Any]
_STOCK = {
    "in_stock": Availability.IN_STOCK,
    "instock": Availability.IN_STOCK,
    "lowstock": Availability.IN_STOCK,
    "out_of_stock": Availability.OUT_OF_STOCK,
    "outofstock": Availability.OUT_OF_STOCK,
}


def read_general(
    data: object, *, url: str, currency: str | None = None, tax_basis: TaxBasis = TaxBasis.UNKNOWN
) -> tuple[str, Feed]:
    """(platform, feed) of one response; the platform is `unknown` where no entry has a known shape."""
    entries = _entries(data)
    platform, reader = _reader(entries)
    listings: list[RawListing] = []
    skipped: list[Skipped] = []
    for entry in entries:
        read = list(reader(entry, url, currency, tax_basis)) if reader is not None else []
        if read:
            listings += read
        else:
            skipped.append(
                Skipped(SkipReason.NO_PRICE, str(entry.get("name") or entry.get("id") or "")[:200])
            )
    error = "" if entries else "the answer holds no list of products"
    ids = tuple(listing.source_sku for listing in listings)
    return platform, Feed(
        tuple(listings), tuple(skipped), ids, complete=_is_whole(data, len(entries)), error=error
    )


def _entries(data: object) -> list[Entry]:
    """The product objects of an answer: the first list, from the outside in, that holds a known shape."""
    todo: list[object] = [data]
    for _ in range(2_000):
        if not todo:
            break
        node = todo.pop(0)
        if isinstance(node, list):
            entries = [entry for entry in node if isinstance(entry, Mapping)]
            if any(_shape(entry) for entry in entries[:50]):
                return entries
            todo.extend(entries[:50])
        elif isinstance(node, Mapping):
            if _shape(node):
                return [node]
            inner = [value for value in node.values() if isinstance(value, Mapping) and _shape(value)]
            if inner:
                return inner
            todo.extend(value for value in node.values() if isinstance(value, Mapping | list))
    return []


def _shape(entry: Entry) -> str:
    if isinstance(entry.get("price_range"), Mapping):
        return "magento-graphql"
    price = entry.get("price")
    if (
        isinstance(price, Mapping)
        and "value" in price
        and ("currencyIso" in price or "formattedValue" in price)
    ):
        return "sap-hybris-occ"
    if (
        any(isinstance(item, Mapping) and "sellers" in item for item in _listed(entry.get("items")))
        or "sellers" in entry
    ):
        return "vtex"
    if "productId" in entry and ("price" in entry or "pricePerUnit" in entry) and "currency" in entry:
        return "sfcc"
    return ""


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


Reader = Callable[[Entry, str, str | None, TaxBasis], Iterator[RawListing]]


def _reader(entries: list[Entry]) -> tuple[str, Reader | None]:
    for entry in entries:
        shape = _shape(entry)
        if shape:
            return shape, _READERS[shape]
    return "unknown", None


def _price(
    kind: PriceKind, value: object, currency: object, selector: str, basis: TaxBasis
) -> RawPrice | None:
    text = str(value).strip() if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if not text or not any(character in "123456789" for character in text):
        return None
    code = currency if isinstance(currency, str) and len(currency) == 3 else None
    return RawPrice(kind, text, Method.API, selector, currency=code, unit=PriceUnit.MAJOR, tax_basis=basis)


def _with_before(current: RawPrice | None, before: RawPrice | None) -> tuple[RawPrice, ...]:
    if current is None:
        return ()
    return (current,) if before is None or before.text == current.text else (current, before)


def _state(text: object) -> Iterator[StockReading]:
    word = str(text or "")
    value = _STOCK.get(word.lower())
    if value is not None:
        yield StockReading(value, Method.API.value, 0.95, "stock", word)


def _magento(entry: Entry, url: str, currency: str | None, basis: TaxBasis) -> Iterator[RawListing]:
    span = entry["price_range"]
    least = span.get("minimum_price") if isinstance(span, Mapping) else None
    if not isinstance(least, Mapping):
        return
    final, regular = least.get("final_price"), least.get("regular_price")
    final = final if isinstance(final, Mapping) else {}
    regular = regular if isinstance(regular, Mapping) else {}
    shown = final or regular
    code = shown.get("currency") or currency
    current = _price(PriceKind.STANDARD, shown.get("value"), code, "price_range.final_price", basis)
    before = None
    if final and _number(regular.get("value")) > _number(final.get("value")):
        before = _price(PriceKind.LIST, regular.get("value"), code, "price_range.regular_price", basis)
    prices = _with_before(current, before)
    if prices:
        yield RawListing(
            source_sku=str(entry.get("sku") or entry.get("uid") or ""),
            url=url,
            name=str(entry.get("name") or ""),
            prices=prices,
            stock=tuple(_state(entry.get("stock_status"))),
            tax_basis=basis,
        )
    for child in _listed(entry.get("variants")):
        product = child.get("product") if isinstance(child, Mapping) else None
        if isinstance(product, Mapping) and isinstance(product.get("price_range"), Mapping):
            yield from _magento(product, url, currency, basis)


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _hybris(entry: Entry, url: str, currency: str | None, basis: TaxBasis) -> Iterator[RawListing]:
    price = entry["price"]
    current = _price(
        PriceKind.STANDARD, price.get("value"), price.get("currencyIso") or currency, "price.value", basis
    )
    stock = entry.get("stock")
    level = stock.get("stockLevelStatus") if isinstance(stock, Mapping) else None
    level = level.get("code") if isinstance(level, Mapping) else level
    if current is not None:
        yield RawListing(
            source_sku=str(entry.get("code") or ""),
            url=url,
            name=str(entry.get("name") or ""),
            brand=str(entry.get("manufacturer") or ""),
            prices=(current,),
            stock=tuple(_state(level)),
            tax_basis=basis,
        )


def _vtex(entry: Entry, url: str, currency: str | None, basis: TaxBasis) -> Iterator[RawListing]:
    items = [item for item in _listed(entry.get("items")) if isinstance(item, Mapping)] or [entry]
    for item in items:
        for seller in _listed(item.get("sellers"))[:1]:
            offer = seller.get("commertialOffer") if isinstance(seller, Mapping) else None
            if not isinstance(offer, Mapping):
                continue
            current = _price(PriceKind.STANDARD, offer.get("Price"), currency, "commertialOffer.Price", basis)
            before = None
            if _number(offer.get("ListPrice")) > _number(offer.get("Price")):
                before = _price(
                    PriceKind.LIST, offer.get("ListPrice"), currency, "commertialOffer.ListPrice", basis
                )
            prices = _with_before(current, before)
            count = offer.get("AvailableQuantity")
            stock: tuple[StockReading, ...] = ()
            if isinstance(count, int) and not isinstance(count, bool):
                state = Availability.IN_STOCK if count > 0 else Availability.OUT_OF_STOCK
                stock = (StockReading(state, Method.API.value, 0.95, "AvailableQuantity", str(count)),)
            if prices:
                yield RawListing(
                    source_sku=str(item.get("itemId") or item.get("id") or ""),
                    url=str(entry.get("link") or url),
                    name=str(item.get("nameComplete") or item.get("name") or entry.get("productName") or ""),
                    brand=str(entry.get("brand") or ""),
                    gtin_text=str(item.get("ean") or ""),
                    seller=str(seller.get("sellerName") or ""),
                    prices=prices,
                    stock=stock,
                    tax_basis=basis,
                )


def _sfcc(entry: Entry, url: str, currency: str | None, basis: TaxBasis) -> Iterator[RawListing]:
    current = _price(
        PriceKind.STANDARD, entry.get("price"), entry.get("currency") or currency, "price", basis
    )
    before = None
    tiers = [tier for tier in _listed(entry.get("tieredPrices")) if isinstance(tier, Mapping)]
    listed = next((t.get("price") for t in tiers if "list" in str(t.get("pricebook", "")).lower()), None)
    if _number(listed) > _number(entry.get("price")):
        before = _price(PriceKind.LIST, listed, entry.get("currency") or currency, "tieredPrices", basis)
    prices = _with_before(current, before)
    orderable = entry.get("orderable")
    stock: tuple[StockReading, ...] = ()
    if isinstance(orderable, bool):
        state = Availability.IN_STOCK if orderable else Availability.OUT_OF_STOCK
        stock = (StockReading(state, Method.API.value, 0.95, "orderable", str(orderable).lower()),)
    if prices:
        yield RawListing(
            source_sku=str(entry.get("productId") or ""),
            url=url,
            name=str(entry.get("productName") or entry.get("name") or ""),
            prices=prices,
            stock=stock,
            tax_basis=basis,
        )


_READERS: dict[str, Reader] = {
    "magento-graphql": _magento,
    "sap-hybris-occ": _hybris,
    "vtex": _vtex,
    "sfcc": _sfcc,
}


def _is_whole(data: object, count: int) -> bool:
    """Whether a stated total is no more than what this response holds; without a total nobody can tell."""
    node: Any = data
    for key in ("data", "products"):
        if isinstance(node, Mapping) and isinstance(node.get(key), Mapping):
            node = node[key]
    if not isinstance(node, Mapping):
        return isinstance(data, list)
    total = node.get("total_count", node.get("total", node.get("recordsFiltered")))
    pages = node.get("pagination")
    if total is None and isinstance(pages, Mapping):
        total = pages.get("totalResults")
    return isinstance(total, int) and not isinstance(total, bool) and total <= count
