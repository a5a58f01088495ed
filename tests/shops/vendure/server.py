"""Start the test shop and look at it with an independent client."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent

COLUMNS = [
    "name",
    "slug",
    "description",
    "assets",
    "facets",
    "optionGroups",
    "optionValues",
    "sku",
    "price",
    "taxCategory",
    "stockOnHand",
    "trackInventory",
    "variantAssets",
    "variantFacets",
]


def packages() -> Path:
    """The folder with the shop's packages, installed from the lock file once per version of it."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "the Vendure test shop needs Node.js 20 and npm: install the packages nodejs and npm"
        )
    lock = (HERE / "package-lock.json").read_bytes()
    ready = ROOT / "var" / "test-shops" / f"vendure-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not ready.exists():
        half = ready.with_name(f"{ready.name}.{os.getpid()}")
        half.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, half)
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--omit=optional"],
            cwd=half,
            check=True,
            timeout=600,
        )
        try:
            half.rename(ready)
        except OSError:  # another worker was faster
            shutil.rmtree(half)
    shutil.copy(HERE / "shop.js", ready)
    return ready


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class VendureShop:
    """A running Vendure shop with one variant per SKU; use as a context manager.

    `prices` maps SKU to its first price in major units of the shop's currency (USD).
    """

    def __init__(self, state: Path, prices: Mapping[str, Decimal]) -> None:
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.admin_url = f"{self.url}/admin-api"
        self.shop_url = f"{self.url}/shop-api"
        self._csv = state / "products.csv"
        self._process: subprocess.Popen[str] | None = None
        with self._csv.open("w", newline="") as file:
            rows = csv.DictWriter(file, COLUMNS)
            rows.writeheader()
            for sku, price in prices.items():
                rows.writerow(
                    {
                        "name": f"Article {sku}",
                        "slug": f"article-{sku.lower()}",
                        "description": "-",
                        "sku": sku,
                        "price": str(price),
                        "taxCategory": "standard",
                        "stockOnHand": 100,
                        "trackInventory": "false",
                    }
                )

    def __enter__(self) -> Self:
        node = shutil.which("node")
        home = packages()
        assert node is not None
        self._process = subprocess.Popen(
            [node, "shop.js"],
            cwd=home,
            env={
                **os.environ,
                "SHOP_PORT": str(self.port),
                "SHOP_CSV": str(self._csv),
                "VENDURE_DISABLE_TELEMETRY": "true",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        said: list[str] = []
        for line in self._process.stdout:
            said.append(line)
            if line.startswith("READY"):
                break
        else:
            raise RuntimeError("the Vendure test shop did not start: " + "".join(said)[-2000:])
        threading.Thread(target=self._process.stdout.read, daemon=True).start()
        self._token = self._login()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    @property
    def pid(self) -> int:
        """Process id of the server, for tests that stop it for a while."""
        assert self._process is not None
        return self._process.pid

    def _post(
        self, url: str, query: str, variables: Mapping[str, Any], token: str = "", channel: str = ""
    ) -> tuple[Any, Mapping[str, str]]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **({"vendure-token": channel} if channel else {}),
        }
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
            return json.load(answer), dict(answer.headers)

    def _login(self) -> str:
        _, headers = self._post(
            self.admin_url,
            'mutation { login(username: "superadmin", password: "test-only", rememberMe: true)'
            " { ... on CurrentUser { id } } }",
            {},
        )
        return headers["vendure-auth-token"]

    def admin(self, query: str, *, channel: str = "", **variables: Any) -> Any:
        """Run one admin query as the shop's owner and return its data; errors raise."""
        answer, _ = self._post(self.admin_url, query, variables, self._token, channel)
        if "errors" in answer:
            raise RuntimeError(str(answer["errors"]))
        return answer["data"]

    def service_key(
        self,
        name: str = "pricing",
        channels: Sequence[str] = (),
        permissions: Sequence[str] = ("ReadCatalog", "UpdateCatalog"),
        token: str = "",
    ) -> str:
        """A key that may read and change the catalogue and nothing else, as a publisher should have.

        `channels` are the ids of the channels it is for, `token` the one that it belongs to.
        """
        given = {"code": name, "description": name, "permissions": list(permissions)}
        if channels:
            given["channelIds"] = list(channels)
        role = self.admin(
            "mutation($i: CreateRoleInput!) { createRole(input: $i) { id } }", channel=token, i=given
        )
        made = self.admin(
            "mutation($i: CreateApiKeyInput!) { createApiKey(input: $i) { apiKey } }",
            channel=token,
            i={
                "roleIds": [role["createRole"]["id"]],
                "translations": [{"languageCode": "en", "name": name}],
            },
        )
        return str(made["createApiKey"]["apiKey"])

    def prices(self) -> dict[str, Decimal]:
        """Every variant's price by SKU as the admin interface has it, in major units."""
        found: dict[str, Decimal] = {}
        while True:
            page = self.admin(
                "query($o: ProductVariantListOptions) { productVariants(options: $o)"
                " { totalItems items { sku price } } }",
                o={"skip": len(found), "take": 100},
            )["productVariants"]
            found.update({item["sku"]: Decimal(item["price"]) / 100 for item in page["items"]})
            if len(found) >= page["totalItems"] or not page["items"]:
                return found

    def set_price(self, sku: str, price: Decimal) -> None:
        """Change a price behind everybody's back."""
        variant = self.admin(
            "query($o: ProductVariantListOptions) { productVariants(options: $o) { items { id } } }",
            o={"filter": {"sku": {"eq": sku}}},
        )["productVariants"]["items"][0]["id"]
        self.admin(
            "mutation($i: [UpdateProductVariantInput!]!) { updateProductVariants(input: $i) { id } }",
            i=[{"id": variant, "price": int(price * 100)}],
        )
