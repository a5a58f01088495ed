"""Three shops on loopback, each of another kind, each with its own robots file.

The feed shop speaks the shape of a Shopify storefront. The structured shop has a sitemap and
JSON-LD on its product pages. The selector shop has neither: category pages with paging, German
amounts, a crossed-out price, a club price and a recommendation that must not be read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pricecrawl.demo.goods import ARTICLES, FEED_SHOP, SELECTOR_SHOP, STRUCTURED_SHOP, Article, Offer

PER_PAGE = 4

Answer = tuple[str, str]  # content type, body


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a shop: which day it is, the path, the query and the shop's own address."""

    day: int
    path: str
    query: Mapping[str, list[str]]
    base: str


@dataclass
class Street:
    """The running shops; `day` decides what they sell, `urls` where they are, by kind."""

    day: int = 1
    urls: dict[str, str] = field(default_factory=dict)


def _title(article: Article, offer: Offer) -> str:
    return offer.title or f"{article.brand} {article.name} {article.size}"


def _offer_at(offers: tuple[Offer, ...], slug: str) -> Offer | None:
    return next((offer for offer in offers if ARTICLES[offer.number].slug == slug), None)


# --- the feed shop ---------------------------------------------------------------------------


def _feed_product(offer: Offer, *, single: bool) -> dict[str, object]:
    article = ARTICLES[offer.number]
    variant: dict[str, object] = {
        "id": 7000 + offer.number,
        "title": "Default Title",
        "option1": "Default Title",
        "sku": f"FF-{offer.number:03d}",
        "price": str(offer.price),
        "compare_at_price": None if offer.was is None else str(offer.was),
        "requires_shipping": True,
        "taxable": True,
        "grams": 500,
    }
    if single:
        # As on real shops of this kind: currency and barcode stand only in a product's own file.
        variant["price_currency"] = "EUR"
        variant["barcode"] = article.gtin
    else:
        variant["available"] = offer.stock > 0
    return {
        "id": 9000 + offer.number,
        "title": _title(article, offer),
        "handle": article.slug,
        "vendor": article.brand,
        "product_type": article.shelf,
        "tags": [],
        "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}],
        "images": [],
        "variants": [variant],
    }


def feed_shop(ask: Ask) -> Answer | None:
    """`/products.json`, `/products/<handle>.json`, `/meta.json` and `/robots.txt`."""
    offers = FEED_SHOP[ask.day]
    if ask.path == "/robots.txt":
        return "text/plain", "User-agent: *\nDisallow: /admin\nDisallow: /cart\nCrawl-delay: 0.5\n"
    if ask.path == "/meta.json":
        meta = {"id": 1, "name": "Fjord & Field", "currency": "EUR", "country": "DE"}
        return "application/json", json.dumps({**meta, "published_products_count": len(offers)})
    if ask.path == "/products.json":
        page = int(ask.query.get("page", ["1"])[0])
        size = min(int(ask.query.get("limit", ["30"])[0]), 250)
        shown = offers[(page - 1) * size : page * size]
        return "application/json", json.dumps({"products": [_feed_product(o, single=False) for o in shown]})
    if ask.path.startswith("/products/") and ask.path.endswith(".json"):
        offer = _offer_at(offers, ask.path.removeprefix("/products/").removesuffix(".json"))
        return (
            ("application/json", json.dumps({"product": _feed_product(offer, single=True)}))
            if offer
            else None
        )
    return None


# --- the structured shop ---------------------------------------------------------------------


def _page(title: str, body: str, *, lang: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"{head}</head><body>{body}</body></html>"
    )


def _structured_product(offer: Offer, base: str) -> str:
    article = ARTICLES[offer.number]
    title = _title(article, offer)
    stock = "InStock" if offer.stock else "OutOfStock"
    offer_node: dict[str, object] = {
        "@type": "Offer",
        "price": str(offer.price),
        "priceCurrency": "EUR",
        "availability": f"https://schema.org/{stock}",
        "url": f"{base}/p/{article.slug}",
    }
    if offer.was:
        offer_node["priceSpecification"] = {
            "@type": "UnitPriceSpecification",
            "priceType": "https://schema.org/ListPrice",
            "price": str(offer.was),
            "priceCurrency": "EUR",
        }
    node = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": title,
        "sku": f"HL{offer.number:04d}",
        "gtin13": article.gtin,
        "brand": {"@type": "Brand", "name": article.brand},
        "offers": offer_node,
    }
    was = f"<s>€{offer.was}</s> " if offer.was else ""
    button = "<button>Add to basket</button>" if offer.stock else "<button disabled>Sold out</button>"
    return _page(
        f"{title} | Harbour Lane",
        f'<main><h1>{escape(title)}</h1><p class="price">{was}<b>€{offer.price}</b></p>{button}</main>',
        lang="en-IE",
        head=f'<script type="application/ld+json">{json.dumps(node)}</script>',
    )


