"""Every golden case of every platform: its pages, served on loopback, give exactly its expected result.

A case is a folder `tests/spiders/<platform>/<case>/` with `case.toml`, the bodies it names, and
`expected.json`. It is found by itself. `python -m tests.spiders.test_golden <case folder>...` writes what a
crawl gives now, to be read and judged before it is committed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.spiders.harness import crawl, read_case

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/case.toml"))


@pytest.mark.parametrize("folder", CASES, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_case(folder: Path) -> None:
    row, answers, arguments = read_case(folder)
    result = crawl(folder.parent.name, row, answers, arguments=arguments)
    assert "downloader/exception_count" not in result.stats
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert result.summary() == expected


def test_every_platform_has_a_case() -> None:
    from pricecrawl.spiders.loader import platforms

    assert set(platforms()) <= {folder.parent.name for folder in CASES}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        case = Path(name).resolve()
        given, pages, args = read_case(case)
        found = crawl(case.parent.name, given, pages, arguments=args).summary()
        text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
        (case / "expected.json").write_text(text, encoding="utf-8")
        print(case.name, found["coverage"], len(found["listings"]), "listings")
