"""Selectors induced from one confirmed price: on pages of our own, and on every saved page that shows one."""

from __future__ import annotations

import gzip
from collections import defaultdict
from decimal import Decimal
from urllib.parse import urlsplit

import pytest

from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.market import Market
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selectors import parse_rule
from pricecrawl.learning.induction import Check, induce
from pricecrawl.learning.names import is_stable, is_utility
from pricecrawl.learning.places import Reader
from tests.shared import needs_shared, rows, shared

EUR = Market("DE", "EUR", "de_DE")


def page(body: str, head: str = "") -> Document:
    return Document(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>")


def best(document: Document, price: str, **options) -> str:
    return induce(document, Decimal(price), market=EUR, **options)[0].rule


def test_the_plainest_stable_name_is_taken() -> None:
    document = page("<main><h1>Kettle</h1><p class='price now'>29,90 €</p><p>ab 5,00 € Versand</p></main>")
    assert best(document, "29.90") == ".price"


def test_a_name_that_other_prices_share_gets_an_ancestor() -> None:
    document = page(
        "<div class=tile><b class=price>9,90 €</b></div>"
        "<div class=buybox><b class=price>29,90 €</b></div><div class=tile><b class=price>12,00 €</b></div>"
    )
    (first, *_) = induce(document, Decimal("29.90"), market=EUR)
    assert first.rule == ".buybox .price"
    assert first.others == 0
    assert [m.value for m in parse_rule(first.rule).matches(document)] == ["29,90 €"]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<b class='css-1x9k2q price'>29,90 €</b>", ".price"),
        ("<div class=offer><b class='sc-bdVaJa'>29,90 €</b></div>", ".offer > b"),
        ("<b class='mt-4 col-md-6 current-price'>29,90 €</b>", ".current-price"),
        ("<b id='price-48213' class=amount>29,90 €</b>", ".amount"),
        ("<b id=price data-testid=pdp-price>29,90 €</b>", '[data-testid="pdp-price"]'),
        ("<p class=prices><del class=old>49,90 €</del> <ins class=sale>29,90 €</ins></p>", ".prices .sale"),
        ("<span itemprop=price content='29.90'>29,90 €</span>", '[itemprop="price"]'),
        ("<button data-price='29.90'>Kaufen</button>", "[data-price]::attr(data-price)"),
        ("<p class=price>€<span>29</span><sup>90</sup></p>", ".price"),
        ("<p class=price><span>29</span><sup>90</sup> €</p>", ".price"),
        ("<p class=price><span>29</span><span class=cents>90</span> €</p>", ".price"),
        ("<div class=buy-price aria-label='29,90 €'><i></i></div>", ".buy-price::attr(aria-label)"),
        ("<b class=price>29,90 €</b><p><b class=price>9,90 €</b></p>", "main > .price"),
        ("<div class='css-1x2y3z'><span class='sc-bdVaJa'>29,90 €</span></div>", "main span"),
        ('<b data-testid="it\'s 48213">29,90 €</b>', "main > b"),
    ],
)
def test_names_that_last_are_preferred(body: str, rule: str) -> None:
    assert best(page(f"<main>{body}</main>"), "29.90") == rule


def test_a_struck_price_or_a_related_item_is_the_last_resort() -> None:
    document = page(
        "<section class=related-items><b class=cost>29,90 €</b></section>"
        "<main><b class=cost-now>29,90 €</b></main>"
    )
    assert best(document, "29.90") == ".cost-now"


def test_a_place_without_any_name_is_found_by_its_number() -> None:
    document = page("<main id=content><div><span>Kettle</span><span>29,90 €</span></div></main>")
    rule = best(document, "29.90")
    assert "nth-of-type(2)" in rule
    assert [m.value for m in parse_rule(rule).matches(document)] == ["29,90 €"]


def test_the_proposals_are_ways_to_find_the_price_and_not_spellings_of_one() -> None:
    document = page("<main><p class=price><span class=now>29,90 €</span> <del>49,90 €</del></p></main>")
    rules = [proposal.rule for proposal in induce(document, Decimal("29.90"), market=EUR)]
    assert rules[0] == ".price .now"
    assert ".now" in rules
    assert not {"p.price .now", ".price > .now", ".price span.now"} & set(rules)
    assert len(rules) == len(set(rules)) > 2


def test_a_page_without_any_name_is_counted_from_its_body() -> None:
    document = page(
        "<div><div><h1>Kettle</h1><p><span>29,90 €</span></p><p><span>5,00 €</span></p></div></div>"
    )
    rule = best(document, "29.90")
    assert rule.startswith("body > div:nth-of-type(1) > ")
    assert [m.value for m in parse_rule(rule).matches(document)] == ["29,90 €"]


