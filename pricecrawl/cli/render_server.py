"""`pricecrawl render-server`: the browser in a process of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from pricecrawl.cli.output import err
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("render-server")(render_server)


def render_server(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port; 0 lets the system choose.")] = 8900,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=16, help="Pages drawn at a time.")] = 2,
) -> None:
    """Draw pages for crawls that have PRICECRAWL_RENDER_URL set to this address."""
    import asyncio
    import logging

    from pricecrawl.domain.urls import is_loopback
    from pricecrawl.rendering.chromium import find_chromium

    config = Config.load()
    token = config.render_token.get_secret_value() if config.render_token else ""
    if not is_loopback(host) and not token:
        raise UsageProblem(
            f"A render server on {host} is open to others: set PRICECRAWL_RENDER_TOKEN for it and its crawls."
        )
    program = find_chromium(config)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")

    async def run() -> None:
        import signal

        from pricecrawl.rendering.local import LocalRenderer
        from pricecrawl.rendering.server import serve

        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with LocalRenderer(program, at_once=at_once) as renderer:
            try:
                runner = await serve(renderer, host, port, token)
            except OSError as problem:
                raise UsageProblem(f"{host}:{port} cannot be listened on: {problem.strerror}.") from None
            where = runner.addresses[0]
            err.print(
                f"Rendering with {program} on http://{where[0]}:{where[1]}", markup=False, soft_wrap=True
            )
            await ended.wait()
            await runner.cleanup()

    asyncio.run(run())
