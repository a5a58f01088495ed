"""Running the application."""

from __future__ import annotations

import uvicorn

from pricecrawl.config import Config
from pricecrawl.web.app import create_app


def run(config: Config, *, host: str, port: int) -> None:
    """Serve until a signal comes; requests under way are finished first.

    Raises:
        StorageProblem: the database or the evidence cannot be used.
    """
    app = create_app(config, {})
    uvicorn.run(app, host=host, port=port, server_header=False, timeout_graceful_shutdown=60)
