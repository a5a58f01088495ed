"""Entry point of the `pricecrawl` command."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from pricecrawl import __version__, cli
from pricecrawl.cli.output import err
from pricecrawl.domain.errors import PricecrawlError


def build() -> typer.Typer:
    """The command with every module of this package that has a `register(app)`."""
    app = typer.Typer(
        name="pricecrawl",
        help="Collect competitor prices politely, keep the evidence, and move your own prices safely.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def main(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
        ] = False,
    ) -> None:
        if version:
            typer.echo(__version__)
            raise typer.Exit

    for module in pkgutil.iter_modules(cli.__path__):
        register = getattr(importlib.import_module(f"{cli.__name__}.{module.name}"), "register", None)
        if register is not None:
            register(app)
    return app


def run(argv: list[str] | None = None) -> None:
    """Run one command and exit with the code that the contracts give its outcome."""
    try:
        build()(args=argv)
    except PricecrawlError as problem:
        err.print(str(problem), style="red", markup=False, soft_wrap=True)
        sys.exit(problem.exit_code)
