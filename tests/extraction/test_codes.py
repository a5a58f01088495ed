"""Trade item numbers that a page states behind a label."""

from __future__ import annotations

import pytest

from tests.extraction.pages import answered, product

EAN = "4006381333931"
PRICE = '<p class="price">€12.00</p><button>Add to cart</button>'

LABELS = (
    *(
        "EAN",
        "EAN:",
        "EAN-13",
        "EAN code:",
        "EAN-Code",
        "GTIN",
        "GTIN-13:",
        "Barcode:",
        "Bar code",
        "Strichcode",
    ),
    *("Code-barres :", "Código de barras:", "Codice EAN", "Kod EAN", "Kód EAN", "Streckkod", "Штрихкод:"),
    *("JANコード：", "バーコード", "商品条码：", "바코드", "ISBN-13:", "UPC/EAN:"),
)
SHAPES = {
    "cells": "<table><tr><th>{label}</th><td>{number}</td></tr></table>",
    "definitions": "<dl><dt>{label}</dt><dd>{number}</dd></dl>",
    "one line": "<p>Art. 1402377<br>{label} {number}</p>",
    "elements": "<ul><li><b>{label}</b> <span>{number}</span></li></ul>",
}


def gtin(body: str) -> str | None:
    found: str | None = answered(product(f"{PRICE}{body}"))["gtin"]
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("label", LABELS)
def test_a_labelled_number_is_read(label: str, shape: str) -> None:
    assert gtin(SHAPES[shape].format(label=label, number=EAN)) == EAN


@pytest.mark.parametrize(("text", "number"), [("0 12345 67890 5", "012345678905"), ("96385074", "96385074")])
def test_other_lengths_and_spaces(text: str, number: str) -> None:
    assert gtin(f"<p>UPC: {text}</p>") == number


@pytest.mark.parametrize(
    "body",
    [
        "<p>EAN: 4006381333932</p>",
        f"<p>Art. no. {EAN}</p>",
        f"<p>OCEAN {EAN}</p>",
        "<p>EAN: 40063813</p>",
        f"<p>EAN: {EAN}</p><p>EAN: 9780306406157</p>",
        f'<p style="display:none">EAN: {EAN}</p>',
        f'<div class="related-products"><p>EAN: {EAN}</p></div>',
        f"<p>EAN: {EAN}7</p>",
    ],
    ids=["wrong", "another label", "within a word", "short and wrong", "two", "hidden", "another's", "long"],
)
def test_what_is_not_certain_is_not_read(body: str) -> None:
    assert gtin(body) is None


def test_the_same_number_twice_is_one() -> None:
    assert gtin(f"<p>EAN: {EAN}</p><p>GTIN 0{EAN}</p>") == EAN


def test_the_markup_comes_first() -> None:
    head = (
        '<script type="application/ld+json">{"@type":"Product","name":"Thing","gtin13":"9780306406157",'
        '"offers":{"price":"12.00","priceCurrency":"EUR"}}</script>'
    )
    assert answered(product(f"{PRICE}<p>EAN: {EAN}</p>", head=head))["gtin"] == "9780306406157"
