"""Texts of shops and people on a terminal: shown as they are, obeyed by nobody."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.table import Table
from rich.tree import Tree

from pricecrawl.cli import output
from pricecrawl.db.holds import HoldStore
from pricecrawl.workflows import holds
from tests.cli.test_pricing_commands import Shell, shell, street
from tests.workflows.street import GTIN, Street

__all__ = ["shell", "street"]

HOSTILE = "[/red] [bold]mail[/bold] [link=x]"
ESCAPES = ["\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\x07", "\x00", "\x08\x08", "\x85"]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("wrap", [str, Tree, "table"])
def test_no_text_moves_the_terminal(escape: str, wrap: Any) -> None:
    console = output._Console(file=io.StringIO(), force_terminal=False, width=100)
    shown: Any = f"a{escape}b"
    if wrap == "table":
        shown = Table("x")
        shown.add_row(f"a{escape}b")
    else:
        shown = wrap(shown)
    console.print(shown)
    console.print(f"[/red] a{escape}b")
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert not set(said) & {*map(chr, range(9)), *map(chr, range(11, 32)), *map(chr, range(127, 160))}
    assert "\ufffd" in said


def test_what_people_and_shops_write_is_shown_as_they_wrote_it(shell: Shell, street: Street) -> None:
    now = datetime.now(UTC)
    skus = (
        "sku,name,brand,category,gtin,pack,size,currency,country,tax_basis,current_price\n"
        f"{HOSTILE},{HOSTILE},{HOSTILE},{HOSTILE},{GTIN},1,1 l,EUR,DE,incl,20.50\n"
    )
    street.catalogue(skus, f"sku,cogs,valid_from\n{HOSTILE},10.00,2026-01-01\n", now=now)
    street.observe("18.00", sku=HOSTILE, name=HOSTILE, brand=HOSTILE, at=now - timedelta(minutes=5))
    for scope, value in (("sku", HOSTILE), ("everything", "")):
        holds.place(HoldStore(street.engine), scope, value, reason=HOSTILE, by=HOSTILE, now=now)
    for args, code in (
        (("hold", "list"), 0),
        (("hold", "clear", "everything", "--reason", HOSTILE, "--by", HOSTILE), 0),
        (("match", "run"), 0),
        (("price", "run"), 0),
        (("hold", "clear", "sku", HOSTILE, "--reason", HOSTILE), 0),
        (("price", "run"), 0),
        (("review", "list"), 0),
        (("review", "show", "mapping:1"), 0),
        (("review", "show", HOSTILE), 0),
        (("review", "approve", HOSTILE, "--reason", HOSTILE, "--by", HOSTILE), 0),
        (("trace", HOSTILE), 0),
        (("hold", "set", "sku", HOSTILE, "--reason", HOSTILE), 0),
        (("hold", "set", "target", HOSTILE, "--reason", HOSTILE), 2),
        (("review", "show", f"{HOSTILE}x"), 2),
        (("trace", f"{HOSTILE}x"), 2),
        (("sources", "list"), 0),
        (("audit",), 0),
    ):
        got, out, err = shell(*args)
        assert got == code, (args, out, err)
        if args[0] not in {"match", "sources", "audit"} and args[:2] != ("hold", "clear"):
            assert HOSTILE.split()[1] in out + err, (args, out, err)
    assert json.loads(shell("hold", "list", "--json")[1])[0]["reason"] == HOSTILE
