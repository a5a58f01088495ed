"""`pricecrawl robots`: may a path be fetched, how fast, and which line of robots.txt says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urljoin, urlsplit

import typer

from pricecrawl.cli.batch import BatchInput, run_batch
from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import err, out, print_json
from pricecrawl.domain.errors import Refused, UsageProblem
from pricecrawl.domain.robots import RobotsAnswer, RobotsKind, judge_fetch
from pricecrawl.domain.robots_lines import MAX_FILE_BYTES
from pricecrawl.domain.run import EXIT_REFUSED

if TYPE_CHECKING:
    from requests import Response

_HOPS = 5
_TIMEOUT_SECONDS = 15


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("robots")(robots)


def robots(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE-OR-URL", help="A saved robots.txt, or a shop's address.")
    ] = None,
    *,
    path: Annotated[
        list[str] | None, typer.Option("--path", "-p", help="Path or URL to ask about; may be repeated.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Bot name; ours where not given.")] = None,
    status: Annotated[int | None, typer.Option(help="HTTP status that a saved file came with.")] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="Header of a saved file, as Name:Value.")
    ] = None,
    final_url: Annotated[str | None, typer.Option(help="Where redirects of a saved file ended.")] = None,
    batch: Annotated[Path | None, typer.Option(help="A file of cases, one JSON object a line.")] = None,
    as_json: AsJson = False,
) -> None:
    """May a path be fetched? The strict reading binds us; the standard's is shown beside it."""
    if batch is not None:
        raise typer.Exit(run_batch(batch, answer))
    if source is None:
        raise UsageProblem("Name a robots.txt file or a shop's URL, or give --batch FILE.")
    name = agent or _own_name()
    fetched = fetch_robots(source) if "://" in source else _saved(source, status, header or [], final_url)
    found = judge_fetch(fetched.status, fetched.headers, fetched.body, fetched.url, fetched.final_url)
    answers = [_verdict(found, {"agent": name, "path": asked}) for asked in path or ["/"]]
    if as_json:
        print_json(answers[0] if len(answers) == 1 else answers)
    else:
        _show(found, name, answers)
    if found.kind is RobotsKind.REFUSED and "://" in source:
        raise typer.Exit(EXIT_REFUSED)


def answer(given: BatchInput) -> list[dict[str, Any]]:
    """One verdict per query of a batch line; nothing is fetched."""
    body = given.body or b""
    pad = given.extra.get("pad")
    if isinstance(pad, Mapping):
        line = str(pad["line"]).encode()
        body = body.replace(str(pad["marker"]).encode(), line * (int(pad["bytes"]) // len(line)))
    status = 200 if given.status is None else given.status
    found = judge_fetch(status, given.headers, body, given.url or "", given.final_url)
    return [_verdict(found, query) for query in given.queries]


def _verdict(found: RobotsAnswer, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the contract names for one query, after the query's own keys."""
    name = str(query.get("agent") or "") if "agent" in query else _own_name()
    url = str(query.get("url", query.get("path", "/")))
    strict, standard = found.strict(name, url), found.rfc9309(name, url)
    if found.kind is RobotsKind.RULES:
        verdict, google = (
            ("allowed" if strict.allowed else "disallowed"),
            found.file.google(name, url).allowed,
        )
    else:
        verdict, google = found.kind.value, standard.allowed
    return {
        **query,
        "allowed": strict.allowed,
        "rfc9309": standard.allowed,
        "google": google,
        "verdict": verdict,
        "crawl_delay": _number(strict.delay),
        "line": strict.line or None,
        "line_number": strict.line_number or None,
        "rfc9309_line": standard.line or None,
        "reason": found.reason,
    }


def _number(seconds: float | None) -> float | int | None:
    return int(seconds) if seconds is not None and seconds.is_integer() else seconds


def _own_name() -> str:
    from pricecrawl.config import Config

    return Config.load().bot_name


def _show(found: RobotsAnswer, name: str, answers: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    out.print(f"{found.reason}; asked as {name}", markup=False)
    table = Table("path", "allowed", "standard", "delay", "line", "decided by", box=None, pad_edge=False)
    for row in answers:
        allowed, standard = row["allowed"], row["rfc9309"]
        delay = row["crawl_delay"]
        table.add_row(
            escape(row["path"]),
            "[green]yes[/]" if allowed else "[red]no[/]",
            "yes" if standard else "no",
            "" if delay is None else f"{delay} s",
            str(row["line_number"] or ""),
            escape(row["line"] or "no line"),
        )
    out.print(table)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A robots file as it came; `status` is None for a timeout or a broken connection."""

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    url: str
    final_url: str | None


def _saved(source: str, status: int | None, header: list[str], final_url: str | None) -> FetchedFile:
    try:
        body = Path(source).read_bytes()
    except OSError as problem:
        raise UsageProblem(f"{source} cannot be read: {problem.strerror}.") from problem
    return FetchedFile(200 if status is None else status, headers_of(header), body, "", final_url)


def headers_of(given: list[str]) -> dict[str, str]:
    """`Name:Value` options as a mapping; raises UsageProblem for one without a colon."""
    headers = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise UsageProblem(f"--header {text!r} must be Name:Value.")
        headers[name.strip()] = value.strip()
    return headers


def fetch_robots(address: str) -> FetchedFile:
    """robots.txt of a shop, fetched once under our declared name, following at most five redirects."""
    import requests

    from pricecrawl import __version__
    from pricecrawl.config import Config
    from pricecrawl.domain.identity import declared
    from pricecrawl.domain.urls import is_loopback, is_public_url

    config = Config.load()
    parts = urlsplit(address)
    first = address if parts.path.endswith("/robots.txt") else f"{parts.scheme}://{parts.netloc}/robots.txt"
    own = is_loopback(parts.hostname or "")
    if not own and config.contact is None:
        raise UsageProblem("Set PRICECRAWL_CONTACT first: the shop must be able to reach whoever asks.")
    identity = declared(config.bot_name, __version__, config.contact)
    url = first
    with requests.Session() as session:
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        session.headers.clear()
        session.headers.update(dict(identity.headers))
        for _ in range(_HOPS + 1):
            host = urlsplit(url).hostname or ""
            if not (own and is_loopback(host)) and not is_public_url(url):
                raise Refused(f"{url} is no public http address.")
            try:
                response = session.get(url, allow_redirects=False, timeout=_TIMEOUT_SECONDS, stream=True)
                body = _body(response)
            except requests.RequestException as problem:
                err.print(f"{url}: {type(problem).__name__}", markup=False)
                return FetchedFile(None, {}, b"", first, None)
            location = response.headers.get("Location")
            if not response.is_redirect or location is None:
                break
            url = urljoin(url, location)
    return FetchedFile(response.status_code, dict(response.headers), body, first, url)


def _body(response: Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_content(65536):
        body += chunk
        if len(body) >= MAX_FILE_BYTES:
            break
    return bytes(body)
