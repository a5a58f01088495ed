"""`pricecrawl serve` and `pricecrawl openapi`: the HTTP interface and its description."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("serve")(serve)
    app.command("openapi")(openapi)


def serve(
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; behind a proxy with TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8000,
) -> None:
    """Serve the HTTP interface until it is stopped."""
    from pricecrawl.cli.output import err
    from pricecrawl.config import Config
    from pricecrawl.web.server import run

    def ready(address: str) -> None:
        err.print(f"listening on {address}; `pricecrawl tokens add` makes a token", highlight=False)

    run(Config.load(), host=host, port=port, ready=ready)


def openapi() -> None:
    """Print the OpenAPI document (`docs/openapi.json` is this)."""
    from pricecrawl.cli.output import print_json
    from pricecrawl.web.app import bare_app

    print_json(bare_app().openapi())
