"""What the render server's container promises, as far as it can be read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from pricecrawl.rendering.chromium import launch_options

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "render"


def test_the_seccomp_profile_lets_the_sandbox_be_and_little_else() -> None:
    profile = json.loads((FOLDER / "seccomp.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ALLOW"}
    assert {"clone", "clone3", "unshare", "chroot", "seccomp"} <= allowed
    assert not allowed & {
        *("mount", "umount2", "pivot_root", "init_module", "finit_module", "delete_module", "bpf", "keyctl"),
        *(
            "add_key",
            "request_key",
            "reboot",
            "kexec_load",
            "swapon",
            "acct",
            "perf_event_open",
            "userfaultfd",
        ),
        *("open_by_handle_at", "iopl", "ioperm", "settimeofday", "clock_settime", "quotactl", "personality"),
    }


def test_the_container_is_no_root_and_keeps_the_sandbox() -> None:
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    user = re.findall(r"^USER (\d+)", text, re.MULTILINE)
    assert user
    assert int(user[-1]) > 0
    assert "--no-sandbox" not in text
    assert "seccomp=" in text
    assert "--cap-drop ALL" in text
    assert "no-new-privileges" in text
    assert "--require-hashes" in text


@pytest.mark.parametrize(("uid", "sandbox"), [(0, False), (10001, True)])
def test_the_sandbox_is_off_for_root_alone(
    uid: int, sandbox: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    options = launch_options(Path("/usr/bin/chromium"), "MAP * ~NOTFOUND")
    assert options["chromium_sandbox"] is sandbox
    assert not [argument for argument in options["args"] if "sandbox" in argument]
    assert ("without its sandbox" in caplog.text) is not sandbox
