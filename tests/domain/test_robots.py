"""robots.txt read twice: as the standard reads it, and as it binds us."""

from __future__ import annotations

import pytest

from pricecrawl.domain.reasons import RefusalReason
from pricecrawl.domain.robots import RobotsFile, RobotsKind, judge_fetch

BOT = "PricecrawlBot"
SHOP = "https://shop.example"


def _file(*lines: str) -> RobotsFile:
    return RobotsFile.parse("\n".join(lines).encode())


# --- the strict reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent",
    [
        "PricecrawlBot",
        "PRICECRAWLBOT",
        "pricecrawl",
        "bot",
        "PricecrawlBot/2.1",
        "PricecrawlBot (+https://a.example)",
        "price*",
        "*crawl*",
        "*",
        "* all of you",
        "",
    ],
)
def test_a_group_is_ours_when_its_agent_is_part_of_our_name_or_the_reverse(agent: str) -> None:
    assert not _file(f"User-agent: {agent}", "Disallow: /").strict(BOT, f"{SHOP}/p/1").allowed


@pytest.mark.parametrize("agent", ["OtherBot", "Googlebot", "pricecrawl-images", "priceXcrawl*"])
def test_a_group_of_another_bot_is_not_ours(agent: str) -> None:
    assert _file(f"User-agent: {agent}", "Disallow: /").strict(BOT, f"{SHOP}/p/1").allowed


def test_any_matching_disallow_is_a_no_whatever_a_longer_allow_says() -> None:
    file = _file("User-agent: *", "Disallow: /p", "Allow: /p/public/")
    assert not file.strict(BOT, f"{SHOP}/p/public/1").allowed
    assert file.rfc9309(BOT, f"{SHOP}/p/public/1").allowed


def test_the_group_for_everybody_binds_us_beside_our_own() -> None:
    file = _file("User-agent: PricecrawlBot", "Disallow: /a", "", "User-agent: *", "Disallow: /b")
    assert [file.strict(BOT, path).allowed for path in ("/a", "/b", "/c")] == [False, False, True]
    assert file.rfc9309(BOT, "/b").allowed


def test_the_verdict_names_the_line_and_its_number() -> None:
    file = _file("# shop", "User-agent: *", "Disallow: /cart", "Disallow:  /checkout  # no")
    verdict = file.strict(BOT, f"{SHOP}/checkout/1")
    assert (verdict.line_number, verdict.line) == (4, "Disallow: /checkout # no")
    assert (file.strict(BOT, "/p").line_number, file.strict(BOT, "/p").line) == (0, "")


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/file-%2A.html", "/file-*.html"),
        ("/usd-%24", "/usd-$"),
        ("/%7euser", "/~user"),
        ("/caf%c3%a9", "/café"),
        ("/café", "/caf%C3%A9"),
        ("/a%2Fb", "/a/b"),
        ("private", "/private/1"),
        ("https://shop.example/private", "/private/1"),
        ("/private", "/a/../private/1"),
        ("/private", "https://shop.example//private"),
        ("/*?", "/whisky?page=2"),
        ("/*.pdf$", "/docs/a.pdf"),
    ],
)
def test_every_spelling_that_a_server_may_take_for_the_path_is_refused(rule: str, path: str) -> None:
    assert not _file("User-agent: *", f"Disallow: {rule}").strict(BOT, path).allowed


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/file-%2A.html", "/file-1.html"),
        ("/*.pdf$", "/a.pdf?x=1"),
        ("/*?", "/whisky"),
        ("/Private", "/private"),
        ("", "/"),
    ],
)
def test_other_paths_stay_open(rule: str, path: str) -> None:
    assert _file("User-agent: *", f"Disallow: {rule}").strict(BOT, path).allowed


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        (("User-agent: *", "Crawl-delay: 3"), 3),
        (("User-agent: *", "Crawl-delay: 0"), 0),
        (("User-agent: *", "Crawl-delay: 2.5"), 2.5),
        (("User-agent: *", "Crawl-delay: 2,5"), 2.5),
        (("User-agent: *", "Crawl-delay: 10 s"), 10),
        (("User-agent: *", "crawl-delay:7 # slowly"), 7),
        (
            ("User-agent: *", "Crawl-delay: fast", "Crawl-delay: -5", "Crawl-delay: inf", "Crawl-delay: nan"),
            None,
        ),
        (("User-agent: *", "Crawl-delay: " + "9" * 400), None),
        (("User-agent: *", "Crawl-delay: 4", "Crawl-delay: 9"), 9),
        (("User-agent: pricecrawl", "Crawl-delay: 2", "", "User-agent: *", "Crawl-delay: 60"), 2),
        (("User-agent: pricecrawl", "Disallow: /x", "", "User-agent: *", "Crawl-delay: 60"), 60),
        (("User-agent: pricecrawl", "Crawl-delay: 2", "", "User-agent: crawlbot", "Crawl-delay: 8"), 8),
        (("User-agent: other", "Crawl-delay: 60"), None),
    ],
)
def test_crawl_delay_is_the_longest_of_our_own_groups_else_of_everybody(
    lines: tuple[str, ...], delay: float
) -> None:
    file = _file(*lines)
    assert file.delay(BOT) == delay
    assert file.strict(BOT, "/p").delay == delay


