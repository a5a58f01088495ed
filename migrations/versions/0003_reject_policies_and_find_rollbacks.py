"""Let a proposed policy be rejected, and find the rollbacks of a SKU quickly."""

import sqlalchemy as sa
from alembic import op

from pricecrawl.db import types

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pricing_policy", sa.Column("rejected_by", sa.String(length=200), nullable=True))
    op.add_column("pricing_policy", sa.Column("rejected_at", types.UtcDateTime(), nullable=True))
    op.create_index(
        "ix_publication_rollback_sku",
        "publication",
        ["sku"],
        unique=False,
        sqlite_where=sa.text("rollback_of IS NOT NULL"),
        postgresql_where=sa.text("rollback_of IS NOT NULL"),
    )
