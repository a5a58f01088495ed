"""A folder of price files, for shops that import CSV (over SFTP or a share).

Each write is one complete file, written beside its place and renamed, so an importer never sees
half of one. The shop answers by moving the file to `done/` or `failed/`, or by leaving a snapshot
`prices.csv` of what it holds; until then the write is Accepted, not Applied.
"""

from __future__ import annotations

import csv
import io
import math
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

import fsspec

from pricecrawl.commerce.amounts import checked, from_text
from pricecrawl.commerce.sftp import FolderUnavailable, SftpFolder
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import (
    Accepted,
    Ambiguous,
    Applied,
    Capabilities,
    Conflict,
    Exchange,
    NotFound,
    NotSent,
    OperationRef,
    PriceScope,
    PriceState,
    Rejected,
    TargetRef,
    TargetUnavailable,
    Unknown,
    View,
    WriteOutcome,
    WritePrice,
)

COLUMNS = (
    "publication_id",
    "sequence",
    "sku",
    "amount",
    "currency",
    "tax_basis",
    "effective_from",
    "effective_to",
)
SNAPSHOT = "prices.csv"
NEEDED = frozenset({"sku", "amount", "currency"})
"""Columns of the snapshot that no price can be read without."""


STEP = 2.0
"""Seconds in which two contents may look the same from outside: a server may tell times by the second."""


