"""The scorer: what it calls right, wrong and silently wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import score


def case(identity: str, content: str, expected: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "area": "a",
        "input": {"kind": "price_string", "content": content},
        "expected": expected,
    } | more


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    file = path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def test_right_wrong_and_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(
        tmp_path,
        [
            case("r", "24.50 GBP", {"amount": "24.5", "currency": "GBP"}),
            case("w", "call us", {"amount": "1"}),
            case("s", "24.50 GBP", {"amount": "1"}),
            case("x", "24.50 GBP", {"amount": "1"}, xfail=True),
            case("o", "24.50 GBP", {"amount": "1"}, accept={"amount": ["24.50"]}),
            case("e", "24.50 GBP", {"amount": "1"}) | {"input": {"kind": "price_string", "file": "absent"}},
            {"id": "no expectation", "input": {"kind": "price_string", "content": ""}},
        ],
    )
    verdicts = {v.identity: v for v in score.score(file)}
    assert {key: (v.right, v.silent) for key, v in verdicts.items()} == {
        "r": (True, False),
        "w": (False, False),
        "s": (False, True),
        "x": (False, True),
        "o": (True, False),
        "e": (False, False),
    }
    assert score.main([str(file)]) == 0
    assert score.main([str(file), "--min", "0.4"]) == 0
    assert score.main([str(file), "--min", "0.5"]) == 4
    assert score.main([str(file), "--area", "b"]) == 4
    assert "2 of 5 right (0.4000), 1 silently wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expected", "output", "wrong"),
    [
        ({"price": "5"}, {"price": "5.00"}, 0),
        ({"price": None}, {"price": None}, 0),
        ({"price": None}, {"price": "5"}, 1),
        ({"valid": False}, {"valid": None}, 1),
        ({"base_quantity": 42}, {"base_quantity": "42.0"}, 0),
        ({"items": 2}, {"items": [{}, {}]}, 0),
        (
            {"items": [{"source_sku": "1", "price": "5"}]},
            {"items": [{"source_sku": "1", "price": "5.0", "name": "x"}]},
            0,
        ),
        ({"items": [{"source_sku": "1", "price": "5"}]}, {"items": [{"source_sku": "1", "price": "6"}]}, 1),
        (
            {"offers": [{"price": "5", "currency": "EUR"}]},
            {"candidates": [{"amount": "5.00", "currency": "EUR"}]},
            0,
        ),
        (
            {"offers": [{"price": "5", "currency": "EUR"}]},
            {"candidates": [{"amount": "5.00", "currency": "USD"}]},
            1,
        ),
        ([{"url": "/", "rfc9309": True}], [{"rfc9309": True, "line": "Allow: /"}], 0),
        ([{"url": "/", "rfc9309": True}], [{"rfc9309": False}], 1),
        ([{"url": "/", "rfc9309": True, "disputed": True}], [{"rfc9309": False}], 0),
        ([{"url": "/", "rfc9309": True}], [], 1),
        ({"price": "5"}, None, 1),
    ],
)
def test_only_expected_keys_count(expected: Any, output: Any, wrong: int) -> None:
    assert len(score.differences(expected, output, {})) == wrong
