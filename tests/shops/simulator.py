"""A small HTTP server on loopback with routes, for platforms whose own server cannot be had here."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Call:
    """One request as a route sees it."""

    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: Any


Reply = tuple[int, Any] | tuple[int, Any, Mapping[str, str]]
Route = tuple[str, str, Callable[..., Reply]]


class Simulator:
    """Serves `routes()`; use as a context manager. Each call is answered under one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(size)
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                try:
                    body = json.loads(raw, parse_float=outer.number) if raw else None
                except ValueError:
                    body = raw.decode()
                status, answer, *more = outer._route(
                    self.command, parts.path, Call(dict(self.headers), query, body)
                )
                out = b"" if answer is None else json.dumps(answer, default=_number).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(out)))
                for name, value in (more[0] if more else {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(out)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - names of http.server

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    number: Callable[[str], Any] = float

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def routes(self) -> list[Route]:
        """(method, path pattern, function); named groups become keyword arguments."""
        raise NotImplementedError

    def refuse(self, call: Call) -> Reply | None:
        """The answer to a call without credentials, or None."""
        return None

    def _route(self, method: str, path: str, call: Call) -> Reply:
        with self._lock:
            if (refused := self.refuse(call)) is not None:
                return refused
            for wanted, pattern, function in self.routes():
                if wanted == method and (found := re.fullmatch(pattern, path)):
                    return function(call, **found.groupdict())
        return 404, {"message": "not found"}


def _number(value: Any) -> Any:
    """Amounts that the platform itself keeps exactly go out as JSON numbers."""
    return float(value)
