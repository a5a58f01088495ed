"""Stock: what rules, markup, controls and words say, and that "cannot tell" is an answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.availability import Availability
from pricecrawl.extraction.controls import meaning
from pricecrawl.extraction.rules import Rules
from pricecrawl.extraction.stock_words import sayings, state_of
from tests.extraction.pages import answered, ld, product
from tests.shared import examples

WORDS = {
    "in_stock": [
        *(
            "In stock",
            "Available now",
            "Only 3 left in stock",
            "Auf Lager",
            "Sofort lieferbar",
            "En stock",
            "Disponible",
        ),
        *(
            "Disponibile",
            "Em estoque",
            "Op voorraad",
            "I lager",
            "På lager",
            "Varastossa",
            "Skladem",
            "Raktáron",
        ),
        *(
            "În stoc",
            "В наличии",
            "В наявності",
            "Stokta var",
            "Διαθέσιμο",
            "متوفر",
            "במלאי",
            "在庫あり",
            "有货",
            "재고 있음",
        ),
    ],
    "out_of_stock": [
        *(
            "Sold out",
            "Out of stock",
            "Currently unavailable",
            "Not in stock",
            "0 in stock",
            "0 NEW IN STOCK",
            "Backorder",
        ),
        *(
            "Ausverkauft",
            "Nicht lieferbar",
            "Derzeit nicht verfügbar",
            "Épuisé",
            "Rupture de stock",
            "Agotado",
        ),
        *(
            "Esaurito",
            "Non disponibile",
            "Esgotado",
            "Uitverkocht",
            "Niet op voorraad",
            "Slut i lager",
            "Udsolgt",
        ),
        *(
            "Loppu varastosta",
            "Niedostępny",
            "Vyprodáno",
            "Není skladem",
            "Elfogyott",
            "Stoc epuizat",
            "Нет в наличии",
        ),
        *(
            "Немає в наявності",
            "Stokta yok",
            "Tükendi",
            "Εξαντλημένο",
            "غير متوفر",
            "אזל מהמלאי",
            "在庫切れ",
            "缺货",
            "품절",
        ),
    ],
    "pre_order": [
        "Pre-order",
        "Coming soon",
        "Vorbestellbar",
        "Précommande",
        "Предзаказ",
        "予約受付中",
        "Ön sipariş",
    ],
    "member_only": ["Members only", "Sign in to see the price", "Nur für Mitglieder", "会員限定"],
    "not_available": ["Discontinued", "No longer sold", "Nicht mehr im Sortiment"],
}


@pytest.mark.parametrize(
    ("state", "text"), [(state, text) for state, texts in WORDS.items() for text in texts]
)
def test_words_of_many_languages(state: str, text: str) -> None:
    assert state_of(text) is Availability(state)
    found = answered(product(f'<div class="price">$5.00</div><div class="stock">{text}</div>', lang="en-US"))
    assert found["availability"] == state


@pytest.mark.parametrize(
    "text",
    [
        *("Notify me when back in stock", "Check availability", "Available sizes", "While stocks last", ""),
        *("There was a temporary issue. Please try again.", "Availability", "Stock photo", "Livestock feed"),
    ],
)
def test_words_that_say_nothing_about_now(text: str) -> None:
    assert not sayings(text)
    assert answered(product(f"<p>{text}</p>"))["availability"] == "unknown"


@pytest.mark.parametrize("negation", ["not", "nicht", "pas", "non", "niet", "ikke", "не"])
def test_a_negated_statement_is_never_stock(negation: str) -> None:
    for phrase in (
        "in stock",
        "verfügbar",
        "disponible",
        "disponibile",
        "leverbaar",
        "på lager",
        "в наличии",
    ):
        assert state_of(f"{negation} {phrase}") is not Availability.IN_STOCK


BUY = [
    *(
        "Add to cart",
        "Add to basket",
        "Buy now",
        "In den Warenkorb",
        "Ajouter au panier",
        "Añadir al carrito",
        "Comprar",
    ),
    *(
        "Aggiungi al carrello",
        "Adicionar ao carrinho",
        "In winkelwagen",
        "Lägg i varukorgen",
        "Læg i kurv",
        "Lisää ostoskoriin",
    ),
    *(
        "Do koszyka",
        "Do košíku",
        "Kosárba",
        "Adaugă în coș",
        "В корзину",
        "У кошик",
        "Sepete ekle",
        "カートに入れる",
    ),
    *("加入购物车", "장바구니", "أضف إلى السلة", "הוסף לסל"),
]


@pytest.mark.parametrize("text", BUY)
def test_a_control_that_buys_means_stock_only_while_it_works(text: str) -> None:
    assert meaning(text) == "buy"
    price = '<div class="price">$5.00</div>'
    assert answered(product(f"{price}<button>{text}</button>"))["availability"] == "in_stock"
    assert answered(product(f"{price}<button disabled>{text}</button>"))["availability"] == "out_of_stock"
    assert answered(product(f'{price}<a class="btn" href="#">{text}</a>'))["availability"] == "in_stock"


@pytest.mark.parametrize(
    ("control", "state"),
    [
        ("<button disabled>Sold out</button>", "out_of_stock"),
        (
            '<button class="add-to-cart" data-action="Add to Cart" disabled>Not available</button>',
            "out_of_stock",
        ),
        ("<form><input type=email><button>Notify me when available</button></form>", "out_of_stock"),
        ("<button>Pre-order now</button>", "pre_order"),
        ("<button>Details</button>", "unknown"),
        ("<nav><a href='/buy'>Buy</a></nav>", "unknown"),
        ('<div style="display:none"><button>Add to cart</button></div>', "unknown"),
        (
            '<form><select name="size"></select><button disabled>Add to cart</button></form>',
            "unknown",
        ),
    ],
)
def test_controls(control: str, state: str) -> None:
    assert answered(product(f'<div class="price">$5.00</div>{control}'))["availability"] == state


@pytest.mark.parametrize(
    "hidden",
    [
        '<span style="display:none">{0}</span>',
        "<span hidden>{0}</span>",
        "<!-- {0} -->",
        "<template>{0}</template>",
        "<script>var t='{0}'</script>",
        '<span class="badge-out">{0}</span>',
        '<span class="visually gone">{0}</span>',
        '<div class="related-products"><span class="stock">{0}</span></div>',
    ],
)
def test_what_nobody_sees_or_is_another_s_says_nothing(hidden: str) -> None:
    head = (
        "<style>.badge-out{display:none} .product--sold .badge-out{display:block}"
        " .gone { visibility : hidden }</style>"
    )
    body = f'<div class="price">$5.00</div>{hidden.format("Sold out")}<button>Add to cart</button>'
    assert answered(product(body, head=head))["availability"] == "in_stock"


def test_a_style_sheet_that_shows_the_badge_again_is_followed() -> None:
    head = "<style>.badge-out{display:none} .product--sold .badge-out{display:block}</style>"
    body = '<div class="product--sold"><span class="badge-out">Sold out</span></div>'
    assert answered(product(body, head=head))["availability"] == "out_of_stock"


def test_rules_for_other_screens_hide_nothing() -> None:
    head = "<style>@media print { .stock { display: none } }</style>"
    assert answered(product('<span class="stock">In stock</span>', head=head))["availability"] == "in_stock"


MARKUP = (
    '{{"@type":"Product","name":"Thing","offers":{{"@type":"Offer","price":"5","priceCurrency":"EUR",'
    '"availability":"https://schema.org/{0}"}}}}'
)


def test_what_the_page_shows_overrules_the_markup_and_is_told() -> None:
    head = ld(MARKUP.format("InStock"))
    found = answered(product('<div class="price">€5.00</div><button disabled>Sold out</button>', head=head))
    assert found["availability"] == "out_of_stock"
    assert "stock_conflict" in found["review_reasons"]
    assert any("overrules" in sentence for sentence in found["trace"])


def test_markup_that_says_sold_out_wins_over_a_button() -> None:
    head = ld(MARKUP.format("OutOfStock"))
    found = answered(product('<div class="price">€5.00</div><button>Add to cart</button>', head=head))
    assert found["availability"] == "out_of_stock"
    assert "stock_conflict" in found["review_reasons"]


def test_a_shop_s_own_rule_comes_first() -> None:
    head = ld(MARKUP.format("InStock"))
    body = '<b id="st">ausgelistet</b><div class="price">€5.00</div>'
    rules = Rules(row={"stock": ("#st::contains(ausgelistet)->out_of_stock",)})
    assert answered(product(body, head=head), rules=rules)["availability"] == "out_of_stock"


@given(
    st.lists(st.sampled_from([t for texts in WORDS.values() for t in texts]), min_size=1, max_size=3),
    st.data(),
)
@settings(max_examples=examples(40, 2000), deadline=None)
def test_the_order_of_statements_changes_nothing(texts: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(texts))
    pages = ["".join(f'<div class="stock">{text}</div>' for text in order) for order in (texts, shuffled)]
    states = {answered(product(body))["availability"] for body in pages}
    assert len(states) == 1
