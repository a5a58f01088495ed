"""The database's index of evidence records: which file and offset hold a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from pricecrawl.db.crawl_types import EvidenceRow
from pricecrawl.db.sql import chunks, insert_rows, next_ids, storable
from pricecrawl.db.tables import evidence, run
from pricecrawl.domain.observation import EvidenceRef

Place = tuple[str, int]
"""File and offset of an evidence record."""


def index_evidence(
    conn: Connection,
    run_id: int,
    *,
    stored: Sequence[EvidenceRow],
    refs: Iterable[EvidenceRef],
    known: Mapping[Place, int],
) -> dict[Place, int]:
    """Ids by place of `stored` (written now unless they are there already) and of every other ref.

    `known` are ids from earlier batches. A ref that nobody indexed is indexed now, with status 0.
    """
    rows = {(row.ref.warc, row.ref.offset): row for row in stored}
    for ref in refs:
        place = (ref.warc, ref.offset)
        if place not in rows:
            rows[place] = EvidenceRow(ref, status=0)
    ids = {place: known[place] for place in rows if place in known}
    new: dict[str, list[int]] = {}
    for file, offset in rows:
        if (file, offset) not in ids:
            new.setdefault(file, []).append(offset)
    # File by file: for a list of pairs SQLite walks through the whole index of every page ever stored.
    for file, offsets in new.items():
        for some in chunks(offsets):
            query = select(evidence.c.id, evidence.c.offset).where(
                evidence.c.warc == file, evidence.c.offset.in_(some)
            )
            ids.update({(file, found.offset): found.id for found in conn.execute(query)})
    missing = [place for place in rows if place not in ids]
    if not missing:
        return ids
    ids.update(zip(missing, next_ids(conn, evidence, len(missing)), strict=True))
    source = conn.execute(select(run.c.source).where(run.c.id == run_id)).scalar_one()
    insert_rows(conn, evidence, [_row(rows[place], ids[place], run_id, source) for place in missing])
    return ids


def _row(item: EvidenceRow, number: int, run_id: int, source: str) -> dict[str, object]:
    return {
        "id": number,
        "run_id": run_id,
        "source": source,
        "digest": item.ref.digest,
        "warc": item.ref.warc,
        "offset": item.ref.offset,
        "length": item.ref.length,
        "url": storable(item.ref.url),
        "status": item.status,
        "kind": item.kind,
        "fetched_at": item.ref.fetched_at,
    }
