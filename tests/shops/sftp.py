"""A real SFTP server on loopback over a folder: asyncssh's, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

USER, PASSWORD = "prices", "canary-sftp-5f1c"


class _Folder(asyncssh.SFTPServer):
    """The folder as its root; `deaf` refuses what it names, as a server does that is full or read-only."""

    deaf: set[str]
    opened: list[str]

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        if "posix_rename" in self.deaf:
            raise asyncssh.SFTPOpUnsupported("not here")
        done = super().posix_rename(oldpath, newpath)
        if "rename_and_hang_up" in self.deaf:
            self.channel.get_connection().abort()
        return done

    def open(self, path: bytes, pflags: int, attrs: Any) -> Any:
        if "write" in self.deaf and pflags & asyncssh.FXF_WRITE:
            raise asyncssh.SFTPFailure("the disk is full")
        self.opened.append(path.decode())
        return super().open(path, pflags, attrs)


class _Gate(asyncssh.SSHServer):
    def __init__(self, server: SftpServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._server.connections.append(conn)
        self._server.every.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        self._server.asked.append(username)
        return (username, password) == (USER, PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == USER and key.public_data == self._server.client_key.public_data


@dataclass
class SftpServer:
    """Where it listens, what a client needs, and how to disturb it."""

    folder: Path
    port: int = 0
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    client_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    every: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    deaf: set[str] = field(default_factory=set)
    opened: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"sftp://{USER}@127.0.0.1:{self.port}/"

    def known_hosts(self, path: Path, key: asyncssh.SSHKey | None = None) -> str:
        """A file that knows this server by its key, or by another one."""
        public = (key or self.host_key).export_public_key().decode()
        path.write_text(f"[127.0.0.1]:{self.port} {public}", encoding="utf-8")
        return str(path)

    def key_file(self, path: Path) -> str:
        self.client_key.write_private_key(str(path))
        return str(path)

    def hang_up(self) -> None:
        """End every connection, as a server does that is restarted."""

        def end() -> None:
            for conn in self.connections:
                conn.abort()
            self.connections.clear()

        self.loop.call_soon_threadsafe(end)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[SftpServer]:
    server = SftpServer(folder)
    started = threading.Event()
    stopping = asyncio.Event()

    def make(channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        made = _Folder(channel, chroot=str(folder).encode())
        made.deaf, made.opened = server.deaf, server.opened
        return made

    async def main() -> None:
        listener = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _Gate(server),
            server_host_keys=[server.host_key],
            sftp_factory=make,
        )
        server.port = listener.get_port()
        started.set()
        await stopping.wait()
        listener.close()
        await listener.wait_closed()
        for conn in server.every:
            conn.abort()
            await conn.wait_closed()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    thread = threading.Thread(target=lambda: server.loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield server
    finally:
        server.loop.call_soon_threadsafe(stopping.set)
        thread.join(10)
        server.loop.close()
