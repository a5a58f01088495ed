"""The snapshot that a shop leaves in a folder, while it writes it and when it is none."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from pricecrawl.commerce import file
from pricecrawl.commerce.file import FileTarget
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import NotFound, NotSent, PriceScope, TargetRef, TargetUnavailable, WritePrice

SCOPE = PriceScope("USD", TaxBasis.INCLUSIVE)
REF = TargetRef("B", "B")
HEAD = "sku,amount,currency,tax_basis\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no amount, currency, sku"),
        ("A,1.00,USD,incl\nB,2.00,USD,incl\n", "has no amount"),
        (HEAD.replace(",", ";") + "A;1.00;USD;incl\n", "has no amount"),
        (HEAD + "A,1.00,USD,incl\nB,2.0", "cut off"),
        (HEAD + "A,1.00,USD,incl\nB", "cut off"),
        (HEAD + 'A,"1.00,USD,incl\nB,2.00,USD,incl\n', "cut off"),
        (HEAD + 'A,"1.00,USD,incl\n' + "B,2.00,USD,incl\n" * 20_000, "no CSV"),
    ],
)
def test_a_snapshot_that_is_none_is_no_answer(tmp_path: Path, text: str, words: str) -> None:
    """Neither "no such SKU", which would be the end of a publication, nor an exception."""
    (tmp_path / "prices.csv").write_text(text, encoding="utf-8")
    target = FileTarget(str(tmp_path))
    with pytest.raises(TargetUnavailable, match=words):
        target.resolve("B", SCOPE)
    with pytest.raises(TargetUnavailable, match=words):
        target.read(REF, SCOPE)
    assert isinstance(target.write(WritePrice("p", "d", 1, REF, SCOPE, Decimal("1.50"))), NotSent)
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize("end", ["", "\n", "\r\n", ",,\n"])
def test_a_snapshot_that_is_whole(tmp_path: Path, end: str) -> None:
    """Also without a last line end, and with columns that have no name."""
    (tmp_path / "prices.csv").write_text(f"{HEAD}A,1.00,USD,incl\nB,2.00,USD,incl{end}", encoding="utf-8")
    target = FileTarget(str(tmp_path))
    assert target.resolve("B", SCOPE) == REF
    assert target.read(REF, SCOPE).amount == Decimal("2.00")
    assert target.resolve("C", SCOPE) == NotFound("C")


def test_an_empty_catalogue(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(HEAD, encoding="utf-8")
    assert FileTarget(str(tmp_path)).resolve("B", SCOPE) == NotFound("B")


def test_a_sku_that_is_there_twice_by_now(tmp_path: Path) -> None:
    """Found when it was there once: which of the two is meant cannot be told."""
    (tmp_path / "prices.csv").write_text(f"{HEAD}B,2.00,USD,incl\n", encoding="utf-8")
    target = FileTarget(str(tmp_path))
    assert target.resolve("B", SCOPE) == REF
    (tmp_path / "prices.csv").write_text(f"{HEAD}B,2.00,USD,incl\nB,3.00,USD,incl\n", encoding="utf-8")
    with pytest.raises(TargetUnavailable, match="2 USD prices of B"):
        target.read(REF, SCOPE)
    assert isinstance(target.write(WritePrice("p", "d", 1, REF, SCOPE, Decimal("1.50"))), NotSent)


@pytest.mark.parametrize("step", [0.0, file.STEP])
def test_a_snapshot_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    """Written anew beside its place, or in place with another size: seen at once, whatever is remembered."""
    monkeypatch.setattr(file, "STEP", step)
    target, path = FileTarget(str(tmp_path)), tmp_path / "prices.csv"
    for number in range(1, 12):
        text = f"{HEAD}B,{'2' * number}.00,USD,incl\n"
        if number % 2:
            path.write_text(text, encoding="utf-8")
        else:
            (tmp_path / "new.csv").write_text(text, encoding="utf-8")
            (tmp_path / "new.csv").rename(path)
        assert target.read(REF, SCOPE).amount == Decimal("2" * number)
    path.unlink()
    with pytest.raises(TargetUnavailable):
        target.read(REF, SCOPE)