def test_a_crawl_delay_belongs_to_its_group_and_ends_the_agents_above_it() -> None:
    file = _file(
        "User-agent: *", "Crawl-delay: 10", "", "User-agent: greedybot", "Disallow: /", "", "User-agent: *"
    )
    verdict = file.strict(BOT, "/p/1")
    assert (verdict.allowed, verdict.delay) == (True, 10)
    assert file.rfc9309(BOT, "/p/1").allowed
    assert not file.google(BOT, "/p/1").allowed


def test_a_broken_byte_order_mark_hides_nothing_from_the_strict_reading() -> None:
    for mark in (b"", b"\xef\xbb\xbf", b"\xef\xbf\xbd", b"\xef\xbb", b"\xc3\xaf\xc2\xbb\xc2\xbf"):
        assert not RobotsFile.parse(mark + b"User-agent: *\nDisallow: /").strict(BOT, "/p").allowed, mark


def test_utf_16_is_understood_by_the_strict_reading_alone() -> None:
    file = RobotsFile.parse("User-agent: *\nDisallow: /".encode("utf-16"))
    assert not file.strict(BOT, "/p").allowed
    assert file.rfc9309(BOT, "/p").allowed


# --- the standard reading --------------------------------------------------------------------------------


def test_our_own_group_replaces_the_one_for_everybody() -> None:
    file = _file("User-agent: *", "Disallow: /", "", "user-agent: pricecrawlbot", "Disallow: /x")
    assert file.rfc9309(BOT, "/p").allowed
    assert not file.strict(BOT, "/p").allowed


def test_groups_of_one_agent_are_joined_and_agents_share_a_group() -> None:
    file = _file(
        "User-agent: a",
        "User-agent: b",
        "Disallow: /1",
        "User-agent: c",
        "Disallow: /2",
        "User-agent: a",
        "Disallow: /3",
    )
    assert [file.rfc9309("a", path).allowed for path in ("/1", "/2", "/3")] == [False, True, False]
    assert [file.rfc9309("b", path).allowed for path in ("/1", "/2", "/3")] == [False, True, True]


def test_the_longest_rule_wins_and_allow_wins_a_tie() -> None:
    file = _file("User-agent: *", "Disallow: /p", "Allow: /p", "Disallow: /p/x", "Allow: /*.html$")
    assert [file.rfc9309(BOT, path).allowed for path in ("/p", "/p/x", "/p/x.html")] == [True, False, True]


@pytest.mark.parametrize(
    "key", ["Disallow", "DISALLOW", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "Disallowed"]
)
def test_known_typos_of_disallow_count(key: str) -> None:
    assert not _file("Useragent: *", f"{key}: /").rfc9309(BOT, "/p").allowed


@pytest.mark.parametrize("line", ["Disallow /", "Disallow\t/", " Disallow : / ", "Disallow: / # all of it"])
def test_blanks_comments_and_a_missing_colon_do_not_matter(line: str) -> None:
    assert not _file("User-agent *", line).rfc9309(BOT, "/p").allowed


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n"])
def test_every_line_ending_is_one(end: str) -> None:
    file = RobotsFile.parse(end.join(("User-agent: *", "Disallow: /a", "Disallow: /b")).encode())
    assert [file.rfc9309(BOT, path).allowed for path in ("/a", "/b", "/c")] == [False, False, True]


def test_a_rule_after_480_000_bytes_of_comments_still_binds() -> None:
    padding = b"# nothing to see here, go on reading\n" * 13_000
    assert len(padding) > 480_000
    file = RobotsFile.parse(b"User-agent: *\nDisallow: /early\n" + padding + b"Disallow: /late\n")
    for verdict in (file.strict(BOT, "/late"), file.rfc9309(BOT, "/late")):
        assert not verdict.allowed
        assert verdict.line_number == 13_003


