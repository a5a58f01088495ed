"""The three demo shops as rows, written where the demo keeps its state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SOURCES = {"fjord-field": "feed", "harbour-lane": "structured", "kiez-kontor": "selector"}

_SHOPIFY = """\
[[source]]
slug = "fjord-field"
retailer = "Fjord & Field"
base_url = "{feed}/"
country = "DE"
currency = "EUR"
tax_basis = "incl"
barcodes = true
expect = {{ min_listings = 5 }}
"""

_RETAILER = """\
[[source]]
slug = "harbour-lane"
retailer = "Harbour Lane"
base_url = "{structured}/"
country = "DE"
currency = "EUR"
tax_basis = "incl"
sitemaps = ["sitemap.xml"]
expect = {{ min_listings = 5 }}

[[source]]
slug = "kiez-kontor"
retailer = "Kiez Kontor"
base_url = "{selector}/"
country = "DE"
currency = "EUR"
locale = "de_DE"
tax_basis = "incl"
listings = ["sortiment"]
product_link = ".kachel a"
next_page = "a.weiter"
total = ".anzahl"
expect = {{ min_listings = 5 }}

[source.rules]
price = [".jetzt .betrag"]
member_price = [".klub"]
original_price = [".statt"]
stock = [".lager::contains(Ausverkauft)->out_of_stock", ".lager::contains(lieferbar)->in_stock"]
source_sku = [".nr"]
brand = [".marke"]
gtin = [".ean"]
"""


def write_rows(folder: Path, urls: Mapping[str, str]) -> None:
    """One file a platform, as a user would keep them; `urls` is where each kind of shop answers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shopify.toml").write_text(_SHOPIFY.format(**urls), encoding="utf-8")
    (folder / "retailer.toml").write_text(_RETAILER.format(**urls), encoding="utf-8")
