"""Prints the table of currency signs that CLDR knows; with `--write` stores it in the package."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from babel import localedata
from babel.core import get_global

TARGET = Path(__file__).resolve().parents[2] / "pricecrawl" / "domain" / "money_cldr.py"

HEAD = '''"""Currency signs of every CLDR locale: sign → the currencies that some locale writes with it.

Generated from Babel's copy of CLDR (Unicode-3.0) by `python -m tests.domain.generate_money_signs --write`;
a test fails when Babel's data and this table part. ISO codes are not listed. `ROOT_SIGNS` are the signs that
CLDR gives to one currency in every language: they need no context.
"""

from __future__ import annotations

'''


def tidy(sign: str) -> str:
    """A sign without bidi marks and outer blanks, with plain inner blanks."""
    kept = "".join(c for c in sign if c not in "\u200b\u200e\u200f\u061c")
    return " ".join(kept.split())


def is_code(sign: str) -> bool:
    return sign in get_global("all_currencies")


def tables() -> tuple[dict[str, str], dict[str, str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for locale in localedata.locale_identifiers():
        for code, sign in localedata.load(locale)["currency_symbols"].items():
            text = tidy(sign)
            if text and not is_code(text) and code != "XXX":
                found[text].add(code)
    root = {
        tidy(sign): code
        for code, sign in localedata.load("root")["currency_symbols"].items()
        if code != "XXX" and not is_code(tidy(sign))
    }
    return {sign: " ".join(sorted(codes)) for sign, codes in sorted(found.items())}, dict(
        sorted(root.items())
    )


def render() -> str:
    signs, root = tables()
    lines = [HEAD, "SIGNS: dict[str, str] = {\n"]
    lines += [_line(sign, codes) for sign, codes in signs.items()]
    lines += ["}\n\nROOT_SIGNS: dict[str, str] = {\n"]
    lines += [f"    {_quote(sign)}: {_quote(code)},\n" for sign, code in root.items()]
    lines += ["}\n"]
    return "".join(lines)


def _line(sign: str, codes: str) -> str:
    line = f"    {_quote(sign)}: {_quote(codes)},\n"
    if len(line) <= 110:
        return line
    half = codes.index(" ", len(codes) // 2) + 1
    return f"    {_quote(sign)}: (\n        {_quote(codes[:half])}\n        {_quote(codes[half:])}\n    ),\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    if "--write" in sys.argv:
        TARGET.write_text(render(), encoding="utf-8")
    else:
        sys.stdout.write(render())
