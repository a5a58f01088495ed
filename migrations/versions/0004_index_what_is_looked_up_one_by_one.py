"""Index what is looked up one by one, so that no batch or request walks through a whole table."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_audit_event_correlation_type", "audit_event", ["correlation_id", "event_type"])
    op.drop_index("ix_audit_event_correlation_id", table_name="audit_event")
    op.create_index("ix_price_decision_status_sku", "price_decision", ["status", "sku"])
    op.create_index("ix_price_decision_status_expires", "price_decision", ["status", "expires_at"])
    op.drop_index("ix_price_decision_status", table_name="price_decision")
    op.create_index("ix_price_decision_created", "price_decision", ["created_at"])
    op.create_index("ix_publication_decision", "publication", ["decision_id"])
    op.create_index("ix_publication_sku_sequence", "publication", ["sku", "sequence"])
    op.create_index("ix_publication_status", "publication", ["status"])
    op.create_index("ix_publication_intent", "publication", ["intent_at"])
    op.create_index("ix_candidate_review_observation_id", "candidate_review", ["observation_id"])
    op.create_index("ix_manual_override_decision_id", "manual_override", ["decision_id"])
    op.create_index("ix_dead_letter_correlation_id", "dead_letter", ["correlation_id"])
    op.create_index(
        "ix_mapping_waiting",
        "mapping",
        ["id"],
        sqlite_where=sa.text("status = 'REVIEW_REQUIRED'"),
        postgresql_where=sa.text("status = 'REVIEW_REQUIRED'"),
    )