def test_a_line_is_cut_where_googles_parser_cuts_it() -> None:
    long = "/" + "a" * 16_700
    file = _file("User-agent: *", f"Disallow: {long}b")
    assert not file.rfc9309(BOT, long).allowed


# --- what a fetch of robots.txt means --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "strict", "standard"),
    [
        (404, RobotsKind.UNRESTRICTED, True, True),
        (410, RobotsKind.UNRESTRICTED, True, True),
        (400, RobotsKind.UNRESTRICTED, True, True),
        (418, RobotsKind.UNRESTRICTED, True, True),
        (401, RobotsKind.REFUSED, False, True),
        (403, RobotsKind.REFUSED, False, True),
        (429, RobotsKind.UNAVAILABLE, False, False),
        (500, RobotsKind.UNAVAILABLE, False, False),
        (503, RobotsKind.UNAVAILABLE, False, False),
        (522, RobotsKind.UNAVAILABLE, False, False),
        (301, RobotsKind.UNAVAILABLE, False, False),
        (None, RobotsKind.UNAVAILABLE, False, False),
    ],
)
def test_every_status_class(status: int | None, kind: RobotsKind, strict: bool, standard: bool) -> None:
    answer = judge_fetch(
        status, {"content-type": "text/plain"}, b"User-agent: *\nDisallow:\n", f"{SHOP}/robots.txt"
    )
    assert answer.kind is kind
    assert answer.strict(BOT, "/p/1").allowed is strict
    assert answer.rfc9309(BOT, "/p/1").allowed is standard


@pytest.mark.parametrize(
    "body", [b"", b"   \n", b"<!doctype html><html><body><div id=root></div></body></html>", b"# soon"]
)
def test_a_file_without_a_directive_forbids_nothing(body: bytes) -> None:
    answer = judge_fetch(200, {"content-type": "text/html"}, body)
    assert answer.kind is RobotsKind.UNRESTRICTED
    assert answer.strict(BOT, "/p").allowed


def test_rules_served_as_html_are_rules() -> None:
    answer = judge_fetch(200, {"Content-Type": "text/html"}, b"User-agent: *\nDisallow: /p\n")
    assert answer.kind is RobotsKind.RULES
    assert not answer.strict(BOT, "/p").allowed


@pytest.mark.parametrize(
    "target",
    [
        f"{SHOP}/login?next=/robots.txt",
        f"{SHOP}/customer/account/login/",
        "https://sso.shop.example/start",
        f"{SHOP}/users/sign_in",
    ],
)
def test_a_redirect_to_a_login_is_a_refusal(target: str) -> None:
    answer = judge_fetch(200, {}, b"<html><body>Welcome</body></html>", f"{SHOP}/robots.txt", target)
    assert (answer.kind, answer.refusal) == (RobotsKind.REFUSED, RefusalReason.ROBOTS_LOGIN)
    assert not answer.strict(BOT, "/p").allowed


def test_a_login_form_in_its_place_is_a_refusal() -> None:
    body = b'<html><body><form><input name="u"><input type="password" name="p"></form></body></html>'
    assert judge_fetch(200, {}, body, f"{SHOP}/robots.txt").kind is RobotsKind.REFUSED


@pytest.mark.parametrize(
    "target", [f"{SHOP}/", "https://www.shop.example/robots.txt", f"{SHOP}/account-types/robots.txt"]
)
def test_other_redirects_are_read_as_what_they_serve(target: str) -> None:
    answer = judge_fetch(200, {}, b"User-agent: *\nDisallow: /p\n", f"{SHOP}/robots.txt", target)
    assert answer.kind is RobotsKind.RULES


@pytest.mark.parametrize("status", [200, 503])
def test_a_challenge_in_its_place_is_a_refusal(status: int) -> None:
    body = b"<html><title>Just a moment...</title><body><script>window._cf_chl_opt={}</script></body></html>"
    answer = judge_fetch(status, {"server": "cloudflare"}, body, f"{SHOP}/robots.txt")
    assert (answer.kind, answer.refusal) == (RobotsKind.REFUSED, RefusalReason.CHALLENGE)


def test_sitemaps_are_read() -> None:
    file = _file(
        "Sitemap: https://shop.example/a.xml",
        "User-agent: *",
        "Disallow:",
        "sitemap: https://shop.example/b.xml",
    )
    assert file.sitemaps == ("https://shop.example/a.xml", "https://shop.example/b.xml")


def test_what_binds_a_browsers_subrequests() -> None:
    file = _file("User-agent: *", "Disallow: /cart", "Disallow:", "User-agent: other", "Disallow: /p")
    assert file.disallowed_patterns(BOT) == ("/cart",)
