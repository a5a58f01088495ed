"""What a body must be before anything reads it: one JSON document that can be read in one way only."""

from __future__ import annotations

import json
import math
from email.message import Message
from typing import Any, NoReturn

from pricecrawl.web.problems import Mistake, Problem

DEEPEST = 32
"""Levels of lists and objects in a body; a policy, the deepest of ours, has five."""


def check(body: bytes, media_type: str | None) -> None:
    """Look at a body that is not empty.

    A key that comes twice, a number that is none and a text that no database stores are refused, wherever
    they stand: what is kept as evidence must mean the same to everybody who reads it.

    Raises:
        Problem: it is not announced as JSON (415), is none (400), or could be read in several ways (422).
    """
    if not _is_json(media_type):
        raise Problem(
            415,
            "not_json",
            "A body is JSON: send it as 'Content-Type: application/json'.",
            headers={"Accept-Post": "application/json"},
        )
    try:
        read = json.loads(
            body.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except _Unusable as problem:
        raise _invalid(problem) from None
    except (ValueError, RecursionError):
        raise Problem(400, "no_json", "The body is no JSON document.") from None
    wrong = _wrong_with(read)
    if wrong is not None:
        raise _invalid(wrong)


class _Unusable(Exception):
    """What is wrong with it, to stand after "The body"."""


def _invalid(why: object) -> Problem:
    return Problem(422, "invalid", f"The body {why}.", errors=[Mistake(at="body", problem=f"it {why}")])


def _is_json(media_type: str | None) -> bool:
    message = Message()
    message["content-type"] = media_type or ""
    kind, _, name = message.get_content_type().partition("/")
    charset = message.get_content_charset("utf-8")
    is_json = name == "json" or name.endswith("+json")
    return kind == "application" and is_json and charset in {"utf-8", "utf8"}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Unusable("has a key twice in one object")
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Unusable("has a number that is too large")
    return value


def _wrong_with(read: Any) -> str | None:
    """The first thing that is wrong with what was read; level by level, so that no depth is too much."""
    level = [read]
    for _ in range(DEEPEST):
        for text in (text for item in level for text in _texts(item)):
            if "\0" in text:
                return "has a text with U+0000, which means nothing in a text"
            if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                return "has a text that is no Unicode (half of a surrogate pair)"
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return None
    return f"is nested more than {DEEPEST} levels deep"


def _texts(item: Any) -> list[str]:
    return [item] if isinstance(item, str) else list(item) if isinstance(item, dict) else []


def _inside(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []
