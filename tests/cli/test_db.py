"""`pricecrawl db` and `pricecrawl evidence` as a person and as a script meet them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from pricecrawl.cli.main import run
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import open_engine
from pricecrawl.db.migrate import head
from pricecrawl.evidence.store import EvidenceStore
from tests.db.test_retention import crawl_with_evidence


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRICECRAWL_HOME", str(tmp_path))
    for name in ("DATABASE_URL", "EVIDENCE_URL"):
        monkeypatch.delenv(f"PRICECRAWL_{name}", raising=False)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_from_nothing_to_a_checked_database(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "db", "check")
    assert (code, out) == (1, "")
    assert err.strip().endswith("`pricecrawl db upgrade` makes one.")
    code, out, _ = call(capsys, "db", "upgrade", "--json")
    told = json.loads(out)
    assert (code, told["from"], told["to"], told["changed"]) == (0, None, head(), True)
    code, out, _ = call(capsys, "db", "upgrade")
    assert code == 0
    assert "the newest" in out
    code, out, _ = call(capsys, "db", "check", "--json")
    assert code == 0
    assert json.loads(out)["problems"] == []


def test_a_problem_is_exit_code_4(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "db", "upgrade")
    with sqlite3.connect(home / "pricecrawl.db") as conn:
        conn.execute("DROP TRIGGER audit_event_no_update")
    conn.close()
    code, out, err = call(capsys, "db", "check")
    assert code == 4
    assert "missing guard: audit_event_no_update" in out
    assert "1 problem(s)" in err
    # An upgrade puts guards back.
    assert call(capsys, "db", "upgrade")[0] == 0
    assert call(capsys, "db", "check")[0] == 0


@pytest.mark.parametrize("command", ["upgrade", "check", "prune"])
def test_what_is_no_database_is_one_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (home / "pricecrawl.db").write_text("not a database\n" * 400)
    code, out, err = call(capsys, "db", command)
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert "is not a database" in err


@pytest.mark.parametrize("command", ["upgrade", "check", "prune"])
def test_a_server_that_is_not_there(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", "postgresql://me:canary@127.0.0.1:1/prices")
    code, out, err = call(capsys, "db", command)
    assert (code, out) == (1, "")
    assert "cannot be reached" in err
    assert "canary" not in err


def test_evidence_is_verified_reindexed_and_pruned(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "db", "upgrade")
    engine = open_engine(f"sqlite:///{home}/pricecrawl.db")
    files = EvidenceStore(str(home / "evidence"))
    refs = [crawl_with_evidence(CrawlStore(engine), files, day, "10") for day in range(3)]
    code, out, _ = call(capsys, "evidence", "verify", "--json")
    assert (code, json.loads(out)) == (0, {"checked": 3, "bad": []})
    with engine.begin() as conn:
        conn.exec_driver_sql("DROP TRIGGER observation_no_update")
        conn.exec_driver_sql("UPDATE observation SET evidence_id = NULL")
        conn.exec_driver_sql("DELETE FROM evidence")
    engine.dispose()
    code, out, _ = call(capsys, "evidence", "reindex", "--check", "--json")
    assert (code, json.loads(out)["added"]) == (0, 3)
    assert call(capsys, "evidence", "reindex")[0] == 0
    assert json.loads(call(capsys, "evidence", "verify", "--json")[1])["checked"] == 3
    path = home / "evidence" / refs[0].warc
    path.write_bytes(path.read_bytes()[: refs[0].offset + refs[0].length - 1])
    code, out, err = call(capsys, "evidence", "verify", "--source", "kettles")
    assert code == 4
    assert refs[0].warc in out.replace("\n", "")
    assert "1 of 3 evidence records" in err
    code, out, _ = call(capsys, "evidence", "reindex", "--json")
    assert (code, json.loads(out)["damage"][0]["last"]) == (0, True)
    code, out, _ = call(capsys, "db", "prune", "--evidence-days", "30", "--check", "--json")
    assert (code, len(json.loads(out)["files"])) == (0, 3)
    code, out, _ = call(capsys, "db", "prune", "--evidence-days", "30")
    assert code == 0
    assert "3 evidence files deleted" in out
    assert list(files.names()) == []


def test_a_migration_may_be_drafted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "db", "revision")
    assert code == 2
    assert "MESSAGE" in err.upper()
