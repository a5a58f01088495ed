"""Alembic's way in; `pricecrawl.db.migrate` gives the connection, so there is no alembic.ini."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import JSON, BigInteger

from pricecrawl.db.tables import metadata
from pricecrawl.db.types import Amount, UtcDateTime


def render_item(kind: str, item: Any, _context: AutogenContext) -> str | Literal[False]:
    """Write our column types by name, and the variant types as tables.py does."""
    if kind == "type" and isinstance(item, Amount | UtcDateTime):
        return f"types.{type(item).__name__}()"
    if kind == "type" and isinstance(item, JSON):
        return "types.Json"
    if kind == "type" and isinstance(item, BigInteger):
        return "BigId"
    return False


connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("run migrations with `pricecrawl db upgrade`")
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
    compare_type=True,
    include_name=context.config.attributes["include_name"],
    render_item=render_item,
)
with context.begin_transaction():
    context.run_migrations()
