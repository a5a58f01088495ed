"""Exchange rates: the reference file over HTTP, what is not one, and the bundled history."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from sqlalchemy import Engine

from pricecrawl.db.rates import RateStore
from pricecrawl.workflows.offers import rates_of
from pricecrawl.workflows.rates import bundled, parse, refresh

NOW = datetime(2026, 11, 30, 16, 30, tzinfo=UTC)
FILE = b"""<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
  xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='2026-11-30'>
<Cube currency='USD' rate='1.1010'/><Cube currency='JPY' rate='171.55'/></Cube></Cube>
</gesmes:Envelope>"""


@contextmanager
def served(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/daily.xml"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_live_rates_are_kept_exactly_and_once(engine: Engine) -> None:
    store = RateStore(engine)
    with served(200, FILE) as url:
        first = refresh(store, now=NOW, url=url)
        again = refresh(store, now=NOW, url=url)
    assert (first.day, first.source, first.new, first.problem) == (date(2026, 11, 30), "live", 2, "")
    assert again.new == 0
    assert store.latest() == ("2026-11-30", "live", NOW)


def test_a_live_rate_replaces_a_bundled_one_and_not_the_reverse(engine: Engine) -> None:
    store = RateStore(engine)
    day = date(2026, 11, 30)
    assert store.save("EUR", day, [("USD", Decimal("1.2"))], source="fallback", now=NOW) == 1
    assert store.save("EUR", day, [("USD", Decimal("1.1010"))], source="live", now=NOW) == 1
    assert store.save("EUR", day, [("USD", Decimal("1.3"))], source="fallback", now=NOW) == 0
    from pricecrawl.db.pricing import PricingStore

    with engine.connect() as conn:
        book = rates_of(PricingStore(engine).rates(conn, day))
    found = book.conversion("EUR", "USD", on=day, max_age_days=3)
    assert found.factor == Decimal("1.1010")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (503, b""),
        (404, b"<html>not here</html>"),
        (200, b"<html><body>maintenance</body></html>"),
        (200, b""),
        (200, FILE.replace(b"1.1010", b"-1")),
        (200, FILE.replace(b"1.1010", b"one")),
        (200, b'<!DOCTYPE x [<!ENTITY a "b">]>' + FILE),
        (200, FILE + b" " * 300_000),
    ],
)
def test_anything_else_falls_back_and_says_so(engine: Engine, status: int, body: bytes) -> None:
    with served(status, body) as url:
        done = refresh(RateStore(engine), now=NOW, url=url)
    day, rates = bundled()
    assert (done.day, done.source, done.new) == (day, "fallback", len(rates))
    assert "cannot be had" in done.problem
    assert done.day < NOW.date() + timedelta(days=1)


def test_nobody_there_falls_back(engine: Engine) -> None:
    assert refresh(RateStore(engine), now=NOW, url="http://127.0.0.1:9/daily.xml").source == "fallback"


def test_the_file_is_read_to_the_last_digit() -> None:
    assert parse(FILE) == (date(2026, 11, 30), {"USD": Decimal("1.1010"), "JPY": Decimal("171.55")})
