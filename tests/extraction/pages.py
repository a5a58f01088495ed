"""Pages that the tests of extraction share: written ones, generated ones, and how they are answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pricecrawl.cli.output import plain
from pricecrawl.domain.market import Market
from pricecrawl.extraction.answer import answer_page
from pricecrawl.extraction.facts import Facts
from pricecrawl.extraction.rules import Rules

URL = "https://shop.example/p/1"


@dataclass(frozen=True)
class Page:
    """One written page: what it must give is judged key by key, other keys are not."""

    label: str
    body: str
    expected: dict[str, Any]
    url: str = URL
    locale: str | None = None
    now: str = ""


KEYS = ("url: ", "locale: ", "lang: ", "head: ", "now: ", "expect: ")


def written(file: str = "shop_pages.txt") -> list[Page]:
    """The pages of a file: each begins with `===`, its label, and what it must give.

    What does not begin with a doctype is the inside of a product page of its own name and language: the
    main part, with the name "Thing" in its heading and title, and `head` added to its head.
    """
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    pages = []
    for section in text.split("=== ")[1:]:
        label, _, rest = section.partition("\n")
        known: dict[str, str] = {}
        while rest.startswith(KEYS):
            line, _, rest = rest.partition("\n")
            key, _, value = line.partition(": ")
            known[key] = value
        if not rest.lower().startswith(("<!doctype", "<html")):
            rest = product(rest, head=known.get("head", ""), lang=known.get("lang", "en"))
        pages.append(
            Page(
                label,
                rest,
                json.loads(known["expect"]),
                known.get("url", URL),
                known.get("locale"),
                known.get("now", ""),
            )
        )
    return pages


def answered(
    body: str | bytes,
    *,
    url: str = URL,
    locale: str | None = None,
    headers: dict[str, str] | None = None,
    market: Market | None = None,
    rules: Rules | None = None,
    now: str = "",
    kind: str = "product_html",
    **more: Any,
) -> dict[str, Any]:
    """What the whole extraction and consensus say about a page, JSON-ready."""
    raw = body.encode() if isinstance(body, str) else body
    facts = Facts(
        kind=kind,
        body=raw,
        url=url,
        status=more.pop("status", 200),
        headers=headers if headers is not None else {"content-type": "text/html; charset=utf-8"},
        locale=locale,
        observed_at=more.pop("observed_at", now),
        market=market or Market(),
        rules=rules,
        **more,
    )
    found: dict[str, Any] = plain(answer_page(facts))
    return found


def number(value: Any) -> Any:
    """A decimal string as a number; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return Decimal(value)
    except InvalidOperation:
        return value


def differences(expected: dict[str, Any], found: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Keys whose values differ, as (expected, found); amounts are compared as numbers."""
    return {
        key: (value, found.get(key))
        for key, value in expected.items()
        if number(found.get(key)) != number(value)
    }


def html(body: str, *, head: str = "", lang: str = "en") -> str:
    """A whole document around a body."""
    return f'<!doctype html><html lang="{lang}"><head>{head}</head><body>{body}</body></html>'


def product(inner: str, *, head: str = "", lang: str = "en", name: str = "Thing") -> str:
    """A product page: heading and body in the main part."""
    return html(f"<main><h1>{name}</h1>{inner}</main>", head=f"<title>{name}</title>{head}", lang=lang)


def ld(body: str) -> str:
    """A JSON-LD script."""
    return f'<script type="application/ld+json">{body}</script>'
