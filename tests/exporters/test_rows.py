"""One flat row per observation, whatever is missing from it."""

from __future__ import annotations

import io
import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.observation import EvidenceRef, Observation
from pricecrawl.exporters.feeds import CsvExporter, JsonExporter, JsonLinesExporter
from pricecrawl.exporters.parquet import ParquetExporter
from pricecrawl.exporters.rows import COLUMNS, flat

WHEN = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
BARE = Observation(
    **{field.name: None for field in fields(Observation)}
    | {
        "source": "s",
        "source_sku": "1",
        "name": 'ü, "quoted"\nline',
        "review_reasons": (),
        "observed_at": WHEN,
    }
    | {"tax_basis": TaxBasis.UNKNOWN, "availability": Availability.UNKNOWN, "needs_review": False, "pack": 1}
)  # type: ignore[arg-type]
FULL = replace(
    BARE,
    price=Decimal("1E+3"),
    base_quantity=Decimal("0.700"),
    review_reasons=("tie", "anchor_drift"),
    needs_review=True,
    evidence=EvidenceRef("sha256:00", "s/a.warc.gz", 7, 9, "http://shop/x", WHEN),
)


def test_every_column_is_there_and_plain() -> None:
    for item in (BARE, FULL):
        row = flat(item)
        assert tuple(row) == COLUMNS
        assert all(value is None or isinstance(value, str | int | bool) for value in row.values())
    assert flat(FULL)["price"] == "1000", "never an exponent"
    assert flat(FULL)["base_quantity"] == "0.700", "the digits that were read"
    assert flat(FULL)["review_reasons"] == "tie anchor_drift"
    assert flat(FULL)["evidence_offset"] == 7
    assert flat(BARE)["evidence_digest"] is None
    assert flat(BARE)["observed_at"] == "2026-11-30T09:30:00+00:00"


def written(exporter_type: type, items: list[Observation]) -> bytes:
    file = io.BytesIO()
    exporter = exporter_type(file, encoding="utf-8")
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


@pytest.mark.parametrize("count", [0, 1, 12_345])
def test_parquet_holds_every_row_in_any_number_of_groups(count: int) -> None:
    table = pq.read_table(io.BytesIO(written(ParquetExporter, [FULL] * count)))
    assert table.num_rows == count
    assert tuple(table.column_names) == COLUMNS
    if count:
        assert table.to_pylist()[-1] == flat(FULL)


def test_json_and_csv_agree() -> None:
    as_json = json.loads(written(JsonExporter, [BARE, FULL]))
    assert as_json == [flat(BARE), flat(FULL)]
    lines = written(JsonLinesExporter, [BARE, FULL]).decode().splitlines()
    assert [json.loads(line) for line in lines] == as_json
    head = written(CsvExporter, []).decode() or written(CsvExporter, [BARE]).decode().splitlines()[0]
    assert head.strip().split(",") == list(COLUMNS)
