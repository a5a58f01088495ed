"""Which rules apply: learned, else the row's, else the defaults, per kind and by what is configured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pricecrawl.domain.candidate import MAX_GENERIC_CANDIDATES, Method, PriceKind, Tier
from pricecrawl.domain.market import Market
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page
from pricecrawl.extraction.rule_syntax import RuleError
from pricecrawl.extraction.rules import CATEGORY, GLOBAL, Rules
from tests.extraction.pages import answered, product

US = Market(country="US", currency="USD", locale="en_US")
BODY = (
    '<div class="our-tag">$31.00</div><div class="special-price"><span class="price">$25.00</span></div>'
    '<div class="member-price">$22.00</div><div class="old-price"><span class="price">$40.00</span></div>'
    "<button>Add to cart</button>"
)


def candidates(rules: Rules, body: str = BODY) -> list[tuple[PriceKind, str, Method, Tier]]:
    document = Document.from_bytes(product(body).encode(), url="https://shop.example/p/1")
    listing = read_page(document, rules=rules, market=US).listing
    return [(p.kind, p.text, p.method, p.tier) for p in listing.prices]


def test_every_kind_has_defaults_and_each_default_compiles() -> None:
    assert set(CATEGORY.values()) < set(GLOBAL)
    for category in GLOBAL:
        assert Rules().rules(category)
        assert Rules().tier(category) is Tier.GLOBAL


def test_defaults_are_asked_where_nothing_is_configured() -> None:
    found = candidates(Rules())
    assert (PriceKind.SALE, "$25.00", Method.DEAL_PRICE, Tier.GLOBAL) in found
    assert (PriceKind.MEMBER, "$22.00", Method.MEMBER_PRICE, Tier.GLOBAL) in found
    assert (PriceKind.LIST, "$40.00", Method.ORIGINAL_PRICE, Tier.GLOBAL) in found


def test_a_shop_s_own_deal_rule_owns_that_kind() -> None:
    """A default deal class must not take the price from a shop that has a deal rule of its own."""
    rules = Rules(row={"sale_price": (".promo-of-the-shop",), "price": (".our-tag",)})
    found = candidates(rules)
    assert not [entry for entry in found if entry[0] is PriceKind.SALE]
    assert (PriceKind.STANDARD, "$31.00", Method.CUSTOM_CSS, Tier.ROW) in found
    assert answered(product(BODY), rules=rules, market=US)["price"] == "31.00"


def test_the_choice_is_by_what_is_configured_and_not_by_what_matched() -> None:
    found = candidates(Rules(row={"price": ("#nowhere",)}))
    assert not [entry for entry in found if entry[0] is PriceKind.STANDARD]


def test_a_rule_reads_cents_that_are_set_small_as_a_visitor_does() -> None:
    body = '<p class="tag"><span>29</span><sup>90</sup> €</p><button>Kaufen</button>'
    market = Market("DE", "EUR", "de_DE")
    assert answered(product(body), market=market)["price"] == "29.90"
    found = answered(product(body), rules=Rules(row={"price": (".tag",)}), market=market)
    assert (found["price"], found["method"]) == ("29.90", "custom-css")


def test_other_kinds_keep_their_defaults() -> None:
    found = candidates(Rules(row={"price": (".our-tag",)}))
    assert (PriceKind.MEMBER, "$22.00", Method.MEMBER_PRICE, Tier.GLOBAL) in found
    assert (PriceKind.LIST, "$40.00", Method.ORIGINAL_PRICE, Tier.GLOBAL) in found


def test_learned_rules_come_before_the_row_s() -> None:
    rules = Rules(row={"price": (".our-tag",)}, learned={"price": (".member-price",)})
    found = [entry for entry in candidates(rules) if entry[0] is PriceKind.STANDARD]
    assert found == [(PriceKind.STANDARD, "$22.00", Method.CUSTOM_CSS, Tier.LEARNED)]


@pytest.mark.parametrize(
    ("category", "kind", "method"),
    [
        ("price", PriceKind.STANDARD, Method.CUSTOM_CSS),
        ("sale_price", PriceKind.SALE, Method.DEAL_PRICE),
        ("member_price", PriceKind.MEMBER, Method.MEMBER_PRICE),
        ("pre_order_price", PriceKind.PRE_ORDER, Method.PRE_ORDER_PRICE),
        ("original_price", PriceKind.LIST, Method.ORIGINAL_PRICE),
    ],
)
def test_each_kind_has_its_method(category: str, kind: PriceKind, method: Method) -> None:
    assert (kind, "$31.00", method, Tier.ROW) in candidates(Rules(row={category: (".our-tag",)}))


def test_a_regular_expression_has_a_method_of_its_own() -> None:
    body = '<script>var unitCost = "31.00";</script>'
    found = candidates(Rules(row={"price": ('regex:/unitCost = "([0-9.]+)"/',)}), body)
    assert (PriceKind.STANDARD, "31.00", Method.CUSTOM_REGEX, Tier.ROW) in found


@pytest.mark.parametrize(
    "place",
    [
        '<footer><span class="mine">$31.00</span></footer>',
        '<aside class="sponsored"><span class="mine">$31.00</span></aside>',
        '<nav><span class="mine">$31.00</span></nav>',
        '<div style="display:none"><span class="mine">$31.00</span></div>',
        '<noscript><span class="mine">$31.00</span></noscript>',
        '<template><span class="mine">$31.00</span></template>',
        '<div class="related-products"><a href="/x"><span class="mine">$31.00</span></a></div>',
    ],
)
def test_nothing_destroys_the_evidence_of_a_configured_rule(place: str) -> None:
    rules = Rules(row={"price": (".mine",)})
    found = answered(product(place + "<div class='price'>$99.00</div>"), rules=rules, market=US)
    assert (found["price"], found["method"], found["selector"]) == ("31.00", "custom-css", ".mine")


def test_the_trace_names_the_tier_that_supplied_the_rules() -> None:
    trace = answered(product(BODY), rules=Rules(row={"price": (".our-tag",)}), market=US)["trace"]
    assert any("Price: the row rules apply (.our-tag)" in sentence for sentence in trace)
    assert any("Member: the default rules apply" in sentence for sentence in trace)


def test_a_wrong_rule_is_an_error_that_names_its_list() -> None:
    with pytest.raises(RuleError, match="row rules, price, rule 2"):
        candidates(Rules(row={"price": (".a", "..b")}))


def test_generic_candidates_are_capped() -> None:
    body = "".join(f'<p class="price">${n}.00</p>' for n in range(1, 200))
    generic = [entry for entry in candidates(Rules(), body) if entry[2] is Method.GENERIC_CSS]
    assert len(generic) <= MAX_GENERIC_CANDIDATES


def test_rules_of_a_row_and_learned_selectors_are_taken_over() -> None:
    row = SimpleNamespace(price=(".a",), sale_price=(), stock=("#s",), name=("h2",))
    rules = Rules.of(row, {PriceKind.LIST: (".was",)})
    assert rules.tier("price") is Tier.ROW
    assert rules.tier("sale_price") is Tier.GLOBAL
    assert rules.tier("original_price") is Tier.LEARNED
    assert {rule.text for rule in rules.configured()} == {".a", "#s", "h2", ".was"}
    assert not rules.is_shell


@pytest.mark.parametrize("category", [*CATEGORY.values(), "stock", "name", "gtin"])
def test_any_configured_category_makes_a_real_configuration(category: str) -> None:
    assert Rules().is_shell
    assert not Rules(row={category: (".x",)}).is_shell


def test_facts_by_rules_replace_those_of_the_page() -> None:
    body = '<div id="n">The real name</div><span id="e">4006381333931</span><b id="k">K-77</b>'
    rules = Rules(row={"name": ("#n",), "gtin": ("#e",), "source_sku": ("#k",), "price": ("#nothing",)})
    found = answered(product(body), rules=rules, market=US)
    assert (found["name"], found["gtin"], found["source_sku"]) == ("The real name", "4006381333931", "K-77")
