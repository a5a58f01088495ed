"""Sitemaps as shops serve them, and as nobody should."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from pricecrawl.extraction.sitemap import MAX_BYTES, MAX_ENTRIES, SitemapError, read_sitemap

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*locations: str) -> bytes:
    rows = "".join(f"<url><loc>{loc}</loc><lastmod>2026-01-01</lastmod></url>" for loc in locations)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NS}>{rows}</urlset>'.encode()


def test_pages_and_indexes_are_told_apart() -> None:
    pages = read_sitemap(urlset("https://s.test/a?x=1&amp;y=2", "https://s.test/b", "https://s.test/b"))
    assert not pages.is_index
    assert pages.locations == ("https://s.test/a?x=1&y=2", "https://s.test/b")
    index = read_sitemap(
        f"<sitemapindex {NS}><sitemap><loc>https://s.test/1.xml</loc></sitemap></sitemapindex>".encode()
    )
    assert index.is_index
    assert index.locations == ("https://s.test/1.xml",)


def test_images_of_a_page_are_no_pages() -> None:
    body = (
        f'<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url>'
        "<loc>\n https://s.test/a \n</loc><image:image><image:loc>https://cdn.test/a.jpg</image:loc></image:image></url></urlset>"
    )
    assert read_sitemap(body.encode()).locations == ("https://s.test/a",)


@pytest.mark.parametrize(
    "body",
    [
        urlset("https://s.test/a", "https://s.test/b"),
        b"\xef\xbb\xbf\n" + urlset("https://s.test/a", "https://s.test/b"),
        urlset("https://s.test/a", "https://s.test/b").replace(f" {NS}".encode(), b""),
        urlset("https://s.test/a", "https://s.test/b", "ftp://s.test/c", "/relative", ""),
        b"https://s.test/a\r\nhttps://s.test/b\r\n",
        urlset("https://s.test/a", "https://s.test/b", "https://s.test/c&d").replace(
            b"https://s.test/c", b""
        ),
        urlset("https://s.test/a", "https://s.test/b") + b"<!-- 0.2 seconds -->\n",
        b"<!-- made by hand -->" + urlset("https://s.test/a", "https://s.test/b").split(b"?>", 1)[1],
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_every_usual_form_gives_the_same(body: bytes, packed: bool) -> None:
    assert read_sitemap(gzip.compress(body) if packed else body).locations == (
        "https://s.test/a",
        "https://s.test/b",
    )


BOMB = b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 1000 + b'">' + b"".join(
    b'<!ENTITY a%d "%s">' % (n, b"&a%s;" % (str(n - 1).encode() if n else b"") * 10) for n in range(8)
) + b"]><urlset><url><loc>https://s.test/&a7;</loc></url></urlset>"  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"<html><body>Welcome</body></html>",
        b"{}",
        b"<urlset/>",
        urlset("https://s.test/a", "https://s.test/b").replace(b"</urlset>", b""),
        urlset("https://s.test/a", "https://s.test/b")[:150],
        BOMB,
        b'<!doctype x SYSTEM "file:///etc/passwd"><urlset/>',
        gzip.compress(urlset("https://s.test/a"))[:-20],
        b"\x1f\x8bnonsense",
        gzip.compress(b" " * (MAX_BYTES + 10)),
        urlset(*(f"https://s.test/{n}" for n in range(MAX_ENTRIES + 1))),
        b"\n".join(b"https://s.test/%d" % n for n in range(MAX_ENTRIES + 1)),
    ],
)
def test_what_is_no_sitemap_is_refused_with_a_sentence(body: bytes) -> None:
    with pytest.raises(SitemapError, match=r"^the "):
        read_sitemap(body)


def test_a_gzip_bomb_is_cut_short() -> None:
    bomb = gzip.compress(b"\0" * (200 * 1024 * 1024), compresslevel=9)
    assert len(bomb) < 300_000
    tracemalloc.start()
    with pytest.raises(SitemapError):
        read_sitemap(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * MAX_BYTES
