"""Is this response the page, or a gate in front of it? One classifier for text and rendered fetches.

Success first: a page that yields a credible price is not a challenge, whatever scripts it carries. Then by
mechanism: a header or address that only a gate has; a vendor's interstitial markup; a widget or a block
phrase with nothing else on the page; a waiting room; a log-in wall; an empty body behind a success; and
last the status alone. A word such as "captcha" or a vendor's sensor on a page with content is nothing.

`blocked` is a refusal by the shop, to be recorded and never worked around. A plain 5xx is an outage
(`unavailable`) and not a refusal; a page that says it is gone is `gone`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from pricecrawl.domain import pagegone
from pricecrawl.domain.challenge_page import PageFacts
from pricecrawl.domain.challenge_phrases import (
    BLOCK_PHRASES,
    LOGIN_PHRASES,
    MAINTENANCE_PHRASES,
    QUEUE_PHRASES,
)
from pricecrawl.domain.challenge_rules import CAPTCHAS, MARKS, Mark


class PageKind(StrEnum):
    """What a response is."""

    PAGE = "page"
    CHALLENGE = "challenge"
    GONE = "gone"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """A response as the classifier sees it.

    `status` is None where it was not recorded. `headers` may be in any case. `final_url` is set where
    redirects were followed. `rendered` tells that a browser drew the body.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    url: str = ""
    final_url: str | None = None
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Classification:
    """The answer: what the response is, whether the shop refused us, which vendor's gate, by which rule."""

    page: PageKind
    blocked: bool
    vendor: str | None
    rule: str


HEALTHY = Classification(PageKind.PAGE, False, None, "page")

SHORT_PAGE = 1500
"""Visible characters: a gate says less than this; a page about something says more."""

LONGEST_GATE = 700
"""Visible characters of a gate that nobody signs."""

MANY_LINKS = 15
"""A page with this many links has a navigation: it is the shop's, whatever it says."""

BARE_PAGE = 350
"""Visible characters of a page that has only a widget or a script to show."""

RENDERED_SHELL = 40
"""A browser that drew fewer visible characters than this drew nothing."""


def classify(facts: ResponseFacts, *, credible_price: bool | None = None) -> Classification:
    """What this response is.

    `credible_price` is what extraction found; None or False leaves it to the page's own structure, which is
    product markup, or an amount beside a way to buy.
    """
    headers = {name.lower(): str(value) for name, value in facts.headers.items()}
    status = facts.status
    page = PageFacts(facts.body, headers)
    product = bool(credible_price) or page.product
    if not product and (signed := _by_header(headers, status)) is not None:
        return _gate(*signed)
    if status in (404, 410):
        return Classification(PageKind.GONE, False, None, f"http-{status}")
    if product:
        if not credible_price and pagegone.moved_home(facts.url, facts.final_url):
            return Classification(PageKind.GONE, False, None, "redirect-home")
        if not credible_price and not page.structured_product and pagegone.says_it_twice(page):
            return Classification(PageKind.GONE, False, None, "soft-404-title")
        return HEALTHY
    found = _by_address(facts.url, facts.final_url) or _by_markup(page) or _by_content(page, facts)
    if found is not None:
        return _gate(*found)
    if (by_status := _by_status(status, headers, page)) is not None:
        return by_status
    if len(page.visible) <= SHORT_PAGE and any(
        phrase in text for text in (page.title, *page.headings[:1]) for phrase in MAINTENANCE_PHRASES
    ):
        return Classification(PageKind.UNAVAILABLE, False, None, "maintenance")
    reason = pagegone.reason(page, facts.url, facts.final_url)
    if reason is not None:
        return Classification(PageKind.GONE, False, None, reason)
    return HEALTHY


def _gate(rule: str, vendor: str | None) -> Classification:
    return Classification(PageKind.CHALLENGE, True, vendor, rule)


# --- headers -----------------------------------------------------------------------------------


