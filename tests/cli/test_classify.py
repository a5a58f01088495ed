"""`pricecrawl classify` as a person and as a script meet it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pricecrawl.cli.main import run

GATE = "<html><title>Wait</title><body><form id='challenge-form' action='/cdn-cgi/l/chk_jschl'></form></html>"
LAMP = '<html><h1>Lamp</h1><span class="price">€48.00</span><button>Add to cart</button></html>'
GAME = (
    "<html><title>Are you a robot?</title><body><h1>Are you a robot?</h1><script type='application/ld+json'>"
    '{"@type":"Product","name":"Are you a robot?",'
    '"offers":{"@type":"Offer","price":"9.00","priceCurrency":"EUR"}}'
    "</script></body></html>"
)


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["classify", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def _saved(folder: Path, text: str, name: str = "page.html") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.mark.parametrize("name", ["page.html", "page.html.gz"])
def test_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = _run(capsys, _saved(tmp_path, GATE, name), "--status", "503", "--json")
    assert code == 0
    assert json.loads(out) == {
        "page": "challenge",
        "blocked": True,
        "vendor": "cloudflare",
        "rule": "challenge-form",
    }


@pytest.mark.parametrize("text", [LAMP, GAME])
def test_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    _, out, _ = _run(capsys, _saved(tmp_path, text), "--status", "200", "--json")
    assert json.loads(out) == {"page": "page", "blocked": False, "vendor": None, "rule": "page"}


def test_headers_addresses_and_status_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _saved(tmp_path, "<html><body><p>Hello</p></body></html>")
    _, out, _ = _run(capsys, page, "-H", "cf-mitigated: challenge", "--json")
    assert json.loads(out)["rule"] == "cf-mitigated"
    addresses = ("--url", "https://shop.example/p/1", "--final-url", "https://shop.example/")
    _, out, _ = _run(capsys, page, *addresses, "--json")
    assert json.loads(out) == {"page": "gone", "blocked": False, "vendor": None, "rule": "redirect-home"}
    _, out, _ = _run(capsys, page, "--status", "500", "--json")
    assert json.loads(out)["page"] == "unavailable"


def test_a_person_reads_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, _saved(tmp_path, GATE))
    assert out == "challenge of cloudflare (rule challenge-form), the shop refuses us\n"
    _, out, _ = _run(capsys, _saved(tmp_path, LAMP))
    assert out == "page (rule page)\n"


def test_a_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _saved(tmp_path, LAMP, "lamp.html.gz")
    cases = [
        {"id": "a", "input": {"content": GATE, "status": None, "headers": {}}},
        {"id": "b", "input": {"file": "lamp.html.gz", "status": 200, "url": "https://shop.example/p/1"}},
        {"id": "c", "input": {"file": "none.html"}},
        {"id": "d", "input": {"content": "", "status": 200}},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    code, out, _ = _run(capsys, "--batch", str(path))
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert code == 0
    assert list(answers) == ["a", "b", "c", "d"]
    assert answers["a"]["output"]["vendor"] == "cloudflare"
    assert answers["b"]["output"]["blocked"] is False
    assert "none.html" in answers["c"]["error"]
    assert answers["d"]["output"] == {
        "page": "challenge",
        "blocked": True,
        "vendor": None,
        "rule": "empty-body",
    }


def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (str(tmp_path / "none.html"), _saved(tmp_path, "", "page.html").replace(".html", "")):
        code, out, err = _run(capsys, name)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
