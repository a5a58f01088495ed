"""Amounts that are no price of the one thing: of other things, of several, of members, of times gone by."""

from __future__ import annotations

from typing import Any

import pytest

from tests.extraction.pages import answered, html, product

BUY = "<button>Add to cart</button>"
OWN = {
    "in a named box": '<p class="price">£45.00</p>',
    "in bold": "<p><b>£45.00</b></p>",
    "in a styled span": '<span class="text-2xl font-bold">£45.00</span>',
    "behind a word": "<p>Price: £45.00</p>",
}
HEADINGS = {
    "en": [
        "Style with",
        "Wear it with",
        "Shop the look",
        "You'll also need",
        "More by this author",
        "Other editions",
        "Just for you",
        "Inspired by your browsing history",
        "Don't miss",
        "Replacement model",
        "Successor",
        "In the same collection",
        "Gift ideas",
        "Last chance",
        "Travellers also reserved",
        "Staff picks",
        "Spare parts",
        "Try these instead",
    ],
    "de": ["Nachfolger", "Mehr von dieser Marke", "Ersatzteile"],
    "fr": ["Complétez le look", "Dans la même collection", "Pièces détachées"],
    "es": ["Completa tu look", "De la misma colección"],
    "it": ["Abbinalo con", "Della stessa collezione"],
    "nl": ["Maak je look compleet", "Opvolger"],
    "sv": ["Matcha med", "Reservdelar"],
    "da": ["Reservedele"],
    "fi": ["Varaosat"],
    "pl": ["Uzupełnij stylizację", "Części zamienne"],
    "cs": ["Mohlo by se vám líbit", "Náhradní díly"],
    "pt": ["Complete o look"],
    "tr": ["Yedek parçalar"],
    "ru": ["С этим носят", "Запчасти"],
    "ja": ["この商品を見た人はこちらも"],
    "zh-CN": ["搭配购买"],
}
TITLED = [(lang, text) for lang, texts in HEADINGS.items() for text in texts]


def section(heading: str, number: int) -> str:
    names = ("Linen shirt", "Leather belt", "Felt hat")[:number]
    items = "".join(
        f'<div class="item"><a href="/p/{i}">{name}</a><span class="price">£2{i}.99</span>{BUY}</div>'
        for i, name in enumerate(names)
    )
    return f"<section><h2>{heading}</h2>{items}</section>"


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("lang", "heading"), TITLED, ids=[text for _, text in TITLED])
def test_what_stands_under_a_further_heading_is_no_price_of_this(
    lang: str, heading: str, number: int
) -> None:
    found = answered(product(f"<p>In soft wool.</p>{section(heading, number)}", lang=lang))
    assert (found["price"], found["currency"]) == (None, None)


@pytest.mark.parametrize("buy", [BUY, ""], ids=["with a button", "without"])
@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("number", [1, 3])
def test_the_own_price_stays_beside_such_sections(number: int, own: str, buy: str) -> None:
    body = f'<div class="pdp">{OWN[own]}{buy}<p>In soft wool.</p></div>{section("Wear it with", number)}'
    found = answered(product(body, lang="en-GB"))
    assert (found["price"], found["currency"]) == ("45.00", "GBP")


@pytest.mark.parametrize(
    "heading",
    ["Choose your size", "Buy now", "Preis", "Options", "Availability", "Commander", "Größe wählen", "Thing"],
)
def test_a_heading_of_the_buying_is_the_products_own(heading: str) -> None:
    found = answered(product(f"<p>Text.</p><section><h2>{heading}</h2><p>£45.00</p>{BUY}</section>"))
    assert (found["price"], found["currency"]) == ("45.00", "GBP")


SELLERS = ["Andere verkopers", "Weitere Anbieter", "Autres vendeurs", "Altri venditori", "Другие продавцы"]


