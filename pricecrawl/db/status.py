"""How every source stands: its switch, its last run, its listings. For `pricecrawl status` and the pages."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import LABEL_STYLE_TABLENAME_PLUS_COL, Engine, func, select

from pricecrawl.db.runs import held_reason
from pricecrawl.db.tables import listing, run, source


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One source. `missing` counts listings with at least one miss, `refusals` those of the last run.

    `fresh_at` is when the newest price was seen, whatever became of the run that saw it.
    """

    source: str
    platform: str
    enabled: bool
    held_reason: str | None
    next_due: datetime | None
    run_id: int | None
    outcome: str | None
    coverage: str | None
    coverage_reason: str | None
    detail: str
    started_at: datetime | None
    finished_at: datetime | None
    run_listings: int
    expectations_met: bool | None
    refusals: int
    listings: int
    missing: int
    gone: int
    reviews: int
    fresh_at: datetime | None


def never_crawled(slug: str, platform: str) -> SourceStatus:
    """The status of a row that no run has touched yet."""
    nothing = dict.fromkeys(field.name for field in fields(SourceStatus))
    known = {"source": slug, "platform": platform, "enabled": True, "detail": ""}
    zeros = dict.fromkeys(("run_listings", "refusals", "listings", "missing", "gone", "reviews"), 0)
    return SourceStatus(**{**nothing, **zeros, **known})  # type: ignore[arg-type]  # by field name


def source_status(engine: Engine) -> list[SourceStatus]:
    """Every source that the database knows, by name."""
    last = select(run.c.source, func.max(run.c.id).label("id")).group_by(run.c.source).subquery()
    facts = (
        select(
            listing.c.source,
            func.count().label("listings"),
            func.count().filter(listing.c.consecutive_misses > 0).label("missing"),
            func.count().filter(listing.c.gone_streak > 0).label("gone"),
            func.count().filter(listing.c.needs_review).label("reviews"),
            func.max(listing.c.last_seen_at).label("fresh_at"),
        )
        .group_by(listing.c.source)
        .subquery("facts")
    )
    query = (
        select(source, run, facts)
        .join(last, last.c.source == source.c.slug, isouter=True)
        .join(run, run.c.id == last.c.id, isouter=True)
        .join(facts, facts.c.source == source.c.slug, isouter=True)
        .order_by(source.c.slug)
        .set_label_style(LABEL_STYLE_TABLENAME_PLUS_COL)
    )
    with engine.connect() as conn:
        return [
            SourceStatus(
                source=row.source_slug,
                platform=row.source_platform,
                enabled=row.source_enabled,
                held_reason=held_reason(conn, row.source_slug),
                next_due=row.source_next_due,
                run_id=row.run_id,
                outcome=row.run_outcome,
                coverage=row.run_coverage,
                coverage_reason=row.run_coverage_reason,
                detail=row.run_detail or "",
                started_at=row.run_started_at,
                finished_at=row.run_finished_at,
                run_listings=row.run_listings or 0,
                expectations_met=row.run_expectations_met,
                refusals=_refusals(row.run_counts),
                listings=row.facts_listings or 0,
                missing=row.facts_missing or 0,
                gone=row.facts_gone or 0,
                reviews=row.facts_reviews or 0,
                fresh_at=row.facts_fresh_at,
            )
            for row in conn.execute(query).all()
        ]


def _refusals(counts: dict[str, object] | None) -> int:
    found = (value for name, value in (counts or {}).items() if name.startswith("refusals/"))
    return sum(value for value in found if isinstance(value, int))
