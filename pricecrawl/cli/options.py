"""Options that many commands have, in one wording."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
By = Annotated[str | None, typer.Option("--by", help="Who; the account that runs this by default.")]
