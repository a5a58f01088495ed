"""`pricecrawl parse price|size|gtin`: the readers by hand, one text or a batch."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pricecrawl.cli.batch import BatchInput, run_batch
from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import out, print_json
from pricecrawl.domain.errors import UsageProblem

KINDS = ("price_string", "size_string", "gtin")

# `-25 %` is a text to read, not an option.
_DASHES = {"ignore_unknown_options": True}
_TEXT = Annotated[
    str | None, typer.Argument(help="The text to read, as the shop wrote it.", show_default=False)
]
_LOCALE = Annotated[str | None, typer.Option("--locale", help="CLDR locale such as de_CH: marks and signs.")]
_BATCH = Annotated[
    Path | None, typer.Option("--batch", help="Read cases from a JSON Lines file instead of one text.")
]


def answer(given: BatchInput) -> dict[str, Any]:
    """What the readers say about one input of kind `price_string`, `size_string` or `gtin`.

    Raises UsageProblem for any other kind.
    """
    text = None if given.body is None else given.text
    if given.kind == "price_string":
        return price(text, given.locale, given.currency, given.decimal_separator)
    if given.kind == "size_string":
        return size(text, given.locale)
    if given.kind == "gtin":
        return gtin(text, given.symbology)
    raise UsageProblem(f"parse reads {', '.join(KINDS)}; the input is of kind {given.kind!r}.")


def price(
    text: str | None, locale: str | None, currency: str | None, separator: str | None = None
) -> dict[str, Any]:
    """The price in a text: `amount`, `currency`, the range if it shows one, and every amount seen."""
    from pricecrawl.domain.money import read_price

    reading = read_price(text, locale=locale, currency=currency, decimal_separator=separator)
    return {
        "amount": reading.amount,
        "currency": reading.currency,
        "low": reading.low,
        "high": reading.high,
        "from": reading.is_from,
        "role": reading.role,
        "tax": reading.tax,
        "amounts": [asdict(item) for item in reading.amounts],
    }


def size(text: str | None, locale: str | None) -> dict[str, Any]:
    """The size in a text: `amount` and `unit` of one unit sold, `pack`, and the whole content in g or ml."""
    from pricecrawl.domain.measure import read_size

    found = read_size(text, locale=locale)
    if found is None:
        return dict.fromkeys(("amount", "unit", "pack", "base_quantity", "base_unit"))
    return asdict(found)


def gtin(text: str | None, symbology: str | None) -> dict[str, Any]:
    """The identifier in a text: `valid`, `gtin14`, `type`, `text`."""
    from pricecrawl.domain.identifiers import read_gtin

    return asdict(read_gtin(text, symbology=symbology))


def register(app: typer.Typer) -> None:
    """Add `parse` with its three readers."""
    group = typer.Typer(no_args_is_help=True, help="Read one price, size or identifier, as extraction does.")
    app.add_typer(group, name="parse")

    @group.command("price", context_settings=_DASHES)
    def parse_price(
        text: _TEXT = None,
        locale: _LOCALE = None,
        currency: Annotated[
            str | None, typer.Option("--currency", help="What is known: an ISO code, or text with a sign.")
        ] = None,
        separator: Annotated[
            str | None, typer.Option("--decimal-separator", help="The decimal mark, where it is certain.")
        ] = None,
        batch: _BATCH = None,
        *,
        as_json: AsJson = False,
    ) -> None:
        """Read a price: `pricecrawl parse price "1.299,00 €" --locale de_DE`."""
        _run("price_string", batch, text, as_json, lambda given: price(given, locale, currency, separator))

    @group.command("size", context_settings=_DASHES)
    def parse_size(
        text: _TEXT = None, locale: _LOCALE = None, batch: _BATCH = None, as_json: AsJson = False
    ) -> None:
        """Read a size: `pricecrawl parse size "6 x 330 ml"`."""
        _run("size_string", batch, text, as_json, lambda given: size(given, locale))

    @group.command("gtin", context_settings=_DASHES)
    def parse_gtin(
        text: _TEXT = None,
        symbology: Annotated[
            str | None, typer.Option("--symbology", help="How the code was printed, such as UPC-E.")
        ] = None,
        batch: _BATCH = None,
        as_json: AsJson = False,
    ) -> None:
        """Read an identifier: `pricecrawl parse gtin 012345678905`."""
        _run("gtin", batch, text, as_json, lambda given: gtin(given, symbology))


def _run(kind: str, batch: Path | None, text: str | None, as_json: bool, read: Any) -> None:
    if (batch is None) == (text is None):
        raise UsageProblem("Give either one text or --batch FILE.jsonl.")
    if batch is not None:
        raise typer.Exit(run_batch(batch, lambda given: _in_kind(kind, given)))
    found = read(text)
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        if isinstance(value, list):
            for item in value:
                out.print(
                    f"  {item['text']!r} is {item['amount']} {item['currency'] or ''} ({item['role'].value})",
                    markup=False,
                )
        else:
            out.print(f"{name:>14}  {'–' if value is None else getattr(value, 'value', value)}", markup=False)


def _in_kind(kind: str, given: BatchInput) -> dict[str, Any]:
    if given.kind and given.kind != kind:
        return answer(given)
    from dataclasses import replace

    return answer(replace(given, kind=kind))
