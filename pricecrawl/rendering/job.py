"""What a renderer is asked for and what it gives; both travel as JSON to a render server."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from pricecrawl.domain.errors import PricecrawlError, UsageProblem

JOB = "pricecrawl_render"
"""Meta key of the job; the identity middleware takes off whatever a spider writes there."""

RESULT = "rendered"
"""Meta key of what was drawn, for spiders and the render middleware."""

FLAG = "rendered"
"""Flag of a response that a browser drew."""

MAX_CALLS = 100
MAX_CALL_BYTES = 2 * 1024 * 1024
MAX_NOTES = 100


class RenderProblem(PricecrawlError):
    """A page could not be rendered; the text says why."""


@dataclass(frozen=True, slots=True)
class RenderJob:
    """One page to draw.

    `home` is the source's own address, whose host and port alone may be navigated to (and its `www` twin);
    `asset_hosts` are public names that sub-requests may go to over HTTPS or HTTP. `disallow` are the robots
    rules of the home that bind us. `headers` is the run's identity. `wait_for` is a CSS selector, `settle_ms`
    a wait after it, `timeout` seconds for the whole page. `proxy` is (address, user, password) of the relay.
    """

    url: str
    home: str
    asset_hosts: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    locale: str | None = None
    wait_for: str | None = None
    settle_ms: int = 500
    timeout: float = 30.0
    proxy: tuple[str, str, str] | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        """As a render server takes it; a proxy of this machine's relay is of no use there and left out."""
        return {key: value for key, value in asdict(self).items() if key != "proxy"}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """A job from a stranger: every field checked.

        Raises:
            UsageProblem: naming the field that is wrong.
        """
        if not isinstance(data, dict):
            raise UsageProblem("A render job is a JSON object.")
        known = {item.name for item in fields(cls)} - {"proxy"}
        unknown = sorted(set(data) - known)
        if unknown:
            raise UsageProblem(f"A render job has no {unknown[0]!r}; there are {', '.join(sorted(known))}.")
        made: dict[str, Any] = dict(data)
        for name in ("url", "home"):
            _need(isinstance(data.get(name), str), name)
        for name in ("asset_hosts", "disallow"):
            value = data.get(name, [])
            _need(isinstance(value, list) and all(isinstance(item, str) for item in value), name)
            made[name] = tuple(value)
        pairs = data.get("headers", [])
        good = isinstance(pairs, list) and all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
            for pair in pairs
        )
        _need(good, "headers")
        made["headers"] = tuple((name, value) for name, value in pairs)
        for name in ("locale", "wait_for"):
            _need(data.get(name) is None or isinstance(data[name], str), name)
        settle, timeout = data.get("settle_ms", 500), data.get("timeout", 30.0)
        _need(isinstance(settle, int) and 0 <= settle <= 30_000, "settle_ms")
        _need(isinstance(timeout, int | float) and 0 < timeout <= 120, "timeout")
        return cls(**made)


def _need(good: bool, name: str) -> None:
    if not good:
        raise UsageProblem(f"The {name!r} of a render job is missing or wrong.")


@dataclass(frozen=True, slots=True)
class Call:
    """An answer with JSON that the page itself asked for."""

    url: str
    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Stopped:
    """A request of the page that was not let out: `kind` as the browser names it, `why` our rule."""

    url: str
    kind: str
    why: str


@dataclass(slots=True)
class Rendered:
    """A drawn page. `found` tells whether `wait_for` appeared, None where nothing was waited for."""

    url: str
    final_url: str
    status: int
    headers: dict[str, str]
    html: bytes
    calls: list[Call] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    found: bool | None = None
    redirects: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Bodies as base64."""
        data = asdict(self)
        data["html"] = base64.b64encode(self.html).decode("ascii")
        for call in data["calls"]:
            call["body"] = base64.b64encode(call["body"]).decode("ascii")
        return data

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """What a render server answered.

        Raises:
            RenderProblem: it is not what a render server answers.
        """
        try:
            made = dict(data)
            made["html"] = base64.b64decode(made["html"], validate=True)
            made["calls"] = [
                Call(**{**call, "body": base64.b64decode(call["body"], validate=True)})
                for call in made["calls"]
            ]
            made["stopped"] = [Stopped(**item) for item in made["stopped"]]
            return cls(**made)
        except (TypeError, ValueError, KeyError, binascii.Error):
            raise RenderProblem("The render server gave an answer that cannot be read.") from None
