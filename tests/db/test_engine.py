"""Opening and migrating the database."""

from __future__ import annotations

from sqlalchemy import Engine, text

from pricecrawl.db import migrate


def test_engine_answers(engine: Engine) -> None:
    with engine.begin() as conn:
        assert conn.execute(text("SELECT 1")).scalar_one() == 1
    assert migrate.drift(engine) == []
