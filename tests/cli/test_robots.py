"""`pricecrawl robots` as a person and as a script meet it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pricecrawl.cli.main import run

RULES = "# a shop\nUser-agent: *\nCrawl-delay: 2.5\nDisallow: /cart[1]\nAllow: /cart[1]/open\n"


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["robots", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "robots.txt"
    path.write_text(RULES)
    return str(path)


def test_one_path_gives_one_document(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, saved, "--path", "/cart[1]/open", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["allowed"], found["rfc9309"], found["verdict"]) == (False, True, "disallowed")
    assert (found["line"], found["line_number"], found["crawl_delay"]) == ("Disallow: /cart[1]", 4, 2.5)
    assert found["agent"] == "PricecrawlBot"


def test_several_paths_give_a_list_in_their_order(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, saved, "-p", "/p/1", "-p", "/cart[1]", "--json")
    assert [(row["path"], row["allowed"]) for row in json.loads(out)] == [("/p/1", True), ("/cart[1]", False)]


def test_the_table_names_the_line_with_its_brackets(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, saved, "-p", "/cart[1]")
    assert code == 0
    assert "Disallow: /cart[1]" in out
    assert "2.5 s" in out


@pytest.mark.parametrize(
    ("status", "verdict", "allowed", "standard"),
    [
        ("403", "refused", False, True),
        ("404", "unrestricted", True, True),
        ("503", "unavailable", False, False),
    ],
)
def test_the_status_of_a_saved_file(
    saved: str, capsys: pytest.CaptureFixture[str], status: str, verdict: str, allowed: bool, standard: bool
) -> None:
    _, out, _ = _run(capsys, saved, "-p", "/p/1", "--status", status, "--json")
    found = json.loads(out)
    assert (found["verdict"], found["allowed"], found["rfc9309"]) == (verdict, allowed, standard)


def test_another_agent_may_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: otherbot\nDisallow: /\n")
    _, out, _ = _run(capsys, str(path), "-p", "/p", "--agent", "otherbot", "--json")
    assert json.loads(out)["allowed"] is False
    _, out, _ = _run(capsys, str(path), "-p", "/p", "--json")
    assert json.loads(out)["allowed"] is True


def test_a_batch_answers_in_order_and_goes_on_after_a_bad_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {
        "content": RULES,
        "queries": [{"agent": "PriceCrawlBot", "path": "/cart[1]"}, {"url": "https://a.example/p"}],
    }
    padded = {
        "content": "User-agent: *\n{{PAD}}Disallow: /late\n",
        "pad": {"marker": "{{PAD}}", "line": "# padding\n", "bytes": 500_000},
        "queries": [{"agent": "PriceCrawlBot", "path": "/late"}],
    }
    lines = [json.dumps({"id": 1, "input": good}), "not json", json.dumps({"id": 3, "input": padded})]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines) + "\n")
    code, out, _ = _run(capsys, "--batch", str(path))
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [answer["id"] for answer in answers] == [1, "line 2", 3]
    first, second = answers[0]["output"]
    assert (first["agent"], first["path"], first["allowed"]) == ("PriceCrawlBot", "/cart[1]", False)
    assert (second["url"], second["allowed"], second["crawl_delay"]) == ("https://a.example/p", True, 2.5)
    assert "error" in answers[1]
    assert answers[2]["output"][0]["allowed"] is False
    assert answers[2]["output"][0]["line_number"] == 50_002


def test_a_file_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "no-such-file")
    assert (code, out) == (2, "")
    assert err.strip() == "no-such-file cannot be read: No such file or directory."


@pytest.mark.parametrize("header", ["nonsense", ":x"])
def test_a_header_must_have_a_name(saved: str, capsys: pytest.CaptureFixture[str], header: str) -> None:
    code, _, err = _run(capsys, saved, "-H", header)
    assert code == 2
    assert "Name:Value" in err


# --- a shop on this machine ------------------------------------------------------------------------------


class _Shop(BaseHTTPRequestHandler):
    """Answers by path and remembers who asked for what."""

    answers: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {}
    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["User-Agent"]))
        status, headers, body = self.answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""


@pytest.fixture
def shop() -> Iterator[str]:
    _Shop.answers, _Shop.asked = {}, []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_shops_address_is_asked_once_under_our_name(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    _Shop.answers["/robots.txt"] = (200, {"Content-Type": "text/plain"}, RULES.encode())
    code, out, _ = _run(capsys, f"{shop}/p/1", "-p", "/cart[1]", "--json")
    assert code == 0
    assert json.loads(out)["line_number"] == 4
    assert [path for path, _ in _Shop.asked] == ["/robots.txt"]
    assert _Shop.asked[0][1].startswith("PricecrawlBot/")


def test_a_refusal_ends_with_its_own_code(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    _Shop.answers["/robots.txt"] = (403, {}, b"")
    code, out, _ = _run(capsys, shop, "--json")
    assert code == 3
    assert json.loads(out)["verdict"] == "refused"


def test_a_redirect_to_a_login_is_followed_and_refused(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    _Shop.answers["/robots.txt"] = (302, {"Location": "/login"}, b"")
    _Shop.answers["/login"] = (200, {}, b"<html><body>Please</body></html>")
    code, out, _ = _run(capsys, shop, "--json")
    assert (code, json.loads(out)["reason"]) == (3, "robots.txt led to a log-in page")


def test_endless_redirects_are_an_outage(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    _Shop.answers["/robots.txt"] = (302, {"Location": "/robots.txt"}, b"")
    _, out, _ = _run(capsys, shop, "--json")
    assert json.loads(out)["verdict"] == "unavailable"
    assert len(_Shop.asked) == 6


def test_a_redirect_into_a_private_network_is_not_followed(
    shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _Shop.answers["/robots.txt"] = (302, {"Location": "http://169.254.169.254/robots.txt"}, b"")
    code, _, err = _run(capsys, shop)
    assert code == 3
    assert "169.254.169.254" in err


def test_no_shop_is_asked_without_a_contact(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PRICECRAWL_CONTACT", raising=False)
    code, _, err = _run(capsys, "https://shop.example/")
    assert code == 2
    assert "PRICECRAWL_CONTACT" in err