def _by_header(headers: Mapping[str, str], status: int | None) -> tuple[str, str | None] | None:
    """Headers that a vendor sends with its gate and never with the page."""
    if "challenge" in headers.get("cf-mitigated", "").lower():
        return "cf-mitigated", "cloudflare"
    if headers.get("x-amzn-waf-action", "").lower() in ("challenge", "captcha"):
        return "x-amzn-waf-action", "aws-waf"
    if headers.get("x-vercel-mitigated", "").lower() in ("challenge", "deny"):
        return "x-vercel-mitigated", "vercel"
    if headers.get("x-vercel-challenge-token"):
        return "x-vercel-challenge-token", "vercel"
    if headers.get("x-dd-b") and status is not None and status >= 400:
        return "x-dd-b", "datadome"
    if headers.get("x-sucuri-block"):
        return "x-sucuri-block", "sucuri"
    if headers.get("x-cdn-challenge") or headers.get("x-px-block"):
        return "x-px-block", "perimeterx"
    return None


_VENDOR_HEADERS: tuple[tuple[str, str, str], ...] = (
    ("x-datadome", "", "datadome"),
    ("x-datadome-cid", "", "datadome"),
    ("server", "datadome", "datadome"),
    ("x-kpsdk-ct", "", "kasada"),
    ("x-kpsdk-r", "", "kasada"),
    ("x-px-vid", "", "perimeterx"),
    ("x-iinfo", "", "imperva"),
    ("x-cdn", "imperva", "imperva"),
    ("x-cdn", "incapsula", "imperva"),
    ("x-sucuri-id", "", "sucuri"),
    ("server", "sucuri", "sucuri"),
    ("server", "akamaighost", "akamai"),
    ("server", "akamainetstorage", "akamai"),
    ("server", "awselb", "aws-waf"),
    ("server", "ddos-guard", "ddos-guard"),
    ("server", "qrator", "qrator"),
    ("server", "rhino-core-shield", "reblaze"),
    ("server", "cloudfront", "cloudfront"),
    ("x-cache", "error from cloudfront", "cloudfront"),
    ("server", "big-ip", "f5"),
    ("server", "bigip", "f5"),
    ("x-azure-ref", "", "azure-waf"),
    ("server", "stackpath", "stackpath"),
    ("server", "cloudflare", "cloudflare"),
    ("cf-ray", "", "cloudflare"),
)
"""Who stands in front of the shop: names the vendor of a refusal, decides nothing."""


def _vendor_in_front(headers: Mapping[str, str]) -> str | None:
    for name, part, vendor in _VENDOR_HEADERS:
        value = headers.get(name)
        if value is not None and part in value.lower():
            return vendor
    return None


# --- address -----------------------------------------------------------------------------------

_GATE_HOSTS: tuple[tuple[str, str], ...] = (
    ("queue-it.net", "queue-it"),
    ("captcha-delivery.com", "datadome"),
    ("perfdrive.com", "radware"),
    ("consent.google.com", "google"),
    ("consent.youtube.com", "google"),
    ("consent.yahoo.com", "yahoo"),
    ("guce.yahoo.com", "yahoo"),
    ("passport.weibo.com", "weibo"),
    ("visitor.passport.weibo.cn", "weibo"),
    ("awswaf.com", "aws-waf"),
    ("challenges.cloudflare.com", "cloudflare"),
)

_GATE_PATHS: tuple[tuple[str, str | None], ...] = (
    ("/sorry/index", "google"),
    ("/errors/validatecaptcha", "amazon"),
    ("/splashui/challenge", "ebay"),
    ("/splashui/captcha", "ebay"),
    ("/cdn-cgi/l/chk_", "cloudflare"),
    ("/_incapsula_resource", "imperva"),
    ("/distil_r_", "imperva"),
    ("/_____tmd_____/punish", "alibaba"),
    ("/showcaptcha", "yandex"),
    ("/checkcaptcha", None),
    ("/.well-known/sgcaptcha", "siteground"),
    ("/throttle/queue", "shopify"),
    ("/.within.website/x/cmd/anubis", "anubis"),
)

_GATE_WORD = re.compile(
    r"(?:^|[/_-])(?:captcha|recaptcha|robot-?check|bot-?check|human-?verification|challenge|blocked|"
    r"access-?denied|waiting-?room|queue|px-?block)(?:$|[/._?-])"
)
_LOGIN_PATH = re.compile(
    r"(?:^|[/._-])(?:log[-_]?in|log[-_]?on|sign[-_]?in|sign[-_]?on|sso|oauth2?|authorize|authenticate|saml2?|"
    r"anmelden|anmeldung|connexion|iniciar[-_]?sesion|accedi|inloggen|zaloguj|password)(?:$|[/._?-])"
)


