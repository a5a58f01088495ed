"""`pricecrawl parse`: one text, or thousands in one process."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pricecrawl.cli.batch import BadLineError, decode, read_batch
from pricecrawl.cli.main import build
from pricecrawl.domain.errors import UsageProblem


def run(*args: str) -> Any:
    return CliRunner().invoke(build(), ["parse", *args])


def printed(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_price_size_and_gtin_print_the_agreed_keys() -> None:
    price = printed("price", "1.749,00 €", "--locale", "de_DE")
    assert (price["amount"], price["currency"]) == ("1749.00", "EUR")
    size = printed("size", "6 x 33 cl")
    assert size == {"amount": "330", "unit": "ml", "pack": 6, "base_quantity": "1980", "base_unit": "ml"}
    gtin = printed("gtin", "36000291452")
    assert (gtin["valid"], gtin["gtin14"], gtin["type"], gtin["text"]) == (
        True,
        "00036000291452",
        "upc",
        "36000291452",
    )


def test_what_cannot_be_read_is_null() -> None:
    assert printed("price", "call us")["amount"] is None
    assert printed("size", "large")["pack"] is None
    assert printed("gtin", "none")["valid"] is False


def test_a_text_may_begin_with_a_dash() -> None:
    assert printed("price", "-25 %")["amount"] is None
    assert printed("price", "- 5,00 €", "--locale", "de_DE")["amount"] == "5.00"


def test_options_reach_the_readers() -> None:
    assert printed("price", "$5", "--currency", "NZD")["currency"] == "NZD"
    assert printed("price", "1.250", "--decimal-separator", ".")["amount"] == "1.250"
    assert printed("gtin", "04252614", "--symbology", "UPC-E")["gtin14"] == "00042100005264"


def test_people_get_lines_not_json() -> None:
    result = run("price", "was €31.00 now €24.50", "--locale", "en_IE")
    assert result.exit_code == 0
    assert "24.50" in result.stdout
    assert "before" in result.stdout


def test_a_text_or_a_batch_never_both_nor_neither() -> None:
    for args in (("price",), ("price", "5 €", "--batch", "x.jsonl")):
        assert isinstance(run(*args).exception, UsageProblem)


def test_a_batch_answers_in_order_and_survives_bad_lines(tmp_path: Path) -> None:
    (tmp_path / "page.txt.gz").write_bytes(gzip.compress("24,50 €".encode()))
    encoded = base64.b64encode(b"24.50 GBP").decode()
    lines = [
        json.dumps(
            {"id": "a", "input": {"kind": "price_string", "content": "24,50 €", "locale_hint": "de_DE"}}
        ),
        "not json",
        json.dumps({"id": "b", "input": {"kind": "price_string", "content_b64": encoded}}),
        json.dumps({"id": "c", "input": {"kind": "price_string", "file": "page.txt.gz"}}),
        json.dumps({"id": "d", "input": {"kind": "price_string", "file": "absent.txt"}}),
        "",
        json.dumps({"id": "e", "input": {"kind": "size_string", "content": "6 x 33 cl"}}),
        json.dumps(
            {"id": "f", "input": {"kind": "gtin", "content": "04252614", "locale_hint": "symbology=UPC-E"}}
        ),
        json.dumps({"id": "g", "input": {"kind": "robots", "content": ""}}),
        json.dumps({"id": "h", "input": {"content": None}}),
    ]
    batch = tmp_path / "cases.jsonl"
    batch.write_text("\n".join(lines), encoding="utf-8")
    result = run("price", "--batch", str(batch))
    assert result.exit_code == 0
    assert "3 of 9 lines" in result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "line 2", "b", "c", "d", "e", "f", "g", "h"]
    by_id = {answer["id"]: answer for answer in answers}
    assert {key for key, answer in by_id.items() if "error" in answer} == {"line 2", "d", "g"}
    assert by_id["a"]["output"]["currency"] == "EUR"
    assert by_id["b"]["output"]["currency"] == "GBP"
    assert by_id["c"]["output"]["amount"] == "24.50"
    assert by_id["e"]["output"]["pack"] == 6
    assert by_id["f"]["output"]["gtin14"] == "00042100005264"
    assert by_id["h"]["output"]["amount"] is None


def test_a_batch_without_errors_ends_well_and_may_be_compressed(tmp_path: Path) -> None:
    batch = tmp_path / "cases.jsonl.gz"
    batch.write_bytes(gzip.compress(b'{"id": 1, "input": {"content": "5 GBP"}}\n'))
    result = run("price", "--batch", str(batch))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["output"]["amount"] == "5"


def test_a_batch_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="cannot be read"):
        list(read_batch(tmp_path / "absent.jsonl"))


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {"content": 5},
        {"content_b64": "%%%"},
        {"status": "200"},
        {"status": True},
        {"headers": []},
        {"queries": ["x"]},
        {"url": 7},
    ],
)
def test_inputs_of_the_wrong_shape_say_so(given: Any, tmp_path: Path) -> None:
    with pytest.raises(BadLineError):
        decode(given, tmp_path)


def test_an_input_carries_its_market_and_what_nobody_knows(tmp_path: Path) -> None:
    given = decode(
        {"kind": "x", "content": "ä", "locale_hint": "de-CH", "currency_hint": "CHF", "why": 1}, tmp_path
    )
    assert (given.market.country, given.market.currency, given.market.locale) == ("CH", "CHF", "de-CH")
    assert (given.body, given.text, given.extra) == ("ä".encode(), "ä", {"why": 1})
    assert decode({"currency_hint": "€"}, tmp_path).market.currency is None
