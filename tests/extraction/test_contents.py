"""The content behind a label, where no markup states it."""

from __future__ import annotations

import pytest

from pricecrawl.domain.market import Market
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page

PAGE = """<html><body><main><h1>Quay Red</h1><p class="price">9,99 €</p>
<button>Add to basket</button>{facts}</main></body></html>"""


def size(facts: str) -> str:
    page = Document(PAGE.format(facts=facts), url="https://quay.example/red")
    return read_page(page, market=Market("DE", "EUR")).listing.size_text


@pytest.mark.parametrize(
    "label",
    [
        *("Inhalt", "Nettofüllmenge", "NET WEIGHT", "Contents", "Contenance", "Contenido", "Peso netto"),
        *("Inhoud", "Innehåll", "Pojemność", "Объём", "内容量"),
    ],
)
def test_behind_a_label(label: str) -> None:
    assert size(f"<p>{label}: 0,75 l</p>") == "0,75 l"
    assert size(f"<table><tr><th>{label}</th><td> 6 x\n 330 ml</td></tr></table>") == "6 x 330 ml"
    assert size(f"<p><b>{label}:</b> 500 g</p>") == "500 g"


@pytest.mark.parametrize(
    "facts",
    [
        "<p>0,75 l</p>",
        "<p>2 for you</p>",
        "<p>Inhalt: auf Anfrage</p>",
        "<p>Der Inhalt: 0,75 l</p>",
        "<p>Inhalt</p><p>" + "0" * 41 + "</p>",
        "<p>text</p>" * 170 + "<p>Inhalt: 0,75 l</p>",
        "<aside><p>Inhalt: 0,75 l</p></aside>",
    ],
)
def test_what_is_none(facts: str) -> None:
    assert size(facts) == ""
