"""Shopify's public product feeds, as RawListings: one per variant.

Three shapes say almost the same. `/products.json` is the list: amounts are decimal strings, each
variant has `available`, no currency anywhere. `/products/<handle>.json` is one product below
`product`: it adds `barcode` and `price_currency` and usually has no `available`. `/products/<handle>.js`
is one bare product whose amounts are integers times 100, for every currency, in the visitor's own
currency. The admin API's export looks like the list without `available`; there stock is unknown,
because an `inventory_quantity` says nothing about whether the shop sells below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from pricecrawl.domain.availability import Availability, StockReading
from pricecrawl.domain.candidate import Method, PriceKind, PriceUnit, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.reasons import SkipReason
from pricecrawl.extraction.platforms.feed import Feed, Skipped

PAGE_LIMIT = 250  # the most that the shop gives in one page
DEFAULT_LIMIT = 30  # what it gives when the URL does not say
WALK_LIMIT = 25_000  # page × limit beyond this is refused with HTTP 400

_NO_VARIANT = "Default Title"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SIZE_OPTIONS = _words(
    """
    size volume weight content capacity format größe groesse volumen gewicht inhalt füllmenge talla tamaño
    contenido peso capacidad taille contenance poids formato taglia capacità maat inhoud tamanho volym
    storlek størrelse rozmiar pojemność الحجم الوزن サイズ 容量
    """
)
_GIFT_CARD = (
    "gift card",
    "giftcard",
    "gift-card",
    "gift voucher",
    "geschenkgutschein",
    "geschenkkarte",
    "carte cadeau",
    "carte-cadeau",
    "tarjeta regalo",
    "tarjeta de regalo",
    "buono regalo",
    "cadeaubon",
    "presentkort",
    "gavekort",
)

# Keys that a reader knows, used or not; any other is a leftover, so that a changed feed is noticed.
_PRODUCT_KEYS = _words(
    """
    id title handle body_html description content published_at created_at updated_at vendor product_type type
    tags variants images image options media featured_image price price_min price_max price_varies available
    compare_at_price compare_at_price_min compare_at_price_max compare_at_price_varies url gift_card
    requires_selling_plan selling_plan_groups template_suffix published_scope admin_graphql_api_id status
    total_inventory
    """
)
_VARIANT_KEYS = _words(
    """
    id product_id title name public_title option1 option2 option3 options sku requires_shipping taxable
    tax_code featured_image featured_media available price compare_at_price grams weight weight_unit barcode
    position created_at updated_at price_currency compare_at_price_currency quantity_rule
    quantity_price_breaks inventory_management inventory_policy inventory_quantity old_inventory_quantity
    inventory_item_id fulfillment_service image_id presentment_prices admin_graphql_api_id
    requires_selling_plan selling_plan_allocations unit_price unit_price_measurement unit_cost
    """
)


@dataclass(frozen=True, slots=True)
class ShopifyMeta:
    """What `/meta.json` says of the shop; each part may be missing."""

    currency: str | None = None
    published_products: int | None = None
    country: str | None = None


def read_meta(data: object) -> ShopifyMeta:
    """The shop's base currency and its number of published products."""
    if not isinstance(data, Mapping):
        return ShopifyMeta()
    currency, count, country = (data.get(k) for k in ("currency", "published_products_count", "country"))
    return ShopifyMeta(
        currency=currency if isinstance(currency, str) and len(currency) == 3 else None,
        published_products=count if type(count) is int and count >= 0 else None,
        country=country if isinstance(country, str) else None,
    )


def is_feed_url(url: str) -> bool:
    """True for an address at which a Shopify shop serves one of its three shapes."""
    path = urlsplit(url).path
    return path.endswith("/products.json") or ("/products/" in path and path.endswith((".json", ".js")))


