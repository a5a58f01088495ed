"""CSV, JSON and JSON lines as Scrapy writes them, on flat rows."""

from __future__ import annotations

from typing import Any

from scrapy.exporters import CsvItemExporter, JsonItemExporter, JsonLinesItemExporter

from pricecrawl.domain.observation import Observation
from pricecrawl.exporters.rows import COLUMNS, flat


def as_row(item: Any) -> Any:
    """Observations become rows; other items pass, so that a spider without pipelines can be exported."""
    return flat(item) if isinstance(item, Observation) else item


class CsvExporter(CsvItemExporter):
    """CSV with a header line; missing values are empty fields."""

    def __init__(self, file: Any, **kwargs: Any) -> None:
        if kwargs.get("fields_to_export") is None:
            kwargs["fields_to_export"] = list(COLUMNS)
        super().__init__(file, **kwargs)

    def export_item(self, item: Any) -> None:
        """Write one line."""
        super().export_item(as_row(item))


class JsonExporter(JsonItemExporter):
    """One array of objects."""

    def export_item(self, item: Any) -> None:
        """Write one object."""
        super().export_item(as_row(item))


class JsonLinesExporter(JsonLinesItemExporter):
    """One object a line."""

    def export_item(self, item: Any) -> None:
        """Write one line."""
        super().export_item(as_row(item))
