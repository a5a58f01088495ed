from __future__ import annotations

from decimal import Decimal

import pytest

from pricecrawl.domain.delivery import Charge, read_charge
from pricecrawl.domain.market import Market

DE = Market("DE", "EUR", "de_DE")
GB = Market("GB", "GBP", "en_GB")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("4,95 €", "4.95"),
        ("zzgl. 4,95 € Versand", "4.95"),
        ("plus 4,95 € Versand mit DHL", "4.95"),
        ("ab 4,95 €", "4.95"),
        ("3,90 € - 6,90 €", "3.90"),
        ("0,00 €", "0"),
        ("Versandkostenfrei", "0"),
        ("Kostenlose Lieferung", "0"),
        ("Abholung kostenlos, Versand 4,95 €", "4.95"),
        ("Kostenloser Versand mit Prime", None),
        ("Kostenlose Abholung", None),
        ("Kostenlose Rückgabe", None),
        ("Noch 12,50 € bis zum kostenlosen Versand", None),
        ("wird später berechnet", None),
        ("", None),
    ],
)
def test_a_charge_is_one_that_everybody_pays(text: str, amount: str | None) -> None:
    read = read_charge(text, DE)
    assert read.of(Decimal(1000), "EUR") == (None if amount is None else Decimal(amount))


@pytest.mark.parametrize(
    ("text", "limit", "below", "at"),
    [
        ("Versandkostenfrei ab 50 €", "50", None, "0"),
        ("Kostenloser Versand ab einem Bestellwert von 1.000 €", "1000", None, "0"),
        ("4,95 € (ab 50 € frei)", "50", "4.95", "0"),
        ("Lieferung ab 4,95 €, ab 50 € kostenlos", "50", "4.95", "0"),
        ("Livraison gratuite dès 35 €", "35", None, "0"),
        ("Verzending 3,95 €; gratis vanaf 20 €", "20", "3.95", "0"),
        ("4,95 €, kostenlos über 50 €", "50", "4.95", "4.95"),
        ("3,99 € free over 50 €", "50", "3.99", "3.99"),
        ("Free delivery, orders over 50 €", "50", None, None),
        ("Free over 50 €, delivery from 3,99 €", "50", "3.99", "3.99"),
        ("Free delivery on orders of 30 € or more", "30", None, "0"),
    ],
)
def test_from_a_sum_on_nothing_is_charged(text: str, limit: str, below: str | None, at: str | None) -> None:
    read, bound = read_charge(text, DE), Decimal(limit)
    cent = Decimal("0.01")
    found = [read.of(price, "EUR") for price in (bound - cent, bound, bound + cent)]
    assert found == [None if a is None else Decimal(a) for a in (below, at, "0")]
    assert read.of(None, "EUR") == (None if below is None else Decimal(below))


@pytest.mark.parametrize(
    "text",
    [
        "Spend £20 more for free delivery",
        "You are £12 away from free delivery",
        "Free delivery from £25 with code SHIP",
        "Free delivery over £25 for members",
        "Free delivery over $25",
        "Free collection over £25",
    ],
)
def test_what_only_some_get_is_no_free_delivery(text: str) -> None:
    assert read_charge(text, GB).of(Decimal(1000), "GBP") is None


def test_a_charge_in_another_currency_than_the_price_is_not_known() -> None:
    assert read_charge("4.95 USD", DE).of(Decimal(20), "EUR") is None
    assert read_charge("4.95 USD", DE).of(Decimal(20), "USD") == Decimal("4.95")
    assert read_charge("$5", GB) == Charge()
    assert read_charge("4,95 €, free over £50", DE).of(Decimal(60), "EUR") == Decimal("4.95")
