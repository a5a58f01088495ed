"""How shops write one amount: cut into parts, beside other numbers, with signs that are words elsewhere."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.extraction.pages import answered, html, ld, product

BUY = "<button>Add to cart</button>"


def said(body: str, lang: str = "en") -> tuple[Decimal | None, str | None]:
    found = answered(product(f"{body}{BUY}", lang=lang))
    return (None if found["price"] is None else Decimal(found["price"]), found["currency"])


SPLIT = {
    "cents raised, no sign": "58<sup>99</sup>",
    "cents small, no sign": '58<span class="fraction">99</span>',
    "mark in the whole": '58,<span class="cents">99</span>',
    "sign raised with the cents": "58<sup>€99</sup>",
    "sign small with the cents": "58<small>€99</small>",
    "comments between": "58<!-- -->,<!-- -->99<!-- --> <!-- -->€",
}


@pytest.mark.parametrize("tag", ["span", "div", "b", "p"])
@pytest.mark.parametrize("way", SPLIT)
def test_an_amount_cut_into_parts_is_one_amount(way: str, tag: str) -> None:
    currency = "EUR" if "€" in SPLIT[way] else None
    assert said(f'<{tag} class="price">{SPLIT[way]}</{tag}>', "nl-NL") == (Decimal("58.99"), currency)


@pytest.mark.parametrize("other", ["12", "2026"])
@pytest.mark.parametrize("line", ["<br>", "<hr>", "<br/>\n", "</b><br><b>"])
def test_a_number_on_the_line_above_is_not_the_amount(line: str, other: str) -> None:
    assert said(f"<div><b>Nr. {other}{line}€ 49,90</b></div>", "de") == (Decimal("49.90"), "EUR")


CODES = ("AED", "BHD", "CHF", "DKK", "EUR", "GBP", "KWD", "NOK", "OMR", "QAR", "SAR", "SEK", "SGD", "USD")


@pytest.mark.parametrize("number", ["7781220", "12345", "48", "4006381333931"])
@pytest.mark.parametrize("code", CODES)
def test_an_article_number_before_a_code_is_no_amount(code: str, number: str) -> None:
    body = f"<div><span>Item {number}</span><div>{code} 129.00</div></div>"
    assert said(body) == (Decimal("129.00"), code)


@pytest.mark.parametrize("code", CODES)
def test_a_code_that_leads_the_next_amount_is_that_ones(code: str) -> None:
    body = f'<div class="price"><b>{code} 4,299.00</b> <s>{code} 5,499.00</s></div>'
    assert said(body) == (Decimal(4299), code)
    found = answered(product(f"{body}{BUY}"))
    assert Decimal(found["original_price"]) == Decimal(5499)


DOUBTFUL = {
    "KD 36.500": ("36.5", "KWD"),
    "JD 12.500": ("12.5", "JOD"),
    "QR 129": ("129", "QAR"),
    "R 1,499": ("1499", "ZAR"),
}


@pytest.mark.parametrize(
    "box",
    [
        '<div class="price">{}</div>',
        '<div class="product-price"><b>{}</b></div>',
        '<span id="our-price">{}</span>',
    ],
)
@pytest.mark.parametrize("text", DOUBTFUL)
def test_a_sign_that_is_also_a_word_counts_in_a_box_named_for_the_price(text: str, box: str) -> None:
    amount, currency = DOUBTFUL[text]
    lang = "en-ZA" if currency == "ZAR" else "en"
    found, code = said(f"{box.format(text)}<p>approx. US$118.60</p>", lang)
    assert found == Decimal(amount)
    assert code == currency


@pytest.mark.parametrize("text", ["Level R 12", "Mode QR 8", "Type KD 40", "Model SR 129"])
def test_such_a_word_outside_of_prices_is_none(text: str) -> None:
    assert said(f'<p>{text}</p><div class="price">US$49.00</div>') == (Decimal(49), "USD")


@pytest.mark.parametrize("lang", ["en-ZA", "af-ZA"])
@pytest.mark.parametrize("text", ["R1,299.00", "R 1,299", "R 1 299,00", "R1 299", "R1299.00"])
def test_rand_are_read_with_either_marks(text: str, lang: str) -> None:
    assert said(f'<div class="price">{text}</div>', lang) == (Decimal(1299), "ZAR")


@pytest.mark.parametrize("dash", [":-", ",-", ".-", ",–", ":—"])
@pytest.mark.parametrize(("lang", "code"), [("sv-SE", "SEK"), ("nb-NO", "NOK"), ("da-DK", "DKK")])
def test_a_dash_for_the_cents_marks_a_price(dash: str, lang: str, code: str) -> None:
    old = f"<s>2 799{dash}</s>"
    assert said(f'<div class="price"><b>2 399{dash}</b> {old}</div>', lang) == (Decimal(2399), code)


@pytest.mark.parametrize("mark", ["approx. ", "≈ ", "circa ", "ca. ", "equivalent to ", "environ "])
@pytest.mark.parametrize(("own", "other"), [("AED 92.00", "USD 25.05"), ("DKK 149.95", "EUR 20.10")])
def test_an_amount_that_is_only_converted_asks_nobody(own: str, other: str, mark: str) -> None:
    found = answered(product(f'<div class="price">{own} <span>{mark}{other}</span></div>{BUY}'))
    assert f"{found['currency']} {found['price']}" == own
    assert not found["needs_review"], found["trace"]


WORDS = ["Special", "Final", "Total", "Asking", "Item", "Selling", "Original"]


@pytest.mark.parametrize("word", WORDS)
def test_a_label_that_ends_like_a_unit_is_no_unit(word: str) -> None:
    assert said(f"<div>{word}: $12.60</div>", "en-US") == (Decimal("12.60"), "USD")


@pytest.mark.parametrize("label", ["Duty free price", "Tax free price", "Caffeine-free", "VAT-free price"])
def test_free_of_something_is_no_limit_for_free_shipping(label: str) -> None:
    body = f"<div><span>{label}</span> <span>£38.99</span></div>"
    assert said(body, "en-GB") == (Decimal("38.99"), "GBP")


@pytest.mark.parametrize("label", ["Free delivery over", "Free gift when you spend", "Free returns above"])
def test_free_shipping_stays_a_limit(label: str) -> None:
    assert said(f'<div class="price">{label} £38.99</div>', "en-GB") == (None, None)


@pytest.mark.parametrize("lead", ["to", "bis", "à", "–", "-", "—"])
@pytest.mark.parametrize("inside", [True, False], ids=["in the old price", "between both"])
def test_a_word_between_old_and_new_makes_no_range(lead: str, inside: bool) -> None:
    hint = f' <span class="sr-only">{lead}</span>'
    old = f"<del>€159.00{hint}</del>" if inside else f"<del>€159.00</del>{hint}"
    found = answered(product(f'<div class="price">{old} <span>€111.30</span></div>{BUY}'))
    assert (found["price"], found["original_price"]) == ("111.30", "159.00")
    assert not found["needs_review"], found["trace"]


def test_two_plain_amounts_with_a_dash_stay_a_range() -> None:
    found = answered(product(f'<div class="price"><b>€111.30</b> – <b>€159.00</b></div>{BUY}'))
    assert (found["price"], found["original_price"], found["needs_review"]) == ("111.30", None, True)


MENU = {
    "select": '<select name="currency"><option value="EUR">€</option>{}</select>',
    "buttons": '<ul class="currency-menu"><li><button name="EUR">€ Euro</button></li>{}</ul>',
    "links": '<ul><li><a href="/?currency=EUR">Euro</a></li>{}</ul>',
}
ENTRY = {
    "select": '<option value="{}" selected>{}</option>',
    "buttons": '<li><button name="{}">{}</button></li>',
    "links": '<li><a href="/?currency={}">{}</a></li>',
}


@pytest.mark.parametrize("menu", MENU)
@pytest.mark.parametrize(
    ("code", "sign"),
    [("USD", "$"), ("CAD", "$"), ("AUD", "$"), ("NZD", "$"), ("NOK", "kr "), ("DKK", "kr "), ("JPY", "¥")],
)
def test_the_shops_own_list_tells_what_a_shared_sign_means(menu: str, code: str, sign: str) -> None:
    listed = MENU[menu].format(ENTRY[menu].format(code, code))
    main = f'<main><h1>Thing</h1><div class="price">{sign}98.00</div>{BUY}</main>'
    found = answered(html(f"<header>{listed}</header>{main}", head="<title>Thing</title>"))
    assert (found["price"], found["currency"]) == ("98.00", code)


def test_a_list_with_two_such_currencies_tells_nothing() -> None:
    entries = "".join(ENTRY["links"].format(code, code) for code in ("USD", "CAD"))
    main = f'<main><h1>Thing</h1><div class="price">$98.00</div>{BUY}</main>'
    found = answered(html(f"{MENU['links'].format(entries)}{main}", head="<title>Thing</title>"))
    assert (found["price"], found["currency"]) == ("98.00", None)


@pytest.mark.parametrize(("shown", "code"), [("£84.00", "GBP"), ("PLN 84.00", "PLN"), ("84,00 Kč", "CZK")])
@pytest.mark.parametrize("stated", ["EUR", "USD"])
def test_the_currency_of_the_tag_comes_before_that_of_the_markup(shown: str, code: str, stated: str) -> None:
    data = {"price": "95.00", "priceCurrency": stated}
    head = ld(f'{{"@type": "Product", "name": "Thing", "offers": {data}}}'.replace("'", '"'))
    found = answered(product(f'<div class="price">{shown}</div>{BUY}', head=head))
    assert (found["price"], found["currency"], found["needs_review"]) == ("84.00", code, True)


@pytest.mark.parametrize("tag", ["h2", "h3", "b", "strong", "font", "td", "div", "span"])
@pytest.mark.parametrize("title", ["{}", "{} | Kitchen", "Kitchen – {}"])
def test_without_an_h1_the_title_names_the_heading(tag: str, title: str) -> None:
    name = "Walnut spoon rest"
    card = '<div><a href="/p/7"><img src="/7.jpg"></a><a href="/p/7">Oak board</a> €12.00</div>'
    cell = f"<td>{name}</td>" if tag == "td" else f"<td><{tag}>{name}</{tag}></td>"
    own = f"<table><tr>{cell}</tr><tr><td>€42.00</td></tr><tr><td>{BUY}</td></tr></table>"
    found = answered(html(card + own, head=f"<title>{title.format(name)}</title>"))
    assert (found["price"], found["currency"]) == ("42.00", "EUR")
