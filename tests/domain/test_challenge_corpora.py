"""The classifier measured on saved pages of real shops and real gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pricecrawl.cli.batch import decode
from pricecrawl.cli.classify import answer
from tests.shared import needs_shared, rows, shared

pytestmark = needs_shared


def _answers(name: str) -> Iterator[tuple[dict, dict]]:
    folder = shared(name).parent
    for case in rows(name):
        if case["input"].get("kind") in {"challenge_html", "product_html"}:
            yield case, answer(decode(case["input"], folder))


def test_every_gate_is_found_and_no_shop_page_is_taken_for_one() -> None:
    seen: Counter[str] = Counter()
    for case, found in _answers("corpora/pages/cases.jsonl"):
        expected = case["area"] == "challenge"
        assert found["blocked"] is expected, (case["id"], found)
        assert (found["page"] == "challenge") is expected, (case["id"], found)
        seen[case["area"]] += 1
    assert seen == {"challenge": 20, "healthy": 29, "page": 29, "trap": 4}


def test_every_gate_names_the_vendor_that_its_file_names() -> None:
    vendors = {
        row["file"]: row["expected"]["vendor"]
        for row in rows("corpora/pages/index.jsonl")
        if row["kind"] == "challenge"
    }
    for case, found in _answers("corpora/pages/cases.jsonl"):
        if case["area"] == "challenge":
            assert found["vendor"] == vendors[case["input"]["file"]], (case["id"], found)
            assert found["rule"]


def test_no_feed_is_taken_for_a_gate() -> None:
    feeds = sorted(shared("corpora/pages/feed").iterdir())
    assert len(feeds) == 8
    for feed in feeds:
        given = decode(
            {"file": feed.name, "status": 200, "headers": {"content-type": "application/json"}}, feed.parent
        )
        assert answer(given) == {"page": "page", "blocked": False, "vendor": None, "rule": "page"}, feed.name


def test_the_cases_of_public_bug_reports() -> None:
    seen: Counter[str] = Counter()
    for case, found in _answers("cases/cases.jsonl"):
        if case["area"] == "challenge":
            wanted = case["expected"]
            assert {key: found[key] for key in wanted} == wanted, case["id"]
        elif case["area"] == "page_gone":
            gone = case["expected"]["availability"] == "not_available"
            assert (found["page"] == "gone") is gone, (case["id"], found)
        else:
            assert not found["blocked"], (case["id"], found)
        seen[case["area"]] += 1
    assert seen["challenge"] >= 11
    assert seen["page_gone"] >= 4
