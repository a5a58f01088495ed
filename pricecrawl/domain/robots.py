"""May we fetch this URL? Two readings of robots.txt side by side.

`rfc9309` is the standard as Google's parser computes it. `strict` is the one that binds us, and it is
never more permissive: a group is ours when its agent value is a case-insensitive part of our bot name
or our bot name a part of it, `*` is always ours too, and any matching Disallow is a no whatever an
Allow says. Both name the line that decided.

One choice stands apart from Google's parser and holds for both readings: a Crawl-delay line belongs to
its group, so it ends the list of agents above it. Google's present parser skips the line and would join
`User-agent: *` / `Crawl-delay: 10` to the group that follows, which may be another bot's `Disallow: /`.
`google` gives that verdict as well, so that the difference is always visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from pricecrawl.domain.challenge import ResponseFacts, classify
from pricecrawl.domain.reasons import RefusalReason
from pricecrawl.domain.robots_lines import Directive, Line, escape, read_lines, seconds
from pricecrawl.domain.robots_match import (
    Pattern,
    index_directory,
    path_of,
    readings_of_path,
    readings_of_rule,
)

_TOKEN = re.compile(rb"[A-Za-z_-]*")
_LOGIN = re.compile(
    r"(?:^|[/._-])(?:log[-_]?in|log[-_]?on|sign[-_]?in|sign[-_]?on|signup|auth|oauth2?|authorize|sso|saml|session|"
    r"account|accounts|konto|anmelden|connexion|inicio[-_]?sesion|accedi)(?:$|[/._?-])",
    re.IGNORECASE,
)
_PASSWORD_FIELD = re.compile(rb"<input\b[^<>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_TRANSIENT = frozenset({407, 408, 425, 429})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer: may the URL be fetched, and which line of the file decided.

    `line` and `line_number` are empty and 0 when no line matched. `delay` is in seconds, None where
    the file asks for none.
    """

    allowed: bool
    line: str = ""
    line_number: int = 0
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    allow: bool
    pattern: Pattern
    line: Line
    fallback: Pattern | None = None


@dataclass(frozen=True, slots=True)
class _Groups:
    """The rules of one agent in the standard reading."""

    specific: tuple[_Rule, ...]
    everyone: tuple[_Rule, ...]
    named: bool


@dataclass(frozen=True, slots=True)
class _Binding:
    """The rules of one bot in the strict reading: (meanings of the value, line)."""

    rules: tuple[tuple[tuple[Pattern, ...], Line], ...]
    delay: float | None


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A parsed robots.txt; ask it per bot name and URL."""

    lines: tuple[Line, ...]
    _standard: dict[tuple[str, bool], _Groups] = field(default_factory=dict, repr=False, compare=False)
    _strict: dict[str, _Binding] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def parse(cls, body: bytes) -> RobotsFile:
        """Any bytes at all; what does not look like a directive is skipped."""
        return cls(read_lines(body))

    @property
    def has_rules(self) -> bool:
        """True when at least one line is a directive that some reading knows."""
        return any(line.directive is not Directive.OTHER for line in self.lines)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The URLs of the Sitemap lines, as written."""
        found = (
            line.value.decode("utf-8", "replace")
            for line in self.lines
            if line.directive is Directive.SITEMAP
        )
        return tuple(dict.fromkeys(found))

    def rfc9309(self, agent: str, url: str) -> Verdict:
        """The standard reading for a product token; `url` may be a URL or a path."""
        return self._longest_match(agent, url, delay_ends_agents=True)

    def google(self, agent: str, url: str) -> Verdict:
        """Exactly Google's present parser, which does not see Crawl-delay lines."""
        return self._longest_match(agent, url, delay_ends_agents=False)

    def strict(self, bot_name: str, url: str) -> Verdict:
        """The reading that binds us, with the delay to keep; never allows what `rfc9309` refuses."""
        binding = self._binding(bot_name)
        paths = readings_of_path(url)
        for patterns, line in binding.rules:
            if any(pattern.matches(path) for pattern in patterns for path in paths):
                return Verdict(False, line.text, line.number, binding.delay)
        standard = self.rfc9309(bot_name, url)
        return Verdict(standard.allowed, standard.line, standard.line_number, binding.delay)

    def delay(self, bot_name: str) -> float | None:
        """Seconds between requests: the longest that our named groups ask for, else that of `*`."""
        return self._binding(bot_name).delay

    def disallowed_patterns(self, bot_name: str) -> tuple[str, ...]:
        """The Disallow values that bind us, for a browser's sub-requests."""
        return tuple(line.value.decode("latin-1") for _, line in self._binding(bot_name).rules)

    def _longest_match(self, agent: str, url: str, *, delay_ends_agents: bool) -> Verdict:
        key = (agent, delay_ends_agents)
        groups = self._standard.get(key)
        if groups is None:
            groups = self._standard[key] = _standard_groups(self.lines, agent, delay_ends_agents)
        path = path_of(url)
        for rules, last in ((groups.specific, groups.named), (groups.everyone, True)):
            allow, allow_line = _best(rules, path, allow=True)
            disallow, disallow_line = _best(rules, path, allow=False)
            if allow > 0 or disallow > 0:
                decided = disallow_line if disallow > allow else allow_line
                return _verdict(disallow <= allow, decided)
            if last:
                break
        return Verdict(True)

    def _binding(self, bot_name: str) -> _Binding:
        binding = self._strict.get(bot_name)
        if binding is None:
            binding = self._strict[bot_name] = _strict_binding(self.lines, bot_name)
        return binding


