"""Parquet: the same columns, typed as text, integers and booleans; written in row groups of flat memory.

Amounts stay decimal text: a Parquet decimal has one scale for a whole column, and 12.9 is not 12.900000.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from scrapy.exporters import BaseItemExporter

from pricecrawl.exporters.feeds import as_row
from pricecrawl.exporters.rows import BOOLEANS, COLUMNS, INTEGERS

_ROWS_PER_GROUP = 5000


def schema(columns: tuple[str, ...] = COLUMNS) -> pa.Schema:
    """The Arrow schema of a feed."""
    return pa.schema([(name, _type(name)) for name in columns])


def _type(column: str) -> pa.DataType:
    if column in INTEGERS:
        return pa.int64()
    return pa.bool_() if column in BOOLEANS else pa.string()


class ParquetExporter(BaseItemExporter):
    """A Scrapy exporter; an empty feed is a valid file without rows."""

    def __init__(self, file: Any, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        wanted = tuple(self.fields_to_export or COLUMNS)
        self._columns = tuple(str(name) for name in wanted)
        self._file = file
        self._rows: list[dict[str, Any]] = []
        self._writer: pq.ParquetWriter | None = None

    def start_exporting(self) -> None:
        """Write the head of the file."""
        self._writer = pq.ParquetWriter(self._file, schema(self._columns), compression="zstd")

    def export_item(self, item: Any) -> None:
        """Add a row; a full group is written."""
        row = as_row(item)
        self._rows.append({name: row[name] for name in self._columns})
        if len(self._rows) >= _ROWS_PER_GROUP:
            self._flush()

    def finish_exporting(self) -> None:
        """Write the last group and the footer, without which the file cannot be read."""
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        if self._rows and self._writer is not None:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema(self._columns)))
            self._rows = []
