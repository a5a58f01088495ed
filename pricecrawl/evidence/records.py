"""One fetched page as WARC records, and back.

A page is two records, each a gzip member of its own (ISO 28500:2017, annex D): the response, then the
request that it answers (WARC-Concurrent-To). The body is the one that extraction saw, that is after
Content-Encoding and Transfer-Encoding were undone; those two headers are kept under the names that
archives use for it (`X-Archive-Orig-*`). Our own facts are extension fields `X-Pricecrawl-*`, so that
the index can be rebuilt from the files alone.
"""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from isal import isal_zlib
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pricecrawl.evidence.redact import safe_headers, safe_url

# Measured on real pages: ISA-L at level 2 takes a quarter of the time of zlib at level 1, and its files are
# 2 % smaller. It writes plain gzip, which anything reads.
LEVEL = 2
SMALL = 4096

WARC_VERSION = "1.1"
_UNDONE = frozenset({"content-encoding", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer of a shop, as the crawler has it in hand.

    `body` is the decoded content. `kind` is `page`, `feed`, `robots`, `sitemap`, `rendered`, … .
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    request_headers: Mapping[str, str]
    fetched_at: datetime
    kind: str = "page"
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response read back from evidence. `headers` have lower-case names."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    fetched_at: datetime
    digest: str
    kind: str = "page"
    source: str = ""
    run_id: int = 0
    robots_digest: str | None = None
    request_headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packed:
    """A page as it will stand in a file: the response's member, the request's, the digest of the body."""

    response: bytes
    request: bytes
    digest: str


class DamagedRecord(ValueError):
    """These bytes are not one whole record of the expected kind."""


def digest_of(body: bytes) -> str:
    """`sha256:<hex>`, the name of a body."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def member(plain: bytes) -> bytes:
    """One gzip member; without a file time in it, so that equal records give equal bytes."""
    # A quarter of a megabyte of working memory is more work to have than a request's few lines are to pack.
    window, memory = (12, 4) if len(plain) <= SMALL else (zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    packer = isal_zlib.compressobj(LEVEL, zlib.DEFLATED, window + 16, memory)
    return packer.compress(plain) + packer.flush()


def warcinfo(filename: str, *, source: str, run_id: int, software: str, now: datetime) -> tuple[str, bytes]:
    """Id and bytes of the record that opens every file."""
    record_id = _new_id()
    fields = {
        "software": software,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "isPartOf": f"run-{run_id}",
        "description": f"pricecrawl run {run_id} of source {source}",
        "robots": "obeyed; each response names the digest of the robots file that allowed it",
    }
    body = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    headers = {
        "WARC-Type": "warcinfo",
        "WARC-Record-ID": record_id,
        "WARC-Date": _warc_date(now),
        "WARC-Filename": filename,
        "WARC-Block-Digest": digest_of(body),
        "Content-Type": "application/warc-fields",
        "X-Pricecrawl-Run": str(run_id),
        "X-Pricecrawl-Source": source,
    }
    return record_id, member(_serialise("", headers, None, body))


def page(fetched: Fetched, *, source: str, run_id: int, info_id: str, robots_digest: str | None) -> Packed:
    """Both records of a page, compressed; `info_id` is that of the file they are for."""
    url = safe_url(fetched.url)
    digest = digest_of(fetched.body)
    response_id = _new_id()
    common = {
        "WARC-Date": _warc_date(fetched.fetched_at),
        "WARC-Warcinfo-ID": info_id,
        "X-Pricecrawl-Run": str(run_id),
        "X-Pricecrawl-Source": source,
        "X-Pricecrawl-Kind": fetched.kind,
    }
    if robots_digest:
        common["X-Pricecrawl-Robots"] = robots_digest
    http = _http_response(fetched)
    block = hashlib.sha256(http.compute_headers_buffer() or http.headers_buff)
    block.update(fetched.body)
    response = {
        "WARC-Type": "response",
        "WARC-Record-ID": response_id,
        "WARC-Payload-Digest": digest,
        "WARC-Block-Digest": "sha256:" + block.hexdigest(),
    } | common
    request_http = _http_request(fetched, url)
    request = {
        "WARC-Type": "request",
        "WARC-Record-ID": _new_id(),
        "WARC-Concurrent-To": response_id,
        "WARC-Block-Digest": digest_of(request_http.compute_headers_buffer() or request_http.headers_buff),
        "WARC-Payload-Digest": digest_of(b""),
    } | common
    return Packed(
        member(_serialise(url, response, http, fetched.body)),
        member(_serialise(url, request, request_http, b"")),
        digest,
    )


def _serialise(url: str, headers: Mapping[str, str], http: StatusAndHeaders | None, body: bytes) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False, warc_version=WARC_VERSION)
    record = writer.create_warc_record(
        url,
        headers["WARC-Type"],
        payload=io.BytesIO(body),
        length=len(body),
        http_headers=http,
        warc_headers=StatusAndHeaders(
            "", [*headers.items(), *([("WARC-Target-URI", url)] if url else [])], protocol="WARC/1.1"
        ),
    )
    writer.write_record(record)
    return out.getvalue()


def _http_response(fetched: Fetched) -> StatusAndHeaders:
    headers = []
    for name, value in safe_headers(fetched.headers).items():
        lower = name.lower()
        if lower == "content-length":
            continue
        kept = f"X-Archive-Orig-{name}" if lower in _UNDONE else name
        headers.append((_one_line(kept), _one_line(value)))
    headers.append(("Content-Length", str(len(fetched.body))))
    try:
        phrase = HTTPStatus(fetched.status).phrase
    except ValueError:
        phrase = ""
    return StatusAndHeaders(f"{fetched.status} {phrase}".strip(), headers, protocol="HTTP/1.1")


def _http_request(fetched: Fetched, url: str) -> StatusAndHeaders:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc)]
    headers += [
        (_one_line(name), _one_line(value))
        for name, value in safe_headers(fetched.request_headers).items()
        if name.lower() != "host"
    ]
    return StatusAndHeaders(f"{fetched.method} {_one_line(target)} HTTP/1.1", headers, is_http_request=True)


def _one_line(text: str) -> str:
    """Printable ASCII for a header; a line end sent by a shop must not forge a header of the record.

    Other characters are percent-encoded, as warcio does (its own code fails on some mixtures).
    """
    if text.isascii() and text.isprintable():
        return text
    folded = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
    return re.sub(r"[^\x20-\x7e]", lambda found: quote(found[0].encode("utf-8", "replace")), folded)


def _new_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def _warc_date(moment: datetime) -> str:
    """W3C date in UTC with microseconds, as WARC 1.1 allows."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unpack(data: bytes) -> bytes:
    """The content of exactly one whole gzip member at the start of `data`.

    Raises:
        DamagedRecord: not gzip, cut off, or its checksum is wrong.
    """
    unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
    try:
        plain = unpacker.decompress(data)
    except zlib.error as error:
        raise DamagedRecord(str(error)) from None
    if not unpacker.eof:
        raise DamagedRecord("the record is cut off")
    return plain


def parse(plain: bytes) -> Any:
    """The warcio record of one unpacked member.

    Raises:
        DamagedRecord: it is not a WARC record.
    """
    try:
        record = next(iter(ArchiveIterator(io.BytesIO(plain))), None)
    except (ArchiveLoadFailed, ValueError, UnicodeDecodeError) as error:
        raise DamagedRecord(str(error)) from None
    if record is None or record.format != "warc":
        raise DamagedRecord("not a WARC record")
    return record


def response_of(plain: bytes) -> StoredResponse:
    """The response in an unpacked member; its digest is computed from the bytes, not read.

    Raises:
        DamagedRecord: not a whole WARC response record.
    """
    record = parse(plain)
    if record.rec_type != "response" or record.http_headers is None:
        raise DamagedRecord(f"a {record.rec_type} record, not a response")
    body = record.raw_stream.read()
    if record.raw_stream.limit:
        raise DamagedRecord("the body is shorter than the record says")
    fields = record.rec_headers
    try:
        return StoredResponse(
            url=fields.get_header("WARC-Target-URI") or "",
            status=int(record.http_headers.get_statuscode()),
            headers=header_dict(record.http_headers.headers),
            body=body,
            fetched_at=datetime.fromisoformat(fields.get_header("WARC-Date")),
            digest=digest_of(body),
            kind=fields.get_header("X-Pricecrawl-Kind") or "page",
            source=fields.get_header("X-Pricecrawl-Source") or "",
            run_id=int(fields.get_header("X-Pricecrawl-Run") or 0),
            robots_digest=fields.get_header("X-Pricecrawl-Robots"),
        )
    except (TypeError, ValueError) as error:
        raise DamagedRecord(f"a field of the record cannot be read: {error}") from None


def header_dict(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header names in lower case with the values of equal names joined."""
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        found[lower] = f"{found[lower]}, {value}" if lower in found else value
    return found