def _by_address(url: str, final_url: str | None) -> tuple[str, str | None] | None:
    """The redirect ended at a gate's own address and not at the page that was asked for."""
    here = _parts(final_url or url)
    if here is None:
        return None
    host = (here.hostname or "").lower()
    path = here.path.lower()
    for name, vendor in _GATE_HOSTS:
        if host == name or host.endswith("." + name):
            return "gate-host", vendor
    for prefix, signer in _GATE_PATHS:
        if path.startswith(prefix):
            return "gate-path", signer
    asked = _parts(url)
    if final_url is None or asked is None or (asked.path, asked.hostname) == (here.path, here.hostname):
        return None
    if _LOGIN_PATH.search(path) and not _LOGIN_PATH.search(asked.path.lower()):
        return "login-redirect", None
    if _GATE_WORD.search(path) and not _GATE_WORD.search(asked.path.lower()):
        return "gate-redirect", None
    return None


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return None
    return parts


# --- markup ------------------------------------------------------------------------------------


def _by_markup(page: PageFacts) -> tuple[str, str | None] | None:
    for mark in MARKS:
        if _carries(page, mark):
            return mark.name, mark.vendor
    return None


def _carries(page: PageFacts, mark: Mark) -> bool:
    if mark.bare and (page.app_root or page.links > 3):
        return False
    if mark.where == "visible":
        text = page.title + "\n" + page.visible
    else:
        text = page.low if mark.where == "source" else page.markup
    if not all(_stands(page, part, text) for part in mark.every):
        return False
    if mark.some and not any(_stands(page, part, text) for part in mark.some):
        return False
    return mark.most is None or len(page.visible) <= mark.most


def _stands(page: PageFacts, part: str, text: str) -> bool:
    """Is the mark there, and not merely quoted? Code that a reader can read is prose about a gate."""
    if part not in text:
        return False
    is_code = " " not in part and any(sign in part for sign in "_/.=<")
    return not (is_code and text is page.low and part in page.visible)


# --- content -----------------------------------------------------------------------------------

_JSON_GATE: tuple[tuple[str, str], ...] = (
    ("captcha-delivery.com", "datadome"),
    ('"jsclientsrc"', "perimeterx"),
    ('"blockscript"', "perimeterx"),
    ("_____tmd_____", "alibaba"),
)
_PASSWORD = re.compile(r"<input\b[^<>]*\btype\s*=\s*[\"']?password\b")
_FIELD = re.compile(r"<textarea\b|<input\b[^<>]*\btype\s*=\s*[\"']?(?:email|tel|text|search|number|date)\b")
_REFRESH = re.compile(r"<meta\b[^<>]*http-equiv\s*=\s*[\"']?refresh\b")
_RELOADS = re.compile(
    r"location\.(?:reload|replace|href|assign)\s*[(=]|\blocation\s*=\s*[\"'a-z]|top\.location|\.submit\s*\("
)
_CHECKS = re.compile(
    r"document\.cookie\s*=|fingerprint|\beval\s*\(|navigator\.webdriver|\bwasm\b|webassembly|proof.?of.?work|visitor"
)


def _by_content(page: PageFacts, facts: ResponseFacts) -> tuple[str, str | None] | None:
    """A page with nothing on it but a gate; vendor None where nobody signs it."""
    if page.is_json:
        return _json_gate(page)
    if not page.low.strip("\ufeff \t\r\n\0"):
        return _empty(facts.status)
    visible = page.visible
    if len(visible) <= SHORT_PAGE and page.links < MANY_LINKS:
        found = _widget_alone(page)
        if found is not None:
            return "captcha-only", found
        if _is_wall(page):
            return "login-wall", None
        if _says(page, QUEUE_PHRASES):
            return "waiting-room", "queue-it" if "queue-it" in page.low else None
        if _says(page, BLOCK_PHRASES):
            return "block-phrase", None
    if page.is_html and len(visible) <= 120 and _script_gate(page):
        return "script-gate", None
    if facts.rendered and len(visible) < RENDERED_SHELL:
        return "rendered-shell", None
    if page.is_html and not visible and _empty_document(page):
        return _empty(facts.status)
    return None


