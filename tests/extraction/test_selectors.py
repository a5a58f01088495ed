"""The rule language: its grammar, its errors, and the known defects of such languages by name."""

from __future__ import annotations

import time

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import Method
from pricecrawl.extraction import selectors
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selectors import RuleError, likely_attributes, parse_rule, parse_rules
from tests.shared import examples

PAGE = b"""<!doctype html><html lang="en-GB"><head><meta name="sale" content="12.50">
<meta name="none" content=""></head><body><section><p>one</p><p>two</p></section>
<div id="buybox" class="box wide"><span class="now">9.99 <b>GBP</b></span>
<i class="empty" data-price="7.00"></i></div>
<table class="spec-table"><tr><td>x</td></tr></table><span class="was">19.00</span>
<script>var s = {"unitCost": 4.20}; // EUR 15</script>
<span class="ship">All gone  now</span><b id="st" data-s="pre">x</b><a data-k="x::attr(y)">quoted</a>
<p class="cost">33</p></body></html>"""


@pytest.fixture(scope="module")
def page() -> Document:
    return Document.from_bytes(PAGE)


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("#buybox .now", ["9.99 GBP"]),
        ("  #buybox .now  ", ["9.99 GBP"]),
        ('meta[name="sale"]::attr(content)', ["12.50"]),
        ("meta[name=sale]|content", ["12.50"]),
        ('meta[name="none"]::attr(content)', []),
        ("!.spec-table", ['<table class="spec-table"><tr><td>x</td></tr></table>']),
        ('xpath:span[@class="was"]', ["19.00"]),
        ('xpath://span[@class="was"]', ["19.00"]),
        ("xpath:./body/section/p[2]", ["two"]),
        ("xpath:(//p)[1]", ["one"]),
        ("xpath://section/p/text()", ["one", "two"]),
        ("xpath:count(//section/p)", ["2"]),
        ("xpath:string(//section/p)", ["one"]),
        ("xpath:boolean(//nothing)", []),
        ("xpath:following-sibling::p", ["two", "33"]),
        ("xpath://b/@data-s", ["pre"]),
        ("!xpath://section", ["<section><p>one</p><p>two</p></section>"]),
        (r'regex:/"unitCost":\s*([0-9.]+)/', ["4.20"]),
        ("regex:/a/b/", []),
        ("~EUR [0-9]+~", ["EUR 15"]),
        (r"~eur (\d+)~", []),
        (r"regex:/eur (\d+)/i", ["15"]),
        (".now::text", ["9.99"]),
        ("xpath:span[@class='now']::text", ["9.99"]),
        ("xpath:*/child::text", []),
        ("xpath:h1|p", ["one", "two", "33"]),
        ("xpath: p[2] | b/@data-s", ["two", "pre"]),
        ("xpath://p[2]|span[@class='was']", ["two", "19.00"]),
        ("[title=':hover']", []),
        (".now, .was", ["9.99 GBP", "19.00"]),
        (".was, .now", ["9.99 GBP", "19.00"]),
        ('html[lang|="en"] .cost', ["33"]),
        ('a[data-k="x::attr(y)"]', ["quoted"]),
        ("section > p + p", ["two"]),
        ("section p:nth-child(2)", ["two"]),
        (".box:not(.narrow) .now::text", ["9.99"]),
        (".empty", []),
    ],
)
def test_what_a_rule_yields(page: Document, rule: str, values: list[str]) -> None:
    assert [match.value for match in parse_rule(rule).matches(page)] == values


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (".ship::contains(gone)->out_of_stock", Availability.OUT_OF_STOCK),
        (".ship::contains(GONE NOW) -> out_of_stock", Availability.OUT_OF_STOCK),
        (".ship::equals(all gone now)->out_of_stock", Availability.OUT_OF_STOCK),
        (".ship::equals(gone)->out_of_stock", None),
        ('xpath:b[@id="st"]::attr(data-s)::equals(pre)->pre_order', Availability.PRE_ORDER),
        ("~EUR 15~::contains(eur)->in_stock", Availability.IN_STOCK),
        (".now::contains(9)->in_stock", Availability.IN_STOCK),
        (".now::contains((9)->in_stock", None),
        (".none::contains(9)->in_stock", None),
    ],
)
def test_an_assertion_gives_a_status_or_nothing(
    page: Document, rule: str, status: Availability | None
) -> None:
    parsed = parse_rule(rule)
    assert parsed.asserts
    first = parsed.first(page)
    assert (first.status if first else None) is status


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("<span>29</span><sup>90</sup> €", "29.90 €"),
        ("29<small>90 kr</small>", "29.90 kr"),
        ("<b>1.299</b><i class=price-cents>90</i> €", "1.299,90 €"),
        ("29,<sup>90</sup> €", "29, 90 €"),
        ("<b>29.90</b><sup>12</sup> €", "29.90 12 €"),
        ("29 €<sup>90</sup>", "29 € 90"),
        ("<b>2</b> for <sup>29</sup>", "2 for 29"),
        ("<b>29</b><i>90</i>", "29 90"),
        ("<b>29</b><sup>901</sup>", "29 901"),
    ],
)
def test_cents_that_are_set_small_belong_to_the_number_before_them(body: str, value: str) -> None:
    document = Document(f"<html><body><p class=p>{body}</p></body></html>")
    assert [m.value for m in parse_rule(".p").matches(document)] == [value]


