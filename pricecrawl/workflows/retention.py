"""Pruning: log rows by age, and evidence files that stand behind nothing any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pricecrawl.db.evidence_index import EvidenceIndex
from pricecrawl.db.retention import LOG_DAYS, prune_logs
from pricecrawl.evidence.store import EvidenceStore


@dataclass(frozen=True, slots=True)
class Policy:
    """Days to keep. Evidence is kept for good unless `evidence_days` is given."""

    log_days: int = LOG_DAYS
    evidence_days: int | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went, or would go: log rows per table, evidence files and the records in them."""

    rows: dict[str, int]
    files: list[str]
    records: int


def prune(
    index: EvidenceIndex, store: EvidenceStore | None, *, policy: Policy, now: datetime, write: bool = True
) -> Pruned:
    """Throw away what the policy no longer keeps; with `write=False` only say what that is.

    A file is deleted before it is marked, so that an interrupted call is completed by the next one.
    """
    rows = prune_logs(index.engine, now - timedelta(days=policy.log_days), write=write)
    if policy.evidence_days is None or store is None:
        return Pruned(rows, [], 0)
    files = index.unneeded_files(now - timedelta(days=policy.evidence_days))
    records = 0
    if write:
        for name in files:
            store.delete(name)
            records += index.mark_pruned([name], now)
    return Pruned(rows, files, records)
