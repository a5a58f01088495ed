"""Prices into a shop, as a person types it: a simulated WooCommerce store over HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.cli import output
from pricecrawl.cli.main import run
from pricecrawl.cli.worker import alone
from pricecrawl.config import Config
from pricecrawl.db.engine import open_engine
from tests.shops.fault_proxy import Fault, FaultProxy, http_reply
from tests.shops.woocommerce import server as woocommerce
from tests.workflows.shelf import Shelf
from tests.workflows.stall import Stall
from tests.workflows.street import Street

Shell = Callable[..., tuple[int, str, str]]
SKUS = {f"S-{number}": Decimal(20) for number in range(1, 6)}


@pytest.fixture
def store() -> Iterator[woocommerce.WooCommerceShop]:
    with woocommerce.WooCommerceShop(SKUS) as shop:
        yield shop


@pytest.fixture
def proxy(store: woocommerce.WooCommerceShop) -> Iterator[FaultProxy]:
    with FaultProxy(store.port) as proxy:
        yield proxy


@pytest.fixture
def shell(
    tmp_path: Path,
    sqlite_url: str,
    proxy: FaultProxy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    """`pricecrawl ARGS` with one target, `own`: exit code, stdout, stderr."""
    settings = {
        "KIND": "woocommerce", "BASE_URL": proxy.url, "KEY": woocommerce.KEY, "SECRET": woocommerce.SECRET,
        "SETTLE_SECONDS": "0.5",
    }  # fmt: skip
    for key, value in settings.items():
        monkeypatch.setenv(f"PRICECRAWL_TARGET_OWN_{key}", value)
    monkeypatch.setenv("PRICECRAWL_HOME", str(tmp_path))
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", sqlite_url)
    # The console reads COLUMNS when it is made, which an earlier test of this process may have done.
    monkeypatch.setattr(output.out, "width", 200)

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(list(args))
        said = capsys.readouterr()
        assert woocommerce.SECRET not in said.out + said.err
        return int(ended.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def decisions(tmp_path: Path, sqlite_url: str) -> Iterator[dict[str, str]]:
    """An approved decision for each SKU: 20.00 to 19.80."""
    engine = open_engine(sqlite_url)
    stall = Stall(Street(engine, tmp_path), Shelf(), currency="USD")
    at = datetime.now(UTC) - timedelta(minutes=21)
    yield stall.decide(dict.fromkeys(SKUS, ("20.00", "19.80")), at=at)
    engine.dispose()


def good(answer: tuple[int, str, str]) -> Any:
    code, out, err = answer
    assert code == 0, out + err
    return json.loads(out)


def price(store: woocommerce.WooCommerceShop, sku: str) -> str:
    return str(next(row["regular_price"] for row in store.rows.values() if row["sku"] == sku))


def change(store: woocommerce.WooCommerceShop, sku: str, amount: str) -> None:
    next(row for row in store.rows.values() if row["sku"] == sku)["regular_price"] = amount


def test_publish_verify_and_roll_back(
    shell: Shell, decisions: dict[str, str], store: woocommerce.WooCommerceShop
) -> None:
    done = good(shell("publish", decisions["S-1"], "--json"))
    row = done["publications"][0]
    assert (row["status"], row["before"], row["amount"]) == ("VERIFIED", "20", "19.80")
    assert price(store, "S-1") == "19.80"
    found = good(shell("verify", row["publication_id"], "--json"))
    assert (found["verified"], found["wrong"]) == (1, 0)
    code, out, _ = shell("verify", row["publication_id"])
    assert (code, "as it should be" in out) == (0, True)
    # Nothing earlier was verified, so there is nothing to go back to.
    code, _, err = shell("rollback", "S-1", "--reason", "a wrong feed")
    assert (code, "no earlier verified price" in err) == (2, True)


def test_a_price_changed_in_the_shop_is_an_incident(
    shell: Shell, decisions: dict[str, str], store: woocommerce.WooCommerceShop
) -> None:
    good(shell("publish", "--all", "--json"))
    assert {price(store, sku) for sku in SKUS} == {"19.80"}
    code, out, _ = shell("verify")
    assert (code, "5 prices looked at, 0 of them" in out) == (0, True)
    change(store, "S-2", "3.00")
    code, out, err = shell("verify")
    assert (code, "1 of them" in out, "jobs list" in err) == (4, True, True)
    letters = good(shell("jobs", "list", "--json"))["letters"]
    assert [letter["kind"] for letter in letters] == ["incident"]
    number = str(letters[0]["id"])
    assert "S-2: the shop has 3.00" in shell("jobs", "list")[1]
    assert shell("jobs", "replay", number)[0] == 4
    assert good(shell("targets", "read", "own", "S-2", "--json"))["state"]["amount"] == "3.00"
    assert "the catalogue says 19.80" in shell("targets", "read", "own", "S-2")[1]
    change(store, "S-2", "19.80")
    assert shell("jobs", "replay", number)[0] == 0
    assert "no dead letter" in shell("jobs", "list")[1]


def test_a_shop_that_is_away_is_not_looked_at(
    shell: Shell, decisions: dict[str, str], proxy: FaultProxy
) -> None:
    """Nothing is wrong as far as anybody knows, and nobody is told that all is well."""
    good(shell("publish", "--all", "--json"))
    proxy.faults.append(Fault("answer", b"", times=99, reply=http_reply("503 Service Unavailable")))
    code, out, err = shell("verify")
    assert (code, "0 prices looked at" in out, "5 prices could not be read" in err) == (3, True, True)
    code, out, _ = shell("verify", "--json")
    found = json.loads(out)
    assert (code, found["verified"], found["wrong"], found["not_read"]) == (3, 0, 0, 5)


def test_stale_then_adopted(
    shell: Shell, decisions: dict[str, str], store: woocommerce.WooCommerceShop
) -> None:
    change(store, "S-3", "21.50")
    code, out, _ = shell("publish", decisions["S-3"])
    assert (code, "stale" in out) == (4, True)
    assert price(store, "S-3") == "21.50"
    done = good(shell("targets", "adopt", "own", "S-3", "--reason", "a sale by hand", "--json"))
    assert done["current_price"] == "21.50"


def test_a_dead_letter_is_replayed(
    shell: Shell,
    decisions: dict[str, str],
    store: woocommerce.WooCommerceShop,
    proxy: FaultProxy,
    tmp_path: Path,
) -> None:
    proxy.faults.append(Fault("answer", rb"^PUT ", reply=http_reply("403 Forbidden", "{}")))
    code, out, _ = shell("publish", decisions["S-4"])
    assert (code, "http_403" in out) == (4, True)
    number = str(good(shell("jobs", "list", "--json"))["letters"][0]["id"])
    shown = good(shell("jobs", "show", number, "--json"))["publication"]
    call = shown["outcome"]["attempts"][0]["exchanges"][-1]
    assert (call["status"], call["request"].split()[0]) == (403, "PUT")
    assert shell("jobs", "replay", number)[0] == 0
    assert price(store, "S-4") == "19.80"
    # What is kept of the calls holds no credential, in whatever form it went out.
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("*.db*"))
    login = base64.b64encode(f"{woocommerce.KEY}:{woocommerce.SECRET}".encode())
    assert b"regular_price" in stored
    assert woocommerce.SECRET.encode() not in stored
    assert login not in stored


def test_a_worker_takes_up_what_a_command_left(
    shell: Shell, decisions: dict[str, str], store: woocommerce.WooCommerceShop, proxy: FaultProxy
) -> None:
    """The answer is lost and the command does not wait; the worker finds out and ends it."""
    proxy.faults.append(Fault("reset", rb"^PUT "))
    code, out, _ = shell("publish", decisions["S-5"], "--wait", "0")
    assert (code, "publishing" in out) == (4, True)
    assert "under way" in shell("jobs", "list")[1]
    assert shell("worker", "--once", "--every", "0.2")[0] == 0
    assert price(store, "S-5") == "19.80"
    assert proxy.count(rb"^PUT ") == 2
    assert good(shell("jobs", "list", "--json"))["publications"] == []
    # It also watches what was left there.
    change(store, "S-5", "2.00")
    assert shell("worker", "--once", "--every", "0.2")[0] == 0
    assert "S-5: the shop has 2.00" in shell("jobs", "list")[1]


def test_two_workers_of_one_name(shell: Shell) -> None:
    """The second one is told, and does nothing; another name, or the first one's end, is fine."""
    with alone(Config.load().home, "worker:left"):
        code, _, err = shell("worker", "--once", "--name", "left")
        assert (code, "worker:left runs here already" in err) == (2, True)
        with alone(Config.load().home, "worker:right"):
            pass
    with alone(Config.load().home, "worker:left"):
        pass
    assert shell("worker", "--once", "--name", "x" * 94)[0] == 2


def test_what_cannot_be_published_is_said(
    shell: Shell, decisions: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = shell("publish", "nothing")
    assert (code, "no decision nothing" in err) == (4, True)
    assert shell("publish")[0] == 2
    assert shell("publish", decisions["S-1"], "--target", "other")[0] == 2
    good(shell("hold", "set", "target", "own", "--reason", "look", "--json"))
    code, _, err = shell("publish", decisions["S-1"])
    assert (code, "held" in err) == (4, True)
    for key in ("KIND", "BASE_URL", "KEY", "SECRET", "SETTLE_SECONDS"):
        monkeypatch.delenv(f"PRICECRAWL_TARGET_OWN_{key}")
    code, _, err = shell("publish", decisions["S-1"])
    assert (code, "no target is configured" in err) == (2, True)


def test_targets(shell: Shell) -> None:
    rows = good(shell("targets", "list", "--json"))
    assert [(row["name"], row["kind"]) for row in rows] == [("own", "woocommerce")]
    assert "woocommerce" in shell("targets", "list")[1]
    kinds = good(shell("targets", "kinds", "--json"))
    assert len(kinds) == 9
    assert "CLIENT_SECRET" in shell("targets", "kinds")[1]
