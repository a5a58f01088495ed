# ruff: noqa: E501  (tables of short pieces)
"""Bytes from anywhere: the classifier never raises and never takes long."""

from __future__ import annotations

from random import Random
from time import thread_time

import pytest

from pricecrawl.domain.challenge import ResponseFacts, classify
from tests.shared import examples

LONGEST_SECONDS = 0.1

_PIECES = (
    "<html>", "</html>", "<head>", "<title>", "</title>", "<body>", "<h1>", "</h1>", "<script>", "</script>", "<style>",
    "<!--", "-->", "<a href=", "<div id='px-captcha'>", "<input type=password>", "<meta name=robots content=noindex>",
    '<script type="application/ld+json">', '{"@type":"Product","offers":{"price":"1.00"}}', "_cf_chl_opt", "challenge-form",
    "/cdn-cgi/l/chk_jschl", "access denied", "are you a robot", "you are in line", "404", "not found", "€19.00",
    "add to cart", "<", ">", '"', "'", "=", "&#", "&#99999999999;", "&#x110000;", "&amp", "\x00", "\ufeff", "İ", "ß",
    "captcha-delivery.com", "queue-it.net", "{", "[", " ", "\n", "log in", "reference #", "itemprop=price", "<meta",
)  # fmt: skip
_HEADERS = (
    "content-type",
    "Content-Type",
    "server",
    "cf-mitigated",
    "x-datadome",
    "x-iinfo",
    "set-cookie",
    "",
    "x-cdn",
)
_VALUES = (
    "text/html", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=punycode", "charset=idna",
    "charset=zlib", "charset=undefined", "charset=shift_jis", "charset=" + "a" * 200, "challenge", "cloudflare", "", "\x00",
)  # fmt: skip
_URLS = (
    "", "https://shop.example/p/1", "https://shop.example/", "https://shop.example/404", "http://[::1", "//", "https://[",
    "https://shop.example/login", "https://a.queue-it.net/", "https://shop.example:99999/", "\x00", "http://" + "a" * 500,
)  # fmt: skip
_STATUSES = (None, 0, 100, 200, 200, 200, 204, 301, 401, 403, 404, 410, 418, 429, 500, 503, 522, 999)


def _body(random: Random) -> bytes:
    if random.random() < 0.1:
        return random.randbytes(random.randint(0, 300))
    text = "".join(random.choice(_PIECES) for _ in range(random.randint(0, 40)))
    body = text.encode(random.choice(("utf-8", "utf-8", "utf-16", "cp1252")), "replace")
    if random.random() < 0.2:
        place = random.randint(0, len(body))
        body = body[:place] + random.randbytes(random.randint(1, 5)) + body[place:]
    return body


def test_no_generated_response_raises_or_hangs() -> None:
    random = Random(403)
    for number in range(examples(3_000, 600_000)):
        headers = {random.choice(_HEADERS): random.choice(_VALUES) for _ in range(random.randint(0, 3))}
        final_url = random.choice((None, random.choice(_URLS)))
        facts = ResponseFacts(
            random.choice(_STATUSES), headers, _body(random), random.choice(_URLS), final_url, number % 3 == 0
        )
        start = thread_time()
        found = classify(facts, credible_price=random.choice((None, None, False, True)))
        assert thread_time() - start < LONGEST_SECONDS, (number, facts)
        assert found.rule, facts


@pytest.mark.parametrize(
    "piece",
    [
        "<", "<script", "<script>", "<h1>", "<h1><a", "<!--", "<title>", "<div ", "<div class='", "<meta ", "<link rel=canonical ",
        "<input type ", "<input ", "<a href=", "<a ", "9", "9.", "€", "€9", "&#", "&#9", "&#x9", "&", '"@type":[', '"@type":"product"',
        '"price":', "itemprop", "itemprop ", 'type="', "id = ", "price:amount", "<meta price:amount content", " ", "\n", "404 ",
        "location", "location=", "page not ", "İ", "\x00", "charset=", "refresh", "not found ", "1 ", "usd", "eur ",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "start", ["", "<html><body>", '<script type="application/ld+json">', "<meta ", "<div class='", "<h1>"]
)
def test_repetition_costs_little(piece: str, start: str) -> None:
    body = (start + piece * (60_000 // len(piece))).encode()
    facts = ResponseFacts(200, {}, body, "https://shop.example/p/1", "https://shop.example/p/2")
    begun = thread_time()
    classify(facts)
    assert thread_time() - begun < LONGEST_SECONDS
