"""The index rebuilt from the files alone, and a check of every record in them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence import records
from pricecrawl.evidence.files import Files
from pricecrawl.evidence.records import DamagedRecord
from pricecrawl.evidence.store import EvidenceStore

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One response record as found in a file."""

    ref: EvidenceRef
    status: int
    kind: str
    source: str
    run_id: int
    robots_digest: str | None


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a file that cannot be read as a whole record. `last` is true for a cut-off end."""

    warc: str
    offset: int
    problem: str
    last: bool


def members(files: Files, name: str) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and content of each whole gzip member of a file; memory of one member.

    Raises:
        DamagedRecord: what follows the last whole member is not one; its `args` end with the offset.
    """
    offset = 0
    pending = b""
    at, size = 0, files.size(name)
    while True:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
        plain: list[bytes] = []
        taken = 0
        while not unpacker.eof:
            if not pending:
                pending = files.read(name, at, _BLOCK) if at < size else b""
                at += len(pending)
                if not pending:
                    if taken:
                        raise DamagedRecord("the record is cut off", offset)
                    return
            try:
                plain.append(unpacker.decompress(pending))
            except zlib.error as error:
                raise DamagedRecord(str(error), offset) from None
            taken += len(pending) - len(unpacker.unused_data)
            pending = unpacker.unused_data
        yield offset, taken, b"".join(plain)
        offset += taken


def entries(store: EvidenceStore, name: str) -> Iterator[IndexEntry | Damage]:
    """Every response of one file, in order, and what is damaged in it."""
    try:
        for offset, length, plain in members(store.files, name):
            try:
                record = records.parse(plain)
                if record.rec_type != "response":
                    continue
                stated = record.rec_headers.get_header("WARC-Payload-Digest")
                stored = records.response_of(plain)
            except DamagedRecord as error:
                yield Damage(name, offset, str(error), last=False)
                continue
            if stored.digest != stated:
                yield Damage(
                    name, offset, "the body does not have the digest that the record states", last=False
                )
                continue
            yield IndexEntry(
                ref=EvidenceRef(stored.digest, name, offset, length, stored.url, stored.fetched_at),
                status=stored.status,
                kind=stored.kind,
                source=stored.source,
                run_id=stored.run_id,
                robots_digest=stored.robots_digest,
            )
    except DamagedRecord as error:
        yield Damage(name, error.args[-1], str(error.args[0]), last=True)


def scan(store: EvidenceStore) -> Iterator[IndexEntry | Damage]:
    """Every response of every file."""
    for name in store.names():
        yield from entries(store, name)
