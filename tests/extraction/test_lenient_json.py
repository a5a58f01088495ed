"""JSON as pages write it, and bytes that only look like it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.extraction.lenient_json import MAX_DEPTH, Number, parse
from tests.shared import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


def plain(value: Any) -> Any:
    """Numbers back to integers, to compare with what was written."""
    if isinstance(value, Number):
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=5))
@settings(max_examples=examples(150, 5000), deadline=None)
def test_good_json_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert [plain(found) for found in parse(json.dumps(value))] == [value]


BROKEN = {
    "semicolon": lambda s: s + ";",
    "brace too many": lambda s: s + "}",
    "brace too few": lambda s: s[:-1],
    "trailing comma": lambda s: s[:-1] + ",}",
    "line comment": lambda s: "// product\n" + s,
    "block comment": lambda s: s.replace(":", ": /* here */", 1),
    "cdata": lambda s: f"//<![CDATA[\n{s}\n//]]>",
    "html comment": lambda s: f"<!--\n{s}\n-->",
    "mark": lambda s: "\ufeff" + s,
    "assignment": lambda s: f"var data = {s};",
}


@pytest.mark.parametrize("name", BROKEN)
@given(price=st.integers(1, 10**7), title=st.text("abc xyzäß'", min_size=1, max_size=10))
@settings(max_examples=examples(15, 500), deadline=None)
def test_a_breakage_does_not_change_the_values(name: str, price: int, title: str) -> None:
    written = json.dumps({"name": title, "offers": {"price": f"{price / 100:.2f}"}})
    found = parse(BROKEN[name](written))
    assert found[0]["offers"]["price"] == f"{price / 100:.2f}"
    assert found[0]["name"] == title


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1.50, 'b': \"x\"}", {"a": "1.50", "b": "x"}),
        ('{"a":"line\nand\ttab"}', {"a": "line\nand\ttab"}),
        ('{"size":"7" tablet","price":"9"}', {"size": '7" tablet', "price": "9"}),
        ('{"said":"He said "hi", twice","b":2}', {"said": 'He said "hi", twice', "b": "2"}),
        ('{"a":[1,2,{"b":3},],}', {"a": ["1", "2", {"b": "3"}]}),
        ('{"a":undefined,"b":NaN,"c":1}', {"a": None, "b": None, "c": "1"}),
        (r'{"a":"\u00e9\x41\'"}', {"a": "éA'"}),
        ('{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
    ],
)
def test_what_the_strict_reader_refuses(text: str, value: Any) -> None:
    assert parse(text) == [value]


def test_several_values_stand_one_after_the_other() -> None:
    assert parse('{"a":1},\n{"b":2} [3]') == [{"a": "1"}, {"b": "2"}, ["3"]]


def test_a_body_cut_off_loses_its_last_value_and_no_digit_of_another() -> None:
    assert parse('{"a":"19.90","price": 12') == [{"a": "19.90"}]
    assert parse('{"a":"19.90","price": "12') == [{"a": "19.90"}]


def test_numbers_keep_their_digits() -> None:
    (found,) = parse('{"a": 24.50, "b": 1E+2, "c": 0.10}')
    assert list(found.values()) == ["24.50", "1E+2", "0.10"]
    assert all(isinstance(value, Number) for value in found.values())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a":"' + '\\"' * 300_000,
        '{"a":"' + '" ' * 300_000,
        "{" + '"a":"b' * 100_000,
        "]" * 100_000 + "{" * 100_000,
        "{[" * 100_000 + "}" * 100_000,
        "[" * 100_000 + "}" * 100_000,
        "[{a:x " * 100_000 + "}" * 100_000,
        '{"a":1} ' * 100_000,
        "[{/*" * 50_000,
        "{a//" * 50_000,
    ],
    ids=range(12),
)
def test_hostile_texts_end_soon_and_shallow(text: str) -> None:
    started = time.process_time()
    value: Any = parse(text)
    assert time.process_time() - started < 1.5
    depth = 0
    while isinstance(value, list | dict) and value:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
        depth += 1
    assert depth <= MAX_DEPTH + 2


@given(st.text("{}[]\",:\\/*' \n0123456789.abetrufalsn-", max_size=120))
@settings(max_examples=examples(400, 20_000), deadline=None)
def test_anything_is_read_without_an_exception(text: str) -> None:
    for value in parse(text):
        json.dumps(value)
