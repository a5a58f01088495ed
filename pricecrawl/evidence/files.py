"""Where evidence files live: a folder, or any store that fsspec reaches by URL.

A folder's file grows record by record and each record is handed to the system at once, so a killed
process loses at most the record in its hands. An object store cannot append: there a file is collected
in memory and written whole, as a part that closes at a number of records or bytes or at `sync`.
Whoever stores a reference must `sync` first; then no reference points at what is not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from pricecrawl.domain.errors import StorageProblem, UsageProblem, disk_problem
from pricecrawl.evidence.redact import safe_url


class Growing(Protocol):
    """A new file that is being written."""

    size: int
    may_grow_after_sync: bool

    def append(self, data: bytes) -> int:
        """Add `data` at the end, whole or not at all; returns its offset."""

    def sync(self) -> None:
        """Make sure that what was appended is kept."""

    def close(self) -> None:
        """End the file; it is never written again."""


class Files(Protocol):
    """The files of one evidence store. Names are relative, with forward slashes."""

    place: str

    def create(self, name: str) -> Growing:
        """Begin a file that must not exist."""

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Some bytes; fewer than asked for at the end. Raises FileNotFoundError."""

    def size(self, name: str) -> int:
        """Bytes of a file. Raises FileNotFoundError."""

    def names(self) -> Iterator[str]:
        """All files, in order of name."""

    def delete(self, name: str) -> None:
        """Remove a file; nothing happens if it is not there."""


def open_files(url: str, options: dict[str, Any] | None = None) -> Files:
    """The store behind a folder path or an fsspec URL.

    Raises:
        UsageProblem: the URL's protocol is unknown here or its driver is not installed.
    """
    protocol, mark, rest = url.partition("://")
    if not mark or protocol in {"file", "local"}:
        return LocalFiles(Path(rest if mark else url))
    return ObjectFiles(url, options or {})


class LocalFiles:
    """Files in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = f"the evidence folder {root}"

    def create(self, name: str) -> Growing:
        """Begin a file, exclusively."""
        path = self.root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except OSError as error:
            raise disk_problem(error, str(path)) or StorageProblem(
                f"the evidence file {path} cannot be made ({error.strerror}): check PRICECRAWL_EVIDENCE_URL."
            ) from None
        return _LocalFile(path, handle)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Bytes of a file."""
        with (self.root / name).open("rb") as file:
            file.seek(offset)
            return file.read(-1 if length is None else length)

    def size(self, name: str) -> int:
        """Bytes of a file."""
        return (self.root / name).stat().st_size

    def names(self) -> Iterator[str]:
        """Every evidence file under the folder."""
        for path in sorted(self.root.rglob("*.warc.gz")):
            yield path.relative_to(self.root).as_posix()

    def delete(self, name: str) -> None:
        """Remove a file."""
        (self.root / name).unlink(missing_ok=True)


class _LocalFile:
    may_grow_after_sync = True

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle: int | None = handle
        self.size = 0

    def append(self, data: bytes) -> int:
        assert self._handle is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError as error:
            # A half record would hide every record after it.
            os.ftruncate(self._handle, self.size)
            raise disk_problem(error, str(self._path)) or StorageProblem(
                f"the evidence file {self._path} cannot be written ({error.strerror})."
            ) from None
        offset = self.size
        self.size += len(data)
        return offset

    def sync(self) -> None:
        if self._handle is not None:
            os.fsync(self._handle)

    def close(self) -> None:
        if self._handle is not None:
            self.sync()
            os.close(self._handle)
            self._handle = None


# Stores without folders; asked to make one, their drivers make a bucket, which is not ours to make.
_FLAT = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "cos", "obs", "tos"})


class ObjectFiles:
    """Files in an object store or any other file system that fsspec knows."""

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        import fsspec

        shown = safe_url(url)
        self.place = f"the evidence store {shown}"
        try:
            self._fs, self._root = fsspec.core.url_to_fs(url, **options)
        except ImportError as error:
            raise UsageProblem(f"{self.place} needs a driver that is not installed: {error}.") from None
        except ValueError:
            raise UsageProblem(
                f"PRICECRAWL_EVIDENCE_URL names {shown}, and no file system of that kind is known here."
            ) from None
        self._root = self._root.rstrip("/")
        protocols = self._fs.protocol
        self._flat = not _FLAT.isdisjoint({protocols} if isinstance(protocols, str) else protocols)

    def create(self, name: str) -> Growing:
        """Begin a file in memory; it is written when it is synced."""
        return _ObjectPart(self, name)

    def write(self, name: str, data: bytes) -> None:
        """Write one object, which must not exist."""
        path = self._path(name)
        try:
            if not self._flat:
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._fs.pipe_file(path, data, mode="create")
        except FileExistsError:
            raise StorageProblem(
                f"the evidence file {name} is there already and is never written twice."
            ) from None
        except Exception as error:
            raise self._unusable(error) from error

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Bytes of an object."""
        end = None if length is None else offset + length
        try:
            data: bytes = self._fs.cat_file(self._path(name), start=offset, end=end)
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._unusable(error) from error
        return data

    def size(self, name: str) -> int:
        """Bytes of an object."""
        try:
            self._fs.invalidate_cache()
            return int(self._fs.size(self._path(name)))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._unusable(error) from error

    def names(self) -> Iterator[str]:
        """Every evidence object under the prefix."""
        try:
            self._fs.invalidate_cache()
            found = self._fs.find(self._root)
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._unusable(error) from error
        skip = len(self._root) + 1
        yield from sorted(path[skip:] for path in found if path.endswith(".warc.gz"))

    def delete(self, name: str) -> None:
        """Remove an object."""
        try:
            self._fs.rm_file(self._path(name))
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._unusable(error) from error

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _unusable(self, error: Exception) -> StorageProblem:
        """Every driver has exceptions of its own; their texts may repeat credentials, so only the kind."""
        if isinstance(error, OSError) and (said := disk_problem(error, self.place)):
            return said
        return StorageProblem(
            f"{self.place} cannot be used ({type(error).__name__}): check PRICECRAWL_EVIDENCE_URL, "
            "its credentials and that the store answers."
        )


class _ObjectPart:
    may_grow_after_sync = False

    def __init__(self, files: ObjectFiles, name: str) -> None:
        self._files = files
        self._name = name
        self._parts: list[bytes] = []
        self.size = 0

    def append(self, data: bytes) -> int:
        offset = self.size
        self._parts.append(data)
        self.size += len(data)
        return offset

    def sync(self) -> None:
        if self._parts:
            self._files.write(self._name, b"".join(self._parts))
            self._parts = []

    def close(self) -> None:
        self.sync()
