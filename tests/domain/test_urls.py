# ruff: noqa: E501  (tables of addresses and texts, one case a line)
"""Addresses: one identity for every spelling, and a wall in front of private hosts."""

from __future__ import annotations

from random import Random

import pytest

from pricecrawl.domain.urls import (
    canonical,
    host_key,
    is_loopback,
    is_public_address,
    is_public_host,
    is_public_url,
    is_tracking,
    same_page,
)
from tests.shared import examples


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("HTTP://WWW.Shop.Example:80/P/1/", "https://shop.example/P/1"),
        ("https://shop.example:443", "https://shop.example"),
        ("https://shop.example/", "https://shop.example"),
        ("https://shop.example./p", "https://shop.example/p"),
        ("http://127.0.0.1:8000/p/", "http://127.0.0.1:8000/p"),
        ("https://user:secret@shop.example/p", "https://shop.example/p"),
        (" https://shop.example/p\n", "https://shop.example/p"),
        ("https://shop.example/a/./b/../c//d", "https://shop.example/a/c/d"),
        ("https://shop.example/%7euser/%c3%a9", "https://shop.example/~user/%C3%A9"),
        ("https://shop.example/é", "https://shop.example/%C3%A9"),
        ("https://shop.example/a%2Fb", "https://shop.example/a%2Fb"),
        ("https://müller.example/p", "https://xn--mller-kva.example/p"),
        ("https://shop.example/p?b=2&a=1&a=0", "https://shop.example/p?a=0&a=1&b=2"),
        ("https://shop.example/p?q=a+b", "https://shop.example/p?q=a%20b"),
        ("https://shop.example/p?x", "https://shop.example/p?x"),
        ("https://shop.example/p?&&", "https://shop.example/p"),
        ("https://shop.example/p?utm_source=a&UTM_Medium=b&gclid=c&fbclid=d&variant=7", "https://shop.example/p?variant=7"),
        ("https://shop.example/p?_pos=1&_sid=2&_ss=r", "https://shop.example/p"),
        ("https://shop.example/p?ref=nav_logo", "https://shop.example/p"),
        ("https://shop.example/p?ref=120345", "https://shop.example/p?ref=120345"),
        ("https://shop.example/p;jsessionid=0A1B?a=1", "https://shop.example/p?a=1"),
        ("mailto:shop@example.org", "mailto:shop@example.org"),
        ("not an address", "not an address"),
        ("https://[", "https://["),
    ],
)  # fmt: skip
def test_the_identity_of_a_page(url: str, identity: str) -> None:
    assert canonical(url) == identity
    assert canonical(identity) == identity
    assert same_page(url, identity)


@pytest.mark.parametrize(
    "fragment",
    [
        "reviews",
        "v",
        "overview",
        "variants",
        "description",
        "vs",
        "tab=reviews",
        "",
        ":~:text=lamp",
        "size",
        "variant=",
    ],
)
def test_a_fragment_that_selects_no_variant_is_dropped(fragment: str) -> None:
    """A key is compared whole: one letter of it in the fragment once kept `#reviews` because of `v`."""
    assert canonical(f"https://shop.example/p/1#{fragment}") == "https://shop.example/p/1"


@pytest.mark.parametrize(
    ("fragment", "kept"),
    [
        ("v=3", "v=3"),
        ("variant=41&tab=reviews", "variant=41"),
        ("size=M&color=red", "color=red&size=M"),
        ("?sku=A-1", "sku=A-1"),
        ("dwvar_1_color=red", "dwvar_1_color=red"),
        ("/12-size-s/8-color-white", "/12-size-s/8-color-white"),
        ("!/product/7/", "!/product/7"),
    ],
)
def test_a_fragment_that_selects_a_variant_is_kept(fragment: str, kept: str) -> None:
    assert canonical(f"https://shop.example/p/1#{fragment}") == f"https://shop.example/p/1#{kept}"


def test_different_pages_stay_different() -> None:
    pages = [
        "https://shop.example/p/1",
        "https://shop.example/P/1",
        "https://shop.example/p/1?variant=2",
        "https://shop.example/p/1#variant=2",
        "https://shop.example/p/1?v=2",
        "https://shop.example/p%2F1",
        "https://shop.example:8443/p/1",
        "https://m.shop.example/p/1",
        "https://shop.example/p/1.html",
    ]
    assert len({canonical(page) for page in pages}) == len(pages)


