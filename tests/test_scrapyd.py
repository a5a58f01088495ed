"""A real Scrapyd, with the shipped configuration, schedules a source and the run record has the outcome.

Scrapyd pins an old setuptools, so it is no part of the environment of the tests. Its two packages are put,
hashed and without dependencies, into a folder of their own beside the other test servers; a whole
environment of its own takes 15 to 40 seconds and 540 MB, this takes three seconds once.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.shops.oscar.server import free_port
from tests.spiders.harness import serve
from tests.spiders.test_fourth_shop import shop_pages, table

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "requirements" / "scrapyd.txt"


def scrapyd_folder() -> Path:
    """Scrapyd and the setuptools that it needs, from the lock file."""
    locked = LOCKED.read_text()
    wanted = "".join(
        block
        for block in re.findall(r"^[\w.-]+==.*?(?=^\S|\Z)", locked, re.MULTILINE | re.DOTALL)
        if block.startswith(("scrapyd==", "setuptools=="))
    )
    assert wanted.count("==") == 2
    key = hashlib.sha256((wanted + sys.version).encode()).hexdigest()[:16]
    ready = ROOT / "var" / "test-scrapyd" / key
    if not ready.exists():
        half = ready.with_name(f"{key}.{os.getpid()}")
        half.mkdir(parents=True)
        (half / "requirements.txt").write_text(wanted)
        subprocess.run(
            [
                sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--require-hashes", "--target", str(half), "-r", str(half / "requirements.txt"),
            ],
            check=True, timeout=300,
        )  # fmt: skip
        try:
            half.rename(ready)
        except OSError:  # another worker was faster
            shutil.rmtree(half)
    return ready


@dataclass
class Scrapyd:
    """A running server."""

    url: str

    def __call__(self, service: str, **data: str) -> dict[str, Any]:
        body = urllib.parse.urlencode(data).encode() if service in ("schedule", "cancel") else None
        query = "" if body else "?" + urllib.parse.urlencode(data)
        with urllib.request.urlopen(f"{self.url}/{service}.json{query}", body, timeout=60) as answer:
            result: dict[str, Any] = json.load(answer)
            return result


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "rows").mkdir()
    return tmp_path / "rows"


@pytest.fixture
def scrapyd(tmp_path: Path, rows: Path) -> Iterator[Scrapyd]:
    """Started as an operator would: in a folder with scrapy.cfg and scrapyd.conf."""
    home = tmp_path / "server"
    home.mkdir()
    shutil.copy(ROOT / "scrapy.cfg", home)
    conf, port = configparser.ConfigParser(), free_port()
    conf.read(ROOT / "deploy" / "scrapyd.conf")
    assert conf["scrapyd"]["bind_address"] == "127.0.0.1"
    assert "password" not in conf["scrapyd"]
    conf["scrapyd"]["http_port"] = str(port)
    with (home / "scrapyd.conf").open("w") as out:
        conf.write(out)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(scrapyd_folder()), str(ROOT)]),
        "PRICECRAWL_HOME": str(tmp_path / "var"),
        "PRICECRAWL_SOURCES": str(rows),
    }
    with (home / "out.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "scrapyd"], cwd=home, env=env, stdout=log, stderr=log
        )
    try:
        client = Scrapyd(f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + 60
        while True:
            try:
                assert client("daemonstatus")["status"] == "ok"
                break
            except OSError:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise AssertionError((home / "out.log").read_text()) from None
                time.sleep(0.2)
        yield client
    finally:
        server.terminate()
        server.wait(20)


def test_a_source_is_scheduled_by_its_name(scrapyd: Scrapyd, rows: Path, tmp_path: Path) -> None:
    with serve(shop_pages("tern")) as server:
        (rows / "shopify.toml").write_text(table("tern", server.origin))
        assert "pricecrawl" in scrapyd("listprojects")["projects"]
        assert scrapyd("listspiders", project="pricecrawl")["spiders"] == ["tern"]
        job = scrapyd("schedule", project="pricecrawl", spider="tern")["jobid"]
        deadline = time.monotonic() + 90
        while job not in [done["id"] for done in scrapyd("listjobs", project="pricecrawl")["finished"]]:
            assert time.monotonic() < deadline, scrapyd("listjobs", project="pricecrawl")
            time.sleep(0.3)

    with closing(sqlite3.connect(tmp_path / "var" / "pricecrawl.db")) as database:
        runs = database.execute("SELECT source, job, outcome, listings FROM run").fetchall()
    assert runs == [("tern", job, "finished", 2)]


def test_both_locks_agree() -> None:
    def pins(name: str) -> dict[str, str]:
        text = (ROOT / "requirements" / name).read_text()
        return dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;]+)", text, re.MULTILINE))

    base, server = pins("base.txt"), pins("scrapyd.txt")
    differ = {
        name: (version, server.get(name)) for name, version in base.items() if server.get(name) != version
    }
    assert differ == {}, "lock requirements/scrapyd.txt again, as CONTRIBUTING.md says"
