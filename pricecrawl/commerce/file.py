"""A folder of price files, for shops that import CSV (over SFTP or a share).

Each write is one complete file, written beside its place and renamed, so an importer never sees
half of one. The shop answers by moving the file to `done/` or `failed/`, or by leaving a snapshot
`prices.csv` of what it holds; until then the write is Accepted, not Applied.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import fsspec

from pricecrawl.commerce.amounts import checked, from_text
from pricecrawl.pricing.ports import (
    Accepted,
    Ambiguous,
    Applied,
    Capabilities,
    Conflict,
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


class FileTarget:
    """A folder or any fsspec URL (`file:///…`, `sftp://…`) with `in/`, `done/`, `failed/` and the snapshot.

    The snapshot has the columns sku, amount, currency, tax_basis and optionally updated_at.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str = "file",
        settle_time: timedelta = timedelta(minutes=30),
        **options: object,
    ) -> None:
        self.name = name
        self.capabilities = Capabilities(
            asynchronous=True,
            effective_window=True,
            read_lag=settle_time,
            settle_time=settle_time,
            max_batch=1,
        )
        self._fs, self._root = fsspec.core.url_to_fs(url, **options)

    def _path(self, *parts: str) -> str:
        return "/".join((self._root.rstrip("/"), *parts))

    def _rows(self) -> list[dict[str, str]]:
        try:
            text = self._fs.cat_file(self._path(SNAPSHOT)).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as problem:
            raise TargetUnavailable(
                f"the price snapshot cannot be read: {type(problem).__name__}"
            ) from problem
        return list(csv.DictReader(io.StringIO(text)))

    def resolve(self, sku: str, scope: PriceScope) -> TargetRef | NotFound | Ambiguous:
        """The snapshot's rows of this SKU and currency."""
        rows = [
            row for row in self._rows() if row.get("sku") == sku and row.get("currency") == scope.currency
        ]
        if not rows:
            return NotFound(sku)
        return TargetRef(sku, sku) if len(rows) == 1 else Ambiguous(sku, (sku,) * len(rows))

    def read(self, ref: TargetRef, scope: PriceScope, view: View = View.AUTHORITATIVE) -> PriceState:
        """What the snapshot says; it has one view only."""
        for row in self._rows():
            if row.get("sku") == ref.sku and row.get("currency") == scope.currency:
                updated = row.get("updated_at") or None
                return PriceState(
                    ref=ref,
                    amount=from_text(row.get("amount")),
                    currency=row["currency"],
                    tax_basis=scope.tax_basis
                    if not row.get("tax_basis")
                    else type(scope.tax_basis)(row["tax_basis"]),
                    revision=updated,
                    updated_at=updated,
                    read_at=datetime.now(UTC),
                )
        raise TargetUnavailable(f"the snapshot has no {scope.currency} price of {ref.sku}")

    def write(self, command: WritePrice) -> WriteOutcome:
        """Drop one file into `in/`; the same publication writes the same name, so a retry adds nothing."""
        wrong = checked(command.amount, command.scope.currency)
        if wrong is not None:
            return wrong
        name = _name(command)
        operation = Accepted(OperationRef(name, command.ref))
        try:
            if any(self._fs.exists(self._path(folder, name)) for folder in ("in", "done")):
                return operation
            self._fs.makedirs(self._path("in"), exist_ok=True)
        except OSError as problem:
            return NotSent(f"the folder cannot be reached: {type(problem).__name__}")
        half = self._path(f".{name}.part")
        try:
            self._fs.pipe_file(half, _content(command))
            self._fs.mv(half, self._path("in", name))
        except OSError as problem:
            return Unknown(f"the file may or may not be there: {type(problem).__name__}")
        return operation

    def poll(self, operation: OperationRef) -> WriteOutcome:
        """Where the file is now: still waiting, taken, or refused."""
        try:
            if self._fs.exists(self._path("done", operation.id)):
                return Applied()
            if self._fs.exists(self._path("failed", operation.id)):
                return Rejected("import_failed", f"the shop moved {operation.id} to failed/")
            if self._fs.exists(self._path("in", operation.id)):
                return Accepted(operation)
        except OSError as problem:
            return Unknown(f"the folder cannot be reached: {type(problem).__name__}")
        return Conflict(detail=f"{operation.id} is in none of the folders")


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
