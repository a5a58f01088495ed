"""What a command prints: one JSON document on stdout, or a table; everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.errors import MarkupError
from rich.text import Text

from pricecrawl.domain.plain import plain

__all__ = ["err", "out", "plain", "print_json"]

# Everything that moves a cursor, clears a screen or names a window: a shop's text or a person's reason may
# hold it, and a terminal would obey. Lines and tabs stay.
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


class _Console(Console):
    """A console that shows text, whatever is in it."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The text with its markup; one whose brackets are no markup is shown as it is."""
        text = text.translate(_CONTROLS)
        try:
            return super().render_str(text, **options)
        except MarkupError:
            return super().render_str(text, **{**options, "markup": False})


out = _Console(highlight=False)
err = _Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout and nothing else."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
