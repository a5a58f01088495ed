"""First schema: everything that collection, matching, pricing and publishing keep."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from pricecrawl.db import types

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# SQLite only autoincrements INTEGER primary keys.
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def monthly(column: str) -> dict[str, Any]:
    """On PostgreSQL a table is split by the month of `column`, which must then be in its key."""
    return {"postgresql_partition_by": f"RANGE ({column})"}


def key(table: str, column: str) -> sa.PrimaryKeyConstraint:
    """The primary key of a table that PostgreSQL splits by month."""
    sqlite = op.get_context().dialect.name == "sqlite"
    return sa.PrimaryKeyConstraint(*(("id",) if sqlite else ("id", column)), name=op.f(f"pk_{table}"))


def upgrade() -> None:
    op.create_table(
        "api_token",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("token_digest", sa.String(length=80), nullable=False),
        sa.Column("role", sa.String(length=30), nullable=False),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("revoked_at", types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("name", name=op.f("uq_api_token_name")),
        sa.UniqueConstraint("token_digest", name=op.f("uq_api_token_token_digest")),
    )
    op.create_table(
        "audit_event",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("event_type", sa.String(length=60), nullable=False),
        sa.Column("schema_version", sa.String(length=10), nullable=False),
        sa.Column("aggregate", sa.String(length=200), nullable=False),
        sa.Column("aggregate_seq", sa.Integer(), nullable=False),
        sa.Column("correlation_id", sa.String(length=80), nullable=False),
        sa.Column("causation_id", sa.String(length=36), nullable=True),
        sa.Column("occurred_at", types.UtcDateTime(), nullable=False),
        sa.Column("producer", sa.String(length=80), nullable=False),
        sa.Column("payload", types.Json, nullable=False),
        sa.Column("previous_hash", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
        sa.UniqueConstraint(
            "aggregate", "aggregate_seq", name=op.f("uq_audit_event_aggregate_aggregate_seq")
        ),
        sa.UniqueConstraint("event_id", name=op.f("uq_audit_event_event_id")),
    )
    with op.batch_alter_table("audit_event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_event_correlation_id"), ["correlation_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_event_event_type"), ["event_type"], unique=False)

    op.create_table(
        "dead_letter",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("correlation_id", sa.String(length=80), nullable=False),
        sa.Column("payload", types.Json, nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="1", nullable=False),
        sa.Column("failed_at", types.UtcDateTime(), nullable=False),
        sa.Column("replayed_at", types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dead_letter")),
    )
    op.create_table(
        "fx_rate",
        sa.Column("base", sa.String(length=3), nullable=False),
        sa.Column("quote", sa.String(length=3), nullable=False),
        sa.Column("rate_date", sa.String(length=10), nullable=False),
        sa.Column("rate", types.Amount(), nullable=False),
        sa.Column("rate_source", sa.String(length=40), nullable=False),
        sa.Column("fetched_at", types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("base", "quote", "rate_date", name=op.f("pk_fx_rate")),
    )
    op.create_table(
        "hold",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("scope", sa.String(length=20), nullable=False),
        sa.Column("value", sa.String(length=200), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("set_by", sa.String(length=200), nullable=False),
        sa.Column("set_at", types.UtcDateTime(), nullable=False),
        sa.Column("cleared_by", sa.String(length=200), nullable=True),
        sa.Column("cleared_at", types.UtcDateTime(), nullable=True),
        sa.CheckConstraint("scope IN ('everything', 'target', 'source', 'sku')", name=op.f("ck_hold_scope")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hold")),
    )
    op.create_table(
        "idempotency_key",
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("principal", sa.String(length=200), nullable=False),
        sa.Column("request_digest", sa.String(length=80), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("response", types.Json, nullable=True),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", "principal", name=op.f("pk_idempotency_key")),
    )
    op.create_table(
        "pricing_policy",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("version", sa.String(length=80), nullable=False),
        sa.Column("body", types.Json, nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("valid_from", types.UtcDateTime(), nullable=False),
        sa.Column("approved_by", sa.String(length=200), nullable=True),
        sa.Column("approved_at", types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pricing_policy")),
        sa.UniqueConstraint("version", name=op.f("uq_pricing_policy_version")),
    )
    op.create_table(
        "proxy",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("protocol", sa.String(length=10), server_default="http", nullable=False),
        sa.Column("username", sa.String(length=200), nullable=True),
        sa.Column("password", sa.String(length=500), nullable=True),
        sa.Column("country", sa.String(length=2), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("success_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failure_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("avg_response_ms", sa.Integer(), nullable=True),
        sa.Column("last_used_at", types.UtcDateTime(), nullable=True),
        sa.Column("last_failure_at", types.UtcDateTime(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.CheckConstraint("protocol IN ('http', 'https', 'socks5')", name=op.f("ck_proxy_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proxy")),
        sa.UniqueConstraint(
            "host", "port", "protocol", "username", name=op.f("uq_proxy_host_port_protocol_username")
        ),
    )
    op.create_table(
        "publication_lease",
        sa.Column("target", sa.String(length=60), nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("scope", sa.String(length=200), nullable=False),
        sa.Column("owner", sa.String(length=100), nullable=False),
        sa.Column("publication_id", sa.String(length=36), nullable=False),
        sa.Column("until", types.UtcDateTime(), nullable=False),
        sa.Column("last_sequence", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("target", "sku", "scope", name=op.f("pk_publication_lease")),
    )
    op.create_table(
        "sku",
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("brand", sa.String(length=300), server_default="", nullable=False),
        sa.Column("category", sa.String(length=300), server_default="", nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=True),
        sa.Column("tax_basis", sa.String(length=20), server_default="incl", nullable=False),
        sa.Column("pack", sa.Integer(), server_default="1", nullable=False),
        sa.Column("base_quantity", types.Amount(), nullable=True),
        sa.Column("base_unit", sa.String(length=10), nullable=True),
        sa.Column("current_price", types.Amount(), nullable=True),
        sa.Column("protected", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("tier", sa.String(length=10), server_default="B", nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("imported_at", types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("sku", name=op.f("pk_sku")),
    )
    op.create_table(
        "source",
        sa.Column("slug", sa.String(length=100), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("changed_by", sa.String(length=200), nullable=True),
        sa.Column("changed_at", types.UtcDateTime(), nullable=True),
        sa.Column("next_due", types.UtcDateTime(), nullable=True),
        sa.Column("identity_mode", sa.String(length=20), server_default="declared", nullable=False),
        sa.Column("discovered_row", types.Json, nullable=True),
        sa.PrimaryKeyConstraint("slug", name=op.f("pk_source")),
    )
    op.create_table(
        "competitor",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("retailer", sa.String(length=200), nullable=False),
        sa.Column("approved", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("approved_by", sa.String(length=200), nullable=True),
        sa.Column("approved_at", types.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["source"], ["source.slug"], name=op.f("fk_competitor_source_source")),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_competitor")),
    )
    op.create_table(
        "learned_selector",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("selector", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("match_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_matched_at", types.UtcDateTime(), nullable=True),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("created_by", sa.String(length=200), server_default="promotion", nullable=False),
        sa.ForeignKeyConstraint(["source"], ["source.slug"], name=op.f("fk_learned_selector_source_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learned_selector")),
        sa.UniqueConstraint(
            "source", "kind", "selector", name=op.f("uq_learned_selector_source_kind_selector")
        ),
    )
    op.create_table(
        "listing",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("source_sku", sa.String(length=300), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("brand", sa.String(length=500), server_default="", nullable=False),
        sa.Column("gtin", sa.String(length=14), nullable=True),
        sa.Column("mpn", sa.String(length=500), nullable=True),
        sa.Column("variant", sa.String(length=500), server_default="", nullable=False),
        sa.Column("category", sa.String(length=500), server_default="", nullable=False),
        sa.Column("pack", sa.Integer(), server_default="1", nullable=False),
        sa.Column("base_quantity", types.Amount(), nullable=True),
        sa.Column("base_unit", sa.String(length=10), nullable=True),
        sa.Column("condition", sa.String(length=20), server_default="new", nullable=False),
        sa.Column("seller", sa.String(length=500), server_default="", nullable=False),
        sa.Column("image_url", sa.Text(), server_default="", nullable=False),
        sa.Column("price", types.Amount(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=True),
        sa.Column("original_price", types.Amount(), nullable=True),
        sa.Column("member_price", types.Amount(), nullable=True),
        sa.Column("pre_order_price", types.Amount(), nullable=True),
        sa.Column("method", sa.String(length=40), nullable=True),
        sa.Column("availability", sa.String(length=20), server_default="unknown", nullable=False),
        sa.Column("needs_review", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("preferred_method", sa.String(length=40), nullable=True),
        sa.Column("preferred_selector", sa.Text(), nullable=True),
        sa.Column("consecutive_misses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone_streak", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_gone_run", BigId, nullable=True),
        sa.Column("checking_paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("first_seen_at", types.UtcDateTime(), nullable=False),
        sa.Column("last_seen_at", types.UtcDateTime(), nullable=False),
        sa.Column("last_seen_run", BigId, nullable=True),
        sa.Column("last_observation_id", BigId, nullable=True),
        sa.ForeignKeyConstraint(["source"], ["source.slug"], name=op.f("fk_listing_source_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listing")),
        sa.UniqueConstraint("source", "source_sku", name=op.f("uq_listing_source_source_sku")),
        # Every crawl updates every row; with room on its page the new version needs no index entries.
        postgresql_with={"fillfactor": "80"},
    )
    with op.batch_alter_table("listing", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_listing_gtin"), ["gtin"], unique=False)

    op.create_table(
        "market_price_snapshot",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("market_price", types.Amount(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("winning_observation_id", BigId, nullable=True),
        sa.Column("eligible", types.Json, nullable=False),
        sa.Column("excluded", types.Json, nullable=False),
        sa.Column("freshness", sa.String(length=20), nullable=False),
        sa.Column("policy_version", sa.String(length=80), nullable=False),
        sa.Column("computed_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_market_price_snapshot_sku_sku")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_price_snapshot")),
    )
    with op.batch_alter_table("market_price_snapshot", schema=None) as batch_op:
        batch_op.create_index("ix_market_price_snapshot_sku_computed", ["sku", "computed_at"], unique=False)

    op.create_table(
        "permission_record",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("agreed_by", sa.String(length=300), nullable=False),
        sa.Column("agreed_at", types.UtcDateTime(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("recorded_by", sa.String(length=200), nullable=False),
        sa.Column("recorded_at", types.UtcDateTime(), nullable=False),
        sa.Column("revoked_at", types.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["source"], ["source.slug"], name=op.f("fk_permission_record_source_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_permission_record")),
    )
    with op.batch_alter_table("permission_record", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_permission_record_source"), ["source"], unique=False)

    op.create_table(
        "run",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("host", sa.String(length=255), server_default="", nullable=False),
        sa.Column("job", sa.String(length=200), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("machine", sa.String(length=255), server_default="", nullable=False),
        sa.Column("outcome", sa.String(length=20), server_default="running", nullable=False),
        sa.Column("coverage", sa.String(length=20), nullable=True),
        sa.Column("coverage_reason", sa.String(length=20), nullable=True),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("started_at", types.UtcDateTime(), nullable=False),
        sa.Column("heartbeat_at", types.UtcDateTime(), nullable=True),
        sa.Column("finished_at", types.UtcDateTime(), nullable=True),
        sa.Column("listings", sa.Integer(), server_default="0", nullable=False),
        sa.Column("expected_total", sa.Integer(), nullable=True),
        sa.Column("pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("rejections", sa.Integer(), server_default="0", nullable=False),
        sa.Column("skips", sa.Integer(), server_default="0", nullable=False),
        sa.Column("reviews", sa.Integer(), server_default="0", nullable=False),
        sa.Column("misses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("misses_counted_at", types.UtcDateTime(), nullable=True),
        sa.Column("expectations_met", sa.Boolean(), nullable=True),
        sa.Column("robots_digest", sa.String(length=80), nullable=True),
        sa.Column("robots_read_at", types.UtcDateTime(), nullable=True),
        sa.Column("identity_mode", sa.String(length=20), server_default="declared", nullable=False),
        sa.Column("fx_source", sa.String(length=40), nullable=True),
        sa.Column("fx_fetched_at", types.UtcDateTime(), nullable=True),
        sa.Column("counts", types.Json, nullable=True),
        sa.ForeignKeyConstraint(["source"], ["source.slug"], name=op.f("fk_run_source_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index("ix_run_source_started", ["source", "started_at"], unique=False)
        batch_op.create_index(
            "uq_run_one_open_per_host",
            ["host"],
            unique=True,
            sqlite_where=sa.text("outcome = 'running' AND host <> ''"),
            postgresql_where=sa.text("outcome = 'running' AND host <> ''"),
        )
        batch_op.create_index(
            "uq_run_one_open_per_source",
            ["source"],
            unique=True,
            sqlite_where=sa.text("outcome = 'running'"),
            postgresql_where=sa.text("outcome = 'running'"),
        )

    op.create_table(
        "sku_cost",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("cogs", types.Amount(), nullable=False),
        sa.Column("fulfilment", types.Amount(), nullable=False),
        sa.Column("payment", types.Amount(), nullable=False),
        sa.Column("map_price", types.Amount(), nullable=True),
        sa.Column("regulatory_floor", types.Amount(), nullable=True),
        sa.Column("map_required", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("regulatory_required", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("valid_from", types.UtcDateTime(), nullable=False),
        sa.Column("valid_to", types.UtcDateTime(), nullable=True),
        sa.Column("imported_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_sku_cost_sku_sku")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sku_cost")),
    )
    with op.batch_alter_table("sku_cost", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sku_cost_sku"), ["sku"], unique=False)

    op.create_table(
        "sku_identifier",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_sku_identifier_sku_sku")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sku_identifier")),
        sa.UniqueConstraint("sku", "kind", "value", name=op.f("uq_sku_identifier_sku_kind_value")),
    )
    with op.batch_alter_table("sku_identifier", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sku_identifier_sku"), ["sku"], unique=False)
        batch_op.create_index(batch_op.f("ix_sku_identifier_value"), ["value"], unique=False)

    op.create_table(
        "sku_policy",
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("overrides", types.Json, nullable=False),
        sa.Column("changed_by", sa.String(length=200), nullable=False),
        sa.Column("changed_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_sku_policy_sku_sku")),
        sa.PrimaryKeyConstraint("sku", name=op.f("pk_sku_policy")),
    )
    op.create_table(
        "candidate_review",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("listing_id", BigId, nullable=False),
        sa.Column("observation_id", BigId, nullable=False),
        sa.Column("status", sa.String(length=20), server_default="open", nullable=False),
        sa.Column("reasons", types.Json, nullable=False),
        sa.Column("candidates", types.Json, nullable=False),
        sa.Column("trace", types.Json, nullable=False),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("decided_at", types.UtcDateTime(), nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("decision_reason", sa.Text(), nullable=True),
        sa.Column("chosen", types.Json, nullable=True),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listing.id"], name=op.f("fk_candidate_review_listing_id_listing")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate_review")),
    )
    with op.batch_alter_table("candidate_review", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_candidate_review_listing_id"), ["listing_id"], unique=False)
        batch_op.create_index(
            "uq_candidate_review_one_open_per_listing",
            ["listing_id"],
            unique=True,
            sqlite_where=sa.text("status = 'open'"),
            postgresql_where=sa.text("status = 'open'"),
        )

    op.create_table(
        "evidence",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("run_id", BigId, nullable=True),
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("warc", sa.String(length=400), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), server_default="page", nullable=False),
        sa.Column("fetched_at", types.UtcDateTime(), nullable=False),
        sa.Column("pruned_at", types.UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_evidence_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evidence")),
        sa.UniqueConstraint("warc", "offset", name=op.f("uq_evidence_warc_offset")),
    )
    with op.batch_alter_table("evidence", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_evidence_digest"), ["digest"], unique=False)

    op.create_table(
        "mapping",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("listing_id", BigId, nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("method", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("calibration_version", sa.String(length=40), nullable=True),
        sa.Column("mapper_version", sa.String(length=40), nullable=False),
        sa.Column("evidence", types.Json, nullable=False),
        sa.Column("first_use_reviewed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reviewed_by", sa.String(length=200), nullable=True),
        sa.Column("reviewed_at", types.UtcDateTime(), nullable=True),
        sa.Column("review_reason", sa.Text(), nullable=True),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["listing_id"], ["listing.id"], name=op.f("fk_mapping_listing_id_listing")),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_mapping_sku_sku")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mapping")),
        sa.UniqueConstraint("listing_id", "sku", name=op.f("uq_mapping_listing_id_sku")),
    )
    with op.batch_alter_table("mapping", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mapping_sku"), ["sku"], unique=False)

    op.create_table(
        "price_decision",
        sa.Column("decision_id", sa.String(length=36), nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("snapshot_id", BigId, nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("tax_basis", sa.String(length=20), nullable=False),
        sa.Column("current_price", types.Amount(), nullable=True),
        sa.Column("market_price", types.Amount(), nullable=True),
        sa.Column("competitive_target", types.Amount(), nullable=True),
        sa.Column("variable_cost", types.Amount(), nullable=True),
        sa.Column("required_margin", types.Amount(), nullable=True),
        sa.Column("margin_floor", types.Amount(), nullable=True),
        sa.Column("map_price", types.Amount(), nullable=True),
        sa.Column("regulatory_floor", types.Amount(), nullable=True),
        sa.Column("allowed_floor", types.Amount(), nullable=True),
        sa.Column("proposed_price", types.Amount(), nullable=True),
        sa.Column("change_pct", types.Amount(), nullable=True),
        sa.Column("decision_reason", sa.String(length=60), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("status", sa.String(length=30), nullable=False),
        sa.Column("findings", types.Json, nullable=False),
        sa.Column("steps", types.Json, nullable=False),
        sa.Column("policy_version", sa.String(length=80), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", types.UtcDateTime(), nullable=True),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("updated_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["sku"], ["sku.sku"], name=op.f("fk_price_decision_sku_sku")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["market_price_snapshot.id"],
            name=op.f("fk_price_decision_snapshot_id_market_price_snapshot"),
        ),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_price_decision")),
    )
    with op.batch_alter_table("price_decision", schema=None) as batch_op:
        batch_op.create_index("ix_price_decision_sku_created", ["sku", "created_at"], unique=False)
        batch_op.create_index("ix_price_decision_status", ["status"], unique=False)

    op.create_table(
        "price_history",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("listing_id", BigId, nullable=False),
        sa.Column("observation_id", BigId, nullable=False),
        sa.Column("price", types.Amount(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=True),
        sa.Column("original_price", types.Amount(), nullable=True),
        sa.Column("member_price", types.Amount(), nullable=True),
        sa.Column("changed_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listing.id"], name=op.f("fk_price_history_listing_id_listing")
        ),
        key("price_history", "changed_at"),
        **monthly("changed_at"),
    )
    with op.batch_alter_table("price_history", schema=None) as batch_op:
        batch_op.create_index("ix_price_history_listing_changed", ["listing_id", "changed_at"], unique=False)

    op.create_table(
        "skip_count",
        sa.Column("run_id", BigId, nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("example", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_skip_count_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "reason", name=op.f("pk_skip_count")),
    )
    op.create_table(
        "stock_history",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("listing_id", BigId, nullable=False),
        sa.Column("run_id", BigId, nullable=True),
        sa.Column("availability", sa.String(length=20), nullable=False),
        sa.Column("previous", sa.String(length=20), nullable=True),
        sa.Column("cause", sa.String(length=40), nullable=False),
        sa.Column("changed_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listing.id"], name=op.f("fk_stock_history_listing_id_listing")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_stock_history_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stock_history")),
    )
    with op.batch_alter_table("stock_history", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stock_history_listing_id"), ["listing_id"], unique=False)

    op.create_table(
        "approval",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("decision_id", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=20), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=30), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["price_decision.decision_id"],
            name=op.f("fk_approval_decision_id_price_decision"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approval")),
    )
    with op.batch_alter_table("approval", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_approval_decision_id"), ["decision_id"], unique=False)

    op.create_table(
        "manual_override",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("decision_id", sa.String(length=36), nullable=False),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("requested_at", types.UtcDateTime(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("approved_by", sa.String(length=200), nullable=True),
        sa.Column("approved_at", types.UtcDateTime(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["price_decision.decision_id"],
            name=op.f("fk_manual_override_decision_id_price_decision"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_manual_override")),
    )
    op.create_table(
        "observation",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("run_id", BigId, nullable=False),
        sa.Column("listing_id", BigId, nullable=False),
        sa.Column("price", types.Amount(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=True),
        sa.Column("price_kind", sa.String(length=20), nullable=True),
        sa.Column("method", sa.String(length=40), nullable=True),
        sa.Column("selector", sa.Text(), server_default="", nullable=False),
        sa.Column("original_price", types.Amount(), nullable=True),
        sa.Column("member_price", types.Amount(), nullable=True),
        sa.Column("pre_order_price", types.Amount(), nullable=True),
        sa.Column("shipping", types.Amount(), nullable=True),
        sa.Column("promotion_text", sa.Text(), server_default="", nullable=False),
        sa.Column("tax_basis", sa.String(length=20), server_default="unknown", nullable=False),
        sa.Column("availability", sa.String(length=20), nullable=False),
        sa.Column("needs_review", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("review_reasons", types.Json, nullable=True),
        sa.Column("observed_at", types.UtcDateTime(), nullable=False),
        sa.Column("fx_rate", types.Amount(), nullable=True),
        sa.Column("fx_currency", sa.String(length=3), nullable=True),
        sa.Column("evidence_id", BigId, nullable=True),
        sa.Column("extractor_version", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(
            ["evidence_id"], ["evidence.id"], name=op.f("fk_observation_evidence_id_evidence")
        ),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listing.id"], name=op.f("fk_observation_listing_id_listing")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_observation_run_id_run")),
        key("observation", "observed_at"),
        **monthly("observed_at"),
    )
    with op.batch_alter_table("observation", schema=None) as batch_op:
        batch_op.create_index("ix_observation_listing_observed", ["listing_id", "observed_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_observation_run_id"), ["run_id"], unique=False)

    op.create_table(
        "publication",
        sa.Column("publication_id", sa.String(length=36), nullable=False),
        sa.Column("decision_id", sa.String(length=36), nullable=False),
        sa.Column("target", sa.String(length=60), nullable=False),
        sa.Column("sku", sa.String(length=100), nullable=False),
        sa.Column("scope", sa.String(length=200), nullable=False),
        sa.Column("amount", types.Amount(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("tax_basis", sa.String(length=20), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=30), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.String(length=100), nullable=True),
        sa.Column("lease_until", types.UtcDateTime(), nullable=True),
        sa.Column("pre_state", types.Json, nullable=True),
        sa.Column("outcome", types.Json, nullable=True),
        sa.Column("post_state", types.Json, nullable=True),
        sa.Column("storefront_state", types.Json, nullable=True),
        sa.Column("verdict", sa.String(length=40), nullable=True),
        sa.Column("verdict_detail", sa.Text(), server_default="", nullable=False),
        sa.Column("rollback_of", sa.String(length=36), nullable=True),
        sa.Column("intent_at", types.UtcDateTime(), nullable=True),
        sa.Column("sent_at", types.UtcDateTime(), nullable=True),
        sa.Column("verified_at", types.UtcDateTime(), nullable=True),
        sa.Column("next_check_at", types.UtcDateTime(), nullable=True),
        sa.Column("created_at", types.UtcDateTime(), nullable=False),
        sa.Column("updated_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["price_decision.decision_id"],
            name=op.f("fk_publication_decision_id_price_decision"),
        ),
        sa.PrimaryKeyConstraint("publication_id", name=op.f("pk_publication")),
        sa.UniqueConstraint("target", "decision_id", name=op.f("uq_publication_target_decision_id")),
    )
    with op.batch_alter_table("publication", schema=None) as batch_op:
        batch_op.create_index("ix_publication_target_sku_scope", ["target", "sku", "scope"], unique=False)

    op.create_table(
        "rejection",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("run_id", BigId, nullable=False),
        sa.Column("source_sku", sa.String(length=300), server_default="", nullable=False),
        sa.Column("url", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("evidence_id", BigId, nullable=True),
        sa.Column("rejected_at", types.UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evidence_id"], ["evidence.id"], name=op.f("fk_rejection_evidence_id_evidence")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_rejection_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejection")),
    )
    with op.batch_alter_table("rejection", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rejection_run_id"), ["run_id"], unique=False)
