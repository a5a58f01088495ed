"""`pricecrawl tokens` and `pricecrawl serve` as an operator types them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pricecrawl(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pricecrawl", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_token_opens_the_served_interface_until_it_is_revoked(tmp_path: Path) -> None:
    env = {**os.environ, "PRICECRAWL_HOME": str(tmp_path)}
    env.pop("PRICECRAWL_DATABASE_URL", None)
    made = pricecrawl("tokens", "add", "ann", "--role", "viewer", env=env)
    token = made.stdout.strip()
    assert made.returncode == 0
    assert "shown once" in made.stderr
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "pricecrawl", "serve", "--port", str(port)],
        cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}/v1/status"
        headers = {"Authorization": f"Bearer {token}"}
        deadline = time.monotonic() + 60
        while True:
            try:
                answer = httpx.get(url, headers=headers)
                break
            except httpx.ConnectError:
                assert server.poll() is None, server.stderr.read() if server.stderr else ""
                assert time.monotonic() < deadline
                time.sleep(0.2)
        assert answer.status_code == 200
        assert "server" not in answer.headers
        assert pricecrawl("tokens", "revoke", "ann", env=env).returncode == 0
        assert httpx.get(url, headers=headers).status_code == 401
        # A second one on the same port says so in a sentence.
        second = pricecrawl("serve", "--port", str(port), env=env)
        assert second.returncode == 1
        assert f"127.0.0.1:{port} is taken" in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=30)
    assert server.returncode in {0, -signal.SIGTERM}
    assert token not in "".join(said)
    listed = json.loads(pricecrawl("tokens", "list", "--json", env=env).stdout)
    assert [(row["name"], row["role"], row["revoked_at"] is None) for row in listed] == [
        ("ann", "viewer", False)
    ]


def test_tokens_say_what_is_wrong(tmp_path: Path) -> None:
    env = {**os.environ, "PRICECRAWL_HOME": str(tmp_path)}
    env.pop("PRICECRAWL_DATABASE_URL", None)
    assert pricecrawl("tokens", "add", "a b", "--role", "viewer", env=env).returncode == 2
    assert pricecrawl("tokens", "add", "ann", "--role", "king", env=env).returncode == 2
    gone = pricecrawl("tokens", "revoke", "nobody", env=env)
    assert (gone.returncode, "there is no token nobody" in gone.stderr) == (2, True)


def test_a_target_that_is_set_wrongly_stops_the_start(tmp_path: Path) -> None:
    env = {**os.environ, "PRICECRAWL_HOME": str(tmp_path), "PRICECRAWL_TARGET_SHOP_KIND": "vendure"}
    env.pop("PRICECRAWL_DATABASE_URL", None)
    done = pricecrawl("serve", "--port", str(free_port()), env=env)
    assert done.returncode == 2
    assert "PRICECRAWL_TARGET_SHOP_ADMIN_URL is missing" in done.stderr