def test_canonical_is_its_own_canonical() -> None:
    random = Random(3986)
    pieces = (
        "/",
        "//",
        ".",
        "..",
        "a",
        "%2F",
        "%7e",
        "%",
        "é",
        "?",
        "&",
        "=",
        "#",
        ";",
        "+",
        " ",
        "utm_x=1",
        "v=2",
        "\x00",
        "%00",
    )
    for _ in range(examples(2_000, 200_000)):
        url = "https://shop.example" + "".join(random.choice(pieces) for _ in range(random.randint(0, 12)))
        once = canonical(url)
        assert canonical(once) == once, url


@pytest.mark.parametrize("name", ["utm_campaign", "GCLID", "mtm_kwd", "srsltid", "pf_rd_p", "_ga"])
def test_what_only_says_where_a_visitor_came_from(name: str) -> None:
    assert is_tracking(name)


@pytest.mark.parametrize("name", ["variant", "id", "page", "color", "sku", "v", "p", "source_id", "gender"])
def test_what_may_select_a_product(name: str) -> None:
    assert not is_tracking(name)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Shop.example/p", "shop.example"),
        ("http://shop.example:80", "shop.example"),
        ("http://127.0.0.1:8001/p", "127.0.0.1:8001"),
        ("ftp://shop.example", ""),
    ],
)
def test_the_host_that_a_run_occupies(url: str, key: str) -> None:
    assert host_key(url) == key


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1",
        "0177.0.0.1", "127.0.0.1.", "[::1]", "::1", "[::ffff:10.0.0.1]", "fe80::1", "[fe80::1%25eth0]", "１２７.0.0.1",
        "%31%32%37.0.0.1", "127。0。0。1", "a.127", "x.0x7f", "0", "localhost", "LOCALHOST.", "a.localhost", "printer.local",
        "metadata.google.internal", "db.internal", "nas.lan", "router.home.arpa", "intranet", "shop", "127.0.0.1.nip.io",
        "10-0-0-1.sslip.io", "localtest.me", "a.lvh.me", "hidden.onion", "", ".", "a..b", "a b.example", "-a.example",
        "a" * 300 + ".example", "shop.example:80", "shop.example%00.internal", "shop.exa\x00mple.org",
    ],
)  # fmt: skip
def test_hosts_that_no_request_may_leave_for(host: str) -> None:
    assert not is_public_host(host)


@pytest.mark.parametrize(
    "host", ["shop.example", "www.shop.example.com", "SHOP.example.com.", "müller.example.de", "xn--mller-kva.example", "3com.example.com", "shop_1.example.com"]
)  # fmt: skip
def test_hosts_of_the_public_web(host: str) -> None:
    assert is_public_host(host)


@pytest.mark.parametrize(
    "url",
    ["ftp://shop.example.com", "file:///etc/passwd", "https://a@shop.example.com/", "https://10.0.0.1/", "//shop.example.com", "https://[", ""],
)  # fmt: skip
def test_addresses_that_are_not_fetched(url: str) -> None:
    assert not is_public_url(url)


def test_addresses_that_are_fetched() -> None:
    assert is_public_url("https://shop.example.com/p?a=1")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True), ("2606:2800:21f:cb07::1", True), ("127.0.0.1", False), ("10.1.2.3", False), ("172.16.0.1", False),
        ("192.168.0.1", False), ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False),
        ("240.0.0.1", False), ("::1", False), ("fe80::1%eth0", False), ("fc00::1", False), ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False), ("64:ff9b::808:808", True), ("2002:a00:1::", False), ("not an address", False),
    ],
)  # fmt: skip
def test_what_a_name_may_resolve_to(address: str, public: bool) -> None:
    assert is_public_address(address) is public


@pytest.mark.parametrize(("host", "own"), [("localhost", True), ("127.8.9.1", True), ("[::1]", True), ("shop.localhost", True),
                                           ("10.0.0.1", False), ("localhost.example", False), ("", False)])  # fmt: skip
def test_this_machine(host: str, own: bool) -> None:
    assert is_loopback(host) is own
