"""Reading a CSV file as people's programs write it, with every mistake named by line and column.

Encoding and delimiter are found, not assumed: spreadsheets write UTF-8 with or without a mark, UTF-16
or the Windows code page, and a comma, semicolon or tab between values depending on the country. What
cannot be told apart is asked about, never guessed. Numbers are in `csv_numbers`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TypeVar

from pricecrawl.domain.errors import ProblemsFound, UsageProblem
from pricecrawl.domain.moments import in_utc

T = TypeVar("T")

MAX_BYTES = 512 * 1024 * 1024
SHOWN_MISTAKES = 20
_DELIMITERS = (",", ";", "\t", "|")
_TRUE = {"1", "true", "yes", "y", "x", "ja", "oui", "si", "sí", "wahr", "vrai"}
_FALSE = {"0", "false", "no", "n", "nein", "non", "falsch", "faux"}
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


class CellProblem(ValueError):
    """What is wrong with one value and what to write instead."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record: the line it ends on and its values by column, stripped."""

    line: int
    values: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """The value as written; '' where the file has no such column."""
        return self.values.get(column, "")


@dataclass(slots=True)
class Sheet:
    """A file read into rows. `ignored` are headings that nothing reads."""

    path: Path
    rows: list[Row]
    columns: frozenset[str]
    ignored: tuple[str, ...]
    sha256: str
    mistakes: list[str] = field(default_factory=list)

    def complain(self, line: int, column: str, message: str) -> None:
        """Note a mistake; the file is refused as a whole by `finish`."""
        self.mistakes.append(f"{self.path}, line {line}, column {column}: {message}")

    def read(self, row: Row, column: str, reader: Callable[[str], T]) -> T | None:
        """One value through `reader`; None where it is blank, or wrong and noted."""
        text = row[column]
        if not text:
            return None
        try:
            return reader(text)
        except CellProblem as problem:
            self.complain(row.line, column, str(problem))
            return None

    def need(self, row: Row, column: str, reader: Callable[[str], T]) -> T | None:
        """Like `read`, but a blank is a mistake too."""
        if not row[column]:
            self.complain(row.line, column, "the value is missing; every line needs one.")
        return self.read(row, column, reader)

    def finish(self) -> None:
        """Raise ProblemsFound, with every mistake on a line of its own, if there was any."""
        if not self.mistakes:
            return
        shown = self.mistakes[:SHOWN_MISTAKES]
        if len(self.mistakes) > len(shown):
            shown.append(f"... and {len(self.mistakes) - len(shown)} more.")
        raise ProblemsFound("\n".join([*shown, "Nothing was imported: correct the file and run it again."]))


def read_sheet(
    path: Path, *, required: Sequence[str], optional: Sequence[str], aliases: Mapping[str, str]
) -> Sheet:
    """The rows of a file whose headings are `required` and `optional` names or `aliases` of them.

    Headings are compared without case, blanks, dots and dashes.

    Raises:
        UsageProblem: the file cannot be read at all, or a required column is missing.
        ProblemsFound: a line has more or fewer values than there are headings.
    """
    data = _read(path)
    text = _decode(data, path)
    names = {_key(name): name for name in (*required, *optional)}
    names |= {_key(alias): name for alias, name in aliases.items()}
    delimiter, text, skipped = _delimiter(text, names)
    records = _records(text, delimiter, skipped, path)
    line, headings = next(records, (1, []))
    columns = [names.get(_key(heading), "") for heading in headings]
    _check_headings(path, line, headings, columns, required)
    ignored = tuple(head for head, name in zip(headings, columns, strict=True) if head.strip() and not name)
    sheet = Sheet(path, [], frozenset(filter(None, columns)), ignored, hashlib.sha256(data).hexdigest())
    for number, values in records:
        if len(values) == len(columns):
            pairs = zip(columns, values, strict=True)
            sheet.rows.append(Row(number, {name: value.strip() for name, value in pairs if name}))
        else:
            sheet.complain(number, _last(headings, values), _uneven(len(values), len(columns), delimiter))
    sheet.finish()  # a value under a wrong heading makes nonsense of whatever else could be said
    if not sheet.rows:
        raise UsageProblem(f"{path} has headings but no line below them: there is nothing to import.")
    return sheet


