"""Over generated files: the strict reading is never more permissive, and nothing raises or hangs."""

from __future__ import annotations

from random import Random
from time import thread_time

import pytest
from protego import Protego

from pricecrawl.domain.robots import RobotsFile, judge_fetch
from pricecrawl.domain.robots_lines import MAX_FILE_BYTES
from tests.domain.robots_texts import robots_text, url
from tests.shared import examples

BOT = "PricecrawlBot"
LONGEST_SECONDS = 0.1


def test_the_strict_reading_never_allows_what_the_standard_refuses() -> None:
    random = Random(9309)
    refused = 0
    for number in range(examples(4_000, 100_000)):
        body, asked = robots_text(random), url(random)
        agent = random.choice((BOT, "PriceCrawlBot", "crawl", "Otherbot"))
        file = RobotsFile.parse(body)
        standard = file.rfc9309(agent, asked)
        refused += not standard.allowed
        assert standard.allowed or not file.strict(agent, asked).allowed, (number, body, agent, asked)
    assert refused > examples(4_000, 100_000) // 25


def test_both_readings_agree_where_nothing_but_disallow_for_everybody_is_said() -> None:
    random = Random(2022)
    for _ in range(examples(500, 20_000)):
        rules = [f"/{random.choice('abc')}/{random.choice('de*')}" for _ in range(random.randint(1, 4))]
        file = RobotsFile.parse(
            "\n".join(["User-agent: *", *(f"Disallow: {rule}" for rule in rules)]).encode()
        )
        asked = f"/{random.choice('abcx')}/{random.choice('dex')}/{random.randint(0, 3)}"
        assert file.strict(BOT, asked).allowed == file.rfc9309(BOT, asked).allowed, (rules, asked)


def test_no_generated_file_raises_or_hangs() -> None:
    random = Random(404)
    statuses = (200, 200, 200, 301, 403, 404, 503, None)
    for number in range(examples(3_000, 400_000)):
        body, asked = robots_text(random), url(random)
        start = thread_time()
        answer = judge_fetch(
            random.choice(statuses), {"Content-Type": asked}, body, asked, random.choice((None, asked))
        )
        answer.strict(BOT, asked)
        answer.rfc9309(BOT, asked)
        assert thread_time() - start < LONGEST_SECONDS, (number, body, asked)


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: " + b"*a" * 8_000,
        b"User-agent: *\nDisallow: /" + b"a*" * 8_000 + b"$",
        b"User-agent: *\n" + b"Disallow: /*a*b*c*d*e*f*g*h$\n" * 1_000,
        b"User-agent: " + b"*a" * 8_000 + b"\nDisallow: /",
        b"Disallow" + b" \t" * 8_000,
        b":" * 100_000,
        b"\r" * 100_000,
        b"<input" * 20_000,
        b"<html" + b" type=" * 20_000,
        b"Crawl-delay: " + b"9" * 100_000,
        b"%" * 100_000,
    ],
    ids=range(11),
)
def test_hostile_files_cost_little(body: bytes) -> None:
    for asked in ("/" + "a" * 2_000 + "b", "/" + "ab" * 1_000, "/" + "%61" * 700, "/../" * 500):
        start = thread_time()
        answer = judge_fetch(200, {}, body, "https://shop.example/robots.txt")
        answer.strict(BOT, asked)
        answer.rfc9309(BOT, asked)
        assert thread_time() - start < LONGEST_SECONDS


def test_a_file_is_read_up_to_its_limit() -> None:
    body = b"User-agent: *\n" + b"#" * MAX_FILE_BYTES + b"\nDisallow: /late\n"
    assert RobotsFile.parse(body).strict(BOT, "/late").allowed


def test_ordinary_files_are_read_as_protego_reads_them() -> None:
    """A peer, where it and Google's parser agree: one agent a group, plain paths, no escapes."""
    random = Random(1994)
    paths = ("/", "/a", "/a/", "/a/b", "/b", "/b*", "/*.pdf$", "/a/*/c", "/a?x=1")
    asked = ("/", "/a", "/a/b", "/a/b/c", "/b", "/bc", "/x.pdf", "/x.pdf?y", "/a?x=1", "/c")
    for number in range(examples(500, 20_000)):
        lines = []
        for agent in random.sample(("*", BOT, "Otherbot"), random.randint(1, 3)):
            lines.append(f"User-agent: {agent}")
            if random.random() < 0.3:
                lines.append(f"Crawl-delay: {random.randint(1, 60)}")
            lines += [
                f"{random.choice(('Allow', 'Disallow'))}: {random.choice(paths)}"
                for _ in range(random.randint(1, 4))
            ]
        text = "\n".join(lines)
        ours, peer = RobotsFile.parse(text.encode()), Protego.parse(text)
        for path in asked:
            same = ours.rfc9309(BOT, path).allowed == peer.can_fetch(f"https://shop.example{path}", BOT)
            assert same, (number, text, path)
        if (
            f"User-agent: {BOT}" in lines
            and ours.delay(BOT) is not None
            and peer.crawl_delay(BOT) is not None
        ):
            assert ours.delay(BOT) == peer.crawl_delay(BOT), (number, text)
