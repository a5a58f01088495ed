"""Start and change the test shop. State is a folder; a seeded template is kept for the next run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Article:
    """One product as the shop's own database has it."""

    id: int
    upc: str
    title: str
    price: Decimal
    stock: int


def free_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(state: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.shops.oscar.manage", *arguments],
        cwd=ROOT,
        env={**os.environ, "OSCAR_STATE": str(state)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the test shop could not {arguments[0]}: {done.stderr[-2000:]}")


def template(count: int) -> Path:
    """A seeded shop folder, made once per version of the seed and of django-oscar."""
    import django
    import oscar

    sources = b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")) if path.name != "server.py")
    key = hashlib.sha256(sources + f"{oscar.VERSION}{django.VERSION}{count}".encode()).hexdigest()[:16]
    ready = ROOT / "var" / "test-shops" / f"oscar-{key}"
    if not ready.exists():
        ready.parent.mkdir(parents=True, exist_ok=True)
        half = ready.with_name(f"{ready.name}.{os.getpid()}")
        half.mkdir()
        _run(half, "seed", json.dumps(count))
        try:
            half.rename(ready)
        except OSError:  # another worker was faster
            shutil.rmtree(half)
    return ready


class OscarShop:
    """A running django-oscar shop on loopback; use as a context manager."""

    def __init__(self, state: Path, count: int = 200) -> None:
        self.state = state
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        shutil.copytree(template(count), state, dirs_exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [
                sys.executable, "-W", "ignore", "-m", "gunicorn", "-w", "1", "--threads", "4",
                "--log-level", "error", "-b", f"127.0.0.1:{self.port}", "--no-control-socket",
                "tests.shops.oscar.wsgi:application",
            ],
            cwd=ROOT,
            env={**os.environ, "OSCAR_STATE": str(self.state)},
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/catalogue/", timeout=20):
                    return self
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    self.close()
                    raise
                time.sleep(0.2)

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id of the server, for tests that stop it for a while."""
        assert self._process is not None
        return self._process.pid

    def close(self) -> None:
        """Stop the server."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def articles(self) -> dict[str, Article]:
        """Every product by UPC, read straight from the shop's database."""
        with sqlite3.connect(self.state / "shop.sqlite3") as connection:
            rows = connection.execute(
                "SELECT p.id, p.upc, p.title, CAST(s.price AS TEXT), COALESCE(s.num_in_stock, 0)"
                " FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id"
            ).fetchall()
        connection.close()
        return {
            row[1]: Article(row[0], row[1], row[2], Decimal(row[3]).quantize(Decimal("0.01")), row[4])
            for row in rows
        }

    def remove(self, upcs: list[str]) -> None:
        """Take products out of the shop."""
        _run(self.state, "remove", json.dumps(upcs))

    def restore(self, upcs: list[str]) -> None:
        """Put removed products back."""
        _run(self.state, "restore", json.dumps(upcs))

    def reprice(self, prices: dict[str, Decimal]) -> None:
        """Change prices."""
        _run(self.state, "reprice", json.dumps({upc: str(price) for upc, price in prices.items()}))
