"""A shop in a process of its own, whose answers are ready before they are asked for.

`python -m bench.shop <kind> <listings>` serves on a free loopback port and prints its address.
Pages and feeds are as large as real ones: the bench must not flatter the bare spider or us.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from decimal import Decimal
from typing import Any

from aiohttp import web

VOCABULARY = """
kettle steel brushed cordless handle kitchen modern family design robust water boil filter spout lid base
light switch safety warranty cable compact energy saving quick steam quiet quality everyday cup tea coffee
"""
WORDS = VOCABULARY.split()
PAGE_SIZE = 250


def text(seed: int, words: int) -> str:
    """The same words for the same seed."""
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def product(number: int) -> dict[str, Any]:
    """A feed entry of two variants, some 2 kB a variant as shops really send."""
    price = Decimal(number % 5000 + 500) / 10
    stamp = "2026-11-01T08:00:00+01:00"
    return {
        "id": 10_000_000 + number,
        "title": f"Kettle {text(number, 3)} {number}",
        "handle": f"kettle-{number}",
        "body_html": f"<p>{text(number, 220)}</p>",
        "published_at": stamp,
        "created_at": stamp,
        "updated_at": stamp,
        "vendor": "Kettleworks",
        "product_type": "Kitchen",
        "tags": text(number + 1, 8).split(),
        "variants": [
            {
                "id": 20_000_000 + 2 * number + which,
                "title": f"{size} l",
                "option1": f"{size} l",
                "option2": None,
                "option3": None,
                "sku": f"KW-{number}-{which}",
                "requires_shipping": True,
                "taxable": True,
                "featured_image": None,
                "available": number % 7 != 0,
                "price": f"{price + which:.2f}",
                "grams": 1200,
                "compare_at_price": f"{price + 20:.2f}" if number % 5 == 0 else None,
                "position": which + 1,
                "product_id": 10_000_000 + number,
                "created_at": stamp,
                "updated_at": stamp,
            }
            for which, size in enumerate(("1.0", "1.7"))
        ],
        "images": [
            {
                "id": 30_000_000 + 3 * number + which,
                "created_at": stamp,
                "position": which + 1,
                "updated_at": stamp,
                "product_id": 10_000_000 + number,
                "variant_ids": [],
                "src": f"https://cdn.shop.example/s/files/1/0001/{number}/kettle-{which}.jpg?v=1690000000",
                "width": 1600,
                "height": 1600,
            }
            for which in range(3)
        ],
        "options": [{"name": "Capacity", "position": 1, "values": ["1.0 l", "1.7 l"]}],
    }


def page(number: int) -> bytes:
    """A product page of some 60 kB: head, navigation, structured data, buy box, neighbours, footer."""
    price = f"{Decimal(number % 5000 + 500) / 10:.2f}"
    name = f"Kettle {text(number, 3)} {number}"
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "sku": f"KW-{number}",
        "brand": {"@type": "Brand", "name": "Kettleworks"},
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
            "url": f"/p/{number}",
        },
    }
    links = "".join(f'<li><a href="/c/{n}">{text(n, 2)}</a></li>' for n in range(150))
    tiles = "".join(
        f'<div class="tile"><a href="/p/{number + n}"><img src="/i/{n}.jpg" alt="{text(n, 3)}">'
        f"{text(n, 4)}</a>"
        f'<span class="tile-price">{20 + n},90 €</span></div>'
        for n in range(24)
    )
    scripts = "".join(f"<script>window.x{n}={json.dumps(text(n, 120))};</script>" for n in range(20))
    return (
        f'<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"><title>{name} | Kettles</title>'
        f'<script type="application/ld+json">{json.dumps(data)}</script>{scripts}</head><body>'
        f'<nav><ul>{links}</ul></nav><main><h1>{name}</h1><div class="buy-box">'
        f'<span class="price" itemprop="price" content="{price}">{price.replace(".", ",")} €</span>'
        f'<button type="submit">In den Warenkorb</button></div><div class="text">{text(number, 900)}</div>'
        "</main>"
        f"<aside>{tiles}</aside><footer><ul>{links}</ul></footer></body></html>"
    ).encode()


def answers(kind: str, listings: int) -> dict[str, tuple[str, bytes]]:
    """Every answer by path with query."""
    ready: dict[str, tuple[str, bytes]] = {"/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /cart\n")}
    if kind == "feed":
        count = listings // 2
        meta = {"currency": "EUR", "published_products_count": count}
        ready["/meta.json"] = ("application/json", json.dumps(meta).encode())
        for number, start in enumerate(range(0, count + PAGE_SIZE, PAGE_SIZE), 1):
            entries = [product(n) for n in range(start, min(start + PAGE_SIZE, count))]
            path = f"/products.json?limit={PAGE_SIZE}&page={number}"
            ready[path] = ("application/json", json.dumps({"products": entries}).encode())
        return ready
    locations = []
    for number in range(listings):
        ready[f"/p/{number}"] = ("text/html; charset=utf-8", page(number))
        locations.append(f"<url><loc>@/p/{number}</loc></url>")
    sitemap = (
        '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    )
    ready["/sitemap.xml"] = ("application/xml", (sitemap + "".join(locations) + "</urlset>").encode())
    return ready


async def serve(kind: str, listings: int) -> None:
    """Serve until killed."""
    ready = answers(kind, listings)

    async def answer(request: web.Request) -> web.Response:
        found = ready.get(request.path_qs)
        if found is None:
            return web.Response(status=404)
        body = found[1].replace(b"@", origin.encode()) if request.path == "/sitemap.xml" else found[1]
        return web.Response(body=body, headers={"Content-Type": found[0]})

    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    print(origin, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
