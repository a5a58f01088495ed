"""Thousands of cases in one process: the `--batch FILE.jsonl` shape that five commands share.

Each line of the file is `{"id", "input"}`; each line printed is `{"id", "output"}` in the same order, or
`{"id", "error"}` where a line cannot be read, and the run goes on.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from pricecrawl.cli.output import err, plain
from pricecrawl.domain.errors import PricecrawlError, UsageProblem
from pricecrawl.domain.market import Market
from pricecrawl.domain.run import EXIT_DONE

MAX_INPUT_BYTES = 64 * 1024 * 1024


class BadLineError(ValueError):
    """One line of a batch cannot be used; its text is one sentence."""


@dataclass(frozen=True, slots=True)
class BatchInput:
    """One decoded input.

    `body` holds the bytes of the page, feed or file (UTF-8 where the line gave text), or None where the
    line gave null; `text` the same as text. `queries` is what a robots file is asked.
    """

    kind: str = ""
    body: bytes | None = None
    content: str | None = None
    url: str | None = None
    final_url: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    locale: str | None = None
    currency: str | None = None
    decimal_separator: str | None = None
    platform: str | None = None
    symbology: str | None = None
    queries: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The content as text; bytes are read as UTF-8 and broken ones are replaced."""
        if self.content is not None:
            return self.content
        return (self.body or b"").decode("utf-8", "replace")

    @property
    def market(self) -> Market:
        """What the hints say about where the price is valid."""
        country = None
        if self.locale:
            parts = self.locale.replace("-", "_").split("_")
            country = next((p.upper() for p in parts[1:] if len(p) == 2 and p.isalpha()), None)
        code = (self.currency or "").strip()
        iso = code if len(code) == 3 and code.isalpha() and code.isupper() else None
        return Market(country=country, currency=iso, locale=self.locale)


Handler = Callable[[BatchInput], Any]

_KNOWN = {
    "kind", "content", "content_b64", "file", "url", "final_url", "status", "headers", "locale_hint",
    "currency_hint", "decimal_separator", "platform", "queries", "symbology",
}  # fmt: skip


def decode(raw: Any, folder: Path) -> BatchInput:
    """The `input` of one line, decoded; `folder` is where `file` is looked for.

    Raises `BadLineError` with one sentence where the line cannot be used.
    """
    if not isinstance(raw, Mapping):
        raise BadLineError("the line must be an object with an object `input`.")
    content, body = _body(raw, folder)
    status = raw.get("status")
    if status is not None and (isinstance(status, bool) or not isinstance(status, int)):
        raise BadLineError("`status` must be a number or null.")
    headers = {} if raw.get("headers") is None else raw["headers"]
    if not isinstance(headers, Mapping):
        raise BadLineError("`headers` must be an object.")
    locale, symbology = _locale(_string(raw, "locale_hint"))
    queries = () if raw.get("queries") is None else raw["queries"]
    if not isinstance(queries, list | tuple) or not all(isinstance(query, Mapping) for query in queries):
        raise BadLineError("`queries` must be a list of objects.")
    return BatchInput(
        kind=_string(raw, "kind") or "",
        body=body,
        content=content,
        url=_string(raw, "url"),
        final_url=_string(raw, "final_url"),
        status=status,
        headers={str(name): str(value) for name, value in headers.items()},
        locale=locale,
        currency=_string(raw, "currency_hint"),
        decimal_separator=_string(raw, "decimal_separator"),
        platform=_string(raw, "platform"),
        symbology=_string(raw, "symbology") or symbology,
        queries=tuple(queries),
        extra={name: value for name, value in raw.items() if name not in _KNOWN},
    )


def read_batch(path: Path) -> Iterator[tuple[Any, BatchInput | None, str | None]]:
    """Each line as (id, input, error): exactly one of the last two is set. Blank lines are passed over."""
    folder = path.resolve().parent
    try:
        stream = _open(path)
    except OSError as problem:
        raise UsageProblem(f"{path} cannot be read: {problem.strerror or problem}.") from problem
    with stream as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            identity: Any = f"line {number}"
            try:
                row = json.loads(line)
                if isinstance(row, dict):
                    identity = row.get("id", identity)
                given = decode(row.get("input") if isinstance(row, dict) else None, folder)
            except (ValueError, RecursionError, OSError, EOFError, zlib.error) as problem:
                yield identity, None, f"{type(problem).__name__}: {problem}"
            else:
                yield identity, given, None


def run_batch(path: Path, handler: Handler) -> int:
    """Answer every line of a batch file on stdout; the exit code is 0, since each answer tells its own error.

    How many lines could not be answered is said on stderr.
    """
    failed = total = 0
    for identity, given, error in read_batch(path):
        answer: dict[str, Any] = {"id": identity}
        if given is None:
            answer["error"] = error
        else:
            try:
                answer["output"] = plain(handler(given))
            except PricecrawlError as problem:
                answer["error"] = str(problem)
            except Exception as problem:  # one bad case must not end a run of thousands
                answer["error"] = f"{type(problem).__name__}: {problem}"
        failed += "error" in answer
        total += 1
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    if failed:
        err.print(f"{failed} of {total} lines could not be answered; each says why.", markup=False)
    return EXIT_DONE


def _open(path: Path) -> IO[bytes]:
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115 - callers close it
    return cast("IO[bytes]", opened)


def _string(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is None or isinstance(value, str):
        return value
    raise BadLineError(f"`{name}` must be text or null.")


def _locale(hint: str | None) -> tuple[str | None, str | None]:
    """A locale hint, or the symbology of a barcode where the hint says `symbology=UPC-E`."""
    if hint and hint.lower().startswith("symbology="):
        return None, hint.partition("=")[2].strip()
    return hint, None


def _body(raw: Mapping[str, Any], folder: Path) -> tuple[str | None, bytes | None]:
    encoded, name, content = _string(raw, "content_b64"), _string(raw, "file"), raw.get("content")
    if encoded is not None:
        try:
            return None, base64.b64decode(encoded, validate=True)
        except binascii.Error as problem:
            raise BadLineError(f"`content_b64` is not base64: {problem}.") from problem
    if name is not None:
        with _open(folder / name) as stream:
            body = stream.read(MAX_INPUT_BYTES + 1)
        if len(body) > MAX_INPUT_BYTES:
            raise BadLineError(f"{name} is larger than {MAX_INPUT_BYTES} bytes.")
        return None, body
    if content is None or isinstance(content, str):
        return content, None if content is None else content.encode("utf-8", "surrogatepass")
    raise BadLineError("`content` must be text or null.")
