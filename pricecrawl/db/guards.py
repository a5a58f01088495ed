"""Triggers that keep history append-only: the database itself refuses UPDATE and DELETE.

They are put in place after every upgrade rather than by one migration, because a rebuilt SQLite
table loses its triggers.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

APPEND_ONLY = ("observation", "price_history", "stock_history", "audit_event")

_FUNCTION = """
CREATE OR REPLACE FUNCTION pricecrawl_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$
"""


def install(conn: Connection) -> None:
    """Put every guard in place; does nothing where it already stands."""
    absent = set(missing(conn))
    if not absent:
        return
    if conn.dialect.name != "sqlite":
        conn.execute(text(_FUNCTION))
    for table in APPEND_ONLY:
        for action in ("update", "delete"):
            name = _name(table, action)
            if name not in absent:
                continue
            if conn.dialect.name == "sqlite":
                conn.exec_driver_sql(
                    f"CREATE TRIGGER {name} BEFORE {action.upper()} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
            else:
                conn.exec_driver_sql(
                    f"CREATE TRIGGER {name} BEFORE {action.upper()} ON {table} "
                    f"FOR EACH ROW EXECUTE FUNCTION pricecrawl_append_only('{table}')"
                )


def missing(conn: Connection) -> list[str]:
    """Names of the guards that are not there."""
    sql = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if conn.dialect.name == "sqlite"
        else "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace"
    )
    there = set(conn.execute(text(sql)).scalars())
    return [
        name
        for table in APPEND_ONLY
        for action in ("update", "delete")
        if (name := _name(table, action)) not in there
    ]


def _name(table: str, action: str) -> str:
    return f"{table}_no_{action}"
