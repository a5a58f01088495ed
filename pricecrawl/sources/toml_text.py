"""One row as a TOML table, and adding it to a file without touching what is there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def to_table(row: Mapping[str, Any]) -> str:
    """`[[source]]` and one line per key, in the order given."""
    return "\n".join(["[[source]]", *(f"{key} = {_value(value)}" for key, value in row.items())]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return str(value)


def append_table(file: Path, table: str) -> None:
    """Add a table at the end of `file`, which is made if need be; all of it or nothing is written."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(before + gap + table)
        if file.exists():
            Path(name).chmod(file.stat().st_mode & 0o777)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
