"""${message}."""

import sqlalchemy as sa
from alembic import op

from pricecrawl.db import types

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

# SQLite only autoincrements INTEGER primary keys.
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
