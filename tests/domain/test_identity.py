"""As whom a request goes out: declared always, browser-like only with the shop's permission."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.identity import (
    Identity,
    IdentityMode,
    PermissionRecord,
    accept_language,
    browser_like,
    declared,
)
from pricecrawl.domain.market import Market

NOW = datetime(2026, 11, 30, tzinfo=UTC)
RECORD = PermissionRecord(
    "lamps", "Ada Lamp, head of sales", NOW - timedelta(days=3), "e-mail of 27 November", "daily prices"
)


def _browser(
    egress: str = "10.0.0.1:8080", market: Market | None = None, time_zone: str | None = None
) -> Identity:
    return browser_like(RECORD, source="lamps", now=NOW, market=market, time_zone=time_zone, egress=egress)


def test_the_declared_identity_says_name_version_and_contact() -> None:
    identity = declared("PricecrawlBot", "1.2", "https://example.org/bot", Market("CH", "CHF", "fr_CH"))
    headers = dict(identity.headers)
    assert headers["User-Agent"] == "PricecrawlBot/1.2 (+https://example.org/bot)"
    assert headers["Accept-Language"] == "fr-CH,fr;q=0.9,en;q=0.8"
    assert identity.mode is IdentityMode.DECLARED
    assert identity.permission is None


def test_a_mail_contact_is_the_from_header_too() -> None:
    headers = dict(declared("PricecrawlBot", "1.2", "prices@example.org").headers)
    assert headers["From"] == "prices@example.org"
    assert headers["User-Agent"].endswith("(+prices@example.org)")


@pytest.mark.parametrize(
    ("name", "version", "contact"),
    [
        ("Bot\r\nX: y", "1", None),
        ("", "1", None),
        ("Bot/2", "1", None),
        ("Bot", "1\n", None),
        ("Bot", "1", "me"),
        ("Bot", "1", "a@b.example\r\nX: y"),
        ("Bot", "1", "https://a.example/)("),
        ("Bot", "1", ""),
    ],
)
def test_nothing_else_gets_into_a_header(name: str, version: str, contact: str | None) -> None:
    with pytest.raises(UsageProblem):
        declared(name, version, contact)


@pytest.mark.parametrize(
    "record",
    [
        None,
        "yes",
        replace(RECORD, source="kettles"),
        replace(RECORD, agreed_at=NOW + timedelta(seconds=1)),
        replace(RECORD, revoked_at=NOW),
        replace(RECORD, agreed_by=" "),
        replace(RECORD, how=""),
        replace(RECORD, purpose=""),
    ],
)
def test_without_a_permission_in_force_there_is_no_browser_like_identity(record: PermissionRecord) -> None:
    with pytest.raises(Refused):
        browser_like(record, source="lamps", now=NOW)


def test_it_cannot_be_built_around_the_door() -> None:
    with pytest.raises(Refused):
        Identity(IdentityMode.BROWSER_LIKE, (("User-Agent", "Mozilla/5.0"),))
    with pytest.raises(Refused):
        Identity(IdentityMode.BROWSER_LIKE, (), permission=True)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        replace(_browser(), permission=None)
    with pytest.raises(Refused):
        replace(declared("PricecrawlBot", "1", None), mode=IdentityMode.BROWSER_LIKE)


def test_it_sticks_to_the_egress_and_changes_with_it() -> None:
    assert _browser("a") == _browser("a")
    agents = {_browser(str(number)).user_agent for number in range(60)}
    assert len(agents) >= 5


def test_all_parts_of_a_browser_agree_with_each_other() -> None:
    for number in range(60):
        identity = _browser(str(number), Market("DE", "EUR", "de_DE"))
        headers = dict(identity.headers)
        agent = headers["User-Agent"]
        assert "bot" not in agent.lower()
        assert headers["Accept-Language"] == "de-DE,de;q=0.9,en;q=0.8"
        blink = "Chrome/" in agent
        assert blink is ("sec-ch-ua" in headers)
        if blink:
            version = re.search(r"Chrome/(\d+)", agent)
            assert version is not None
            assert f'"Chromium";v="{version[1]}"' in headers["sec-ch-ua"]
            assert ('"Microsoft Edge"' in headers["sec-ch-ua"]) is ("Edg/" in agent)
            system = {"Windows NT": "Windows", "Macintosh": "macOS", "X11": "Linux"}
            expected = next(name for mark, name in system.items() if mark in agent)
            assert headers["sec-ch-ua-platform"] == f'"{expected}"'
            assert headers["sec-ch-ua-mobile"] == "?0"
        if "Firefox/" in agent:
            version = re.search(r"rv:(\d+)", agent)
            assert version is not None
            assert f"Firefox/{version[1]}" in agent


@pytest.mark.parametrize(
    ("market", "time_zone", "languages"),
    [
        (None, None, ""),
        (Market("US"), None, "en-US,en;q=0.9"),
        (Market("BR", locale="pt_BR"), None, "pt-BR,pt;q=0.9,en;q=0.8"),
        (Market("CH", locale="it_CH"), None, "it-CH,it;q=0.9,en;q=0.8"),
        (Market("JP"), None, "ja-JP,ja;q=0.9,en;q=0.8"),
        (None, "America/Phoenix", "en-US,en;q=0.9"),
        (Market(), "Europe/Berlin", "de-DE,de;q=0.9,en;q=0.8"),
        (Market("FR"), "America/Phoenix", "fr-FR,fr;q=0.9,en;q=0.8"),
        (Market(locale="zh_Hant_TW"), None, "zh-TW,zh;q=0.9,en;q=0.8"),
        (None, "Nowhere/Land", ""),
        (Market(locale="de\r\nX: y"), None, ""),
    ],
)
def test_languages_follow_the_market_then_the_time_zone(
    market: Market | None, time_zone: str | None, languages: str
) -> None:
    assert accept_language(market, time_zone) == languages