def structured_shop(ask: Ask) -> Answer | None:
    """`/sitemap.xml`, `/p/<slug>` and `/robots.txt`."""
    offers = STRUCTURED_SHOP[ask.day]
    if ask.path == "/robots.txt":
        return "text/plain", f"User-agent: *\nDisallow: /basket\nSitemap: {ask.base}/sitemap.xml\n"
    if ask.path == "/sitemap.xml":
        places = "".join(f"<url><loc>{ask.base}/p/{ARTICLES[o.number].slug}</loc></url>" for o in offers)
        return "application/xml", (
            '<?xml version="1.0" encoding="UTF-8"?>'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
        )
    if ask.path.startswith("/p/"):
        offer = _offer_at(offers, ask.path.removeprefix("/p/"))
        return ("text/html; charset=utf-8", _structured_product(offer, ask.base)) if offer else None
    return None


# --- the selector shop -----------------------------------------------------------------------


def _german(amount: Decimal) -> str:
    return f"{amount:.2f}".replace(".", ",") + " €"


def _selector_list(offers: tuple[Offer, ...], page: int) -> str:
    shown = offers[(page - 1) * PER_PAGE : page * PER_PAGE]
    tiles = "".join(
        f'<li class="kachel"><a href="/artikel/{ARTICLES[o.number].slug}">'
        f"{escape(_title(ARTICLES[o.number], o))}</a>"
        f'<span class="preis">{_german(o.price)}</span></li>'
        for o in shown
    )
    more = (
        f'<a class="weiter" href="/sortiment?seite={page + 1}">Weiter</a>'
        if page * PER_PAGE < len(offers)
        else ""
    )
    total = f'<p class="anzahl">{len(offers)} Artikel</p>'
    return _page("Sortiment | Kiez Kontor", f"{total}<ul>{tiles}</ul>{more}", lang="de")


def _selector_product(offer: Offer) -> str:
    article = ARTICLES[offer.number]
    title = _title(article, offer)
    was = f'<span class="statt">statt {_german(offer.was)}</span> ' if offer.was else ""
    club = f'<p class="klub">Klubpreis für Mitglieder: {_german(offer.member)}</p>' if offer.member else ""
    stock = "Sofort lieferbar" if offer.stock else "Ausverkauft"
    button = "<button>In den Warenkorb</button>" if offer.stock else "<button disabled>Ausverkauft</button>"
    facts = (
        f"<dl><dt>Artikelnummer</dt><dd class='nr'>KK-{offer.number}</dd>"
        f"<dt>EAN</dt><dd class='ean'>{article.gtin}</dd></dl>"
    )
    beside = "<aside><h2>Passt dazu</h2><p>Geschenkkarton 4,90 €</p></aside>"
    return _page(
        f"{title} kaufen | Kiez Kontor",
        "<header>Ab 49,00 € versandkostenfrei</header>"
        f"<main><h1>{escape(title)}</h1><p class='marke'>{article.brand}</p>"
        f'<p class="jetzt">{was}<span class="betrag">{_german(offer.price)}</span></p>{club}'
        f"<p class='lager'>{stock}</p>{button}{facts}</main>{beside}",
        lang="de",
    )


def selector_shop(ask: Ask) -> Answer | None:
    """`/sortiment?seite=N`, `/artikel/<slug>` and `/robots.txt`."""
    offers = SELECTOR_SHOP[ask.day]
    if ask.path == "/robots.txt":
        return "text/plain", "User-agent: *\nDisallow: /kasse\nDisallow: /konto\n"
    if ask.path == "/sortiment":
        return "text/html; charset=utf-8", _selector_list(offers, int(ask.query.get("seite", ["1"])[0]))
    if ask.path.startswith("/artikel/"):
        offer = _offer_at(offers, ask.path.removeprefix("/artikel/"))
        return ("text/html; charset=utf-8", _selector_product(offer)) if offer else None
    return None


SHOPS: dict[str, Callable[[Ask], Answer | None]] = {
    "feed": feed_shop,
    "structured": structured_shop,
    "selector": selector_shop,
}


def _handler(street: Street, kind: str) -> type[BaseHTTPRequestHandler]:
    shop = SHOPS[kind]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            answer = shop(Ask(street.day, parts.path, parse_qs(parts.query), street.urls[kind]))
            kind_of, body = answer or (
                "text/html; charset=utf-8",
                _page("Not found", "<h1>Not found</h1>", lang="en"),
            )
            content = body.encode()
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", kind_of)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Say nothing: the demo prints tables, not an access log."""

    return Handler


@contextmanager
def open_street() -> Iterator[Street]:
    """Serve the three shops on free loopback ports for as long as the block runs."""
    street = Street()
    servers = {kind: ThreadingHTTPServer(("127.0.0.1", 0), _handler(street, kind)) for kind in SHOPS}
    try:
        for kind, server in servers.items():
            server.daemon_threads = True
            street.urls[kind] = f"http://127.0.0.1:{server.server_address[1]}"
            threading.Thread(target=server.serve_forever, name=f"shop-{kind}", daemon=True).start()
        yield street
    finally:
        for server in servers.values():
            server.shutdown()
            server.server_close()
