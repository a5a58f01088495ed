"""The environment: defaults, refusals, and secrets that never show."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pydantic import ValidationError

import pricecrawl
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem

CANARY = "k4nary-5ecret"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in os.environ:
        if name.startswith("PRICECRAWL_"):
            monkeypatch.delenv(name)


def test_everything_has_a_default_but_the_contact(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config.load()
    assert config.home == tmp_path / "var"
    assert config.database_url == f"sqlite:///{tmp_path}/var/pricecrawl.db"
    assert config.evidence_url == str(tmp_path / "var" / "evidence")
    assert config.contact is None
    assert config.sources is None
    assert config.bot_name == "PricecrawlBot"
    assert config.target("vendure") == {}


def test_every_variable_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {
        "HOME": str(tmp_path / "home"), "DATABASE_URL": "postgresql://u:p@db/x", "EVIDENCE_URL": "s3://bucket/x",
        "SOURCES": str(tmp_path), "CONTACT": "mailto@shop.example", "BOT_NAME": "TernBot", "SECRET_KEY": "k",
        "OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "c", "OIDC_CLIENT_SECRET": "s",
        "NOTIFY": "mailto://a json://b", "CHROMIUM": "/usr/bin/chromium", "TARGET_VENDURE_PASSWORD": "v",
        "TARGET_VENDURE_USER_NAME": "w",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"PRICECRAWL_{name}", value)
    config = Config.load()
    assert (config.home, config.sources) == (tmp_path / "home", tmp_path)
    assert config.database_url == "postgresql://u:p@db/x"
    assert config.evidence_url == "s3://bucket/x"
    assert (config.contact, config.bot_name) == ("mailto@shop.example", "TernBot")
    assert config.secret_key is not None
    assert config.oidc_client_secret is not None
    assert (config.oidc_issuer, config.oidc_client_id) == ("https://id.example", "c")
    assert [url.get_secret_value() for url in config.notify] == ["mailto://a", "json://b"]
    assert str(config.chromium) == "/usr/bin/chromium"
    assert {k: v.get_secret_value() for k, v in config.target("Vendure").items()} == {
        "password": "v",
        "user_name": "w",
    }


def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONTACT", "DATABASE_URL", "SOURCES", "BOT_NAME", "NOTIFY"):
        monkeypatch.setenv(f"PRICECRAWL_{name}", "")
    config = Config.load()
    assert config.contact is None
    assert config.database_url.startswith("sqlite:")
    assert config.notify == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BOT_NAME", "two words"), ("BOT_NAME", "Bot/1.0"), ("BOT_NAME", "b\nX: y"), ("CONTACT", "me"),
        ("CONTACT", "a@b\r\nX: y"), ("CONTACT", "ftp://x"), ("SOURCES", "/nowhere/at/all"),
    ],
)  # fmt: skip
def test_a_bad_value_is_one_sentence_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PRICECRAWL_{name}", value)
    with pytest.raises(UsageProblem) as problem:
        Config.load()
    text = str(problem.value)
    assert text.startswith(f"PRICECRAWL_{name}: ")
    assert "\n" not in text
    assert value not in text


def test_it_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Config.load().bot_name = "Other"  # type: ignore[misc]  # the point of the test


def test_no_secret_in_any_text_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "DATABASE_URL",
        "EVIDENCE_URL",
        "SECRET_KEY",
        "OIDC_CLIENT_SECRET",
        "NOTIFY",
        "TARGET_X_TOKEN",
    ):
        monkeypatch.setenv(f"PRICECRAWL_{name}", f"x://u:{CANARY}@h/d")
    config = Config.load()
    assert CANARY not in repr(config) + str(config) + str(config.model_dump()) + config.model_dump_json()
    monkeypatch.setenv("PRICECRAWL_BOT_NAME", CANARY)
    with pytest.raises(UsageProblem) as problem:
        Config.load()
    assert CANARY not in str(problem.value)


def test_nothing_else_reads_the_environment() -> None:
    package = Path(pricecrawl.__file__).parent
    readers = []
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            used = isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
            # A child process may be given the environment as it is.
            if used and "subprocess" not in file.read_text(encoding="utf-8"):
                readers.append(f"{file.relative_to(package)}:{node.lineno}")
    # The demo reads no setting: it takes all of them away and names its own folders.
    allowed = ("config.py:", "demo/run.py:")
    assert [place for place in readers if not place.startswith(allowed)] == []
