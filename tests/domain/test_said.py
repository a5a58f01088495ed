from __future__ import annotations

import pytest

from pricecrawl.domain.said import same_name, says_something

INVISIBLE = ["", " ", "\t\n", "\u00a0", "\u200b", "\u2060", "\ufeff", "\u202e", "\u3000", "\u2028", "\u00ad"]


@pytest.mark.parametrize("text", INVISIBLE)
def test_what_nobody_sees_says_nothing(text: str) -> None:
    assert not says_something(text)
    assert not says_something(text * 3 + " ")
    assert says_something(f"{text}x{text}")


@pytest.mark.parametrize("text", ["x", "?", "5", "é", "価格", "👍", "€", "—"])
def test_what_can_be_read_says_something(text: str) -> None:
    assert says_something(text)


@pytest.mark.parametrize(
    "other",
    ["ann", "Ann", " ann ", "ANN", "a\u200bnn", "\ufeffann", "ａｎｎ", "ann\n"],
)
def test_spellings_that_nobody_tells_apart_are_one_name(other: str) -> None:
    assert same_name("ann", other)
    assert same_name(other, "ann")


def test_other_names_are_other_people() -> None:
    assert not same_name("ann", "anne")
    assert not same_name("ann b", "annb")
    assert same_name("Ann  B", "ann b")
    assert same_name("José", "Jose\u0301")
