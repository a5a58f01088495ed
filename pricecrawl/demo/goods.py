"""What the three demo shops sell on each of the two days.

Every article number carries the prefix 952, which GS1 keeps for examples, so none belongs to a
real product. Between the days prices move, one article sells out, one goes on sale and one
disappears from its shop altogether.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

DAYS = (1, 2)


@dataclass(frozen=True, slots=True)
class Article:
    """A product of the street; `number` is the body of its GTIN, `shelf` its category."""

    number: int
    brand: str
    name: str
    size: str
    shelf: str

    @property
    def gtin(self) -> str:
        """GTIN-13 with its check digit (weights 1 and 3 from the left, GS1 General Specifications 7.9)."""
        body = f"952{self.number:09d}"
        total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
        return f"{body}{-total % 10}"

    @property
    def slug(self) -> str:
        """The last part of its address in a shop."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.brand} {self.name} {self.size}".lower())


ARTICLES = {
    article.number: article
    for article in (
        Article(1, "Fjordhus", "Cedar Rye", "70 cl", "drinks"),
        Article(2, "Fjordhus", "Harbour Gin", "50 cl", "drinks"),
        Article(3, "Lindenhof", "Pear Brandy", "50 cl", "drinks"),
        Article(4, "Aster", "Orange Blossom Eau de Parfum", "50 ml", "beauty"),
        Article(5, "Aster", "Night Cream", "75 ml", "beauty"),
        Article(6, "Molen", "Dark Chocolate 70%", "100 g", "food"),
        Article(7, "Molen", "Sea Salt Caramels", "250 g", "food"),
        Article(8, "Brisk", "Ginger Lemonade", "330 ml", "drinks"),
        Article(9, "Brisk", "Tonic Water", "200 ml", "drinks"),
        Article(10, "Kupfer", "Pour-over Kettle", "1 l", "kitchen"),
        Article(11, "Kupfer", "Coffee Grinder", "1 piece", "kitchen"),
        Article(12, "Torvald", "Winter Blend Coffee", "500 g", "food"),
    )
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What one shop asks for one article on one day.

    `was` is the crossed-out price of a sale, `member` the price for club members, `stock` the
    number left. `title` replaces the article's own name, for a shop that words it differently.
    """

    number: int
    price: Decimal
    stock: int = 20
    was: Decimal | None = None
    member: Decimal | None = None
    title: str = ""


def _at(
    number: int, price: str, *, stock: int = 20, was: str = "", member: str = "", title: str = ""
) -> Offer:
    return Offer(
        number,
        Decimal(price),
        stock=stock,
        was=Decimal(was) if was else None,
        member=Decimal(member) if member else None,
        title=title,
    )


# The pack-size trap: this shop sells a crate of six under the single bottle's article number.
_CRATE = "Brisk Ginger Lemonade 6 x 330 ml"

FEED_SHOP = {
    1: (
        _at(1, "34.90"),
        _at(2, "29.50"),
        _at(4, "79.00"),
        _at(6, "2.95"),
        _at(8, "9.90", title=_CRATE),
        _at(10, "64.00"),
        _at(12, "11.90"),
    ),
    2: (
        _at(1, "34.20"),
        _at(2, "24.90", was="29.50"),
        _at(4, "79.00"),
        _at(6, "2.95"),
        _at(8, "9.90", title=_CRATE),
        _at(10, "62.90"),
        _at(12, "11.90", stock=0),
    ),
}

STRUCTURED_SHOP = {
    1: (
        _at(1, "35.50"),
        _at(3, "27.80"),
        _at(4, "77.50"),
        _at(5, "31.00"),
        _at(7, "8.40"),
        _at(9, "1.35"),
        _at(10, "66.50"),
        _at(11, "54.00"),
    ),
    2: (
        _at(1, "35.50"),
        _at(3, "27.80"),
        _at(4, "75.90"),
        _at(5, "22.00", was="31.00"),
        _at(7, "8.40"),
        _at(9, "1.35"),
        _at(10, "66.50"),
    ),
}

SELECTOR_SHOP = {
    1: (
        _at(2, "28.90", member="26.50"),
        _at(3, "28.40"),
        _at(5, "32.50"),
        _at(6, "3.10"),
        _at(7, "8.20", stock=0),
        _at(9, "1.29"),
        _at(11, "52.50"),
        _at(12, "12.40"),
    ),
    2: (
        _at(2, "28.90", member="25.90"),
        _at(3, "27.50"),
        _at(5, "32.50"),
        _at(6, "3.05"),
        _at(7, "8.20", stock=0),
        _at(9, "1.29"),
        _at(11, "52.50"),
        _at(12, "12.40", stock=0),
    ),
}
