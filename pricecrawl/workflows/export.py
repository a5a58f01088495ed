"""Writing a table out as CSV, JSON, JSON lines or Parquet with flat memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from pricecrawl.domain.errors import UsageProblem, disk_problem

FORMATS = ("csv", "json", "jsonl", "parquet")
_GROUP = 5000


def write(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], form: str, *, to: TextIO | Path) -> int:
    """Write rows to an open text stream or a file; returns how many.

    Amounts are decimal text in every format, times ISO 8601 with their zone, nested values JSON text
    in CSV and Parquet. A file appears when it is whole.

    Raises:
        UsageProblem: an unknown format, Parquet on a text stream, or a file that cannot be made.
    """
    if form not in FORMATS:
        raise UsageProblem(f"{form!r} is no format; choose {', '.join(FORMATS)}.")
    if isinstance(to, Path):
        return _to_file(rows, columns, form, to)
    if form == "parquet":
        raise UsageProblem("Parquet is binary: name a file with --out.")
    return _TEXT[form](rows, columns, to)


def _to_file(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], form: str, path: Path) -> int:
    part = path.with_name(path.name + ".part")
    try:
        if form == "parquet":
            count = _parquet(rows, columns, part)
        else:
            with part.open("w", encoding="utf-8", newline="") as stream:
                count = _TEXT[form](rows, columns, stream)
        part.replace(path)
    except OSError as problem:
        raise disk_problem(problem, str(path)) or UsageProblem(
            f"{path} cannot be written ({problem.strerror}): name a file in an existing folder."
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return count


def _csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], stream: TextIO) -> int:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([_flat(row[name]) for name in columns])
        count += 1
    return count


def _jsonl(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], stream: TextIO) -> int:
    count = 0
    for text in _texts(rows, columns):
        stream.write(text + "\n")
        count += 1
    return count


def _json(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], stream: TextIO) -> int:
    count = 0
    stream.write("[")
    for text in _texts(rows, columns):
        stream.write((",\n" if count else "\n") + text)
        count += 1
    stream.write("\n]\n")
    return count


def _texts(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    for row in rows:
        yield json.dumps({name: _plain(row[name]) for name in columns}, ensure_ascii=False)


def _parquet(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    iterator = iter(rows)
    group = _take(iterator, columns)
    # Typed by the first rows; a column that is empty there is text, as amounts and times are.
    schema = pa.schema([(name, _arrow_type([row[name] for row in group])) for name in columns])
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group:
            writer.write_table(pa.Table.from_pylist(group, schema))
            count += len(group)
            group = _take(iterator, columns)
    return count


def _take(rows: Iterator[Mapping[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    group: list[dict[str, Any]] = []
    for row in rows:
        group.append({name: _flat(row[name]) for name in columns})
        if len(group) >= _GROUP:
            break
    return group


def _arrow_type(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.bool_()
    return pa.int64() if kinds == {int} else pa.string()


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, datetime) else value


def _flat(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _plain(value)


_TEXT: Mapping[str, Callable[[Iterable[Mapping[str, Any]], Sequence[str], TextIO], int]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}
