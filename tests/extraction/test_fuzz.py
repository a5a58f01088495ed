"""Mutated pages and markup: no exception, no hang, no amount that the page does not hold."""

from __future__ import annotations

import json
import random
import re
import time
import unicodedata
from decimal import Decimal

import pytest

from pricecrawl.extraction.document import Document
from tests.extraction.pages import answered, ld, product, written
from tests.shared import examples, thorough

SEED = 20_260_302
CHUNKS = 8
LIMIT = 1.0

SCRAPS = [
    *(
        "<",
        ">",
        "</",
        '"',
        "'",
        "&",
        "&amp;",
        "&#x20ac;",
        "]]>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<del>",
    ),
    *(
        "<style>.price{display:none}",
        "</style>",
        "<template>",
        "<table>",
        "<select><option>",
        "{",
        "}",
        "[",
        "]",
    ),
    *(
        ":",
        ",",
        ";",
        "\\",
        "\\u0024",
        "\x00",
        "\ufeff",
        "\u00a0",
        "\u202f",
        "\u2066",
        "\ud7ff",
        "0",
        "9",
        "00",
    ),
    *(
        "1e9",
        ".",
        "-",
        "%",
        "$",
        "€",
        "£",
        " kr",
        " zł",
        "₹",
        "EUR",
        "USD",
        "<b>",
        "</b>",
        "</div>",
        "</main>",
    ),
    *(
        '<span class="price">',
        "itemprop=price",
        ' itemscope itemtype="http://schema.org/Offer"',
        "<h1>",
        "</h1>",
    ),
    *(
        "@graph",
        '"price":',
        '"offers":[',
        "<base href=x>",
        "<meta charset=utf-16>",
        '<a href="//[">',
        "٣",
        "३",
    ),
]


def mutated(text: str, dice: random.Random) -> str:
    """One to eight cuts, copies, swaps and insertions."""
    for _ in range(dice.randint(1, 8)):
        place = dice.randrange(len(text) + 1)
        match dice.randrange(5):
            case 0:
                text = text[:place] + dice.choice(SCRAPS) + text[place:]
            case 1:
                text = text[:place] + text[place + dice.randint(1, 60) :]
            case 2:
                end = place + dice.randint(1, 80)
                other = dice.randrange(len(text) + 1)
                text = text[:other] + text[place:end] + text[other:]
            case 3:
                text = (
                    text[:place]
                    + chr(dice.choice((dice.randrange(32, 127), dice.randrange(160, 0x2FFF))))
                    + text[place + 1 :]
                )
            case _:
                text = text[: max(40, place)]
    return text


def digits_of(text: str) -> str:
    """Every digit of a text in one script, without what stands between them."""
    return "".join(str(unicodedata.digit(character)) for character in text if character.isdigit())


def occurs(amount: str, page: str, everything: str) -> bool:
    """Whether the digits of an amount stand in the page in their order, rounding of noughts aside."""
    value = Decimal(amount)
    forms = {digits_of(amount), digits_of(format(value.normalize(), "f")), digits_of(f"{value:.2f}")}
    if value == value.to_integral_value():
        forms.add(str(int(value)))
    forms |= {form.lstrip("0") for form in forms}  # "$.99"
    if any(form and form in everything for form in forms):
        return True
    # Machine amounts with an exponent, or longer than two decimals.
    return any(
        abs(Decimal(found) - value) <= abs(value) * Decimal("0.01")
        for found in re.findall(r"\d+(?:\.\d+)?[eE][+-]?\d{1,2}|\d+\.\d{3,}", page)
    )


