"""Generated robots.txt files, URLs and agents: mostly rules, often wrong, sometimes hostile."""

from __future__ import annotations

from random import Random

_KEYS = (
    "User-agent", "user-agent", "USERAGENT", "User agent", "Disallow", "disallow", "Dissallow", "disalow",
    "Allow", "ALLOW", "Crawl-delay", "Sitemap", "Host", "Noindex", "disallowed", "",
)  # fmt: skip
_AGENTS = (
    "*", "* everyone", "*bot", "PricecrawlBot", "pricecrawlbot/2.0", "price*", "OtherBot", "other bot", "",
    "a", "7bot", "PriceCrawlBot (+https://a.example)",
)  # fmt: skip
_PIECES = (
    "/", "/a", "/a/b", "*", "$", "/*", "/*.html$", "?page=2", "%2A", "%2a", "%7e", "é", "/index.html", "//",
    "/.", "/../", "a", "http://shop.example/a", "**", "%", "%zz", ";p", "\x00", "ツ", "%E3%83%84", "#",
)  # fmt: skip
_ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"")
_MARKS = (b"", b"", b"", b"", b"\xef\xbb\xbf", b"\xef", b"\xff\xfe", b"\xfe\xff", b"\xef\xbf\xbd", b"\x00")


def robots_text(random: Random) -> bytes:
    """One file of up to 14 lines."""
    parts = [random.choice(_MARKS)]
    if random.random() < 0.7:
        parts.append(b"User-agent: " + random.choice((b"*", b"PricecrawlBot", b"crawl")) + b"\n")
    for _ in range(random.randint(0, 14)):
        chance = random.random()
        key = random.choice(_KEYS[:4] if chance < 0.3 else _KEYS[4:11] if chance < 0.85 else _KEYS)
        if key.lower().startswith("user"):
            value = random.choice(_AGENTS)
        elif key == "Crawl-delay":
            value = random.choice(
                ("1", "10", "2.5", "0", "-1", "inf", "nan", "soon", "5 s", "1e99", "9" * 400)
            )
        else:
            value = path(random)
        line = (
            random.choice(("", "", " ", "\t"))
            + key
            + random.choice((": ", ":", " : ", " ", "\t", "::"))
            + value
        )
        raw = (line + random.choice(("", "", " ", " # why"))).encode()
        if random.random() < 0.05:
            raw += bytes(random.randrange(256) for _ in range(random.randint(1, 6)))
        parts += [raw, random.choice(_ENDS)]
    return b"".join(parts)


def path(random: Random) -> str:
    """A path or pattern of up to four pieces; every second one is a plain one."""
    if random.random() < 0.5:
        return random.choice(("/", "/a", "/a/b", "/a*", "/*.html$", "/a.html", "/a/b?page=2", "/*?"))
    return "".join(random.choice(_PIECES) for _ in range(random.randint(0, 4)))


def url(random: Random) -> str:
    """A URL or a path."""
    start = random.choice(
        ("", "/", "https://shop.example", "http://shop.example:8080/", "//shop.example", "shop")
    )
    return start + path(random)
