"""What the tests need that pip does not bring: `python -m tests.machine` names what is missing."""

from __future__ import annotations

import shutil
import sys

from pricecrawl.config import Config
from pricecrawl.rendering.chromium import NoChromium, find_chromium


def missing(config: Config) -> list[str]:
    """One sentence for each thing that is not on this machine."""
    found = []
    try:
        find_chromium(config)
    except NoChromium as problem:
        found.append(str(problem))
    if shutil.which("node") is None or shutil.which("npm") is None:
        found.append(
            "Publishing is tested on a real shop: install the packages `nodejs` (20 or newer) and `npm`."
        )
    return found


if __name__ == "__main__":
    problems = missing(Config())
    print(*problems, sep="\n", file=sys.stderr)
    sys.exit(1 if problems else 0)
