"""The readings measured on other people's files and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pricecrawl.cli.batch import decode
from pricecrawl.cli.robots import answer
from tests.shared import needs_shared, rows, shared

pytestmark = needs_shared

BROKEN_BY_TRANSCRIPTION = {"robots_spec_test-0001"}
"""A partial byte order mark that became U+FFFD on its way: three other bytes. Two verdicts."""


def _answers(
    name: str, area: str | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Per query: the case, what is expected, what the command says."""
    folder = shared(name).parent
    for case in rows(name):
        if area is not None and case["area"] != area:
            continue
        given = answer(decode(case["input"], folder))
        for expected, output in zip(case["expected"], given, strict=True):
            yield case, expected, output


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("corpora/robots_google.jsonl", 145),
        ("corpora/robots_spec_test.jsonl", 400),
        ("corpora/robots_protego.jsonl", 376),
        ("corpora/robots_real.jsonl", 3444),
    ],
)
def test_the_standard_reading_agrees_with_the_recorded_verdicts(name: str, verdicts: int) -> None:
    seen = 0
    wrong = []
    for case, expected, output in _answers(name):
        if "rfc9309" not in expected:
            assert output["crawl_delay"] == expected["crawl_delay"]
            continue
        seen += 1
        assert output["rfc9309"] or not output["allowed"], (case["id"], output)
        # Disputed: Google's parser and Protego differ. The standard reading is Google's; the strict one is
        # below, where a Disallow that either of them sees binds us.
        if not expected.get("disputed") and output["rfc9309"] is not expected["rfc9309"]:
            wrong.append(case["id"])
    assert seen == verdicts
    assert set(wrong) <= BROKEN_BY_TRANSCRIPTION
    assert len(wrong) == (2 if name.endswith("robots_spec_test.jsonl") else 0)


def test_rows_broken_by_transcription_are_understood_by_the_strict_reading() -> None:
    broken = [
        output
        for case, _, output in _answers("corpora/robots_spec_test.jsonl")
        if case["id"] in BROKEN_BY_TRANSCRIPTION
    ]
    assert len(broken) == 2
    assert not any(output["allowed"] for output in broken)


def test_the_cases_of_public_bug_reports() -> None:
    seen = 0
    for case, expected, output in _answers("cases/cases.jsonl", "robots"):
        seen += 1
        assert {key: output[key] for key in expected} == expected, case["id"]
    assert seen > 20
