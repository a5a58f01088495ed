"""Commands of the test shop: `python -m tests.shops.oscar.manage seed|remove|reprice ...`.

They go through the shop's own models and rebuild its search index, as its dashboard would.
"""

import io
import json
import os
import sys
from decimal import Decimal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.shops.oscar.settings")

import django

django.setup()

from django.contrib.auth import get_user_model
from django.core.management import call_command
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model

Product = get_model("catalogue", "Product")
ProductClass = get_model("catalogue", "ProductClass")
ProductCategory = get_model("catalogue", "ProductCategory")
Partner = get_model("partner", "Partner")
StockRecord = get_model("partner", "StockRecord")
Country = get_model("address", "Country")

SHELVES = ("Drinks > Whisky", "Drinks > Gin", "Beauty > Fragrance", "Beauty > Skin care", "Food > Chocolate")


def ean13(number: int) -> str:
    """A valid EAN-13 for a made-up article."""
    body = f"50{number:010d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return f"{body}{-total % 10}"


def price_of(number: int) -> Decimal:
    """A price that is different for each article and uses both decimals."""
    return Decimal(500 + (number * 737) % 19000) / 100


def reindex() -> None:
    """Rebuild the index that the category pages list from."""
    call_command("rebuild_index", interactive=False, verbosity=0, stdout=io.StringIO(), stderr=io.StringIO())


def seed(count: int) -> None:
    """Create the shelves and `count` products; every 17th is sold out."""
    call_command("migrate", interactive=False, verbosity=0)
    get_user_model().objects.create_superuser(
        username="admin", email="admin@shop.example", password="test-only"
    )
    Country.objects.get_or_create(
        iso_3166_1_a2="GB", defaults={"name": "United Kingdom", "printable_name": "United Kingdom"}
    )
    kind = ProductClass.objects.create(name="Goods", track_stock=True, requires_shipping=True)
    partner = Partner.objects.create(name="Warehouse")
    shelves = [create_from_breadcrumbs(shelf) for shelf in SHELVES]
    for number in range(1, count + 1):
        product = Product.objects.create(
            product_class=kind,
            title=f"Article {number:03d} {SHELVES[number % 5].split(' > ')[1]}",
            upc=ean13(number),
        )
        ProductCategory.objects.create(product=product, category=shelves[number % 5])
        StockRecord.objects.create(
            product=product,
            partner=partner,
            partner_sku=f"W-{number:04d}",
            price_currency="GBP",
            price=price_of(number),
            num_in_stock=0 if number % 17 == 0 else 3 + number % 40,
        )
    reindex()


def remove(upcs: list[str]) -> None:
    """Take products out of the shop altogether."""
    Product.objects.filter(upc__in=upcs).delete()
    reindex()


def restore(upcs: list[str]) -> None:
    """Put removed products of the seed back under their old article number."""
    kind, partner = ProductClass.objects.get(), Partner.objects.get()
    shelves = [create_from_breadcrumbs(shelf) for shelf in SHELVES]
    for upc in upcs:
        number = int(upc[2:12])
        product = Product.objects.create(product_class=kind, title=f"Article {number:03d} again", upc=upc)
        ProductCategory.objects.create(product=product, category=shelves[number % 5])
        StockRecord.objects.create(
            product=product, partner=partner, partner_sku=f"W-{number:04d}", price_currency="GBP",
            price=price_of(number), num_in_stock=5,
        )  # fmt: skip
    reindex()


def reprice(prices: dict[str, str]) -> None:
    """Set prices by UPC, as the dashboard would."""
    for upc, price in prices.items():
        record = StockRecord.objects.get(product__upc=upc)
        record.price = Decimal(price)
        record.save()


if __name__ == "__main__":
    command, argument = sys.argv[1], json.loads(sys.argv[2])
    {"seed": seed, "remove": remove, "restore": restore, "reprice": reprice}[command](argument)