def test_a_price_that_stands_only_in_a_script_gets_a_regex() -> None:
    document = page('<script>var item = {"sku": 17, "price": "29.90", "stock": 4}</script>')
    rule = best(document, "29.90")
    assert rule.startswith("regex:/")
    assert [m.value for m in parse_rule(rule).matches(document)] == ["29.90"]


def test_another_page_of_the_shop_decides() -> None:
    """On the first page the sale's id would do; on the second, without a sale, only the box is there."""
    first = page("<div id=buybox class=offer-price><b id=sale-price class=a>29,90 €</b></div>")
    second = page("<div id=buybox class=offer-price><b id=our-price class=b>12,00 €</b></div>")
    assert best(first, "29.90") == "#sale-price"
    (proposal, *_) = induce(first, Decimal("29.90"), market=EUR, checks=[Check(second)])
    assert (proposal.checked, proposal.found_on) == (1, 1)
    assert parse_rule(proposal.rule).matches(second)[0].value == "12,00 €"
    assert any("1 of 1 other pages" in sentence for sentence in proposal.reasons)


def test_a_known_price_of_another_page_must_be_met() -> None:
    first = page("<p class=hint>29,90 €</p><p class=price>29,90 €</p>")
    second = page("<p class=hint>5,00 €</p><p class=price>12,00 €</p>")
    known = Check(second, Decimal("12.00"))
    proposals = induce(first, Decimal("29.90"), market=EUR, checks=[known], limit=20)
    assert proposals[0].rule == ".price"
    assert {p.rule: p.found_on for p in proposals}[".hint"] == 0


def test_a_price_that_stands_nowhere_gives_nothing() -> None:
    assert induce(page("<p class=price>12,00 €</p>"), Decimal("29.90"), market=EUR) == []


@pytest.mark.parametrize(
    ("name", "stable", "utility"),
    [
        ("price", True, False), ("product-price__now", True, False), ("css-1x2y3z", False, False),
        ("sc-bdVaJa", False, False), ("price-48213", False, False), ("mt-4", True, True),
        ("col-md-6", True, True), ("ds-text-lg", True, True), ("bfsrtk", False, False),
        ("priceBlock", True, False), ("x", False, False), ("a1b2c3d4", False, False),
        ("addToCartPrice", True, False), ("is-active", True, True),
    ],
)  # fmt: skip
def test_which_names_last(name: str, stable: bool, utility: bool) -> None:
    assert is_stable(name) is stable
    assert not stable or is_utility(name) is utility


# --- saved pages ----------------------------------------------------------------------------------


def saved() -> list[dict]:
    return [row for row in rows("corpora/pages/index.jsonl") if row["kind"] == "product"]


def load(row: dict) -> Document:
    body = shared(f"corpora/pages/{row['file']}").read_bytes()
    return Document.from_bytes(gzip.decompress(body) if row["file"].endswith(".gz") else body)


@needs_shared
def test_c6_every_confirmed_price_is_found_again_on_its_page_and_on_the_shops_other_pages() -> None:
    """The induced rule is given the first page's price alone; the other pages' prices only judge it."""
    pages = [(row, load(row)) for row in saved()]
    shops = defaultdict(list)
    for row, document in pages:
        host = urlsplit(document.canonical).hostname
        shops[host or row["file"]].append((row, document))
    priced = judged_elsewhere = 0
    for row, document in pages:
        expected = row["expected"]
        if expected["price"] is None:
            continue
        priced += 1
        market = Market(currency=expected["currency"])
        reader = Reader(market)
        host = urlsplit(document.canonical).hostname
        others = [pair for pair in shops.get(host or "", []) if pair[1] is not document]
        with_price = [(r, d) for r, d in others if r["expected"]["price"] is not None]
        proposals = induce(
            document, Decimal(expected["price"]), market=market, checks=[Check(d) for _, d in with_price]
        )
        assert proposals, row["file"]
        rule = parse_rule(proposals[0].rule)
        accepted = [Decimal(price) for price in (expected.get("accept") or [expected["price"]])]

        def reads(document: Document, rule=rule, reader=reader) -> Decimal | None:
            first = rule.first(document)
            return reader.amount(first.value) if first else None

        found = reads(document)
        assert found is not None
        assert any(agree(found, price, market.currency) for price in accepted), row["file"]
        for other, there in others:
            want = other["expected"]["price"]
            seen = reads(there)
            judged_elsewhere += 1
            if want is None:
                assert not seen, (rule.text, other["file"])
            else:
                assert seen is not None, (rule.text, other["file"])
                assert agree(seen, Decimal(want), market.currency), (rule.text, other["file"])
    assert priced >= 20
    assert judged_elsewhere >= 4
