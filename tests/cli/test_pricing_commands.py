"""The pricing side as a person types it: what is printed, as JSON and as text, and the exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.cli import output
from pricecrawl.cli.main import run
from pricecrawl.db.engine import open_engine
from tests.workflows.street import COSTS, SKUS, Street

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(
    tmp_path: Path,
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    """`pricecrawl ARGS`: exit code, stdout, stderr; on a database of its own."""
    monkeypatch.setenv("PRICECRAWL_HOME", str(tmp_path))
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", sqlite_url)
    # The console reads COLUMNS when it is made, which an earlier test of this process may have done.
    monkeypatch.setattr(output.out, "width", 200)

    def call(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(list(args))
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def street(tmp_path: Path, sqlite_url: str) -> Any:
    engine = open_engine(sqlite_url)
    yield Street(engine, tmp_path)
    engine.dispose()


def good(answer: tuple[int, str, str]) -> Any:
    code, out, err = answer
    assert code == 0, err
    return json.loads(out)


def test_from_two_files_to_a_traced_price(shell: Shell, street: Street) -> None:
    imported = good(shell("catalog", "import", str(street.file(SKUS)), "--json"))
    assert (imported["rows"], imported["added"]) == (1, 1)
    assert good(shell("catalog", "costs", str(street.file(COSTS, "costs.csv")), "--json"))["rows"] == 1
    street.observe("18.00", at=datetime.now(UTC) - timedelta(minutes=5))
    assert good(shell("match", "run", "--json"))["added"] == {"AUTO_ACCEPTED": 1}

    priced = good(shell("price", "run", "--sku", "K-1", "--json"))
    (made,) = priced["decisions"]
    assert (made["proposed_price"], made["verdict"], made["status"]) == ("18.00", "REVIEW", "REVIEW_REQUIRED")
    of = made["decision_id"]

    (item,) = good(shell("review", "list", "--json"))
    assert item["id"] == f"price:{of}"
    assert good(shell("review", "show", of, "--json"))["sku"] == "K-1"
    code, _, err = shell("review", "approve", of)
    assert (code, "--reason" in err) == (2, True)
    assert (
        good(shell("review", "approve", of, "--reason", "ok", "--by", "ann", "--json"))["result"]
        == "approved"
    )
    code, _, err = shell("review", "approve", of, "--reason", "again")
    assert (code, "waits for nobody" in err) == (1, True)

    found = good(shell("trace", "K-1", "--json"))
    assert found["complete"] is True
    assert found["offers"][0]["evidence"]["verified"] is True
    assert found["approvals"][0]["actor"] == "ann"
    assert good(shell("audit", "--json"))["problems"] == []


def test_the_tables_for_people(shell: Shell, street: Street) -> None:
    street.catalogue(now=datetime.now(UTC))
    street.observe("18.00", at=datetime.now(UTC) - timedelta(minutes=5))
    for args, words in (
        (("match", "run"), "1 of them name a SKU"),
        (("price", "run"), "1 SKUs under policy builtin-1: 1 to review"),
        (("review", "list"), "20.50 to 18.00 EUR (-12.2 %)"),
        (("trace", "K-1"), "the chain is complete and every stored page has its digest"),
        (("price", "policy", "list"), "in force"),
        (("hold", "list"), "nothing is held"),
        (("audit",), "no problems"),
        (("export", "decisions"), "decision_id,sku,name"),
    ):
        code, out, err = shell(*args)
        assert code == 0, err
        assert words in out, args
    decision = json.loads(shell("export", "decisions", "-f", "json")[1])[0]["decision_id"]
    code, out, _ = shell("review", "show", decision[:8])
    assert code == 0
    assert "decrease_over_limit" in out


def test_the_way_to_a_landed_price_is_shown(shell: Shell, street: Street) -> None:
    now = datetime.now(UTC)
    street.catalogue(now=now)
    street.observe(
        "18.00",
        at=now - timedelta(minutes=5),
        shipping=Decimal("4.95"),
        promotion_text="Save 10% at checkout",
    )
    street.match()
    shell("price", "run")
    told = shell("trace", "K-1")[1]
    assert "landed 21.15" in told
    assert "18.00 EUR + 4.95 delivery - 1.80" in told


def test_two_policies_side_by_side_as_json_and_as_a_table(
    shell: Shell, street: Street, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    street.catalogue(now=now)
    street.observe("20.00", at=now - timedelta(minutes=20))
    street.observe("18.00", at=now - timedelta(minutes=5))
    street.match()
    file = tmp_path / "policy.toml"
    file.write_text('version = "bold"\nvalid_from = 2026-01-01\n[default]\nreview_decrease = 0.2\n')
    args = ("price", "simulate", "--policy", str(file), "--since", "1h")
    told = good(shell(*args, "--json"))
    assert (told["skus"], told["moments"]) == (1, 2)
    assert (told["current"]["changes"], told["candidate"]["changes"]) == (1, 2)
    assert (told["current"]["win_rate"], told["candidate"]["win_rate"]) == ("0.500000", "1.000000")
    assert told["candidate"]["money"]["EUR"] == {
        "revenue": "18.00",
        "cost": "11.50",
        "start": "20.50",
        "margin": "0.361111",
        "price_level": "0.878049",
    }
    lines = [line.split() for line in shell(*args)[1].splitlines()]
    assert ["at", "or", "under", "the", "market", "50.0", "%", "100.0", "%"] in lines
    assert ["margin", "at", "the", "end", "42.5", "%", "36.1", "%"] in lines
    assert ["price", "level", "97.6", "%", "87.8", "%"] in lines


def test_an_incomplete_chain_and_a_tampered_row_end_with_4(shell: Shell, street: Street) -> None:
    street.catalogue(now=datetime.now(UTC))
    street.observe("20.00", at=datetime.now(UTC) - timedelta(minutes=5))
    shell("match", "run")
    shell("price", "run")
    for page in (street.folder / "evidence").rglob("*.warc.gz"):
        page.unlink()
    code, out, _ = shell("trace", "K-1")
    assert code == 4
    assert "missing links" in out
    with street.engine.begin() as conn:
        conn.exec_driver_sql("UPDATE price_decision SET allowed_floor = '1.00'")
    code, out, _ = shell("audit")
    assert code == 4
    assert "was changed after its event" in out


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("catalog", "import", "none.csv"), 2, "none.csv cannot be read"),
        (("catalog", "import", "bad.csv"), 4, "bad.csv, line 2, column currency: the value is missing"),
        (("catalog", "import", "bad.csv", "--decimal", "x"), 2, "is no decimal mark"),
        (("price", "run", "--sku", "X"), 2, "SKU X is not in the catalogue"),
        (("price", "simulate", "--policy", "none.toml", "--since", "7d"), 2, "none.toml cannot be read"),
        (("price", "simulate", "--policy", "bad.csv", "--since", "7d"), 2, "bad.csv is no TOML"),
        (("price", "policy", "show", "v9"), 2, "there is no policy v9"),
        (("review", "list", "--kind", "shelf"), 2, "is none of price, mapping, candidate, policy"),
        (("hold", "set", "sku", "X", "--reason", "r"), 2, "there is no sku 'X'"),
        (("hold", "clear", "everything", "--reason", "r"), 2, "everything is not held"),
        (("trace", "X"), 2, "there is no SKU, decision or publication 'X'"),
        (("export", "shelves"), 2, "there is no table 'shelves' to export"),
        (("export", "listings", "--format", "xlsx"), 2, "is no format"),
        (("export", "listings", "--since", "soon"), 2, "is no time"),
        (("review", "exception", "request", "X", "--reason", "r"), 3, "has no exceptions"),
    ],
)
def test_mistakes_are_one_sentence_and_an_exit_code(
    shell: Shell,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("sku,name,currency\nA,Tee,\n", encoding="utf-8")
    ended, out, err = shell(*args)
    assert (ended, out) == (code, "")
    assert words in err
    assert "Traceback" not in err


def test_a_policy_is_proposed_by_one_and_approved_by_another(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        'version = "v2"\nvalid_from = 2026-01-01\n[default]\nrequired_margin = 0.2\n', encoding="utf-8"
    )
    assert shell("price", "policy", "propose", str(file), "--by", "ann")[0] == 0
    code, _, err = shell("review", "approve", "policy:v2", "--reason", "mine", "--by", "ann")
    assert (code, "somebody else must approve it" in err) == (2, True)
    code, out, _ = shell("review", "approve", "policy:v2", "--reason", "fine", "--by", "bob")
    assert (code, "policy v2 is in force now." in out) == (0, True)
    assert good(shell("price", "policy", "show", "v2"))["default"]["required_margin"] == "0.2"
    assert good(shell("price", "policy", "show", "v2", "--json"))["version"] == "v2"
    (row,) = good(shell("price", "policy", "list", "--json"))
    assert row["in_force"] is True
    assert (row["version"], row["approved_by"]) == ("v2", "bob")


def test_a_name_in_a_policy_that_nobody_has_is_said(shell: Shell, street: Street, tmp_path: Path) -> None:
    street.catalogue(now=datetime.now(UTC))
    street.observe("20.00", at=datetime.now(UTC) - timedelta(minutes=5))
    street.match()
    file = tmp_path / "policy.toml"
    file.write_text(
        'version = "v2"\nvalid_from = 2026-02-01\n[default]\ncompetitors = ["ketles"]\n'
        '[category."kettles"]\nprotected = true\n[category."Kettles"]\nprotected = true\n'
        '[sku."K-1"]\nprotected = true\n[sku."K1"]\nprotected = true\n'
    )
    told = [
        """policy v2: [sku."K1"] says nothing of any SKU""",
        """policy v2: [category."Kettles"] says nothing of any SKU""",
        """policy v2: competitors: there is no source 'ketles'""",
    ]
    code, out, err = shell("price", "simulate", "--policy", str(file), "--since", "1h", "--json")
    assert (code, json.loads(out)["skus"]) == (0, 1)
    assert [line.split(":", 2)[:2] for line in err.splitlines()] == [line.split(":", 2)[:2] for line in told]
    code, _, err = shell("price", "policy", "propose", str(file), "--by", "ann")
    assert code == 0
    assert all(line in err for line in told)


def test_a_policy_as_it_is_shown_can_be_proposed_again(shell: Shell, tmp_path: Path) -> None:
    body = good(shell("price", "policy", "show", "builtin-1")) | {"version": "v2"}
    file = tmp_path / "v2.json"
    file.write_text(json.dumps(body))
    assert shell("price", "policy", "propose", str(file), "--by", "ann")[0] == 0
    assert good(shell("price", "policy", "show", "v2")) == body
    for text, words in (("[1]", "must be a table"), ("{", "is no JSON"), ('{"version": "x"}', "valid_from")):
        file.write_text(text)
        code, _, err = shell("price", "policy", "propose", str(file), "--by", "ann")
        assert (code, words in err) == (2, True), err


def test_what_an_approved_policy_means_is_said(shell: Shell, tmp_path: Path) -> None:
    """One that starts before the present one never holds: said at once, not found out by nobody."""
    for version, start, told in (
        ("new", "2026-01-02", "policy new is in force now."),
        ("old", "2026-01-01", "policy old does not hold: new starts later (2026-01-02)"),
        ("next", "2999-01-01", "policy next holds from 2999-01-01 on."),
    ):
        file = tmp_path / f"{version}.toml"
        file.write_text(f'version = "{version}"\nvalid_from = {start}\n', encoding="utf-8")
        assert shell("price", "policy", "propose", str(file), "--by", "ann")[0] == 0
        code, out, _ = shell("review", "approve", f"policy:{version}", "--reason", "fine", "--by", "bob")
        assert (code, told in out) == (0, True), out


def test_a_rejected_policy_is_gone_from_the_queue_for_good(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('version = "v2"\nvalid_from = 2026-01-01\n', encoding="utf-8")
    assert shell("price", "policy", "propose", str(file), "--by", "ann")[0] == 0
    assert shell("review", "reject", "policy:v2", "--reason", "too cheap", "--by", "bob")[0] == 0
    assert good(shell("review", "list", "--json")) == []
    code, _, err = shell("review", "approve", "policy:v2", "--reason", "after all", "--by", "cid")
    assert (code, "policy v2 was rejected by bob" in err) == (2, True)
    (row,) = [item for item in good(shell("price", "policy", "list", "--json")) if item["version"] == "v2"]
    assert (row["rejected_by"], row["approved_at"]) == ("bob", None)


def test_a_reader_that_stops_early_is_no_error(street: Street, tmp_path: Path, sqlite_url: str) -> None:
    street.catalogue()
    for hour in range(3):
        street.observe(f"{20 - hour}.00", at=datetime.now(UTC) - timedelta(hours=hour + 1))
    command = f"{sys.executable} -m pricecrawl export history | head -n 1"
    env = {**os.environ, "PRICECRAWL_HOME": str(tmp_path), "PRICECRAWL_DATABASE_URL": sqlite_url}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("source,source_sku,")


def test_a_mark_of_the_log_shows_what_was_cut_off_its_end(
    shell: Shell, street: Street, tmp_path: Path
) -> None:
    street.observe("20.00")
    for reason in ("moved", "moved again"):
        street.crawl.set_enabled("kettles", False, by="ann", reason=reason, now=datetime.now(UTC))
    mark = tmp_path / "safe" / "mark.json"
    code, _, err = shell("audit", "--anchor", str(mark))
    assert (code, err) == (1, f"{mark} cannot be written (No such file or directory).\n")
    mark.parent.mkdir()
    assert good(shell("audit", "--anchor", str(mark), "--json"))["problems"] == []
    kept = mark.read_text(encoding="utf-8")
    with street.engine.begin() as conn:
        conn.exec_driver_sql("DROP TRIGGER audit_event_no_delete")
        conn.exec_driver_sql("DELETE FROM audit_event WHERE id = (SELECT max(id) FROM audit_event)")
    assert shell("audit")[0] == 0
    code, out, _ = shell("audit", "--anchor", str(mark), "--json")
    assert code == 4
    (problem,) = json.loads(out)["problems"]
    had = json.loads(kept)["events"]
    assert problem["problem"] == f"had {had} events, and there are {had - 1}"
    assert mark.read_text(encoding="utf-8") == kept
    for text in ("", "{}", "[]", '{"until": "x", "events": 1, "sha256": ""}'):
        mark.write_text(text, encoding="utf-8")
        code, _, err = shell("audit", "--anchor", str(mark))
        assert (code, err) == (2, f"{mark} is no mark that `pricecrawl audit --anchor` wrote.\n")


def test_stored_pages_are_read_unless_they_are_left_out(shell: Shell, street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    page = next((street.folder / "evidence").rglob("*.warc.gz"))
    page.unlink()
    code, out, _ = shell("audit", "--json")
    assert code == 4
    (problem,) = json.loads(out)["problems"]
    assert problem["table"] == "evidence"
    assert "is missing" in problem["problem"]
    assert shell("audit", "--no-evidence")[0] == 0
