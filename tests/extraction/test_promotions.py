"""Lines near the price that make a lower one depend on the quantity."""

from __future__ import annotations

import pytest

from pricecrawl.domain.market import Market
from pricecrawl.domain.promotion import PromotionKind, read_promotion
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.reader import read_page

LINES = (
    *("3 for 2", "Any 3 for £10", "2 for £5.50", "3 for the price of 2", "4 for 3 across the range"),
    *("2 für 5 €", "2 für nur 5,00 €", "2 pour 5,00 €", "2 voor 4,99 €", "3 za 100 zł", "2 för 50 kr"),
    *("2+1 gratis", "1 + 1 free", "Buy 2 get 1 free", "Buy 2, get 1 half price", "3x2", "3 x 2"),
    *("Lleva 3 paga 2", "Leve 3 pague 2", "Prendi 3 paghi 2", "3 kaufen, 2 zahlen", "3 halen 2 betalen"),
    *("2nd half price", "2e à -50 %", "2de halve prijs", "2ª unidad al 70%", "Das 2. zum halben Preis"),
    *("Buy 3 or more for £4 each", "2 or more: 10% off", "Mix & match: 3 for 2 on all pens"),
)
OTHER_LINES = (
    *("Serves 2 for 1 hour", "3 for 2 people", "Pack of 3 x 2 cm", "2 for 30 days", "2 per box", "USB 3.2"),
    *(
        "3 or more working days",
        "2 x 500 g",
        "Rated 4 for 3 reviews",
        "5 or more $39.80",
        "1 for £3",
        "2 get in touch",
    ),
    *("Save £5", "was £20 now £15", "-20 %", "Free delivery over £40", "Size 3 for 2 year olds"),
    # These concern others, or an order as a whole: everybody's price of one unit stands.
    *(
        "Members: 3 for 2",
        "3 for 2 with code SPRING",
        "Subscribe: 2 for £5",
        "Pay in 3 for £4.00 with Klarna",
    ),
)
PAGE = """<html><body><header>{header}</header><main><h1>Quay Red 2021</h1>
<div class="product-buy"><p class="price">£9.99</p>{line}
<button type="submit">Add to basket</button></div>{below}</main></body></html>"""


def promotion(line: str = "", *, below: str = "", header: str = "") -> str:
    html = PAGE.format(line=line, below=below, header=header)
    return read_page(
        Document(html, url="https://quay.example/red"), market=Market("GB", "GBP")
    ).listing.promotion_text


@pytest.mark.parametrize("line", LINES)
def test_a_line_beside_the_price(line: str) -> None:
    assert promotion(f"<p>{line}</p>") == line
    words = line.split(" ", 1)
    if len(words) == 2 and "x" not in words[1]:  # "3 x 2" inside a line is a size
        assert promotion(f"<p><b>{words[0]}</b>\n {words[1]}</p>") == line


@pytest.mark.parametrize("line", LINES)
def test_what_is_read_from_a_page_means_something_to_pricing(line: str) -> None:
    assert read_promotion(line).kind in (PromotionKind.CONDITIONAL, PromotionKind.BUNDLE)


@pytest.mark.parametrize("line", OTHER_LINES)
def test_other_lines(line: str) -> None:
    assert promotion(f"<p>{line}</p>") == ""


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"header": "<div>3 for 2 on all wine</div>"},
        {"line": "<p style='display:none'>3 for 2</p>"},
        {"line": "<s>3 for 2</s>"},
        {"line": "<select name='q'><option>1 bottle</option><option>2 for £18</option></select>"},
        {"line": "<label><input type='radio' name='q'>2 for £18</label>"},
        {"below": "<aside><p>3 for 2</p></aside>"},
        {"below": "<div class='related-products'><p>Corkscrew</p><p>3 for 2</p></div>"},
        {"below": "<h2>Delivery</h2><p>2 for £5</p>"},
        {"below": "<p>" + "A long story of this wine. " * 5 + " 3 for 2 </p>"},
        {"below": "<p>filler</p>" * 80 + "<p>3 for 2</p>"},
    ],
)
def test_a_line_elsewhere_is_not_this_products(elsewhere: dict[str, str]) -> None:
    assert promotion(**elsewhere) == ""


def test_the_trace_tells_of_it() -> None:
    page = Document(PAGE.format(header="", line="<p>3 for 2</p>", below=""), url="https://quay.example/red")
    trace = read_page(page, market=Market("GB", "GBP")).trace
    assert "Promotion: '3 for 2' makes a lower price depend on the quantity." in trace


def test_without_a_visible_price_there_is_none() -> None:
    page = Document("<html><body><h1>Red</h1><p>3 for 2</p></body></html>", url="https://quay.example/red")
    assert read_page(page, market=Market("GB", "GBP")).listing.promotion_text == ""
