"""JSON as pages really write it.

Strict JSON is read by the standard library. What it refuses goes through a tolerant reader that
keeps going: comments, trailing commas and semicolons, single quotes, bare keys, raw line breaks,
unescaped quotes inside a text, one bracket too many or too few, a body cut off in the middle. It
reads each character once and never recurses, so its time is linear and its depth bounded.

Numbers keep the digits that the page wrote: they are given as `Number`, a text.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 64
MAX_LENIENT = 300_000  # characters; a longer broken body is read up to here


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def _constant(_name: str) -> None:
    """NaN and the infinities are not values of anything in a shop."""


_decoder = json.JSONDecoder(strict=False, parse_float=Number, parse_int=Number, parse_constant=_constant)

_GAP = re.compile(
    r"(?:[\s\ufeff\u2028\u2029]+|//[^\n]*|/\*.*?(?:\*/|\Z)|<!--|-->|<!\[CDATA\[|\]\]>|;)*", re.DOTALL
)
_PLAIN = re.compile(r"[^\s{}\[\]:,\"'`;/]+|/(?![/*])")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": "", "\n": ""}
_WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "undefined": None, "NaN": None, "None": None, "True": True,
    "False": False, "!0": True, "!1": False,
}  # fmt: skip
_CLOSERS = {quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.DOTALL) for quote in "\"'`"}
_AFTER_TEXT = re.compile(
    r"\s*(?:[:}\]]|,\s*(?:[\"'{}\[\]\-\d`]|[A-Za-z_$]\w*\s*[:,}\]]|//|/\*|\Z)|//|/\*|;|\)|\Z)"
)


def parse(text: str) -> list[Any]:
    """Every JSON value in `text`, one after the other; empty if there is none. Never raises."""
    values: list[Any] = []
    left = MAX_LENIENT
    position = _start(text, 0)
    while position < len(text) and len(values) < 50:
        begin = position
        try:
            value, position = _decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            if left <= 0:
                break
            value, position = _Reader(text, begin, left).read()
            left -= max(1, position - begin)
        if value is not _NOTHING:
            values.append(value)
        position = _start(text, position)
    return values


def parse_at(text: str, position: int, limit: int = MAX_LENIENT) -> tuple[Any, int]:
    """The JSON value that begins at `position` (a bracket) and the offset behind it.

    `limit` is how many characters the tolerant reader looks at where the strict one fails.
    """
    try:
        return _decoder.raw_decode(text, position)
    except (ValueError, RecursionError):
        return _Reader(text, position, limit).read()


def _start(text: str, position: int) -> int:
    """Offset of the next opening bracket: anything else outside a value is not data."""
    opening = [found for found in (text.find("{", position), text.find("[", position)) if found >= 0]
    if not opening:
        return len(text)
    start = min(opening)
    if text.startswith("[CDATA[", start):
        return _start(text, start + 7)
    return start


class _Nothing:
    """What a reader gives when there was no value at all."""


_NOTHING = _Nothing()


class _Reader:
    """One tolerant reading; `read` gives the value and where it ended."""

    def __init__(self, text: str, position: int, limit: int) -> None:
        self.text = text[: position + limit] if len(text) > position + limit else text
        self.position = position
        self.root: Any = _NOTHING
        self.stack: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str | None] = []
        self.open = {dict: 0, list: 0}
        self.patience = 2_000  # quotes inside texts that are looked behind before the first one ends the text

    def read(self) -> tuple[Any, int]:
        text = self.text
        while True:
            gap = _GAP.match(text, self.position)
            assert gap is not None
            self.position = gap.end()
            if self.position >= len(text):
                return self.root, len(text)
            character = text[self.position]
            if character in "{[":
                self._open({} if character == "{" else [])
            elif character in "}]":
                self._close(dict if character == "}" else list)
                if not self.stack:
                    return self.root, self.position
            elif character in "\"'`":
                self._text(character)
            elif character in ":,":
                self.position += 1
                if character == "," and self.keys and self.keys[-1] is not None:
                    self.keys[-1] = None  # a key without a value
            else:
                self._plain()

    def _open(self, value: dict[str, Any] | list[Any]) -> None:
        self.position += 1
        if len(self.stack) < MAX_DEPTH:
            self._put(value)
        elif self.keys:
            self.keys[-1] = None
        self.stack.append(value)
        self.keys.append(None)
        self.open[type(value)] += 1

    def _close(self, kind: type[dict[str, Any] | list[Any]]) -> None:
        self.position += 1
        if not self.open[kind]:
            return  # a bracket that was never opened
        while self.stack:
            closed = self.stack.pop()
            self.keys.pop()
            self.open[type(closed)] -= 1
            if isinstance(closed, kind):
                return

    def _put(self, value: Any) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top, list):
            top.append(value)
            return
        key = self.keys[-1]
        if key is None:
            if isinstance(value, str):
                self.keys[-1] = str(value)
            return
        top[key] = value
        self.keys[-1] = None

    def _text(self, quote: str) -> None:
        """A quoted text; a quote that no structure follows belongs to the text."""
        text, begin = self.text, self.position + 1
        closer = _CLOSERS[quote]
        end = begin
        first = -1
        while True:
            match = closer.match(text, end)
            assert match is not None
            end = match.end()
            if end >= len(text):
                if first < 0:
                    self.position = len(text)  # cut off: an incomplete text is no value
                    return
                end = first
                break
            if first < 0:
                first = end
            if _AFTER_TEXT.match(text, end + 1):
                break
            self.patience -= 1
            if self.patience < 0:
                end = first
                break
            end += 1
        self.position = end + 1
        self._put(_unescaped(text[begin:end]))

    def _plain(self) -> None:
        """A number, a word of JavaScript or a bare key."""
        match = _PLAIN.match(self.text, self.position)
        if match is None:
            self.position += 1
            return
        self.position = match.end()
        if self.position >= len(self.text):
            return  # cut off: half a number would be a wrong number
        word = match.group()
        if _NUMBER.match(word):
            self._put(Number(word))
        elif word in _WORDS:
            self._put(_WORDS[word])
        else:
            self._put(word)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _ESCAPES.get(code, code)

    joined = _ESCAPE.sub(character, text)
    # Two halves of a surrogate pair make one character; a half alone cannot be stored.
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
