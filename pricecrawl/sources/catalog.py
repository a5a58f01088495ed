"""All rows of all files, and every mistake in them with its file, line and key.

A platform's bundled rows are in `rows/<platform>.toml`; `PRICECRAWL_SOURCES` names a folder with
more. The file's name is the platform unless a row says `platform = "..."` itself. A row with a
mistake is left out and reported; the others work.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.sources.model import Source
from pricecrawl.sources.places import line_of, places

BUNDLED = Path(__file__).parent / "rows"
_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*source[ \t]*\]\]", re.MULTILINE)
_AT = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_MAX_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing wrong in a row file. `key` is dotted; `slug` is empty where the row has none."""

    file: Path
    line: int
    key: str
    message: str
    slug: str = ""

    def __str__(self) -> str:
        """`file:line: key: what is wrong`."""
        return f"{self.file}:{self.line}: {self.key + ': ' if self.key else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A good row: the platform that reads it, the row itself and where it stands."""

    platform: str
    source: Source
    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class _Claim:
    """A row, good or not, that calls itself by this slug; said before the row's own result."""

    slug: str
    file: Path
    line: int


@dataclass(frozen=True)
class Catalog:
    """Every good row by slug, in the order of files and lines, and every mistake."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    files: tuple[Path, ...] = ()

    @classmethod
    def load(cls, config: Config, models: Mapping[str, type[Source]] | None = None) -> Self:
        """Read the bundled rows and those of `config.sources`.

        `models` maps each platform to its row type (`spiders.loader.platforms()`). Without it, rows
        are read by the keys that all platforms share: enough to ask for a source's market or pace,
        and free of Scrapy.
        """
        folders = [BUNDLED] + ([config.sources] if config.sources else [])
        files = [file for folder in folders for file in sorted(folder.glob("*.toml"))]
        return cls.read(files, models)

    @classmethod
    def read(cls, files: Iterable[Path], models: Mapping[str, type[Source]] | None = None) -> Self:
        """Read these row files; see `load`."""
        entries: dict[str, Entry] = {}
        mistakes: list[Mistake] = []
        claims: dict[str, str] = {}
        files = tuple(files)
        for result in (result for file in files for result in _read_file(file, models)):
            if isinstance(result, Mistake):
                mistakes.append(result)
            elif isinstance(result, Entry):
                entries.setdefault(result.source.slug, result)
            elif result.slug in claims:
                message = f"slug {result.slug!r} is already taken at {claims[result.slug]}"
                mistakes.append(Mistake(result.file, result.line, "slug", message, result.slug))
            else:
                claims[result.slug] = f"{result.file}:{result.line}"
        mistakes.sort(key=lambda mistake: (files.index(mistake.file), mistake.line))
        return cls(entries, tuple(mistakes), files)

    def __iter__(self) -> Iterator[Entry]:
        """Good rows in order."""
        return iter(self.entries.values())

    def get(self, slug: str) -> Entry:
        """The row of this slug, or UsageProblem saying what is wrong with it or which slugs exist."""
        if slug in self.entries:
            return self.entries[slug]
        own = [str(m) for m in self.mistakes if m.slug == slug]
        if own:
            more = f"; and {len(own) - 2} more, see `pricecrawl sources check`" if len(own) > 2 else ""
            raise UsageProblem(f"The row of source {slug!r} has mistakes: " + "; ".join(own[:2]) + more)
        raise UsageProblem(unknown("source", slug, self.entries))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One sentence for a name that does not exist, with the nearest one and the list."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    return f"There is no {what} {name!r}.{hint} " + (f"Known: {shown}." if names else "There is none yet.")


def _read_file(file: Path, models: Mapping[str, type[Source]] | None) -> Iterator[Entry | Mistake | _Claim]:
    try:
        raw = file.read_bytes()
        if len(raw) > _MAX_FILE_BYTES:
            yield Mistake(file, 1, "", f"the file is larger than {_MAX_FILE_BYTES} bytes")
            return
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = raw[: problem.start].count(b"\n") + 1
        yield Mistake(file, line, "", "this line is not UTF-8; save the file as UTF-8")
        return
    except OSError as problem:
        yield Mistake(file, 1, "", f"cannot be read: {problem.strerror}")
        return
    try:
        yield from _read_text(file, text, 0, models)
    except tomllib.TOMLDecodeError as problem:
        starts = [match.start() for match in _TABLE.finditer(text)]
        if len(starts) < 2:
            yield _syntax(file, text, problem, 0)
            return
        # One bad table must not hide the others: read each on its own.
        for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
            part, lines_before = text[start:end], text.count("\n", 0, start)
            try:
                yield from _read_text(file, part, lines_before, models)
            except tomllib.TOMLDecodeError as inner:
                yield _syntax(file, part, inner, lines_before)


def _syntax(file: Path, text: str, problem: tomllib.TOMLDecodeError, before: int) -> Mistake:
    match = _AT.search(str(problem))
    message = _AT.sub("", str(problem))
    line = int(match[1]) if match and match[1] else text.rstrip().count("\n") + 1
    lines = text.split("\n")
    shown = lines[line - 1] if line <= len(lines) else ""
    key = shown.partition("=")[0].strip() if "=" in shown else ""
    slug = re.search(r'^\s*slug\s*=\s*"([^"\n]*)"', text, re.MULTILINE)
    return Mistake(file, before + line, key, f"not valid TOML: {message}", slug[1] if slug else "")


def _read_text(
    file: Path, text: str, before: int, models: Mapping[str, type[Source]] | None
) -> Iterator[Entry | Mistake | _Claim]:
    data = tomllib.loads(text)
    where = places(text)

    def line(*path: str | int) -> int:
        return before + line_of(where, path)

    for key in data:
        if key != "source":
            hint = "every row is a [[source]] table" if isinstance(data[key], dict | list) else "no such key"
            yield Mistake(file, line(key), key, f"{hint}; nothing else may stand at the top of a row file")
    rows = data.get("source", [])
    if not isinstance(rows, list):
        yield Mistake(file, line("source"), "source", "write [[source]] with two brackets on each side")
        return
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            yield Mistake(file, line("source", index), "source", "every row is a [[source]] table")
            continue
        yield from _read_row(file, row, index, line, models)


def _read_row(
    file: Path, row: dict[str, Any], index: int, line: Any, models: Mapping[str, type[Source]] | None
) -> Iterator[Entry | Mistake | _Claim]:
    given = row.get("slug")
    slug = given if isinstance(given, str) else ""
    if slug:
        yield _Claim(slug, file, line("source", index, "slug"))
    row = dict(row)
    platform = row.pop("platform", file.stem)
    at_platform = line("source", index, "platform")
    if not isinstance(platform, str) or (models is not None and platform not in models):
        yield Mistake(file, at_platform, "platform", unknown("platform", str(platform), models or ()), slug)
        return
    model = models[platform] if models is not None else Source
    if models is None:
        row = {key: value for key, value in row.items() if key in Source.model_fields}
    try:
        source = model.model_validate(row)
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path = tuple(part for part in error["loc"] if part not in ("function-before", "function-after"))
            key = ".".join(str(part) for part in path)
            message = _message(error, model, path)
            yield Mistake(file, line("source", index, *path), key, message, slug)
        return
    yield Entry(platform, source, file, line("source", index))


def _message(error: Any, model: type[Source], path: tuple[str | int, ...]) -> str:
    kind = error["type"]
    if kind == "missing":
        return "this key is missing"
    if kind == "extra_forbidden":
        keys = _keys_at(model, path[:-1])
        near = difflib.get_close_matches(str(path[-1]), keys, n=1)
        return "there is no such key" + (f"; did you mean {near[0]!r}?" if near else "")
    message = error["msg"].removeprefix("Value error, ")
    return str(message[:1].lower() + message[1:] if kind != "value_error" else message)


def _keys_at(model: Any, path: tuple[str | int, ...]) -> list[str]:
    for part in path:
        info = getattr(model, "model_fields", {}).get(part)
        model = getattr(info, "annotation", None)
    return list(getattr(model, "model_fields", {}))
