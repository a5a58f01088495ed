"""Where the measured corpora are, and how many examples a property test draws.

The corpora are other people's texts and stay out of the repository. A checkout that has a `shared` folder
beside it (or names one in `PRICECRAWL_SHARED`) measures on them; a public clone does not have it, so those
tests are left out at collection, with the reason printed (see `needs_shared`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(os.environ.get("PRICECRAWL_SHARED") or Path(__file__).resolve().parents[2] / "shared")

needs_shared = pytest.mark.skipif(
    not (_ROOT / "corpora").is_dir(), reason=f"no corpora in {_ROOT.name}/ beside this checkout"
)
"""Mark of every test that measures on the corpora."""


def available() -> bool:
    """True where the corpora can be read."""
    return (_ROOT / "corpora").is_dir()


def shared(path: str) -> Path:
    """Absolute path of one file of the shared folder; tests that call it carry `needs_shared`."""
    return _ROOT / path


def rows(path: str) -> Iterator[dict[str, Any]]:
    """The JSON lines of one shared file."""
    yield from lines_of(shared(path))


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of any file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def thorough() -> bool:
    """True when `PRICECRAWL_THOROUGH=1` asks for the full counts."""
    return os.environ.get("PRICECRAWL_THOROUGH") == "1"


def examples(small: int, full: int) -> int:
    """How many examples a property test draws: `small` in `make test`, `full` in `make thorough`."""
    return full if thorough() else small
