"""Amounts in markup that something cut or glued: never multiplied by what is left of an exponent."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pricecrawl.cli.batch import BatchInput
from pricecrawl.cli.extract import answer


def price_of(written: str) -> Decimal | None:
    offer = {"@type": "Offer", "price": written, "priceCurrency": "EUR"}
    body = json.dumps({"@type": "Product", "name": "Lamp", "offers": offer})
    said = answer(BatchInput(kind="json_ld", body=body.encode(), url="https://shop.example/p/1", status=200))
    price = said["price"]
    return None if price is None else Decimal(price)


@pytest.mark.parametrize("whole", ["7", "84", "129"])
@pytest.mark.parametrize("mark", ["e", "E"])
@pytest.mark.parametrize("power", ["1", "3", "+2"])
def test_an_exponent_behind_a_bare_dot_is_damage(whole: str, mark: str, power: str) -> None:
    assert price_of(f"{whole}.{mark}{power}") in (None, Decimal(whole))


@pytest.mark.parametrize(
    ("written", "amount"), [("1.299e3", "1299"), ("8E1", "80"), ("84.", "84"), (".5", "0.5")]
)
def test_what_programs_do_write_is_read(written: str, amount: str) -> None:
    assert price_of(written) == Decimal(amount)
