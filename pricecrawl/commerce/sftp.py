"""A folder on an SFTP server, as the file target uses one.

The server must be known: a host key that stands in no known_hosts file is refused, because whoever answers
in its place would be given a password and our prices. One connection is kept and shared by all threads;
one that was lost is made anew at the next call. `paramiko` must be installed.
"""

from __future__ import annotations

import contextlib
import io
import posixpath
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    import paramiko

_PORT = 22
_KEEPALIVE = 30
_T = TypeVar("_T")


class FolderUnavailable(OSError):
    """The server cannot be reached or does not let us in; says nothing about any file."""


class SftpFolder:
    """The few calls that a file target makes, with paths from the server's root.

    `url` is `sftp://user@host[:port]/path`; a path of `/~/…` starts at the home of the user. Every call
    raises OSError: FileNotFoundError where there is no such file, FolderUnavailable where there is no answer.
    """

    def __init__(
        self,
        url: str,
        *,
        password: str = "",
        key_file: str = "",
        known_hosts: str = "",
        timeout: float = 20.0,
    ) -> None:
        try:
            import paramiko as _  # noqa: F401 — said now, not at the first price
        except ImportError:
            raise ImportError("sftp:// needs the package paramiko: pip install paramiko") from None
        parts = urlsplit(url)
        if not parts.hostname or not parts.username:
            raise ValueError("the address must be sftp://user@host/path")
        if parts.password is not None:
            raise ValueError("a password does not belong into the address: give it as PASSWORD")
        self._host, self._port = parts.hostname, parts.port or _PORT
        self._user = unquote(parts.username)
        self._password, self._key_file, self._known_hosts = password, key_file, known_hosts
        self._timeout = timeout
        path = unquote(parts.path)
        self.root = path[3:].rstrip("/") or "." if path.startswith("/~/") else path.rstrip("/") or "/"
        self._open: paramiko.SSHClient | None = None
        self._sftp: paramiko.SFTPClient | None = None
        self._guard = threading.Lock()

    def cat_file(self, path: str) -> bytes:
        """The content of a file."""

        def read(sftp: paramiko.SFTPClient) -> bytes:
            with sftp.open(path, "rb") as file:
                return file.read()

        return self._ask(read)

    def ukey(self, path: str) -> str:
        """Size and time of a file, which tell one content from another; its time goes by the second."""
        found = self._ask(lambda sftp: sftp.stat(path))
        return f"{found.st_size} {found.st_mtime}"

    def exists(self, path: str) -> bool:
        """Whether there is such a file; a folder that may not be looked into is an error, not an absence."""
        try:
            self._ask(lambda sftp: sftp.stat(path))
        except FileNotFoundError:
            return False
        return True

    def makedirs(self, path: str, exist_ok: bool = True) -> None:
        """Make a folder and those above it."""
        for part in _above(path):
            if not self.exists(part):
                self._mkdir(part)
            elif part == path and not exist_ok:
                raise FileExistsError(path)

    def _mkdir(self, path: str) -> None:
        self._do(lambda sftp: sftp.mkdir(path))

    def pipe_file(self, path: str, content: bytes) -> None:
        """Write a file; its size is asked for afterwards."""
        self._do(lambda sftp: sftp.putfo(io.BytesIO(content), path, len(content), confirm=True))

    def mv(self, source: str, target: str) -> None:
        """Rename, in one step where the server can."""

        def rename(sftp: paramiko.SFTPClient) -> None:
            try:
                sftp.posix_rename(source, target)
            except OSError as problem:
                if problem.errno is not None:
                    raise
                sftp.rename(source, target)  # a server without the extension: no file of that name is there

        self._do(rename)

    def close(self) -> None:
        """End the connection; another call opens another."""
        with self._guard:
            self._drop()

    def _ask(self, work: Callable[[paramiko.SFTPClient], _T]) -> _T:
        """A call that changes nothing: once more over a new connection if the one that was kept is gone."""
        kept = self._sftp is not None
        try:
            return self._do(work)
        except FolderUnavailable:
            if not kept:
                raise
        return self._do(work)

    def _do(self, work: Callable[[paramiko.SFTPClient], _T]) -> _T:
        with self._understood():
            sftp = self._connected()
            try:
                return work(sftp)
            except OSError as problem:
                if problem.errno is None and not sftp.get_channel().active:  # type: ignore[union-attr]
                    self.close()
                raise
            except Exception:
                self.close()
                raise

    def _connected(self) -> paramiko.SFTPClient:
        import paramiko

        with self._guard:
            transport = None if self._open is None else self._open.get_transport()
            if self._sftp is not None and transport is not None and transport.is_active():
                return self._sftp
            self._drop()
            client = paramiko.SSHClient()
            if self._known_hosts:
                client.load_host_keys(str(Path(self._known_hosts).expanduser()))
            else:
                client.load_system_host_keys()
            client.set_missing_host_key_policy(paramiko.RejectPolicy())
            given = bool(self._password or self._key_file)
            try:
                client.connect(
                    self._host,
                    self._port,
                    self._user,
                    password=self._password or None,
                    key_filename=str(Path(self._key_file).expanduser()) if self._key_file else None,
                    allow_agent=not given,
                    look_for_keys=not given,
                    timeout=self._timeout,
                    banner_timeout=self._timeout,
                    auth_timeout=self._timeout,
                )
                sftp = client.open_sftp()
            except BaseException:
                client.close()
                raise
            sftp.get_channel().settimeout(self._timeout)  # type: ignore[union-attr]
            if (opened := client.get_transport()) is not None:
                opened.set_keepalive(_KEEPALIVE)
            self._open, self._sftp = client, sftp
            return sftp

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = self._sftp = None

    @contextlib.contextmanager
    def _understood(self) -> Iterator[None]:
        """What went wrong between us and the server, in words without a secret."""
        import paramiko

        try:
            yield
        except paramiko.BadHostKeyException as problem:
            raise FolderUnavailable(
                f"{self._host} shows another host key than the known one; nothing was sent"
            ) from problem
        except paramiko.AuthenticationException as problem:
            raise FolderUnavailable(f"{self._host} does not let {self._user} in") from problem
        except (paramiko.SSHException, EOFError) as problem:
            if "known_hosts" in str(problem):
                raise FolderUnavailable(
                    f"the host key of {self._host} is not known: compare it, and add it to known_hosts"
                ) from problem
            raise FolderUnavailable(f"{self._host} gave no answer ({type(problem).__name__})") from problem
        except (FileNotFoundError, FileExistsError, PermissionError):
            raise
        except (ConnectionError, TimeoutError) as problem:
            raise FolderUnavailable(f"{self._host} gave no answer ({type(problem).__name__})") from problem
        except OSError as problem:  # a status of the server's, or a socket that is gone
            raise FolderUnavailable(f"{self._host} did not do it ({problem})") from problem


def _above(path: str) -> list[str]:
    """The folder and those above it, the outermost first; without the root."""
    found = []
    while path and path not in {"/", "."}:
        found.append(path)
        path = posixpath.dirname(path)
    return found[::-1]
