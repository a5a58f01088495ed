"""`pricecrawl sources` as a person and as a script meet it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from pricecrawl.cli.main import run

GOOD = """\
[[source]]
slug = "tern"
retailer = "Tern & Gull"
base_url = "https://tern.example/"
country = "IE"
currency = "EUR"
"""


@dataclass
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


class Shell:
    """The command in a folder of its own, run in this process."""

    def __init__(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.rows = home / "rows"
        self.rows.mkdir()
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self._env = {"PRICECRAWL_HOME": str(home / "var"), "PRICECRAWL_SOURCES": str(self.rows)}

    def __call__(self, *arguments: str, **env: str) -> Done:
        for name, value in {**self._env, **env}.items():
            self._monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            run(["sources", *arguments])
        printed = self._capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def test_check_prints_every_mistake_and_exits_4(shell: Shell) -> None:
    file = shell.rows / "shopify.toml"
    file.write_text(GOOD + 'currrency = "GBP"\n\n[[source]]\nslug = "gull"\n')
    done = shell("check")
    assert done.returncode == 4
    assert done.stdout.splitlines() == [
        f"{file}:7: currrency: there is no such key; did you mean 'currency'?",
        f"{file}:9: retailer: this key is missing",
        f"{file}:9: base_url: this key is missing",
        f"{file}:9: country: this key is missing",
    ]
    assert "4 mistakes" in done.stderr
    found = json.loads(shell("check", "--json", str(file)).stdout)
    first = found["mistakes"][0]
    assert (first["line"], first["key"], first["slug"]) == (7, "currrency", "tern")
    assert set(first) == {"file", "line", "key", "slug", "message"}


def test_check_of_good_rows_and_of_nothing(shell: Shell) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD)
    done = shell("check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 source in ")
    missing = shell("check", "/no/such/file.toml")
    assert missing.returncode == 2
    assert "/no/such/file.toml does not exist" in missing.stderr
    folder = shell("list", PRICECRAWL_SOURCES="/no/such/folder")
    assert folder.returncode == 2
    assert folder.stderr.startswith("PRICECRAWL_SOURCES: ")


def test_add_list_disable_show_enable(shell: Shell) -> None:
    added = shell(
        "add", "skua", "--platform", "shopify", "--retailer", 'Sk"ua', "--url", "https://skua.example",
        "--country", "NO", "--currency", "NOK", "--set", "tier=A", "--set", "expect={min_listings=3}",
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    assert len((shell.rows / "shopify.toml").read_text().splitlines()) <= 9
    assert shell("check").returncode == 0

    off = shell("disable", "skua", "--reason", "they asked", "--by", "ada")
    assert off.returncode == 0
    listed = json.loads(shell("list", "--json").stdout)["sources"]
    assert [(s["slug"], s["enabled"], s["disabled_reason"], s["every"]) for s in listed] == [
        ("skua", False, "they asked", "15 min")
    ]
    shown = json.loads(shell("show", "skua", "--json").stdout)
    assert (shown["line"], shown["row"]["retailer"], shown["row"]["expect"]["min_listings"]) == (
        1,
        'Sk"ua',
        3,
    )
    assert "they asked" in shell("list").stdout
    assert json.loads(shell("enable", "skua", "--json").stdout)["enabled"] is True
    again = shell("add", "skua", "--platform", "shopify", "--retailer", "x", "--url", "https://x.example",
                  "--country", "NO")  # fmt: skip
    assert again.returncode == 2
    assert "already" in again.stderr


def test_the_switch_works_for_a_row_with_a_mistake(shell: Shell) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD + 'collections = ["a\\nb"]\n')
    assert shell("disable", "tern").returncode == 0


NEW = ("add", "x", "--platform", "shopify", "--retailer", "x", "--url", "https://x.example", "--country")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("disable", "nobody"), "There is no source 'nobody'."),
        (("show", "terns"), "Did you mean 'tern'?"),
        ((*NEW, "DE", "--platform", "shopfy"), "Did you mean 'shopify'?"),
        ((*NEW, "DX"), "country: "),
        ((*NEW, "DE", "--set", "tier"), "no key=value"),
    ],
)
def test_usage_mistakes_are_one_sentence_and_exit_2(
    shell: Shell, arguments: tuple[str, ...], words: str
) -> None:
    (shell.rows / "shopify.toml").write_text(GOOD)
    done = shell(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (shell.rows / "shopify.toml").read_text() == GOOD


def test_add_without_a_folder_prints_the_table(shell: Shell) -> None:
    done = shell("add", "skua", "--platform", "oscar", "--retailer", "S", "--url", "https://s.example",
                 "--country", "NO", PRICECRAWL_SOURCES="")  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith('[[source]]\nslug = "skua"\n')
    assert "PRICECRAWL_SOURCES" in done.stderr