class RobotsKind(StrEnum):
    """What fetching robots.txt told us."""

    RULES = "rules"
    UNRESTRICTED = "unrestricted"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The outcome of one fetch of robots.txt, with the rules where there are any.

    REFUSED ends the run as blocked; UNAVAILABLE ends it as unavailable, to be tried again later.
    `reason` is a sentence for the run's record; `refusal` the reason code of a REFUSED.
    """

    kind: RobotsKind
    file: RobotsFile
    reason: str
    refusal: RefusalReason | None = None

    def strict(self, bot_name: str, url: str) -> Verdict:
        """May we fetch `url`? The file's own rules where there are rules, else what the fetch said."""
        if self.kind is RobotsKind.RULES:
            return self.file.strict(bot_name, url)
        return Verdict(self.kind is RobotsKind.UNRESTRICTED)

    def rfc9309(self, agent: str, url: str) -> Verdict:
        """The standard's answer: any 4xx is no restriction, an unreachable file is a complete no."""
        if self.kind is RobotsKind.RULES:
            return self.file.rfc9309(agent, url)
        return Verdict(self.kind is not RobotsKind.UNAVAILABLE)


_NO_RULES = RobotsFile(())


def judge_fetch(
    status: int | None, headers: Mapping[str, str], body: bytes, url: str = "", final_url: str | None = None
) -> RobotsAnswer:
    """What the response to a request for robots.txt means for the run.

    `status` is None for a timeout or a broken connection. 401, 403, a log-in page and a challenge are
    refusals; 429, 5xx, timeouts and endless redirects are outages; 404, 410 and every other 4xx, and an
    HTML page without a directive, leave us unrestricted; the rest is read as rules.
    """
    if status is None:
        return _unavailable("robots.txt could not be fetched")
    if status in {401, 403}:
        reason = RefusalReason.HTTP_401 if status == 401 else RefusalReason.ROBOTS_FORBIDDEN
        return _refused(f"robots.txt answered {status}", reason)
    if _led_to_login(url, final_url) or (_is_html(body) and _PASSWORD_FIELD.search(body[:262144])):
        return _refused("robots.txt led to a log-in page", RefusalReason.ROBOTS_LOGIN)
    if _is_html(body) and status not in {404, 410}:
        found = classify(ResponseFacts(status, headers, body, url, final_url), credible_price=False)
        if found.blocked and found.vendor:
            return _refused(f"robots.txt is behind a challenge of {found.vendor}", RefusalReason.CHALLENGE)
    if status in _TRANSIENT or status >= 500 or status < 200 or 300 <= status < 400:
        return _unavailable(f"robots.txt answered {status}")
    if 400 <= status < 500:
        return RobotsAnswer(RobotsKind.UNRESTRICTED, _NO_RULES, f"robots.txt answered {status}: no rules")
    file = RobotsFile.parse(body)
    if not file.has_rules:
        what = "an HTML page" if _is_html(body) else "a file"
        return RobotsAnswer(RobotsKind.UNRESTRICTED, file, f"robots.txt is {what} without a directive")
    return RobotsAnswer(RobotsKind.RULES, file, f"robots.txt has {len(file.lines)} lines with a directive")


