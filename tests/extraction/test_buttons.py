"""Buttons and short words that tell whether a thing can be bought, as pages write them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from tests.extraction.pages import answered, html, ld, product

TAG = '<p class="price">€38.00</p>'
BEHIND = [" – €38.00", " - 38.00 €", " €38", " · 38,00 EUR", " | 38 kr.", ": $38.00"]


def stock(body: str, *, head: str = "", lang: str = "en") -> str:
    state: str = answered(product(body, head=head, lang=lang))["availability"]
    return state


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("words", ["Add to cart", "Kaufen", "Ajouter au panier", "Lägg i varukorgen"])
def test_a_button_may_repeat_the_price(words: str, behind: str) -> None:
    assert stock(f"{TAG}<button>{words}{behind}</button>") == "in_stock"


@pytest.mark.parametrize("behind", BEHIND)
def test_a_button_to_order_ahead_may_repeat_it_too(behind: str) -> None:
    assert stock(f"{TAG}<button>Pre-order{behind}</button>") == "pre_order"


@pytest.mark.parametrize("words", ["Buy 2 get 1 free", "Order before 5 pm", "Buy from 3 shops near you"])
def test_a_number_with_words_behind_is_no_button_to_buy(words: str) -> None:
    assert stock(f"{TAG}<button>{words}</button>") == "unknown"


WORDS = [
    "In den Warenkorb legen",
    "In den Einkaufswagen legen",
    "In den Warenkorb hinzufügen",
    "直接購買",
    "放入購物車",
    "Beli langsung",
    "+ Keranjang",
]


@pytest.mark.parametrize("words", WORDS)
def test_further_words_of_buttons(words: str) -> None:
    assert stock(f"{TAG}<button>{words}</button>") == "in_stock"


@pytest.mark.parametrize("tag", ["div", "span", "li", "p"])
@pytest.mark.parametrize("words", ["Add to cart", "В корзину", "In den Warenkorb", "カートに入れる"])
def test_any_box_may_act_as_a_button(words: str, tag: str) -> None:
    assert stock(f'{TAG}<{tag} role="button" tabindex="0">{words}</{tag}>') == "in_stock"


@pytest.mark.parametrize("tag", ["div", "span"])
def test_a_box_without_the_role_is_text(tag: str) -> None:
    assert stock(f"{TAG}<{tag}>Add to cart</{tag}>") == "unknown"


OFFERED = {"price": "38.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
MARKUP = ld(json.dumps({"@type": "Product", "name": "Thing", "offers": OFFERED}))


@pytest.mark.parametrize("words", ["Pre-order", "Preorder now", "Vorbestellen", "Précommander", "Förboka"])
def test_a_button_to_order_ahead_outweighs_markup(words: str) -> None:
    assert stock(f"{TAG}<button>{words}</button>", head=MARKUP) == "pre_order"


SOLD = ["SOLD", "Sold!", "Verkauft", "Vendu", "Vendido", "Venduto", "Verkocht", "Såld", "Solgt", "Myyty"]


@pytest.mark.parametrize("word", SOLD)
def test_sold_alone_on_its_line(word: str) -> None:
    assert stock(f"{TAG}<p>{word}</p>") == "out_of_stock"


@pytest.mark.parametrize("line", ["500 sold", "Sold by us", "Bereits 20 verkauft", "Vendu par nos soins"])
def test_sold_within_a_line_is_no_state(line: str) -> None:
    assert stock(f"{TAG}<p>{line}</p><button>Add to cart</button>") == "in_stock"


GONE = ["Изчерпано", "Läbi müüdud", "Išparduota", "Izpārdots"]


@pytest.mark.parametrize("words", GONE)
def test_further_words_for_sold_out(words: str) -> None:
    assert stock(f'{TAG}<p class="availability">{words}</p>') == "out_of_stock"


@pytest.mark.parametrize("said", ["Available on backorder", "Out of stock"])
def test_the_chosen_variants_own_words_count(said: str) -> None:
    variants = [
        {"attributes": {"size": "s"}, "display_price": 79, "availability_html": "<p>4 in stock</p>"},
        {"attributes": {"size": "m"}, "display_price": 89, "availability_html": f"<p>{said}</p>"},
    ]
    form = f"<form data-variations='{json.dumps(variants)}'><button>Add to cart</button></form>"
    body = f'<main><h1>Thing</h1><p class="price">€79.00 – €89.00</p>{form}</main>'
    found = answered(html(body), url="https://shop.example/p/thing?size=m")
    assert (Decimal(found["price"]), found["availability"]) == (Decimal(89), "out_of_stock")
