"""One HTTP call to a shop platform, and what its answer or silence means for a write.

Refused connection: nothing left, NotSent. Timeout or reset after sending: Unknown. 429: Throttled.
Any other 4xx: Rejected. Any 5xx: Unknown, because a platform may answer 500 to a validation error
after it wrote, or before. Secrets never reach an error text or an exchange: they are replaced.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import NameResolutionError, NewConnectionError

from pricecrawl import __version__
from pricecrawl.domain.backoff import retry_after
from pricecrawl.pricing.ports import Exchange, NotSent, Rejected, TargetUnavailable, Throttled, Unknown

MAX_ANSWER = 8 * 1024 * 1024
KEPT_CHARACTERS = 4000
KEPT_EXCHANGES = 20
HIDDEN = "(hidden)"
_REQUEST_TIMEOUT = 408


@dataclass(frozen=True, slots=True)
class Answer:
    """A trustworthy answer: status below 300 and a body that parsed, its numbers as Decimal."""

    status: int
    body: Any
    headers: Mapping[str, str]


Failure = Rejected | Throttled | NotSent | Unknown


class Http:
    """A session with one platform; several threads may use it.

    `headers` and `auth` may hold credentials; `secrets` are texts that must never be shown. Credentials
    of `auth` are hidden by themselves.
    """

    def __init__(
        self,
        headers: Mapping[str, str] | None = None,
        *,
        auth: tuple[str, str] | None = None,
        secrets: Iterable[str] = (),
        timeout: float = 20.0,
    ) -> None:
        self._headers = {"User-Agent": f"pricecrawl/{__version__}", **(headers or {})}
        self._auth = auth
        self._secrets = tuple(text for text in (*secrets, *(auth or ())) if len(text) > 2)
        self._own = threading.local()
        self.timeout = timeout
        self.token = ""
        """A secret that changes: hidden like the others."""

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = requests.Session()
            session.headers.update(self._headers)
            session.auth = self._auth
            # The environment's proxies and netrc must not decide where prices are written.
            session.trust_env = False
        return session

    def _log(self) -> deque[Exchange]:
        log: deque[Exchange] | None = getattr(self._own, "log", None)
        if log is None:
            log = self._own.log = deque(maxlen=KEPT_EXCHANGES)
        return log

    def exchanges(self) -> tuple[Exchange, ...]:
        """This thread's calls since it last asked."""
        log = self._log()
        taken = tuple(log)
        log.clear()
        return taken

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Nothing that this thread sends leaves later than in so many seconds."""
        self._own.until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._own.until = math.inf

    def hide(self, text: str) -> str:
        """The text without any secret in it."""
        for secret in (*self._secrets, self.token):
            if secret:
                text = text.replace(secret, HIDDEN)
        return text

    def send(
        self,
        method: str,
        url: str,
        *,
        json_body: Any = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Answer | Failure:
        """One call, once. Redirects are not followed: a write must not land somewhere else."""
        place = f"{method} {urlsplit(url).path}"
        if time.monotonic() > getattr(self._own, "until", math.inf):
            return NotSent(f"{place}: too late for it")
        limit = timeout or self.timeout
        failure: Failure | None = None
        status, raw, answered = None, b"", {}
        try:
            response = self._session().request(
                method,
                url,
                json=json_body,
                data=form,
                params=params,
                headers=headers,
                timeout=limit,
                allow_redirects=False,
                stream=True,
            )
            with response:
                status, answered = response.status_code, dict(response.headers)
                raw = _body(response, time.monotonic() + limit)
        except requests.exceptions.RequestException as problem:
            failure = _not_answered(problem, place)
        except (TimeoutError, OverflowError) as problem:
            failure = Unknown(f"{place}: {problem}")
        given = "" if json_body is None else json.dumps(json_body, ensure_ascii=False, default=str)
        # A form holds credentials and nothing else: it is how a token is asked for.
        self._keep(f"{method} {_shown(url)}", given, status, "" if form else raw.decode("utf-8", "replace"))
        if failure is not None or status is None:
            return failure or Unknown(f"{place}: no answer")
        return self._judge(status, raw, requests.structures.CaseInsensitiveDict(answered), place)

    def _keep(self, request: str, body: str, status: int | None, answer: str) -> None:
        texts = (self.hide(text)[:KEPT_CHARACTERS] for text in (request, body, answer))
        request, body, answer = texts
        self._log().append(Exchange(datetime.now(UTC), request, body, status, answer))

    def _judge(self, status: int, raw: bytes, headers: Mapping[str, str], place: str) -> Answer | Failure:
        if status == requests.codes.too_many_requests:
            return Throttled(_wait(headers))
        if status >= 500 or status == _REQUEST_TIMEOUT:
            return Unknown(f"{place}: HTTP {status}")
        try:
            body = json.loads(raw, parse_float=Decimal) if raw.strip() else None
        except (ValueError, RecursionError):
            if status >= 400:
                return Rejected(f"http_{status}", f"{place}: a body that is not JSON")
            return Unknown(f"{place}: HTTP {status} with a body that is not JSON")
        if status >= 400:
            return Rejected(f"http_{status}", f"{place}: {self.hide(_summary(body))}")
        if status >= 300:
            return Unknown(f"{place}: HTTP {status}, a redirect that is not followed")
        return Answer(status, body, headers)

    def read(self, method: str, url: str, **options: Any) -> Answer:
        """A call that changes nothing: anything but an answer is TargetUnavailable."""
        return answered(self.send(method, url, **options))


def answered(answer: Answer | Failure) -> Answer:
    """The answer, or TargetUnavailable with what happened instead."""
    if isinstance(answer, Answer):
        return answer
    throttled = isinstance(answer, Throttled)
    raise TargetUnavailable(
        describe(answer),
        throttled=throttled,
        retry_after_s=answer.retry_after_s if isinstance(answer, Throttled) else None,
    )


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


def _shown(url: str) -> str:
    """The address without who calls it: a password may stand before the host."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _body(response: requests.Response, deadline: float) -> bytes:
    """The whole body, within the time and size that one answer may take."""
    parts, size = [], 0
    for part in response.iter_content(64 * 1024):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            raise OverflowError("an answer without end")
        if time.monotonic() > deadline:
            raise TimeoutError("an answer that does not end in time")
    return b"".join(parts)


def _not_answered(problem: requests.exceptions.RequestException, place: str) -> NotSent | Unknown:
    if isinstance(problem, requests.exceptions.ConnectTimeout | requests.exceptions.InvalidURL):
        return NotSent(f"{place}: {type(problem).__name__}")
    if isinstance(problem, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(problem):
        return NotSent(f"{place}: the certificate of the shop is not valid")
    if isinstance(problem, requests.exceptions.ConnectionError):
        reason = getattr(problem.args[0] if problem.args else None, "reason", None)
        if isinstance(reason, NewConnectionError | NameResolutionError):
            return NotSent(f"{place}: connection refused")
        return Unknown(f"{place}: connection lost")
    return Unknown(f"{place}: {type(problem).__name__}")


def _wait(headers: Mapping[str, str]) -> float | None:
    value, reset = headers.get("Retry-After", ""), headers.get("X-Rate-Limit-Time-Reset-Ms", "").strip()
    asked = retry_after(value, datetime.now(UTC)) if value else None
    if asked is None and reset.isascii() and reset.isdigit():  # BigCommerce's own, in milliseconds
        return float(reset[:12]) / 1000
    return asked


def _summary(body: Any) -> str:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    return text[:300]