def read_feed(
    data: object,
    *,
    url: str,
    currency: str | None = None,
    hidden_tags: Iterable[str] = (),
    shop_names: Iterable[str] = (),
    tax_basis: TaxBasis = TaxBasis.UNKNOWN,
) -> Feed:
    """Read one parsed response of any of the three shapes.

    `currency` is what the shop states elsewhere, for amounts that state none. A product with one of
    `hidden_tags` is not on the shelf. A vendor that is one of `shop_names` is no brand.
    """
    minor = urlsplit(url).path.endswith(".js")
    query = parse_qs(urlsplit(url).query)
    asked_for = query.get("variant", [""])[0]
    if not isinstance(data, Mapping):
        return Feed(complete=False, error="not a JSON object")
    if "errors" in data or "error" in data:
        return Feed(complete=False, error=str(data.get("errors", data.get("error")))[:300])
    complete = True
    if isinstance(data.get("products"), list):
        products = data["products"]
        limit = _number(query.get("limit", [""])[0]) or DEFAULT_LIMIT
        complete = len(products) < min(limit, PAGE_LIMIT)
    elif isinstance(data.get("product"), Mapping):
        products = [data["product"]]
    elif "id" in data and ("variants" in data or "price" in data):
        products, minor = [data], minor or type(data.get("price")) is int
    else:
        return Feed(complete=False, error="neither a product nor a list of products")
    context = _Context(
        url=url,
        minor=minor,
        currency=currency,
        hidden=frozenset(tag.strip().casefold() for tag in hidden_tags),
        shop_names=frozenset(name.strip().casefold() for name in shop_names),
        tax_basis=tax_basis,
    )
    listings: list[RawListing] = []
    skipped: list[Skipped] = []
    ids: list[str] = []
    for product in products:
        if not isinstance(product, Mapping) or not product.get("id"):
            skipped.append(Skipped(SkipReason.NO_IDENTITY, str(product)[:200]))
            continue
        ids.append(str(product["id"]))
        for entry in _read_product(product, context):
            (listings if isinstance(entry, RawListing) else skipped).append(entry)  # type: ignore[arg-type]
    return Feed(tuple(listings), tuple(skipped), tuple(ids), complete, "", asked_for)


@dataclass(frozen=True, slots=True)
class _Context:
    url: str
    minor: bool
    currency: str | None
    hidden: frozenset[str]
    shop_names: frozenset[str]
    tax_basis: TaxBasis


def _read_product(product: Mapping[str, Any], context: _Context) -> Iterator[RawListing | Skipped]:
    name = _text(product.get("title"))
    handle = _text(product.get("handle"))
    example = handle or name or str(product["id"])
    variants = [v for v in product.get("variants") or [] if isinstance(v, Mapping)]
    if not variants and "price" in product:
        variants = [product]  # a bare product without variants is its own only variant
    tags = _tags(product.get("tags"))
    if any(tag.casefold() in context.hidden for tag in tags):
        yield Skipped(SkipReason.NOT_OFFERED, example)
        return
    if _is_gift_card(product, variants):
        yield Skipped(SkipReason.GIFT_CARD, example)
        return
    if not variants:
        yield Skipped(SkipReason.NO_OFFER, example)
        return
    brand = _text(product.get("vendor"))
    for variant in variants:
        prices = tuple(_prices(variant, context))
        if not prices:
            yield Skipped(SkipReason.NO_PRICE, f"{example} {variant.get('id', '')}".strip())
            continue
        title = _text(variant.get("public_title") or variant.get("title"))
        is_product = variant is product
        yield RawListing(
            source_sku=str(variant.get("id") or product["id"]),
            url=_page_url(context.url, handle, "" if len(variants) == 1 else str(variant.get("id", ""))),
            name=name,
            brand="" if brand.casefold() in context.shop_names else brand,
            gtin_text=_text(variant.get("barcode")),
            size_text=_size(product, variant),
            variant_text="" if is_product or title == _NO_VARIANT else title,
            category=_text(product.get("product_type") or product.get("type")),
            image_url=_image(product, variant),
            prices=prices,
            stock=tuple(_stock(variant)),
            tax_basis=context.tax_basis,
            extra={"shop_sku": sku} if (sku := _text(variant.get("sku"))) else {},
            leftovers=tuple(_leftovers(product, variant)),
        )