@pytest.mark.parametrize("tag", ["h2", "h4", "strong"])
@pytest.mark.parametrize("heading", [*SELLERS, "Other vendors"])
def test_other_sellers_are_not_this_one(heading: str, tag: str) -> None:
    other = f'<div><{tag}>{heading}</{tag}><div><p class="price">€ 52,40</p>{BUY}</div></div>'
    found = answered(product(f"<p>€ 58,99</p>{BUY}{other}"))
    assert (found["price"], found["currency"]) == ("58.99", "EUR")


SEVERAL = [
    "5 - 9", "5–9", "5 to 9", "5 bis 9", "10+", "10 +", "10 or more", "10 pcs", "10 und mehr", "≥ 10", "10個"
]  # fmt: skip


@pytest.mark.parametrize("shape", ["table", "list", "lines"])
@pytest.mark.parametrize("told", SEVERAL)
def test_a_price_for_several_is_not_that_for_one(told: str, shape: str) -> None:
    one, several = "€2.50", "€1.90"
    body = {
        "table": f"<table><tr><td>1<td>{one}</tr><tr><td>{told}<td>{several}</tr></table>",
        "list": f"<ul><li><b>{one}</b></li><li>{told} {several}</li></ul>",
        "lines": f"<p><b>{one}</b></p><p>{told}: <b>{several}</b></p>",
    }[shape]
    found = answered(product(f"{body}{BUY}"))
    assert (found["price"], found["currency"]) == ("2.50", "EUR")


@pytest.mark.parametrize(
    "head", ["Quantity", "Qty", "Menge", "Quantité", "Cantidad", "Aantal", "Ilość", "数量"]
)
def test_a_table_of_quantities_begins_with_one(head: str) -> None:
    tiers = ((1, "2.50"), (10, "2.10"), (99, "1.90"))
    rows = "".join(f"<tr><td>{count}</td><td>€{price}</td></tr>" for count, price in tiers)
    table = f"<table><tr><th>{head}</th><th>Price</th></tr>{rows}</table>"
    found = answered(product(table + BUY))
    assert (found["price"], found["currency"]) == ("2.50", "EUR")


def read(body: str, lang: str = "en") -> tuple[Any, Any, Any]:
    found = answered(product(f"{body}{BUY}", lang=lang))
    return found["price"], found["member_price"], found["currency"]


WITH = {
    "with Orchard": "without Orchard",
    "mit Streifzug": "ohne Streifzug",
    "avec Flânerie": "sans Flânerie",
    "with bank card": "without bank card",
    "with wallet": "without wallet",
    "with store card": "without store card",
    "in the app: app price": "without app price",
    "insider": "non insider",
    "с кошельком": "без кошелька",
    "банком": "без банка",
    "לבעלי כרטיס": "ללא כרטיס",
    "לחברי מועדון": "לכולם",
}


@pytest.mark.parametrize("words", ["with lid", "without lid", "with honey nectar"])
def test_a_name_that_only_one_of_them_has_is_no_scheme(words: str) -> None:
    assert read(f"<div class='price'>€54.90 {words}</div>") == ("54.90", None, "EUR")


@pytest.mark.parametrize("order", ["members first", "members last"])
@pytest.mark.parametrize("words", WITH)
def test_with_and_without_are_told_apart(words: str, order: str) -> None:
    lines = [f"<div><b>€48.10</b> {words}</div>", f"<div><b>€54.90</b> {WITH[words]}</div>"]
    body = "".join(lines if order == "members first" else reversed(lines))
    assert read(f'<div class="buy">{body}</div>') == ("54.90", "48.10", "EUR")


@pytest.mark.parametrize("words", ["with bank card", "with wallet", "with store card", "с кошельком"])
def test_the_words_may_stand_below_the_amounts(words: str) -> None:
    lines = f"<div><b>€48.10</b><p>{words}</p></div><div><b>€54.90</b><p>{WITH[words]}</p></div>"
    assert read(f'<div class="buy">{lines}</div>') == ("54.90", "48.10", "EUR")


