"""The demo as a newcomer runs it: one command, and everything it promises is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pricecrawl(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pricecrawl", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_whole_way_on_the_high_street(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    # A database of the user's own must stay out of it.
    env = {**os.environ, "PRICECRAWL_DATABASE_URL": f"sqlite:///{tmp_path / 'own.db'}", "COLUMNS": "140"}
    done = pricecrawl("demo", "--home", str(home), env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "own.db").exists()
    assert "every stored page has its digest" in done.stdout
    assert "bytes verified" in done.stdout

    env = {**os.environ, "PRICECRAWL_HOME": str(home), "PRICECRAWL_SOURCES": str(home / "rows")}
    env.pop("PRICECRAWL_DATABASE_URL", None)

    def read(*arguments: str) -> Any:
        return json.loads(pricecrawl(*arguments, "--json", env=env).stdout)

    status = {row["source"]: row for row in read("status")}
    ended = {name: (row["outcome"], row["coverage"]) for name, row in status.items()}
    assert ended == dict.fromkeys(("fjord-field", "harbour-lane", "kiez-kontor"), ("finished", "complete"))
    assert status["harbour-lane"]["missing"] == 1

    verdicts = {row["sku"]: row["verdict"] for row in _rows("decisions", env)}
    assert verdicts == {
        "W-001": "ALLOW",
        "W-002": "REVIEW",  # a sale of 13.8 %
        "W-003": "ALLOW",
        "W-004": "REVIEW",  # sits on its minimum advertised price
        "W-005": "REVIEW",  # the competitor is under our floor
        "W-006": "ALLOW",
        "W-007": "ALLOW",  # the cheaper shop is sold out
        "W-008": "BLOCK",  # the only listing is a crate of six
        "W-009": "BLOCK",  # no cost on file
        "W-010": "REVIEW",  # protected
        "W-011": "ALLOW",
        "W-012": "BLOCK",  # sold out everywhere
    }
    trace = read("trace", "W-001")
    assert trace["complete"] is True
    assert trace["missing"] == []


def _rows(what: str, env: dict[str, str]) -> list[dict[str, Any]]:
    out = pricecrawl("export", what, "--format", "jsonl", env=env).stdout
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("name", ["notes.txt", "pricecrawl.db"])
def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    done = pricecrawl("demo", "--home", str(tmp_path), env=dict(os.environ))
    assert done.returncode == 2
    assert "empty folder" in done.stderr
    assert (tmp_path / name).read_text() == "mine"
