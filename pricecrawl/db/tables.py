"""Every table of pricecrawl, as SQLAlchemy Core.

Names are those of the glossary. Append-only, kept so by triggers (`db/guards.py`): observation,
price_history, stock_history, audit_event. Money is `Amount` (exact on both databases), time is
`UtcDateTime` (aware, UTC).

A change here needs a migration: `pricecrawl db revision "what changed"` writes a first draft.

`observation` and `price_history` are partitioned by month on PostgreSQL, where a partitioned table
has no key of `id` alone for a foreign key to point at. So columns that name an observation carry no
foreign key on either database; that they never dangle follows from the observation being written
before them in the same transaction and never being deleted.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from pricecrawl.db.types import Amount, Json, UtcDateTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite only autoincrements INTEGER primary keys; PostgreSQL needs 64 bits for append-only tables.
BigId = BigInteger().with_variant(Integer(), "sqlite")


def _id() -> Column[int]:
    return Column("id", BigId, primary_key=True, autoincrement=True)


# --- collection -------------------------------------------------------------------------------

source = Table(
    "source",
    metadata,
    Column("slug", String(100), primary_key=True),
    Column("platform", String(50), nullable=False),
    Column("enabled", Boolean, nullable=False, server_default=text("true")),
    Column("disabled_reason", Text),
    Column("changed_by", String(200)),
    Column("changed_at", UtcDateTime),
    Column("next_due", UtcDateTime),
    Column("identity_mode", String(20), nullable=False, server_default="declared"),
    Column("discovered_row", Json),
)

permission_record = Table(
    "permission_record",
    metadata,
    _id(),
    Column("source", String(100), ForeignKey("source.slug"), nullable=False, index=True),
    Column("agreed_by", String(300), nullable=False),
    Column("agreed_at", UtcDateTime, nullable=False),
    Column("how", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("recorded_by", String(200), nullable=False),
    Column("recorded_at", UtcDateTime, nullable=False),
    Column("revoked_at", UtcDateTime),
)

proxy = Table(
    "proxy",
    metadata,
    _id(),
    Column("host", String(255), nullable=False),
    Column("port", Integer, nullable=False),
    Column("protocol", String(10), nullable=False, server_default="http"),
    Column("username", String(200)),
    Column("password", String(500)),
    Column("country", String(2)),
    Column("is_active", Boolean, nullable=False, server_default=text("true")),
    Column("success_count", Integer, nullable=False, server_default="0"),
    Column("failure_count", Integer, nullable=False, server_default="0"),
    Column("avg_response_ms", Integer),
    Column("last_used_at", UtcDateTime),
    Column("last_failure_at", UtcDateTime),
    Column("last_error", Text),
    UniqueConstraint("host", "port", "protocol", "username"),
    CheckConstraint("protocol IN ('http', 'https', 'socks5')", name="protocol"),
)

run = Table(
    "run",
    metadata,
    _id(),
    Column("source", String(100), ForeignKey("source.slug"), nullable=False),
    Column("platform", String(50), nullable=False),
    Column("host", String(255), nullable=False, server_default=""),
    Column("job", String(200)),
    Column("pid", Integer),
    # Where `pid` means something; on another machine only the heartbeat tells.
    Column("machine", String(255), nullable=False, server_default=""),
    Column("outcome", String(20), nullable=False, server_default="running"),
    Column("coverage", String(20)),
    Column("coverage_reason", String(20)),
    Column("detail", Text, nullable=False, server_default=""),
    Column("started_at", UtcDateTime, nullable=False),
    Column("heartbeat_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("listings", Integer, nullable=False, server_default="0"),
    Column("expected_total", Integer),
    Column("pages", Integer, nullable=False, server_default="0"),
    Column("rejections", Integer, nullable=False, server_default="0"),
    Column("skips", Integer, nullable=False, server_default="0"),
    Column("reviews", Integer, nullable=False, server_default="0"),
    Column("misses", Integer, nullable=False, server_default="0"),
    Column("misses_counted_at", UtcDateTime),
    Column("expectations_met", Boolean),
    Column("robots_digest", String(80)),
    Column("robots_read_at", UtcDateTime),
    Column("identity_mode", String(20), nullable=False, server_default="declared"),
    Column("fx_source", String(40)),
    Column("fx_fetched_at", UtcDateTime),
    Column("counts", Json),
    # One open run per source, held by the database itself.
    Index(
        "uq_run_one_open_per_source",
        "source",
        unique=True,
        sqlite_where=text("outcome = 'running'"),
        postgresql_where=text("outcome = 'running'"),
    ),
    Index(
        "uq_run_one_open_per_host",
        "host",
        unique=True,
        sqlite_where=text("outcome = 'running' AND host <> ''"),
        postgresql_where=text("outcome = 'running' AND host <> ''"),
    ),
    Index("ix_run_source_started", "source", "started_at"),
)

evidence = Table(
    "evidence",
    metadata,
    _id(),
    Column("run_id", BigId, ForeignKey("run.id")),
    Column("source", String(100), nullable=False),
    Column("digest", String(80), nullable=False, index=True),
    Column("warc", String(400), nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("kind", String(20), nullable=False, server_default="page"),
    Column("fetched_at", UtcDateTime, nullable=False),
    Column("pruned_at", UtcDateTime),
    UniqueConstraint("warc", "offset"),
)

listing = Table(
    "listing",
    metadata,
    _id(),
    Column("source", String(100), ForeignKey("source.slug"), nullable=False),
    Column("source_sku", String(300), nullable=False),
    Column("url", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("brand", String(500), nullable=False, server_default=""),
    Column("gtin", String(14), index=True),
    Column("mpn", String(500)),
    Column("variant", String(500), nullable=False, server_default=""),
    Column("category", String(500), nullable=False, server_default=""),
    Column("pack", Integer, nullable=False, server_default="1"),
    Column("base_quantity", Amount),
    Column("base_unit", String(10)),
    Column("condition", String(20), nullable=False, server_default="new"),
    Column("seller", String(500), nullable=False, server_default=""),
    Column("image_url", Text, nullable=False, server_default=""),
    Column("price", Amount),
    Column("currency", String(3)),
    Column("original_price", Amount),
    Column("member_price", Amount),
    Column("pre_order_price", Amount),
    Column("method", String(40)),
    Column("availability", String(20), nullable=False, server_default="unknown"),
    Column("needs_review", Boolean, nullable=False, server_default=text("false")),
    Column("preferred_method", String(40)),
    Column("preferred_selector", Text),
    Column("consecutive_misses", Integer, nullable=False, server_default="0"),
    Column("gone_streak", Integer, nullable=False, server_default="0"),
    Column("last_gone_run", BigId),
    Column("checking_paused", Boolean, nullable=False, server_default=text("false")),
    Column("first_seen_at", UtcDateTime, nullable=False),
    Column("last_seen_at", UtcDateTime, nullable=False),
    Column("last_seen_run", BigId),
    Column("last_observation_id", BigId),
    UniqueConstraint("source", "source_sku"),
)

observation = Table(
    "observation",
    metadata,
    _id(),
    Column("run_id", BigId, ForeignKey("run.id"), nullable=False, index=True),
    Column("listing_id", BigId, ForeignKey("listing.id"), nullable=False),
    Column("price", Amount),
    Column("currency", String(3)),
    Column("price_kind", String(20)),
    Column("method", String(40)),
    Column("selector", Text, nullable=False, server_default=""),
    Column("original_price", Amount),
    Column("member_price", Amount),
    Column("pre_order_price", Amount),
    Column("shipping", Amount),
    Column("promotion_text", Text, nullable=False, server_default=""),
    Column("tax_basis", String(20), nullable=False, server_default="unknown"),
    Column("availability", String(20), nullable=False),
    Column("needs_review", Boolean, nullable=False, server_default=text("false")),
    Column("review_reasons", Json),
    Column("observed_at", UtcDateTime, nullable=False),
    Column("fx_rate", Amount),
    Column("fx_currency", String(3)),
    Column("evidence_id", BigId, ForeignKey("evidence.id")),
    Column("extractor_version", String(40), nullable=False),
    Index("ix_observation_listing_observed", "listing_id", "observed_at"),
)

price_history = Table(
    "price_history",
    metadata,
    _id(),
    Column("listing_id", BigId, ForeignKey("listing.id"), nullable=False),
    Column("observation_id", BigId, nullable=False),
    Column("price", Amount),
    Column("currency", String(3)),
    Column("original_price", Amount),
    Column("member_price", Amount),
    Column("changed_at", UtcDateTime, nullable=False),
    Index("ix_price_history_listing_changed", "listing_id", "changed_at"),
)

stock_history = Table(
    "stock_history",
    metadata,
    _id(),
    Column("listing_id", BigId, ForeignKey("listing.id"), nullable=False, index=True),
    Column("run_id", BigId, ForeignKey("run.id")),
    Column("availability", String(20), nullable=False),
    Column("previous", String(20)),
    Column("cause", String(40), nullable=False),
    Column("changed_at", UtcDateTime, nullable=False),
)

rejection = Table(
    "rejection",
    metadata,
    _id(),
    Column("run_id", BigId, ForeignKey("run.id"), nullable=False, index=True),
    Column("source_sku", String(300), nullable=False, server_default=""),
    Column("url", Text, nullable=False, server_default=""),
    Column("reason", String(40), nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    Column("evidence_id", BigId, ForeignKey("evidence.id")),
    Column("rejected_at", UtcDateTime, nullable=False),
)

skip_count = Table(
    "skip_count",
    metadata,
    Column("run_id", BigId, ForeignKey("run.id"), primary_key=True),
    Column("reason", String(40), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("example", Text, nullable=False, server_default=""),
)

candidate_review = Table(
    "candidate_review",
    metadata,
    _id(),
    Column("listing_id", BigId, ForeignKey("listing.id"), nullable=False, index=True),
    Column("observation_id", BigId, nullable=False, index=True),
    Column("status", String(20), nullable=False, server_default="open"),
    Column("reasons", Json, nullable=False),
    Column("candidates", Json, nullable=False),
    Column("trace", Json, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("decided_at", UtcDateTime),
    Column("decided_by", String(200)),
    Column("decision_reason", Text),
    Column("chosen", Json),
    # One open review per listing; a later doubtful read refreshes it.
    Index(
        "uq_candidate_review_one_open_per_listing",
        "listing_id",
        unique=True,
        sqlite_where=text("status = 'open'"),
        postgresql_where=text("status = 'open'"),
    ),
)

learned_selector = Table(
    "learned_selector",
    metadata,
    _id(),
    Column("source", String(100), ForeignKey("source.slug"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("selector", Text, nullable=False),
    Column("position", Integer, nullable=False, server_default="0"),
    Column("match_count", Integer, nullable=False, server_default="0"),
    Column("consecutive_failures", Integer, nullable=False, server_default="0"),
    Column("last_matched_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Column("created_by", String(200), nullable=False, server_default="promotion"),
    UniqueConstraint("source", "kind", "selector"),
)

model_call = Table(
    "model_call",
    metadata,
    _id(),
    Column("correlation_id", String(80), nullable=False, index=True),
    Column("purpose", String(20), nullable=False),
    Column("source", String(100), nullable=False, server_default=""),
    Column("provider", String(60), nullable=False),
    Column("model", String(200), nullable=False),
    Column("model_version", String(200), nullable=False, server_default=""),
    Column("prompt_version", String(60), nullable=False),
    Column("prompt_digest", String(80), nullable=False),
    Column("parameters", Json, nullable=False),
    Column("input_schema", Json, nullable=False),
    Column("answer_schema", Json, nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("latency_ms", Integer, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost", Amount),
    Column("cost_currency", String(3)),
    Column("answer", Json),
    Column("error", Text, nullable=False, server_default=""),
    Column("called_at", UtcDateTime, nullable=False, index=True),
)

fx_rate = Table(
    "fx_rate",
    metadata,
    Column("base", String(3), primary_key=True),
    Column("quote", String(3), primary_key=True),
    Column("rate_date", String(10), primary_key=True),
    Column("rate", Amount, nullable=False),
    Column("rate_source", String(40), nullable=False),
    Column("fetched_at", UtcDateTime, nullable=False),
)

# --- our catalogue and what it maps to ---------------------------------------------------------

sku = Table(
    "sku",
    metadata,
    Column("sku", String(100), primary_key=True),
    Column("name", Text, nullable=False),
    Column("brand", String(300), nullable=False, server_default=""),
    Column("category", String(300), nullable=False, server_default=""),
    Column("currency", String(3), nullable=False),
    Column("country", String(2)),
    Column("tax_basis", String(20), nullable=False, server_default="incl"),
    Column("pack", Integer, nullable=False, server_default="1"),
    Column("base_quantity", Amount),
    Column("base_unit", String(10)),
    Column("current_price", Amount),
    Column("protected", Boolean, nullable=False, server_default=text("false")),
    Column("tier", String(10), nullable=False, server_default="B"),
    Column("active", Boolean, nullable=False, server_default=text("true")),
    Column("imported_at", UtcDateTime, nullable=False),
)

sku_identifier = Table(
    "sku_identifier",
    metadata,
    _id(),
    Column("sku", String(100), ForeignKey("sku.sku"), nullable=False, index=True),
    Column("kind", String(10), nullable=False),
    Column("value", String(200), nullable=False, index=True),
    UniqueConstraint("sku", "kind", "value"),
)

sku_cost = Table(
    "sku_cost",
    metadata,
    _id(),
    Column("sku", String(100), ForeignKey("sku.sku"), nullable=False, index=True),
    Column("currency", String(3), nullable=False),
    Column("cogs", Amount, nullable=False),
    Column("fulfilment", Amount, nullable=False),
    Column("payment", Amount, nullable=False),
    Column("map_price", Amount),
    Column("regulatory_floor", Amount),
    Column("map_required", Boolean, nullable=False, server_default=text("false")),
    Column("regulatory_required", Boolean, nullable=False, server_default=text("false")),
    Column("valid_from", UtcDateTime, nullable=False),
    Column("valid_to", UtcDateTime),
    Column("imported_at", UtcDateTime, nullable=False),
)

sku_policy = Table(
    "sku_policy",
    metadata,
    Column("sku", String(100), ForeignKey("sku.sku"), primary_key=True),
    Column("overrides", Json, nullable=False),
    Column("changed_by", String(200), nullable=False),
    Column("changed_at", UtcDateTime, nullable=False),
)

competitor = Table(
    "competitor",
    metadata,
    Column("source", String(100), ForeignKey("source.slug"), primary_key=True),
    Column("retailer", String(200), nullable=False),
    Column("approved", Boolean, nullable=False, server_default=text("true")),
    Column("approved_by", String(200)),
    Column("approved_at", UtcDateTime),
)

mapping = Table(
    "mapping",
    metadata,
    _id(),
    Column("listing_id", BigId, ForeignKey("listing.id"), nullable=False),
    Column("sku", String(100), ForeignKey("sku.sku"), nullable=False, index=True),
    Column("method", String(40), nullable=False),
    Column("status", String(20), nullable=False),
    Column("confidence", Float),
    Column("calibration_version", String(40)),
    Column("mapper_version", String(40), nullable=False),
    Column("evidence", Json, nullable=False),
    Column("first_use_reviewed", Boolean, nullable=False, server_default=text("false")),
    Column("reviewed_by", String(200)),
    Column("reviewed_at", UtcDateTime),
    Column("review_reason", Text),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("listing_id", "sku"),
    # What waits for a reviewer is a small part; an index on every status would tempt SQLite away from `sku`.
    Index(
        "ix_mapping_waiting",
        "id",
        sqlite_where=text("status = 'REVIEW_REQUIRED'"),
        postgresql_where=text("status = 'REVIEW_REQUIRED'"),
    ),
)

market_price_snapshot = Table(
    "market_price_snapshot",
    metadata,
    _id(),
    Column("sku", String(100), ForeignKey("sku.sku"), nullable=False),
    Column("market_price", Amount),
    Column("currency", String(3), nullable=False),
    Column("winning_observation_id", BigId),
    Column("eligible", Json, nullable=False),
    Column("excluded", Json, nullable=False),
    Column("freshness", String(20), nullable=False),
    Column("policy_version", String(80), nullable=False),
    Column("computed_at", UtcDateTime, nullable=False),
    Index("ix_market_price_snapshot_sku_computed", "sku", "computed_at"),
)

pricing_policy = Table(
    "pricing_policy",
    metadata,
    _id(),
    Column("version", String(80), nullable=False, unique=True),
    Column("body", Json, nullable=False),
    Column("author", String(200), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("valid_from", UtcDateTime, nullable=False),
    Column("approved_by", String(200)),
    Column("approved_at", UtcDateTime),
    Column("rejected_by", String(200)),
    Column("rejected_at", UtcDateTime),
)

price_decision = Table(
    "price_decision",
    metadata,
    Column("decision_id", String(36), primary_key=True),
    Column("sku", String(100), ForeignKey("sku.sku"), nullable=False),
    Column("snapshot_id", BigId, ForeignKey("market_price_snapshot.id")),
    Column("currency", String(3), nullable=False),
    Column("tax_basis", String(20), nullable=False),
    Column("current_price", Amount),
    Column("market_price", Amount),
    Column("competitive_target", Amount),
    Column("variable_cost", Amount),
    Column("required_margin", Amount),
    Column("margin_floor", Amount),
    Column("map_price", Amount),
    Column("regulatory_floor", Amount),
    Column("allowed_floor", Amount),
    Column("proposed_price", Amount),
    Column("change_pct", Amount),
    Column("decision_reason", String(60), nullable=False),
    Column("verdict", String(10), nullable=False),
    Column("status", String(30), nullable=False),
    Column("findings", Json, nullable=False),
    Column("steps", Json, nullable=False),
    Column("policy_version", String(80), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("ix_price_decision_sku_created", "sku", "created_at"),
    Index("ix_price_decision_created", "created_at"),
    # Status first: "the open ones of these SKUs" must not walk through all that are open.
    Index("ix_price_decision_status_sku", "status", "sku"),
    Index("ix_price_decision_status_expires", "status", "expires_at"),
)

approval = Table(
    "approval",
    metadata,
    _id(),
    Column("decision_id", String(36), ForeignKey("price_decision.decision_id"), nullable=False, index=True),
    Column("action", String(20), nullable=False),
    Column("actor", String(200), nullable=False),
    Column("role", String(30), nullable=False),
    Column("reason", Text, nullable=False),
    Column("decided_at", UtcDateTime, nullable=False),
)

publication = Table(
    "publication",
    metadata,
    Column("publication_id", String(36), primary_key=True),
    Column("decision_id", String(36), ForeignKey("price_decision.decision_id"), nullable=False),
    Column("target", String(60), nullable=False),
    Column("sku", String(100), nullable=False),
    Column("scope", String(200), nullable=False),
    Column("amount", Amount, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("tax_basis", String(20), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("status", String(30), nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("lease_owner", String(100)),
    Column("lease_until", UtcDateTime),
    Column("pre_state", Json),
    Column("outcome", Json),
    Column("post_state", Json),
    Column("storefront_state", Json),
    Column("verdict", String(40)),
    Column("verdict_detail", Text, nullable=False, server_default=""),
    Column("rollback_of", String(36)),
    Column("intent_at", UtcDateTime),
    Column("sent_at", UtcDateTime),
    Column("verified_at", UtcDateTime),
    Column("next_check_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    UniqueConstraint("target", "decision_id"),
    Index("ix_publication_target_sku_scope", "target", "sku", "scope"),
    Index("ix_publication_decision", "decision_id"),
    Index("ix_publication_sku_sequence", "sku", "sequence"),
    Index("ix_publication_status", "status"),
    Index("ix_publication_intent", "intent_at"),
    Index(
        "ix_publication_rollback_sku",
        "sku",
        sqlite_where=text("rollback_of IS NOT NULL"),
        postgresql_where=text("rollback_of IS NOT NULL"),
    ),
)

publication_lease = Table(
    "publication_lease",
    metadata,
    Column("target", String(60), primary_key=True),
    Column("sku", String(100), primary_key=True),
    Column("scope", String(200), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("publication_id", String(36), nullable=False),
    Column("until", UtcDateTime, nullable=False),
    Column("last_sequence", BigInteger, nullable=False, server_default="0"),
)

manual_override = Table(
    "manual_override",
    metadata,
    _id(),
    Column("decision_id", String(36), ForeignKey("price_decision.decision_id"), nullable=False, index=True),
    Column("requested_by", String(200), nullable=False),
    Column("requested_at", UtcDateTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("approved_by", String(200)),
    Column("approved_at", UtcDateTime),
    Column("status", String(20), nullable=False),
)

hold = Table(
    "hold",
    metadata,
    _id(),
    Column("scope", String(20), nullable=False),
    Column("value", String(200), nullable=False, server_default=""),
    Column("reason", Text, nullable=False),
    Column("set_by", String(200), nullable=False),
    Column("set_at", UtcDateTime, nullable=False),
    Column("cleared_by", String(200)),
    Column("cleared_at", UtcDateTime),
    CheckConstraint("scope IN ('everything', 'target', 'source', 'sku')", name="scope"),
)

audit_event = Table(
    "audit_event",
    metadata,
    _id(),
    Column("event_id", String(36), nullable=False, unique=True),
    Column("event_type", String(60), nullable=False, index=True),
    Column("schema_version", String(10), nullable=False),
    Column("aggregate", String(200), nullable=False),
    Column("aggregate_seq", Integer, nullable=False),
    Column("correlation_id", String(80), nullable=False),
    Column("causation_id", String(36)),
    Column("occurred_at", UtcDateTime, nullable=False),
    Column("producer", String(80), nullable=False),
    Column("payload", Json, nullable=False),
    Column("previous_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    UniqueConstraint("aggregate", "aggregate_seq"),
    Index("ix_audit_event_correlation_type", "correlation_id", "event_type"),
)

dead_letter = Table(
    "dead_letter",
    metadata,
    _id(),
    Column("kind", String(60), nullable=False),
    Column("correlation_id", String(80), nullable=False, index=True),
    Column("payload", Json, nullable=False),
    Column("error", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="1"),
    Column("failed_at", UtcDateTime, nullable=False),
    Column("replayed_at", UtcDateTime),
)

idempotency_key = Table(
    "idempotency_key",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("principal", String(200), primary_key=True),
    Column("request_digest", String(80), nullable=False),
    Column("status", Integer),
    Column("response", Json),
    Column("created_at", UtcDateTime, nullable=False),
)

api_token = Table(
    "api_token",
    metadata,
    _id(),
    Column("name", String(200), nullable=False, unique=True),
    Column("token_digest", String(80), nullable=False, unique=True),
    Column("role", String(30), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("revoked_at", UtcDateTime),
)
