"""What a person said: whether there is anything in it to read, and whether two names are one person's."""

from __future__ import annotations

import unicodedata

_READABLE = frozenset("LNPS")


def says_something(text: str) -> bool:
    """True where a text has a letter, a digit, a mark of punctuation or a symbol.

    Spaces of every kind, and characters that are not seen (zero width, direction marks), say nothing.
    """
    return any(unicodedata.category(letter)[0] in _READABLE for letter in text)


def same_name(one: str, other: str) -> bool:
    """True where two names are told apart by nobody: case, spaces and ways of writing a letter aside."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    seen = (
        letter for letter in unicodedata.normalize("NFKC", name) if says_something(letter) or letter == " "
    )
    return " ".join("".join(seen).casefold().split())
