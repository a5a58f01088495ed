"""The index gives exactly what cssselect's XPath gives."""

from __future__ import annotations

import gzip

import pytest
from cssselect import HTMLTranslator
from cssselect import parse as parse_css
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.selector_index import Index, compile_fast
from pricecrawl.extraction.selectors import parse_rule
from tests.shared import examples, needs_shared, shared

SELECTORS = [
    ".price", "#price", "span.price", "[itemprop=price]", "[itemprop]", "meta[property='og:title']",
    "[class*='price']", "[class^=pr]", "[class$=ce]", "[class~=price]", "html[lang|=en] p", "div > span",
    "h1 + div", "h1 ~ div", "div span.price", "main .price", ".a .b .c", "div:not(.price) > span",
    "span:not([class])", "script[type='application/ld+json']", "*", "div div div > p", "[data-price]",
    "body > *", "a[href*='#']", "li + li > a", "[class='']", "[class*='']", "h1, h2", "p:first-child",
    ":not(.price) > span", "* > :not([class]) > span", ":not(.a) + .b", "div :not(.price) .price",
]  # fmt: skip


def by_path(selector: str, tree: etree._Element) -> list[etree._Element]:
    path = " | ".join(HTMLTranslator().selector_to_xpath(s) for s in parse_css(selector))
    return [element for element in etree.XPath(path)(tree) if isinstance(element.tag, str)]


def agree_on(selector: str, document: Document) -> None:
    parsed = parse_css(selector)
    fast = compile_fast(parsed[0])
    if fast is not None and len(parsed) == 1:
        assert fast.find(Index(document.tree)) == by_path(selector, document.tree), selector
    assert parse_rule(selector).elements(document) == by_path(selector, document.tree), selector


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        (":not(.old) > .price", ["new"]),
        ("* > :not(.old) > .price", ["new"]),
        (".new .price", ["new"]),
        (".tag", ["new"]),
        (".sale", []),
        ("[class~=sale]", []),
    ],
)
def test_conditions_without_a_name_hold_and_only_blanks_part_classes(selector: str, found: list[str]) -> None:
    document = Document(
        "<html><body><div class=old><b class=price id=was></b></div>"
        "<div class='new\n'><b class='price\ttag no\u00a0sale' id=new></b></div></body></html>"
    )
    assert [element.get("id") for element in parse_rule(selector).elements(document)] == found


compounds = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "p", "div", "*", "P"]),
        st.sampled_from(["", ".a", ".b", "#c", ".a.b"]),
        st.sampled_from(
            ["", "[t]", "[t=a]", "[t~=b]", "[t|=a]", "[t^=a]", "[t$=b]", "[t*=a]", ":not(.a)", ":not([t])"]
        ),
    ),
).map(lambda text: text or "*")
chains = st.lists(st.tuples(st.sampled_from([" ", " > ", " + ", " ~ "]), compounds), max_size=3)


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> str:
    children = draw(st.lists(trees(depth + 1), max_size=3)) if depth < 4 else []
    name = draw(st.sampled_from(["p", "div", "i"]))
    kind = draw(
        st.sampled_from(
            ["", " class=a", " class='b a'", " class=' b\n'", " id=c", " t=a", " t='a b'", " t='a-b'", " t"]
        )
    )
    return (
        f"<{name}{kind}>" + draw(st.sampled_from(["", "x", "<!-- c -->"])) + "".join(children) + f"</{name}>"
    )


@settings(max_examples=examples(300, 20_000), deadline=None)
@given(st.lists(trees(), max_size=3), compounds, chains)
def test_the_index_agrees_with_the_path_on_any_tree(parts, first, chain) -> None:
    selector = first + "".join(combinator + compound for combinator, compound in chain)
    agree_on(selector, Document("<html><body>" + "".join(parts)))


@needs_shared
@pytest.mark.parametrize("selector", SELECTORS)
def test_the_index_agrees_with_the_path_on_saved_pages(selector: str, saved_pages: list[Document]) -> None:
    for document in saved_pages:
        agree_on(selector, document)


@pytest.fixture(scope="module")
def saved_pages() -> list[Document]:
    found = []
    for path in sorted(shared("corpora/pages/product").iterdir())[::2]:
        body = path.read_bytes()
        found.append(Document.from_bytes(gzip.decompress(body) if path.suffix == ".gz" else body))
    return found
