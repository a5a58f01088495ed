from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pricecrawl.db.exports import EXTRACTS, ExportStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.workflows.export import write
from pricecrawl.workflows.times import since
from tests.factories import NOON
from tests.workflows.street import NOW, Street


@pytest.fixture
def priced(street: Street) -> Street:
    street.catalogue()
    street.observe("20.00", name='Kettle, "the 1 l" – Ü')
    street.observe("18.00", source="mugs", condition="used", at=NOON + timedelta(minutes=5))
    street.match()
    street.price()
    return street


def taken(street: Street, what: str, form: str, *, start: Any = None) -> list[dict[str, Any]]:
    columns = list(EXTRACTS[what].columns)
    rows = ExportStore(street.engine).rows(what, start)
    if form == "parquet":
        path = street.folder / "out.parquet"
        write(rows, columns, form, to=path)
        return list(pq.read_table(path).to_pylist())
    stream = io.StringIO(newline="")
    write(rows, columns, form, to=stream)
    text = stream.getvalue()
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    return list(json.loads(text)) if form == "json" else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("what", sorted(EXTRACTS))
def test_every_format_says_the_same(priced: Street, what: str) -> None:
    plain = taken(priced, what, "jsonl")
    assert plain
    assert taken(priced, what, "json") == plain
    assert list(plain[0]) == list(EXTRACTS[what].columns)
    flat = taken(priced, what, "parquet")
    for row, other, line in zip(plain, flat, taken(priced, what, "csv"), strict=True):
        for name, value in row.items():
            nested = isinstance(value, list | dict)
            assert (json.loads(other[name]) if nested else other[name]) == value
            text = "" if value is None else line[name]
            assert (json.loads(text) if nested else text) == (
                value if nested else "" if value is None else str(value)
            )


def test_amounts_keep_their_digits_and_times_their_zone(priced: Street) -> None:
    (row,) = taken(priced, "decisions", "jsonl")
    assert (row["proposed_price"], row["allowed_floor"], row["verdict"]) == ("20.00", "12.78", "ALLOW")
    assert row["created_at"] == NOW.isoformat()
    listings = taken(priced, "listings", "jsonl")
    assert [(item["source"], item["sku"], item["price"]) for item in listings] == [
        ("kettles", "K-1", "20.00"),
        ("mugs", "K-1", "18.00"),
    ]


def test_only_what_is_newer_is_taken(priced: Street) -> None:
    assert len(taken(priced, "history", "jsonl")) == 2
    rows = taken(priced, "history", "jsonl", start=NOON + timedelta(minutes=1))
    assert [row["source"] for row in rows] == ["mugs"]


def test_an_empty_table_is_a_valid_file(street: Street) -> None:
    for form in ("csv", "json", "jsonl", "parquet"):
        assert taken(street, "decisions", form) == []


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def rows() -> Any:
        yield {"a": 1}
        raise RuntimeError("gone")

    path = tmp_path / "x.csv"
    with pytest.raises(RuntimeError):
        write(rows(), ["a"], "csv", to=path)
    assert not path.exists()
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="is no format"):
        write([], [], "xlsx", to=io.StringIO())
    with pytest.raises(UsageProblem, match="name a file with --out"):
        write([], [], "parquet", to=io.StringIO())
    with pytest.raises(UsageProblem, match="in an existing folder"):
        write([], ["a"], "csv", to=tmp_path / "none" / "x.csv")


def test_days_times_and_spans() -> None:
    assert since("2026-03-14").isoformat() == "2026-03-14T00:00:00+00:00"
    assert since("2026-03-14T12:00+01:00").isoformat() == "2026-03-14T11:00:00+00:00"
    assert since("36h", now=NOON) == NOON - timedelta(hours=36)
    assert since("2w", now=NOON) == NOON - timedelta(weeks=2)
    with pytest.raises(UsageProblem, match="is no time"):
        since("yesterday")
