"""Running the application."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn

from pricecrawl.commerce.configured import placements
from pricecrawl.config import Config
from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.web.app import create_app


def run(config: Config, *, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until a signal comes; requests under way are finished first. `ready` is told the address.

    Raises:
        StorageProblem: the database or the evidence cannot be used.
        PricecrawlError: nobody can listen at that address.
    """
    app = create_app(config, placements(config.targets))
    with _listening(host, port) as listener:
        ready(f"http://{host}:{listener.getsockname()[1]}/v1")
        settings = uvicorn.Config(app, server_header=False, timeout_graceful_shutdown=60)
        uvicorn.Server(settings).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """A bound socket: what can go wrong does so before the server starts."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as problem:
        taken = problem.errno == errno.EADDRINUSE
        why = "is taken: name another --port" if taken else f"cannot be listened on ({problem.strerror})"
        raise PricecrawlError(f"{host}:{port} {why}.") from None