@pytest.mark.parametrize(
    ("rule", "position", "word"),
    [
        ("", 0, "empty"),
        ("   ", 3, "empty"),
        ("..cls", 1, "a name is expected"),
        ("  .a..b", 5, "a name is expected"),
        ("a >", 2, "nothing follows"),
        ("a ~ ", 2, "nothing follows"),
        ("a,", 1, "comma"),
        ("> a", 0, "selector"),
        ("a[b", 1, "not closed"),
        ("a]", 1, "closes nothing"),
        ("a[b=c)", 5, "closes nothing"),
        ('a[b="]', 4, "quote"),
        (".x:nope", 2, "unknown"),
        (".x::before", 2, "::attr(name)"),
        (".x::attr()", 9, "name of an attribute"),
        (".x::attr(y) b", 2, "end the selector"),
        (".x::attr", 2, "write ::attr(name)"),
        ("::attr(x)", 0, "no selector"),
        ("!", 1, "no selector"),
        ("!.a::text", 3, "use one"),
        ("a|", 1, "missing after |"),
        ("ns|a b", 3, "no name of an attribute"),
        (".x::equals(y)->soon", 15, "no status"),
        (".x::equals(y)", 13, "->status"),
        (".x::equals()->in_stock", 11, "nothing"),
        ("~~", 1, "empty"),
        ("~abc", 4, "closing ~"),
        ("regex://", 7, "empty"),
        ("regex:abc", 6, "regex:/pattern/"),
        ("regex:/abc", 10, "closing /"),
        ("~(a~", 1, "not closed"),
        ("~[a~", 1, "not closed"),
        ("~a)~", 2, "closes nothing"),
        ("~*a~", 1, "nothing to repeat"),
        ("~a(?=b)~", 2, "lookaround"),
        (r"~(a)\1~", 4, "backreferences"),
        ("~a*~", 1, "empty text"),
        ("~((a{100}){100}){10}~", 4, "at most 1000"),
        (r"~(\pL{500}x){2}~", 1, "too large"),
        ("xpath:", 6, "empty"),
        ("xpath://a[", 9, "not closed"),
        ("xpath://div//", 11, "not valid from here"),
        ("xpath:foo(//a)", 6, "no such function"),
        ("xpath:a:b", 6, "namespaces"),
        ("x" * 2001, 2000, "longer"),
        ("!regex:/a/", 0, "a regex gives text"),
        ("! ~a~", 1, "a regex gives text"),
        ("regex:/a/g", 9, "only i may follow"),
        ("regex:/a/I", 9, "only i may follow"),
        ("a:hover .b", 1, "never so on a saved page"),
        (".b:not(:focus)", 7, "never so on a saved page"),
        (r"~\*a|*b~", 5, "nothing to repeat"),
        ("~[*]a|*b~", 6, "nothing to repeat"),
        (r"~a\**b**~", 6, "repetition"),
        ("~(a[(]b~", 1, "not closed"),
        ("~[]()]a(b~", 7, "not closed"),
        ("~[)]a)b~", 5, "closes nothing"),
        ("xpath:a | b//", 11, "not valid from here"),
        ("xpath:a|foo(1)", 8, "no such function"),
    ],
)
def test_sel4_a_wrong_rule_is_refused_and_pointed_at(rule: str, position: int, word: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(rule)
    error = caught.value
    assert (error.position, word in str(error)) == (position, True), str(error)
    sentence, shown, caret = str(error).split("\n")
    assert f"at character {position + 1}:" in sentence
    assert shown == "    " + rule
    assert caret.index("^") == 4 + position


def test_e6_only_the_last_bar_outside_brackets_is_split() -> None:
    assert parse_rule('html[lang|="en"] .cost').syntax.attribute is None
    split = parse_rule('a[lang|="en"]|href')
    assert (split.syntax.base, split.syntax.attribute) == ('a[lang|="en"]', "href")
    assert split.canonical == 'a[lang|="en"]::attr(href)'
    assert parse_rule("a:not([x|='y|z'])").syntax.attribute is None


def test_sel2_there_is_one_parser() -> None:
    """Every form that runs also parses, and its canonical spelling means the same."""
    for text in (
        ".a::attr(b)",
        "~x~",
        "!.a",
        ".a::equals(b)->in_stock",
        "xpath:a::attr(b)",
        "a|b",
        "regex:/x/i",
    ):
        rule = parse_rule(text)
        again = parse_rule(rule.canonical)
        assert again.canonical == rule.canonical
        assert again.kind is rule.kind


def test_sel3_an_element_without_text_shows_its_likely_attributes(page: Document) -> None:
    rule = parse_rule(".empty")
    assert rule.matches(page) == []
    (element,) = rule.elements(page)
    assert likely_attributes(element) == [("data-price", "7.00")]
    (meta,) = parse_rule("meta[name=sale]").elements(page)
    assert likely_attributes(meta)[0] == ("content", "12.50")


def test_e1_a_nested_quantifier_over_a_megabyte_of_unclosed_script_is_fast() -> None:
    big = Document("<html><body><script>" + "a" * 1_000_000 + "<p>x")
    for pattern in (
        "~<script>(?:(?:a*)*)*</script>~",
        "~(a+a+)+b~",
        r"~(?:\w+\s?)+\$~",
        "~(.*)(.*)(.*)(.*)=x~",
    ):
        started = time.perf_counter()
        assert parse_rule(pattern).matches(big) == []
        assert time.perf_counter() - started < 1.0, pattern


def test_e18_e14_a_wrong_rule_in_a_list_is_named() -> None:
    with pytest.raises(RuleError, match=r"stock rules of corner, rule 2: the rule is wrong at character 2: "):
        parse_rules([".fine", "~(~", ".x"], where="stock rules of corner")


def test_e16_a_page_is_parsed_once_and_a_rule_compiled_once(
    page: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    compile_css = selectors.parse_css
    monkeypatch.setattr(selectors, "parse_css", lambda text: compiled.append(text) or compile_css(text))
    parsed = []
    for module, name in ((lxml.html, "document_fromstring"), (lxml.html, "fromstring"), (etree, "HTML")):
        monkeypatch.setattr(module, name, lambda *a, name=name, **k: parsed.append(name))
    for _ in range(3):
        for rule in ("div .now", "xpath://div/span", "div p:nth-child(7)", "~EUR [1]~"):
            parse_rule(rule).matches(page)
    assert compiled == ["div .now", "div p:nth-child(7)"]
    assert parsed == []


def test_p1_a_match_knows_its_rule_kind_and_value(page: Document) -> None:
    css, regex = parse_rule("#buybox .now"), parse_rule("~EUR 15~")
    assert (css.method, regex.method) == (Method.CUSTOM_CSS, Method.CUSTOM_REGEX)
    match = css.first(page)
    assert match is not None
    assert match.element is not None
    assert (css.text, css.kind.value, match.value, match.element.get("class")) == (
        "#buybox .now", "css", "9.99 GBP", "now",
    )  # fmt: skip


def test_p4_a_rule_gives_at_most_twenty_values() -> None:
    many = Document("<html><body>" + "<p class=x>1</p>" * 100)
    assert len(parse_rule(".x").matches(many)) == 20
    assert len(parse_rule("xpath://p").matches(many)) == 20
    assert len(parse_rule("~<p~").matches(many)) == 20
    assert len(parse_rule(".x").matches(many, 3)) == 3
    assert len(parse_rule(".x").elements(many)) == 100


def test_a_pattern_sees_every_script_and_any_alphabet() -> None:
    arabic = Document("<html><body><script>x='السعر ١٢٣ ريال'</script>")
    assert parse_rule(r"~السعر (\S+)~").first(arabic).value == "١٢٣"


def place_of_error(text: str) -> int:
    """Where the rule is wrong; 0 if it is right, and then it was evaluated."""
    try:
        parse_rule(text).matches(_SMALL)
    except RuleError as error:
        return error.position
    return 0


@settings(max_examples=examples(500, 50_000), deadline=None)
@given(st.text(alphabet=" !~:/.#[]()|\"'\\>+,*=^$-@abct1i", max_size=30) | st.text(max_size=20))
def test_any_text_is_a_rule_or_a_rule_error(text: str) -> None:
    assert 0 <= place_of_error(text) <= len(text)


@settings(max_examples=examples(300, 20_000), deadline=None)
@given(
    st.sampled_from(["regex:/", "~", "xpath:", "xpath://", ".a::attr(", ".a::contains(", "a["]),
    st.text(max_size=15),
)
def test_any_ending_is_a_rule_or_a_rule_error(head: str, tail: str) -> None:
    for closing in ("", "/", "~", ")", ")->in_stock", "]"):
        text = head + tail + closing
        assert 0 <= place_of_error(text) <= len(text)


_SMALL = Document("<html><body><div class='a b' id=c><p>1</p><a title=t>2</a></div>")
