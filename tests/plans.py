"""No statement that runs per batch, request or row may walk through a table that grows.

Every statement that the tests send to SQLite is explained once, as it runs. A walk is a scan, or a search by
a column that many rows share (a status, a type): it works on a small database and gets slower with every
day of use. It is a fault where it is repeated for each row of something else; on its own it is allowed to
the modules that mean the whole table.
"""

from __future__ import annotations

import re
import sqlite3
import traceback
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from sqlalchemy import Engine, event

from pricecrawl.db.tables import metadata

STAYS_SMALL = frozenset(
    {
        *("source", "permission_record", "proxy", "learned_selector", "fx_rate", "competitor"),
        *("pricing_policy", "sku_policy", "hold", "api_token", "publication_lease"),
        "run",  # a row for each crawl
    }
)
GROWS = frozenset(metadata.tables) - STAYS_SMALL
SHARED_BY_MANY = frozenset(
    {"status", "event_type", "source", "platform", "verdict", "active", "kind", "reason", "purpose"}
)
SMALL_PARTS = frozenset(
    str(index.name)
    for table in metadata.tables.values()
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
)
"""Indexes of the few rows that wait or stand out."""

MEANS_ALL = {
    "absence.py:count_misses": "the end of a complete run, for all of a source",
    "audit_pricing.py:<dictcomp>": "pricecrawl audit",
    "audit_pricing.py:_begun": "pricecrawl audit",
    "audit_pricing.py:_pages": "pricecrawl audit",
    "audit_pricing.py:costs_changed_at": "pricecrawl audit",
    "audit_pricing.py:costs_stand": "pricecrawl audit, one row of them",
    "audit_pricing.py:dangling": "pricecrawl audit",
    "audit_pricing.py:snapshots": "pricecrawl audit",
    "audit_pricing.py:uncaused": "pricecrawl audit",
    "before.py:skus_at": "the end of a run, for all addresses that were gone",
    "catalogue.py:having": "a policy that a person proposes or tries",
    "cost_books.py:total": "pricecrawl audit, and the first import that tells of the sum",
    "dead_letters.py:all": "what waits, which should be little",
    "events.py:_stream": "pricecrawl audit",
    "events.py:tips": "pricecrawl audit",
    "evidence_index.py:counts": "pricecrawl evidence verify",
    "evidence_index.py:unneeded_files": "pricecrawl db prune",
    "exports.py:rows": "pricecrawl export",
    "health.py:_dangling": "pricecrawl db check",
    "learning.py:prefer": "a person's answer, for all of a source",
    "learning.py:unprefer": "a person's answer, for all of a source",
    "mappings.py:counts": "pricecrawl match run, at its end",
    "model_calls.py:count": "how often the model was asked",
    "model_calls.py:use": "what the model has cost, a row for each call",
    "pricing.py:totals": "the whole catalogue, once a run that moves much",
    "publications.py:decisions": "all that may be published",
    "publications.py:moved_since": "all that is about to be written",
    "publications.py:open": "all that is on its way out",
    "replay.py:count": "pricecrawl replay",
    "replay.py:pages": "pricecrawl replay",
    "replay.py:priceless": "replay, and the pages that a rule is sought for",
    "retention.py:_run": "pricecrawl db prune",
    "reviews.py:open_prices": "all that waits for a reviewer",
    "reviews.py:starting_with": "a decision that a person names by its first letters",
    "status.py:source_status": "how every source stands",
}
"""Functions of pricecrawl/db (file:name) that may walk through a table once, and for what."""

_LISTS = re.compile(r"\?(?:, \?)+")
_WALK = re.compile(r"SCAN (\w+)|SEARCH (\w+) USING .*?\(([^)]*)\)")
_CONDITION = re.compile(r"(\w+)[=<>]")

_HELPERS = frozenset({"_all", "_one"})

found: list[str] = []
_seen: set[str] = set()
_shapes: set[str] = set()


def install() -> None:
    """Explain what runs from now on; `found` collects the walks."""
    event.listen(Engine, "before_cursor_execute", _explain)


def walks(plan: Iterable[tuple[int, int, str]]) -> list[tuple[str, bool]]:
    """(line, repeated) of each walk in rows (id, parent, detail) of EXPLAIN QUERY PLAN."""
    repeated_under: dict[int, bool] = {0: False}
    loops: set[int] = set()
    result = []
    for number, parent, detail in plan:
        repeated = repeated_under.get(parent, False)
        is_loop = detail.startswith(("SCAN ", "SEARCH "))
        if is_loop and "CONSTANT ROW" not in detail:
            if _walks(detail):
                result.append((detail, repeated or parent in loops))
            loops.add(parent)
        repeated_under[number] = repeated or detail.startswith("CORRELATED")
    return result


def _walks(detail: str) -> bool:
    match = _WALK.match(detail)
    if match is None:
        return False
    scanned, searched, conditions = match.groups()
    table = re.sub(r"_\d+$", "", scanned or searched)
    if table not in GROWS or SMALL_PARTS.intersection(detail.split()):
        return False
    return bool(scanned) or set(_CONDITION.findall(conditions)) <= SHARED_BY_MANY


def _explain(conn: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
    if conn.dialect.name != "sqlite" or statement in _seen:
        return
    _seen.add(statement)
    if not statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
        return
    shape = _LISTS.sub("?..", statement)
    if shape in _shapes:
        return
    _shapes.add(shape)
    place = _place()
    if place is None:
        return
    cursor = conn.connection.driver_connection.cursor()
    try:
        asked = cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters[0] if many else parameters)
        plan = [(row[0], row[1], row[3]) for row in asked]
    except sqlite3.Error:
        return  # what is wrong with it will show when it runs
    finally:
        cursor.close()
    for line, repeated in walks(plan):
        file, function = place
        if repeated or f"{file}:{function}" not in MEANS_ALL:
            times = "for each row of something else" if repeated else "each time"
            found.append(f"{file}:{function}: {line}, {times}:\n{statement}")


def _place() -> tuple[str, str] | None:
    """(file, function) of pricecrawl that asks; None when a test asks by itself."""
    for frame in reversed(traceback.extract_stack()):
        path = PurePath(frame.filename)
        if frame.filename == __file__:
            continue
        if "tests" in path.parts:
            return None
        if "pricecrawl" in path.parts and "site-packages" not in path.parts and frame.name not in _HELPERS:
            return path.name, frame.name
    return None
