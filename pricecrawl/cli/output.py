"""What a command prints: one JSON document on stdout, or a table; everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

from pricecrawl.domain.plain import plain

__all__ = ["err", "out", "plain", "print_json"]

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout and nothing else."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
