"""The compact set of ids behaves as a set and stays small."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from pricecrawl.spiders.seen import SeenIds


@given(st.lists(st.text(max_size=3)))
def test_it_is_a_set(keys: list[str]) -> None:
    seen, known = SeenIds(), set[str]()
    for key in keys:
        assert (key in seen) == (key in known)
        assert seen.add(key) == (key not in known)
        known.add(key)
        assert len(seen) == len(known)
    assert all(key in seen for key in known)


def test_many_ids_take_little() -> None:
    tracemalloc.start()
    seen = SeenIds()
    assert (
        sum(seen.add(f"https://shop.example/products/some-long-handle-{n}") for n in range(30_000)) == 30_000
    )
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert not seen.add("https://shop.example/products/some-long-handle-7")
    assert size < 32 * 30_000
