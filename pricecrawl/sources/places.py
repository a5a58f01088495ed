"""Where in a TOML text each key stands, so that a mistake can be shown at its line.

`tomllib` gives values without positions. This scanner walks a text that `tomllib` has accepted and
notes the line of every table header, key and list element; it judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Path = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)


def places(text: str) -> Mapping[Path, int]:
    """Line number (from 1) of every path of a valid TOML text, such as `("source", 0, "slug")`."""
    return _Scanner(text).run()


def line_of(where: Mapping[Path, int], path: Path) -> int:
    """Line of the longest known beginning of `path`; 1 if nothing of it is known."""
    for end in range(len(path), 0, -1):
        if path[:end] in where:
            return where[path[:end]]
    return 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.arrays: dict[Path, int] = {}

    def run(self) -> Mapping[Path, int]:
        table: Path = ()
        while self.skip(_BLANK) < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.pair(table)
        return self.found

    def skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def note(self, path: Path) -> None:
        self.found.setdefault(path, self.text.count("\n", 0, self.at) + 1)

    def header(self) -> Path:
        is_array = self.text.startswith("[[", self.at)
        start = self.at
        self.at += 2 if is_array else 1
        parts = self.key()
        if not parts:
            return ()
        path: Path = ()
        for part in parts[:-1]:
            path = self.last((*path, part))
        path = (*path, parts[-1])
        if is_array:
            self.arrays[path] = self.arrays.get(path, -1) + 1
            path = (*path, self.arrays[path])
        end = self.text.find("\n", self.at)
        self.at = start
        self.note(path)
        self.at = len(self.text) if end < 0 else end
        return path

    def last(self, path: Path) -> Path:
        """A header below an array of tables means its last table."""
        return (*path, self.arrays[path]) if path in self.arrays else path

    def key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self.skip(_SPACE)
            match = _STRING.match(self.text, self.at) or _BARE.match(self.text, self.at)
            if match is None:
                return parts
            parts.append(match[0].strip("\"'"))
            self.at = match.end()
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def pair(self, table: Path) -> None:
        start = self.at
        path = (*table, *self.key())
        if self.at == start:  # not TOML after all: step on rather than stand still
            self.at += 1
            return
        here, self.at = self.at, start
        self.note(path)
        self.at = here
        self.skip(_SPACE)
        self.at += 1  # the equals sign
        self.value(path)

    def value(self, path: Path) -> None:
        self.skip(_SPACE)
        opener = self.text[self.at : self.at + 1]
        if opener in ("[", "{"):
            self.at += 1
            self.inside(path, "]" if opener == "[" else "}")
        elif self.skip_string():
            return
        else:
            self.skip(_SCALAR)

    def skip_string(self) -> bool:
        match = _STRING.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match is not None

    def inside(self, path: Path, closer: str) -> None:
        index = 0
        while (start := self.skip(_BLANK)) < len(self.text):
            char = self.text[start]
            if char == closer:
                self.at += 1
                return
            if char == ",":
                self.at += 1
            elif closer == "]":
                self.note((*path, index))
                self.value((*path, index))
                index += 1
                self.at += self.at == start
            else:
                self.pair(path)
