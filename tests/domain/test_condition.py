"""The quick look at a name, against the words that it must not miss."""

from __future__ import annotations

import pytest

from pricecrawl.domain import condition

WORDS = [
    word.replace("_", gap).replace("*", ending)
    for words in (condition._DAMAGED, condition._REFURBISHED, condition._OPEN_BOX, condition._USED)
    for word in words.split()
    for gap in (" ", "-")
    for ending in ("", "ed")
]


@pytest.mark.parametrize("shape", ["{}", "Camera ({}) 50", "5{}", "{}_x"])
def test_no_strong_word_is_missed(shape: str) -> None:
    for word in WORDS:
        for written in (word, word.upper(), word.title()):
            name = shape.format(written)
            strong = any(pattern.search(name) for _, pattern in condition._STRONG)
            assert not (strong and condition._says_nothing(name)), name


def test_plain_names_need_no_second_look() -> None:
    assert condition._says_nothing("Kettle base filter saving 2250")
    assert not condition._says_nothing("Kettle, refurbished")
    assert not condition._says_nothing("Чайник")
