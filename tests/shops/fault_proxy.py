"""A TCP proxy on loopback that loses, delays, cuts or makes up the answers to chosen requests."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass
class Fault:
    """What happens to the next `times` requests whose bytes match `pattern`.

    `kind`: `drop` forwards and cuts the line when the answer comes; `delay` holds the answer back;
    `reset` cuts before forwarding; `answer` gives `reply` and forwards nothing.
    """

    kind: str
    pattern: bytes
    times: int = 1
    seconds: float = 0.0
    reply: bytes = b""


def http_reply(status: str, body: str = "", headers: str = "") -> bytes:
    """A whole HTTP answer."""
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"{headers}Connection: close\r\n\r\n{body}"
    ).encode()


class FaultProxy:
    """In front of `port`; use as a context manager. `seen` keeps every request, faults apply in order."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self.faults: list[Fault] = []
        self.seen: list[bytes] = []
        self.on_forwarded: Callable[[bytes], None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opening = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        )
        self._server = opening.result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        while lines := [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]:
            for task in lines:
                task.cancel()
            await asyncio.gather(*lines, return_exceptions=True)

    def count(self, pattern: bytes) -> int:
        """How many requests matched so far."""
        return sum(1 for request in self.seen if re.search(pattern, request, re.DOTALL))

    def _fault(self, request: bytes) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and re.search(fault.pattern, request, re.DOTALL):
                fault.times -= 1
                return fault
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _request(reader):
                self.seen.append(request)
                fault = self._fault(request)
                if fault and fault.kind == "reset":
                    return _cut(writer)
                if fault and fault.kind == "answer":
                    writer.write(fault.reply)
                    await writer.drain()
                    break
                up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
                up_writer.write(_closing(request))
                await up_writer.drain()
                if self.on_forwarded is not None:
                    # The bytes lie in the shop's own buffers now.
                    self.on_forwarded(request)
                answer = _closing(await up_reader.read(-1))
                up_writer.close()
                if fault and fault.kind == "drop":
                    return _cut(writer)
                if fault and fault.kind == "delay":
                    await asyncio.sleep(fault.seconds)
                writer.write(answer)
                await writer.drain()
                break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


def _closing(message: bytes) -> bytes:
    """The message saying that its connection ends with it: one request a connection."""
    head, _, body = message.partition(b"\r\n\r\n")
    head = re.sub(rb"\r\n(connection|keep-alive): [^\r]*", b"", head, flags=re.IGNORECASE)
    return head + b"\r\nConnection: close\r\n\r\n" + body


def _cut(writer: asyncio.StreamWriter) -> None:
    """End the connection with a reset instead of a farewell."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