def _prices(variant: Mapping[str, Any], context: _Context) -> Iterator[RawPrice]:
    unit = PriceUnit.X100 if context.minor else PriceUnit.MAJOR
    price = _amount(variant.get("price"))
    if price is None:
        return
    before = _amount(variant.get("compare_at_price"))
    # null, "", "0.00" and anything not above the price are how Shopify writes "no discount".
    on_sale = before is not None and before > price
    kind = PriceKind.SALE if on_sale else PriceKind.STANDARD
    yield RawPrice(
        kind,
        _text(variant["price"]),
        Method.API,
        "variants.price",
        currency=_text(variant.get("price_currency")) or context.currency,
        unit=unit,
        tax_basis=context.tax_basis,
    )
    if on_sale:
        yield RawPrice(
            PriceKind.LIST,
            _text(variant["compare_at_price"]),
            Method.API,
            "variants.compare_at_price",
            currency=_text(variant.get("compare_at_price_currency")) or context.currency,
            unit=unit,
            tax_basis=context.tax_basis,
        )


def _stock(variant: Mapping[str, Any]) -> Iterator[StockReading]:
    available = variant.get("available")
    if isinstance(available, bool):
        value = Availability.IN_STOCK if available else Availability.OUT_OF_STOCK
        yield StockReading(value, Method.API.value, 0.95, "variants.available", str(available).lower())


def _is_gift_card(product: Mapping[str, Any], variants: Iterable[Mapping[str, Any]]) -> bool:
    if product.get("gift_card") is True:
        return True
    words = " ".join(
        _text(product.get(key)).casefold() for key in ("product_type", "type", "handle", "title")
    )
    named = any(word in words for word in _GIFT_CARD)
    # "Gift card holder" ships in a parcel; a gift card does not.
    return named and all(variant.get("requires_shipping") is False for variant in variants)


def _size(product: Mapping[str, Any], variant: Mapping[str, Any]) -> str:
    """Value of the option that names a size. `grams` is the weight of the parcel and is not used."""
    for index, option in enumerate(product.get("options") or [], 1):
        name = option.get("name") if isinstance(option, Mapping) else option
        if set(_text(name).casefold().split()) & _SIZE_OPTIONS:
            value = _text(variant.get(f"option{index}"))
            return "" if value == _NO_VARIANT else value
    return ""


def _image(product: Mapping[str, Any], variant: Mapping[str, Any]) -> str:
    for source in (variant.get("featured_image"), *(product.get("images") or [])[:1]):
        url = source.get("src") if isinstance(source, Mapping) else source
        if isinstance(url, str) and url:
            return f"https:{url}" if url.startswith("//") else url
    return ""


def _page_url(feed_url: str, handle: str, variant: str) -> str:
    """The page of a variant. A locale folder before the feed's own path is kept."""
    parts = urlsplit(feed_url)
    root = parts.path.split("/products", 1)[0].split("/collections/", 1)[0].rstrip("/")
    path = f"{root}/products/{quote(handle)}" if handle else parts.path
    page = urljoin(f"{parts.scheme}://{parts.netloc}/", path)
    return f"{page}?variant={variant}" if variant else page


def _leftovers(product: Mapping[str, Any], variant: Mapping[str, Any]) -> Iterator[str]:
    yield from sorted(f"product.{key}" for key in product.keys() - _PRODUCT_KEYS if variant is not product)
    yield from sorted(f"variant.{key}" for key in variant.keys() - _VARIANT_KEYS - _PRODUCT_KEYS)


def _tags(value: object) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [str(part).strip() for part in parts]


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, bool | list | dict) else str(value).strip()


def _amount(value: object) -> Decimal | None:
    if isinstance(value, bool) or value is None or value == "":
        return None
    try:
        amount = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _number(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() else None
