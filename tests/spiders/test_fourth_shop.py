"""A fourth shop on a platform that three shops use already: one table of about nine lines, and no Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pricecrawl
from tests.spiders.harness import Answer, Page, serve

ROOT = Path(pricecrawl.__file__).parents[1]
SHOPS = ("auk", "gull", "skua", "tern")


def shop_pages(name: str) -> dict[str, Answer]:
    """One Shopify shop below a folder of the one server: two products, the second sold out."""
    products = []
    for number in (1, 2):
        variant = {
            "id": number * 10,
            "title": "Default Title",
            "price": f"{number}.50",
            "available": number == 1,
        }
        title = f"{name.title()} {number}"
        products.append({"id": number, "title": title, "handle": f"{name}-{number}", "variants": [variant]})
    headers = {"Content-Type": "application/json"}
    return {
        f"/{name}/meta.json": Page(b'{"currency":"EUR","published_products_count":2}', headers=headers),
        f"/{name}/products.json": Page(json.dumps({"products": products}).encode(), headers=headers),
    }


def table(name: str, origin: str) -> str:
    return f"""\
[[source]]
slug = "{name}"
retailer = "{name.title()}"
base_url = "{origin}/{name}/"
country = "IE"
currency = "EUR"
tax_basis = "incl"
tier = "A"
expect = {{ min_listings = 2 }}
"""


def test_one_table_is_all_it_takes(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    env = {**os.environ, "PRICECRAWL_HOME": str(tmp_path / "var"), "PRICECRAWL_SOURCES": str(rows)}

    def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "scrapy", *arguments], cwd=ROOT, env=env, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip

    with serve({path: page for name in SHOPS for path, page in shop_pages(name).items()}) as server:
        file = rows / "shopify.toml"
        file.write_text("\n".join(table(name, server.origin) for name in SHOPS[:3]))
        assert scrapy("list").stdout.split() == list(SHOPS[:3])

        before = file.read_text().count("\n")
        file.write_text(file.read_text() + table("tern", server.origin))
        assert file.read_text().count("\n") - before == 9
        assert list(rows.iterdir()) == [file]

        assert scrapy("list").stdout.split() == list(SHOPS)
        out = tmp_path / "tern.json"
        done = scrapy("crawl", "tern", "-O", str(out))
        assert done.returncode == 0, done.stderr

    listings: list[dict[str, Any]] = json.loads(out.read_text())
    found = {(item["source"], item["source_sku"], item["price"], item["availability"]) for item in listings}
    assert found == {("tern", "10", "1.50", "in_stock"), ("tern", "20", "2.50", "out_of_stock")}
    assert [line for line in server.log if not line.startswith(("/tern/", "/robots.txt"))] == []
