"""Who sells it: the shop itself under one of its names, or somebody else on it."""

from __future__ import annotations

import pytest

from pricecrawl.domain.candidate import Method, PriceKind, RawPrice
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.normalize import normalize
from pricecrawl.domain.seller import is_shop
from tests.factories import NOON

PAGE = "https://www.kettle-world.co.uk/p/1"


@pytest.mark.parametrize(
    "seller",
    [
        "",
        "Kettle World",
        "KETTLE WORLD LTD.",
        "The Kettle World Company",
        "Kettle World S.à r.l.",
        "kettle-world.co.uk",
        "www.kettle-world.co.uk",
        "https://kettle-world.co.uk/about",
        "Kettleworld Online Shop",
    ],
)
def test_the_shop_by_its_address(seller: str) -> None:
    assert is_shop(seller, PAGE)


@pytest.mark.parametrize(
    "seller",
    [
        "Somebody Else Ltd",
        "Kettle World Outlet",
        "Kettle",
        "World of Kettles GmbH",
        "https://somebody.example/",
        "Co",
        "山田商店",
    ],
)
def test_somebody_else(seller: str) -> None:
    assert not is_shop(seller, PAGE)


@pytest.mark.parametrize(
    ("seller", "name"),
    [
        ("Hafen-Feinkost Handels GmbH & Co. KG", "Hafen Feinkost Handels"),
        ("MÜLLER", "Müller"),
        ("山田商店", "山田商店"),
        ("Harbour Deli", "Harbour Deli Ltd"),
    ],
)
def test_the_shop_by_a_name_of_its_row(seller: str, name: str) -> None:
    assert is_shop(seller, PAGE, (name,))
    assert not is_shop(seller, PAGE, ("Another",))


@pytest.mark.parametrize(
    ("seller", "names", "kept"),
    [
        ("Kettle World Ltd", (), ""),
        ("Harbour Trading GmbH", ("Kettle World", "Harbour Trading"), ""),
        ("Harbour Trading GmbH", (), "Harbour Trading GmbH"),
    ],
)
def test_a_listing_names_a_seller_only_where_it_is_another(
    seller: str, names: tuple[str, ...], kept: str
) -> None:
    raw = RawListing(
        source_sku="1",
        url=PAGE,
        name="Kettle",
        seller=seller,
        prices=(RawPrice(PriceKind.STANDARD, "19.99", Method.JSON_LD, "offers.price", "GBP"),),
    )
    market = Market("GB", "GBP", "en_GB", TaxBasis.INCLUSIVE)
    listing = normalize(raw, source="kettles", market=market, now=NOON, sold_by=names)
    assert isinstance(listing, Listing)
    assert listing.seller == kept
