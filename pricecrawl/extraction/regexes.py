"""Regexes that people type, on RE2: linear time whatever the pattern, no backreferences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import re2

from pricecrawl.extraction.rule_syntax import Syntax

MAX_PROGRAM = 5000
"""States of a compiled pattern; time is at most states x length of the page."""

MAX_SCAN = 16 * 1024 * 1024
"""Bytes of one page that a pattern may look at."""

_REASONS = {
    "invalid perl operator": "RE2 has no lookaround and no such group",
    "invalid escape sequence": "RE2 does not know this escape (backreferences are not possible)",
    "bad repetition operator": "this repetition is not possible",
    "invalid repetition size": "a count may be at most 1000",
    "no argument for repetition operator": "there is nothing to repeat before it",
    "missing )": "( is not closed",
    "unexpected )": ") closes nothing",
    "missing ]": "[ is not closed",
    "invalid character class range": "the range of characters is upside down",
    "invalid UTF-8": "it is not valid text",
    "pattern too large - compile failed": "the pattern is too large",
    "trailing \\": "it ends in a lone backslash",
}


class Pattern:
    """One compiled pattern. Values are group 1, or the whole match where there is no group."""

    __slots__ = ("_compiled", "_group")

    def __init__(self, compiled: re2._Regexp) -> None:
        self._compiled = compiled
        self._group = 1 if compiled.groups else 0

    def values(self, encoded: bytes) -> Iterator[str]:
        """Values in order of appearance in a page given as UTF-8 bytes; empty ones are left out."""
        for match in self._compiled.finditer(encoded[:MAX_SCAN]):
            value = match.group(self._group)
            if value and (text := value.decode("utf-8", "replace").strip()):
                yield text


def compile_pattern(syntax: Syntax) -> Pattern:
    """Compile the pattern of a rule.

    Raises:
        RuleError: RE2 refuses the pattern, it matches the empty text, or it is too large.
    """
    try:
        compiled = _compile(syntax.base, syntax.ignore_case)
    except re2.error as error:
        problem = str(error.args[0].decode() if isinstance(error.args[0], bytes) else error)
        reason, _, detail = problem.partition(": ")
        syntax.fail(_REASONS.get(reason, reason), _place(syntax.base, reason, detail))
    if compiled.programsize > MAX_PROGRAM:
        syntax.fail(f"the pattern is too large ({compiled.programsize} states, at most {MAX_PROGRAM})")
    if compiled.fullmatch(b""):
        syntax.fail("the pattern matches an empty text, so it would match everywhere")
    return Pattern(compiled)


@lru_cache(maxsize=512)
def _compile(pattern: str, ignore_case: bool) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


def _place(pattern: str, reason: str, detail: str) -> int:
    """Where in the pattern RE2's complaint is about; RE2 quotes the piece but not its place."""
    if reason == "missing )":
        return _unclosed(pattern)
    if reason == "missing ]":
        return max(pattern.rfind(detail), 0)
    if reason == "unexpected )":
        depth = 0
        for position in _outside_classes(pattern):
            depth += {"(": 1, ")": -1}.get(pattern[position], 0)
            if depth < 0:
                return position
    if reason.startswith("trailing"):
        return len(pattern) - 1
    if not detail:
        return 0
    # What is escaped, or stands in [ ], is not what RE2 complains of, if the piece stands anywhere else.
    meant = (position for position in _outside_classes(pattern) if pattern.startswith(detail, position))
    return next(meant, max(pattern.find(detail), 0))


def _outside_classes(pattern: str) -> Iterator[int]:
    """Where each token outside of `[…]` starts; an escape is one token."""
    position, in_class = 0, False
    while position < len(pattern):
        char = pattern[position]
        if not in_class:
            yield position
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            # A ] that comes first is a character of the class.
            for first in ("^", "]"):
                position += pattern.startswith(first, position + 1)
        position += 2 if char == "\\" else 1


def _unclosed(pattern: str) -> int:
    opened: list[int] = []
    for position in _outside_classes(pattern):
        if pattern[position] == "(":
            opened.append(position)
        elif pattern[position] == ")" and opened:
            opened.pop()
    return opened[-1] if opened else 0