def check(page: str, **how: str) -> None:
    """Answer one page within the limits."""
    raw = page.encode("utf-8", "replace")
    started = time.process_time()
    found = answered(raw, **how)
    assert time.process_time() - started < LIMIT
    json.dumps(found)
    # In the source, and in the text that is left when tags are gone.
    shown = Document.from_bytes(raw).textmap.text if how.get("kind") != "json_ld" else ""
    # A tag may stand within a text of JSON-LD as well: it is taken out before the amount is read.
    bare = re.sub(r"<[a-zA-Z/!][^<>]*>", " ", page)
    everything = f"{digits_of(page)} {digits_of(bare)} {digits_of(shown)}"
    for key in ("price", "original_price", "member_price", "pre_order_price"):
        if found[key] is not None:
            assert Decimal(found[key]) > 0
            assert occurs(found[key], page, everything), (key, found[key])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_pages(chunk: int) -> None:
    dice = random.Random(SEED + chunk)
    pages = [page.body for page in written()]
    for _ in range(examples(600, 120_000) // CHUNKS):
        page = mutated(dice.choice(pages), dice)
        try:
            check(page)
        except Exception as problem:
            raise AssertionError(f"{problem!r} on {page!r}") from problem


NODE = {
    "@context": "https://schema.org",
    "@type": "ProductGroup",
    "name": "Thing",
    "gtin13": "4006381333931",
    "hasVariant": [
        {
            "@type": "Product",
            "sku": "A",
            "offers": {
                "@type": "Offer",
                "price": "12.50",
                "priceCurrency": "EUR",
                "availability": "https://schema.org/InStock",
                "priceSpecification": [
                    {"@type": "UnitPriceSpecification", "price": 15, "priceType": "ListPrice"}
                ],
            },
        },
        {
            "@type": "Product",
            "sku": "B",
            "offers": [{"price": 13.75, "priceCurrency": "EUR", "priceValidUntil": "2026-01-01"}],
        },
    ],
    "offers": {"@type": "AggregateOffer", "lowPrice": "12.50", "highPrice": "13.75", "offers": []},
    "isRelatedTo": {"@type": "Product", "name": "Other", "offers": {"price": "1.99"}},
}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_markup(chunk: int) -> None:
    dice = random.Random(SEED + 100 + chunk)
    body = json.dumps(NODE)
    for _ in range(examples(400, 80_000) // CHUNKS):
        broken = mutated(body, dice)
        page = product("", head=ld(broken)) if dice.random() < 0.5 else broken
        try:
            check(page, kind="json_ld" if page is broken else "product_html")
        except Exception as problem:
            raise AssertionError(f"{problem!r} on {page!r}") from problem


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 1900 + "$5",
        "<span class='price'>$1</span>" * 20_000,
        "<a href='/p/1'>$1</a>" * 20_000,
        "$1 " * 200_000,
        "1" * 1_000_000,
        "$" * 300_000,
        "<p>" + "€ 1.000.000.000" * 50_000,
        "<style>" + ".a{display:none}" * 30_000 + "</style><p class=a>$5</p>",
        "<style>" + ".a " * 100_000 + "{display:none}</style><p class=a>$5</p>",
        "<div class='" + "price " * 100_000 + "'>$5</div>",
        "<script>" + 'var a={"price":' * 50_000 + "</script>",
        '<div data-a=\'{"price":' * 20_000,
        "<meta property='og:price:amount' content='5'>" * 20_000,
        "<h1>" + "word " * 200_000 + "</h1><p>$5</p>",
        "<ul>" + "<li><a href='/x'>A</a> $5</li>" * 10_000 + "</ul>",
        "<div itemscope>" * 1500 + "<b itemprop=price>5",
        "<div itemscope itemref='x'>" * 1500 + "<b id=x itemprop=price>5",
        "<table>" * 1500 + "<tr><td>$5",
        "<select>" + "<option>$5</option>" * 30_000,
        "<p>" + "in stock " * 100_000,
        "<p>in stock</p>" * 30_000,
        ld('{"@type":"Product","name":"Thing","offers":[' + '{"price":1},' * 50_000 + "]}"),
        ld('{"offers":' * 5_000),
        ld('{"@graph":[' + '{"@type":"Product","name":"T","offers":{"price":"5"}},' * 5_000 + "]}"),
    ],
    ids=range(24),
)
def test_hostile_pages_end_soon(page: str) -> None:
    started = time.process_time()
    answered(page)
    assert time.process_time() - started < 2.0


def test_the_full_count_is_two_hundred_thousand() -> None:
    assert examples(0, 120_000) + examples(0, 80_000) == (200_000 if thorough() else 0)
