"""`pricecrawl extract` of an address, against a shop that really answers and keeps a log of who asked."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import Engine

from pricecrawl.cli.main import run
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.learning import LearningStore
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.workflows.teaching import teach
from tests.crawl.fixtures import db, home
from tests.extraction.pages import product

__all__ = ["db", "home"]

NOW = datetime.now(UTC)
PAGE = product('<b id="ours">19,90</b><i id="taught">17,90</i><div class="price">29,90 €</div>')


class Shop(http.server.ThreadingHTTPServer):
    """One shop on loopback; `robots` is its robots.txt, `log` who asked for what and when."""

    robots = "User-agent: *\nDisallow: /private\n"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.log: list[tuple[str, str, float]] = []
        self.cookies: list[str | None] = []
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.log]


class _Answer(http.server.BaseHTTPRequestHandler):
    server: Shop

    def do_GET(self) -> None:
        self.server.log.append((self.path, self.headers["User-Agent"], monotonic()))
        self.server.cookies.append(self.headers["Cookie"])
        status, headers, body = 200, {"Content-Type": "text/html; charset=utf-8"}, PAGE
        if self.path == "/robots.txt":
            headers, body = {"Content-Type": "text/plain"}, self.server.robots
        elif self.path == "/moved":
            status, headers["Location"] = 302, "/private/1"
        elif self.path == "/set":
            status, headers["Location"], headers["Set-Cookie"] = 302, "/p", "visit=1; Path=/"
        elif self.path == "/inside":
            status, headers["Location"] = 302, "http://10.0.0.1/x"
        elif self.path == "/round":
            status, headers["Location"] = 302, "/round"
        elif self.path == "/no":
            status, body = 403, "no"
        elif self.path == "/busy":
            status, body = 503, "later"
        self.send_response(status)
        for name, value in (*headers.items(), ("Content-Length", str(len(body.encode())))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def row(shop: Shop, db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A source whose shop it is, with a rule of its own for the price, known to the database."""
    (tmp_path / "rows").mkdir(exist_ok=True)
    (tmp_path / "rows" / "retailer.toml").write_text(
        f'[[source]]\nslug = "corner"\nretailer = "Corner"\nbase_url = "{shop.origin}/"\ncountry = "DE"\n'
        'currency = "EUR"\nlocale = "de_DE"\nproduct_urls = ["p"]\nrules = { price = ["#ours"] }\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    CrawlStore(db).sync_sources([("corner", "retailer")])
    return db


def extract(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["extract", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_robots_is_asked_first_by_our_name_and_then_the_page_once(
    shop: Shop, db: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = extract(capsys, f"{shop.origin}/p?utm=1", "--locale", "de_DE", "--json")
    found = json.loads(out)
    assert (code, found["price"], found["url"]) == (0, "29.90", f"{shop.origin}/p?utm=1")
    assert shop.paths == ["/robots.txt", "/p?utm=1"]
    assert all(agent.lower().startswith("pricecrawl") for _, agent, _ in shop.log)


def test_the_rules_of_the_row_whose_shop_it_is_are_used_and_learned_ones_first(
    shop: Shop, row: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{shop.origin}/p"
    assert json.loads(extract(capsys, address, "--json")[1])["price"] == "19.90"
    teach(row, "corner", PriceKind.STANDARD, "#taught", by="ann", now=NOW)
    assert LearningStore(row).selectors("corner")
    found = json.loads(extract(capsys, address, "--json")[1])
    assert (found["price"], found["candidates"][0]["tier"]) == ("17.90", "learned")


@pytest.mark.parametrize(
    ("path", "asked", "code", "words"),
    [
        ("/private/1", ["/robots.txt"], 3, "line 2: Disallow: /private"),
        ("/moved", ["/robots.txt", "/moved"], 3, "/private/1, line 2"),
        ("/inside", ["/robots.txt", "/inside"], 3, "no public http address"),
        ("/round", ["/robots.txt", *["/round"] * 6], 1, "more than 5 times"),
        ("/no", ["/robots.txt", "/no"], 3, "http-403"),
        ("/busy", ["/robots.txt", "/busy"], 1, "http-503"),
    ],
)
def test_a_refusal_is_an_answer_and_is_never_worked_around(
    shop: Shop,
    db: Engine,
    capsys: pytest.CaptureFixture[str],
    path: str,
    asked: list[str],
    code: int,
    words: str,
) -> None:
    got, out, err = extract(capsys, shop.origin + path)
    assert (got, shop.paths) == (code, asked)
    assert words in " ".join((out + err).split())


def test_no_cookie_is_kept_from_one_request_to_the_next(
    shop: Shop, db: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert extract(capsys, f"{shop.origin}/set")[0] == 0
    assert (shop.paths, shop.cookies) == (["/robots.txt", "/set", "/p"], [None] * 3)


def test_the_pace_that_robots_asks_for_is_kept(
    shop: Shop, db: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.robots = "User-agent: *\nCrawl-delay: 1\n"
    assert extract(capsys, f"{shop.origin}/p")[0] == 0
    (_, _, first), (_, _, second) = shop.log
    assert second - first >= 1


def test_a_source_that_is_switched_off_or_being_crawled_is_not_asked(
    shop: Shop, row: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    store = CrawlStore(row)
    host = shop.origin.removeprefix("http://")
    import os

    now = datetime.now(UTC)
    store.open_run(source="corner", platform="retailer", host=host, job=None, pid=os.getpid(), now=now)
    code, _, err = extract(capsys, f"{shop.origin}/p")
    assert (code, shop.paths) == (1, [])
    assert "being crawled already" in err
    store.set_enabled("corner", False, by="ann", reason="they asked us to stop", now=NOW)
    code, _, err = extract(capsys, f"{shop.origin}/p")
    assert (code, shop.paths) == (3, [])
    assert "they asked us to stop" in err


def test_no_switch_of_any_row_on_the_host_is_got_around(
    shop: Shop, row: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by a second row on the same host, nor by naming another source."""
    file = tmp_path / "rows" / "retailer.toml"
    text = file.read_text(encoding="utf-8")
    second = text.replace('"corner"', '"cellar"')
    other = second.replace('"cellar"', '"elsewhere"').replace(shop.origin, "http://127.0.0.1:9")
    file.write_text(text + second + other, encoding="utf-8")
    store = CrawlStore(row)
    store.sync_sources([(slug, "retailer") for slug in ("corner", "cellar", "elsewhere")])
    store.set_enabled("cellar", False, by="ann", reason="they asked us to stop", now=NOW)
    for arguments in ((), ("--source", "corner"), ("--source", "elsewhere")):
        code, _, err = extract(capsys, f"{shop.origin}/p", *arguments)
        assert (code, shop.paths) == (3, [])
        assert "cellar is switched off" in err


def test_a_shop_that_is_not_on_this_machine_needs_a_contact(
    db: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PRICECRAWL_CONTACT", raising=False)
    code, _, err = extract(capsys, "https://shop.example/p/1")
    assert code == 2
    assert "PRICECRAWL_CONTACT" in err
    monkeypatch.setenv("PRICECRAWL_CONTACT", "ops@pricing.example")
    code, _, err = extract(capsys, "http://192.168.0.7/p/1")
    assert code == 3
    assert "no public http address" in err


def test_what_describes_a_file_is_no_option_of_an_address(
    db: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = extract(capsys, "http://127.0.0.1:9/p", "--status", "200")
    assert code == 2
    assert "describe a saved file" in err
