"""Whether two texts name the same product, as a page's heading and its markup do."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=2048)
def name_key(text: str) -> str:
    """What two spellings of a name have in common: letters and digits, one case, no accents."""
    text = text[:400]
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(_WORD.findall(text.casefold()))


@lru_cache(maxsize=4096)
def _words(key: str) -> frozenset[str]:
    return frozenset(key.split())


def likeness(one: str, other: str) -> float:
    """0 (nothing in common) to 1 (the same name); 0.9 where one begins or ends the other."""
    a, b = name_key(one), name_key(other)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    if len(small) >= 4 and f" {small} " in f" {large} ":
        return 0.9
    left, right = _words(a), _words(b)
    return len(left & right) / max(1, min(len(left), len(right))) * 0.85
