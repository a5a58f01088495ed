"""A certificate for loopback, made by openssl for one test session."""

from __future__ import annotations

import subprocess
from pathlib import Path


def self_signed(path: Path) -> Path:
    """Key and certificate in one file, for localhost and 127.0.0.1."""
    key = path.with_suffix(".key")
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(path)),
        ],
        check=True,
        capture_output=True,
    )
    path.write_bytes(path.read_bytes() + key.read_bytes())
    return path