class Row(NamedTuple):
    """What the snapshot says of one price, as text."""

    amount: str
    tax_basis: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What was fetched, when, and since when the file has looked as it did; rows by SKU and currency."""

    key: str | None
    seen: float
    fetched: float
    rows: Mapping[tuple[str, str], list[Row]]


class FileTarget:
    """A folder, `sftp://user@host/path` or any fsspec URL, with `in/`, `done/`, `failed/` and the snapshot.

    The snapshot has the columns sku, amount, currency, tax_basis and optionally updated_at. `password`,
    `key_file` and `known_hosts` are for SFTP (see `SftpFolder`).

    Raises:
        ValueError: the address cannot be one, or those three are given for something else than SFTP.
        ImportError: the package that the address needs is not installed.
    """

    places: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        url: str,
        *,
        password: str = "",
        key_file: str = "",
        known_hosts: str = "",
        name: str = "file",
        settle_time: timedelta = timedelta(minutes=30),
        timeout: float = 20.0,
        **options: object,
    ) -> None:
        self.name = name
        self.capabilities = Capabilities(
            asynchronous=True,
            effective_window=True,
            read_lag=settle_time,
            settle_time=settle_time,
        )
        self._fs: Any
        if url.startswith("sftp://"):
            self._fs = SftpFolder(
                url, password=password, key_file=key_file, known_hosts=known_hosts, timeout=timeout
            )
            self._root = self._fs.root
        elif password or key_file or known_hosts:
            raise ValueError("a password, a key file and known hosts are for sftp:// only")
        else:
            self._fs, self._root = fsspec.core.url_to_fs(url, **options)
            # Another process changes these folders: what was listed a moment ago proves nothing.
            self._fs.use_listings_cache = False
        self._written = threading.local()
        self._known: _Snapshot | None = None
        self._reading = threading.Lock()

    def _path(self, *parts: str) -> str:
        return "/".join((self._root.rstrip("/"), *parts))

    def _rows(self, sku: str, currency: str) -> list[Row]:
        """What the snapshot has for a SKU and currency; fetched where it is not known to be the same."""
        with self._reading:
            known, began, key = self._known, time.monotonic(), self._key()
            if known is None or key is None or known.key != key:
                known = _Snapshot(key, began, -math.inf, {})
            if known.fetched < known.seen + STEP:
                known = self._known = replace(known, fetched=time.monotonic(), rows=self._fetched())
            return known.rows.get((sku, currency), [])

    def _key(self) -> str | None:
        """What tells one content of the snapshot from another without reading it; None where nothing does."""
        try:
            return str(self._fs.ukey(self._path(SNAPSHOT)))
        except Exception:  # a kind of folder that cannot tell; what is wrong with it is said when it is read
            return None

    def _fetched(self) -> dict[tuple[str, str], list[Row]]:
        try:
            text = self._fs.cat_file(self._path(SNAPSHOT)).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as problem:
            raise TargetUnavailable(f"the price snapshot cannot be read: {_words(problem)}") from problem
        table = csv.DictReader(io.StringIO(text))
        try:
            rows, names = list(table), set(table.fieldnames or ())
        except csv.Error as problem:
            raise TargetUnavailable(f"the price snapshot is no CSV: {problem}") from problem
        # A shop that writes it anew in place shows it empty or cut off for a moment: that is no answer.
        if missing := NEEDED - names:
            raise TargetUnavailable(f"the price snapshot has no {', '.join(sorted(missing))}")
        if rows and None in rows[-1].values():
            raise TargetUnavailable("the price snapshot is cut off in its last line")
        found: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            held = Row(*(row.get(name) or "" for name in Row._fields))
            found.setdefault((row["sku"], row["currency"]), []).append(held)
        return found

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """The snapshot's rows of this SKU and currency."""
        rows = self._rows(sku, scope.currency)
        if not rows:
            return NotFound(sku)
        return TargetRef(sku, sku) if len(rows) == 1 else Ambiguous(sku, (sku,) * len(rows))

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """What the snapshot says; it has one view only."""
        rows = self._rows(ref.sku, scope.currency)
        if len(rows) != 1:
            raise TargetUnavailable(f"the snapshot has {len(rows)} {scope.currency} prices of {ref.sku}")
        row = rows[0]
        if row.tax_basis and row.tax_basis not in {basis.value for basis in TaxBasis}:
            raise TargetUnavailable(f"the snapshot has an unknown tax basis {row.tax_basis!r}")
        updated = row.updated_at or None
        return PriceState(
            ref=ref,
            amount=from_text(row.amount),
            currency=scope.currency,
            tax_basis=TaxBasis(row.tax_basis) if row.tax_basis else scope.tax_basis,
            revision=updated,
            updated_at=updated,
            read_at=datetime.now(UTC),
        )

    def write(self, command: WritePrice) -> WriteOutcome:
        """Drop one file into `in/`; the same publication writes the same name, so a retry adds nothing."""
        scope = command.scope
        if (wrong := checked(command.amount, scope.currency)) is not None:
            return wrong
        if scope.channel or scope.price_list or scope.customer_group or scope.min_quantity != 1:
            return Rejected("scope", f"{self.name} cannot write a price of scope {scope.key}")
        name = _name(command)
        operation = Accepted(OperationRef(name, command.ref))
        try:
            if any(self._fs.exists(self._path(folder, name)) for folder in ("in", "done")):
                return operation
            now = self.read(command.ref, scope)
            self._fs.makedirs(self._path("in"), exist_ok=True)
        except (OSError, TargetUnavailable) as problem:
            return NotSent(f"the state before the write: {_words(problem)}")
        if now.tax_basis is not scope.tax_basis:
            return Rejected("tax_basis", f"{self.name} has {now.tax_basis.value} prices")
        if command.expected_amount is not None and now.amount != command.expected_amount:
            return Conflict(now.revision, f"the price is {now.amount} by now")
        half, content = self._path(f".{name}.part"), _content(command)
        self._written.log = Exchange(datetime.now(UTC), f"file in/{name}", content.decode(), None, "")
        try:
            self._fs.pipe_file(half, content)
        except OSError as problem:  # beside `in/`, where nobody takes it for a price
            return NotSent(f"the file could not be written: {_words(problem)}")
        try:
            self._fs.mv(half, self._path("in", name))
        except OSError as problem:
            return Unknown(f"the file may or may not be there: {_words(problem)}")
        return operation

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """Where the file is now: still waiting, taken, or refused."""
        try:
            # In this order: a file that is moved meanwhile is seen, and one that waits anew is not taken
            # for the one of that name that was refused before.
            if self._fs.exists(self._path("in", operation.id)):
                return Accepted(operation)
            if self._fs.exists(self._path("done", operation.id)):
                return Applied()
            if self._fs.exists(self._path("failed", operation.id)):
                return Rejected("import_failed", f"the shop moved {operation.id} to failed/")
        except OSError:
            # Asking failed; about the write that says nothing.
            return Accepted(operation)
        return Conflict(detail=f"{operation.id} is in none of the folders")

    def exchanges(self) -> tuple[Exchange, ...]:
        """The file that this thread wrote since it last asked."""
        log, self._written.log = getattr(self._written, "log", None), None
        return () if log is None else (log,)


def _words(problem: Exception) -> str:
    """What went wrong, without a path or an address that may hold a secret."""
    ours = isinstance(problem, FolderUnavailable | TargetUnavailable)
    return str(problem) if ours else type(problem).__name__


def _name(command: WritePrice) -> str:
    sku = re.sub(r"[^A-Za-z0-9._-]", "_", command.ref.sku)[:60]
    return f"price-{command.sequence:012d}-{sku}-{command.publication_id}.csv"


def _content(command: WritePrice) -> bytes:
    def when(moment: datetime | None) -> str:
        return "" if moment is None else moment.astimezone(UTC).isoformat()

    amount: Decimal = command.amount
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    rows.writerow(
        (
            command.publication_id,
            command.sequence,
            command.ref.sku,
            format(amount, "f"),
            command.scope.currency,
            command.scope.tax_basis.value,
            when(command.effective.start),
            when(command.effective.end),
        )
    )
    return out.getvalue().encode()
