"""The tests' own PostgreSQL: shared, and gone when the last that used it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pricecrawl.db.runs import process_alive

_USE = """
import sys, time
from pathlib import Path
from tests.postgres import running
with running() as server, server.database() as url:
    folder = server.socket_folder
    print(Path(folder, "postmaster.pid").read_text().split()[0], folder, flush=True)
    if sys.argv[1] == "stay":
        time.sleep(60)
"""


def _start(how: str) -> tuple[subprocess.Popen[str], int, Path]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    process = subprocess.Popen(
        [sys.executable, "-c", _USE, how], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    return process, int(pid), Path(folder)


def _end(process: subprocess.Popen[str]) -> None:
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.postgres
def test_the_server_stops_with_its_session() -> None:
    process, server, folder = _start("leave")
    _end(process)
    assert process.returncode == 0
    assert not process_alive(server)
    assert not folder.parent.exists()


@pytest.mark.postgres
def test_a_server_whose_session_was_killed_is_stopped_by_the_next() -> None:
    process, server, folder = _start("stay")
    process.send_signal(signal.SIGKILL)
    _end(process)
    assert process_alive(server)
    other, _, _ = _start("leave")
    _end(other)
    assert not process_alive(server)
    assert not folder.parent.exists()
