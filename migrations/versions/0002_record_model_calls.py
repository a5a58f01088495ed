"""Keep a record of every call to a model."""

import sqlalchemy as sa
from alembic import op

from pricecrawl.db import types

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# SQLite only autoincrements INTEGER primary keys.
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "model_call",
        sa.Column("id", BigId, autoincrement=True, nullable=False),
        sa.Column("correlation_id", sa.String(length=80), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=100), server_default="", nullable=False),
        sa.Column("provider", sa.String(length=60), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("model_version", sa.String(length=200), server_default="", nullable=False),
        sa.Column("prompt_version", sa.String(length=60), nullable=False),
        sa.Column("prompt_digest", sa.String(length=80), nullable=False),
        sa.Column("parameters", types.Json, nullable=False),
        sa.Column("input_schema", types.Json, nullable=False),
        sa.Column("answer_schema", types.Json, nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("cost", types.Amount(), nullable=True),
        sa.Column("cost_currency", sa.String(length=3), nullable=True),
        sa.Column("answer", types.Json, nullable=True),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("called_at", types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_call")),
    )
    op.create_index(op.f("ix_model_call_correlation_id"), "model_call", ["correlation_id"], unique=False)
    op.create_index(op.f("ix_model_call_called_at"), "model_call", ["called_at"], unique=False)
