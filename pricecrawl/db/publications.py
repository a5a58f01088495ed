"""Publications as rows: one per target and decision, and one lease per price that may be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, insert, or_, select, update

from pricecrawl.db.events import is_as_written
from pricecrawl.db.sql import chunks, unindexed, upsert
from pricecrawl.db.store import Store
from pricecrawl.db.tables import (
    approval,
    audit_event,
    competitor,
    listing,
    mapping,
    market_price_snapshot,
    observation,
    price_decision,
    publication,
    publication_lease,
    sku,
    sku_cost,
    sku_policy,
    source,
)

Fields = Mapping[str, Any]

IN_FLIGHT = ("PUBLISHING", "PUBLISHED", "VERIFYING")
"""A write may be on its way, or its effect is not known yet: nobody else writes that price."""

OPEN = ("PUBLISH_PENDING", *IN_FLIGHT)


class PublicationStore(Store):
    """Reading and moving publications, their decisions and their leases."""

    def decision(self, conn: Connection, of: str, *, lock: bool = False) -> Fields | None:
        """One decision; with `lock` nobody else can move it until the transaction ends."""
        query = select(price_decision).where(price_decision.c.decision_id == of)
        return _one(conn, _locked(conn, query) if lock else query)

    def approvals(self, conn: Connection, of: str) -> list[str]:
        """What people did with a decision, oldest first: approve, reject, exception."""
        query = select(approval.c.action).where(approval.c.decision_id == of).order_by(approval.c.id)
        return list(conn.execute(query).scalars())

    def approval_rows(self, conn: Connection, of: str) -> list[Fields]:
        """What people did with a decision, whole."""
        query = select(approval).where(approval.c.decision_id == of).order_by(approval.c.id)
        return [dict(row) for row in conn.execute(query).mappings()]

    def told(self, conn: Connection, of: str) -> tuple[list[Fields], str | None]:
        """The events of a decision and its publications, oldest first, and the id of a changed one."""
        log = audit_event.c
        query = select(audit_event).where(log.correlation_id == of).order_by(log.id)
        rows = conn.execute(query).all()
        changed = next((row.event_id for row in rows if not is_as_written(row)), None)
        return [row._asdict() for row in rows], changed

    def subject(self, conn: Connection, name: str) -> Any:
        """Our SKU, or None."""
        return conn.execute(select(sku).where(sku.c.sku == name)).one_or_none()

    def costs(self, conn: Connection, name: str) -> list[Any]:
        """Costs of a SKU."""
        return list(conn.execute(select(sku_cost).where(sku_cost.c.sku == name)))

    def overrides(self, conn: Connection, name: str) -> Mapping[str, Any] | None:
        """What is set for one SKU alone."""
        query = select(sku_policy.c.overrides).where(sku_policy.c.sku == name)
        found: Mapping[str, Any] | None = conn.execute(query).scalar_one_or_none()
        return found

    def ground(self, conn: Connection, made: Fields) -> Fields | None:
        """The offer that set the price of a decision, as it stands today; None where none did.

        `source`, `source_sku`, `observed_at`, whether the source is `enabled` and the competitor `approved`
        (None: nobody said), and the `mapping_status` (None: the pair is gone).
        """
        query = (
            select(
                *(listing.c.source, listing.c.source_sku, observation.c.observed_at, source.c.enabled),
                *(competitor.c.approved, mapping.c.status.label("mapping_status")),
            )
            .select_from(market_price_snapshot)
            .join(observation, observation.c.id == market_price_snapshot.c.winning_observation_id)
            .join(listing, listing.c.id == observation.c.listing_id)
            .join(source, source.c.slug == listing.c.source)
            .join(competitor, competitor.c.source == listing.c.source, isouter=True)
            .join(
                mapping,
                and_(mapping.c.listing_id == listing.c.id, mapping.c.sku == made["sku"]),
                isouter=True,
            )
            .where(market_price_snapshot.c.id == made["snapshot_id"])
        )
        return _one(conn, query)

    def get(self, conn: Connection, of: str, *, lock: bool = False) -> Fields | None:
        """One publication; with `lock` nobody else can move it until the transaction ends."""
        query = select(publication).where(publication.c.publication_id == of)
        return _one(conn, _locked(conn, query) if lock else query)

    def add(self, tx: Connection, row: Fields) -> None:
        """Write a publication."""
        tx.execute(insert(publication).values(**row))

    def change(self, tx: Connection, of: str, was: str, *, now: datetime, **values: Any) -> None:
        """Change a publication that has the status `was`.

        Raises:
            RuntimeError: it has another status by now; the caller looked without the lock.
        """
        done = tx.execute(
            update(publication)
            .where(publication.c.publication_id == of, publication.c.status == was)
            .values(updated_at=now, **values)
        )
        if done.rowcount != 1:
            raise RuntimeError(f"publication {of} is no longer {was}")

    def move_decision(self, tx: Connection, of: str, was: str, becomes: str, *, now: datetime) -> None:
        """Move a decision that has the status `was`.

        Raises:
            RuntimeError: it has another status by now.
        """
        done = tx.execute(
            update(price_decision)
            .where(price_decision.c.decision_id == of, price_decision.c.status == was)
            .values(status=becomes, updated_at=now)
        )
        if done.rowcount != 1:
            raise RuntimeError(f"decision {of} is no longer {was}")

    def add_finding(self, tx: Connection, of: str, finding: Fields) -> None:
        """Keep what was found after the decision was made."""
        query = select(price_decision.c.findings).where(price_decision.c.decision_id == of)
        findings = tx.execute(query).scalar_one()
        tx.execute(
            update(price_decision)
            .where(price_decision.c.decision_id == of)
            .values(findings=[*findings, dict(finding)])
        )

    def of_decision(self, conn: Connection, of: str) -> list[Fields]:
        """Publications of a decision, oldest first."""
        query = select(publication).where(publication.c.decision_id == of)
        return _all(conn, query.order_by(publication.c.created_at, publication.c.publication_id))

    def of_price(
        self,
        conn: Connection,
        target: str,
        name: str,
        scope: str,
        *,
        after: int | None = None,
        among: Sequence[str] = (),
    ) -> list[Fields]:
        """Publications of one price after a place in the order, and those in some states; latest first.

        A price that moves several times a day has thousands in a year, of which these are few.
        """
        wanted: list[ColumnElement[bool]] = [publication.c.status.in_(among)]
        if after is not None:
            wanted.append(publication.c.sequence > after)
        query = select(publication).where(_same_price(target, name, scope), or_(*wanted))
        return _all(conn, query.order_by(publication.c.sequence.desc()))

    def last_verified(
        self, conn: Connection, target: str, name: str, scope: str, *, but: str = ""
    ) -> Fields | None:
        """The latest verified publication of a price, other than `but`."""
        query = select(publication).where(
            _same_price(target, name, scope),
            publication.c.verified_at.is_not(None),
            publication.c.publication_id != but,
        )
        return _one(conn, query.order_by(publication.c.sequence.desc()).limit(1))

    def verified_after(self, conn: Connection, name: str, sequence: int) -> bool:
        """Whether a later decision about a SKU was verified on whatever target."""
        query = select(publication.c.publication_id).where(
            publication.c.sku == name,
            publication.c.sequence > sequence,
            publication.c.verified_at.is_not(None),
        )
        return conn.execute(query.limit(1)).first() is not None

    def of_sku(self, conn: Connection, name: str) -> list[Fields]:
        """Publications of a SKU to whatever target, latest decision first."""
        query = select(publication).where(publication.c.sku == name)
        return _all(conn, query.order_by(publication.c.sequence.desc()))

    def recent(self, conn: Connection, *, status: str | None = None, limit: int = 200) -> list[Fields]:
        """Publications, latest change first."""
        query = select(publication)
        if status is not None:
            query = query.where(publication.c.status == status)
        return _all(conn, query.order_by(publication.c.updated_at.desc()).limit(limit))

    def open(self, conn: Connection, target: str | None = None) -> list[Fields]:
        """Publications that somebody must still bring to an end, in the order of their decisions."""
        query = select(publication).where(publication.c.status.in_(OPEN))
        if target is not None:
            query = query.where(publication.c.target == target)
        return _all(conn, query.order_by(publication.c.sequence))

    def rounds(self, conn: Connection, names: Sequence[str]) -> dict[str, int]:
        """How many times each of these publications was asked for: once, and once more at each replay."""
        found: dict[str, int] = {}
        for some in chunks(names):
            query = (
                select(audit_event.c.aggregate, func.count().label("number"))
                .where(
                    audit_event.c.aggregate.in_([f"publication:{of}" for of in some]),
                    unindexed(audit_event.c.event_type) == "publish.requested",
                )
                .group_by(audit_event.c.aggregate)
            )
            for row in conn.execute(query):
                found[row.aggregate.removeprefix("publication:")] = row.number
        return found

    def standing(self, conn: Connection, target: str) -> list[Fields]:
        """The latest verified publication of each price of a target: what the shop should be showing."""
        # The lease of a price remembers its place in the order: nothing of what came before is read.
        same = [publication.c[name] == publication_lease.c[name] for name in ("target", "sku", "scope")]
        query = (
            select(publication)
            .select_from(publication_lease)
            .join(publication, and_(*same, publication.c.sequence == publication_lease.c.last_sequence))
            .where(publication_lease.c.target == target, publication.c.verified_at.is_not(None))
            .order_by(publication.c.sequence)
        )
        return list({(row["sku"], row["scope"]): row for row in _all(conn, query)}.values())

    def moved_since(self, conn: Connection, moment: datetime) -> list[Any]:
        """What was written from `moment` on or waits to be written, with the price before it.

        `pre_state` is what the shop had, None until it was read; `current_price` is what the decision
        goes out from.
        """
        written = and_(publication.c.intent_at >= moment, publication.c.pre_state.is_not(None))
        query = (
            select(
                *(publication.c.decision_id, publication.c.sku, publication.c.currency),
                *(publication.c.amount, publication.c.pre_state, price_decision.c.current_price),
            )
            .join(price_decision, price_decision.c.decision_id == publication.c.decision_id)
            .where(or_(written, publication.c.status == "PUBLISH_PENDING"))
        )
        return list(conn.execute(query))

    # --- leases --------------------------------------------------------------------------------

    def take_lease(
        self, tx: Connection, row: Fields, owner: str, *, now: datetime, until: datetime
    ) -> Fields | None:
        """Take or renew the lease on a publication's price; None, or the lease that stands against it.

        A lease stands while it has not run out and somebody else, or another publication, has it.
        """
        key = {name: row[name] for name in ("target", "sku", "scope")}
        where = [publication_lease.c[name] == value for name, value in key.items()]
        mine = and_(
            publication_lease.c.owner == owner,
            publication_lease.c.publication_id == row["publication_id"],
        )
        tx.execute(
            upsert(tx, publication_lease)
            .values(**key, owner="", publication_id="", until=now, last_sequence=0)
            .on_conflict_do_nothing()
        )
        done = tx.execute(
            update(publication_lease)
            .where(*where, or_(mine, publication_lease.c.until <= now, publication_lease.c.owner == ""))
            .values(owner=owner, publication_id=row["publication_id"], until=until)
        )
        if done.rowcount == 1:
            return None
        return _one(tx, select(publication_lease).where(*where))

    def drop_lease(self, tx: Connection, row: Fields, *, now: datetime, verified: bool = False) -> None:
        """Give the lease back; `verified` also remembers the decision's place in the order.

        A lease that another publication of the same price has by now stays.
        """
        where = [publication_lease.c[name] == row[name] for name in ("target", "sku", "scope")]
        lease = _one(tx, select(publication_lease).where(*where))
        if lease is None:
            return
        values: dict[str, Any] = {}
        if lease["publication_id"] == row["publication_id"]:
            values = {"owner": "", "publication_id": "", "until": now}
        if verified:
            values["last_sequence"] = max(lease["last_sequence"], row["sequence"])
        if values:
            tx.execute(update(publication_lease).where(*where).values(**values))

    def lease(self, conn: Connection, row: Fields) -> Fields | None:
        """The lease on a publication's price."""
        where = [publication_lease.c[name] == row[name] for name in ("target", "sku", "scope")]
        return _one(conn, select(publication_lease).where(*where))

    # --- what a verified price changes ---------------------------------------------------------

    def set_current(self, tx: Connection, name: str, price: Decimal) -> None:
        """The price that a SKU has from now on."""
        tx.execute(update(sku).where(sku.c.sku == name).values(current_price=price))

    def decisions(
        self, conn: Connection, names: Sequence[str], target: str, *, now: datetime
    ) -> list[Fields]:
        """Decisions of these SKUs, or of all, that a target has not been asked to take, in their order.

        They are approved, or went to another target and are still in time for this one. A price that stays
        what it is needs no publication.
        """
        here = select(publication.c.publication_id).where(
            publication.c.decision_id == price_decision.c.decision_id, publication.c.target == target
        )
        elsewhere = and_(price_decision.c.status.in_([*OPEN, "VERIFIED"]), price_decision.c.expires_at > now)
        query = select(price_decision).where(
            or_(price_decision.c.status == "APPROVED", and_(elsewhere, ~here.exists())),
            price_decision.c.decision_reason != "unchanged",
        )
        if names:
            query = query.where(price_decision.c.sku.in_(names))
        return _all(conn, query.order_by(price_decision.c.sequence, price_decision.c.decision_id))

    def undecided(self, tx: Connection, name: str) -> list[Fields]:
        """Decisions of a SKU that may still become a price."""
        query = select(price_decision).where(
            price_decision.c.sku == name, price_decision.c.status.in_(["REVIEW_REQUIRED", "APPROVED"])
        )
        return _all(tx, query)

    def counts(self, conn: Connection) -> dict[str, int]:
        """Number of publications by status."""
        query = select(publication.c.status, func.count().label("number")).group_by(publication.c.status)
        return {row.status: row.number for row in conn.execute(query)}


def _same_price(target: str, name: str, scope: str) -> ColumnElement[bool]:
    return and_(publication.c.target == target, publication.c.sku == name, publication.c.scope == scope)


def _locked(conn: Connection, query: Select[Any]) -> Select[Any]:
    # SQLite has no row locks: there the writing transaction is the lock.
    return query if conn.dialect.name == "sqlite" else query.with_for_update()


def _one(conn: Connection, query: Select[Any]) -> Fields | None:
    row = conn.execute(query).mappings().one_or_none()
    return None if row is None else dict(row)


def _all(conn: Connection, query: Select[Any]) -> list[Fields]:
    return [dict(row) for row in conn.execute(query).mappings()]