def flag(text: str) -> bool:
    """Yes or no, in the words that spreadsheets use.

    Raises:
        CellProblem: neither.
    """
    word = text.casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise CellProblem(f"{text!r} is neither yes nor no; write yes or no.")


def moment(text: str) -> datetime:
    """A day or time: 2026-02-01, 2026-02-01T06:00+01:00 or 01.02.2026; UTC where no zone is stated.

    Raises:
        CellProblem: anything else. 01/02/2026 is two different days on two continents.
    """
    match = _DOTTED.fullmatch(text)
    try:
        if match:
            day = date(int(match[3]), int(match[2]), int(match[1]))
            return datetime.combine(day, time(), tzinfo=UTC)
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise CellProblem(f"{text!r} is no date; write it as 2026-02-01.") from None


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageProblem(f"{path} is larger than {MAX_BYTES // 2**20} MB: split it into several files.")
        return path.read_bytes()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise UsageProblem(f"{path} cannot be read ({reason}): name an existing CSV file.") from None


def _decode(data: bytes, path: Path) -> str:
    if not data.strip():
        raise UsageProblem(f"{path} is empty: it needs a line of headings and a line per record.")
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise UsageProblem(f"{path} is a spreadsheet workbook, not CSV: save the sheet as CSV (UTF-8) first.")
    for codec in _codecs(data):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return text
    raise UsageProblem(f"{path} is not text in UTF-8, UTF-16 or Windows-1252: save it as CSV (UTF-8).")


def _codecs(data: bytes) -> tuple[str, ...]:
    if data.startswith(b"\xef\xbb\xbf"):
        return ("utf-8-sig",)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16",)
    # Text of a Latin alphabet in UTF-16 without a mark: every second byte is zero.
    if b"\x00" in data[:200]:
        return ("utf-16-be",) if data[0] == 0 else ("utf-16-le",)
    return ("utf-8", "cp1252")


def _key(heading: str) -> str:
    return re.sub(r"[\s._-]+", "", heading.strip().casefold())


def _delimiter(text: str, names: Mapping[str, str]) -> tuple[str, str, int]:
    """The delimiter, the text below blank lines and a spreadsheet's `sep=` line, and how many those were."""
    blank = _BLANK_LINES.match(text)
    above = 0
    if blank:
        above, text = blank[0].count("\n"), text[blank.end() :]
    first, _, rest = text.partition("\n")
    told = re.fullmatch(r"sep=(.)\r?", first, re.IGNORECASE)
    if told:
        return told[1], rest, above + 1

    def known(delimiter: str) -> int:
        return sum(_key(cell.strip('" \r')) in names for cell in first.split(delimiter))

    return max(_DELIMITERS, key=lambda mark: (known(mark), first.count(mark))), text, above


def _records(text: str, delimiter: str, skipped: int, path: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for values in reader:
            if any(value.strip() for value in values):
                yield reader.line_num + skipped, values
    except csv.Error as problem:
        line = reader.line_num + skipped
        raise UsageProblem(
            f"{path}, line {line}: the quotes do not fit ({problem}); write a quote inside a value twice."
        ) from None


def _check_headings(
    path: Path, line: int, headings: list[str], columns: list[str], required: Iterable[str]
) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        seen = ", ".join(head.strip() for head in headings if head.strip()) or "none"
        raise UsageProblem(
            f"{path}, line {line}: the column {missing[0]!r} is missing (found: {seen}); "
            "the first line must name the columns."
        )
    doubled = sorted({name for name in columns if name and columns.count(name) > 1})
    if doubled:
        raise UsageProblem(f"{path}, line {line}: two columns mean {doubled[0]!r}; keep one of them.")


def _last(headings: list[str], values: list[str]) -> str:
    return headings[min(len(headings), len(values)) - 1].strip()


def _uneven(values: int, columns: int, delimiter: str) -> str:
    why = "complete the line."
    if values > columns:
        why = "put quotes around a value that contains the delimiter."
        if delimiter == ",":
            why = "a decimal comma needs quotes around its number, or ';' between the values."
    return f"the line has {values} values for {columns} columns; {why}"
