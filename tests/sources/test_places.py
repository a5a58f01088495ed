"""The line of every key, in every way that TOML lets a person write it."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.sources.places import line_of, places
from pricecrawl.sources.toml_text import to_table
from tests.shared import examples

TEXT = '''# [[source]] in a comment is no table
[[source]]
slug = "a"      # slug = "b"
name = """
slug = "inside a text"
[[source]]
"""
raw = \'\'\'
x = 1\'\'\'
list = [
  "one",   # a comment, with "quotes" and ]
  [1, 2],
  { deep = "x" },
]
expect = { min_listings = 3, max_listings = 5 }
"quoted key" = 1
a.b . c = 2

[source.rules]
price = [".a", ".b"]

[[source]]
slug = 'second'
[source.expect]
min_listings = 1
[other]
k = 2020-01-01T00:00:00Z
'''


def test_every_form() -> None:
    assert places(TEXT) == {
        ("source", 0): 2, ("source", 0, "slug"): 3, ("source", 0, "name"): 4, ("source", 0, "raw"): 8,
        ("source", 0, "list"): 10, ("source", 0, "list", 0): 11, ("source", 0, "list", 1): 12,
        ("source", 0, "list", 1, 0): 12, ("source", 0, "list", 1, 1): 12, ("source", 0, "list", 2): 13,
        ("source", 0, "list", 2, "deep"): 13, ("source", 0, "expect"): 15,
        ("source", 0, "expect", "min_listings"): 15, ("source", 0, "expect", "max_listings"): 15,
        ("source", 0, "quoted key"): 16, ("source", 0, "a", "b", "c"): 17, ("source", 0, "rules"): 19,
        ("source", 0, "rules", "price"): 20, ("source", 0, "rules", "price", 0): 20,
        ("source", 0, "rules", "price", 1): 20, ("source", 1): 22, ("source", 1, "slug"): 23,
        ("source", 1, "expect"): 24, ("source", 1, "expect", "min_listings"): 25, ("other",): 26,
        ("other", "k"): 27,
    }  # fmt: skip
    tomllib.loads(TEXT)


def test_a_missing_key_is_shown_at_its_table() -> None:
    where = places(TEXT)
    assert line_of(where, ("source", 1, "country")) == 22
    assert line_of(where, ("source", 0, "expect", "nope", "deeper")) == 15
    assert line_of(where, ("nothing",)) == 1


KEYS = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
PLAIN = st.text(max_size=12) | st.integers() | st.booleans()
VALUES = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(KEYS, PLAIN, max_size=3)


@settings(max_examples=examples(100, 5000), deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), min_size=1, max_size=4))
def test_what_is_written_is_read_back_and_found(rows: list[dict[str, object]]) -> None:
    text = "\n".join(to_table(row) for row in rows)
    assert tomllib.loads(text)["source"] == rows
    lines, where = text.split("\n"), places(text)
    for index, row in enumerate(rows):
        assert lines[where["source", index] - 1] == "[[source]]"
        for key in row:
            assert lines[where["source", index, key] - 1].startswith(f"{key} = ")


@settings(max_examples=examples(200, 20_000), deadline=None)
@given(st.text(alphabet="[]{}\"'=,#.\\\n a1_", max_size=60))
def test_no_text_stops_it(text: str) -> None:
    places(text)
