from __future__ import annotations

from decimal import Decimal

import pytest

from pricecrawl.domain.promotion import PromotionKind as K
from pricecrawl.domain.promotion import read_promotion, unconditional_amount


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", K.NONE),
        ("Bestseller", K.NONE),
        ("Was £20, now £15", K.NONE),
        ("Save 20%", K.NONE),
        ("-20 %", K.NONE),
        ("Sie sparen 5,00 €", K.NONE),
        ("Soldes -30%", K.NONE),
        ("Free delivery", K.NONE),
        ("Free UK delivery over £50", K.NONE),
        ("Versandkostenfrei ab 29 €", K.NONE),
        ("£2 off at checkout", K.UNCONDITIONAL),
        ("Extra 10% off in basket", K.UNCONDITIONAL),
        ("20 % Rabatt im Warenkorb", K.UNCONDITIONAL),
        ("£2 or £5 off at checkout", K.AMBIGUOUS),
        ("Extra savings at checkout", K.AMBIGUOUS),
        ("Amazing offer ¥¥", K.AMBIGUOUS),
        ("2 for £5", K.CONDITIONAL),
        ("3 for 2", K.CONDITIONAL),
        ("3 für 2", K.CONDITIONAL),
        ("3x2", K.CONDITIONAL),
        ("Buy 2 save 10%", K.CONDITIONAL),
        ("2nd item half price", K.CONDITIONAL),
        ("Spend £50 save £10", K.CONDITIONAL),
        ("10% off 2 or more", K.CONDITIONAL),
        ("ab 2 Stück nur 4,99 €", K.CONDITIONAL),
        ("ab 6 Flaschen", K.CONDITIONAL),
        ("2+1 gratis", K.CONDITIONAL),
        ("Clubcard price £3.50", K.MEMBER),
        ("Members: 3 for 2", K.MEMBER),
        ("Payback Preis", K.MEMBER),
        ("10 % off with code SPRING10", K.CODE),
        ("Gutschein: 5 € Rabatt", K.CODE),
        ("Subscribe & Save 5%", K.SUBSCRIPTION),
        ("5% off your first order", K.PERSONALIZED),
        ("Students get 10% off", K.PERSONALIZED),
        ("2 % Skonto bei Zahlung per Lastschrift", K.PAYMENT_METHOD),
        ("Save 5% when you pay with PayPal", K.PAYMENT_METHOD),
        ("Free gift worth £10", K.BUNDLE),
        ("Buy one get one free", K.BUNDLE),
        ("Bundle & save", K.BUNDLE),
    ],
)
def test_what_a_line_asks_for(text: str, kind: K) -> None:
    assert read_promotion(text).kind is kind


@pytest.mark.parametrize(
    ("text", "price", "off"),
    [
        ("£2 off at checkout", "20", "2"),
        ("2,50 € Rabatt an der Kasse", "20", "2.50"),
        ("Extra 10% off in basket", "20", "2"),
        ("Was £25, now £20", "20", "0"),
        ("3 for 2", "20", "0"),
    ],
)
def test_only_an_unconditional_promotion_takes_something_off(text: str, price: str, off: str) -> None:
    assert unconditional_amount(read_promotion(text), Decimal(price)) == Decimal(off)


def test_the_stated_share_is_kept_for_every_kind() -> None:
    assert read_promotion("15 % off with code ABC").share == Decimal("0.15")
    assert read_promotion("10% or 20% with code ABC").share is None
    assert read_promotion("100% cotton").share is None


CERTAIN = [
    "{} off at checkout",
    "Extra {} off in the basket",
    "Save an additional {} in your cart",
    "{} discount applied automatically",
    "{} Rabatt an der Kasse",
    "Sie sparen {} im Warenkorb",
    "{} de remise immédiate en caisse",
    "{} de descuento en el carrito",
    "{} di sconto alla cassa",
    "{} korting in winkelmand",
    "-{} at checkout, today only",
]


@pytest.mark.parametrize("line", CERTAIN)
@pytest.mark.parametrize(
    ("figure", "currency", "off"),
    [
        ("10%", "EUR", "200"),
        ("7,5 %", "EUR", "150"),
        ("€5", "EUR", "5"),
        ("4,50 €", "EUR", "4.50"),
        ("$1,234.50", "USD", "1234.50"),
        ("1.000 €", "EUR", "1000"),
        ("₩1,500", "KRW", "1500"),
        ("1.250 KWD", "KWD", "1.250"),
        ("$5", "CAD", "5"),
    ],
)
def test_a_line_of_which_every_word_is_known_takes_its_figure_off(
    line: str, figure: str, currency: str, off: str
) -> None:
    read = read_promotion(line.format(figure), currency)
    assert read.kind is K.UNCONDITIONAL
    assert unconditional_amount(read, Decimal(2000)) == Decimal(off)


@pytest.mark.parametrize("figure", ["10%", "£5"])
@pytest.mark.parametrize(
    "line",
    [
        "{} shipping calculated at checkout",
        "{} deposit added at checkout",
        "plus {} Pfand an der Kasse",
        "{} surcharge at checkout",
        "{} tip automatically added",
        "only {} at checkout",
        "{} at checkout",
        "now {} in the basket",
        "final price {} in the cart",
        "{} discounted at checkout",
        "earn {} credit at checkout",
        "up to {} off at checkout",
        "bis zu {} Rabatt im Warenkorb",
        "jusqu'à {} de remise en caisse",
        "hasta {} de descuento en la cesta",
        "fino a {} di sconto nel carrello",
        "selected colours {} off at checkout",
        "{} off at checkout in the app",
        "sign in: {} off at checkout",
        "{} off your next visit at checkout",
        "{} off at checkout, excludes sale items",
        "{} off at checkout for collection",
        "{} off and £3 off at checkout",
    ],
)
def test_a_word_that_is_not_known_leaves_the_reduction_in_doubt(line: str, figure: str) -> None:
    read = read_promotion(line.format(figure), "GBP")
    assert read.kind is K.AMBIGUOUS
    assert unconditional_amount(read, Decimal(20)) == 0


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("₩5,000 off at checkout", "USD"),
        ("$5 off at checkout", "GBP"),
        ("5 EUR off at checkout", "CHF"),
        ("GET 5 OFF AT CHECKOUT", "EUR"),
    ],
)
def test_an_amount_in_another_money_than_the_price_takes_nothing_off(text: str, currency: str) -> None:
    assert read_promotion(text, currency).kind is K.AMBIGUOUS


@pytest.mark.parametrize("how_many", ["2", "two", "any 3", "zwei", "deux"])
@pytest.mark.parametrize("verb", ["buy", "add", "choose"])
def test_how_many_may_be_a_word(verb: str, how_many: str) -> None:
    assert read_promotion(f"10% off at checkout when you {verb} {how_many}").kind is K.CONDITIONAL
