"""The row type: what it accepts, what it refuses, and what it can never say."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.sources.model import Row, Source
from pricecrawl.spiders.loader import row_models

ROW: dict[str, Any] = {
    "slug": "tern",
    "retailer": "Tern",
    "base_url": "https://tern.example/ie",
    "country": "IE",
}


def source(**more: Any) -> Source:
    return Source.model_validate({**ROW, **more})


def test_a_row_in_full() -> None:
    row = source(
        location="DUB", currency="EUR", locale="en-IE", tax_basis="duty_free", delay_seconds=5, tier="C",
        cadence="4h", expect={"min_listings": 3}, rules={"price": ".price", "stock": [".a", ".b"]},
    )  # fmt: skip
    assert row.market == Market("IE", "EUR", "en_IE", TaxBasis.DUTY_FREE)
    assert row.base_url == "https://tern.example/ie/"
    assert row.host == "tern.example"
    assert (row.every, row.freshness) == (timedelta(hours=4), timedelta(minutes=120))
    assert row.rules.price == (".price",)
    assert row.rules.stock == (".a", ".b")
    assert row.url("products.json") == row.url("/products.json") == "https://tern.example/ie/products.json"
    assert row.url("https://cdn.tern.example/x") == "https://cdn.tern.example/x"


@pytest.mark.parametrize(("tier", "minutes", "fresh"), [("A", 15, 30), ("B", 60, 120)])
def test_tiers_have_their_pace(tier: str, minutes: int, fresh: int) -> None:
    row = source(tier=tier)
    assert (row.every, row.freshness) == (timedelta(minutes=minutes), timedelta(minutes=fresh))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slug", "Tern"), ("slug", "a--b"), ("slug", "a_b"), ("slug", "x" * 101), ("slug", ""), ("slug", 7),
        ("base_url", "ftp://x/"), ("base_url", "https://user:pw@x/"), ("base_url", "https://x/?token=1"),
        ("base_url", "https://x/#a"), ("base_url", "/only/a/path"), ("country", "UK"), ("country", "ZZ"),
        ("country", "Ireland"), ("currency", "eur"), ("currency", "DEM"), ("currency", "XXX"),
        ("currency", ""),
        ("locale", "english"), ("locale", ""), ("delay_seconds", -1), ("delay_seconds", True),
        ("delay_seconds", 1e9), ("delay_seconds", float("nan")), ("tier", "a"), ("tier", "C"),
        ("cadence", "4h"),
        ("expect", {"min_listings": 0}), ("expect", {"min_listings": 1.5}), ("tax_basis", "net"),
        ("rules", {"price": [""]}), ("rules", {"price": ["a\nb"]}), ("rules", {"script": ["x"]}),
        ("retailer", "two\nlines"),
    ],
)  # fmt: skip
def test_what_a_row_refuses(key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        source(**{key: value})


@pytest.mark.parametrize("cadence", ["", "4", "h", "0h", "4 weeks", "-4h", 4])
def test_cadences_that_are_none(cadence: object) -> None:
    with pytest.raises(ValidationError):
        source(tier="C", cadence=cadence)


def test_rows_are_frozen() -> None:
    row = source()
    with pytest.raises(ValidationError):
        row.delay_seconds = 0  # type: ignore[misc]  # the point of the test


POLITENESS = """
robot agent identity header cookie proxy token key secret password enabled ignore obey concurrency concurrent
retry captcha login script code user session
"""


def _keys(model: type[Row]) -> set[str]:
    keys = set()
    for name, info in model.model_fields.items():
        keys.add(name)
        if isinstance(info.annotation, type) and issubclass(info.annotation, Row):
            keys |= _keys(info.annotation)
    return keys


@pytest.mark.parametrize("platform", sorted(row_models()))
def test_no_key_can_switch_politeness_off(platform: str) -> None:
    model = row_models()[platform]
    assert model.model_config["extra"] == "forbid"
    assert model.model_config["frozen"] is True
    words = re.findall(r"\w+", POLITENESS)
    parts = {key: {part.removesuffix("s") for part in key.split("_")} for key in _keys(model)}
    assert [key for key, named in parts.items() if named & set(words)] == []
    # The one key about pace can only slow a crawl down.
    assert Source.model_fields["delay_seconds"].default == 0
