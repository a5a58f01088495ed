"""Does a robots.txt path pattern match a URL? Once as Google matches, once as strictly as can be meant."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from pricecrawl.domain.robots_lines import escape

_SLASHES = re.compile(rb"/{2,}")
_ABSOLUTE = re.compile(rb"(?:https?:)?//([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule's path: the literal pieces between its stars, and whether it must reach the end.

    `length` is the number of bytes as written, which is its priority in the standard reading.
    """

    pieces: tuple[bytes, ...]
    anchored: bool
    length: int

    @classmethod
    def of(cls, value: bytes) -> Pattern:
        """From an escaped value; `*` is any run of bytes, `$` is special only at the very end."""
        anchored = value.endswith(b"$")
        body = value[:-1] if anchored else value
        return cls(tuple(body.split(b"*")), anchored, len(value))

    def decoded(self) -> Pattern:
        """The same with each literal piece percent-decoded: `%2A` is a star, never a wildcard."""
        return Pattern(tuple(unquote_to_bytes(piece) for piece in self.pieces), self.anchored, self.length)

    def matches(self, path: bytes) -> bool:
        """True when the pattern matches from the start of `path`; linear in the path per piece."""
        first, *rest = self.pieces
        if not path.startswith(first):
            return False
        position = len(first)
        if not rest:
            return not self.anchored or position == len(path)
        *middle, last = rest
        for piece in middle:
            found = path.find(piece, position)
            if found < 0:
                return False
            position = found + len(piece)
        if self.anchored:
            return len(path) - len(last) >= position and path.endswith(last)
        return path.find(last, position) >= 0


def path_of(url: str) -> bytes:
    """Path, parameters and query of a URL as Google cuts them: no scheme, host or fragment.

    Starts with `/`; `/` alone where the URL has no path. Nothing is escaped or normalized.
    """
    text = url.encode("utf-8", "surrogatepass")
    start = 2 if text.startswith(b"//") else 0
    early = _first_of(text, start)
    protocol = text.find(b"://", start)
    has_host = protocol >= 0 and not 0 <= early < protocol
    after = protocol + 3 if has_host else start
    begin = _first_of(text, after)
    if begin < 0:
        return b"/"
    fragment = text.find(b"#", start)
    if 0 <= fragment < begin:
        return b"/"
    path = text[begin:fragment] if fragment >= 0 else text[begin:]
    path = path if path.startswith(b"/") else b"/" + path
    return path.partition(b"\0")[0]


def index_directory(value: bytes) -> bytes | None:
    """Google's kindness for Allow: `/dir/index.html` also allows the directory itself."""
    slash = value.rfind(b"/")
    if slash >= 0 and value[slash:].startswith(b"/index.htm"):
        return value[: slash + 1] + b"$"
    return None


def readings_of_path(url: str) -> tuple[bytes, ...]:
    """Every spelling of the URL's path that a server may take for the same resource."""
    raw = path_of(url)
    escaped = escape(raw)
    decoded = unquote_to_bytes(raw)
    spellings = [raw, escaped, decoded]
    path, mark, query = decoded.partition(b"?")
    if b"/." in path or b"//" in path:
        plain = posixpath.normpath(_SLASHES.sub(b"/", path))
        slash = b"/" if path.endswith(b"/") and plain != b"/" else b""
        spellings.append(plain + slash + mark + query)
    return tuple(dict.fromkeys(spellings))


def readings_of_rule(value: bytes) -> tuple[Pattern, ...]:
    """Every meaning that the strict reading gives a Disallow value, most literal first."""
    escaped = escape(value)
    written = [escaped]
    absolute = _ABSOLUTE.fullmatch(escaped)
    if absolute is not None:
        written.append(absolute.group(2) or b"/")
    elif not escaped.startswith((b"/", b"*", b"$")):
        written.append(b"/" + escaped)
    patterns = []
    for text in written:
        pattern = Pattern.of(text)
        patterns += [pattern, pattern.decoded()] if b"%" in text else [pattern]
    return tuple(dict.fromkeys(patterns))


def _first_of(text: bytes, start: int) -> int:
    found = [place for mark in b"/?;" if (place := text.find(mark, start)) >= 0]
    return min(found, default=-1)
