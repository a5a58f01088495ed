"""Sitemaps, read within limits: index or list, XML or plain text, gzip or not.

The protocol (sitemaps.org) allows 50,000 addresses and 50 MB uncompressed per file, and a list of files
in an index. A file beyond that is refused rather than read halfway; entities are never expanded.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

MAX_BYTES = 50 * 1024 * 1024
MAX_ENTRIES = 50_000
_GZIP = b"\x1f\x8b"
_ENTRIES = ("url", "sitemap")
_TOO_MANY = f"the sitemap has more than {MAX_ENTRIES} addresses"


class SitemapError(ValueError):
    """The text is no sitemap, or is beyond the protocol's limits."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Addresses in the order given, each once: of pages, or of further sitemaps when `is_index`."""

    is_index: bool
    locations: tuple[str, ...]


def read_sitemap(body: bytes) -> Sitemap:
    """Read one sitemap file.

    Raises:
        SitemapError: with one sentence that says what is wrong.
    """
    if body.startswith(_GZIP):
        body = _gunzip(body)
    if len(body) > MAX_BYTES:
        raise SitemapError(f"the sitemap is larger than {MAX_BYTES} bytes")
    text = body.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"http://", b"https://")):
        return Sitemap(False, _limited(text.decode("utf-8", "replace").split()))
    return _read_xml(text)


def _read_xml(body: bytes) -> Sitemap:
    # A document type declares entities, which a sitemap never needs; refusing it whole also refuses
    # every bomb that is built of them, whatever the parser's own limits are.
    if b"<!DOCTYPE" in body[:4096].upper() or b"<!ENTITY" in body:
        raise SitemapError("the sitemap declares a document type")
    events = etree.iterparse(
        BytesIO(body), events=("end",), resolve_entities=False, no_network=True, recover=True, huge_tree=False
    )
    found: list[str] = []
    try:
        for _, element in events:
            name, parent = _name(element), _name(element.getparent())
            if name == "loc" and parent in _ENTRIES:
                found.append((element.text or "").strip())
                if len(found) > MAX_ENTRIES:
                    raise SitemapError(_TOO_MANY)
            elif name in _ENTRIES:
                _forget(element)
    except etree.XMLSyntaxError as problem:
        raise SitemapError(f"the sitemap is not readable XML: {problem.msg}") from None
    root = _name(events.root)
    if root not in ("urlset", "sitemapindex"):
        raise SitemapError(f"the file is no sitemap: it begins with <{root}>")
    # The parser mends what it can (a bare "&"); half a file must not pass for the whole shop.
    if not re.search(
        rb"</(?:\w+:)?(?:urlset|sitemapindex)\s*>\s*(?:<!--.*-->\s*)?\Z", body[-4096:], re.DOTALL
    ):
        raise SitemapError("the sitemap ends too early")
    return Sitemap(root == "sitemapindex", _limited(found))


def _name(element: etree._Element | None) -> str:
    if element is None or not isinstance(element.tag, str):
        return ""
    return etree.QName(element).localname.lower()


def _forget(element: etree._Element) -> None:
    """Free an entry that was read: an emptied element itself would still be kept by its parent."""
    element.clear()
    parent = element.getparent()
    while parent is not None and (before := element.getprevious()) is not None:
        parent.remove(before)


def _limited(locations: list[str]) -> tuple[str, ...]:
    if len(locations) > MAX_ENTRIES:
        raise SitemapError(_TOO_MANY)
    return tuple(dict.fromkeys(entry for entry in locations if entry.startswith(("http://", "https://"))))


def _gunzip(body: bytes) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    try:
        text = inflate.decompress(body, MAX_BYTES + 1)
    except zlib.error as problem:
        raise SitemapError(f"the sitemap is not readable gzip: {problem}") from None
    if not inflate.eof and not inflate.unconsumed_tail:
        raise SitemapError("the sitemap's gzip ends too early")
    return text
