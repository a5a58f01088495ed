"""A platform's JSON answered whole: which platform, its items, and whether it is all there is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from pricecrawl.domain.market import Market
from pricecrawl.extraction.facts import Facts, moment, zone
from pricecrawl.extraction.listing_answer import answer_listing, empty_answer
from pricecrawl.extraction.platforms import shopify
from pricecrawl.extraction.platforms.feed import Feed
from pricecrawl.extraction.platforms.general import read_general
from pricecrawl.extraction.platforms.woocommerce import is_store_url, read_store


def answer_feed(facts: Facts) -> dict[str, Any]:
    """Items and completeness of one feed response; the asked-for or only item is lifted to the top."""
    answer = empty_answer()
    answer["page"] = "feed"
    answer["items"] = None
    answer["complete"] = False
    data = _parsed(facts.body)
    if data is None:
        answer["trace"] = ["The body is no JSON: nothing can be read from it."]
        answer["needs_review"] = True
        return answer
    answer.update(_times(data, facts))
    if isinstance(data, Mapping) and isinstance(data.get("pages"), list):
        return _walked(answer, data["pages"])
    refused = facts.status is not None and facts.status >= 400
    platform, feed = _read(data, facts)
    answer["platform"] = platform
    if refused or (feed.error and not feed.listings):
        said = feed.error or f"the shop answered {facts.status}"
        answer["trace"] = [f"No list of products: {said}. Nothing may count as missing."]
        return answer
    items = [
        answer_listing(raw, market=facts.market, given=facts.market, now=moment(facts.observed_at))
        for raw in feed.listings
    ]
    for item in items:
        item["page"] = "product"
    asked = [item for item in items if item["source_sku"] == feed.asked_for] if feed.asked_for else []
    lifted = asked[0] if asked else items[0] if len(items) == 1 else None
    if lifted is not None:
        answer.update({key: value for key, value in lifted.items() if key != "page"})
    answer["items"] = items
    answer["complete"] = feed.complete
    more = "" if feed.complete else ", and more is to be had"
    skipped = [f"Skipped {s.example[:60]}: {s.reason.value}." for s in feed.skipped[:20]]
    answer["trace"] = [
        f"Read as {platform}: {len(items)} items, {len(feed.skipped)} skipped{more}.",
        *skipped,
        *(lifted["trace"] if lifted is not None else ()),
    ]
    return answer


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig", "replace"), parse_float=str)
    except (ValueError, RecursionError):
        return None


def _times(data: Any, facts: Facts) -> dict[str, Any]:
    """An observation's instant in UTC, and the shop's own day of it."""
    known = data if isinstance(data, Mapping) else {}
    seen = moment(str(known.get("observed_at") or facts.observed_at or ""))
    if seen is None:
        return {}
    place = zone(str(known.get("shop_tz") or facts.zone or ""))
    return {
        "observed_at_utc": seen.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "local_day": seen.astimezone(place).date().isoformat() if place else seen.date().isoformat(),
    }


def _read(data: Any, facts: Facts) -> tuple[str, Feed]:
    """The platform's name and its feed: the caller's word, the address, else the shape of the data."""
    platform = (facts.platform or "").lower()
    market = facts.market
    if platform == "shopify" or (not platform and shopify.is_feed_url(facts.url)):
        return "shopify", shopify.read_feed(data, url=facts.url, currency=market.currency, **_basis(market))
    if platform.startswith("woo") or (not platform and (is_store_url(facts.url) or _is_store(data))):
        return "woocommerce", read_store(data, url=facts.url, tax_basis=market.tax_basis)
    if not platform and isinstance(data, Mapping) and _is_shopify(data):
        return "shopify", shopify.read_feed(data, url=facts.url, currency=market.currency, **_basis(market))
    return read_general(data, url=facts.url, currency=market.currency, tax_basis=market.tax_basis)


def _basis(market: Market) -> dict[str, Any]:
    return {"tax_basis": market.tax_basis}


def _is_store(data: Any) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    return (
        isinstance(first, Mapping)
        and isinstance(first.get("prices"), Mapping)
        and "currency_minor_unit" in first["prices"]
    )


def _is_shopify(data: Mapping[str, Any]) -> bool:
    products = data.get("products")
    one = products[0] if isinstance(products, list) and products else data.get("product")
    return (
        isinstance(one, Mapping)
        and isinstance(one.get("variants"), list)
        and ("handle" in one or "variants" in one)
    )


def _walked(answer: dict[str, Any], pages: Sequence[Any]) -> dict[str, Any]:
    """Several pages of one walk: it ends where a page brings nothing new or leads back to a known one."""
    seen: dict[str, dict[str, Any]] = {}
    visited: set[str] = set()
    ended = ""
    for number, page in enumerate(pages, 1):
        if not isinstance(page, Mapping):
            continue
        here = str(page.get("url") or f"#{number}")
        products = [p for p in page.get("products") or page.get("items") or () if isinstance(p, Mapping)]
        fresh = [p for p in products if str(p.get("id") or p.get("sku") or p.get("code")) not in seen]
        for product in fresh:
            identity = str(product.get("id") or product.get("sku") or product.get("code"))
            seen[identity] = {"source_sku": identity, "name": product.get("title") or product.get("name")}
        visited.add(here)
        following = page.get("next")
        if products and not fresh:
            ended = f"page {number} repeats what was seen"
            break
        if not products:
            ended = f"page {number} is empty"
            break
        if "next" in page and (not following or str(following) in visited):
            ended = f"page {number} leads no further"
            break
    answer["items"] = list(seen.values())
    answer["complete"] = bool(ended)
    answer["trace"] = [
        f"{len(seen)} distinct items on {len(visited)} pages; {ended or 'the walk is not at its end'}."
    ]
    return answer
