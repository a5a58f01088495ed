"""`python -m pricecrawl` is the `pricecrawl` command."""

from pricecrawl.cli.main import run

run()