def _widget_alone(page: PageFacts) -> str | None:
    """The vendor of a captcha that is all there is to do on the page: no amount, no form to fill in."""
    if len(page.visible) > BARE_PAGE or page.amount or not page.is_html or _FIELD.search(page.markup):
        return None
    return next((vendor for vendor, parts in CAPTCHAS if any(part in page.low for part in parts)), None)


def _json_gate(page: PageFacts) -> tuple[str, str | None] | None:
    if page.size > 20_000:
        return None
    for part, vendor in _JSON_GATE:
        if part in page.low:
            return "json-gate", vendor
    return None


def _says(page: PageFacts, phrases: tuple[str, ...]) -> bool:
    """A short page whose title, heading or first words are about the visitor and not about a thing.

    A title alone does not decide over a page that has its own heading and something to say; an amount of
    money leaves only a heading that begins with the phrase.
    """
    visible = page.visible
    if page.amount:
        return any(heading.startswith(phrases) for heading in page.headings[:1])
    if any(phrase in heading for heading in page.headings[:2] for phrase in phrases):
        return True
    title_counts = len(visible) <= BARE_PAGE or not page.headings
    if title_counts and len(visible) <= LONGEST_GATE and any(phrase in page.title for phrase in phrases):
        return True
    if len(visible) > LONGEST_GATE or page.links >= 8:
        return False
    start = visible if len(visible) <= BARE_PAGE else visible[:250]
    return any(phrase in start for phrase in phrases)


def _is_wall(page: PageFacts) -> bool:
    """A password field under a headline about logging in, or a bare page that is only titled so."""
    bare = len(page.visible) <= BARE_PAGE and not page.amount
    if bare and page.title.startswith(LOGIN_PHRASES):
        return True
    if _PASSWORD.search(page.markup) is None:
        return False
    headline = (page.title, *page.headings[:1])
    return any(phrase in text for text in headline for phrase in LOGIN_PHRASES) or (
        bare and not page.app_root and any(phrase in page.visible for phrase in LOGIN_PHRASES)
    )


def _script_gate(page: PageFacts) -> bool:
    """Nothing to read, no place for an application, and a script that checks the visitor and moves on."""
    if page.size > 120_000 or page.app_root or page.links > 3:
        return False
    if _REFRESH.search(page.low) and "<noscript" in page.low:
        return True
    return _RELOADS.search(page.low) is not None and _CHECKS.search(page.low) is not None


def _empty_document(page: PageFacts) -> bool:
    """Markup without text, script, frame, image or input: what a browser shows for an empty body."""
    return (
        re.search(r"<(?:script|iframe|frame|img|input|svg|object|embed|video|canvas|link)\b", page.low)
        is None
    )


def _empty(status: int | None) -> tuple[str, str | None] | None:
    if status is None or (200 <= status < 300 and status not in (204, 205)):
        return "empty-body", None
    return None


# --- status ------------------------------------------------------------------------------------


def _by_status(status: int | None, headers: Mapping[str, str], page: PageFacts) -> Classification | None:
    """The status alone, once the body has said nothing: 401 and 403 refuse, 429 and 5xx are outages."""
    if status is None or 200 <= status < 400:
        return None
    front = _vendor_in_front(headers)
    if status in (401, 402, 403, 407, 451):
        return _gate(f"http-{status}", front)
    if status in (405, 406, 412, 418, 456, 493, 999) and (
        front in _FIREWALLS or len(page.visible) <= BARE_PAGE
    ):
        return _gate(f"http-{status}", front)
    if status == 429:
        return Classification(PageKind.UNAVAILABLE, True, front if front in _FIREWALLS else None, "http-429")
    return Classification(PageKind.UNAVAILABLE, False, None, f"http-{status}")


_FIREWALLS = frozenset(
    {"datadome", "kasada", "perimeterx", "imperva", "sucuri", "f5", "reblaze", "ddos-guard", "qrator"}
)
