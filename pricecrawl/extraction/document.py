"""One response, decoded and parsed once; every reader works on this tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from urllib.parse import urljoin

from lxml import etree

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.extraction.encoding import decode
from pricecrawl.extraction.textmap import TextMap, words_of

MAX_BYTES = 12 * 1024 * 1024
# libxml2 drops every element below this depth without a word, so a deeper page cannot be read.
MAX_DEPTH = 2048

_ASKED = ("base", "button", "h1", "input", "link", "main", "meta", "script", "style", "title")
_BLANK_PAGE = b"<html><body></body></html>"


class UnreadablePage(PricecrawlError):
    """A page that is too large or too deep to be read within the limits."""


class Document:
    """A page as its readers see it.

    `text` is the decoded source (what regexes of rules run over), `tree` its root element, `url`
    the address that was asked for and `final_url` the one that answered. `locale` is the caller's
    hint, a CLDR identifier or None; `lang` is what the page says of itself.
    """

    def __init__(
        self,
        text: str,
        *,
        url: str = "",
        final_url: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        locale: str | None = None,
        encoding: str = "utf-8",
        raw: bytes | None = None,
    ) -> None:
        """Parse `text`; `raw` may give the same text as UTF-8 bytes to save encoding it again.

        Raises:
            UnreadablePage: the page is larger than MAX_BYTES or nests deeper than MAX_DEPTH.
        """
        self.text = text
        self.url = url or ""
        self.final_url = final_url or self.url
        self.status = status
        self.headers = dict(headers or {})
        self.locale = locale
        self.encoding = encoding
        self.tree = _parse(raw if raw is not None else text.encode("utf-8", "replace"))

    @classmethod
    def from_bytes(
        cls,
        body: bytes,
        *,
        url: str = "",
        final_url: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        locale: str | None = None,
    ) -> Document:
        """Decode and parse a response body. Any bytes give a document, even none at all.

        Raises:
            UnreadablePage: the page is larger than MAX_BYTES or nests deeper than MAX_DEPTH.
        """
        if len(body) > MAX_BYTES:
            raise UnreadablePage(
                f"{url or 'The page'} has {len(body):,} bytes, more than the {MAX_BYTES:,} that are read; "
                "give the shop's JSON or a smaller page instead."
            )
        text, encoding = decode(body, headers=headers, locale=locale)
        raw = (
            body
            if encoding == "utf-8" and "\ufffd" not in text and not body.startswith(b"\xef\xbb\xbf")
            else None
        )
        return cls(
            text,
            url=url,
            final_url=final_url,
            status=status,
            headers=headers,
            locale=locale,
            encoding=encoding,
            raw=raw,
        )

    @cached_property
    def _tagged(self) -> dict[str, list[etree._Element]]:
        """Elements that readers ask for by tag, collected in one walk."""
        found: dict[str, list[etree._Element]] = {tag: [] for tag in _ASKED}
        for element in self.tree.iter(*_ASKED):
            found[element.tag].append(element)
        return found

    def tagged(self, tag: str) -> list[etree._Element]:
        """Every element of a tag in document order."""
        known = self._tagged.get(tag)
        if known is None:
            known = self._tagged[tag] = list(self.tree.iter(tag))
        return known

    @cached_property
    def textmap(self) -> TextMap:
        """The readable text with the way back to its elements."""
        return TextMap(self.tree)

    @cached_property
    def lang(self) -> str:
        """Language tag of the page (`de-AT`), from its root element or its metas; empty if unsaid."""
        root = self.tree
        for name in ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang"):
            value = (root.get(name) or "").strip()
            if value:
                return value
        return (
            self.metas.get("og:locale")
            or self.metas.get("content-language")
            or self.metas.get("language")
            or ""
        )

    @cached_property
    def metas(self) -> dict[str, str]:
        """First non-empty content of each meta, by lower-case property, name or http-equiv."""
        found: dict[str, str] = {}
        for meta in self._tagged["meta"]:
            content = (meta.get("content") or meta.get("value") or "").strip()
            if not content:
                continue
            for attribute in ("property", "name", "http-equiv"):
                key = meta.get(attribute)
                if key:
                    found.setdefault(key.strip().lower(), content)
        return found

    @cached_property
    def base(self) -> str:
        """What relative links on the page are relative to."""
        for element in self._tagged["base"]:
            href = element.get("href")
            if href:
                return self.absolute_to(self.final_url, href)
            break
        return self.final_url

    @cached_property
    def title(self) -> str:
        """Text of the title element on one line."""
        for element in self._tagged["title"]:
            parent = element.getparent()
            if parent is not None and parent.tag != "svg":
                return words_of(element)
        return ""

    @cached_property
    def canonical(self) -> str:
        """Absolute address of the canonical link or og:url; empty if the page names none."""
        for link in self._tagged["link"]:
            if "canonical" in (link.get("rel") or "").lower().split() and link.get("href"):
                return self.absolute(link.get("href") or "")
        named = self.metas.get("og:url", "")
        return self.absolute(named) if named else ""

    def absolute(self, link: str) -> str:
        """`link` made absolute; the link itself when it is not a usable address."""
        return self.absolute_to(self.base, link)

    @staticmethod
    def absolute_to(base: str, link: str) -> str:
        """`link` relative to `base`; malformed addresses are given back as they are."""
        try:
            return urljoin(base, link.strip())
        except ValueError:
            return link.strip()


def _parse(body: bytes) -> etree._Element:
    if len(body) > MAX_BYTES:
        raise UnreadablePage(f"The page has {len(body):,} bytes, more than the {MAX_BYTES:,} that are read.")
    # The plain parser: the one of lxml.html asks Python for the class of every single element.
    # Without comments: React puts one between the parts of a text, "$<!-- -->19.99".
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True)
    try:
        tree = etree.fromstring(body, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        tree = None
    if tree is None:
        return etree.fromstring(_BLANK_PAGE, parser=etree.HTMLParser(encoding="utf-8"))
    for entry in parser.error_log:
        if entry.type_name == "ERR_RESOURCE_LIMIT" or "xcessive depth" in entry.message:
            raise UnreadablePage(
                f"The page nests more than {MAX_DEPTH:,} elements inside each other, so its end would "
                "be lost; read it from the shop's JSON instead."
            )
    return tree
