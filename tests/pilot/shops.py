"""Two shops on loopback for the pilot: one speaks a Shopify-like feed, one has JSON-LD on its pages."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[str, str] | None


@dataclass
class Article:
    """What a shop sells; `price` may change while it runs."""

    number: int
    name: str
    gtin: str
    price: Decimal
    stock: bool = True

    @property
    def slug(self) -> str:
        return f"article-{self.number:03d}"


def feed_shop(articles: list[Article]) -> Callable[[str, str], Answer]:
    """`/products.json`, `/products/<handle>.json`, `/meta.json`, `/robots.txt`."""

    def variant(article: Article, *, single: bool) -> dict[str, Any]:
        more = {"price_currency": "USD", "barcode": article.gtin} if single else {"available": article.stock}
        return {
            "id": 7000 + article.number, "title": "Default Title", "option1": "Default Title",
            "sku": f"F-{article.number:03d}", "price": str(article.price), "compare_at_price": None, **more,
        }  # fmt: skip

    def product(article: Article, *, single: bool) -> dict[str, Any]:
        return {
            "id": 9000 + article.number, "title": article.name, "handle": article.slug, "vendor": "Pilot",
            "product_type": "Goods", "tags": [], "images": [],
            "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}],
            "variants": [variant(article, single=single)],
        }  # fmt: skip

    by_slug = {article.slug: article for article in articles}

    def answer(path: str, query: str) -> Answer:
        if path == "/robots.txt":
            return "text/plain", "User-agent: *\nDisallow: /cart\n"
        if path == "/meta.json":
            meta = {"currency": "USD", "country": "US", "published_products_count": len(articles)}
            return "application/json", json.dumps(meta)
        if path == "/products.json":
            asked = parse_qs(query)
            page, limit = int(asked.get("page", ["1"])[0]), int(asked.get("limit", ["30"])[0])
            shown = articles[(page - 1) * limit : page * limit]
            return "application/json", json.dumps({"products": [product(a, single=False) for a in shown]})
        found = by_slug.get(path.removeprefix("/products/").removesuffix(".json"))
        if found is not None and path.endswith(".json"):
            return "application/json", json.dumps({"product": product(found, single=True)})
        return None

    return answer


def structured_shop(articles: list[Article], base: Callable[[], str]) -> Callable[[str, str], Answer]:
    """`/sitemap.xml`, `/p/<slug>`, `/robots.txt`."""
    by_slug = {article.slug: article for article in articles}

    def page(article: Article) -> str:
        offer = {
            "@type": "Offer", "price": str(article.price), "priceCurrency": "USD",
            "availability": f"https://schema.org/{'InStock' if article.stock else 'OutOfStock'}",
        }  # fmt: skip
        node = {
            "@context": "https://schema.org", "@type": "Product", "name": article.name,
            "sku": f"S-{article.number:03d}", "gtin13": article.gtin, "offers": offer,
        }  # fmt: skip
        return (
            f'<!doctype html><html lang="en-US"><head><title>{article.name}</title>'
            f'<script type="application/ld+json">{json.dumps(node)}</script></head>'
            f'<body><main><h1>{article.name}</h1><p class="price">${article.price}</p>'
            f"<button>Add to cart</button></main></body></html>"
        )

    def answer(path: str, _query: str) -> Answer:
        if path == "/robots.txt":
            return "text/plain", f"User-agent: *\nDisallow: /basket\nSitemap: {base()}/sitemap.xml\n"
        if path == "/sitemap.xml":
            places = "".join(f"<url><loc>{base()}/p/{article.slug}</loc></url>" for article in articles)
            return "application/xml", (
                '<?xml version="1.0" encoding="UTF-8"?>'
                f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
            )
        found = by_slug.get(path.removeprefix("/p/"))
        return ("text/html; charset=utf-8", page(found)) if found is not None else None

    return answer


@contextmanager
def serving(shop: Callable[[str, str], Answer]) -> Iterator[str]:
    """Serve a shop on a free port; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            found = shop(parts.path, parts.query)
            kind, body = found or ("text/html", "<h1>Not found</h1>")
            content = body.encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
