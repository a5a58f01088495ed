"""Writing what shops answered, once, and reading it back by reference."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from pricecrawl import __version__
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence import records
from pricecrawl.evidence.files import Growing, open_files
from pricecrawl.evidence.records import DamagedRecord, Fetched, Packed, StoredResponse
from pricecrawl.evidence.redact import safe_url

__all__ = ["EvidenceStore", "Fetched", "Parcel", "StoredResponse", "WarcWriter"]

FILE_BYTES = 256 * 2**20
"""A file that has grown past this is closed and the next one begun."""

PART_BYTES, PART_RECORDS = 8 * 2**20, 500
"""The same for an object store, where an open file is memory and is lost in a crash."""

FSYNC_SECONDS = 5.0
"""At most this much is lost in a power cut; a killed process loses nothing that was written."""


class EvidenceStore:
    """All evidence files of an installation: a folder, or an fsspec URL such as `s3://bucket/prefix`.

    `options` go to the fsspec driver; its own environment variables and configuration work as well.
    """

    def __init__(self, url: str, *, options: dict[str, Any] | None = None) -> None:
        self.files = open_files(url, options)

    def writer(self, source: str, run_id: int) -> WarcWriter:
        """A writer for one run. Its first file is made by its first record."""
        return WarcWriter(self, source, run_id)

    def read(self, ref: EvidenceRef) -> StoredResponse:
        """The stored response behind a reference.

        Raises:
            StorageProblem: the file is missing, or the record damaged or not the one that was meant.
        """
        try:
            stored = records.response_of(records.unpack(self._bytes(ref)))
        except FileNotFoundError:
            raise StorageProblem(
                f"the evidence file {ref.warc} is missing from {self.files.place}."
            ) from None
        except DamagedRecord as error:
            raise StorageProblem(
                f"the evidence record at byte {ref.offset} of {ref.warc} is damaged: {error}."
            ) from None
        if stored.digest != ref.digest:
            raise StorageProblem(
                f"the evidence record at byte {ref.offset} of {ref.warc} does not match its digest: "
                "it was changed after it was written."
            )
        return stored

    def verify(self, ref: EvidenceRef) -> bool:
        """True if the stored bytes are there, whole, and have the reference's digest.

        Raises:
            StorageProblem: the store itself cannot be reached.
        """
        try:
            stored = records.response_of(records.unpack(self._bytes(ref)))
        except (FileNotFoundError, DamagedRecord):
            return False
        return stored.digest == ref.digest

    def delete(self, name: str) -> None:
        """Remove one whole file; whether it may go is the caller's decision."""
        self.files.delete(name)

    def names(self) -> Iterator[str]:
        """Names of all evidence files."""
        return self.files.names()

    def _bytes(self, ref: EvidenceRef) -> bytes:
        return self.files.read(ref.warc, ref.offset, ref.length)


@dataclass(frozen=True, slots=True)
class Parcel:
    """A page made ready for one file: what its records say of that file and of robots, and the records."""

    of: tuple[str, str | None]
    packed: Packed


class WarcWriter:
    """Writes the records of one run; thread-safe, blocking.

    Nothing is ever written into a file of another run or of an earlier writer. Call `sync` before the
    references are stored elsewhere: on an object store it is what writes them.
    """

    def __init__(self, store: EvidenceStore, source: str, run_id: int) -> None:
        self._store = store
        self._source = source
        self._run_id = run_id
        self._lock = Lock()
        self._file: Growing | None = None
        self._name = ""
        self._info_id = ""
        self._records = 0
        self._number = 0
        self._token = secrets.token_hex(4)
        self._robots: dict[str, str] = {}
        self._synced_at = monotonic()

    def pack(self, fetched: Fetched) -> Parcel:
        """Do beforehand what takes time about a page that may be written soon; nothing is written of it.

        Raises:
            StorageProblem: the page's file cannot be begun.
        """
        with self._lock:
            self._open(fetched)
            return self._pack(fetched)

    def write(self, fetched: Fetched, parcel: Parcel | None = None) -> EvidenceRef:
        """Write one response and its request; the reference is to the response's record.

        `parcel` is what `pack` made of the same page.

        Raises:
            StorageProblem: the disk is full or the store unusable; the file ends with the record before.
        """
        host = urlsplit(fetched.url).netloc
        with self._lock:
            file = self._open(fetched)
            if parcel is None or parcel.of != (self._info_id, self._robots.get(host)):
                parcel = self._pack(fetched)
            packed = parcel.packed
            offset = file.append(packed.response + packed.request)
            self._records += 1
            if fetched.kind == "robots":
                self._robots[host] = packed.digest
            ref = EvidenceRef(
                digest=packed.digest,
                warc=self._name,
                offset=offset,
                length=len(packed.response),
                url=safe_url(fetched.url),
                fetched_at=fetched.fetched_at,
            )
            self._keep(file)
            return ref

    def sync(self) -> None:
        """Make everything written so far safe against a power cut; on an object store, store it."""
        with self._lock:
            if self._file is not None:
                self._sync(self._file)

    def publish(self) -> None:
        """Make every reference given so far readable: an object store's part is written, a file is already.

        Cheaper than `sync`: it waits for no disk.
        """
        with self._lock:
            if self._file is not None and not self._file.may_grow_after_sync:
                self._sync(self._file)

    def close(self) -> None:
        """End the run's evidence."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _pack(self, fetched: Fetched) -> Parcel:
        robots = self._robots.get(urlsplit(fetched.url).netloc)
        packed = records.page(
            fetched, source=self._source, run_id=self._run_id, info_id=self._info_id, robots_digest=robots
        )
        return Parcel((self._info_id, robots), packed)

    def _open(self, fetched: Fetched) -> Growing:
        if self._file is None:
            self._number += 1
            self._records = 0
            day = fetched.fetched_at.astimezone(UTC)
            folder = re.sub(r"[^A-Za-z0-9._-]+", "_", self._source).lstrip(".") or "_"
            self._name = (
                f"{folder}/{day:%Y-%m}/{self._run_id:06d}-{day:%Y%m%dT%H%M%S}-{self._token}"
                f"-{self._number:04d}.warc.gz"
            )
            file = self._store.files.create(self._name)
            self._info_id, opening = records.warcinfo(
                self._name.rpartition("/")[2],
                source=self._source,
                run_id=self._run_id,
                software=f"pricecrawl/{__version__}",
                now=fetched.fetched_at,
            )
            file.append(opening)
            self._file = file
        return self._file

    def _keep(self, file: Growing) -> None:
        """Close what is large enough, and flush now and then."""
        if file.may_grow_after_sync:
            if file.size >= FILE_BYTES:
                file.close()
                self._file = None
            elif monotonic() - self._synced_at >= FSYNC_SECONDS:
                self._sync(file)
        elif file.size >= PART_BYTES or self._records >= PART_RECORDS:
            self._sync(file)

    def _sync(self, file: Growing) -> None:
        file.sync()
        self._synced_at = monotonic()
        if not file.may_grow_after_sync:
            self._file = None
