"""Layouts that shop software puts a price into, invented in its manner: what a shopper pays there."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.cli.batch import BatchInput
from pricecrawl.cli.extract import answer

LAYOUTS = json.loads((Path(__file__).parent / "layouts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout["name"] for layout in LAYOUTS])
def test_the_price_that_a_shopper_pays(layout: dict[str, Any]) -> None:
    given = BatchInput(
        kind="product_html", body=layout["html"].encode(), url="https://shop.example/p/1", status=200
    )
    said = answer(given)
    price = said["price"]
    assert (None if price is None else Decimal(price)) == (layout["price"] and Decimal(layout["price"]))
    assert said["currency"] == layout["currency"]
    if layout["availability"] is not None:
        assert said["availability"] == layout["availability"]
