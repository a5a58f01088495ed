"""One HTTP call to a shop platform, and what its answer or silence means for a write.

Refused connection: nothing left, NotSent. Timeout or reset after sending: Unknown. 429: Throttled.
Any other 4xx: Rejected. Any 5xx: Unknown, because a platform may answer 500 to a validation error
after it wrote, or before. Secrets never reach an error text: only status, code and path do.
"""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import requests

from pricecrawl import __version__
from pricecrawl.pricing.ports import NotSent, Rejected, TargetUnavailable, Throttled, Unknown

MAX_ANSWER = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """A trustworthy answer: status below 400 and a body that parsed."""

    status: int
    body: Any
    headers: Mapping[str, str]


Failure = Rejected | Throttled | NotSent | Unknown


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds from a Retry-After header, in either of its two forms (RFC 9110 10.2.3)."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


class Http:
    """A session with one platform. `headers` may hold credentials and are never printed."""

    def __init__(
        self,
        headers: Mapping[str, str] | None = None,
        *,
        auth: tuple[str, str] | None = None,
        timeout: float = 20.0,
    ) -> None:
        self.session = requests.Session()
        self.session.headers["User-Agent"] = f"pricecrawl/{__version__}"
        self.session.headers.update(headers or {})
        self.session.auth = auth
        # The environment's proxies and netrc must not decide where prices are written.
        self.session.trust_env = False
        self.timeout = timeout

    def send(
        self,
        method: str,
        url: str,
        *,
        json_body: Any = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Answer | Failure:
        """One call, once. Redirects are not followed: a write must not land somewhere else."""
        place = f"{method} {urlsplit(url).path}"
        try:
            response = self.session.request(
                method,
                url,
                json=json_body,
                params=params,
                headers=headers,
                timeout=timeout or self.timeout,
                allow_redirects=False,
            )
        except (requests.exceptions.ConnectTimeout, requests.exceptions.InvalidURL) as problem:
            return NotSent(f"{place}: {type(problem).__name__}")
        except requests.exceptions.ConnectionError as problem:
            refused = "NewConnectionError" in repr(problem) or "NameResolutionError" in repr(problem)
            return (
                NotSent(f"{place}: connection refused") if refused else Unknown(f"{place}: connection lost")
            )
        except requests.exceptions.RequestException as problem:
            return Unknown(f"{place}: {type(problem).__name__}")
        return self._judge(response, place)

    @staticmethod
    def _judge(response: requests.Response, place: str) -> Answer | Failure:
        status = response.status_code
        if status == requests.codes.too_many_requests:
            return Throttled(retry_after(response.headers.get("Retry-After")))
        if status >= 500:
            return Unknown(f"{place}: HTTP {status}")
        try:
            body = json.loads(response.content) if response.content[:MAX_ANSWER].strip() else None
        except ValueError:
            return Unknown(f"{place}: HTTP {status} with a body that is not JSON")
        if status >= 400:
            return Rejected(f"http_{status}", f"{place}: {_summary(body)}")
        if status >= 300:
            return Unknown(f"{place}: HTTP {status}, a redirect that is not followed")
        return Answer(status, body, response.headers)

    def read(self, method: str, url: str, **options: Any) -> Answer:
        """A call that changes nothing: anything but an answer is TargetUnavailable."""
        answer = self.send(method, url, **options)
        if isinstance(answer, Answer):
            return answer
        raise TargetUnavailable(describe(answer))


def describe(failure: Failure) -> str:
    """A failure in one sentence."""
    match failure:
        case Rejected(code, detail):
            return f"refused ({code}) {detail}"
        case Throttled(after):
            return "throttled" if after is None else f"throttled for {after:g} s"
        case NotSent(cause):
            return f"not sent: {cause}"
        case Unknown(cause):
            return f"no trustworthy answer: {cause}"


def _summary(body: Any) -> str:
    text = json.dumps(body, ensure_ascii=False) if not isinstance(body, str) else body
    return text[:300]
