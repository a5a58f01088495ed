"""The lines of a robots.txt file, read byte by byte as Google's parser reads them.

Sources: RFC 9309 section 2.2 and the documented behaviour of github.com/google/robotstxt: the byte
order mark, the four accepted typos of `Disallow`, the missing colon, the cut after 16,663 bytes of a
line, and C strings that end at a NUL. Nothing here decides anything; see `robots.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

MAX_FILE_BYTES = 5 * 1024 * 1024
"""What is read of one file. RFC 9309 section 2.5 asks for 500 KiB at least."""

MAX_LINE_BYTES = 2083 * 8 - 1
"""Google's limit: eight times the longest URL that browsers take, less the final NUL."""

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_JUNK = bytes(range(0x80, 0x100)) + b"\0"
_SPACE = b" \t\n\v\f\r"
_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}|[\x80-\xff]")
_SECONDS = re.compile(r"\+?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(?:s|secs?|seconds?)?", re.ASCII | re.IGNORECASE)
_LOOSE = re.compile(
    rb"(user[- ]?agent|diss?all?ow|allow|crawl[- ]?delay)[ \t]+(\S.*)", re.IGNORECASE | re.DOTALL
)


class Directive(StrEnum):
    """What a line says; every key that no reading knows is OTHER."""

    AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    DELAY = "crawl-delay"
    SITEMAP = "sitemap"
    OTHER = "other"


_PREFIXES = (
    (Directive.AGENT, (b"user-agent", b"useragent", b"user agent")),
    (Directive.ALLOW, (b"allow",)),
    (
        Directive.DISALLOW,
        (b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"),
    ),
    (Directive.SITEMAP, (b"sitemap", b"site-map")),
    (Directive.DELAY, (b"crawl-delay", b"crawldelay", b"crawl delay", b"crawl_delay")),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line with a key: its number (from 1), its text as written, its value as bytes.

    `standard` is false where only the strict reading takes the line for a directive.
    """

    directive: Directive
    value: bytes
    number: int
    text: str
    standard: bool = True


def read_lines(body: bytes) -> tuple[Line, ...]:
    """Every line of the file that has a key, in order.

    UTF-16 and a broken byte order mark are understood too, for the strict reading alone.
    """
    found = []
    body = body[:MAX_FILE_BYTES]
    wide = _WIDE_BOMS.get(body[:2])
    if wide is not None:
        body = body[2:].decode(wide, "replace").encode("utf-8", "replace")
    for number, raw in enumerate(_without_bom(body).splitlines(), start=1):
        cut = raw[:MAX_LINE_BYTES].partition(b"\0")[0].partition(b"#")[0].strip(_SPACE)
        if not cut:
            continue
        pair = _split(cut)
        standard = pair is not None
        if pair is None:
            loose = _LOOSE.fullmatch(cut)
            if loose is None:
                continue
            pair = (loose.group(1), loose.group(2))
        directive = _directive(pair[0])
        if number == 1 and directive is Directive.OTHER:
            # What is left of a byte order mark that somebody's editor or database broke.
            directive = _directive(pair[0].lstrip(_JUNK))
            standard = standard and directive is Directive.OTHER
        found.append(Line(directive, pair[1], number, _shown(raw), standard and wide is None))
    return tuple(found)


def escape(pattern: bytes) -> bytes:
    """Upper-case escapes, octets above ASCII escaped: how Google keeps the path of a rule."""
    return _ESCAPE.sub(_escaped, pattern)


def seconds(value: bytes) -> float | None:
    """A Crawl-delay in seconds; None for garbage, negative or infinite values."""
    match = _SECONDS.fullmatch(value.decode("latin-1").strip())
    if match is None:
        return None
    number = float(match.group(1).replace(",", "."))
    return number if math.isfinite(number) else None


def _without_bom(body: bytes) -> bytes:
    """The body without a byte order mark or the first bytes of one."""
    skip = 0
    while skip < len(_BOM) and body[skip : skip + 1] == _BOM[skip : skip + 1]:
        skip += 1
    return body[skip:]


def _split(line: bytes) -> tuple[bytes, bytes] | None:
    """Key and value of a line without comment; None where the standard reading sees no key."""
    key, colon, value = line.partition(b":")
    if not colon:
        words = line.replace(b"\t", b" ").split(b" ")
        words = [word for word in words if word]
        if len(words) != 2:
            return None
        key, value = words
    key = key.strip(_SPACE)
    return (key, value.strip(_SPACE)) if key else None


def _directive(key: bytes) -> Directive:
    lowered = key.lower()
    for directive, prefixes in _PREFIXES:
        if lowered.startswith(prefixes):
            return directive
    return Directive.OTHER


def _escaped(match: re.Match[bytes]) -> bytes:
    found = match.group()
    return found.upper() if len(found) == 3 else b"%%%02X" % found[0]


def _shown(raw: bytes) -> str:
    return " ".join(raw[:300].decode("utf-8", "replace").split())
