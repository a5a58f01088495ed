"""`pricecrawl extract` as a person and as a script meet it."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.cli.main import run
from tests.extraction.pages import product

PAGE = product(
    '<div class="price">29,90 €</div><del>39,90 €</del><p>inkl. MwSt.</p><button>In den Warenkorb</button>'
    '<div class="delivery">Versand 4,95 €</div>',
    lang="de-DE",
)
KEYS = {
    *(
        "price",
        "currency",
        "availability",
        "original_price",
        "member_price",
        "pre_order_price",
        "name",
        "brand",
    ),
    *("gtin", "mpn", "size", "needs_review", "review_reasons", "page", "candidates", "trace"),
}


def extract(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["extract", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def saved(folder: Path, text: str, name: str = "page.html") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file never touches the network: any connection is an error here."""

    def refuse(*_: Any) -> None:
        raise AssertionError("extract opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("name", ["page.html", "page.html.gz"])
def test_a_page_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = extract(capsys, saved(tmp_path, PAGE, name), "--json")
    found = json.loads(out)
    assert code == 0
    assert found.keys() >= KEYS
    assert (found["price"], found["original_price"], found["currency"]) == ("29.90", "39.90", "EUR")
    assert (found["page"], found["availability"], found["needs_review"]) == ("product", "in_stock", False)
    assert {"kind", "amount", "currency", "method", "selector", "confidence", "weight", "tier"} <= found[
        "candidates"
    ][0].keys()


def test_a_page_for_a_person_shows_the_price_the_candidates_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = extract(capsys, saved(tmp_path, PAGE))
    assert code == 0
    assert "29.90" in out
    assert "a shipping charge" in out
    assert "The vote of standard prices" in out


def test_status_headers_and_addresses_are_heeded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, PAGE)
    gone = json.loads(extract(capsys, path, "--status", "410", "--json")[1])
    assert (gone["page"], gone["price"], gone["availability"]) == ("gone", None, "not_available")
    home = product("<p>Welcome</p>")
    arguments = ("--url", "https://s.example/p/old", "--final-url", "https://s.example/", "--json")
    moved = json.loads(extract(capsys, saved(tmp_path, home, "home.html"), *arguments)[1])
    assert (moved["page"], moved["availability"]) == ("gone", "not_available")
    (tmp_path / "gbk.html").write_bytes("<h1>壶</h1><p class=price>￥129.00</p>".encode("gbk"))
    header = ("--header", "Content-Type: text/html; charset=gb2312", "--locale", "zh_CN", "--json")
    chinese = json.loads(extract(capsys, str(tmp_path / "gbk.html"), *header)[1])
    assert (chinese["name"], chinese["price"], chinese["currency"]) == ("壶", "129.00", "CNY")


def test_a_gate_gives_no_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = "<form id='challenge-form' action='/cdn-cgi/l/chk_jschl'></form>$5.00"
    found = json.loads(extract(capsys, saved(tmp_path, gate), "--status", "503", "--json")[1])
    assert (found["page"], found["price"], found["availability"]) == ("challenge", None, "unknown")


def test_a_feed_gives_items_and_lifts_the_asked_for_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = [
        {"id": 31, "price": "20.00", "available": True},
        {"id": 32, "price": "24.00", "available": False},
    ]
    body = json.dumps({"product": {"id": 3, "title": "Tee", "handle": "tee", "variants": variants}})
    path = saved(tmp_path, body, "tee.json")
    url = "https://s.example/products/tee.json?variant=32"
    found = json.loads(extract(capsys, path, "--url", url, "--currency", "EUR", "--json")[1])
    assert [item["source_sku"] for item in found["items"]] == ["31", "32"]
    assert (found["price"], found["availability"], found["complete"]) == ("24.00", "out_of_stock", True)
    told = json.loads(extract(capsys, path, "--platform", "shopify", "--json")[1])
    assert len(told["items"]) == 2
    assert "24.00" in extract(capsys, path, "--platform", "shopify")[1]


def test_a_batch_answers_each_line_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep = "<div>" * 5_000
    lines = [
        {"id": "a", "input": {"kind": "product_html", "content": PAGE, "url": "https://s.example/p/1"}},
        {
            "id": "b",
            "input": {
                "kind": "json_ld",
                "content": '{"@type":"Product","name":"X","offers":{"price":"7","priceCurrency":"EUR"}}',
            },
        },
        {"id": "c", "input": {"kind": "product_html", "file": "page.html.gz"}},
        {"id": "d", "input": {"kind": "product_html", "file": "missing.html"}},
        {"id": "e", "input": {"kind": "product_html", "content": deep}},
    ]
    saved(tmp_path, PAGE, "page.html.gz")
    path = saved(tmp_path, "\n".join(json.dumps(line) for line in lines), "cases.jsonl")
    code, out, _ = extract(capsys, "--batch", path)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "b", "c", "d", "e"]
    assert [answer["output"]["price"] for answer in answers[:3]] == ["29.90", "7", "29.90"]
    assert "FileNotFoundError" in answers[3]["error"]
    assert "nests more than" in answers[4]["error"]
    assert code == 0


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--currency", "euro", "no ISO 4217 code"),
        ("--currency", "€", "no ISO 4217 code"),
        ("--locale", "xx_YY", "no CLDR locale"),
        ("--locale", "german please", "no CLDR locale"),
    ],
)
def test_a_market_that_nothing_would_be_read_by_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, problem: str
) -> None:
    code, out, err = extract(capsys, saved(tmp_path, PAGE), option, value)
    assert (code, out) == (2, "")
    assert problem in err


@pytest.mark.parametrize("arguments", [(), ("nowhere.html",)])
def test_what_is_missing_is_told_in_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    code, out, err = extract(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_the_rules_of_a_source_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "retailer.toml").write_text(
        '[[source]]\nslug = "corner-shop"\nretailer = "Corner shop"\nbase_url = "https://corner.example/"\n'
        'country = "DE"\ncurrency = "EUR"\nlocale = "de_DE"\n[source.rules]\nprice = ["#ours"]\n'
    )
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(rows))
    monkeypatch.setenv("PRICECRAWL_HOME", str(tmp_path / "home"))
    body = product('<b id="ours">19,90</b><div class="price">29,90 €</div>')
    found = json.loads(extract(capsys, saved(tmp_path, body), "--source", "corner-shop", "--json")[1])
    assert (found["price"], found["currency"], found["method"]) == ("19.90", "EUR", "custom-css")
    lines = tmp_path / "cases.jsonl"
    lines.write_text(
        json.dumps({"id": 1, "input": {"kind": "html", "content": body}}) + "\n", encoding="utf-8"
    )
    (told,) = extract(capsys, "--batch", str(lines), "--source", "corner-shop")[1].splitlines()
    assert json.loads(told)["output"]["price"] == "19.90"
    (told,) = extract(capsys, "--batch", str(lines))[1].splitlines()
    assert json.loads(told)["output"]["price"] == "29.90"
    code, _, err = extract(capsys, saved(tmp_path, body), "--batch", str(lines))
    assert code == 2
    assert "not both" in err