def _standard_groups(lines: Sequence[Line], agent: str, delay_ends_agents: bool) -> _Groups:
    wanted = agent.encode("utf-8", "surrogatepass").lower()
    ours = everyone = named = ended = False
    specific: list[_Rule] = []
    general: list[_Rule] = []
    for line in lines:
        if not line.standard:
            continue
        if line.directive is Directive.AGENT:
            if ended:
                ours = everyone = ended = False
            if _is_star(line.value):
                everyone = True
            elif _token(line.value).lower() == wanted:
                ours = named = True
        elif line.directive in {Directive.ALLOW, Directive.DISALLOW}:
            if ours or everyone:
                ended = True
                (specific if ours else general).append(_rule(line))
        elif line.directive is Directive.DELAY and delay_ends_agents and (ours or everyone):
            ended = True
    return _Groups(tuple(specific), tuple(general), named)


def _strict_binding(lines: Sequence[Line], bot_name: str) -> _Binding:
    name = bot_name.lower().encode("utf-8", "surrogatepass")
    ours = everyone = ended = False
    rules: list[tuple[tuple[Pattern, ...], Line]] = []
    delays: dict[bool, list[float]] = {True: [], False: []}
    for line in lines:
        if line.directive is Directive.AGENT:
            if ended:
                ours = everyone = ended = False
            everyone = everyone or _is_star(line.value)
            ours = ours or (not _is_star(line.value) and _names(line.value, name))
        elif line.directive is Directive.SITEMAP or line.directive is Directive.OTHER:
            continue
        else:
            ended = True
            if not (ours or everyone):
                continue
            if line.directive is Directive.DISALLOW and line.value:
                rules.append((readings_of_rule(line.value), line))
            elif line.directive is Directive.DELAY and (wait := seconds(line.value)) is not None:
                delays[ours].append(wait)
    return _Binding(tuple(rules), max(delays[True] or delays[False], default=None))


def _names(value: bytes, name: bytes) -> bool:
    """Does an agent value name this bot? `name` is in lower case; stars in the value span anything."""
    lowered = value.lower().strip()
    token = re.split(rb"[/\s;(]", lowered, maxsplit=1)[0]
    for written in (lowered, token):
        if written in name or name in written:
            return True
        if b"*" in written and Pattern.of(b"*" + written).matches(name):
            return True
    return False


def _is_star(value: bytes) -> bool:
    return value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace())


def _token(value: bytes) -> bytes:
    match = _TOKEN.match(value)
    return match.group() if match else b""


def _rule(line: Line) -> _Rule:
    value = escape(line.value)
    allow = line.directive is Directive.ALLOW
    directory = index_directory(value) if allow else None
    return _Rule(allow, Pattern.of(value), line, Pattern.of(directory) if directory else None)


def _best(rules: Sequence[_Rule], path: bytes, *, allow: bool) -> tuple[int, Line | None]:
    best, decided = -1, None
    for rule in rules:
        if rule.allow is not allow:
            continue
        for pattern in (rule.pattern, rule.fallback):
            if pattern is not None and pattern.matches(path):
                if pattern.length > best:
                    best, decided = pattern.length, rule.line
                break
    return best, decided


def _verdict(allowed: bool, line: Line | None) -> Verdict:
    return Verdict(allowed, line.text if line else "", line.number if line else 0)


def _refused(reason: str, code: RefusalReason) -> RobotsAnswer:
    return RobotsAnswer(RobotsKind.REFUSED, _NO_RULES, reason, code)


def _unavailable(reason: str) -> RobotsAnswer:
    return RobotsAnswer(RobotsKind.UNAVAILABLE, _NO_RULES, reason)


def _is_html(body: bytes) -> bool:
    """By the bytes alone: many shops label a plain robots.txt as text/html, and the reverse."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith(
        (b"<!doctype", b"<html", b"<head", b"<body", b"<script", b"<!--", b"<meta", b"<title")
    )


def _led_to_login(url: str, final_url: str | None) -> bool:
    """A redirect whose target is a log-in address and no longer a robots.txt."""
    if not final_url or final_url == url:
        return False
    try:
        target = urlsplit(final_url)
    except ValueError:
        return False
    if target.path.lower().endswith("/robots.txt"):
        return False
    host = target.hostname or ""
    return bool(_LOGIN.search(target.path) or _LOGIN.search(host.partition(".")[0]))
