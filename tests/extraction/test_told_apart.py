"""What tells amounts apart where neither names nor labels do: boxes, style sheets, arithmetic, order."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.extraction.pages import answered, html, product

BUY = "<button>Add to cart</button>"


def read(body: str, *, lang: str = "en", head: str = "") -> dict[str, Any]:
    return answered(product(f"{body}{BUY}", lang=lang, head=head))


def money(value: Any) -> Decimal | None:
    return None if value is None else Decimal(value)


# --- parts of one amount ---------------------------------------------------------------------

GLUED = {
    "three elements": '<div class="sc-9"><span>7</span><span class="kT">95</span><span>€/kpl</span></div>',
    "two elements and a sign": '<div class="sc-9"><b>7</b><i>95</i> €</div>',
    "text and an element": '<div class="sc-9">7<span class="x1">95</span> €</div>',
    "the sign first": '<div class="sc-9">€<span>7</span><span class="x1">95</span></div>',
}


@pytest.mark.parametrize("way", GLUED)
def test_two_digits_that_touch_a_whole_number_are_its_cents(way: str) -> None:
    found = read(GLUED[way], lang="fi")
    assert (money(found["price"]), found["currency"]) == (Decimal("7.95"), "EUR")


@pytest.mark.parametrize("whole", ["7", "12", "129", "1.299"])
@pytest.mark.parametrize("cents", ["00", "05", "95"])
def test_whatever_the_digits(whole: str, cents: str) -> None:
    body = f'<div class="q"><span>{whole}</span><span class="zz">{cents}</span><span>€</span></div>'
    assert money(read(body, lang="de")["price"]) == Decimal(f"{whole.replace('.', '')}.{cents}")


@pytest.mark.parametrize("before", ["7,50", "3.10"])
def test_a_number_with_cents_gets_no_others(before: str) -> None:
    body = f'<div class="q"><span>{before}</span><span>20</span><span>€</span></div>'
    assert money(read(body, lang="de")["price"]) != Decimal(f"{before.replace(',', '.')}20")


BOXED = (
    """<div class="price"><span>Advice 59,95</span>
    <strong><span>€</span> <span>45</span><span>,</span><span>-</span></strong></div>""",
    """<div class="price"><strong><span>€</span> <span>45</span><span>,</span><span>00</span></strong>
    <span>59,95 before</span></div>""",
    '<p class="price"><span class="a">59.95</span><span class="b"><i>$</i><b>45.00</b></span></p>',
)


@pytest.mark.parametrize("body", BOXED)
def test_a_sign_belongs_to_the_number_in_its_own_box(body: str) -> None:
    assert money(read(body, lang="nl")["price"]) == Decimal(45)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("１２，８００円", "12800", "JPY"),
        ("￥１，２８０", "1280", None),
        ("１２８００円", "12800", "JPY"),
        ("９８０円", "980", "JPY"),
    ],
)
def test_wide_digits_are_digits(text: str, amount: str, currency: str | None) -> None:
    found = read(f'<span class="price">{text}</span>', lang="ja")
    assert money(found["price"]) == Decimal(amount)
    assert currency is None or found["currency"] == currency


@pytest.mark.parametrize("space", ["&thinsp;", "&nbsp;", "&#8239;", " "])
def test_thousands_apart_by_any_space_in_a_box_named_for_the_price(space: str) -> None:
    body = (
        f'<div class="offer-price"><span class="int">2{space}499</span><span class="dec">00</span>'
        '<span class="cur" data-currency="PLN"></span></div>'
        "<p>Transport z wniesieniem 149 zł</p>"
    )
    assert money(read(body, lang="pl")["price"]) == Decimal(2499)


# --- old and new -----------------------------------------------------------------------------

PAIR = '<div class="hl"><div class="{new}">₹54,999</div><div class="{old}">₹64,999</div>{more}</div>'
SHEETS = {
    "a class": ".yR {text-decoration: line-through}",
    "one of many": ".x,.yR,.z{color:red;text-decoration:line-through 1px}",
    "within a box": ".hl .yR{text-decoration-line:line-through}",
    "with its tag": "div.yR{text-decoration:line-through}",
}


@pytest.mark.parametrize("sheet", SHEETS)
def test_the_pages_own_style_sheet_strikes_a_price_through(sheet: str) -> None:
    found = read(
        PAIR.format(new="Nx", old="yR", more=""), head=f"<style>{SHEETS[sheet]}</style>", lang="en-IN"
    )
    assert (money(found["price"]), money(found["original_price"])) == (Decimal(54999), Decimal(64999))


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print{.yR{text-decoration:line-through}}",
        ".other .yR{text-decoration:line-through}",
        ".yR-more{text-decoration:line-through}",
        ".yR{text-decoration:none}",
    ],
)
def test_a_rule_for_something_else_strikes_nothing(sheet: str) -> None:
    found = read(PAIR.format(new="Nx", old="yR", more=""), head=f"<style>{sheet}</style>", lang="en-IN")
    assert found["original_price"] is None


@pytest.mark.parametrize("more", ["<span>15% off</span>", "<b>-15 %</b>", "<i>(15.4%)</i>", "<i>−15%</i>"])
@pytest.mark.parametrize(("new", "old"), [("a1", "b2"), ("b2", "a1")])
def test_the_percentage_tells_old_from_new(more: str, new: str, old: str) -> None:
    found = read(PAIR.format(new=new, old=old, more=more), lang="en-IN")
    assert (money(found["price"]), money(found["original_price"])) == (Decimal(54999), Decimal(64999))


@pytest.mark.parametrize("more", ["<span>30% off for students</span>", "<b>5 %</b>", "<b>115%</b>", ""])
def test_another_percentage_tells_nothing(more: str) -> None:
    assert read(PAIR.format(new="a1", old="b2", more=more), lang="en-IN")["original_price"] is None


FIRST = {
    "the maker's advice below": '<s>179,99 zł</s></p><p class="rrp">Cena sugerowana: 199,00 zł',
    "the maker's advice above": "</p><p>UVP: <s>199,00 zł</s></p><p>Cena regularna <s>179,99 zł</s>",
    "the lowest of thirty days": "<s>179,99 zł</s></p><p>Najniższa cena z 30 dni: <b>134,99 zł</b>",
}


@pytest.mark.parametrize("way", FIRST)
def test_the_shops_own_earlier_price_comes_before_others(way: str) -> None:
    found = read(f'<p class="price"><b>139,99 zł</b> {FIRST[way]}</p>', lang="pl")
    assert (money(found["price"]), money(found["original_price"])) == (Decimal("139.99"), Decimal("179.99"))


def test_the_makers_advice_alone_is_the_list_price() -> None:
    found = read('<p class="price"><b>£139.99</b></p><p>RRP <s>£199.00</s></p>', lang="en-GB")
    assert money(found["original_price"]) == Decimal(199)


def test_rows_of_a_table_of_prices_are_no_choices() -> None:
    body = """<table class="prices"><tr><td>Běžná cena</td><td><span>14 990 Kč</span></td></tr>
      <tr><td>Cena</td><td><span class="price">12 990 Kč</span></td></tr>
      <tr><td>bez DPH</td><td><span>10 736 Kč</span></td></tr></table>"""
    found = read(body, lang="cs")
    assert money(found["price"]) == Decimal(12990)


@pytest.mark.parametrize(("old", "new"), [("prc-org", "prc-dsc"), ("org-price", "price-disc")])
def test_short_names_of_old_and_new(old: str, new: str) -> None:
    both = f'<span class="{old}">1.599,00 TL</span><span class="{new}">1.249,90 TL</span>'
    body = f'<div class="price-box">{both}</div>'
    found = read(body, lang="tr")
    assert (money(found["price"]), money(found["original_price"])) == (Decimal("1249.90"), Decimal(1599))


# --- what is no price ------------------------------------------------------------------------

CHARGES = (
    ("nl", "Gratis verzending vanaf € 50,-. Daaronder € 3,95."),
    ("de", "Versandkostenfrei ab 50 €, sonst 3,95 €."),
    ("en-GB", "Free delivery over €50. Otherwise €3.95."),
    ("fr", "Livraison gratuite dès 50 €, sinon 3,95 €."),
)


@pytest.mark.parametrize(("lang", "text"), CHARGES)
def test_a_charge_beside_its_limit_is_no_price(lang: str, text: str) -> None:
    found = read(f"<p>{text}</p>", lang=lang)
    assert found["price"] is None
    found = read(f'<p class="price">45,00 €</p><p>{text}</p>', lang=lang)
    assert money(found["price"]) == Decimal(45)


CODES = (
    ("pl", "Z kodem LATO taniej o 200 zł", "2499,00 zł", "2499"),
    ("tr", "YAZ100 koduyla 100 TL", "1.249,90 TL", "1249.90"),
    ("de", "Mit dem Code SOMMER 20,00 €", "49,90 €", "49.90"),
    ("es", "Con el código VERANO 20,00 €", "49,90 €", "49.90"),
    ("pl", "Przedłużenie ochrony +3 lata: 379 zł", "2499,00 zł", "2499"),
    ("cs", "Prodloužená záruka: 379 Kč", "2 499 Kč", "2499"),
    ("nl", "Verlenging garantie: € 37,00", "€ 249,00", "249"),
)


@pytest.mark.parametrize(("lang", "text", "shown", "amount"), CODES)
def test_codes_and_longer_warranties_are_no_price(lang: str, text: str, shown: str, amount: str) -> None:
    found = read(f'<div><b class="price">{shown}</b><div class="m">{text}</div></div>', lang=lang)
    assert (money(found["price"]), found["needs_review"]) == (Decimal(amount), False)


@pytest.mark.parametrize("text", ["AeroClub members earn 58 points", "Club-Mitglieder sammeln 58 Punkte"])
def test_what_members_earn_makes_no_members_price(text: str) -> None:
    found = read(f'<div class="prices"><b>€58.90</b><div>{text}</div></div>')
    assert (money(found["price"]), found["member_price"]) == (Decimal("58.90"), None)


def test_a_members_price_before_its_terms() -> None:
    body = """<div class="about"><div class="promo"><span><b>£7.50 Club Price</b></span><span>Offer valid for
      delivery from 18/11/2026 until 08/12/2026 in all shops</span></div>
      <div class="details"><div><p class="price">£9.50</p></div></div></div>"""
    found = read(body, lang="en-GB")
    assert (money(found["price"]), money(found["member_price"])) == (Decimal("9.50"), Decimal("7.50"))


@pytest.mark.parametrize("unit", ["per litre", "/ l", "pro Liter"])
def test_a_litre_and_what_a_litre_costs_in_a_box_of_its_own(unit: str) -> None:
    body = f'<div class="price"><span><b>€58.90</b></span><span class="per">€58.90 {unit}</span></div>'
    assert money(read(body)["price"]) == Decimal("58.90")


ON_TOP = (
    ("en-CA", "Price includes taxes, excludes $0.60 container deposit", "$15.95", "15.95"),
    ("en-US", "plus $1.20", "$15.95", "15.95"),
    ("ja", "長期保証 5年 1,639円(任意)", "32,780円", "32780"),
    ("ja", "3,278ポイント(3,278円相当)", "32,780円", "32780"),
    ("ru", "6 875 ₸ x24 мес", "164 990 ₸", "164990"),
    ("ru", "В рассрочку: 6 875 ₸", "164 990 ₸", "164990"),
    ("th", "ประหยัด ฿400", "฿1,290", "1290"),
    ("id", "Hemat Rp 40.000", "Rp 129.000", "129000"),
    ("vi", "Tiết kiệm 40.000 ₫", "129.000 ₫", "129000"),
)


@pytest.mark.parametrize(("lang", "text", "shown", "amount"), ON_TOP)
def test_charges_savings_and_payments_of_more_languages(
    lang: str, text: str, shown: str, amount: str
) -> None:
    found = read(f'<div><div class="b"><b>{shown}</b></div><div class="m">{text}</div></div>', lang=lang)
    assert (money(found["price"]), found["needs_review"]) == (Decimal(amount), False)


@pytest.mark.parametrize("words", ["Medlemspris", "Members", "Club price"])
def test_words_in_the_box_of_the_next_amount_are_its_own(words: str) -> None:
    body = f"""<div class="prices"><span class="e1">249,00 kr.</span>
      <span class="r2"><i>{words}</i> 199,00 kr.</span></div>"""
    found = read(body, lang="da")
    assert (money(found["price"]), money(found["member_price"])) == (Decimal(249), Decimal(199))


def test_a_share_that_members_save_comes_before_what_they_pay() -> None:
    body = """<div class="prices"><span class="price">CHF 89.90</span>
      <div class="voya-club-price"><span>Club members save 10%</span>
      <span class="price">CHF 80.90</span></div></div>"""
    found = read(body, lang="de-CH")
    assert (money(found["price"]), money(found["member_price"])) == (Decimal("89.90"), Decimal("80.90"))


def test_a_percentage_for_members_makes_the_other_no_earlier_price() -> None:
    body = """<div class="pr"><span class="now">RM 39.90</span>
      <span class="mem">Senja Member <b>RM 35.91</b> (10% off)</span></div>"""
    found = read(body, lang="en-MY")
    assert (money(found["price"]), found["original_price"]) == (Decimal("39.90"), None)
    assert money(found["member_price"]) == Decimal("35.91")


@pytest.mark.parametrize("rate", ["10%", "(10%還元)"])
def test_tax_is_no_reduction(rate: str) -> None:
    body = f"""<table class="priceTbl"><tr><th>税抜価格</th><td>29,800円</td></tr><tr><th>販売価格</th>
      <td><span>32,780円</span>(税込)</td></tr><tr><th>ポイント</th><td>3,278ポイント{rate}</td></tr></table>"""
    assert money(read(body, lang="ja")["price"]) == Decimal(32780)


@pytest.mark.parametrize("name", ["product-price__unit-price", "unit-price", "price-unit"])
def test_what_only_a_name_calls_a_unit_price_may_be_that_of_a_piece(name: str) -> None:
    body = f"""<div class="product-format"><span>Garrafa</span> <span>5 L</span> <span>4,550 €/L</span></div>
      <div class="product-price"><p class="{name}">22,75 €</p><p class="extra">/ud.</p></div>"""
    assert money(read(body, lang="es")["price"]) == Decimal("22.75")
    beside = f'<p class="price">22,75 €</p><p class="{name}">4,55 €</p>'
    assert money(read(beside, lang="es")["price"]) == Decimal("22.75")


@pytest.mark.parametrize(
    ("lang", "old", "new"), [("he", "329.00 ₪", "249.90 ₪"), ("th", "1,690 ฿", "1,290 ฿")]
)
@pytest.mark.parametrize("mark", ["", "&rlm;", "&lrm;"])
def test_a_sign_in_the_text_of_its_number_leads_no_other(lang: str, old: str, new: str, mark: str) -> None:
    body = f"<div><span><s>{mark}{old}</s></span> <span>{mark}{new}</span></div>"
    found = read(body, lang=lang)
    before, now = (Decimal(text.split()[0].replace(",", "")) for text in (old, new))
    assert (money(found["price"]), money(found["original_price"])) == (now, before)


def test_an_earlier_price_beside_another_offer_is_not_this_ones() -> None:
    body = """<div class="box"><div class="line"><span class="price">79€<sup>99</sup></span>
      <span><del>99€99</del></span></div></div>
      <div class="pack"><h3>Le pack</h3><p>Avec housse : <b>89€99</b> <del>94€89</del></p></div>"""
    found = read(body, lang="fr")
    assert (money(found["price"]), money(found["original_price"])) == (Decimal("79.99"), Decimal("99.99"))


@pytest.mark.parametrize("name", ["goods-tile", "product-tile", "tile"])
def test_a_price_in_a_tile_is_another_products_whatever_its_part_is_called(name: str) -> None:
    tiles = "".join(
        f'<div class="{name}"><span class="{name}__title">Box {n}</span>'
        f'<span class="{name}__price-value">{n} 899₴</span></div>'
        for n in (1, 4)
    )
    body = f'<section><p class="product-price__big">4 299₴</p></section><section>{tiles}</section>'
    found = read(body, lang="uk")
    assert (money(found["price"]), found["needs_review"]) == (Decimal(4299), False)


def test_a_size_that_is_sold_out_says_nothing_of_the_others() -> None:
    sizes = "".join(
        f'<li><label><input type="radio" name="s">{size}</label><span>{text}</span></li>'
        for size, text in (("S", ""), ("M", ""), ("L", "Udsolgt"))
    )
    found = read(f'<p class="price">249,00 kr.</p><ul class="sizes">{sizes}</ul>', lang="da")
    assert (money(found["price"]), found["availability"]) == (Decimal(249), "in_stock")


@pytest.mark.parametrize("text", ["立即預購", "立即预订", "預購"])
def test_buttons_that_order_ahead(text: str) -> None:
    body = f'<p class="price">NT$1,590</p><button>{text}</button>'
    assert answered(product(body, lang="zh-TW"))["availability"] == "pre_order"


def test_a_states_one_currency_is_that_of_its_prices() -> None:
    state = """dataLayer=[{"event":"view_item","ecommerce":{"currency":"SAR","value":345,
      "items":[{"item_name":"Thing","item_id":"7","price":345}]}}]"""
    found = answered(product(f"<script>{state}</script><p>In stock</p>{BUY}"))
    assert (money(found["price"]), found["currency"]) == (Decimal(345), "SAR")
    two = state.replace('"item_id":"7"', '"item_id":"7","list":{"currency":"USD"}')
    assert answered(product(f"<script>{two}</script><p>In stock</p>{BUY}"))["currency"] is None


# --- where the product is --------------------------------------------------------------------

TILE = (
    '<div class="tile"><a href="/p/{n}"><img src="/{n}.webp"><p class="t">Other kettle number {n}</p>'
    "<p>£{n}9.00</p></a></div>"
)


@pytest.mark.parametrize("name", ["sku-name", "productTitle", "product_name", "item-title", "pdp-heading"])
def test_without_a_heading_the_element_named_for_the_name(name: str) -> None:
    tiles = "".join(TILE.format(n=n) for n in range(2, 8))
    body = f"""<html lang="en-GB"><head><title>[K15] Zhu kettle 1.5 l steel, prices - Yunfan</title></head>
      <body><div class="w"><div class="intro">
      <div class="{name}">Zhu kettle 1.5 l steel, switches itself off</div>
      <div class="sum"><span class="p-price"><i>£</i><b>129.00</b></span></div>{BUY}</div>
      <div class="more"><h3>Have a look</h3><div>{tiles}</div></div></div></body></html>"""
    found = answered(body)
    assert (money(found["price"]), found["currency"]) == (Decimal(129), "GBP")


def test_a_button_says_the_rest_to_those_who_listen() -> None:
    body = '<p class="price">7,95 €</p><button aria-label="Lisää ostoskoriin">Lisää</button>'
    assert answered(product(body, lang="fi"))["availability"] == "in_stock"


@pytest.mark.parametrize("suffix", [" - The Tea Attic", " | TeaAttic", " – tea attic"])
def test_the_shops_name_is_no_part_of_the_products(suffix: str) -> None:
    head = (
        f'<meta property="og:title" content="High Oolong{suffix}"><meta property="og:type" content="product">'
    )
    body = f'<h1>High Oolong</h1><p class="price">$39.00</p>{BUY}'
    found = answered(html(body, head=head, lang="en-CA"), url="https://teaattic.example/product/oolong")
    assert found["name"] == "High Oolong"


def test_what_else_stands_behind_the_heading_is_part_of_the_name() -> None:
    head = (
        '<meta property="og:title" content="High Oolong - 250 g"><meta property="og:type" content="product">'
    )
    body = f'<h1>High Oolong</h1><p class="price">$39.00</p>{BUY}'
    found = answered(html(body, head=head, lang="en-CA"), url="https://teaattic.example/product/oolong")
    assert found["name"] == "High Oolong - 250 g"


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("Seite nicht gefunden | Lena", "Hoppla! Diese Seite gibt es nicht (mehr)."),
        ("Page not found – Lena", "404: page not found"),
        ("Página no encontrada", "La página no existe"),
    ],
)
def test_a_page_that_says_twice_that_it_is_none_is_gone_whatever_it_offers(title: str, heading: str) -> None:
    tiles = "".join(TILE.format(n=n) for n in range(2, 6))
    body = f"<html><head><title>{title}</title></head><body><h1>{heading}</h1>{tiles}{BUY}</body></html>"
    assert answered(body)["page"] == "gone"


# --- what platforms print beside a price -----------------------------------------------------


def test_a_price_for_a_transfer_and_one_without_taxes_beside_everybodys() -> None:
    body = """<div class="price-container"><span><div class="price-compare">$54.300,00</div></span>
      <span><div class="price-display h4">$48.900,00</div></span><span class="offer">10% OFF</span>
      <div><span>$44.010,00</span> con Transferencia o depósito</div>
      <div class="font-smallest">Precio sin impuestos <span>$40.413,22</span></div></div>"""
    found = read(body, lang="es-AR")
    assert (money(found["price"]), money(found["original_price"])) == (Decimal(48900), Decimal(54300))


WITHOUT_TAX = (
    ("ro", "Fără TVA: 1.032,23 lei", "1.249,00 lei"),
    ("da", "1.032,23 kr. uden moms", "1.249,00 kr."),
    ("hu", "1 032 Ft ÁFA nélkül", "1 249 Ft"),
    ("fi", "Ilman ALV: 1 032,23 €", "1 249,00 €"),
)


@pytest.mark.parametrize(("lang", "net", "gross"), WITHOUT_TAX)
def test_a_price_without_tax_is_not_what_people_pay(lang: str, net: str, gross: str) -> None:
    body = f"<ul><li><h2>{gross}</h2></li><li>{net}</li></ul>"
    found = read(body, lang=lang)
    assert money(found["price"]) == Decimal(1249)


@pytest.mark.parametrize(("one", "more", "most"), [("Bis", "Bis", "Ab"), ("Up to", "Up to", "From")])
def test_quantities_of_a_table_are_no_choices(one: str, more: str, most: str) -> None:
    rows = "".join(
        f'<tr class="row"><th>{word} <span class="quantity">{count}</span></th><td>CHF {amount}*</td></tr>'
        for word, count, amount in ((one, 2, "389.00"), (more, 5, "375.00"), (most, 6, "359.00"))
    )
    head = "<thead><tr><th>Anzahl</th><th>Stückpreis</th></tr></thead>"
    found = read(f"<table>{head}<tbody>{rows}</tbody></table>", lang="de-CH")
    assert money(found["price"]) == Decimal(389)


def test_an_aside_with_the_button_is_where_the_product_is_bought() -> None:
    own = f'<aside class="box"><div>219 990 ₸</div><div>189 990 ₸</div><div>-14%</div>{BUY}</aside>'
    found = answered(product(own, lang="kk-KZ"))
    assert (money(found["price"]), money(found["original_price"])) == (Decimal(189990), Decimal(219990))
    other = (
        f'<p class="price">189 990 ₸</p>{BUY}<aside><a href="/x">Cable</a> 990 ₸ <button>Add</button></aside>'
    )
    assert money(answered(product(other, lang="kk-KZ"))["price"]) == Decimal(189990)


def test_a_card_that_holds_the_heading_may_be_the_products_own() -> None:
    body = '<div class="product-card__price-box"><div class="price__item--new">4 299 грн</div></div>'
    assert money(read(body, lang="uk")["price"]) == Decimal(4299)


GONE = (
    "Produkt již není v nabídce",
    "Der Artikel ist nicht mehr verfügbar",
    "Ce produit n'est plus disponible",
    "Este producto ya no está disponible",
    "Il prodotto non è più disponibile",
    "Dit artikel is niet meer leverbaar",
    "Produkt nie jest już dostępny",
)


@pytest.mark.parametrize("text", GONE)
def test_a_page_of_nothing_else_that_says_it_is_no_longer_sold_is_gone(text: str) -> None:
    page = f"<html><head><title>{text} - Shop</title></head><body><h1>{text}</h1><p>Search</p></body></html>"
    assert answered(page)["page"] == "gone"


@pytest.mark.parametrize("text", GONE)
def test_a_product_that_says_so_is_a_product(text: str) -> None:
    found = answered(product(f'<p class="price">€12.00</p><p>{text}</p>{BUY}'))
    assert found["page"] == "product"
