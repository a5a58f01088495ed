"""A folder on an SFTP server: who it is, whom it lets in, and what is left when it goes away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pricecrawl.commerce import file
from pricecrawl.commerce.configured import placements
from pricecrawl.commerce.file import FileTarget
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Accepted,
    Applied,
    NotSent,
    PriceScope,
    TargetRef,
    TargetUnavailable,
    Unknown,
    WritePrice,
)
from tests.shops import sftp
from tests.shops.importer.server import ImporterShop

SCOPE = PriceScope("USD", TaxBasis.INCLUSIVE)
REF = TargetRef("S-1", "S-1")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


@pytest.fixture
def shop(shared: Path) -> ImporterShop:
    return ImporterShop(shared, {"S-1": Decimal("10.00")})


@pytest.fixture
def server(shared: Path, shop: ImporterShop) -> Iterator[sftp.SftpServer]:
    with sftp.serving(shared) as running:
        yield running


def target(server: sftp.SftpServer, tmp_path: Path, **more: Any) -> FileTarget:
    options = {"password": sftp.PASSWORD, "known_hosts": server.known_hosts(tmp_path / "known"), **more}
    return FileTarget(server.url, timeout=4.0, **options)


def order(number: int = 1) -> WritePrice:
    return WritePrice(f"pub-{number}", f"dec-{number}", number, REF, SCOPE, Decimal("9.50"))


def test_with_a_key_instead_of_a_password(
    server: sftp.SftpServer, tmp_path: Path, shop: ImporterShop
) -> None:
    made = target(server, tmp_path, password="", key_file=server.key_file(tmp_path / "id"))
    taken = made.write(order())
    assert isinstance(taken, Accepted)
    shop.work()
    assert isinstance(made.poll(taken.operation), Applied)
    assert made.read(REF, SCOPE).amount == Decimal("9.50")


def test_a_server_that_is_not_known_gets_nothing(server: sftp.SftpServer, tmp_path: Path) -> None:
    """Neither a stranger nor one that took the place of the one we know is told the password."""
    empty = tmp_path / "empty"
    empty.touch()
    impostor = server.known_hosts(tmp_path / "other", server.client_key)
    for known, words in ((str(empty), "is not known"), (impostor, "another host key")):
        made = target(server, tmp_path, known_hosts=known)
        with pytest.raises(TargetUnavailable, match=words):
            made.read(REF, SCOPE)
        assert isinstance(made.write(order()), NotSent)
    assert server.asked == []


def test_a_wrong_password_is_said_and_not_shown(server: sftp.SftpServer, tmp_path: Path) -> None:
    made = target(server, tmp_path, password="canary-wrong")
    with pytest.raises(TargetUnavailable, match="does not let prices in") as caught:
        made.read(REF, SCOPE)
    assert "canary" not in f"{caught.value!r} {caught.value.__cause__!r}"
    outcome = made.write(order())
    assert isinstance(outcome, NotSent)
    assert "canary" not in outcome.cause


def test_a_connection_that_was_lost_is_made_anew(server: sftp.SftpServer, tmp_path: Path) -> None:
    made = target(server, tmp_path)
    assert made.read(REF, SCOPE).amount == Decimal("10.00")
    for _ in range(3):
        server.hang_up()
        assert made.read(REF, SCOPE).amount == Decimal("10.00")
    server.hang_up()
    time.sleep(0.2)
    assert isinstance(made.write(order()), Accepted)


def test_a_disk_that_is_full(server: sftp.SftpServer, tmp_path: Path, shared: Path) -> None:
    """Nothing is where the shop would take it for a price, so it may be sent again."""
    made = target(server, tmp_path)
    server.deaf.add("write")
    outcome = made.write(order())
    assert isinstance(outcome, NotSent)
    assert "the disk is full" in outcome.cause
    assert list((shared / "in").iterdir()) == []
    server.deaf.clear()
    assert isinstance(made.write(order()), Accepted)
    assert len(list((shared / "in").iterdir())) == 1


def test_an_answer_that_was_lost_after_the_file_was_put_there(
    server: sftp.SftpServer, tmp_path: Path, shared: Path
) -> None:
    """Whether it arrived cannot be told; the same publication again adds no second file."""
    made = target(server, tmp_path)
    server.deaf.add("rename_and_hang_up")
    assert isinstance(made.write(order()), Unknown)
    server.deaf.clear()
    assert len(list((shared / "in").iterdir())) == 1
    assert isinstance(made.write(order()), Accepted)
    assert len(list((shared / "in").iterdir())) == 1


def test_a_server_without_atomic_renames(server: sftp.SftpServer, tmp_path: Path, shared: Path) -> None:
    server.deaf.add("posix_rename")
    assert isinstance(target(server, tmp_path).write(order()), Accepted)
    (file,) = (shared / "in").iterdir()
    assert "9.50" in file.read_text(encoding="utf-8")


def test_a_server_that_is_gone(tmp_path: Path, shared: Path) -> None:
    with sftp.serving(shared) as server:
        made = target(server, tmp_path)
    with pytest.raises(TargetUnavailable):
        made.read(REF, SCOPE)
    assert isinstance(made.write(order()), NotSent)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"url": "sftp://prices:canary-9@shop.example/x"}, "a password does not belong into the address"),
        ({"url": "sftp://shop.example/x"}, "sftp://user@host/path"),
        ({"url": "memory://x", "password": "canary-9"}, "for sftp:// only"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, str], words: str) -> None:
    given = {key: SecretStr(text) for key, text in {"kind": "file", **settings}.items()}
    with pytest.raises(UsageProblem) as caught:
        placements({"shop": given})
    assert words in str(caught.value)
    assert "canary" not in str(caught.value)


def test_configuring_sends_nothing(tmp_path: Path) -> None:
    """No server is there at all: found out when a price is read, not when the targets are listed."""
    settings = {
        "kind": "file",
        "url": "sftp://prices@127.0.0.1:9/x",
        "password": "canary-9",
        "timeout_seconds": "1",
    }
    (made,) = placements({"shop": {key: SecretStr(text) for key, text in settings.items()}}).values()
    with pytest.raises(TargetUnavailable, match=r"127\.0\.0\.1"):
        made.target.read(REF, SCOPE)


def test_a_snapshot_is_fetched_once(
    server: sftp.SftpServer, tmp_path: Path, shop: ImporterShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at every price of a shop asks for the state of its file each time, and for its content once."""
    monkeypatch.setattr(file, "STEP", 0.0)
    made = target(server, tmp_path)
    for _ in range(20):
        assert made.read(REF, SCOPE).amount == Decimal("10.00")
    assert server.opened == ["/prices.csv"]
    shop.set_price("S-1", Decimal("123.45"))
    assert made.read(REF, SCOPE).amount == Decimal("123.45")
    assert server.opened == ["/prices.csv"] * 2


def test_a_snapshot_that_changes_within_a_second(
    server: sftp.SftpServer, tmp_path: Path, shop: ImporterShop
) -> None:
    """Of the same size and the same second: it is not taken for the one before."""
    made = target(server, tmp_path)
    for number in range(10, 30):
        shop.set_price("S-1", Decimal(f"{number}.00"))
        assert made.read(REF, SCOPE).amount == Decimal(number)
