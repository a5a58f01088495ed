"""`python -m tests.score FILE.jsonl [--area A] [--min 0.95]`: scores any file of cases with `expected`.

Each case goes through the function that the command line uses for its kind. Printed per area: how many
are right, wrong, and silently wrong (a value was given, it is wrong, and nothing asked for a review).
Only the keys that `expected` holds are judged; `accept` lists other right answers. Exit code 4 where
the share of right answers stays under `--min`; rows that another library is known to fail (`xfail`) are
counted apart and do not weigh in.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pricecrawl.cli.batch import BadLineError, BatchInput, decode
from pricecrawl.cli.output import plain
from pricecrawl.domain.money import read_price
from pricecrawl.domain.run import EXIT_DONE, EXIT_PROBLEMS
from tests.shared import lines_of

ROOMS = {
    "price_string": "parse",
    "size_string": "parse",
    "gtin": "parse",
    "robots": "robots",
    "challenge_html": "classify",
}
"""Kind of input → module of `pricecrawl.cli` whose `answer` reads it; every other kind is `extract`'s."""

_NUMERIC = {
    "amount",
    "price",
    "original_price",
    "member_price",
    "pre_order_price",
    "base_quantity",
    "crawl_delay",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judged case. `wrong` lists what differs: key, expected, given."""

    identity: str
    area: str
    wrong: tuple[tuple[str, Any, Any], ...]
    silent: bool
    xfail: bool
    error: str | None = None

    @property
    def right(self) -> bool:
        return not self.wrong and self.error is None


def answer_of(kind: str) -> Callable[[BatchInput], Any]:
    """The function that answers inputs of a kind, imported when first needed."""
    answer: Callable[[BatchInput], Any] = importlib.import_module(
        f"pricecrawl.cli.{ROOMS.get(kind, 'extract')}"
    ).answer
    return answer


def judge(row: Mapping[str, Any], folder: Path) -> Verdict:
    """Answer one case and compare."""
    identity, area = str(row.get("id")), str(row.get("area", ""))
    xfail = bool(row.get("xfail"))
    try:
        given = decode(row["input"], folder)
        output = plain(answer_of(given.kind)(given))
    except BadLineError as problem:
        return Verdict(identity, area, (), False, xfail, str(problem))
    except Exception as problem:
        return Verdict(identity, area, (), False, xfail, f"{type(problem).__name__}: {problem}")
    wrong = differences(expectation(row), output, row.get("accept") or {})
    review = isinstance(output, Mapping) and bool(output.get("needs_review"))
    silent = not review and any(value is not None for _, _, value in wrong)
    return Verdict(identity, area, tuple(wrong), silent, xfail)


def expectation(row: Mapping[str, Any]) -> Any:
    """What a row expects: `expected`, or the `offers` that its markup states; None if it judges nothing."""
    if "offers" in row and "expected" not in row:
        offers = row["offers"]
        return {"offers": offers if isinstance(offers, list) else [offers]}
    return row.get("expected")


def differences(expected: Any, output: Any, accept: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """What differs between an expectation and an answer, key by key."""
    if isinstance(expected, list):
        return _listed(expected, output)
    if not isinstance(output, Mapping):
        return [("output", expected, output)]
    wrong = []
    for key, value in expected.items():
        if key == "offers":
            wrong += _offers(value, output)
            continue
        found = output.get(key)
        if key == "items":
            found = len(found) if isinstance(found, list) and isinstance(value, int) else found
        allowed = accept.get(key, []) if isinstance(accept, Mapping) else []
        if not any(same(key, one, found) for one in (value, *allowed)):
            wrong.append((key, value, found))
    return wrong


def same(key: str, expected: Any, found: Any) -> bool:
    """Equal as numbers where the key is a number, as subsets where it holds records, else as they are."""
    if (
        isinstance(expected, list)
        and isinstance(found, list)
        and all(isinstance(e, Mapping) for e in expected)
    ):
        return _items(expected, found)
    if expected is None or found is None or isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if key in _NUMERIC or isinstance(expected, int | float):
        return number(expected) == number(found)
    return bool(expected == found)


def number(value: Any) -> Decimal | None:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def _items(expected: list[Mapping[str, Any]], found: list[Any]) -> bool:
    """Records in any order where they carry an id, else in order; only the keys of the expectation count."""
    if len(expected) != len(found):
        return False
    key = next((k for k in ("source_sku", "sku", "id") if expected and all(k in e for e in expected)), None)
    if key is not None:
        expected = sorted(expected, key=lambda e: str(e[key]))
        found = sorted(found, key=lambda e: str(e.get(key)))
    return all(not differences(e, f, {}) for e, f in zip(expected, found, strict=True))


def _listed(expected: list[Any], output: Any) -> list[tuple[str, Any, Any]]:
    """Answers of a robots file, one per query, in order."""
    if not isinstance(output, list) or len(output) != len(expected):
        return [("output", expected, output)]
    wrong = []
    for index, (want, got) in enumerate(zip(expected, output, strict=True)):
        asked = {"agent", "path", "url", "disputed", "google_verdict", "note", "why"}
        judged = {key: value for key, value in want.items() if key not in asked}
        if want.get("disputed"):
            continue
        for key, value, found in differences(judged, got, {}):
            name = want.get("url") or want.get("path") or index
            wrong.append((f"{name} {key}", value, found))
    return wrong


def _offers(offers: list[Mapping[str, Any]], output: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each amount in the markup must be among the candidates, in its currency where the markup states one."""
    seen = {
        (number(c.get("amount")), c.get("currency"))
        for c in output.get("candidates") or ()
        if isinstance(c, Mapping)
    }
    amounts = {amount for amount, _ in seen}
    shown = sorted(f"{amount} {currency}" for amount, currency in seen)
    wrong: list[tuple[str, Any, Any]] = []
    for offer in offers:
        currency = offer.get("currency") or offer.get("priceCurrency")
        for key in ("price", "lowPrice", "highPrice", "amount"):
            text = offer.get(key)
            if text is None:
                continue
            value = number(text)
            if value is None:
                value = read_price(str(text), currency=currency).amount
            hit = (value, currency) in seen if currency else value in amounts
            if not hit:
                wrong.append((f"offers {key}", f"{value} {currency}", shown))
    return wrong


def score(path: Path, area: str | None = None) -> list[Verdict]:
    """Verdicts of every case in a file, or of one area."""
    folder = path.resolve().parent
    return [
        judge(row, folder)
        for row in lines_of(path)
        if expectation(row) is not None and (area is None or row.get("area") == area)
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.score", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--area")
    parser.add_argument("--min", type=float, default=None, help="least share of right answers, 0 to 1")
    parser.add_argument("--quiet", action="store_true", help="do not list what is wrong")
    args = parser.parse_args(argv)
    verdicts = score(args.file, args.area)
    if not verdicts:
        print(f"{args.file}: no case to judge")
        return EXIT_PROBLEMS
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        prefix = "xfail " if verdict.xfail else ""
        kind = "right" if verdict.right else "wrong"
        counts[verdict.area][prefix + kind] += 1
        if verdict.silent:
            counts[verdict.area][prefix + "silent"] += 1
        if not verdict.right and not args.quiet:
            print(f"{verdict.identity}: {verdict.error or _sentence(verdict)}")
    print(f"{'area':<28}{'right':>7}{'wrong':>7}{'silent':>8}{'  xfail':>8}")
    for area, count in sorted(counts.items()):
        hard = f"{count['xfail right']}/{count['xfail right'] + count['xfail wrong']}"
        shown = hard if count["xfail right"] + count["xfail wrong"] else ""
        print(f"{area:<28}{count['right']:>7}{count['wrong']:>7}{count['silent']:>8}{shown:>9}")
    judged = [verdict for verdict in verdicts if not verdict.xfail]
    right = sum(verdict.right for verdict in judged)
    silent = sum(verdict.silent for verdict in judged)
    print(f"{right} of {len(judged)} right ({right / max(1, len(judged)):.4f}), {silent} silently wrong")
    if args.min is not None and right < args.min * len(judged):
        return EXIT_PROBLEMS
    return EXIT_DONE


def _sentence(verdict: Verdict) -> str:
    parts = [f"{key} expected {want!r}, got {got!r}" for key, want, got in verdict.wrong[:4]]
    return "; ".join(parts) + (" (silent)" if verdict.silent else "")


if __name__ == "__main__":
    sys.exit(main())