PICTURES = ['<img src="/c.svg" alt="{}">', '<svg aria-label="{}"></svg>', '<i title="{}"></i>']


@pytest.mark.parametrize("tag", PICTURES)
@pytest.mark.parametrize("words", ["store card", "loyalty card", "Members only"])
def test_a_picture_may_name_whose_price_it_is(words: str, tag: str) -> None:
    body = f'<div class="price">€54.90</div><div><span>€48.10</span> {tag.format(words)}</div>'
    assert read(body) == ("54.90", "48.10", "EUR")


CONDITIONS = [
    "<b>{}</b> value",
    "<b>{}</b> membership",
    "<b>{}</b> after $25 off on opening a new card",
    "<b>{}</b> after mail-in rebate",
    "<b>{}</b> after trade-in",
    "<b>{}</b> with auto-replenish",
    "<b>{}</b> with a new credit card",
    "Deal has ended: <b>{}</b>",
    "<b>{}</b> – offer expired",
    "<b>{}</b> Angebot abgelaufen",
    "<b>{}</b> oferta finalizada",
    "<b>{}</b> offre terminée",
    "<b>{}</b> sale is over",
    "<b>{}</b> 00d 00h 00m 00s",
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_what_is_not_asked_of_everybody_now_is_no_price(text: str) -> None:
    line = text.format("€31.90")
    body = f'<div class="price">{line}</div><div class="price">€39.95</div>'
    assert read(body) == ("39.95", None, "EUR")


NET = {
    "de": ["zzgl. MwSt.", "exkl. MwSt.", "ohne MwSt.", "netto"],
    "en": ["ex VAT", "excl. GST", "plus VAT", "without VAT"],
    "fr": ["HT"],
    "es": ["sin IVA", "IVA no incluido"],
    "it": ["IVA esclusa", "senza IVA"],
    "nl": ["excl. btw", "zonder btw"],
    "sv": ["exkl. moms", "utan moms"],
    "cs": ["bez DPH"],
    "pl": ["netto"],
    "he": ['ללא מע"מ'],
}
NETS = [(lang, words) for lang, all_words in NET.items() for words in all_words]


@pytest.mark.parametrize("order", ["net first", "net last"])
@pytest.mark.parametrize(("lang", "words"), NETS)
def test_a_plain_price_stands_above_a_net_one(lang: str, words: str, order: str) -> None:
    lines = [f"<p><b>€41.93</b> {words}</p>", "<p><b>€49.90</b></p>"]
    body = "".join(lines if order == "net first" else reversed(lines))
    assert read(f'<div class="prices">{body}</div>', lang) == ("49.90", None, "EUR")


@pytest.mark.parametrize("name", ["normalprice", "deleted"])
def test_names_of_the_price_before(name: str) -> None:
    body = f'<h2><span class="{name}">€14.00</span> <span class="special">€12.60</span></h2>'
    found = answered(product(f"{body}{BUY}"))
    assert (found["price"], found["original_price"]) == ("12.60", "14.00")


OURS = ["checkout-box", "checkout", "customers-price", "terms", "terms-box"]
THEIRS = ["checkout-total", "customers-also-bought", "alt-offers", "terms-and-conditions"]


@pytest.mark.parametrize("name", OURS)
def test_names_that_only_begin_like_those_of_furniture(name: str) -> None:
    found = answered(product(f'<div class="{name}"><span class="price">€45.00</span>{BUY}</div>'))
    assert (found["price"], found["availability"]) == ("45.00", "in_stock")


@pytest.mark.parametrize("name", THEIRS)
def test_names_of_boxes_that_sell_something_else(name: str) -> None:
    found = answered(
        html(f'<main><h1>Thing</h1><div class="{name}"><b class="price">€45.00</b></div></main>')
    )
    assert found["price"] is None
