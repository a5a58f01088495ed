"""`pricecrawl proxies` as an operator meets it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pricecrawl.cli.main import run
from tests.cli.test_sources import Done

CANARY = "c4n4ry"
Command = Callable[..., Done]


@pytest.fixture
def proxies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("PRICECRAWL_HOME", str(tmp_path))

    def command(*arguments: str, typed: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            run(["proxies", *arguments])
        printed = capsys.readouterr()
        assert CANARY not in printed.out + printed.err
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return command


def test_add_list_disable_restore_remove(proxies: Command) -> None:
    assert "empty" in proxies("list").stdout
    added = proxies("add", f"socks5://u:{CANARY}@p.example:1080", "--country", "DE")
    assert added.returncode == 0, added.stderr
    done = proxies("add", "https://v@[2001:db8::1]:443", "--country", "FR", "--password-stdin", typed=CANARY)
    assert done.returncode == 0, done.stderr
    rows = json.loads(proxies("list", "--json").stdout)
    assert [(r["address"], r["username"], r["has_password"], r["country"]) for r in rows] == [
        ("socks5://p.example:1080", "u", True, "DE"),
        ("https://[2001:db8::1]:443", "v", True, "FR"),
    ]
    assert "p.example" in proxies("list").stdout
    assert json.loads(proxies("disable", "p.example:1080", "--json").stdout) == {"changed": [1]}
    assert [r["active"] for r in json.loads(proxies("list", "--json").stdout)] == [False, True]
    assert proxies("restore", "1").returncode == 0
    assert json.loads(proxies("list", "--json").stdout)[0]["active"] is True
    assert proxies("remove", "1", "2").returncode == 0
    assert json.loads(proxies("list", "--json").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", f"http://u:{CANARY}@p.example", "--country", "DE"), "http://host:8080"),
        (("add", f"http://u:{CANARY}@p.example:99999", "--country", "DE"), "http://host:8080"),
        (("add", f"ftp://u:{CANARY}@p.example:21", "--country", "DE"), "socks5"),
        (("add", "http://p.example:80", "--country", "Germany"), "ISO 3166"),
        (("restore", "7"), "no proxy '7'"),
    ],
)
def test_mistakes_are_one_sentence(proxies: Command, arguments: tuple[str, ...], words: str) -> None:
    done = proxies(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_the_same_proxy_twice_is_a_mistake(proxies: Command) -> None:
    assert proxies("add", "http://p.example:80", "--country", "DE").returncode == 0
    assert proxies("add", "http://p.example:80", "--country", "DE").returncode == 2
